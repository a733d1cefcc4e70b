// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/middleware.h"
#include "core/middleware/shell_audit.h"

namespace paddock {

/// Records every bash command (audit.recorded) and stops obviously destructive ones (middleware-base §13). Advice and a
/// record, not the security boundary. An internal error blocks.
class SandboxAuditMiddleware : public Middleware
{
public:
    enum class Mode { Enforce, WarnOnly, Off };
    explicit SandboxAuditMiddleware(Mode mode = Mode::Enforce) : m_mode(mode) {}

    QString name() const override { return QStringLiteral("SandboxAuditMiddleware"); }
    Hooks hooks() const override { return m_mode == Mode::Off ? Hooks() : Hooks(Hook::WrapToolCall); }
    Task<Result<ToolOutcome>> wrapToolCall(ToolCallRequest request, ToolNext next) override;

    static QString blockedText(const QString &reason);
    static QString warningText(const QString &command);
    /// The result with the warning behind its text; a command outcome stays as it is.
    static ToolOutcome withWarning(ToolOutcome outcome, const QString &command);

private:
    const Mode m_mode;
};

} // namespace paddock
