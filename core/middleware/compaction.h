// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/message/message_list.h"

#include <QStringList>

#include <functional>
#include <vector>

namespace paddock {

// Where a history is cut and what survives (runtime §4.12). Pure functions; any thread.

/// A threshold or an amount of history.
struct ContextSize {
    enum class Unit { Messages, Tokens, Fraction } unit = Unit::Messages; ///< Fraction: of the run's model's context window
    double value = 20;
};

struct CompactionPolicy {
    std::vector<ContextSize> trigger; ///< any suffices; none: never by itself
    ContextSize keep;
};

using TokenCounter = std::function<qint64(const Message &)>;

/// What is known of the model that the run uses.
struct CompactionModel {
    QString name;
    QString provider;
    qint64 contextWindow = 0; ///< tokens; 0: unknown
};

struct CompactionInput {
    MessageList messages;
    QString summary; ///< the one that stands for what was cut earlier
    CompactionPolicy policy;
    CompactionModel model;
    TokenCounter tokens;
    bool force = false; ///< asked for by a person: whatever the triggers say
};

struct CompactionPlan {
    bool triggered = false;
    qsizetype cut = 0;                   ///< messages before it go; 0: nothing
    std::vector<MessagePtr> summarized;  ///< empty: nothing is compacted
    std::vector<MessagePtr> kept;        ///< the rescued ones first
    qint64 tokensBefore = 0;             ///< of the messages and the summary
    qint64 tokensKept = 0;
};

/// Cuts by index, never between a call and its result; rescues every system message, every reminder and the latest message
/// of a person from what is cut.
CompactionPlan planCompaction(const CompactionInput &input);

/// Without the fractions that nothing is known to be a fraction of; `dropped` tells which, for a warning [K-14].
CompactionPolicy usablePolicy(CompactionPolicy policy, qint64 contextWindow, QStringList *dropped = nullptr);

/// ceil(characters / 4) + 3; tokenizers of some providers need fewer characters a token.
qint64 approximateTokens(const Message &message, double charsPerToken = 4.0);
/// 3.3 for models of Anthropic, else 4.
double charsPerToken(const CompactionModel &model);

} // namespace paddock
