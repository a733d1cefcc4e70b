// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/agent/admission.h"
#include "core/agent/subagent_catalogue.h"
#include "core/agent/subagent_registry.h"
#include "core/llm/chat_model.h"
#include "core/middleware/chain.h"
#include "core/middleware/subagent_limit.h"
#include "core/skill/skill_store.h"
#include "core/tool/deferred_tools.h"
#include "core/tool/subagent_dispatcher.h"

namespace paddock {

/// Which tools an execution may have before its own lists are applied.
struct ToolsRequest {
    bool subagent = false;
    QString model;
    std::shared_ptr<SubagentDispatcher> dispatcher; ///< for the `task` tool; null for subagents
    bool uploads = false;                           ///< a valid list of uploaded files was inherited
    bool vision = false;                            ///< the model takes images
};

/// What a chain is built for: the facts of one execution that its members need.
struct ChainRequest {
    std::optional<QStringList> skills; ///< the execution's allowlist; null: all that are switched on
    DeferredTools deferred;
    bool vision = false;
    std::optional<SubagentTokenBudget> tokenBudget; ///< of a subagent; null: none of its own
};

/// What the agents need of the rooms around them, as factories; filled in by `run` once per run. Shared between the
/// gateway loop and the subagent loop and not changed after the start: every function must be callable on both. Chain and
/// model are made for each execution, on the loop that runs it.
struct AgentServices {
    std::function<Result<std::shared_ptr<Chain>>(const ChainRequest &)> leadChain;
    std::function<Result<std::shared_ptr<Chain>>(const ChainRequest &)> subagentChain;
    std::function<Result<std::shared_ptr<ChatModel>>(const QString &modelName)> model;
    std::function<Result<std::vector<ToolPtr>>(const ToolsRequest &)> tools;
    /// The way to the thread's sandbox under this owner; may return null when there is none.
    std::function<std::shared_ptr<SandboxAccess>(LeaseOwner, ThreadKey, EventSink, SandboxId inherited)> sandbox;
    /// Read at each call: turning it off counts from the next one. Absent: allowed.
    std::function<bool()> hostBashAllowed;
    /// Whether a model takes images. Absent: none does.
    std::function<bool(const QString &modelName)> seesImages;
    SkillSourcePtr skills;    ///< null: there are none
    bool deferSkills = false; ///< skills.deferred_discovery: prompts have names only
    bool toolSearch = false;  ///< tool_search.enabled: tools of MCP servers are deferred
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
