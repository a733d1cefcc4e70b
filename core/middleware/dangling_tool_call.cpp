// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/dangling_tool_call.h"

#include "core/base/text.h"

#include <QHash>
#include <QLoggingCategory>
#include <QSet>

namespace paddock {

namespace {

Q_LOGGING_CATEGORY(lcDangling, "paddock.middleware.dangling")

constexpr qsizetype maxErrorChars = 500;
constexpr auto unknownTool = "unknown_tool";

bool isUsable(const QString &text)
{
    return !pythonStrip(text).isEmpty();
}

/// A tool call on an ai message, whichever of its copies it comes from.
struct CallView {
    enum class Source { Call, Invalid, Raw } source;
    std::size_t position = 0;
    QString id;
    QString name;
    QString error; ///< invalid calls
};

const Json &rawCalls(const Message &ai)
{
    return memberOf(ai.kwargs, "tool_calls");
}

QString rawName(const Json &raw)
{
    const Json &function = memberOf(raw, "function");
    return function.is_object() ? stringOf(function, "name") : stringOf(raw, "name");
}

/// Raw copies count only where no parsed view exists (#4693: else one call would be answered twice).
std::vector<CallView> viewsOf(const Message &ai)
{
    std::vector<CallView> views;
    for (std::size_t i = 0; i < ai.toolCalls.size(); ++i)
        views.push_back({CallView::Source::Call, i, ai.toolCalls[i].id, ai.toolCalls[i].name, {}});
    for (std::size_t i = 0; i < ai.invalidToolCalls.size(); ++i) {
        const InvalidToolCall &call = ai.invalidToolCalls[i];
        views.push_back({CallView::Source::Invalid, i, call.id, call.name, call.error});
    }
    if (views.empty() && rawCalls(ai).is_array()) {
        const Json &raw = rawCalls(ai);
        for (std::size_t i = 0; i < raw.size(); ++i) {
            if (raw[i].is_object())
                views.push_back({CallView::Source::Raw, i, stringOf(raw[i], "id"), rawName(raw[i]), {}});
        }
    }
    return views;
}

void setId(Message &ai, const CallView &view, const QString &id)
{
    switch (view.source) {
    case CallView::Source::Call: ai.toolCalls[view.position].id = id; break;
    case CallView::Source::Invalid: ai.invalidToolCalls[view.position].id = id; break;
    case CallView::Source::Raw: ai.kwargs["tool_calls"][view.position]["id"] = toUtf8(id); break;
    }
}

QString sourceName(CallView::Source source)
{
    switch (source) {
    case CallView::Source::Call: return QStringLiteral("call");
    case CallView::Source::Invalid: return QStringLiteral("invalid");
    case CallView::Source::Raw: return QStringLiteral("raw");
    }
    return {};
}

// --- step 1: ids ---------------------------------------------------------------------------------------------------

struct Relabelled {
    QString originalId;
    QString newId;
    QString name;
};

bool namesAgree(const QString &a, const QString &b)
{
    const QString left = pythonStrip(a);
    const QString right = pythonStrip(b);
    return left.isEmpty() || right.isEmpty() || left == right;
}

class IdRepair
{
public:
    explicit IdRepair(std::vector<MessagePtr> &messages) : m_messages(messages) {}

    void run()
    {
        for (std::size_t i = 0; i < m_messages.size(); ++i) {
            if (m_messages[i]->role == Role::Ai)
                relabel(i);
            else if (m_messages[i]->role == Role::Tool && !isUsable(m_messages[i]->toolCallId))
                adopt(i);
        }
    }

private:
    void relabel(std::size_t index)
    {
        m_open.clear();
        for (const CallView &view : viewsOf(*m_messages[index])) {
            if (isUsable(view.id))
                continue;
            const QString id = QStringLiteral("deerflow_synthetic_tool_call_%1_%2_%3")
                                   .arg(index)
                                   .arg(sourceName(view.source))
                                   .arg(view.position);
            m_messages[index] = edited(m_messages[index], [&](Message &ai) { setId(ai, view, id); });
            m_open.push_back({view.id, id, view.name});
        }
        std::size_t malformed = 0;
        for (std::size_t i = index + 1; i < m_messages.size() && m_messages[i]->role != Role::Ai; ++i) {
            if (m_messages[i]->role == Role::Tool && !isUsable(m_messages[i]->toolCallId))
                ++malformed;
        }
        m_positional = malformed == m_open.size();
    }

    /// Gives a result without a usable id to the one call of this turn that it can belong to.
    void adopt(std::size_t index)
    {
        const MessagePtr result = m_messages[index];
        std::vector<std::size_t> candidates;
        for (std::size_t c = 0; c < m_open.size(); ++c) {
            if (m_open[c].originalId == result->toolCallId && namesAgree(m_open[c].name, result->name))
                candidates.push_back(c);
        }
        if (candidates.empty() || (candidates.size() > 1 && !m_positional))
            return;
        const auto place = m_open.begin() + std::ptrdiff_t(candidates.front());
        m_messages[index] = edited(result, [&](Message &message) { message.toolCallId = place->newId; });
        m_open.erase(place);
    }

    std::vector<MessagePtr> &m_messages;
    std::vector<Relabelled> m_open;
    bool m_positional = false;
};

// --- step 2: pairing -------------------------------------------------------------------------------------------------

struct OpenCall {
    std::size_t ai = 0;
    CallView view;
    qsizetype result = -1;
};

std::vector<OpenCall> pair(const std::vector<MessagePtr> &messages)
{
    std::vector<OpenCall> calls;
    std::vector<std::size_t> leftOver;
    std::size_t turn = 0; // calls[turn…] belong to the most recent ai message
    for (std::size_t i = 0; i < messages.size(); ++i) {
        if (messages[i]->role == Role::Ai) {
            turn = calls.size();
            for (CallView &view : viewsOf(*messages[i]))
                calls.push_back({i, std::move(view), -1});
        } else if (messages[i]->role == Role::Tool) {
            bool taken = false;
            for (std::size_t c = turn; c < calls.size() && !taken; ++c) {
                if (calls[c].result < 0 && calls[c].view.id == messages[i]->toolCallId) {
                    calls[c].result = qsizetype(i);
                    taken = true;
                }
            }
            if (!taken)
                leftOver.push_back(i);
        }
    }
    QHash<QString, std::vector<std::size_t>> unanswered; // by id, in order, reversed below for cheap taking
    for (std::size_t c = calls.size(); c-- > 0;) {
        if (calls[c].result < 0)
            unanswered[calls[c].view.id].push_back(c);
    }
    for (const std::size_t index : leftOver) {
        const auto waiting = unanswered.find(messages[index]->toolCallId);
        if (waiting == unanswered.end() || waiting->empty())
            continue;
        calls[waiting->back()].result = qsizetype(index);
        waiting->pop_back();
    }
    return calls;
}

// --- step 3: placeholders and answers --------------------------------------------------------------------------------

QString placeholderText(const CallView &view)
{
    if (!isUsable(view.name))
        return QStringLiteral("[Tool call could not be executed because its name was missing or empty. Use one of the "
                              "available tool names when retrying.]");
    if (view.source != CallView::Source::Invalid)
        return QStringLiteral("[Tool call was interrupted and did not return a result.]");
    const QString error = firstCodePoints(view.error, maxErrorChars);
    if (pythonStrip(view.name) == u"write_file") {
        QString text = QStringLiteral(
            "[write_file failed before execution: the tool-call arguments were not valid JSON, so no file was written. "
            "The usual cause is one very large content argument with unescaped quotes, backslashes or code fences. Do not "
            "retry the same payload: give the content as a normal assistant message, or split later writes into smaller "
            "sections.");
        if (!error.isEmpty())
            text += QStringLiteral(" Parser error: ") + error;
        return text + QLatin1Char(']');
    }
    if (error.isEmpty())
        return QStringLiteral("[Tool call could not be executed because its arguments were invalid.]");
    return QStringLiteral("[Tool call could not be executed because its arguments were invalid: %1]").arg(error);
}

QString normalizedName(const QString &name)
{
    const QString trimmed = pythonStrip(name);
    return trimmed.isEmpty() ? QString::fromLatin1(unknownTool) : trimmed;
}

MessagePtr answerFor(const OpenCall &call, const std::vector<MessagePtr> &messages)
{
    if (call.result < 0)
        return toolMessage(call.view.id, normalizedName(call.view.name), placeholderText(call.view), ToolStatus::Error);
    const MessagePtr &result = messages[std::size_t(call.result)];
    if (isUsable(call.view.name) || isUsable(result->name))
        return result;
    return edited(result, [&call](Message &message) { message.name = normalizedName(call.view.name); });
}

// --- step 4: one ai message ------------------------------------------------------------------------------------------

/// An object as JSON text; text that holds an object stays; anything else becomes "{}".
Json safeArguments(const Json &args)
{
    if (args.is_object())
        return Json(dumpJson(args).toStdString());
    if (args.is_string()) {
        const auto parsed = parseJson(QByteArray::fromStdString(args.get_ref<const std::string &>()));
        if (parsed && parsed->is_object())
            return args;
    }
    return Json("{}");
}

void sanitizeRaw(Json &raw)
{
    if (!raw.is_object())
        return;
    Json &holder = memberOf(raw, "function").is_object() ? raw["function"] : raw;
    const QString name = stringOf(holder, "name");
    if (name != normalizedName(name))
        holder["name"] = toUtf8(normalizedName(name));
    if (&holder != &raw)
        holder["arguments"] = safeArguments(memberOf(holder, "arguments"));
}

MessagePtr withReadableCalls(const MessagePtr &ai)
{
    Message copy = *ai;
    for (ToolCall &call : copy.toolCalls)
        call.name = normalizedName(call.name);
    for (InvalidToolCall &call : copy.invalidToolCalls) {
        call.name = normalizedName(call.name);
        call.args = safeArguments(call.args);
    }
    if (rawCalls(copy).is_array()) {
        for (Json &raw : copy.kwargs["tool_calls"])
            sanitizeRaw(raw);
    }
    return copy == *ai ? ai : makeMessage(std::move(copy));
}

// --- the whole list --------------------------------------------------------------------------------------------------

/// The usual case, told without copying anything: each ai message is followed by exactly its results, in order.
bool isWellFormed(const MessageList &messages)
{
    qsizetype i = 0;
    const qsizetype size = messages.size();
    while (i < size) {
        const Message &message = *messages.at(i);
        ++i;
        if (message.role == Role::Tool)
            return false; // no call stands directly before it
        if (message.role != Role::Ai)
            continue;
        if (!message.invalidToolCalls.empty() || !rawCalls(message).is_null())
            return false; // the full walk decides
        for (const ToolCall &call : message.toolCalls) {
            if (!isUsable(call.id) || call.name.isEmpty() || call.name != pythonStrip(call.name) || i == size)
                return false;
            const Message &result = *messages.at(i);
            if (result.role != Role::Tool || result.toolCallId != call.id)
                return false;
            ++i;
        }
    }
    return true;
}

} // namespace

MessageList DanglingToolCallMiddleware::patch(const MessageList &messages)
{
    if (isWellFormed(messages))
        return messages;
    std::vector<MessagePtr> list = messages.toVector();
    IdRepair(list).run();
    const std::vector<OpenCall> calls = pair(list);
    std::vector<MessagePtr> out;
    std::size_t next = 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (list[i]->role == Role::Tool)
            continue; // re-emitted behind its call, or dropped
        if (list[i]->role != Role::Ai) {
            out.push_back(list[i]);
            continue;
        }
        out.push_back(withReadableCalls(list[i]));
        for (; next < calls.size() && calls[next].ai == i; ++next)
            out.push_back(answerFor(calls[next], list));
    }
    bool same = qsizetype(out.size()) == messages.size();
    for (qsizetype i = 0; same && i < messages.size(); ++i)
        same = out[std::size_t(i)] == messages.at(i) || *out[std::size_t(i)] == *messages.at(i);
    return same ? messages : MessageList(out);
}

Task<Result<ModelResponse>> DanglingToolCallMiddleware::wrapModelCall(ModelCall call, ModelNext next)
{
    try {
        MessageList patched = patch(call.request.messages);
        if (!patched.isSameAs(call.request.messages)) {
            qCWarning(lcDangling, "repaired the history of a request: %lld messages became %lld",
                      qlonglong(call.request.messages.size()), qlonglong(patched.size()));
            call.request.messages = std::move(patched);
        }
    } catch (const std::exception &e) {
        qCWarning(lcDangling, "the history could not be checked and is sent as it is: %s", e.what());
    }
    return next(std::move(call));
}

} // namespace paddock
