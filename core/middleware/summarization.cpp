// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/summarization.h"

#include "core/base/run_on.h"
#include "core/base/text.h"
#include "core/middleware/run_scope.h"
#include "core/middleware/scrub.h"
#include "core/middleware/summary_input.h"

namespace paddock {

namespace {

constexpr std::chrono::seconds longestSummaryCall{120}; ///< of each candidate
constexpr qsizetype maxSummaryChars = 100'000;          ///< a model that never ends must not fill the state

CompactionModel modelOfRun(const SummarizationOptions &options, const RuntimeContext &runtime)
{
    const QString name = stringOf(runtime.values, "model_name");
    return options.facts ? options.facts(name) : CompactionModel{name, {}, 0};
}

CompactionInput compactionInput(const SummarizationOptions &options, const AgentState &state, const RuntimeContext &runtime, bool force)
{
    CompactionInput input;
    input.messages = state.messages;
    input.summary = stringOf(state.channels, "summary_text");
    input.policy = options.policy;
    input.model = modelOfRun(options, runtime);
    input.tokens = options.tokens;
    input.force = force;
    return input;
}

void warnOfSummary(const RuntimeContext &runtime, const QString &text)
{
    runtime.events.emitEvent(LogRecorded{QStringLiteral("warning"), QStringLiteral("summarization: ") + text, false});
}

/// Each model that may write it, in order, until one gives a text.
Task<Result<QString>> writeSummary(SummarizationOptions options, QString prompt, RuntimePtr runtime)
{
    QStringList candidates{options.modelName, stringOf(runtime->values, "model_name")};
    candidates.removeAll(QString());
    candidates.removeDuplicates();
    QString why = QStringLiteral("no model is known");
    for (const QString &name : std::as_const(candidates)) {
        const SideCall call{QStringLiteral("summarize"), name, prompt, longestSummaryCall};
        const auto reply = co_await askAside(options.model, call, runtime);
        if (!reply && reply.error().isCancelled())
            co_return cancelled();
        const QString text = reply ? firstCodePoints(pythonStrip(*reply), maxSummaryChars) : QString();
        if (!text.isEmpty())
            co_return text;
        why = name + QStringLiteral(": ")
            + (reply ? QStringLiteral("the answer was empty") : scrubSecrets(reply.error().fullMessage(), runtime.get()));
    }
    co_return fail(ErrorCode::Unavailable, QStringLiteral("summary generation failed"), Json{{"reason", toUtf8(why)}});
}

void tellRemoval(const SummarizationOptions &options, const std::vector<MessagePtr> &removed, const RuntimePtr &runtime)
{
    if (!options.beforeRemoval)
        return;
    try {
        options.beforeRemoval(removed, runtime);
    } catch (const std::exception &e) {
        warnOfSummary(*runtime, QStringLiteral("what should have been told of the removed messages failed: ") + QString::fromUtf8(e.what()));
    } catch (...) {
        warnOfSummary(*runtime, QStringLiteral("what should have been told of the removed messages failed with an exception of an unknown type"));
    }
}

qint64 tokensOfSummary(const SummarizationOptions &options, const CompactionModel &model, const QString &summary)
{
    Message message;
    message.name = QStringLiteral("summary");
    message.content = toJson(summary);
    return options.tokens ? options.tokens(message) : approximateTokens(message, charsPerToken(model));
}

Compaction compactionOf(const SummarizationOptions &options, const CompactionInput &input, const CompactionPlan &plan, const QString &summary)
{
    Compaction done;
    Message marker;
    marker.role = Role::Remove;
    marker.id = removeAllId();
    done.update.messages.push_back(makeMessage(std::move(marker)));
    done.update.messages.insert(done.update.messages.end(), plan.kept.begin(), plan.kept.end());
    done.update.channels["summary_text"] = toUtf8(summary);
    done.tokensBefore = plan.tokensBefore;
    done.tokensAfter = plan.tokensKept + tokensOfSummary(options, input.model, summary);
    done.summarized = qsizetype(plan.summarized.size());
    done.preserved = qsizetype(plan.kept.size());
    done.summaryChars = codePointCount(summary);
    return done;
}

} // namespace

Task<Result<std::optional<Compaction>>> compactHistory(SummarizationOptions options, AgentState state, RuntimePtr runtime, bool force)
{
    const CompactionInput input = compactionInput(options, state, *runtime, force);
    const CompactionPlan plan = planCompaction(input);
    if (plan.summarized.empty())
        co_return std::optional<Compaction>();
    SummaryInput read;
    read.messages = plan.summarized;
    read.previous = input.summary;
    read.promptTemplate = options.promptTemplate;
    read.trimTokens = options.trimTokens;
    read.tokens = options.tokens;
    read.charsPerToken = charsPerToken(input.model);
    read.redact = options.redact;
    // A long history takes a while to search and to write down.
    const QString prompt = co_await runOnPool([read] { return summaryPrompt(read); });
    const auto summary = co_await writeSummary(options, prompt, runtime);
    if (!summary)
        co_return fail(summary.error());
    tellRemoval(options, plan.summarized, runtime);
    co_return compactionOf(options, input, plan, *summary);
}

void SummarizationMiddleware::tellDropped(const RuntimeContext &runtime)
{
    if (std::exchange(m_toldDropped, true))
        return;
    const CompactionModel model = modelOfRun(m_options, runtime);
    QStringList dropped;
    static_cast<void>(usablePolicy(m_options.policy, model.contextWindow, &dropped));
    if (!dropped.isEmpty())
        warnOfSummary(runtime, QStringLiteral("the context window of the model '%1' is not known, so this does not count: ").arg(model.name)
                          + dropped.join(QStringLiteral("; ")));
}

Task<Result<StateUpdate>> SummarizationMiddleware::beforeModel(AgentState state, RuntimePtr runtime)
{
    tellDropped(*runtime);
    const bool subagent = boolOf(runtime->values, "is_subagent");
    auto compaction = co_await compactHistory(m_options, std::move(state), runtime, false);
    if (!compaction && isControlSignal(compaction.error()))
        co_return fail(compaction.error());
    if (!compaction) {
        warnOfSummary(*runtime, compaction.error().message + QStringLiteral("; nothing was removed. ") + stringOf(compaction.error().details, "reason"));
        co_return StateUpdate{};
    }
    if (!*compaction)
        co_return StateUpdate{};
    Compaction &done = **compaction;
    recordAct(*runtime, QStringLiteral("summarize"), *this, Hook::BeforeModel, QStringLiteral("compact_history"),
              Json{{"tokens_before", done.tokensBefore},
                   {"tokens_after", done.tokensAfter},
                   {"messages_summarized", done.summarized},
                   {"messages_preserved", done.preserved},
                   {"summary_chars", done.summaryChars},
                   {"is_subagent", subagent}});
    co_return std::move(done.update);
}

} // namespace paddock
