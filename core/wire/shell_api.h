// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/wire/field_reader.h"

#include <map>

// The shell group (aio-api.md §2). Requests have read (server) and write (client), replies the same the other way round.
// Times are seconds as on the wire; statuses are strings so that unknown ones pass through unchanged.
namespace paddock::wire {

namespace shell_status {
inline constexpr auto running = QLatin1StringView("running");
inline constexpr auto completed = QLatin1StringView("completed");
inline constexpr auto noChangeTimeout = QLatin1StringView("no_change_timeout");
inline constexpr auto hardTimeout = QLatin1StringView("hard_timeout");
inline constexpr auto terminated = QLatin1StringView("terminated");
} // namespace shell_status
bool isKnownShellStatus(const QString &status);

struct ShellExecRequest {
    QString command;
    std::optional<QString> id;
    std::optional<QString> execDir;
    bool asyncMode = false;
    std::optional<double> timeout;
    std::optional<bool> strict;
    std::optional<qint64> noChangeTimeout;
    std::optional<double> hardTimeout;
    std::optional<bool> preserveSymlinks;
    bool truncate = true;

    static ShellExecRequest read(FieldReader &in);
    Json write() const; ///< only what differs from the defaults
};

struct ConsoleRecord {
    QString ps1; ///< key "ps1"
    QString command;
    QString output;

    static ConsoleRecord read(FieldReader &in);
    Json write() const;
};

struct ShellExecResult {
    QString sessionId;
    QString command;
    QString status;
    QString output; ///< null on the wire reads as empty
    QList<ConsoleRecord> console;
    bool hasConsole = false; ///< false: null on the wire
    std::optional<qint64> exitCode;
    std::optional<QString> workingDir; ///< where the shell is after the command; ours alone: not written when it is not known

    static ShellExecResult read(FieldReader &in);
    Json write() const;
};

struct ShellIdRequest { ///< view, kill
    QString id;

    static ShellIdRequest read(FieldReader &in);
    Json write() const;
};

struct ShellView {
    QString output;
    QString sessionId;
    QString status;
    std::optional<QString> command;
    std::optional<qint64> exitCode;
    QList<ConsoleRecord> console;

    /// Output of the current or last command; nullopt for a fresh session.
    std::optional<QString> lastOutput() const;
    static ShellView read(FieldReader &in);
    Json write() const;
};

struct ShellWaitRequest {
    QString id;
    std::optional<qint64> seconds;
    std::optional<qint64> maxWaitSeconds;

    static ShellWaitRequest read(FieldReader &in);
    Json write() const;
};

struct ShellStatusResult { ///< wait, write
    QString status;

    static ShellStatusResult read(FieldReader &in);
    Json write() const;
};

struct ShellWriteRequest {
    QString id;
    QString input;
    bool pressEnter = false;

    static ShellWriteRequest read(FieldReader &in);
    Json write() const;
};

struct ShellKillResult {
    QString status;
    std::optional<qint64> exitCode; ///< reads the deprecated twin "returncode" when "exit_code" is null; writes both

    static ShellKillResult read(FieldReader &in);
    Json write() const;
};

struct ShellCreateRequest {
    std::optional<QString> id;
    std::optional<QString> execDir;
    std::optional<qint64> noChangeTimeout;
    std::optional<bool> preserveSymlinks;

    static ShellCreateRequest read(FieldReader &in);
    Json write() const;
};

struct ShellCreateResult {
    QString sessionId;
    QString workingDir;

    static ShellCreateResult read(FieldReader &in);
    Json write() const;
};

struct ShellUpdateRequest {
    QString id;
    std::optional<qint64> noChangeTimeout;

    static ShellUpdateRequest read(FieldReader &in);
    Json write() const;
};

struct ShellSessionEntry {
    QString workingDir;
    Timestamp createdAt;
    Timestamp lastUsedAt;
    qint64 ageSeconds = 0;
    QString status; ///< "running" or "idle"
    std::optional<QString> currentCommand;

    static ShellSessionEntry read(FieldReader &in);
    Json write() const;
};

struct ShellSessions {
    std::map<QString, ShellSessionEntry> sessions;

    static ShellSessions read(FieldReader &in);
    Json write() const;
};

struct ShellStats {
    qint64 totalSessions = 0;
    qint64 activeSessions = 0;
    qint64 idleSessions = 0;
    qint64 maxSessions = 0;
    qint64 sessionTimeout = 0; ///< seconds
    double usageRatio = 0;

    static ShellStats read(FieldReader &in);
    Json write() const;
};

struct ShellResizeRequest { ///< Paddock's own: POST /v1/paddock/shell/resize
    QString id;
    qint64 cols = 0; ///< 1..1000
    qint64 rows = 0; ///< 1..500

    static ShellResizeRequest read(FieldReader &in);
    Json write() const;
};

/// 1..128 bytes, no control characters, none of "/?#" (§2.7); otherwise the reason.
std::optional<QString> invalidSessionId(const QString &id);

} // namespace paddock::wire
