// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/terminal_response.h"

#include "core/middleware/ai_edits.h"
#include "core/middleware/message_edits.h"
#include "core/middleware/model_length.h"

namespace paddock {

namespace {

constexpr qsizetype maxRetriedRuns = 1000;

QString recoveryText()
{
    return QStringLiteral("<system_reminder>\nYour last answer after the tool calls was empty. Look at the results above and give a short "
                          "final answer that the person can read. Call no more tools unless you must.\n</system_reminder>");
}

bool isVisibleHuman(const MessagePtr &message)
{
    return message->role == Role::Human && !isTruthy(memberOf(message->kwargs, "hide_from_ui"));
}

/// A tool has answered since the person last said something; without a person there is no such turn.
bool hasToolResultInTurn(const MessageList &messages)
{
    bool found = false;
    for (qsizetype i = messages.size() - 1; i >= 0; --i) {
        if (isVisibleHuman(messages.at(i)))
            return found;
        found = found || messages.at(i)->role == Role::Tool;
    }
    return false;
}

MessagePtr visibleFailure(const MessagePtr &ai)
{
    return edited(ai, [](Message &message) {
        message.content = "The model finished its tool calls but gave no answer, also when asked again. Try again, or use another model.";
        if (!message.kwargs.is_object())
            message.kwargs = Json::object();
        message.kwargs["deerflow_error_fallback"] = true;
        message.kwargs["error_reason"] = "The model returned an empty final answer after one retry";
    });
}

MessagePtr removalOf(const MessagePtr &message)
{
    Message marker;
    marker.role = Role::Remove;
    marker.id = message->id;
    return makeMessage(std::move(marker));
}

} // namespace

void TerminalResponseMiddleware::forget(const RuntimeContext &runtime)
{
    m_retried.remove(scopeKeyOf(runtime));
    m_notes.drop(runtime);
}

Task<Result<StateUpdate>> TerminalResponseMiddleware::beforeAgent(AgentState, RuntimePtr runtime)
{
    m_notes.dropOtherRuns(*runtime);
    forget(*runtime); // after_agent does not run when a command ended the run before
    co_return StateUpdate{};
}

Task<Result<StateUpdate>> TerminalResponseMiddleware::afterAgent(AgentState, RuntimePtr runtime)
{
    forget(*runtime);
    co_return StateUpdate{};
}

Task<Result<ModelResponse>> TerminalResponseMiddleware::wrapModelCall(ModelCall call, ModelNext next)
{
    return m_notes.inject(std::move(call), std::move(next));
}

Task<Result<StateUpdate>> TerminalResponseMiddleware::afterModel(AgentState state, RuntimePtr runtime)
{
    StateUpdate update;
    if (state.messages.isEmpty() || state.messages.last()->role != Role::Ai)
        co_return update;
    const MessagePtr last = state.messages.last();
    if (hasVisibleText(*last) || hasCallIntent(*last) || isCutByLength(*last) || !hasToolResultInTurn(state.messages))
        co_return update;
    const QString scope = scopeKeyOf(*runtime);
    const QString tag = QStringLiteral("terminal_response");
    if (m_retried.contains(scope)) { // once per run, not once per empty answer
        recordAct(*runtime, tag, *this, Hook::AfterModel, QStringLiteral("fail"), Json::object());
        update.messages.push_back(visibleFailure(last));
        co_return update;
    }
    if (m_retried.size() >= maxRetriedRuns)
        m_retried.clear();
    m_retried.insert(scope);
    m_notes.queue(*runtime, recoveryText());
    recordAct(*runtime, tag, *this, Hook::AfterModel, QStringLiteral("retry"), Json::object());
    update.messages.push_back(removalOf(last));
    update.jumpTo = JumpTo::Model;
    co_return update;
}

} // namespace paddock
