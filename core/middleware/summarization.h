// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/compaction.h"
#include "core/middleware/side_call.h"

#include <optional>

namespace paddock {

struct SummarizationOptions {
    CompactionPolicy policy;               ///< without a trigger: never by itself
    std::optional<qint64> trimTokens = 4000; ///< of what the summary's model reads; null: whole
    QString promptTemplate;                ///< empty: ours
    QString modelName;                     ///< asked first; empty: the run's own model alone
    ModelMaker model;
    std::function<CompactionModel(const QString &name)> facts; ///< of the run's model; absent: its name only
    std::function<QString(const QString &)> redact;            ///< over what the summary's model reads; absent: as it is
    TokenCounter tokens;                                       ///< empty: by characters
    /// Told what will be removed, once its summary exists: what remembers the person. What it throws is logged.
    std::function<void(const std::vector<MessagePtr> &removed, const RuntimePtr &runtime)> beforeRemoval;
};

/// What one compaction did to a history.
struct Compaction {
    StateUpdate update; ///< the whole history anew, and summary_text
    qint64 tokensBefore = 0;
    qint64 tokensAfter = 0;
    qsizetype summarized = 0;
    qsizetype preserved = 0;
    qsizetype summaryChars = 0;
};

/// Puts the older part of a history into a summary that a model writes. Nullopt when there is nothing to do; an error,
/// "summary generation failed", when no model gave a text. `force` is a person's wish and asks no trigger.
Task<Result<std::optional<Compaction>>> compactHistory(SummarizationOptions options, AgentState state, RuntimePtr runtime, bool force);

/// Keeps the history within the model's context (runtime §4.12): before a model call it replaces the older part by a summary,
/// which DurableContext shows in each request. Every system message, every reminder and the latest message of the person
/// stay, calls stay with their results. Without a summary nothing is removed.
class SummarizationMiddleware : public Middleware
{
public:
    explicit SummarizationMiddleware(SummarizationOptions options) : m_options(std::move(options)) {}

    QString name() const override { return QStringLiteral("SummarizationMiddleware"); }
    Hooks hooks() const override { return Hook::BeforeModel; }
    Task<Result<StateUpdate>> beforeModel(AgentState state, RuntimePtr runtime) override;

private:
    void tellDropped(const RuntimeContext &runtime);

    const SummarizationOptions m_options;
    bool m_toldDropped = false;
};

} // namespace paddock
