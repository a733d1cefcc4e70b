// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/sandbox/aio/aio_client.h"
#include "core/sandbox/aio/scoped_shells.h"
#include "core/sandbox/aio/shell_text.h"

// Single steps at the server, with the scenario's faults acted out on it: what they mean is decided in scoped_shells.cpp.
namespace paddock::aio {

/// How long a stopped command may take to end before its session is deleted.
inline constexpr std::chrono::seconds stopGrace{6};
/// A refused connection delivered nothing and may be tried again.
inline constexpr int connectTries = 3;
inline constexpr std::chrono::milliseconds connectPause{50};

struct CreateOutcome {
    std::optional<SessionId> session;
    bool ambiguous = false; ///< neither a success nor a definite failure
    Error error;
};
/// Not interrupted by stop: a create whose reply nobody reads would be ambiguous.
Task<CreateOutcome> createSession(AioClient client, SessionId wanted, ScopeId scope, ShellOptions options,
                                  std::shared_ptr<FaultSlot> faults, std::stop_token stop);

struct ExecOutcome {
    wire::Decoded<wire::ShellExecResult> reply = wire::ShellExecResult();
    bool stopped = false; ///< stop came first; the command was ended on the server as far as that was possible
};
/// `session` empty: the image's implicit session. Answers a running status by polling until the time is over.
Task<ExecOutcome> execInSession(AioClient client, SessionId session, CommandRequest request, CommandTimes times, ShellOptions options,
                                std::shared_ptr<FaultSlot> faults, std::stop_token stop);

/// A pause or a failure that the plan asks for; the other actions are the caller's.
Task<Result<void>> actOutFault(std::optional<FaultPlan::Rule> rule, std::stop_token stop);

} // namespace paddock::aio
