// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/chain_slots.h"

namespace paddock {

using namespace chain_slots;
using O = ChainOptions;

// The subagent chain as the seed lists it, outermost first. A row: name, hooks, when, maker (or notBuilt).
const std::vector<ChainSlot> &subagentSlots()
{
    static const std::vector<ChainSlot> rows{
        // 1. The shared base
        {"InputSanitization", wrapModel, always, inputSanitization},                 // user text cannot forge framework blocks
        {"KnowledgeScope", beforeAgent | wrapModel | wrapTool, always, knowledgeScope}, // retrieval stays within the turn's scope
        {"ToolOutputBudget", wrapModel | wrapTool, outputBudgetIsOn, toolOutputBudget}, // large results go to a file, a synopsis stays
        {"ToolResultSanitization", wrapTool, always, toolResultSanitization},        // fetched text cannot forge blocks either
        {"PiiRedaction", wrapModel | wrapTool, when<&O::piiRedaction>, piiRedaction}, // optional: personal data and keys leave
        {"ThreadData", beforeAgent, always, threadData},                             // the thread's folders, the turn's stamp
        {"Sandbox", beforeAgent | wrapTool | afterAgent, always, sandbox},           // binds and releases; no skill projection
        {"DanglingToolCall", wrapModel, always, danglingToolCall},                   // every call answered, in order
        {"LLMErrorHandling", wrapModel, always, llmErrorHandling},                   // retries, circuit, readable fallback
        {"ToolReceipt", wrapModel | wrapTool, when<&O::toolReceipts>, subagentToolReceipt}, // facts of each call; always rendered here
        {"Authorization", wrapTool, when<&O::authorization>, authorization},         // optional: may this principal call it
        {"Guardrail", wrapTool, guardrailIsOn, guardrail},                           // optional: may this call run at all
        {"SandboxAudit", wrapTool, auditIsOn, sandboxAudit},                         // shell commands recorded, the worst stopped
        {"ReadBeforeWrite", wrapModel | wrapTool, when<&O::readBeforeWrite>, readBeforeWrite}, // no write without a current read
        {"ToolProgress", beforeAgent | wrapModel | wrapTool, when<&O::toolProgress>, toolProgress}, // hints, then blocks, idle calls
        {"ToolErrorHandling", wrapTool, always, toolErrorHandling},                  // failures become messages, results get meta

        // 2. Skills and tools
        {"SkillActivation", wrapModel, always, skillActivation},                     // fresh slash-source owner token per build
        {"DeferredToolPromotionAudit", wrapTool, when<&O::deferredTools>, deferredToolPromotionAudit}, // who promoted which tool
        {"SkillToolPolicy", wrapModel | wrapTool, always, skillToolPolicy},          // allowed-tools of the active skills
        {"ViewImage", wrapModel, when<&O::vision>, viewImage},                       // optional: images for models that see
        {"McpRouting", beforeModel, when<&O::mcpRouting>, mcpRouting},               // promotes the tools that the text asks for
        {"DeferredToolFilter", wrapModel | wrapTool, when<&O::deferredTools>, deferredToolFilter}, // hides what is not promoted

        // 3. Guards
        {"LoopDetection", beforeAgent | wrapModel | afterModel | afterAgent, when<&O::loopDetection>, loopDetection}, // repetition
        {"TokenBudget", beforeAgent | wrapModel | afterModel | afterAgent, when<&O::tokenBudget>, tokenBudget}, // warns, then stops
        {"Extensions", Hooks(), when<&O::extensions>, notBuilt},                     // the one place where extensions join
        {"SafetyFinishReason", afterModel, when<&O::safetyFinishReason>, safetyFinishReason},  // a filtered answer runs no tools

        // 4. Context
        {"DurableContext", beforeModel | wrapModel | afterModel, always, durableContext}, // summary, delegations, skills survive
        {"Summarization", beforeModel, when<&O::summarization>, subagentSummarization}, // keeps system and the latest request
        {"SubagentDateContext", beforeAgent, always, subagentDateContext},           // one current_date reminder

        // 5. Innermost
        {"SystemMessageCoalescing", wrapModel, always, systemMessageCoalescing},     // one system message per request
    };
    return rows;
}

std::vector<MiddlewarePtr> buildSubagentMiddlewares(const ChainOptions &options)
{
    return makeAll(subagentSlots(), options);
}

Result<std::shared_ptr<Chain>> buildSubagentChain(const ChainOptions &options)
{
    const auto ready = withGateProviders(options);
    if (!ready)
        return fail(ready.error());
    return Chain::compile(buildSubagentMiddlewares(*ready), {options.trace, subagentConstraints()});
}

} // namespace paddock
