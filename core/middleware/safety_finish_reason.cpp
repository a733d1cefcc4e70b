// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/safety_finish_reason.h"

#include "core/base/text.h"
#include "core/middleware/ai_edits.h"
#include "core/middleware/message_edits.h"
#include "core/middleware/run_scope.h"

namespace paddock {

namespace {

bool isBlankContent(const Json &content)
{
    return content.is_null() || pythonStrip(textOfContent(content)).isEmpty();
}

QString explanation(const Termination &termination, bool hadCalls)
{
    // The pieces come from outside, so they must not be taken for place marks of one another.
    QString text = QStringLiteral("The model's provider stopped this answer for safety reasons (") + termination.field
        + QStringLiteral(": ") + termination.value + QStringLiteral(", found by ") + termination.detector + QStringLiteral(").");
    if (hadCalls)
        text += QStringLiteral(" The tool calls in it were suppressed: their arguments may be cut off.");
    return text + QStringLiteral(" Ask differently, or for less at once.");
}

Json suppressedNames(const Message &ai)
{
    Json names = Json::array();
    for (const ToolCall &call : ai.toolCalls)
        names.push_back(toUtf8(call.name.isEmpty() ? QStringLiteral("unknown") : call.name));
    return names;
}

} // namespace

MessagePtr SafetyFinishReasonMiddleware::suppressed(const MessagePtr &ai) const
{
    if (ai->role != Role::Ai || (ai->toolCalls.empty() && !isBlankContent(ai->content)))
        return nullptr;
    const auto termination = detectTermination(*ai, m_detectors);
    if (!termination)
        return nullptr;
    return edited(ai, [&](Message &message) {
        const Json names = suppressedNames(message);
        clearToolCalls(message); // the finish_reason stays: it is what the provider said
        appendText(message, explanation(*termination, !names.empty()), EmptyText::LeavesNothing);
        if (!message.kwargs.is_object())
            message.kwargs = Json::object();
        message.kwargs["safety_termination"] = Json{{"detector", toUtf8(termination->detector)},
                                                    {"reason_field", toUtf8(termination->field)},
                                                    {"reason_value", toUtf8(termination->value)},
                                                    {"suppressed_tool_call_count", names.size()},
                                                    {"suppressed_tool_call_names", names},
                                                    {"extras", termination->extras}};
    });
}

Task<Result<StateUpdate>> SafetyFinishReasonMiddleware::afterModel(AgentState state, RuntimePtr runtime)
{
    StateUpdate update;
    if (state.messages.isEmpty())
        co_return update;
    const MessagePtr last = state.messages.last();
    const MessagePtr patched = suppressed(last);
    if (!patched)
        co_return update;
    setStopReason(*runtime, QStringLiteral("safety_capped"));
    Json changes = memberOf(patched->kwargs, "safety_termination");
    changes["thread_id"] = memberOf(runtime->values, "thread_id");
    changes["message_id"] = toUtf8(last->id);
    changes["suppressed_tool_call_ids"] = Json::array();
    for (const ToolCall &call : last->toolCalls) {
        if (!call.id.isEmpty())
            changes["suppressed_tool_call_ids"].push_back(toUtf8(call.id));
    }
    recordAct(*runtime, QStringLiteral("safety_termination"), *this, Hook::AfterModel, QStringLiteral("suppress_tool_calls"),
              std::move(changes));
    update.messages.push_back(patched);
    co_return update;
}

} // namespace paddock
