// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QString>

#include <optional>

namespace paddock {

/// shell.session_created; reason: first_use, not_found, error_observation
struct ShellSessionCreated {
    QString scope;
    QString session;
    QString reason;
};

/// shell.session_lost; reason: not_found, error_observation, terminated, no_change_timeout, transport
struct ShellSessionLost {
    QString scope;
    QString session;
    QString reason;
};

/// shell.session_closed; reason: lease_released, abandoned
struct ShellSessionClosed {
    QString scope;
    QString session;
    QString reason;
};

/// shell.command_started; the command has its secrets masked
struct ShellCommandStarted {
    QString scope;
    QString session;
    QString commandId;
    QString command;
};

/// shell.command_finished
struct ShellCommandFinished {
    QString scope;
    QString session;
    QString commandId;
    std::optional<int> exitCode;
    QString status; ///< completed, hard_timeout, no_change_timeout, terminated, failed
    qint64 durationMs = 0;
    qint64 bytes = 0;
    QString cwd; ///< after the command, when known
    bool retried = false;
};

/// shell.takeover_started / shell.takeover_ended
struct ShellTakeoverStarted {
    QString scope;
    QString session;
};
struct ShellTakeoverEnded {
    QString scope;
    QString session;
};

} // namespace paddock
