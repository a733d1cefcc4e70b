// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/model_length.h"

#include "core/middleware/ai_edits.h"
#include "core/middleware/message_edits.h"
#include "core/middleware/run_scope.h"
#include "core/middleware/termination.h"

namespace paddock {

namespace {

MessagePtr marked(const MessagePtr &ai, const Json &mark)
{
    return edited(ai, [&mark](Message &message) {
        clearToolCalls(message);
        message.invalidToolCalls.clear();
        if (!hasVisibleText(message))
            appendText(message,
                       QStringLiteral("The model reached its output limit before it had answered. Ask it to go on, or for less at once."),
                       EmptyText::LeavesNothing);
        if (!message.kwargs.is_object())
            message.kwargs = Json::object();
        message.kwargs["model_length_termination"] = mark;
    });
}

} // namespace

bool isCutByLength(const Message &ai)
{
    return memberOf(ai.kwargs, "model_length_termination").is_object() || detectTermination(ai, lengthDetectors()).has_value();
}

Task<Result<StateUpdate>> ModelLengthMiddleware::afterModel(AgentState state, RuntimePtr runtime)
{
    StateUpdate update;
    if (state.messages.isEmpty() || state.messages.last()->role != Role::Ai)
        co_return update;
    const MessagePtr last = state.messages.last();
    const auto termination = detectTermination(*last, lengthDetectors());
    if (!termination)
        co_return update;
    if (stopReasonOf(*runtime).isEmpty()) // an earlier cap says more
        setStopReason(*runtime, QStringLiteral("model_length_capped"));
    const bool calls = hasCalls(*last);
    const QStringList names = calls ? callNames(*last) : QStringList();
    const Json mark{{"detector", toUtf8(termination->detector)},
                    {"reason_field", toUtf8(termination->field)},
                    {"reason_value", toUtf8(termination->value)},
                    {"suppressed_tool_call_count", names.size()},
                    {"suppressed_tool_call_names", namesToJson(names)}};
    recordAct(*runtime, QStringLiteral("model_length"), *this, Hook::AfterModel,
              calls ? QStringLiteral("suppress_tool_calls") : QStringLiteral("mark"), mark);
    if (calls || !hasVisibleText(*last))
        update.messages.push_back(marked(last, mark));
    co_return update;
}

} // namespace paddock
