// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/ai_edits.h"

#include "core/base/text.h"
#include "core/middleware/message_edits.h"

#include <QSet>

namespace paddock {

namespace {

QString idOfBlock(const Json &block)
{
    const QString id = stringOf(block, "call_id");
    return id.isEmpty() ? stringOf(block, "id") : id;
}

/// Without the members that carry one of these ids.
Json withoutIds(const Json &list, const QSet<QString> &ids)
{
    Json kept = Json::array();
    for (const Json &item : list) {
        if (!ids.contains(idOfBlock(item)))
            kept.push_back(item);
    }
    return kept;
}

bool isNonBlank(const Json &text)
{
    return text.is_string() && !pythonStrip(textOf(text)).isEmpty();
}

QString nameOrUnknown(const QString &name)
{
    return name.isEmpty() ? QStringLiteral("unknown") : name;
}

} // namespace

void appendText(Message &ai, const QString &text, EmptyText empty)
{
    const QString gap = QStringLiteral("\n\n");
    if (ai.content.is_array()) {
        ai.content.push_back(Json{{"type", "text"}, {"text", toUtf8(gap + text)}});
        return;
    }
    const QString before = ai.content.is_null() ? QString() : textOfContent(ai.content);
    const bool alone = ai.content.is_null() || (before.isEmpty() && empty == EmptyText::LeavesNothing);
    ai.content = toJson(alone ? text : before + gap + text);
}

void keepToolCalls(Message &ai, const std::vector<bool> &keep)
{
    std::vector<ToolCall> kept;
    QSet<QString> keptIds;
    QSet<QString> droppedIds;
    for (std::size_t i = 0; i < ai.toolCalls.size(); ++i) {
        const ToolCall &call = ai.toolCalls[i];
        const bool stays = i < keep.size() && keep[i];
        if (!call.id.isEmpty())
            (stays ? keptIds : droppedIds).insert(call.id);
        if (stays)
            kept.push_back(call);
    }
    if (kept.empty()) {
        clearToolCalls(ai);
        if (ai.responseMetadata.is_object() && stringOf(ai.responseMetadata, "finish_reason") == u"tool_calls")
            ai.responseMetadata["finish_reason"] = "stop";
        return;
    }
    ai.toolCalls = std::move(kept);
    if (ai.content.is_array())
        ai.content = withoutIds(ai.content, droppedIds - keptIds);
    if (!ai.kwargs.is_object() || !memberOf(ai.kwargs, "tool_calls").is_array())
        return;
    Json raw = Json::array();
    for (const Json &call : ai.kwargs["tool_calls"]) {
        if (keptIds.contains(stringOf(call, "id")))
            raw.push_back(call);
    }
    if (raw.empty())
        ai.kwargs.erase("tool_calls");
    else
        ai.kwargs["tool_calls"] = std::move(raw);
}

MessagePtr hardStopped(const MessagePtr &ai, const QString &reason)
{
    return edited(ai, [&reason](Message &message) {
        keepToolCalls(message, {});
        appendText(message, reason, EmptyText::LeavesGap);
    });
}

bool hasVisibleText(const Message &ai)
{
    if (!ai.content.is_array())
        return isNonBlank(ai.content);
    for (const Json &block : ai.content) {
        if (isNonBlank(block))
            return true;
        const QString type = stringOf(block, "type");
        if ((type == u"text" || type == u"output_text") && isNonBlank(memberOf(block, "text")))
            return true;
    }
    return false;
}

bool hasCalls(const Message &ai)
{
    return !ai.toolCalls.empty() || !ai.invalidToolCalls.empty() || isTruthy(memberOf(ai.kwargs, "tool_calls"))
        || isTruthy(memberOf(ai.kwargs, "function_call"));
}

bool hasCallIntent(const Message &ai)
{
    const QString reason = stringOf(ai.responseMetadata, "finish_reason");
    return hasCalls(ai) || reason == u"tool_calls" || reason == u"function_call";
}

QStringList callNames(const Message &ai)
{
    QStringList names;
    for (const ToolCall &call : ai.toolCalls)
        names.append(nameOrUnknown(call.name));
    for (const InvalidToolCall &call : ai.invalidToolCalls)
        names.append(nameOrUnknown(call.name));
    if (!names.isEmpty())
        return names;
    const Json &raw = memberOf(ai.kwargs, "tool_calls");
    if (raw.is_array()) {
        for (const Json &call : raw)
            names.append(nameOrUnknown(stringOf(memberOf(call, "function"), "name", stringOf(call, "name"))));
    }
    if (const Json &function = memberOf(ai.kwargs, "function_call"); names.isEmpty() && function.is_object())
        names.append(nameOrUnknown(stringOf(function, "name")));
    return names;
}

QString withThousands(qint64 number)
{
    QString digits = QString::number(number);
    const qsizetype first = number < 0 ? 1 : 0;
    for (qsizetype place = digits.size() - 3; place > first; place -= 3)
        digits.insert(place, QLatin1Char(','));
    return digits;
}

} // namespace paddock
