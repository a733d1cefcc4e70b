// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/sandboxd/output_buffer.h"
#include "core/sandboxd/reactor.h"
#include "core/wire/shell_api.h"

#include <functional>
#include <memory>
#include <optional>

namespace paddock::sandboxd {

/// How an exec request ends for its client.
struct ExecOutcome {
    enum class Kind {
        Answered, ///< 200
        Busy,     ///< 409, never started
        Lost,     ///< 404, never started
        Refused,  ///< 400 with the message
    } kind = Kind::Answered;
    wire::ShellExecResult result;
    QString message;
};
using ExecDone = std::function<void(ExecOutcome)>;

/// One command of a session, from its hand-over to the shell to its end. Plain state; ShellSession drives it.
struct ShellCommand {
    ShellCommand(qint64 head, qint64 tail) : output(head, tail) {}

    wire::ShellExecRequest request;
    ExecDone reply; ///< empty once answered
    std::uint64_t sequence = 0;
    QByteArray ps1;
    HeadTailBuffer output;
    OutputFilter filter;

    QString status = QString(wire::shell_status::running);
    std::optional<qint64> exitCode;
    qint64 idleLimit = 0; ///< seconds
    bool typed = false;
    bool fed = false;     ///< something was typed while it ran
    bool started = false; ///< the shell reported record S
    bool ended = false;
    bool idleVerdict = false; ///< no_change_timeout was reported and no byte came since
    bool killed = false;
    bool hardLimitHit = false;
    Reactor::Clock::time_point startedAt;
    Reactor::Clock::time_point lastOutputAt;

    bool running() const { return !ended; }
    /// What wait and view report (§2.3).
    QString visibleStatus() const
    {
        return !ended && idleVerdict ? QString(wire::shell_status::noChangeTimeout) : status;
    }
};

} // namespace paddock::sandboxd
