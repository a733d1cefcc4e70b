// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/wire/bash_api.h"
#include "core/wire/envelope.h"
#include "core/wire/shell_api.h"

#include <QString>

#include <chrono>
#include <optional>

// Pure functions: times, texts and rules of commands in an AIO sandbox (sandbox.md §5.4, §5.6, §5.7).
namespace paddock::aio {

/// Seconds, from the per-call or default timeout T.
struct CommandTimes {
    double hard = 600;
    qint64 noChange = 605;
    qint64 http = 605;

    static CommandTimes of(double timeout);
    std::chrono::milliseconds httpLimit() const { return std::chrono::seconds(http); }
};

/// The text of a corrupt session (#5128). It counts only when the status is completed or absent.
bool hasErrorObservation(const QString &text);

/// Drops CSI and OSC sequences, turns CRLF into LF, keeps what follows the last carriage return of a line. Nothing else.
QString cleanOutput(const QString &raw);

/// A rendered result and what it means for the session.
struct RenderedCommand {
    QString text;
    QString status; ///< as CommandResult::status
    std::optional<int> exitCode;
    bool sessionUsable = true;
    QString directory{}; ///< where the shell is now, when the server says it
};
RenderedCommand renderShell(const wire::ShellExecResult &result, const CommandTimes &times);
RenderedCommand renderBash(const wire::BashExecResult &result, const CommandTimes &times);

QString transportNotice(wire::TransportKind kind, const CommandTimes &times);
QString bashUnsupportedText();
QString recreatedNotice();
QString restartedNotice();
/// "session limit reached and all N existing …": N.
std::optional<int> sessionLimitOf(const QString &message);

} // namespace paddock::aio
