// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/dynamic_context.h"

#include "core/base/ids.h"
#include "core/base/text.h"
#include "core/middleware/message_edits.h"
#include "core/middleware/run_scope.h"
#include "core/middleware/subagent_date_context.h"

#include <QTimer>

namespace paddock {

namespace {

constexpr std::chrono::seconds longestMemoryRead{5};

const QString &userSuffix()
{
    static const QString suffix = QStringLiteral("__user");
    return suffix;
}

bool isReminder(const Message &message)
{
    return (message.role == Role::Human || message.role == Role::System) && isTruthy(memberOf(message.kwargs, "dynamic_context_reminder"));
}

QString dateInText(const QString &text)
{
    const QString open = QStringLiteral("<current_date>");
    const qsizetype from = text.indexOf(open);
    const qsizetype to = from < 0 ? -1 : text.indexOf(QLatin1Char('<'), from + open.size());
    return to < 0 || !QStringView(text).sliced(to).startsWith(u"</current_date>") ? QString() : text.sliced(from + open.size(), to - from - open.size());
}

/// A message that stands behind such a reminder already must not be moved again: its id would grow without end.
bool isTarget(const Message &message)
{
    return message.role == Role::Human && !isReminder(message) && message.name != u"summary" && !message.id.endsWith(userSuffix());
}

/// Reads no longer than the limit; nullopt: skip this turn.
Task<std::optional<QString>> readMemory(std::function<Task<Result<QString>>(RuntimePtr, std::stop_token)> memory, RuntimePtr runtime)
{
    std::stop_source own;
    const std::stop_callback link(runtime->stop, [own]() mutable { own.request_stop(); });
    QTimer limit; // of this loop; ends with this frame
    limit.setSingleShot(true);
    QObject::connect(&limit, &QTimer::timeout, &limit, [own]() mutable { own.request_stop(); });
    limit.start(longestMemoryRead);
    const Result<QString> block = co_await memory(runtime, own.get_token());
    if (block)
        co_return pythonStrip(*block);
    if (!runtime->stop.stop_requested())
        runtime->events.emitEvent(LogRecorded{QStringLiteral("warning"), QStringLiteral("memory is left out of this turn: ") + block.error().fullMessage(), false});
    co_return std::nullopt;
}

} // namespace

QString DynamicContextMiddleware::lastDate(const MessageList &messages)
{
    for (qsizetype i = messages.size() - 1; i >= 0; --i) {
        const Message &message = *messages.at(i);
        if (!isReminder(message))
            continue;
        QString date = stringOf(message.kwargs, "reminder_date");
        // Older conversations have the date in the text. Memory is a human message, which nobody believes a date.
        if (date.isEmpty() && message.role == Role::System)
            date = dateInText(textOf(messages.at(i)));
        if (!date.isEmpty())
            return date;
    }
    return {};
}

std::vector<MessagePtr> DynamicContextMiddleware::replacement(const MessageList &messages, const MessagePtr &reminder, const QString &memory)
{
    const QString last = lastDate(messages);
    if (last == stringOf(reminder->kwargs, "reminder_date"))
        return {};
    MessagePtr target;
    for (qsizetype i = messages.size() - 1; i >= 0 && !target; --i) {
        if (isTarget(*messages.at(i)))
            target = messages.at(i);
    }
    if (!target)
        return {};
    const QString id = target->id.isEmpty() ? newUuid() : target->id;
    std::vector<MessagePtr> parts{edited(reminder, [&id](Message &message) { message.id = id; })};
    if (last.isEmpty() && !memory.isEmpty()) {
        parts.push_back(edited(humanMessage(memory), [&id](Message &message) {
            message.id = id + QStringLiteral("__memory");
            message.kwargs = Json{{"hide_from_ui", true}, {"dynamic_context_reminder", true}};
        }));
    }
    parts.push_back(edited(target, [&id](Message &message) { message.id = id + userSuffix(); }));
    return parts;
}

Task<Result<StateUpdate>> DynamicContextMiddleware::beforeAgent(AgentState state, RuntimePtr runtime)
{
    StateUpdate update;
    const MessagePtr reminder = SubagentDateContextMiddleware::reminder(runtime->clock->wall(), m_options.timezone);
    QString memory;
    if (m_options.injectMemory && m_options.memory && lastDate(state.messages).isEmpty()) {
        const std::optional<QString> block = co_await readMemory(m_options.memory, runtime);
        if (runtime->stop.stop_requested())
            co_return cancelled();
        if (!block)
            co_return update;
        memory = *block;
    }
    update.messages = replacement(state.messages, reminder, memory);
    for (const MessagePtr &message : update.messages) {
        if (message->id.endsWith(QLatin1String("__memory")) && isReminder(*message))
            recordAct(*runtime, QStringLiteral("memory"), *this, Hook::BeforeAgent, QStringLiteral("inject"),
                      Json{{"content_sha256", toUtf8(sha256Hex(textOf(message)))}});
    }
    co_return update;
}

} // namespace paddock
