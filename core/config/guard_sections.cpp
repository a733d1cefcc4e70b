// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/config/config.h"
#include "core/config/section_reader.h"

namespace paddock {

namespace {

constexpr qint64 longestDelayMs = 24LL * 3600 * 1000;
constexpr qint64 longestRecoverySeconds = 7LL * 86400;
constexpr qint64 mostAttempts = 1000;
constexpr qint64 mostCalls = 100000;
constexpr qint64 mostFailures = 1000000;

constexpr qint64 largestCount = 1000000;

/// Absent or null: unchanged. Names are non-empty strings.
void readNames(SectionReader &reader, const char *key, QStringList &out)
{
    const QString what = QStringLiteral("must be a list of names");
    QStringList names;
    if (!reader.strings(key, names, what))
        return;
    if (names.contains(QString()))
        reader.complain(key, what);
    else
        out = names;
}

/// {use, config}, or null.
void readProvider(SectionReader &reader, const QString &section, GateConfig &out)
{
    const Json &value = reader.take("provider");
    if (value.is_null())
        return;
    SectionReader inner(section + QStringLiteral(".provider"), value);
    inner.string("use", out.providerUse);
    out.providerConfig = inner.take("config");
    if (out.providerUse.isEmpty())
        inner.complain("use", QStringLiteral("must name a provider"));
    reader.adopt(inner);
}

} // namespace

Result<LlmCallConfig> llmCallFromJson(const Json &value)
{
    LlmCallConfig c;
    SectionReader reader(QStringLiteral("llm_call"), value);
    reader.integer("max_concurrent_calls", c.maxConcurrentCalls, 0, mostCalls);
    reader.integer("retry_max_attempts", c.retryMaxAttempts, 1, mostAttempts);
    reader.integer("retry_base_delay_ms", c.retryBaseDelayMs, 0, longestDelayMs);
    reader.integer("retry_cap_delay_ms", c.retryCapDelayMs, 0, longestDelayMs);
    reader.integer("burst_retry_base_delay_ms", c.burstRetryBaseDelayMs, 0, longestDelayMs);
    return reader.finish(c);
}

Result<CircuitBreakerConfig> circuitBreakerFromJson(const Json &value)
{
    CircuitBreakerConfig c;
    SectionReader reader(QStringLiteral("circuit_breaker"), value);
    reader.integer("failure_threshold", c.failureThreshold, 1, mostFailures);
    reader.integer("recovery_timeout_sec", c.recoveryTimeoutSeconds, 0, longestRecoverySeconds);
    return reader.finish(c);
}

Result<ToolProgressConfig> toolProgressFromJson(const Json &value)
{
    ToolProgressConfig c;
    SectionReader reader(QStringLiteral("tool_progress"), value);
    reader.boolean("enabled", c.enabled);
    reader.integer("stagnation_threshold", c.stagnationThreshold, 1, largestCount);
    reader.integer("warn_escalation_count", c.warnEscalationCount, 1, largestCount);
    reader.boolean("inject_assessment", c.injectAssessment);
    reader.number("jaccard_similarity_threshold", c.jaccardSimilarityThreshold, 0.0, 1.0);
    reader.integer("min_word_count_for_similarity", c.minWordCountForSimilarity, 0, largestCount);
    readNames(reader, "exempt_tools", c.exemptTools);
    reader.integer("max_tracked_threads", c.maxTrackedThreads, 1, largestCount);
    return reader.finish(c);
}

Result<VerificationConfig> verificationFromJson(const Json &value)
{
    VerificationConfig c;
    SectionReader reader(QStringLiteral("verification"), value);
    reader.boolean("receipts_enabled", c.receiptsEnabled);
    reader.oneOf("receipts_render_mode", c.receiptsRenderMode, {QStringLiteral("delegation_only"), QStringLiteral("always")});
    bool judge = false;
    reader.boolean("judge_enabled", judge);
    if (judge)
        reader.complain("judge_enabled", QStringLiteral("must be false: no model judges citations"));
    if (!reader.take("judge_model_name").is_null())
        reader.complain("judge_model_name", QStringLiteral("must be null: no model judges citations"));
    return reader.finish(c);
}

Result<GateConfig> guardrailsFromJson(const Json &value)
{
    GateConfig c;
    SectionReader reader(QStringLiteral("guardrails"), value);
    reader.boolean("enabled", c.enabled);
    reader.boolean("fail_closed", c.failClosed);
    reader.string("passport", c.passport);
    readProvider(reader, QStringLiteral("guardrails"), c);
    return reader.finish(c);
}

Result<GateConfig> authorizationFromJson(const Json &value)
{
    GateConfig c;
    SectionReader reader(QStringLiteral("authorization"), value);
    reader.boolean("enabled", c.enabled);
    reader.boolean("fail_closed", c.failClosed);
    reader.string("default_role", c.defaultRole);
    readProvider(reader, QStringLiteral("authorization"), c);
    return reader.finish(c);
}

} // namespace paddock
