// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/message/message.h"

#include <QString>

#include <optional>

namespace paddock {

/// agent.queued: waits for a slot of subagent_runtime.max_running
struct AgentQueued {
    int position = 0; ///< 1-based
};

/// agent.started
struct AgentStarted {
    QString parent; ///< agent id of the dispatcher; empty for the lead
    QString subagentType;
    QString description; ///< the task's 3-5 word label, or the run's task for the lead
    QString model;
    int maxTurns = 0;
    QString call; ///< tool call id of the `task` call that made it; empty for the lead
};

/// agent.finished
struct AgentFinished {
    QString status; ///< completed, failed, cancelled, timed_out
    int turns = 0;
    Usage usage;
    std::optional<QString> error;
    std::optional<QString> stopReason; ///< token_capped, turn_capped, loop_capped
    std::optional<QString> cause = {}; ///< who or what stopped it, as a sentence for people; `error` keeps the words for models
};

} // namespace paddock
