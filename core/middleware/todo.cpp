// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/todo.h"

#include "core/base/text.h"
#include "core/middleware/ai_edits.h"
#include "core/middleware/message_edits.h"
#include "core/middleware/model_length.h"

#include <algorithm>

namespace paddock {

namespace {

constexpr std::size_t maxRemindedRuns = 1000;

bool isWrite(const ToolCall &call)
{
    return call.name == u"write_todos";
}

QString statusOf(const Json &todo)
{
    return stringOf(todo, "status", QStringLiteral("pending"));
}

/// One line for each item that is wanted; the words are the model's own and may not close the reminder around them.
QString listed(const Json &todos, bool openOnly)
{
    QStringList lines;
    for (const Json &todo : todos) {
        if (!openOnly || statusOf(todo) != u"completed")
            lines.append(QStringLiteral("- [") + escapeMarkup(statusOf(todo)) + QStringLiteral("] ") + escapeMarkup(stringOf(todo, "content")));
    }
    return lines.join(QLatin1Char('\n'));
}

/// The list as it is; empty for anything that is none.
const Json &todosOf(const AgentState &state)
{
    static const Json none = Json::array();
    const Json &todos = memberOf(state.channels, "todos");
    return todos.is_array() ? todos : none;
}

bool isListInWindow(const MessageList &messages)
{
    for (const MessagePtr &message : messages) {
        if ((message->role == Role::Human && message->name == u"todo_reminder") || std::ranges::any_of(message->toolCalls, isWrite))
            return true;
    }
    return false;
}

int openItems(const Json &todos)
{
    int open = 0;
    for (const Json &todo : todos)
        open += statusOf(todo) != u"completed" ? 1 : 0;
    return open;
}

QString planPrompt()
{
    return QStringLiteral("## Todo list\n\nYou have the tool `write_todos`. For work of three or more steps write the list first, keep one item "
                          "in_progress, and mark an item completed as soon as it is done, not several at the end. Each call replaces the whole "
                          "list; call it once per message. Small tasks need no list.");
}

/// A guard has ended the run: what it left is final.
bool isEndedByGuard(const Message &ai, const RuntimeContext &runtime)
{
    const QString reason = stopReasonOf(runtime);
    return reason == u"token_capped" || reason == u"loop_capped" || reason == u"safety_capped" || isCutByLength(ai)
        || isTruthy(memberOf(ai.kwargs, "deerflow_error_fallback"));
}

} // namespace

void TodoMiddleware::forget(const RuntimeContext &runtime)
{
    m_reminded.erase(scopeKeyOf(runtime));
    m_notes.drop(runtime);
}

Task<Result<StateUpdate>> TodoMiddleware::beforeAgent(AgentState, RuntimePtr runtime)
{
    m_notes.dropOtherRuns(*runtime);
    forget(*runtime);
    co_return StateUpdate{};
}

Task<Result<StateUpdate>> TodoMiddleware::afterAgent(AgentState, RuntimePtr runtime)
{
    forget(*runtime);
    co_return StateUpdate{};
}

Task<Result<StateUpdate>> TodoMiddleware::beforeModel(AgentState state, RuntimePtr)
{
    StateUpdate update;
    const Json &todos = todosOf(state);
    if (todos.empty() || isListInWindow(state.messages))
        co_return update;
    Message reminder;
    reminder.role = Role::Human;
    reminder.name = QStringLiteral("todo_reminder");
    reminder.content = toJson(QStringLiteral("<system_reminder>\nYour todo list is no longer to be seen in this conversation, but it still holds:\n\n")
                              + listed(todos, false)
                              + QStringLiteral("\n\nGo on with it and call `write_todos` when the state of an item changes.\n</system_reminder>"));
    reminder.kwargs["hide_from_ui"] = true;
    update.messages.push_back(makeMessage(std::move(reminder)));
    co_return update;
}

Task<Result<ModelResponse>> TodoMiddleware::wrapModelCall(ModelCall call, ModelNext next)
{
    if (call.request.system) {
        call.request.system = edited(call.request.system, [](Message &message) {
            appendText(message, planPrompt(), EmptyText::LeavesNothing);
        });
    } else {
        call.request.system = systemMessage(planPrompt());
    }
    return m_notes.inject(std::move(call), std::move(next));
}

Task<Result<StateUpdate>> TodoMiddleware::afterModel(AgentState state, RuntimePtr runtime)
{
    StateUpdate update;
    if (state.messages.isEmpty() || state.messages.last()->role != Role::Ai)
        co_return update;
    const MessagePtr last = state.messages.last();
    if (std::ranges::count_if(last->toolCalls, isWrite) > 1) {
        for (const ToolCall &call : last->toolCalls) {
            if (isWrite(call))
                update.messages.push_back(toolMessage(call.id, call.name,
                                                      QStringLiteral("Error: `write_todos` may be called once per message, for each call replaces "
                                                                     "the whole list. Call it again, once."),
                                                      ToolStatus::Error));
        }
        co_return update;
    }
    const Json &todos = todosOf(state);
    const int open = openItems(todos);
    if (open == 0 || hasCallIntent(*last) || isEndedByGuard(*last, *runtime))
        co_return update;
    if (m_reminded.size() > maxRemindedRuns)
        m_reminded.clear();
    if (int &reminded = m_reminded[scopeKeyOf(*runtime)]; reminded < maxReminders) {
        ++reminded;
        m_notes.queue(*runtime, QStringLiteral("<system_reminder>\nItems of your todo list are still open:\n\n") + listed(todos, true)
                                    + QStringLiteral("\n\nFinish them, or mark with `write_todos` what is done or not needed any more; answer when "
                                                     "nothing is open.\n</system_reminder>"));
        recordAct(*runtime, QStringLiteral("todo"), *this, Hook::AfterModel, QStringLiteral("remind"),
                  Json{{"open", open}, {"reminder", reminded}});
        update.jumpTo = JumpTo::Model;
    }
    co_return update;
}

} // namespace paddock
