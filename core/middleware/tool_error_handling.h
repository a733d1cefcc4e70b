// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/middleware.h"

#include <QStringList>

namespace paddock {

/// Innermost of the base: whatever a tool throws or fails with becomes a message that the model can act on, and every
/// result gets its meta (middleware-base §16). Only control signals and cancellation pass.
class ToolErrorHandlingMiddleware : public Middleware
{
public:
    struct Options {
        QStringList skillReadTools{QStringLiteral("read_file"), QStringLiteral("read"), QStringLiteral("view"),
                                   QStringLiteral("cat")};
        QString skillsRoot = QStringLiteral("/mnt/skills");
    };
    ToolErrorHandlingMiddleware() = default;
    explicit ToolErrorHandlingMiddleware(Options options) : m_options(std::move(options)) {}

    QString name() const override { return QStringLiteral("ToolErrorHandlingMiddleware"); }
    Hooks hooks() const override { return Hook::WrapToolCall; }
    Task<Result<ToolOutcome>> wrapToolCall(ToolCallRequest request, ToolNext next) override;

    /// The message for a failure of class `type` with text `detail`.
    static MessagePtr failureMessage(const ToolCall &call, const QString &type, const QString &detail);

private:
    MessagePtr stamped(const MessagePtr &message, const ToolCall &call) const;
    std::optional<Json> skillEntry(const Message &message, const ToolCall &call) const;

    const Options m_options;
};

} // namespace paddock
