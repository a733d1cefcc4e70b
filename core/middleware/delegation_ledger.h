// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/clock.h"
#include "core/message/message_list.h"

#include <QSet>

#include <vector>

namespace paddock {

// The ledger of delegations (runtime §4.11): which `task` calls an agent made and how they ended. Entries are objects of the
// channel `delegations`. Pure functions; any thread.

/// Whose messages are looked at.
struct LedgerRun {
    QString id;                  ///< empty: the run has none, all messages are its own
    QSet<QString> preRunMessages; ///< ids of the messages that were there before the run
};

/// The ids that the run context keeps of the messages before the run.
inline constexpr const char *preRunMessagesKey = "__deerflow_pre_run_message_ids";
LedgerRun ledgerRunOf(const Json &runtimeValues);

/// The part of the history in which this run may have delegated, and whether a message of a person opened it.
struct RunTail {
    MessageList messages;
    bool isNewTurn = false;
};
RunTail messagesOfRun(const MessageList &messages, const LedgerRun &run);

/// An entry for each `task` call with an id, in order; the results close them. A status is never guessed from text.
std::vector<Json> extractDelegations(const MessageList &messages, Clock::Wall now);

/// What the channel has to learn: new entries, changed ones, and those of earlier runs that nobody will answer any more.
Json changedDelegations(const MessageList &messages, const LedgerRun &run, const Json &existing, Clock::Wall now);

inline constexpr qsizetype maxLedgerChars = 6000;
/// What the model sees: newest first, never longer than `maxChars`, the rest as a count. Empty for no entries.
QString renderDelegations(const Json &entries, qsizetype maxChars = maxLedgerChars);

} // namespace paddock
