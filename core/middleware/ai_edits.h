// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/message/message.h"

#include <vector>

namespace paddock {

// How guards look at and change an answer of the model (runtime §4.7, §4.10, §5.6 to §5.8). Pure functions; any thread.

/// What becomes of an empty text in front of an appended one: it leaves its blank line behind, or nothing.
enum class EmptyText { LeavesGap, LeavesNothing };

/// Behind the text after a blank line; list content gets a text block, null content becomes the text.
void appendText(Message &ai, const QString &text, EmptyText empty);

/// Drops the calls whose place in `keep` is false, in all their copies: structured, raw, content blocks [K-21]. When none is
/// left the finish_reason `tool_calls` becomes `stop`.
void keepToolCalls(Message &ai, const std::vector<bool> &keep);

/// The same message without its calls and with the reason behind its text: what a hard stop leaves.
MessagePtr hardStopped(const MessagePtr &ai, const QString &reason);

/// Text that a person can see, beyond blanks.
bool hasVisibleText(const Message &ai);
/// Parsed, invalid or raw calls.
bool hasCalls(const Message &ai);
/// The same, or a finish_reason that announces calls.
bool hasCallIntent(const Message &ai);
/// Names of the calls, parsed and invalid ones; else of the raw ones. A nameless one is "unknown".
QStringList callNames(const Message &ai);

/// 1234567 -> "1,234,567"
QString withThousands(qint64 number);

} // namespace paddock
