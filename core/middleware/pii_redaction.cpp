// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/pii_redaction.h"

#include "core/base/run_on.h"
#include "core/middleware/message_edits.h"
#include "core/middleware/tool_result_sanitization.h"

#include <QLoggingCategory>

namespace paddock {

namespace {

Q_LOGGING_CATEGORY(lcPii, "paddock.middleware.pii")

constexpr auto piiOriginalKey = "original_user_content";
constexpr std::size_t poolRedactBytes = 256 * 1024; ///< larger messages are searched on the pool

bool isPiiText(const Json &block)
{
    return block.is_string() || (block.is_object() && memberOf(block, "text").is_string());
}

std::size_t textBytes(const Json &content)
{
    if (content.is_string())
        return content.get_ref<const std::string &>().size();
    std::size_t bytes = 0;
    for (const Json &block : content.is_array() ? content : Json::array()) {
        if (isPiiText(block))
            bytes += textBytes(block.is_string() ? block : memberOf(block, "text"));
    }
    return bytes;
}

/// The texts of one message, edited in place.
class MessageTexts
{
public:
    MessageTexts(Message &message)
    {
        if (message.content.is_string())
            m_texts.push_back(&message.content);
        else if (message.content.is_array()) {
            for (Json &block : message.content) {
                if (isPiiText(block))
                    m_texts.push_back(block.is_string() ? &block : &block["text"]);
            }
        }
        if (memberOf(message.kwargs, piiOriginalKey).is_string()) // never sent, but shown by traces
            m_texts.push_back(&message.kwargs[piiOriginalKey]);
    }
    const std::vector<Json *> &all() const { return m_texts; }

private:
    std::vector<Json *> m_texts;
};

/// All or nothing: an Error leaves the texts half edited.
Result<QMap<QString, int>> redactTexts(const PiiRedactionMiddleware::Redactor &redactor, const MessageTexts &texts)
{
    QMap<QString, int> counts;
    try {
        for (Json *text : texts.all()) {
            const Result<RedactedText> result = redactor(textOf(*text));
            if (!result)
                return std::unexpected(result.error());
            if (result->counts.isEmpty())
                continue;
            *text = toUtf8(result->text);
            for (auto it = result->counts.cbegin(); it != result->counts.cend(); ++it)
                counts[it.key()] += it.value();
        }
    } catch (const std::exception &e) {
        return fail(ErrorCode::Internal, QString::fromUtf8(e.what()));
    }
    return counts;
}

QString countsText(const QMap<QString, int> &counts)
{
    QStringList parts;
    for (auto it = counts.cbegin(); it != counts.cend(); ++it)
        parts.append(it.key() + QStringLiteral(" %1").arg(it.value()));
    return parts.join(QLatin1String(", "));
}

} // namespace

PiiRedactionMiddleware::PiiRedactionMiddleware(PiiOptions options)
    : PiiRedactionMiddleware(options, [options](const QString &text) { return redactPii(text, options); })
{
}

PiiRedactionMiddleware::PiiRedactionMiddleware(PiiOptions options, Redactor redactor)
    : m_rules(std::make_shared<const Rules>(Rules{std::move(redactor), options.failClosed}))
{
}

PiiRedactionMiddleware::Redacted PiiRedactionMiddleware::redactedMessage(const Rules &rules, const MessagePtr &message)
{
    Message copy = *message;
    const MessageTexts texts(copy);
    const Result<QMap<QString, int>> counts = redactTexts(rules.redactor, texts);
    if (counts)
        return counts->isEmpty() ? Redacted{message, {}} : Redacted{makeMessage(std::move(copy)), *counts};
    qCWarning(lcPii, "a message could not be searched and is %s: %ls", rules.failClosed ? "withheld" : "passed on",
              qUtf16Printable(counts.error().message));
    if (!rules.failClosed)
        return {message, {}};
    for (Json *text : texts.all())
        *text = withheldText;
    return {makeMessage(std::move(copy)), {}};
}

Task<MessagePtr> PiiRedactionMiddleware::redacted(std::shared_ptr<const Rules> rules, RuntimePtr runtime, MessagePtr message)
{
    Redacted result;
    if (textBytes(message->content) > poolRedactBytes)
        result = co_await runOnPool([rules, message] { return redactedMessage(*rules, message); });
    else
        result = redactedMessage(*rules, message);
    if (!result.counts.isEmpty()) {
        LogRecorded log;
        log.level = QStringLiteral("debug");
        log.text = QStringLiteral("pii_redaction: ") + countsText(result.counts);
        runtime->events.emitEvent(std::move(log));
    }
    co_return result.message;
}

Task<Result<ModelResponse>> PiiRedactionMiddleware::wrapModelCall(ModelCall call, ModelNext next)
{
    const std::shared_ptr<const Rules> rules = m_rules;
    const MessageList messages = call.request.messages;
    for (qsizetype i = 0; i < messages.size(); ++i) {
        const MessagePtr message = messages.at(i);
        if (!needsSanitization(*message))
            continue;
        const MessagePtr clean = co_await redacted(rules, call.runtime, message);
        if (clean != message)
            call.request.messages.replace(i, clean);
    }
    co_return co_await next(std::move(call));
}

Task<Result<ToolOutcome>> PiiRedactionMiddleware::wrapToolCall(ToolCallRequest request, ToolNext next)
{
    const std::shared_ptr<const Rules> rules = m_rules;
    const RuntimePtr runtime = request.context.runtime;
    const bool covered = ToolResultSanitizationMiddleware::covers(request.context.call.name, false); // no MCP tools yet, as there
    Result<ToolOutcome> outcome = co_await next(std::move(request));
    if (!outcome || !covered)
        co_return outcome;
    std::vector<MessagePtr *> results;
    if (auto *message = std::get_if<MessagePtr>(&*outcome)) {
        results.push_back(message);
    } else {
        for (MessagePtr &message : std::get<Command>(*outcome).update.messages)
            results.push_back(&message);
    }
    for (MessagePtr *message : results) {
        if ((*message)->role != Role::Tool)
            continue;
        const MessagePtr clean = co_await redacted(rules, runtime, *message);
        if (clean == *message)
            continue;
        *message = edited(clean, [](Message &m) {
            appendTransform(m.kwargs, QStringLiteral("pii_redaction"), QStringLiteral("PiiRedactionMiddleware"));
        });
    }
    co_return outcome;
}

} // namespace paddock
