// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/chain_build.h"

// What the two chain files share: the conditions, the makers and the hook sets of their rows.
namespace paddock::chain_slots {

inline bool always(const ChainOptions &)
{
    return true;
}

template<bool ChainOptions::*Switch>
bool when(const ChainOptions &options)
{
    return options.*Switch;
}

inline constexpr MiddlewarePtr (*notBuilt)(const ChainOptions &) = nullptr;

MiddlewarePtr inputSanitization(const ChainOptions &options);
MiddlewarePtr knowledgeScope(const ChainOptions &options);
MiddlewarePtr toolOutputBudget(const ChainOptions &options);
MiddlewarePtr toolResultSanitization(const ChainOptions &options);
MiddlewarePtr piiRedaction(const ChainOptions &options);
MiddlewarePtr threadData(const ChainOptions &options);
MiddlewarePtr sandbox(const ChainOptions &options);
MiddlewarePtr danglingToolCall(const ChainOptions &options);
MiddlewarePtr llmErrorHandling(const ChainOptions &options);
MiddlewarePtr sandboxAudit(const ChainOptions &options);
MiddlewarePtr readBeforeWrite(const ChainOptions &options);
MiddlewarePtr leadToolReceipt(const ChainOptions &options);
MiddlewarePtr subagentToolReceipt(const ChainOptions &options);
MiddlewarePtr authorization(const ChainOptions &options);
MiddlewarePtr guardrail(const ChainOptions &options);
MiddlewarePtr toolProgress(const ChainOptions &options);
MiddlewarePtr toolErrorHandling(const ChainOptions &options);
MiddlewarePtr loopDetection(const ChainOptions &options);
MiddlewarePtr tokenBudget(const ChainOptions &options);
MiddlewarePtr safetyFinishReason(const ChainOptions &options);
MiddlewarePtr dynamicContext(const ChainOptions &options);
MiddlewarePtr uploads(const ChainOptions &options);
MiddlewarePtr todo(const ChainOptions &options);
MiddlewarePtr tokenUsage(const ChainOptions &options);
MiddlewarePtr title(const ChainOptions &options);
MiddlewarePtr subagentLimit(const ChainOptions &options);
MiddlewarePtr terminalResponse(const ChainOptions &options);
MiddlewarePtr modelLength(const ChainOptions &options);
MiddlewarePtr clarification(const ChainOptions &options);
MiddlewarePtr skillActivation(const ChainOptions &options);
MiddlewarePtr deferredToolPromotionAudit(const ChainOptions &options);
MiddlewarePtr skillToolPolicy(const ChainOptions &options);
MiddlewarePtr viewImage(const ChainOptions &options);
MiddlewarePtr mcpRouting(const ChainOptions &options);
MiddlewarePtr deferredToolFilter(const ChainOptions &options);
MiddlewarePtr durableContext(const ChainOptions &options);
MiddlewarePtr leadSummarization(const ChainOptions &options);
MiddlewarePtr subagentSummarization(const ChainOptions &options);
MiddlewarePtr subagentDateContext(const ChainOptions &options);
MiddlewarePtr systemMessageCoalescing(const ChainOptions &options);

inline bool guardrailIsOn(const ChainOptions &options)
{
    return options.guardrails && options.guardrailGate.provider;
}

inline bool auditIsOn(const ChainOptions &options)
{
    return options.sandboxAudit != u"off";
}

inline bool outputBudgetIsOn(const ChainOptions &options)
{
    return options.outputBudget.enabled;
}

/// New members for the wanted and built rows, in their order.
std::vector<MiddlewarePtr> makeAll(const std::vector<ChainSlot> &rows, const ChainOptions &options);

inline constexpr Hook beforeAgent = Hook::BeforeAgent;
inline constexpr Hook beforeModel = Hook::BeforeModel;
inline constexpr Hook wrapModel = Hook::WrapModelCall;
inline constexpr Hook afterModel = Hook::AfterModel;
inline constexpr Hook wrapTool = Hook::WrapToolCall;
inline constexpr Hook afterAgent = Hook::AfterAgent;

} // namespace paddock::chain_slots
