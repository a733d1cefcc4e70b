// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/tool_meta.h"

#include <QHash>
#include <QMap>
#include <QSet>
#include <QStringList>

#include <deque>
#include <list>
#include <optional>

namespace paddock {

/// `tool_progress:` (middleware-base §15)
struct ProgressOptions {
    int stagnationThreshold = 3;  ///< problems in a row before a warning; at least 1
    int warnEscalationCount = 2;  ///< more of them before a block; at least 1
    bool injectAssessment = true; ///< hints reach the model
    double similarityThreshold = 0.8;
    int minWordsForSimilarity = 10;
    QSet<QString> exemptTools{QStringLiteral("ask_clarification"), QStringLiteral("write_todos"),
                              QStringLiteral("present_files"), QStringLiteral("task")};
    int maxTrackedThreads = 100; ///< least recently used go first; at least 1
};

using WordSet = QSet<QString>;
/// Words of three characters and more at the beginning of a text.
WordSet progressWords(const QString &text);
bool isNearDuplicate(const WordSet &a, const WordSet &b, double threshold, int minWords);
/// What the model is told about a result that repeats itself.
QString progressHint(const ToolMeta &meta);
/// Why a tool is blocked.
QString progressBlockReason(const QString &errorType);

/// What the tracker knows of one tool in one thread.
struct ToolPhase {
    enum class Phase { Active, Warned, Blocked } phase = Phase::Active;
    int count = 0; ///< problems in a row
    QString blockReason;
    std::deque<WordSet> recentWords; ///< of good results only
};
/// "active", "warned", "blocked".
QString progressPhaseName(ToolPhase::Phase phase);

/// What one result or one new run changed.
struct PhaseChange {
    QString tool;
    ToolPhase::Phase from = ToolPhase::Phase::Active;
    ToolPhase::Phase to = ToolPhase::Phase::Active;
    int count = 0;
    std::optional<int> threshold; ///< the number that was reached; absent for rules that do not count
};

/// Notices calls that bring nothing new, per thread and tool, and keeps the hints for the next model call per thread and
/// run. Not thread-safe; one build's chain owns it.
class ProgressTracker
{
public:
    explicit ProgressTracker(ProgressOptions options) : m_options(std::move(options)) {}

    bool isTracked(const QString &tool) const { return !tool.isEmpty() && !m_options.exemptTools.contains(tool); }
    /// The reason when the tool is blocked. Looking does not keep a thread from being forgotten.
    std::optional<QString> blockReason(const QString &thread, const QString &tool) const;
    /// Judges a result and queues a hint where one is due. `text` is the string content of the message.
    std::optional<PhaseChange> record(const QString &thread, const QString &run, const QString &tool, const ToolMeta &meta,
                                      const QString &text);
    /// A new run starts with every tool active; hints of the thread's other runs are dropped.
    std::vector<PhaseChange> startRun(const QString &thread, const QString &run);

    /// Each once, in the order of their first arrival.
    QStringList takeHints(const QString &thread, const QString &run);
    /// Puts hints back that no model saw, before those that came since.
    void requeueHints(const QString &thread, const QString &run, const QStringList &hints);

    /// Null when nothing was recorded.
    const ToolPhase *phaseOf(const QString &thread, const QString &tool) const;

private:
    struct Thread {
        QString key;
        QMap<QString, ToolPhase> tools;
        QMap<QString, QStringList> hints; ///< by run; forgotten with the thread
    };
    std::list<Thread>::iterator find(const QString &thread);
    const Thread *peek(const QString &thread) const;
    Thread &used(const QString &thread);
    bool isDuplicate(const ToolPhase &tool, const WordSet &words) const;

    const ProgressOptions m_options;
    std::list<Thread> m_threads; ///< most recently used first
};

} // namespace paddock
