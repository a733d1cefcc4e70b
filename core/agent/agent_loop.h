// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/chain.h"

namespace paddock {

/// Everything one invocation needs (runtime §1.1). Values and shared services; lives on the loop that runs it.
struct AgentSpec {
    std::shared_ptr<Chain> chain;
    std::shared_ptr<ChatModel> model;
    std::vector<ToolPtr> tools;
    MessagePtr systemPrompt; ///< the lead's; null for subagents (their prompt is a message of the state)
    int maxTurns = 1000;     ///< model calls
    QString subagentType;    ///< empty for the lead
    QString prompt;          ///< the task, for ModelCaller
    /// Called after each step that changed the state, on the agent's loop.
    std::function<void(const AgentState &)> onState;
};

struct AgentOutcome {
    AgentState state;
    int turns = 0;
    bool turnLimitHit = false;
    Usage usage;
    std::optional<QString> stopReason;
};

/// before_agent, turns, after_agent. Cancellation by runtime->stop; it unwinds through every step.
Task<Result<AgentOutcome>> runAgent(AgentSpec spec, AgentState initial, RuntimePtr runtime);

} // namespace paddock
