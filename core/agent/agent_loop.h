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
    QString modelName;       ///< as configured; empty: what the model calls itself
    QString subagentType;    ///< empty for the lead
    QString prompt;          ///< the task, for ModelCaller
    BlobSink blobs;          ///< keeps messages that events name by hash; empty: hashes only
    /// Called after each step that changed the state, on the agent's loop.
    std::function<void(const AgentState &)> onState;
    /// Who or what has asked runtime->stop, as a sentence for people; empty: not known. Any thread.
    std::function<QString()> whyStopped;
    /// Called for each finished model call, also one that a member of the chain discards. On the agent's loop.
    std::function<void(const MessagePtr &)> onReply;
};

struct AgentOutcome {
    AgentState state;
    int turns = 0;
    bool turnLimitHit = false; ///< one more model call was needed than maxTurns allows; after_agent did not run
    Usage usage;
    std::optional<QString> stopReason; ///< of the guards, popped
};

/// before_agent, turns, after_agent. Cancellation by runtime->stop; it unwinds through every step, and running tools are
/// waited for. Emits model.* and tool.* events through runtime->events; the events of a turn have that turn's span as
/// parent (no event opens it), those inside a tool call the span of tool.started. Never throws.
Task<Result<AgentOutcome>> runAgent(AgentSpec spec, AgentState initial, RuntimePtr runtime);

/// Runtime §1.1, K-1: the step limit of the reference for so many model calls, for traces that are compared with it.
int referenceStepLimit(int maxTurns, int loopHooks, int invocationHooks);
/// The model calls a budget really allows.
int allowedModelCalls(int maxTurns);

} // namespace paddock
