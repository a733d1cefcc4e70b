// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/agent/admission.h"
#include "core/agent/agent_services.h"
#include "core/config/config.h"
#include "core/llm/scenario.h"
#include "core/middleware/chain_build.h"
#include "core/sandbox/fault_plan.h"
#include "core/sandbox/sandbox.h"
#include "core/tool/sandbox_tools.h"

namespace paddock {

// The configuration and the scenario as the small options of each room (style.md D: "translate options, build, forward").

using WorkspaceLookup = std::function<QString(const ThreadKey &)>;

AdmissionOptions admissionOptions(const SubagentRuntimeConfig &config);
/// The options that both kinds of chain share; below, what the lead's and one subagent's add.
ChainOptions chainOptions(const Config &config, const QString &dataDir, const QString &workspace, BlobSink blobs);
/// `scripted`: delegations are what the author of a scenario wrote, so only limits that the file sets cut them.
ChainOptions leadChainOptions(ChainOptions options, const Config &config, bool scripted);
ChainOptions subagentChainOptions(ChainOptions options, const std::optional<SubagentTokenBudget> &budget);
/// The same for one execution.
ChainOptions chainOptionsFor(ChainOptions options, const ChainRequest &request);
/// Names of models with supports_vision.
QStringList modelsThatSee(const Config &config);
SandboxToolOptions sandboxToolOptions(const Config &config, bool local, bool hostBash);
std::shared_ptr<FaultPlan> faultPlan(const Scenario &scenario);
/// MAX_SHELL_SESSIONS in force, or the start-up error of sandbox.md §6.
Result<int> shellSessionLimit(const Config &config);
Result<std::shared_ptr<SandboxProvider>> makeEmbeddedProvider(const Config &config, const QString &dataDir, WorkspaceLookup workspaces);
Result<std::shared_ptr<SandboxProvider>> makeLocalProvider(const Config &config, const QString &dataDir, WorkspaceLookup workspaces);

} // namespace paddock
