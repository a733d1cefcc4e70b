// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/agent/admission.h"
#include "core/agent/subagent_catalogue.h"
#include "core/agent/subagent_registry.h"
#include "core/llm/chat_model.h"
#include "core/middleware/chain.h"
#include "core/middleware/subagent_limit.h"
#include "core/tool/subagent_dispatcher.h"

namespace paddock {

/// Which tools an execution may have before its own lists are applied.
struct ToolsRequest {
    bool subagent = false;
    QString model;
    std::shared_ptr<SubagentDispatcher> dispatcher; ///< for the `task` tool; null for subagents
    bool uploads = false;                           ///< a valid list of uploaded files was inherited
};

/// What differs between the chains of two subagents of one run.
struct SubagentChainRequest {
    std::optional<SubagentTokenBudget> tokenBudget; ///< null: no budget
};

/// What the agents need of the rooms around them, as factories; filled in by `run` once per run. Shared between the
/// gateway loop and the subagent loop and not changed after the start: every function must be callable on both. Chain and
/// model are made for each execution, on the loop that runs it.
struct AgentServices {
    std::function<Result<std::shared_ptr<Chain>>()> leadChain;
    std::function<Result<std::shared_ptr<Chain>>(const SubagentChainRequest &)> subagentChain;
    std::function<Result<std::shared_ptr<ChatModel>>(const QString &modelName)> model;
    std::function<Result<std::vector<ToolPtr>>(const ToolsRequest &)> tools;
    /// The way to the thread's sandbox under this owner; may return null when there is none.
    std::function<std::shared_ptr<SandboxAccess>(LeaseOwner, ThreadKey, EventSink, SandboxId inherited)> sandbox;
    /// Read at each call: turning it off counts from the next one. Absent: allowed.
    std::function<bool()> hostBashAllowed;
    BlobSink blobs; ///< any thread; empty: hashes only

    std::shared_ptr<AdmissionQueue> admission = std::make_shared<AdmissionQueue>();     ///< one per process
    std::shared_ptr<SubagentRegistry> registry = std::make_shared<SubagentRegistry>(); ///< one per process
    SubagentOptions subagents;
    QStringList models;         ///< configured names; the first is the default
    bool summarization = false;
    bool receipts = false;      ///< the subagent chain renders receipts
    int maxLeadTurns = 1000;    ///< max_recursion_limit
    DelegationLimits delegation; ///< as in the lead's chain; its prompt names them
    int titleChars = 0;         ///< longest title of a thread; 0: threads get none
    bool asksPerson = false;    ///< the lead has the tool ask_clarification
    std::shared_ptr<const Clock> clock = Clock::system();
};

} // namespace paddock
