// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/chain_slots.h"

#include "core/middleware/clarification.h"
#include "core/middleware/dangling_tool_call.h"
#include "core/middleware/deferred_tool_filter.h"
#include "core/middleware/deferred_tool_promotion_audit.h"
#include "core/middleware/guardrail.h"
#include "core/middleware/input_sanitization.h"
#include "core/middleware/knowledge_scope.h"
#include "core/middleware/llm_error_handling.h"
#include "core/middleware/loop_detection.h"
#include "core/middleware/mcp_routing.h"
#include "core/middleware/model_length.h"
#include "core/middleware/pii_redaction.h"
#include "core/middleware/read_before_write.h"
#include "core/middleware/safety_finish_reason.h"
#include "core/middleware/sandbox_audit.h"
#include "core/middleware/sandbox_member.h"
#include "core/middleware/skill_activation.h"
#include "core/middleware/skill_tool_policy.h"
#include "core/middleware/subagent_date_context.h"
#include "core/middleware/system_message_coalescing.h"
#include "core/middleware/terminal_response.h"
#include "core/middleware/thread_data.h"
#include "core/middleware/todo.h"
#include "core/middleware/token_usage.h"
#include "core/middleware/tool_error_handling.h"
#include "core/middleware/tool_output_budget.h"
#include "core/middleware/tool_progress.h"
#include "core/middleware/tool_receipt.h"
#include "core/middleware/tool_result_sanitization.h"
#include "core/middleware/uploads.h"
#include "core/middleware/view_image_member.h"

namespace paddock::chain_slots {

MiddlewarePtr inputSanitization(const ChainOptions &)
{
    return std::make_shared<InputSanitizationMiddleware>();
}

MiddlewarePtr knowledgeScope(const ChainOptions &)
{
    return std::make_shared<KnowledgeScopeMiddleware>();
}

MiddlewarePtr toolOutputBudget(const ChainOptions &options)
{
    return std::make_shared<ToolOutputBudgetMiddleware>(options.outputBudget);
}

MiddlewarePtr toolResultSanitization(const ChainOptions &)
{
    return std::make_shared<ToolResultSanitizationMiddleware>();
}

MiddlewarePtr piiRedaction(const ChainOptions &options)
{
    return std::make_shared<PiiRedactionMiddleware>(options.pii);
}

MiddlewarePtr threadData(const ChainOptions &options)
{
    return std::make_shared<ThreadDataMiddleware>(
        ThreadDataMiddleware::Options{options.dataDir, options.workspaceOverride, true});
}

MiddlewarePtr sandbox(const ChainOptions &options)
{
    return std::make_shared<SandboxMiddleware>(SandboxMiddleware::Options{options.lazySandbox});
}

MiddlewarePtr danglingToolCall(const ChainOptions &)
{
    return std::make_shared<DanglingToolCallMiddleware>();
}

MiddlewarePtr llmErrorHandling(const ChainOptions &options)
{
    LlmErrorHandlingMiddleware::Options llm;
    llm.retry = options.llmRetry;
    llm.circuit = options.llmCircuit;
    llm.maxConcurrentCalls = options.llmMaxConcurrentCalls;
    return std::make_shared<LlmErrorHandlingMiddleware>(std::move(llm));
}

MiddlewarePtr sandboxAudit(const ChainOptions &options)
{
    using Mode = SandboxAuditMiddleware::Mode;
    return std::make_shared<SandboxAuditMiddleware>(options.sandboxAudit == u"warn_only" ? Mode::WarnOnly : Mode::Enforce);
}

MiddlewarePtr readBeforeWrite(const ChainOptions &options)
{
    return std::make_shared<ReadBeforeWriteMiddleware>(
        ReadBeforeWriteMiddleware::Options{options.elideBlockedPayloads, options.elideMinChars, {}});
}

MiddlewarePtr leadToolReceipt(const ChainOptions &options)
{
    return std::make_shared<ToolReceiptMiddleware>(options.receiptRenderMode);
}

MiddlewarePtr subagentToolReceipt(const ChainOptions &)
{
    return std::make_shared<ToolReceiptMiddleware>(ReceiptRenderMode::Always); // citations are made there
}

MiddlewarePtr authorization(const ChainOptions &options)
{
    const AuthorizationGateOptions &gate = options.authorizationGate;
    GuardrailMiddleware::Options made;
    made.name = QStringLiteral("AuthorizationMiddleware");
    made.failClosed = gate.failClosed;
    if (gate.provider) {
        AuthorizationGate::Options behind{gate.provider, gate.defaultRole, {}};
        if (options.deferredTools)
            behind.infrastructureTools.insert(QStringLiteral("tool_search"));
        made.provider = std::make_shared<AuthorizationGate>(std::move(behind));
    }
    return std::make_shared<GuardrailMiddleware>(std::move(made));
}

MiddlewarePtr guardrail(const ChainOptions &options)
{
    GuardrailMiddleware::Options made;
    made.provider = options.guardrailGate.provider;
    made.failClosed = options.guardrailGate.failClosed;
    made.passport = options.guardrailGate.passport;
    return std::make_shared<GuardrailMiddleware>(std::move(made));
}

MiddlewarePtr toolProgress(const ChainOptions &options)
{
    return std::make_shared<ToolProgressMiddleware>(options.progress);
}

MiddlewarePtr toolErrorHandling(const ChainOptions &options)
{
    ToolErrorHandlingMiddleware::Options made;
    made.skillsRoot = options.skills.containerRoot;
    made.skillReadTools = options.skillReadTools;
    return std::make_shared<ToolErrorHandlingMiddleware>(std::move(made));
}

MiddlewarePtr loopDetection(const ChainOptions &options)
{
    return std::make_shared<LoopDetectionMiddleware>(
        LoopOptions{options.loopWarnThreshold, options.loopHardLimit, options.loopWindow, options.loopMaxScopes,
                    options.toolFreqWarn, options.toolFreqHardLimit, options.toolFreqOverrides});
}

MiddlewarePtr tokenBudget(const ChainOptions &options)
{
    return std::make_shared<TokenBudgetMiddleware>(options.budget);
}

MiddlewarePtr safetyFinishReason(const ChainOptions &options)
{
    return std::make_shared<SafetyFinishReasonMiddleware>(options.safetyDetectors);
}

MiddlewarePtr dynamicContext(const ChainOptions &options)
{
    return std::make_shared<DynamicContextMiddleware>(
        DynamicContextMiddleware::Options{options.dateTimezone, options.injectMemory, options.memoryBlock});
}

MiddlewarePtr uploads(const ChainOptions &options)
{
    return std::make_shared<UploadsMiddleware>(UploadsMiddleware::Options{options.dataDir, options.workspaceOverride});
}

MiddlewarePtr todo(const ChainOptions &)
{
    return std::make_shared<TodoMiddleware>();
}

MiddlewarePtr tokenUsage(const ChainOptions &)
{
    return std::make_shared<TokenUsageMiddleware>();
}

MiddlewarePtr title(const ChainOptions &options)
{
    return std::make_shared<TitleMiddleware>(options.titles);
}

MiddlewarePtr subagentLimit(const ChainOptions &options)
{
    return std::make_shared<SubagentLimitMiddleware>(options.delegation);
}

MiddlewarePtr terminalResponse(const ChainOptions &)
{
    return std::make_shared<TerminalResponseMiddleware>();
}

MiddlewarePtr modelLength(const ChainOptions &)
{
    return std::make_shared<ModelLengthMiddleware>();
}

MiddlewarePtr clarification(const ChainOptions &)
{
    return std::make_shared<ClarificationMiddleware>();
}

MiddlewarePtr skillActivation(const ChainOptions &options)
{
    return std::make_shared<SkillActivationMiddleware>(options.skills);
}

MiddlewarePtr deferredToolPromotionAudit(const ChainOptions &options)
{
    return std::make_shared<DeferredToolPromotionAuditMiddleware>(options.deferred);
}

MiddlewarePtr skillToolPolicy(const ChainOptions &options)
{
    return std::make_shared<SkillToolPolicyMiddleware>(options.skills);
}

MiddlewarePtr viewImage(const ChainOptions &)
{
    return std::make_shared<ViewImageMiddleware>();
}

MiddlewarePtr mcpRouting(const ChainOptions &options)
{
    return std::make_shared<McpRoutingMiddleware>(options.deferred);
}

MiddlewarePtr deferredToolFilter(const ChainOptions &options)
{
    return std::make_shared<DeferredToolFilterMiddleware>(options.deferred.tools);
}

/// What a model may read of a text that leaves the state another way than as a message.
static std::function<QString(const QString &)> textRedactor(const ChainOptions &options)
{
    if (!options.piiRedaction)
        return {};
    return [pii = options.pii](const QString &text) { return redactedForModel(text, pii); };
}

MiddlewarePtr durableContext(const ChainOptions &options)
{
    return std::make_shared<DurableContextMiddleware>(
        DurableContextOptions{options.skills.containerRoot, options.skillReadTools, textRedactor(options)});
}

MiddlewarePtr leadSummarization(const ChainOptions &options)
{
    SummarizationOptions made = options.summaries;
    made.redact = textRedactor(options);
    return std::make_shared<SummarizationMiddleware>(std::move(made));
}

MiddlewarePtr subagentSummarization(const ChainOptions &options)
{
    ChainOptions own = options;
    own.summaries.beforeRemoval = nullptr; // what a subagent reads is nothing to remember of the person
    return leadSummarization(own);
}

MiddlewarePtr subagentDateContext(const ChainOptions &options)
{
    return std::make_shared<SubagentDateContextMiddleware>(options.dateTimezone);
}

MiddlewarePtr systemMessageCoalescing(const ChainOptions &)
{
    return std::make_shared<SystemMessageCoalescingMiddleware>();
}

/// What the members of one build share and no other build knows.
static ChainOptions freshBuild(ChainOptions options)
{
    options.skills.ownerToken = newOwnerToken();
    options.deferred.claims = std::make_shared<PromotionClaims>();
    return options;
}

std::vector<MiddlewarePtr> makeAll(const std::vector<ChainSlot> &rows, const ChainOptions &given)
{
    const ChainOptions options = freshBuild(given);
    std::vector<MiddlewarePtr> members;
    for (const ChainSlot &row : rows) {
        if (row.make != nullptr && row.wanted(options))
            members.push_back(row.make(options));
    }
    return members;
}

} // namespace paddock::chain_slots

namespace paddock {

Result<ChainOptions> withGateProviders(ChainOptions options)
{
    if (options.authorization) {
        auto gate = withProvider(std::move(options.authorizationGate));
        if (!gate)
            return fail(gate.error());
        options.authorizationGate = std::move(*gate);
    }
    if (options.guardrails) {
        auto gate = withProvider(std::move(options.guardrailGate));
        if (!gate)
            return fail(gate.error());
        options.guardrailGate = std::move(*gate);
    }
    if (options.safetyFinishReason && !options.safetyDetectorList.is_null()) {
        auto detectors = safetyDetectorsFrom(options.safetyDetectorList);
        if (!detectors)
            return fail(detectors.error());
        options.safetyDetectors = std::move(*detectors);
    }
    return options;
}

} // namespace paddock
