// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/input_sanitization.h"

#include "core/middleware/framing.h"
#include "core/middleware/message_edits.h"

#include <QLoggingCategory>

namespace paddock {

namespace {

Q_LOGGING_CATEGORY(lcInput, "paddock.middleware.input")

constexpr std::size_t maxRemembered = 1024;
constexpr auto originalKey = "original_user_content";

bool isTextBlock(const Json &block)
{
    return block.is_string() || stringOf(block, "type") == u"text";
}

QString blockText(const Json &block)
{
    return block.is_string() ? textOf(block) : stringOf(block, "text");
}

/// String content, or the bare strings and non-empty text blocks of a list, joined by newlines; nullopt without text.
std::optional<QString> userText(const Json &content)
{
    if (content.is_string())
        return textOf(content);
    QStringList texts;
    if (content.is_array()) {
        for (const Json &block : content) {
            if (isTextBlock(block) && !blockText(block).isEmpty())
                texts.append(blockText(block));
        }
    }
    return texts.isEmpty() ? std::nullopt : std::optional(texts.join(u'\n'));
}

/// One text block at the place of the first non-empty one, the other non-empty ones gone, everything else kept in order.
Json withText(const Json &content, const QString &text)
{
    if (!content.is_array())
        return toJson(text);
    Json out = Json::array();
    bool placed = false;
    for (const Json &block : content) {
        if (!isTextBlock(block) || blockText(block).isEmpty()) {
            out.push_back(block);
            continue;
        }
        if (!placed)
            out.push_back(Json{{"type", "text"}, {"text", toUtf8(text)}});
        placed = true;
    }
    return out;
}

/// Block 0 belongs to the server (uploads); the texts behind it are neutralized, not framed.
Result<Json> neutralizedTail(const Json &content)
{
    Json out = content;
    for (std::size_t i = 1; i < out.size(); ++i) {
        if (!isTextBlock(out[i]))
            continue;
        const auto clean = framing::neutralize(blockText(out[i]));
        if (!clean)
            return std::unexpected(clean.error());
        if (out[i].is_string())
            out[i] = toUtf8(clean->text);
        else
            out[i]["text"] = toUtf8(clean->text);
    }
    return out;
}

/// The new content; equal to the old one when there is nothing to do.
Result<Json> sanitizedContent(const Message &message, const QString &text)
{
    const Json &stored = memberOf(message.kwargs, originalKey);
    if (stored.is_string()) {
        const QString original = textOf(stored);
        if (original.isEmpty())
            return message.content; // an upload without text
        const auto framed = framing::frame(original);
        if (!framed)
            return std::unexpected(framed.error());
        if (*framed == original || text.endsWith(*framed)) // the second: sanitized before, as a replayed request is
            return message.content;
        const qsizetype at = text.lastIndexOf(original);
        if (at >= 0)
            return withText(message.content, text.left(at) + *framed);
        if (message.content.is_array() && message.content.size() >= 2)
            return neutralizedTail(message.content);
    }
    const auto framed = framing::frame(text);
    if (!framed)
        return std::unexpected(framed.error());
    return *framed == text ? message.content : withText(message.content, *framed);
}

Result<MessagePtr> framedInput(const MessagePtr &message)
{
    const std::optional<QString> text = userText(message->content);
    if (!text)
        return message;
    Result<Json> content = sanitizedContent(*message, *text);
    if (!content)
        return std::unexpected(content.error());
    if (*content == message->content)
        return message;
    return edited(message, [&](Message &m) {
        if (!m.kwargs.is_object())
            m.kwargs = Json::object();
        if (!memberOf(m.kwargs, originalKey).is_string())
            m.kwargs[originalKey] = toUtf8(textOfContent(m.content));
        m.content = std::move(*content);
    });
}

} // namespace

Result<MessageList> InputSanitizationMiddleware::sanitize(const MessageList &messages)
{
    MessageList out = messages;
    for (qsizetype i = 0; i < messages.size(); ++i) {
        const MessagePtr &message = messages.at(i);
        if (!needsSanitization(*message))
            continue;
        Framed &known = m_framed[message.get()];
        if (known.original.lock() != message) {
            Result<MessagePtr> clean = framedInput(message);
            if (!clean)
                return std::unexpected(clean.error());
            known = {message, std::move(*clean)};
        }
        if (known.clean != message)
            out.replace(i, known.clean);
    }
    if (m_framed.size() > maxRemembered)
        std::erase_if(m_framed, [](const auto &entry) { return entry.second.original.expired(); });
    return out;
}

Task<Result<ModelResponse>> InputSanitizationMiddleware::wrapModelCall(ModelCall call, ModelNext next)
{
    try {
        Result<MessageList> clean = sanitize(call.request.messages);
        if (clean)
            call.request.messages = std::move(*clean);
        else
            qCWarning(lcInput, "user text could not be framed and is sent as it is: %s", qPrintable(clean.error().message));
    } catch (const std::exception &e) {
        qCWarning(lcInput, "user text could not be framed and is sent as it is: %s", e.what());
    }
    return next(std::move(call));
}

} // namespace paddock
