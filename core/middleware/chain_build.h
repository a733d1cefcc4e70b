// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/chain.h"
#include "core/middleware/deferred_options.h"
#include "core/middleware/durable_context.h"
#include "core/middleware/dynamic_context.h"
#include "core/middleware/gate_options.h"
#include "core/middleware/llm_circuit.h"
#include "core/middleware/llm_failure.h"
#include "core/middleware/output_budget.h"
#include "core/middleware/pii_redactor.h"
#include "core/middleware/progress_tracker.h"
#include "core/middleware/receipt_ledger.h"
#include "core/middleware/skill_options.h"
#include "core/middleware/subagent_limit.h"
#include "core/middleware/summarization.h"
#include "core/middleware/termination.h"
#include "core/middleware/title.h"
#include "core/middleware/token_budget.h"

#include <QString>

namespace paddock {

/// The settings of the members, with the spec's defaults. Filled by `run` from the configuration. A member that is not
/// built yet is left out whatever its switch says.
struct ChainOptions {
    QString dataDir;              ///< {base} of thread data
    QString workspaceOverride;    ///< a folder the person named
    bool lazySandbox = true;      ///< acquire at the first tool that needs it
    QString sandboxAudit = QStringLiteral("enforce"); ///< enforce, warn_only, off
    bool readBeforeWrite = true;
    bool elideBlockedPayloads = true;
    int elideMinChars = 0;
    bool loopDetection = true;
    int loopWarnThreshold = 3;
    int loopHardLimit = 5;
    int loopWindow = 20;
    int loopMaxScopes = 100;
    int toolFreqWarn = 30;
    int toolFreqHardLimit = 50;
    QMap<QString, std::pair<int, int>> toolFreqOverrides;
    LlmRetryOptions llmRetry;
    LlmCircuitOptions llmCircuit;
    int llmMaxConcurrentCalls = 0; ///< over the whole process; 0: no cap
    ProgressOptions progress;     ///< used when toolProgress is on
    OutputBudgetOptions outputBudget;
    PiiOptions pii; ///< with piiRedaction
    ReceiptRenderMode receiptRenderMode = ReceiptRenderMode::DelegationOnly; ///< of the lead; a subagent always renders
    GuardrailGateOptions guardrailGate;         ///< used when guardrails is on
    AuthorizationGateOptions authorizationGate; ///< used when authorization is on
    SkillOptions skills;       ///< its token is made anew by each build
    DeferredOptions deferred;  ///< used when deferredTools or mcpRouting is on; its claims are made anew by each build
    QString dateTimezone;         ///< IANA name; empty or invalid: local
    TokenBudgetOptions budget;    ///< used when tokenBudget is on
    Json safetyDetectorList;      ///< safety_finish_reason.detectors; null: the built-in ones
    std::vector<TerminationDetector> safetyDetectors = paddock::safetyDetectors(); ///< made from the list by the builds below
    DelegationLimits delegation;  ///< of the lead, used when subagents is on
    TitleOptions titles;          ///< used when title is on
    QStringList skillReadTools = defaultSkillReadTools(); ///< whose results DurableContext looks at
    SummarizationOptions summaries; ///< used when summarization is on; what remembers the person is the lead's alone
    bool injectMemory = true;     ///< memory.injection_enabled
    std::function<Task<Result<QString>>(RuntimePtr, std::stop_token)> memoryBlock; ///< what is remembered of the person; absent: nothing

    // Switches of the list; the seed calls these members optional.
    bool piiRedaction = false;
    bool authorization = false;
    bool guardrails = false;
    bool toolProgress = false;
    bool toolReceipts = true;
    bool deferredTools = false;
    bool mcpRouting = false;
    bool vision = false;
    bool planMode = false;
    bool tokenUsage = true;
    bool title = true;
    bool memory = true;
    bool tokenBudget = true;
    bool safetyFinishReason = true;
    bool summarization = true;
    bool extensions = false;
    bool subagents = true;

    TraceOptions trace;
};

/// build_subagent_runtime_middlewares: the list of the seed, outermost first. Two builds never share state.
std::vector<MiddlewarePtr> buildSubagentMiddlewares(const ChainOptions &options);
std::vector<MiddlewarePtr> buildLeadMiddlewares(const ChainOptions &options);

/// The options with the providers of the wanted gates and the detectors that are named, for the two lists above; the two
/// chains below do it themselves.
Result<ChainOptions> withGateProviders(ChainOptions options);

/// The same, compiled with the rules of that kind of chain and options.trace.
Result<std::shared_ptr<Chain>> buildSubagentChain(const ChainOptions &options);
Result<std::shared_ptr<Chain>> buildLeadChain(const ChainOptions &options);

/// One place of a chain as data: who stands there, which hooks it has, whether the options want it.
struct ChainSlot {
    const char *name; ///< short: "ToolErrorHandling"
    Hooks hooks;
    bool (*wanted)(const ChainOptions &);
    MiddlewarePtr (*make)(const ChainOptions &); ///< null: not built yet
};
const std::vector<ChainSlot> &subagentSlots();
const std::vector<ChainSlot> &leadSlots();

} // namespace paddock
