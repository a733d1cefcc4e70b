// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/message/message.h"

#include "core/base/text.h"

namespace paddock {

namespace {

constexpr qint64 charsPerToken = 4;
constexpr qint64 tokensPerMessage = 4;

std::shared_ptr<Message> textMessage(Role role, const QString &text)
{
    auto message = std::make_shared<Message>();
    message->role = role;
    message->content = toJson(text);
    return message;
}

} // namespace

Usage &Usage::operator+=(const Usage &other)
{
    input += other.input;
    output += other.output;
    total += other.total;
    cacheRead += other.cacheRead;
    cacheCreation += other.cacheCreation;
    reasoning += other.reasoning;
    return *this;
}

MessagePtr makeMessage(Message message)
{
    return std::make_shared<const Message>(std::move(message));
}

MessagePtr systemMessage(const QString &text)
{
    return textMessage(Role::System, text);
}

MessagePtr humanMessage(const QString &text)
{
    return textMessage(Role::Human, text);
}

MessagePtr aiMessage(const QString &text, std::vector<ToolCall> calls)
{
    auto message = textMessage(Role::Ai, text);
    message->toolCalls = std::move(calls);
    return message;
}

MessagePtr toolMessage(const QString &callId, const QString &name, const QString &text, ToolStatus status)
{
    auto message = textMessage(Role::Tool, text);
    message->toolCallId = callId;
    message->name = name;
    message->status = status;
    return message;
}

QString textOfContent(const Json &content)
{
    if (content.is_string())
        return textOf(content);
    if (!content.is_array())
        return {};
    QStringList parts;
    for (const Json &block : content) {
        const QString text = block.is_string() ? textOf(block) : stringOf(block, "text");
        if (!text.isEmpty())
            parts.append(text);
    }
    return parts.join(QLatin1Char('\n'));
}

QString roleName(Role role)
{
    switch (role) {
    case Role::System: return QStringLiteral("system");
    case Role::Human: return QStringLiteral("human");
    case Role::Ai: return QStringLiteral("ai");
    case Role::Tool: return QStringLiteral("tool");
    case Role::Remove: return QStringLiteral("remove");
    }
    return QStringLiteral("human");
}

QString contentHash(const Message &message)
{
    Message copy = message;
    copy.id.clear();
    return sha256Hex(dumpJson(messageToJson(copy)));
}

qint64 estimateTokens(const Message &message)
{
    qint64 chars = codePointCount(textOfContent(message.content));
    for (const ToolCall &call : message.toolCalls)
        chars += call.name.size() + dumpJson(call.args).size();
    return (chars + charsPerToken - 1) / charsPerToken + tokensPerMessage;
}

} // namespace paddock
