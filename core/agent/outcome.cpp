// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/agent/outcome.h"

#include "core/base/text.h"

namespace paddock {

namespace {

QString contentText(const MessagePtr &message)
{
    if (!message || message->content.is_null())
        return {};
    return textOf(message);
}

} // namespace

MessagePtr lastAi(const MessageList &messages)
{
    for (qsizetype i = messages.size() - 1; i >= 0; --i) {
        if (messages.at(i)->role == Role::Ai)
            return messages.at(i);
    }
    return nullptr;
}

std::optional<QString> pendingQuestion(const MessageList &messages)
{
    if (messages.isEmpty() || messages.last()->role != Role::Tool)
        return std::nullopt;
    const Json &asked = memberOf(messages.last()->artifact, "human_input");
    if (stringOf(asked, "kind") != u"human_input_request")
        return std::nullopt;
    return contentText(messages.last());
}

std::optional<QString> fallbackError(const MessageList &messages)
{
    const MessagePtr last = lastAi(messages);
    if (!last)
        return std::nullopt;
    const Json &mark = memberOf(last->kwargs, "deerflow_error_fallback");
    if (!mark.is_boolean() || !mark.get<bool>())
        return std::nullopt;
    const QString text = contentText(last);
    if (!pythonStrip(text).isEmpty())
        return text;
    const QString detail = stringOf(last->kwargs, "error_detail");
    return pythonStrip(detail).isEmpty() ? QStringLiteral("LLM request failed") : detail;
}

SubagentOutcome outcomeOf(const MessageList &messages, bool turnLimit, int maxTurns, const std::optional<QString> &stopReason)
{
    SubagentOutcome outcome;
    outcome.stopReason = stopReason;
    if (turnLimit && !outcome.stopReason)
        outcome.stopReason = QStringLiteral("turn_capped");
    if (auto error = fallbackError(messages)) {
        outcome.error = std::move(error);
        return outcome;
    }
    const MessagePtr last = lastAi(messages);
    if (turnLimit) {
        const QString partial = pythonStrip(contentText(last));
        if (partial.isEmpty()) {
            outcome.error = QStringLiteral("Reached max_turns=%1").arg(maxTurns);
            return outcome;
        }
        outcome.status = SubagentStatus::Completed;
        outcome.result = partial;
        return outcome;
    }
    const QString text = contentText(last || messages.isEmpty() ? last : messages.last());
    outcome.status = SubagentStatus::Completed;
    outcome.result = text.isEmpty() ? QStringLiteral("No response generated") : text;
    return outcome;
}

SubagentOutcome outcomeOfFailure(const Error &error, StopCause cause, std::chrono::seconds deadline)
{
    SubagentOutcome outcome;
    if (cause == StopCause::Deadline) {
        outcome.status = SubagentStatus::TimedOut;
        outcome.error = QStringLiteral("Execution timed out after %1 seconds").arg(deadline.count());
    } else if (cause != StopCause::None || error.isCancelled()) {
        outcome.status = SubagentStatus::Cancelled;
        outcome.error = QStringLiteral("Cancelled by user");
    } else {
        const QString text = error.fullMessage();
        outcome.error = text.isEmpty() ? errorCodeName(error.code) : text;
    }
    return outcome;
}

QString stopSentence(StopCause cause, std::chrono::seconds deadline)
{
    switch (cause) {
    case StopCause::None: break;
    case StopCause::User: return QStringLiteral("A person cancelled this agent.");
    case StopCause::Scenario: return QStringLiteral("The scenario cancelled this agent.");
    case StopCause::Parent: return QStringLiteral("The lead agent was cancelled.");
    case StopCause::Deadline: return QStringLiteral("The agent ran out of its %1 seconds.").arg(deadline.count());
    }
    return {};
}

} // namespace paddock
