// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/title.h"

#include "core/base/text.h"
#include "core/middleware/message_edits.h"
#include "core/middleware/run_scope.h"

#include <algorithm>

namespace paddock {

namespace {

constexpr qsizetype longestLocal = 50;
constexpr qsizetype quotedChars = 500; ///< of each message, in the prompt
constexpr std::chrono::seconds longestModelCall{20};

QString withoutTrailingBlanks(const QString &text)
{
    const QString marked = QStringLiteral("x") + text;
    return pythonStrip(marked).sliced(1);
}

QString withoutThoughts(const QString &text)
{
    QString out;
    qsizetype at = 0;
    while (true) {
        const qsizetype begin = text.indexOf(QLatin1String("<think>"), at, Qt::CaseInsensitive);
        const qsizetype end = begin < 0 ? -1 : text.indexOf(QLatin1String("</think>"), begin, Qt::CaseInsensitive);
        if (end < 0)
            return pythonStrip(out + text.mid(at));
        out += QStringView(text).sliced(at, begin - at);
        at = end + 8;
    }
}

QString stripped(QString text, QChar quote)
{
    while (text.startsWith(quote))
        text.remove(0, 1);
    while (text.endsWith(quote))
        text.chop(1);
    return text;
}

QString wordsOf(const MessagePtr &human)
{
    const Json &original = memberOf(human->kwargs, "original_user_content");
    return original.is_string() ? textOf(original) : textOf(human);
}

QString firstAnswer(const AgentState &state)
{
    for (const MessagePtr &message : state.messages) {
        if (message->role == Role::Ai)
            return message->content.is_null() ? QString() : textOf(message);
    }
    return {};
}

} // namespace

std::optional<QString> titleSource(const AgentState &state)
{
    if (isTruthy(memberOf(state.channels, "title")))
        return std::nullopt;
    MessagePtr person;
    bool answered = false;
    for (const MessagePtr &message : state.messages) {
        answered = answered || message->role == Role::Ai;
        if (message->role != Role::Human || isTruthy(memberOf(message->kwargs, "dynamic_context_reminder")))
            continue;
        if (person)
            return std::nullopt;
        person = message;
    }
    if (!person || !answered)
        return std::nullopt;
    return wordsOf(person);
}

QString localTitle(const QString &text, int maxChars)
{
    const qsizetype longest = std::min<qsizetype>(maxChars, longestLocal);
    if (codePointCount(text) <= longest)
        return text.isEmpty() ? QStringLiteral("New Conversation") : text;
    const QString dots = QStringLiteral("...");
    const qsizetype body = std::max<qsizetype>(0, std::min(longest, maxChars - dots.size()));
    return withoutTrailingBlanks(firstCodePoints(text, body)) + dots;
}

QString titleFromReply(const QString &reply, int maxChars)
{
    const QString title = stripped(stripped(withoutThoughts(reply), u'"'), u'\'');
    return firstCodePoints(title, maxChars);
}

QString titlePrompt(const TitleOptions &options, const QString &user, const QString &assistant)
{
    const std::pair<QLatin1String, QString> pieces[] = {
        {QLatin1String("{{"), QStringLiteral("{")},
        {QLatin1String("}}"), QStringLiteral("}")},
        {QLatin1String("{max_words}"), QString::number(options.maxWords)},
        {QLatin1String("{user_msg}"), firstCodePoints(user, quotedChars)},
        {QLatin1String("{assistant_msg}"), firstCodePoints(assistant, quotedChars)}};
    QString out;
    const QStringView text(options.promptTemplate);
    for (qsizetype at = 0; at < text.size();) {
        const auto piece = std::ranges::find_if(pieces, [&](const auto &p) { return text.sliced(at).startsWith(p.first); });
        if (piece != std::end(pieces)) {
            out += piece->second;
            at += piece->first.size();
        } else {
            out += text.at(at++);
        }
    }
    return out;
}

Task<Result<StateUpdate>> TitleMiddleware::afterModel(AgentState state, RuntimePtr runtime)
{
    StateUpdate update;
    const auto source = titleSource(state);
    if (!source)
        co_return update;
    QString title;
    if (!m_options.modelName.isEmpty()) {
        const SideCall call{QStringLiteral("title"), m_options.modelName,
                            titlePrompt(m_options, *source, withoutThoughts(firstAnswer(state))), longestModelCall};
        const auto reply = co_await askAside(m_options.model, call, runtime);
        if (!reply && reply.error().isCancelled())
            co_return cancelled();
        if (reply)
            title = titleFromReply(*reply, m_options.maxChars);
    }
    const bool local = title.isEmpty();
    if (local)
        title = localTitle(*source, m_options.maxChars);
    update.channels["title"] = toUtf8(title);
    recordAct(*runtime, QStringLiteral("title"), *this, Hook::AfterModel, QStringLiteral("set"),
              Json{{"title", toUtf8(title)}, {"source", local ? "local" : "model"}});
    co_return update;
}

} // namespace paddock
