// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/message/message.h"

#include "core/base/text.h"

namespace paddock {

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

namespace {
Message textMessage(Role role, const QString &text)
{
    Message message;
    message.role = role;
    message.content = toJson(text);
    return message;
}
} // namespace

MessagePtr systemMessage(const QString &text)
{
    return makeMessage(textMessage(Role::System, text));
}

MessagePtr humanMessage(const QString &text)
{
    return makeMessage(textMessage(Role::Human, text));
}

MessagePtr aiMessage(const QString &text, std::vector<ToolCall> calls)
{
    Message message = textMessage(Role::Ai, text);
    message.toolCalls = std::move(calls);
    return makeMessage(std::move(message));
}

MessagePtr toolMessage(const QString &callId, const QString &name, const QString &text, ToolStatus status)
{
    Message message = textMessage(Role::Tool, text);
    message.toolCallId = callId;
    message.name = name;
    message.status = status;
    return makeMessage(std::move(message));
}

QString textOfContent(const Json &content)
{
    switch (content.type()) {
    case Json::value_t::null: return {};
    case Json::value_t::string: return textOf(content);
    case Json::value_t::array: break;
    default: return QString::fromUtf8(dumpJson(content)); // runtime.md conventions: anything else is stringified
    }
    QString text;
    bool first = true;
    for (const Json &block : content) {
        const QString piece = block.is_string() ? textOf(block) : stringOf(block, "text");
        if (piece.isEmpty())
            continue;
        if (!first)
            text += QLatin1Char('\n');
        first = false;
        text += piece;
    }
    return text;
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

qint64 estimateTokens(const Message &message)
{
    static constexpr qint64 perMessage = 4;
    static constexpr qint64 charactersPerToken = 4;
    qint64 characters = codePointCount(textOfContent(message.content)) + codePointCount(message.name);
    for (const ToolCall &call : message.toolCalls)
        characters += codePointCount(call.name) + codePointCount(QString::fromUtf8(dumpJson(call.args)));
    for (const InvalidToolCall &call : message.invalidToolCalls)
        characters += codePointCount(call.name) + codePointCount(textOfContent(call.args));
    return (characters + charactersPerToken - 1) / charactersPerToken + perMessage;
}

} // namespace paddock
