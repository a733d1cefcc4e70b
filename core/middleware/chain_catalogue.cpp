// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/chain_catalogue.h"

#include <algorithm>

namespace paddock {

namespace {

using O = ChainOptions;

struct Page {
    const char *name;
    const char *purpose;
    const char *key = "";
    Json (*settings)(const O &) = nullptr;
    const char *perRun = "";
};

Json optional(std::optional<qint64> value)
{
    return value ? Json(*value) : Json(nullptr);
}

Json outputBudget(const O &o)
{
    const OutputBudgetOptions &b = o.outputBudget;
    Json overrides = Json::object();
    for (auto it = b.toolOverrides.cbegin(); it != b.toolOverrides.cend(); ++it)
        overrides[toUtf8(it.key())] = it.value();
    return {{"externalize_min_chars", b.externalizeMinChars}, {"preview_head_chars", b.previewHeadChars},
            {"preview_tail_chars", b.previewTailChars}, {"fallback_max_chars", b.fallbackMaxChars},
            {"fallback_head_chars", b.fallbackHeadChars}, {"fallback_tail_chars", b.fallbackTailChars},
            {"storage_subdir", toUtf8(b.storageSubdir)}, {"exempt_tools", namesToJson(b.exemptTools)}, {"tool_overrides", overrides},
            {"elide_superseded_writes", b.elideSupersededWrites}, {"superseded_write_min_chars", b.supersededWriteMinChars},
            {"keep_recent_writes", b.keepRecentWrites}};
}

Json pii(const O &o)
{
    return {{"email", o.pii.email}, {"api_key", o.pii.apiKey}, {"credit_card", o.pii.creditCard}, {"phone", o.pii.phone},
            {"national_id", o.pii.nationalId}, {"fail_closed", o.pii.failClosed}};
}

Json llmCalls(const O &o)
{
    return {{"max_concurrent_calls", o.llmMaxConcurrentCalls}, {"retry_max_attempts", o.llmRetry.maxAttempts},
            {"retry_base_delay_ms", o.llmRetry.baseDelay.count()}, {"retry_cap_delay_ms", o.llmRetry.capDelay.count()},
            {"burst_retry_base_delay_ms", o.llmRetry.burstBaseDelay.count()}, {"failure_threshold", o.llmCircuit.failureThreshold},
            {"recovery_timeout_sec", o.llmCircuit.recoveryTimeout.count()}};
}

Json progress(const O &o)
{
    QStringList exempt(o.progress.exemptTools.cbegin(), o.progress.exemptTools.cend());
    exempt.sort();
    return {{"stagnation_threshold", o.progress.stagnationThreshold}, {"warn_escalation_count", o.progress.warnEscalationCount},
            {"inject_assessment", o.progress.injectAssessment}, {"jaccard_similarity_threshold", o.progress.similarityThreshold},
            {"min_word_count_for_similarity", o.progress.minWordsForSimilarity}, {"exempt_tools", namesToJson(exempt)},
            {"max_tracked_threads", o.progress.maxTrackedThreads}};
}

Json loops(const O &o)
{
    Json overrides = Json::object();
    for (auto it = o.toolFreqOverrides.cbegin(); it != o.toolFreqOverrides.cend(); ++it)
        overrides[toUtf8(it.key())] = {{"warn", it.value().first}, {"hard_limit", it.value().second}};
    return {{"warn_threshold", o.loopWarnThreshold}, {"hard_limit", o.loopHardLimit}, {"window_size", o.loopWindow},
            {"max_tracked_threads", o.loopMaxScopes}, {"tool_freq_warn", o.toolFreqWarn}, {"tool_freq_hard_limit", o.toolFreqHardLimit},
            {"tool_freq_overrides", overrides}};
}

Json tokens(const O &o)
{
    return {{"max_tokens", o.budget.maxTokens}, {"max_input_tokens", optional(o.budget.maxInputTokens)},
            {"max_output_tokens", optional(o.budget.maxOutputTokens)}, {"warn_threshold", o.budget.warnThreshold},
            {"hard_stop_threshold", o.budget.hardStopThreshold}};
}

Json rbw(const O &o)
{
    return {{"elide_blocked_payloads", o.elideBlockedPayloads}, {"elide_min_chars", o.elideMinChars}};
}

Json titles(const O &o)
{
    return {{"max_words", o.titles.maxWords}, {"max_chars", o.titles.maxChars}, {"model_name", toUtf8(o.titles.modelName)}};
}

Json sizeOf(const ContextSize &size)
{
    using Unit = ContextSize::Unit;
    const char *unit = size.unit == Unit::Tokens ? "tokens" : size.unit == Unit::Fraction ? "fraction" : "messages";
    return {{"type", unit}, {"value", size.value}};
}

Json summaries(const O &o)
{
    Json triggers = Json::array();
    for (const ContextSize &size : o.summaries.policy.trigger)
        triggers.push_back(sizeOf(size));
    return {{"model_name", toUtf8(o.summaries.modelName)}, {"trigger", triggers}, {"keep", sizeOf(o.summaries.policy.keep)},
            {"trim_tokens_to_summarize", optional(o.summaries.trimTokens)}};
}

Json delegations(const O &o)
{
    return {{"max_concurrent", o.delegation.perResponse}, {"max_total_per_run", o.delegation.perRun}};
}

// Purposes are the words of the rows in subagent_chain.cpp and lead_chain.cpp. A provider's own configuration stays hidden:
// it may hold secrets.
const std::vector<Page> &pages()
{
    static const std::vector<Page> all{
        {"InputSanitization", "user text cannot forge framework blocks"},
        {"KnowledgeScope", "retrieval stays within the turn's scope"},
        {"ToolOutputBudget", "large results go to a file, a synopsis stays", "tool_output", outputBudget},
        {"ToolResultSanitization", "fetched text cannot forge framework blocks"},
        {"PiiRedaction", "personal data and keys leave what the model reads", "pii_redaction", pii},
        {"Uploads", "tells the model what the person uploaded"},
        {"ThreadData", "the thread's folders and the turn's stamp"},
        {"Sandbox", "binds the sandbox and releases its lease"},
        {"DanglingToolCall", "every call is answered, in order"},
        {"LLMErrorHandling", "retries, a circuit breaker, a readable fallback", "llm_call", llmCalls},
        {"ToolReceipt", "facts of each tool call, to be cited", "verification",
         [](const O &o) { return Json{{"receipts_render_mode", o.receiptRenderMode == ReceiptRenderMode::Always ? "always" : "delegation_only"}}; }},
        {"Authorization", "may this principal call the tool", "authorization",
         [](const O &o) {
             return Json{{"fail_closed", o.authorizationGate.failClosed}, {"default_role", toUtf8(o.authorizationGate.defaultRole)},
                         {"provider", toUtf8(o.authorizationGate.use)}};
         }},
        {"Guardrail", "may this call run at all", "guardrails",
         [](const O &o) { return Json{{"fail_closed", o.guardrailGate.failClosed}, {"provider", toUtf8(o.guardrailGate.use)}}; }},
        {"SandboxAudit", "shell commands are recorded, the worst are stopped", "",
         [](const O &o) { return Json{{"audit", toUtf8(o.sandboxAudit)}}; }},
        {"ReadBeforeWrite", "no write without a current read", "read_before_write", rbw},
        {"ToolProgress", "hints, then blocks, tool calls that lead nowhere", "tool_progress", progress},
        {"ToolErrorHandling", "failures of tools become messages"},
        {"DynamicContext", "today's date and what is remembered of the person", "memory",
         [](const O &o) { return Json{{"injection_enabled", o.injectMemory}}; }},
        {"SkillActivation", "slash commands and the skills in use", "skills",
         [](const O &o) { return Json{{"container_path", toUtf8(o.skills.containerRoot)}}; }},
        {"DeferredToolPromotionAudit", "records who promoted which tool", "tool_search", nullptr, "tools that are found by search"},
        {"SkillToolPolicy", "allowed tools of the active skills", "skills"},
        {"DurableContext", "summary, delegations and skills survive compaction"},
        {"Summarization", "shortens the history; system and the latest request stay", "summarization", summaries},
        {"Todo", "the list of steps in plan mode", "", nullptr, "plan mode"},
        {"TokenUsage", "what each step cost", "token_usage"},
        {"Title", "a name for the thread", "title", titles},
        {"Memory", "what to remember of the person", "memory"},
        {"ViewImage", "images for models that see", "", nullptr, "a model with supports_vision"},
        {"McpRouting", "promotes the tools that the text asks for", "tool_search",
         [](const O &o) { return Json{{"auto_promote_top_k", o.deferred.autoPromoteTopK}}; }, "tools with routing hints"},
        {"DeferredToolFilter", "hides tools that are not promoted yet", "tool_search", nullptr, "tools that are found by search"},
        {"SubagentLimit", "at most so many delegations", "subagents", delegations},
        {"LoopDetection", "stops repetition", "loop_detection", loops},
        {"TokenBudget", "warns, then stops, when tokens run out", "token_budget", tokens},
        {"Extensions", "members that extensions add"},
        {"TerminalResponse", "no run ends without a word"},
        {"ModelLength", "an answer cut for its length says so"},
        {"SafetyFinishReason", "a filtered answer runs no tools", "safety_finish_reason"},
        {"Clarification", "a question to the person ends the turn"},
        {"SubagentDateContext", "one reminder of today's date"},
        {"SystemMessageCoalescing", "one system message per request"},
    };
    return all;
}

} // namespace

std::vector<ChainEntry> describeChain(const std::vector<ChainSlot> &rows, const ChainOptions &options)
{
    std::vector<ChainEntry> entries;
    for (const ChainSlot &row : rows) {
        ChainEntry entry;
        entry.name = QString::fromLatin1(row.name);
        entry.hooks = row.hooks;
        entry.built = row.make != nullptr;
        entry.on = entry.built && row.wanted(options);
        entry.settings = Json::object();
        const auto page = std::find_if(pages().begin(), pages().end(), [&](const Page &p) { return entry.name == QLatin1String(p.name); });
        if (page != pages().end()) {
            entry.purpose = QString::fromLatin1(page->purpose);
            entry.key = QString::fromLatin1(page->key);
            entry.perRun = QString::fromLatin1(page->perRun);
            if (page->settings)
                entry.settings = page->settings(options);
        }
        entries.push_back(std::move(entry));
    }
    return entries;
}

} // namespace paddock
