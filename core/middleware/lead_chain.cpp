// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/chain_slots.h"

namespace paddock {

using namespace chain_slots;
using O = ChainOptions;

// The lead's chain, outermost first (middleware-base §1.12, runtime §5). A row: name, hooks, when, maker (or notBuilt).
const std::vector<ChainSlot> &leadSlots()
{
    static const std::vector<ChainSlot> rows{
        // 1. The shared base; differs from a subagent's in three rows
        {"InputSanitization", wrapModel, always, inputSanitization},                 // user text cannot forge framework blocks
        {"KnowledgeScope", beforeAgent | wrapModel | wrapTool, always, knowledgeScope}, // retrieval stays within the turn's scope
        {"ToolOutputBudget", wrapModel | wrapTool, outputBudgetIsOn, toolOutputBudget}, // large results go to a file, a synopsis stays
        {"ToolResultSanitization", wrapTool, always, toolResultSanitization},        // fetched text cannot forge blocks either
        {"PiiRedaction", wrapModel | wrapTool, when<&O::piiRedaction>, piiRedaction}, // optional: personal data and keys leave
        {"Uploads", beforeAgent, always, uploads},                                   // lead only: what the person uploaded
        {"ThreadData", beforeAgent, always, threadData},                             // the thread's folders, the turn's stamp
        {"Sandbox", beforeAgent | wrapTool | afterAgent, always, sandbox},           // binds and releases; will own the skill projection
        {"DanglingToolCall", wrapModel, always, danglingToolCall},                   // every call answered, in order
        {"LLMErrorHandling", wrapModel, always, llmErrorHandling},                   // retries, circuit, readable fallback
        {"ToolReceipt", wrapModel | wrapTool, when<&O::toolReceipts>, leadToolReceipt}, // facts of each call; render mode from config
        {"Authorization", wrapTool, when<&O::authorization>, authorization},         // optional: may this principal call it
        {"Guardrail", wrapTool, guardrailIsOn, guardrail},                           // optional: may this call run at all
        {"SandboxAudit", wrapTool, auditIsOn, sandboxAudit},                         // shell commands recorded, the worst stopped
        {"ReadBeforeWrite", wrapModel | wrapTool, when<&O::readBeforeWrite>, readBeforeWrite}, // no write without a current read
        {"ToolProgress", beforeAgent | wrapModel | wrapTool, when<&O::toolProgress>, toolProgress}, // hints, then blocks, idle calls
        {"ToolErrorHandling", wrapTool, always, toolErrorHandling},                  // failures become messages, results get meta

        // 2. Context of the conversation
        {"DynamicContext", beforeAgent, always, dynamicContext},                     // date, memory, midnight updates
        {"SkillActivation", wrapModel, always, skillActivation},                     // slash commands and skills in use
        {"DeferredToolPromotionAudit", wrapTool, when<&O::deferredTools>, deferredToolPromotionAudit}, // who promoted which tool
        {"SkillToolPolicy", wrapModel | wrapTool, always, skillToolPolicy},          // allowed-tools of the active skills
        {"DurableContext", beforeModel | wrapModel | afterModel, always, durableContext}, // summary, delegations, skills survive
        {"Summarization", beforeModel, when<&O::summarization>, leadSummarization}, // keeps system and the latest request
        {"Todo", beforeAgent | beforeModel | wrapModel | afterModel | afterAgent, when<&O::planMode>, todo}, // plan mode
        {"TokenUsage", afterModel, when<&O::tokenUsage>, tokenUsage},                // what each step cost
        {"Title", afterModel, when<&O::title>, title},                               // a name for the thread
        {"Memory", afterAgent, when<&O::memory>, notBuilt},                          // what to remember of the person

        // 3. Tools
        {"ViewImage", wrapModel, when<&O::vision>, viewImage},                       // optional: images for models that see
        {"McpRouting", beforeModel, when<&O::mcpRouting>, mcpRouting},               // promotes the tools that the text asks for
        {"DeferredToolFilter", wrapModel | wrapTool, when<&O::deferredTools>, deferredToolFilter}, // hides what is not promoted
        {"SystemMessageCoalescing", wrapModel, always, systemMessageCoalescing},     // outside the guards: they add human messages only

        // 4. Guards
        {"SubagentLimit", afterModel, when<&O::subagents>, subagentLimit},           // at most N delegations per response
        {"LoopDetection", beforeAgent | wrapModel | afterModel | afterAgent, when<&O::loopDetection>, loopDetection}, // repetition
        {"TokenBudget", beforeAgent | wrapModel | afterModel | afterAgent, when<&O::tokenBudget>, tokenBudget}, // warns, then stops
        {"Extensions", Hooks(), when<&O::extensions>, notBuilt},                     // the one place where extensions join
        {"TerminalResponse", beforeAgent | wrapModel | afterModel | afterAgent, always, terminalResponse}, // no silent end
        {"ModelLength", afterModel, always, modelLength},                            // a cut answer says so
        {"SafetyFinishReason", afterModel, when<&O::safetyFinishReason>, safetyFinishReason},  // a filtered answer runs no tools
        {"Clarification", wrapTool | afterModel, always, clarification},             // last: a question to the person ends the turn
    };
    return rows;
}

std::vector<MiddlewarePtr> buildLeadMiddlewares(const ChainOptions &options)
{
    return makeAll(leadSlots(), options);
}

Result<std::shared_ptr<Chain>> buildLeadChain(const ChainOptions &options)
{
    const auto ready = withGateProviders(options);
    if (!ready)
        return fail(ready.error());
    return Chain::compile(buildLeadMiddlewares(*ready), {options.trace, {}});
}

} // namespace paddock
