// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/message/message_list.h"

#include <QHash>
#include <QString>

#include <vector>

namespace paddock {

// Helpers that several members share (middleware-base §1.7, §1.11). Pure functions; any thread.

/// Puts `message` after the leading run of system messages (index 0 when there is none).
MessageList insertAfterLeadingSystem(const MessageList &messages, MessagePtr message);

/// Appends {kind, by, version} to kwargs.deerflow_tool_transforms; a value that is no list is replaced by one.
void appendTransform(Json &kwargs, const QString &kind, const QString &by, const QString &version = QStringLiteral("1"));

/// One call and the result that answers it; `result` is -1 when nothing does.
struct PairedCall {
    qsizetype ai = -1;
    qsizetype callIndex = -1; ///< in the ai message's toolCalls
    qsizetype result = -1;
};
/// Each ai message opens its own calls (non-empty ids) and closes the earlier ones; a tool message answers the first
/// still-open call with its id of the most recent ai message only. Stray and duplicate results pair with nothing.
std::vector<PairedCall> pairCalls(const MessageList &messages);

/// All copies of the arguments of §1.6 rewritten together; the same object when nothing matched.
MessagePtr rewriteCallArgs(const MessagePtr &ai, const QHash<QString, Json> &argsById);

/// After a rewrite: ai messages lose response_metadata.id values that start "resp_", so that an adapter which
/// continues server-side history replays the rewritten one.
void dropServerHistoryIds(MessageList &messages);

/// No tool call is left in any of its copies (§1.6; K-12, K-21).
void clearToolCalls(Message &ai);

/// Truthiness as Python sees a JSON value.
bool isTruthy(const Json &value);

/// A human message that a person wrote (§1.7).
bool isGenuineUserMessage(const Message &message);
bool needsSanitization(const Message &message);

/// For one line of what a model is shown: runs of blanks are one space, markup is escaped.
QString escapedLine(const QString &text);

/// POSIX normpath without touching the file system: "/a/./b/../c" -> "/a/c"; empty -> ".".
QString normalizedPath(const QString &path);

} // namespace paddock
