// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// Sections of the members that end, cost, shorten and name a run (runtime §4.8, §4.10 to §4.12, §5.1, §5.4, §5.5).
#include "core/config/lead_sections.h"

#include "core/config/section_reader.h"

#include <limits>

namespace paddock {

namespace {

constexpr qint64 leastTokens = 1000;
constexpr qint64 mostTokens = std::numeric_limits<qint64>::max();
constexpr qsizetype longestTemplate = 20000;
constexpr double mostAmount = 1e12; ///< of messages or tokens
constexpr std::size_t mostTriggers = 20;

void readLimit(SectionReader &reader, const char *key, std::optional<qint64> &out)
{
    qint64 limit = 0;
    if (reader.integer(key, limit, 1, mostTokens))
        out = limit;
}

/// A {type, value} of the history; complains under `key`.
void readSize(SectionReader &reader, const char *key, const Json &value, SummarizationConfig::Size &out)
{
    const QString type = stringOf(value, "type");
    const Json &amount = memberOf(value, "value");
    const bool fraction = type == u"fraction";
    if (!fraction && type != u"messages" && type != u"tokens")
        reader.complain(key, QStringLiteral("needs a type, one of messages, tokens, fraction, and a value"));
    else if (fraction && !(amount.is_number() && amount.get<double>() > 0 && amount.get<double>() <= 1))
        reader.complain(key, QStringLiteral("a fraction's value must be above 0 and at most 1"));
    else if (!fraction && !(amount.is_number_integer() && amount.get<double>() >= 1 && amount.get<double>() <= mostAmount))
        reader.complain(key, QStringLiteral("the value must be a whole number between 1 and %1").arg(qint64(mostAmount)));
    else
        out = {type, amount.get<double>()};
}

void readTriggers(SectionReader &reader, std::vector<SummarizationConfig::Size> &out)
{
    const Json &given = reader.take("trigger");
    if (given.is_null())
        return;
    const Json list = given.is_array() ? given : Json::array({given});
    if (list.size() > mostTriggers) {
        reader.complain("trigger", QStringLiteral("has more than %1 entries").arg(mostTriggers));
        return;
    }
    for (const Json &entry : list) {
        SummarizationConfig::Size size;
        readSize(reader, "trigger", entry, size);
        out.push_back(size);
    }
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

Result<SummarizationConfig> summarizationFromJson(const Json &value)
{
    SummarizationConfig c;
    SectionReader reader(QStringLiteral("summarization"), value);
    reader.boolean("enabled", c.enabled);
    reader.string("model_name", c.modelName);
    readTriggers(reader, c.trigger);
    if (const Json &keep = reader.take("keep"); !keep.is_null())
        readSize(reader, "keep", keep, c.keep);
    qint64 trim = 0;
    if (reader.integer("trim_tokens_to_summarize", trim, 1, mostTokens))
        c.trimTokens = trim;
    else if (value.is_object() && value.contains("trim_tokens_to_summarize"))
        c.trimTokens = std::nullopt; // a written null; anything else was complained about
    if (reader.string("summary_prompt", c.summaryPrompt) && c.summaryPrompt.size() > longestTemplate)
        reader.complain("summary_prompt", QStringLiteral("must be at most %1 characters").arg(longestTemplate));
    reader.strings("skill_file_read_tool_names", c.skillReadTools, QStringLiteral("must be a list of tool names"));
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
