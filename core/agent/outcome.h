// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/agent/subagent_result.h"
#include "core/message/message_list.h"

namespace paddock {

/// What a subagent's run means for its record (runtime §1.6). Pure.
struct SubagentOutcome {
    SubagentStatus status = SubagentStatus::Failed;
    std::optional<QString> result;
    std::optional<QString> error;
    std::optional<QString> stopReason;
};

/// The stream ended by itself, or by the turn limit. `stopReason` is the guards' first reason.
SubagentOutcome outcomeOf(const MessageList &messages, bool turnLimit, int maxTurns, const std::optional<QString> &stopReason);
/// The stream ended with an error, or because of `cause`.
SubagentOutcome outcomeOfFailure(const Error &error, StopCause cause, std::chrono::seconds deadline);
/// Who or what stopped an execution, as a sentence for people; empty for None.
QString stopSentence(StopCause cause, std::chrono::seconds deadline);

/// The text of a marked provider failure on the *last* ai message (kwargs.deerflow_error_fallback is literally true);
/// nullopt when that message is a normal one or there is none.
std::optional<QString> fallbackError(const MessageList &messages);
/// The question to the person that the conversation ends with; nullopt when it ends otherwise.
std::optional<QString> pendingQuestion(const MessageList &messages);
/// The last ai message, or null.
MessagePtr lastAi(const MessageList &messages);

} // namespace paddock
