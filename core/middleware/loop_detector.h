// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/message/message.h"

#include <QMap>
#include <QSet>
#include <QString>
#include <QStringList>

#include <deque>
#include <list>
#include <utility>
#include <vector>

namespace paddock {

struct LoopOptions {
    int warnThreshold = 3;
    int hardLimit = 5;
    int windowSize = 20;
    int maxScopes = 100; ///< histories kept, least recently used go first
    int toolFreqWarn = 30;
    int toolFreqHardLimit = 50;
    QMap<QString, std::pair<int, int>> toolFreqOverrides; ///< tool -> warn, hard limit
};

struct LoopVerdict {
    enum class Action { None, Warn, HardStop } action = Action::None;
    enum class Layer { None, IdenticalCallSet, ToolFrequency } layer = Layer::None;
    QStringList toolNames;
    int count = 0;
    int threshold = 0;
};

/// Set hash of the calls of one message: first 12 hex digits of an MD5 over the sorted keys (runtime §4.7). Arguments
/// that are no object (a raw string, null, a list) are accepted as the model sent them.
QString loopHash(const std::vector<ToolCall> &calls);

/// The histories behind LoopDetection, one per (thread, run). Not thread-safe; one build's chain owns it.
class LoopDetector
{
public:
    explicit LoopDetector(LoopOptions options);
    /// Records one message's calls and reports exactly one action: hard stop before warning, layer 1 before layer 2;
    /// only the reported warning counts as given [K-11].
    LoopVerdict track(const QString &scope, const std::vector<ToolCall> &calls);

private:
    struct History {
        QString scope;
        std::deque<QString> hashes;
        QSet<QString> warnedHashes;
        std::deque<QString> names;
        QMap<QString, int> nameCounts; ///< of what is in `names`
        QSet<QString> warnedNames;
    };
    struct Frequency {
        LoopVerdict hard;
        LoopVerdict warn;
    };
    History &historyOf(const QString &scope);
    Frequency countNames(History &history, const std::vector<ToolCall> &calls) const;
    std::pair<int, int> limitsOf(const QString &tool) const;

    const LoopOptions m_options;
    std::size_t m_nameWindow;
    std::list<History> m_histories; ///< most recently used first
};

} // namespace paddock
