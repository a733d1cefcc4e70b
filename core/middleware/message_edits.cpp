// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/message_edits.h"

#include "core/base/text.h"
#include "core/middleware/output_text.h"

#include <QSet>

#include <algorithm>

namespace paddock {

namespace {

bool isCallBlock(const Json &block)
{
    static const QSet<QString> types{QStringLiteral("tool_use"), QStringLiteral("tool_call"), QStringLiteral("tool_call_chunk"),
                                     QStringLiteral("function_call"), QStringLiteral("server_tool_call"),
                                     QStringLiteral("input_json_delta")};
    return types.contains(stringOf(block, "type"));
}

bool rewriteBlock(Json &block, const QHash<QString, Json> &argsById)
{
    const QString type = stringOf(block, "type");
    const QString id = type == u"function_call" ? stringOf(block, "call_id") : stringOf(block, "id");
    const auto args = argsById.constFind(id);
    if (id.isEmpty() || args == argsById.constEnd())
        return false;
    const std::string text = dumpJson(*args).toStdString();
    if (type == u"tool_use") {
        block["input"] = *args;
        block.erase("partial_json");
        return true;
    }
    if (type == u"function_call") {
        block["arguments"] = text;
        return true;
    }
    if (type == u"tool_call" || type == u"tool_call_chunk") {
        block["args"] = type == u"tool_call" ? *args : Json(text);
        if (memberOf(block, "extras").is_object() && block["extras"].contains("arguments"))
            block["extras"]["arguments"] = text;
        return true;
    }
    return false;
}

bool rewriteRaw(Json &raw, const QHash<QString, Json> &argsById)
{
    const auto args = argsById.constFind(stringOf(raw, "id"));
    if (args == argsById.constEnd() || !memberOf(raw, "function").is_object())
        return false;
    raw["function"]["arguments"] = dumpJson(*args).toStdString();
    return true;
}

} // namespace

MessageList insertAfterLeadingSystem(const MessageList &messages, MessagePtr message)
{
    MessageList out = messages;
    qsizetype index = 0;
    while (index < messages.size() && messages.at(index)->role == Role::System)
        ++index;
    out.insert(index, std::move(message));
    return out;
}

void appendTransform(Json &kwargs, const QString &kind, const QString &by, const QString &version)
{
    if (!kwargs.is_object())
        kwargs = Json::object();
    Json &list = kwargs["deerflow_tool_transforms"];
    if (!list.is_array())
        list = Json::array();
    list.push_back(Json{{"kind", toUtf8(kind)}, {"by", toUtf8(by)}, {"version", toUtf8(version)}});
}

std::vector<PairedCall> pairCalls(const MessageList &messages)
{
    std::vector<PairedCall> pairs;
    std::size_t open = 0; // the calls of the most recent ai message are pairs[open…]
    qsizetype index = 0;
    for (const MessagePtr &message : messages) {
        if (message->role == Role::Ai) {
            open = pairs.size();
            for (std::size_t c = 0; c < message->toolCalls.size(); ++c) {
                if (!message->toolCalls[c].id.isEmpty())
                    pairs.push_back({index, qsizetype(c), -1});
            }
        } else if (message->role == Role::Tool) {
            for (std::size_t p = open; p < pairs.size(); ++p) {
                const ToolCall &call = messages.at(pairs[p].ai)->toolCalls[std::size_t(pairs[p].callIndex)];
                if (pairs[p].result < 0 && call.id == message->toolCallId) {
                    pairs[p].result = index;
                    break;
                }
            }
        }
        ++index;
    }
    return pairs;
}

MessagePtr rewriteCallArgs(const MessagePtr &ai, const QHash<QString, Json> &argsById)
{
    Message copy = *ai;
    bool changed = false;
    for (ToolCall &call : copy.toolCalls) {
        const auto args = argsById.constFind(call.id);
        if (args != argsById.constEnd()) {
            call.args = *args;
            changed = true;
        }
    }
    if (copy.kwargs.is_object() && memberOf(copy.kwargs, "tool_calls").is_array()) {
        for (Json &raw : copy.kwargs["tool_calls"])
            changed = rewriteRaw(raw, argsById) || changed;
    }
    if (copy.content.is_array()) {
        for (Json &block : copy.content)
            changed = rewriteBlock(block, argsById) || changed;
    }
    return changed ? makeMessage(std::move(copy)) : ai;
}

void dropServerHistoryIds(MessageList &messages)
{
    for (qsizetype i = 0; i < messages.size(); ++i) {
        const MessagePtr message = messages.at(i);
        if (message->role == Role::Ai && stringOf(message->responseMetadata, "id").startsWith(QLatin1String("resp_")))
            messages.replace(i, edited(message, [](Message &m) { m.responseMetadata.erase("id"); }));
    }
}

void clearToolCalls(Message &ai)
{
    ai.toolCalls.clear();
    if (ai.kwargs.is_object()) {
        ai.kwargs.erase("tool_calls");
        ai.kwargs.erase("function_call");
    }
    if (ai.content.is_array()) {
        Json kept = Json::array();
        for (const Json &block : ai.content) {
            if (!isCallBlock(block))
                kept.push_back(block);
        }
        ai.content = std::move(kept);
    }
}

bool isTruthy(const Json &value)
{
    switch (value.type()) {
    case Json::value_t::null:
    case Json::value_t::discarded: return false;
    case Json::value_t::boolean: return value.get<bool>();
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
    case Json::value_t::number_float: return value.get<double>() != 0;
    case Json::value_t::string: return !value.get_ref<const std::string &>().empty();
    default: return !value.empty();
    }
}

namespace {

bool isNonBlankString(const Json &object, const char *key)
{
    const Json &value = memberOf(object, key);
    return value.is_string() && !pythonStrip(textOf(value)).isEmpty();
}

bool isValidReply(const Json &reply)
{
    if (!reply.is_object() || memberOf(reply, "version") != 1 || stringOf(reply, "kind") != u"human_input_response")
        return false;
    if (!isNonBlankString(reply, "source") || !isNonBlankString(reply, "request_id") || !isNonBlankString(reply, "value"))
        return false;
    const QString kind = stringOf(reply, "response_kind");
    return kind == u"text" || (kind == u"option" && isNonBlankString(reply, "option_id"));
}

} // namespace

bool isGenuineUserMessage(const Message &message)
{
    if (message.role != Role::Human || message.name == u"summary")
        return false;
    return !isTruthy(memberOf(message.kwargs, "hide_from_ui")) || isValidReply(memberOf(message.kwargs, "human_input_response"));
}

bool needsSanitization(const Message &message)
{
    return message.role == Role::Human
        && (isTruthy(memberOf(message.kwargs, "untrusted_input")) || isGenuineUserMessage(message));
}

QString escapedLine(const QString &text)
{
    return escapeMarkup(output_text::oneLine(text, text.size()));
}

QString normalizedPath(const QString &path)
{
    if (path.isEmpty())
        return QStringLiteral(".");
    const bool absolute = path.startsWith(QLatin1Char('/'));
    const bool twoSlashes = path.startsWith(QLatin1String("//")) && !path.startsWith(QLatin1String("///"));
    QStringList kept;
    for (const QString &part : path.split(QLatin1Char('/'))) {
        if (part.isEmpty() || part == u".")
            continue;
        if (part == u"..") {
            if (!kept.isEmpty() && kept.last() != u"..")
                kept.removeLast();
            else if (!absolute)
                kept.append(part);
            continue;
        }
        kept.append(part);
    }
    const QString root = absolute ? (twoSlashes ? QStringLiteral("//") : QStringLiteral("/")) : QString();
    const QString out = root + kept.join(QLatin1Char('/'));
    return out.isEmpty() ? QStringLiteral(".") : out;
}

} // namespace paddock
