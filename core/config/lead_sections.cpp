// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// Sections of the members that end, cost and name a run (runtime §4.8, §4.10, §5.1, §5.4, §5.5).
#include "core/config/lead_sections.h"

#include "core/config/section_reader.h"

#include <limits>

namespace paddock {

namespace {

constexpr qint64 leastTokens = 1000;
constexpr qint64 mostTokens = std::numeric_limits<qint64>::max();
constexpr qsizetype longestTemplate = 20000;

void readLimit(SectionReader &reader, const char *key, std::optional<qint64> &out)
{
    qint64 limit = 0;
    if (reader.integer(key, limit, 1, mostTokens))
        out = limit;
}

/// Dotted sections have budgets too: subagents.token_budget.
Result<TokenBudgetConfig> readBudget(const QString &section, const Json &value, TokenBudgetConfig c)
{
    SectionReader reader(section, value);
    reader.boolean("enabled", c.enabled);
    reader.integer("max_tokens", c.maxTokens, leastTokens, mostTokens);
    readLimit(reader, "max_input_tokens", c.maxInputTokens);
    readLimit(reader, "max_output_tokens", c.maxOutputTokens);
    reader.number("warn_threshold", c.warnThreshold, 0.0, 1.0);
    reader.number("hard_stop_threshold", c.hardStopThreshold, 0.0, 1.0);
    if (c.hardStopThreshold < c.warnThreshold)
        reader.complain("hard_stop_threshold", QStringLiteral("must be at least warn_threshold"));
    return reader.finish(c);
}

} // namespace

Result<TokenBudgetConfig> tokenBudgetFromJson(const Json &value)
{
    return readBudget(QStringLiteral("token_budget"), value, {});
}

Result<void> checkSubagentBudget(const QString &section, const Json &value)
{
    TokenBudgetConfig defaults;
    defaults.warnThreshold = 0.7;
    auto budget = readBudget(section, value, defaults);
    return budget ? Result<void>() : fail(budget.error());
}

Result<TokenUsageConfig> tokenUsageFromJson(const Json &value)
{
    TokenUsageConfig c;
    SectionReader reader(QStringLiteral("token_usage"), value);
    reader.boolean("enabled", c.enabled);
    return reader.finish(c);
}

Result<TitleConfig> titleFromJson(const Json &value)
{
    TitleConfig c;
    SectionReader reader(QStringLiteral("title"), value);
    reader.boolean("enabled", c.enabled);
    reader.integer("max_words", c.maxWords, 1, 20);
    reader.integer("max_chars", c.maxChars, 10, 200);
    reader.string("model_name", c.modelName);
    if (reader.string("prompt_template", c.promptTemplate) && c.promptTemplate.size() > longestTemplate)
        reader.complain("prompt_template", QStringLiteral("must be at most %1 characters").arg(longestTemplate));
    return reader.finish(c);
}

Result<SafetyConfig> safetyFromJson(const Json &value)
{
    SafetyConfig c;
    SectionReader reader(QStringLiteral("safety_finish_reason"), value);
    reader.boolean("enabled", c.enabled);
    c.detectors = reader.take("detectors");
    if (!c.detectors.is_null() && (!c.detectors.is_array() || c.detectors.empty()))
        reader.complain("detectors", QStringLiteral("must name at least one detector, or be left out; enabled: false turns the check off"));
    return reader.finish(c);
}

Result<MemoryConfig> memoryFromJson(const Json &value)
{
    MemoryConfig c;
    SectionReader reader(QStringLiteral("memory"), value);
    reader.boolean("injection_enabled", c.injectionEnabled);
    return reader.finish(c);
}

} // namespace paddock
