// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/error.h"

#include <QString>
#include <QStringList>

#include <optional>

namespace paddock {

enum class AuditVerdict { Pass, Warn, Block };

struct AuditFinding {
    AuditVerdict verdict = AuditVerdict::Pass;
    QString rule; ///< "H1", "C2", "M3", "W1" as in sandbox.md §9.3; empty for pass
    QString part; ///< the part of the command that matched
};

/// Advice about shell commands, not isolation (middleware-base §13, sandbox.md §9). Pure functions; any thread.
namespace shell_audit {

constexpr qsizetype maxCommandChars = 10000;

/// The reason a command is refused before it is looked at; nullopt when it may be classified.
std::optional<QString> rejectReason(const QString &command);

/// Quote-aware split at && || ; newline, and | with `pipes`; heredoc bodies stay in their part.
QStringList split(const QString &command, bool pipes);

/// Python's shlex.split in POSIX mode; nullopt on a quoting error.
std::optional<QStringList> posixWords(const QString &text);

/// Fails when a pattern hits its match limit; the caller treats that as a block.
Result<AuditFinding> classify(const QString &command);

QString verdictName(AuditVerdict verdict);

} // namespace shell_audit

} // namespace paddock
