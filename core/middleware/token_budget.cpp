// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/token_budget.h"

#include "core/middleware/ai_edits.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace paddock {

namespace {

constexpr std::size_t maxRuns = 100;

qint64 sum(qint64 a, qint64 b)
{
    return a > std::numeric_limits<qint64>::max() - b ? std::numeric_limits<qint64>::max() : a + b;
}

/// A provider's numbers are foreign: none of them counts below zero.
qint64 grown(qint64 now, qint64 before)
{
    return std::max<qint64>(0, now) - std::min(std::max<qint64>(0, now), before);
}

bool isCounted(const MessagePtr &message)
{
    return message->role == Role::Ai && !message->id.isEmpty() && message->usage.has_value();
}

QString percentOf(const BudgetVerdict &verdict)
{
    return QString::number(verdict.fraction * 100, 'f', 0);
}

} // namespace

void TokenMeter::markSeen(const MessageList &messages)
{
    for (const MessagePtr &message : messages) {
        if (isCounted(message))
            m_seen[message->id] = {std::max<qint64>(0, message->usage->input), std::max<qint64>(0, message->usage->output)};
    }
}

BudgetVerdict TokenMeter::account(const MessageList &messages, const TokenBudgetOptions &options)
{
    for (const MessagePtr &message : messages) {
        if (!isCounted(message))
            continue;
        Spent &seen = m_seen[message->id];
        const Spent more{grown(message->usage->input, seen.input), grown(message->usage->output, seen.output)};
        seen.input = sum(seen.input, more.input);
        seen.output = sum(seen.output, more.output);
        m_used.input = sum(m_used.input, more.input);
        m_used.output = sum(m_used.output, more.output);
    }
    BudgetVerdict verdict;
    const auto consider = [&verdict](const char *kind, qint64 used, std::optional<qint64> limit) {
        if (!limit || *limit <= 0 || double(used) / double(*limit) <= verdict.fraction)
            return;
        verdict.kind = QString::fromLatin1(kind);
        verdict.used = used;
        verdict.limit = *limit;
        verdict.fraction = double(used) / double(*limit);
    };
    consider("total", sum(m_used.input, m_used.output), options.maxTokens);
    consider("input", m_used.input, options.maxInputTokens);
    consider("output", m_used.output, options.maxOutputTokens);
    if (verdict.used <= 0)
        return verdict;
    if (verdict.fraction >= options.hardStopThreshold) {
        verdict.action = BudgetVerdict::Action::HardStop;
    } else if (verdict.fraction >= options.warnThreshold && !m_warned) {
        verdict.action = BudgetVerdict::Action::Warn;
        m_warned = true;
    }
    return verdict;
}

QString TokenBudgetMiddleware::warningText(const BudgetVerdict &verdict)
{
    return QStringLiteral("[TOKEN BUDGET WARNING] You have used %1 of the %2 %3 tokens of this run (%4%). Bring the work to an end "
                          "and answer; start no new tool calls unless the answer needs them.")
        .arg(withThousands(verdict.used), withThousands(verdict.limit), verdict.kind, percentOf(verdict));
}

QString TokenBudgetMiddleware::stopText(const BudgetVerdict &verdict)
{
    return QStringLiteral("[TOKEN BUDGET EXCEEDED] This run has used %1 %2 tokens of the %3 that it may use. Its tool calls were "
                          "removed; what was found so far is the result.")
        .arg(withThousands(verdict.used), verdict.kind, withThousands(verdict.limit));
}

TokenMeter &TokenBudgetMiddleware::meterOf(const QString &scope)
{
    const auto found = std::ranges::find(m_runs, scope, &Run::scope);
    if (found != m_runs.end()) {
        m_runs.splice(m_runs.begin(), m_runs, found);
    } else {
        m_runs.push_front({scope, {}});
        if (m_runs.size() > maxRuns)
            m_runs.pop_back();
    }
    return m_runs.front().meter;
}

void TokenBudgetMiddleware::forget(const QString &scope)
{
    m_runs.remove_if([&scope](const Run &run) { return run.scope == scope; });
}

Task<Result<StateUpdate>> TokenBudgetMiddleware::beforeAgent(AgentState state, RuntimePtr runtime)
{
    const QString scope = scopeKeyOf(*runtime);
    forget(scope); // after_agent does not run when a command ended the run before
    m_notes.drop(*runtime);
    meterOf(scope).markSeen(state.messages);
    co_return StateUpdate{};
}

Task<Result<ModelResponse>> TokenBudgetMiddleware::wrapModelCall(ModelCall call, ModelNext next)
{
    return m_notes.inject(std::move(call), std::move(next));
}

Task<Result<StateUpdate>> TokenBudgetMiddleware::afterModel(AgentState state, RuntimePtr runtime)
{
    if (state.messages.isEmpty() || state.messages.last()->role != Role::Ai)
        co_return StateUpdate{};
    const BudgetVerdict verdict = meterOf(scopeKeyOf(*runtime)).account(state.messages, m_options);
    if (verdict.action == BudgetVerdict::Action::None)
        co_return StateUpdate{};
    const bool stop = verdict.action == BudgetVerdict::Action::HardStop;
    recordAct(*runtime, QStringLiteral("token_budget"), *this, Hook::AfterModel,
              stop ? QStringLiteral("hard_stop") : QStringLiteral("warn"),
              Json{{"kind", toUtf8(verdict.kind)},
                   {"used", verdict.used},
                   {"limit", verdict.limit},
                   {"percent", std::llround(std::min(verdict.fraction, 1e6) * 100)}});
    if (!stop) {
        m_notes.queue(*runtime, warningText(verdict));
        co_return StateUpdate{};
    }
    m_stopped.record(*runtime);
    setStopReason(*runtime, QStringLiteral("token_capped"));
    StateUpdate update;
    update.messages.push_back(hardStopped(state.messages.last(), stopText(verdict)));
    co_return update;
}

Task<Result<StateUpdate>> TokenBudgetMiddleware::afterAgent(AgentState, RuntimePtr runtime)
{
    forget(scopeKeyOf(*runtime));
    m_notes.drop(*runtime);
    co_return StateUpdate{};
}

std::optional<QString> TokenBudgetMiddleware::consumeStopReason(const QString &runId)
{
    if (!m_stopped.consume(runId))
        return std::nullopt;
    return QStringLiteral("token_capped");
}

} // namespace paddock
