// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/llm/scripted_checks.h"

#include "core/base/text.h"
#include "core/llm/scenario_reader.h"

namespace paddock {

namespace {

constexpr qsizetype maxShown = 200;

QString shown(const QString &text)
{
    return u'"' + boundText(text, maxShown) + u'"';
}

QRegularExpression filledRegex(const QString &pattern, const NameLookup &lookup)
{
    return scenarioRegex(fillIn(pattern, [&](const QString &name) -> std::optional<QString> {
        const auto value = lookup(name);
        return value ? std::optional(QRegularExpression::escape(*value)) : std::nullopt;
    }));
}

/// The system message of the request and those that stand in its messages.
QString systemText(const ModelRequest &request)
{
    QStringList parts;
    if (request.system)
        parts.append(textOf(request.system));
    for (const MessagePtr &message : request.messages) {
        if (message->role == Role::System)
            parts.append(textOf(message));
    }
    return parts.join(u"\n\n");
}

/// What the person (or the delegating agent) said last; reminders of the framework are hidden messages.
QString lastUserText(const MessageList &messages)
{
    QString any;
    for (qsizetype i = messages.size() - 1; i >= 0; --i) {
        const MessagePtr &message = messages.at(i);
        if (message->role != Role::Human)
            continue;
        if (!boolOf(message->kwargs, "hide_from_ui"))
            return textOf(message);
        if (any.isEmpty())
            any = textOf(message);
    }
    return any;
}

QStringList toolNames(const ModelRequest &request)
{
    QStringList names;
    for (const ToolSpec &tool : request.tools)
        names.append(tool.name);
    return names;
}

std::optional<Divergence> checkTexts(const ScenarioExpect &expect, const ModelRequest &request, const NameLookup &lookup)
{
    const auto check = [&](const std::optional<QString> &pattern, const QString &text, const QString &what,
                           bool wanted) -> std::optional<Divergence> {
        if (!pattern || filledRegex(*pattern, lookup).match(text).hasMatch() == wanted)
            return std::nullopt;
        return Divergence{QStringLiteral("%1 %2 /%3/").arg(what, wanted ? QStringLiteral("to match") : QStringLiteral("not to match"), *pattern),
                          shown(text)};
    };
    if (auto d = check(expect.system, systemText(request), QStringLiteral("system"), true))
        return d;
    if (auto d = check(expect.notSystem, systemText(request), QStringLiteral("system"), false))
        return d;
    if (auto d = check(expect.lastUser, lastUserText(request.messages), QStringLiteral("last_user"), true))
        return d;
    const QString last = request.messages.isEmpty() ? QString() : textOf(request.messages.last());
    if (auto d = check(expect.lastMessage, last, QStringLiteral("last_message"), true))
        return d;
    for (const auto &[id, pattern] : expect.toolResults) {
        const auto text = toolResultText(request.messages, id);
        const QString what = QStringLiteral("tool_result of %1").arg(id);
        if (!text)
            return Divergence{what + QStringLiteral(" to match /%1/").arg(pattern), QStringLiteral("no result of that call")};
        if (auto d = check(pattern, *text, what, true))
            return d;
    }
    return std::nullopt;
}

} // namespace

std::optional<QString> toolResultText(const MessageList &messages, const QString &callId)
{
    for (qsizetype i = messages.size() - 1; i >= 0; --i) {
        const MessagePtr &message = messages.at(i);
        if (message->role == Role::Tool && message->toolCallId == callId)
            return textOf(message);
    }
    return std::nullopt;
}

std::optional<Divergence> checkExpectations(const ScenarioExpect &expect, const ModelRequest &request, const NameLookup &lookup)
{
    if (auto divergence = checkTexts(expect, request, lookup))
        return divergence;
    const QStringList names = toolNames(request);
    for (const QString &name : expect.tools) {
        if (!names.contains(name))
            return Divergence{QStringLiteral("the tool %1 to be bound").arg(name), names.join(u", ")};
    }
    for (const QString &name : expect.notTools) {
        if (names.contains(name))
            return Divergence{QStringLiteral("the tool %1 not to be bound").arg(name), names.join(u", ")};
    }
    const auto count = request.messages.size();
    if (expect.messagesMin && count < *expect.messagesMin)
        return Divergence{QStringLiteral("at least %1 messages").arg(*expect.messagesMin), QString::number(count)};
    if (expect.messagesMax && count > *expect.messagesMax)
        return Divergence{QStringLiteral("at most %1 messages").arg(*expect.messagesMax), QString::number(count)};
    return std::nullopt;
}

Result<QString> captureFrom(const QString &pattern, const QStringList &callIds, const ModelRequest &request,
                            const NameLookup &lookup)
{
    const QRegularExpression regex = filledRegex(pattern, lookup);
    QStringList seen;
    for (const QString &id : callIds) {
        const QString text = toolResultText(request.messages, id).value_or(QString());
        const auto match = regex.match(text);
        if (match.hasMatch())
            return match.captured(regex.captureCount() > 0 ? 1 : 0);
        seen.append(text);
    }
    return fail(ErrorCode::NotFound, shown(seen.join(u"\n")));
}

} // namespace paddock
