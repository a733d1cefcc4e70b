// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/wire/field_reader.h"

#include <map>

// The bash group (aio-api.md §3): one process per command, separate streams.
namespace paddock::wire {

namespace bash_status {
inline constexpr auto running = QLatin1StringView("running");
inline constexpr auto completed = QLatin1StringView("completed");
inline constexpr auto timedOut = QLatin1StringView("timed_out");
inline constexpr auto killed = QLatin1StringView("killed");
} // namespace bash_status

/// [A-Za-z_][A-Za-z0-9_]*
bool isEnvironmentName(const QString &name);

struct BashExecRequest {
    QString command;
    std::optional<QString> sessionId;
    std::optional<QString> execDir;
    std::map<QString, QString> env; ///< values are secrets: never log them
    bool asyncMode = false;
    std::optional<double> timeout;
    std::optional<double> hardTimeout;
    qint64 maxOutputLength = 50000; ///< characters; 0 = off

    static BashExecRequest read(FieldReader &in);
    Json write() const; ///< only what differs from the defaults
};

struct BashExecResult {
    QString sessionId;
    QString commandId;
    QString command;
    QString status;
    QString standardOutput; ///< "stdout"; null reads as empty
    QString standardError;  ///< "stderr"; written as null when nothing was ever written
    std::optional<qint64> exitCode;
    qint64 offset = 0; ///< bytes produced so far
    qint64 stderrOffset = 0;

    static BashExecResult read(FieldReader &in);
    Json write() const;
};

struct BashOutputRequest {
    QString sessionId;
    std::optional<QString> commandId;
    qint64 offset = 0;
    qint64 stderrOffset = 0;
    bool wait = false;
    double waitTimeout = 30; ///< seconds

    static BashOutputRequest read(FieldReader &in);
    Json write() const;
};

struct BashCommandState {
    QString commandId;
    QString command;
    QString status;
    std::optional<qint64> exitCode;

    bool running() const { return status == bash_status::running; }
    static BashCommandState read(FieldReader &in);
    Json write() const;
};

struct BashOutputResult {
    QString sessionId;
    QString standardOutput;
    QString standardError;
    qint64 offset = 0;
    qint64 stderrOffset = 0;
    std::optional<BashCommandState> command;

    static BashOutputResult read(FieldReader &in);
    Json write() const;
};

struct BashWriteRequest {
    QString sessionId;
    std::optional<QString> commandId;
    QString input;

    static BashWriteRequest read(FieldReader &in);
    Json write() const;
};

struct BashKillRequest {
    QString sessionId;
    QString signal = QStringLiteral("SIGTERM");

    static BashKillRequest read(FieldReader &in);
    Json write() const;
};

struct BashCreateRequest {
    std::optional<QString> sessionId;
    std::optional<QString> execDir;
    std::optional<QString> snapshotPath;

    static BashCreateRequest read(FieldReader &in);
    Json write() const;
};

struct BashSession {
    QString sessionId;
    QString status; ///< "ready" or "closed"
    QString workingDir;
    Timestamp createdAt;
    Timestamp lastUsedAt;
    std::optional<QString> currentCommand;
    qint64 commandCount = 0;

    static BashSession read(FieldReader &in);
    Json write() const;
};

} // namespace paddock::wire
