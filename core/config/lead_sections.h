// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/error.h"

#include <QStringList>

#include <optional>
#include <vector>

namespace paddock {

// Sections of the members that end, cost and name a run; part of config.h.

/// `token_budget:` (runtime §4.8)
struct TokenBudgetConfig {
    bool enabled = false;
    qint64 maxTokens = 200000;
    std::optional<qint64> maxInputTokens;
    std::optional<qint64> maxOutputTokens;
    double warnThreshold = 0.8;
    double hardStopThreshold = 1.0;
};

/// `token_usage:` (runtime §5.4)
struct TokenUsageConfig {
    bool enabled = true;
};

/// `title:` (runtime §5.5)
struct TitleConfig {
    bool enabled = true;
    int maxWords = 6;
    int maxChars = 60;
    QString modelName;      ///< empty: no model is asked
    QString promptTemplate; ///< empty: the built-in one
};

/// `safety_finish_reason:` (runtime §4.10)
struct SafetyConfig {
    bool enabled = true;
    Json detectors; ///< null, or a list that is checked where the detectors are made
};

/// `summarization:` (runtime §4.11, §4.12)
struct SummarizationConfig {
    struct Size {
        QString type = QStringLiteral("messages"); ///< messages, tokens, fraction (of the context window)
        double value = 20;
    };
    bool enabled = false;
    QString modelName;
    std::vector<Size> trigger; ///< any suffices; none: never by itself
    Size keep;
    std::optional<qint64> trimTokens = 4000; ///< trim_tokens_to_summarize; null: whole
    QString summaryPrompt;
    QStringList skillReadTools{QStringLiteral("read_file"), QStringLiteral("read"), QStringLiteral("view"), QStringLiteral("cat")};
};

/// `memory:`; only what this version acts on.
struct MemoryConfig {
    bool injectionEnabled = true;
};

Result<TokenBudgetConfig> tokenBudgetFromJson(const Json &value);
/// The same checks for a budget of subagents, whose values core/agent reads.
Result<void> checkSubagentBudget(const QString &section, const Json &value);
Result<TokenUsageConfig> tokenUsageFromJson(const Json &value);
Result<TitleConfig> titleFromJson(const Json &value);
Result<SafetyConfig> safetyFromJson(const Json &value);
Result<SummarizationConfig> summarizationFromJson(const Json &value);
Result<MemoryConfig> memoryFromJson(const Json &value);

} // namespace paddock
