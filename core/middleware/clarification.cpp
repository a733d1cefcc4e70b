// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/clarification.h"

#include "core/middleware/ai_edits.h"
#include "core/middleware/clarification_form.h"
#include "core/middleware/message_edits.h"
#include "core/middleware/run_scope.h"

#include <algorithm>

namespace paddock {

namespace {

const QString &askTool()
{
    static const QString name = QStringLiteral("ask_clarification");
    return name;
}

bool isDisabled(const RuntimeContext &runtime)
{
    return isTruthy(memberOf(runtime.values, "disable_clarification"));
}

MessagePtr adviceToDecide(const ToolCall &call)
{
    const QString text = QStringLiteral("Nobody is there to answer now. Do not ask again: decide with your best judgement, do what was asked, "
                                        "and name the assumptions you made in your final answer.");
    return edited(toolMessage(call.id, askTool(), text), [&call, &text](Message &message) { message.id = clarificationId(call.id, text); });
}

Task<Result<ToolOutcome>> answered(ToolOutcome outcome)
{
    co_return outcome;
}

} // namespace

Task<Result<ToolOutcome>> ClarificationMiddleware::wrapToolCall(ToolCallRequest request, ToolNext next)
{
    const ToolCall &call = request.context.call;
    if (call.name != askTool())
        return next(std::move(request));
    const RuntimeContext &runtime = *request.context.runtime;
    if (isDisabled(runtime))
        return answered(adviceToDecide(call));
    const ClarificationRequest asked = clarificationRequest(call.args, call.id);
    recordAct(runtime, QStringLiteral("clarification"), *this, Hook::WrapToolCall, QStringLiteral("ask"), asked.payload);
    Command command;
    command.end = true;
    command.update.messages.push_back(edited(toolMessage(call.id, askTool(), asked.text), [&asked](Message &message) {
        message.id = asked.id;
        message.artifact = Json{{"human_input", asked.payload}};
    }));
    return answered(std::move(command));
}

Task<Result<StateUpdate>> ClarificationMiddleware::afterModel(AgentState state, RuntimePtr runtime)
{
    StateUpdate update;
    if (state.messages.isEmpty() || state.messages.last()->role != Role::Ai || isDisabled(*runtime))
        co_return update;
    const MessagePtr last = state.messages.last();
    std::vector<bool> keep;
    for (const ToolCall &call : last->toolCalls)
        keep.push_back(call.name == askTool());
    const auto kept = std::ranges::count(keep, true);
    if (kept == 0 || kept == std::ssize(keep))
        co_return update;
    recordAct(*runtime, QStringLiteral("clarification"), *this, Hook::AfterModel, QStringLiteral("drop_siblings"),
              Json{{"dropped", std::ssize(keep) - kept}});
    update.messages.push_back(edited(last, [&keep](Message &message) { keepToolCalls(message, keep); }));
    co_return update;
}

} // namespace paddock
