// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/sandbox/aio/scoped_shells.h"

namespace paddock::aio {

/// Commands with an explicit environment: each a one-off bash.exec in a bash session of its own, which is closed in every
/// case; values travel only in the JSON `env` object, and there is no fall-back to a command string (sandbox.md §5.6).
/// Thread-safe; calls share nothing but the memory of a server that lacks the API.
class EnvExec
{
public:
    EnvExec(AioClient client, ShellOptions options, std::shared_ptr<FaultSlot> faults);

    Task<Result<CommandResult>> execute(CommandRequest request, std::stop_token stop);

private:
    struct State;
    std::shared_ptr<State> m_state;
};

} // namespace paddock::aio
