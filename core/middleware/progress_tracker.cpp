// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/progress_tracker.h"

#include "core/base/text.h"

#include <QRegularExpression>

#include <algorithm>

namespace paddock {

namespace {

constexpr qsizetype charsForWords = 8192;
constexpr std::size_t rememberedResults = 3;
constexpr qsizetype maxPendingHints = 3;

using Phase = ToolPhase::Phase;
using Texts = std::vector<std::pair<QStringView, QStringView>>;

QString lookedUp(const Texts &table, const QString &key, QStringView otherwise)
{
    const auto found = std::ranges::find_if(table, [&key](const auto &row) { return row.first == key; });
    return (found == table.end() ? otherwise : found->second).toString();
}

bool isProblemStatus(const QString &status)
{
    return status == u"error" || status == u"partial_success";
}

} // namespace

WordSet progressWords(const QString &text)
{
    static const QRegularExpression word(QStringLiteral(R"(\b\w{3,}\b)"), QRegularExpression::UseUnicodePropertiesOption);
    const QString start = firstCodePoints(text, charsForWords).toLower(); // cut first: lower case can be longer
    WordSet words;
    for (auto it = word.globalMatch(start); it.hasNext();)
        words.insert(it.next().captured());
    return words;
}

bool isNearDuplicate(const WordSet &a, const WordSet &b, double threshold, int minWords)
{
    if (a.size() < minWords || b.size() < minWords)
        return false;
    const auto common = std::ranges::count_if(a, [&b](const QString &word) { return b.contains(word); });
    const auto all = a.size() + b.size() - common;
    return all > 0 && double(common) / double(all) >= threshold;
}

QString progressHint(const ToolMeta &meta)
{
    static const Texts bases{
        {u"no_results", u"[PROGRESS HINT] Your search returned no results."},
        {u"not_found", u"[PROGRESS HINT] The resource was not found repeatedly."},
        {u"rate_limited", u"[PROGRESS HINT] The tool is being rate-limited."},
        {u"transient", u"[PROGRESS HINT] The tool encountered repeated transient failures."},
        {u"partial_success", u"[PROGRESS HINT] The tool has returned incomplete results multiple times."},
        {u"success", u"[PROGRESS HINT] The tool is returning duplicate results."},
    };
    static const Texts actions{
        {u"rewrite_query", u" Try rephrasing your search query with different keywords or approach."},
        {u"try_alternative", u" Consider using a different tool or strategy."},
        {u"summarize", u" Consider summarizing your current findings and moving forward."},
        {u"stop", u" Do not retry this operation — it is not recoverable."},
        {u"continue", u" Try rephrasing your query or using a different search term."},
    };
    return lookedUp(bases, meta.errorType.isEmpty() ? meta.status : meta.errorType,
                    u"[PROGRESS HINT] The tool is not producing new information.")
        + lookedUp(actions, meta.action, u"");
}

QString progressBlockReason(const QString &errorType)
{
    static const Texts reasons{
        {u"no_results", u"Repeated no-results — rewrite your query or try a different tool."},
        {u"not_found", u"Repeated not-found — rewrite your query or try a different resource."},
        {u"rate_limited", u"Repeated rate-limiting — summarize current findings and proceed."},
        {u"transient", u"Repeated transient failures — try a different approach."},
        {u"auth", u"Authentication failure — this tool cannot be used."},
        {u"config", u"Tool is not configured — this tool cannot be used."},
        {u"internal", u"Repeated internal errors — this tool is unavailable."},
    };
    return lookedUp(reasons, errorType, u"Tool has not produced new information after multiple attempts — summarize and move on.");
}

QString progressPhaseName(Phase phase)
{
    switch (phase) {
    case Phase::Active: return QStringLiteral("active");
    case Phase::Warned: return QStringLiteral("warned");
    case Phase::Blocked: break;
    }
    return QStringLiteral("blocked");
}

std::list<ProgressTracker::Thread>::iterator ProgressTracker::find(const QString &thread)
{
    return std::ranges::find_if(m_threads, [&thread](const Thread &t) { return t.key == thread; });
}

const ProgressTracker::Thread *ProgressTracker::peek(const QString &thread) const
{
    const auto found = std::ranges::find_if(m_threads, [&thread](const Thread &t) { return t.key == thread; });
    return found == m_threads.end() ? nullptr : &*found;
}

ProgressTracker::Thread &ProgressTracker::used(const QString &thread)
{
    const auto found = find(thread);
    if (found != m_threads.end()) {
        m_threads.splice(m_threads.begin(), m_threads, found);
    } else {
        m_threads.push_front({thread, {}, {}});
        while (int(m_threads.size()) > std::max(1, m_options.maxTrackedThreads))
            m_threads.pop_back();
    }
    return m_threads.front();
}

bool ProgressTracker::isDuplicate(const ToolPhase &tool, const WordSet &words) const
{
    return std::ranges::any_of(tool.recentWords, [&](const WordSet &earlier) {
        return isNearDuplicate(words, earlier, m_options.similarityThreshold, m_options.minWordsForSimilarity);
    });
}

std::optional<QString> ProgressTracker::blockReason(const QString &thread, const QString &tool) const
{
    const ToolPhase *known = phaseOf(thread, tool);
    if (known == nullptr || known->phase != Phase::Blocked)
        return std::nullopt;
    return known->blockReason;
}

const ToolPhase *ProgressTracker::phaseOf(const QString &thread, const QString &tool) const
{
    const Thread *known = peek(thread);
    if (known == nullptr)
        return nullptr;
    const auto found = known->tools.constFind(tool);
    return found == known->tools.constEnd() ? nullptr : &*found;
}

std::optional<PhaseChange> ProgressTracker::record(const QString &thread, const QString &run, const QString &tool,
                                                   const ToolMeta &meta, const QString &text)
{
    Thread &own = used(thread);
    ToolPhase &state = own.tools[tool];
    if (state.phase == Phase::Blocked)
        return std::nullopt; // by a call of the same step
    PhaseChange change{tool, state.phase, state.phase, state.count + 1, std::nullopt};
    const int blockAt = m_options.stagnationThreshold + m_options.warnEscalationCount;
    const WordSet words = meta.status == u"success" ? progressWords(text) : WordSet();
    const bool final = !meta.recoverable && meta.action == u"stop";
    bool hint = false;
    if (final) {
        change.to = Phase::Blocked;
    } else if (!isProblemStatus(meta.status) && !(meta.status == u"success" && isDuplicate(state, words))) {
        change.to = Phase::Active;
        change.count = 0;
        state.recentWords.push_back(words);
        if (state.recentWords.size() > rememberedResults)
            state.recentWords.pop_front();
    } else if (change.count >= blockAt && !meta.recoverable) {
        change.to = Phase::Blocked;
        change.threshold = blockAt;
    } else if (change.count >= m_options.stagnationThreshold) {
        change.to = Phase::Warned; // for as long as the model can still do something about it
        change.threshold = m_options.stagnationThreshold;
        hint = true;
    }
    state.phase = change.to;
    state.count = change.count;
    if (change.to == Phase::Blocked)
        state.blockReason = progressBlockReason(meta.errorType);
    if (hint && m_options.injectAssessment && own.hints[run].size() < maxPendingHints)
        own.hints[run].append(progressHint(meta));
    return change.from == change.to ? std::nullopt : std::optional(change);
}

std::vector<PhaseChange> ProgressTracker::startRun(const QString &thread, const QString &run)
{
    std::vector<PhaseChange> changes;
    const auto found = find(thread);
    if (found == m_threads.end())
        return changes;
    found->hints.removeIf([&run](const auto &entry) { return entry.key() != run; });
    for (auto it = found->tools.begin(); it != found->tools.end(); ++it) {
        if (it->phase != Phase::Active)
            changes.push_back({it.key(), it->phase, Phase::Active, 0, std::nullopt});
        *it = ToolPhase();
    }
    return changes;
}

QStringList ProgressTracker::takeHints(const QString &thread, const QString &run)
{
    const auto found = find(thread);
    if (found == m_threads.end())
        return {};
    QStringList hints = found->hints.take(run);
    hints.removeDuplicates();
    return hints;
}

void ProgressTracker::requeueHints(const QString &thread, const QString &run, const QStringList &hints)
{
    const auto found = find(thread);
    if (found == m_threads.end())
        return; // forgotten meanwhile
    QStringList all = hints + found->hints.value(run);
    found->hints[run] = all.first(std::min(all.size(), maxPendingHints));
}

} // namespace paddock
