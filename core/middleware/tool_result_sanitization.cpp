// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/tool_result_sanitization.h"

#include "core/middleware/framing.h"
#include "core/middleware/message_edits.h"

namespace paddock {

namespace {

/// The cleaned content; nullopt when it cannot be checked.
std::optional<Json> cleaned(const Json &content)
{
    if (content.is_string()) {
        const auto clean = framing::neutralize(textOf(content));
        return clean ? std::optional(toJson(clean->text)) : std::nullopt;
    }
    if (!content.is_array())
        return content;
    Json out = content;
    for (Json &block : out) {
        const bool text = block.is_object() && stringOf(block, "type") == u"text" && memberOf(block, "text").is_string();
        if (!block.is_string() && !text)
            continue;
        const auto clean = framing::neutralize(text ? stringOf(block, "text") : textOf(block));
        if (!clean)
            return std::nullopt;
        (text ? block["text"] : block) = toUtf8(clean->text);
    }
    return out;
}

MessagePtr withoutRemoteMarkup(const MessagePtr &message)
{
    if (message->role != Role::Tool)
        return message;
    std::optional<Json> content;
    try {
        content = cleaned(message->content);
    } catch (...) {
        content.reset();
    }
    if (content && *content == message->content)
        return message;
    return edited(message, [&content](Message &m) {
        m.content = content ? std::move(*content)
                            : Json("Error: tool result could not be sanitized and was withheld.");
        appendTransform(m.kwargs, QStringLiteral("untrusted_tags_neutralized"),
                        QStringLiteral("ToolResultSanitizationMiddleware"));
    });
}

} // namespace

bool ToolResultSanitizationMiddleware::covers(const QString &tool, bool fromMcp)
{
    static const QStringList web{QStringLiteral("web_fetch"), QStringLiteral("web_search"), QStringLiteral("image_search"),
                                 QStringLiteral("web_capture")};
    return fromMcp || web.contains(tool);
}

ToolOutcome ToolResultSanitizationMiddleware::sanitize(ToolOutcome outcome)
{
    if (const auto *message = std::get_if<MessagePtr>(&outcome))
        return withoutRemoteMarkup(*message);
    for (MessagePtr &message : std::get<Command>(outcome).update.messages)
        message = withoutRemoteMarkup(message);
    return outcome;
}

Task<Result<ToolOutcome>> ToolResultSanitizationMiddleware::wrapToolCall(ToolCallRequest request, ToolNext next)
{
    // No tool is MCP-sourced yet; when one is, its spec will say so and count here.
    const bool covered = covers(request.context.call.name, false);
    Result<ToolOutcome> outcome = co_await next(std::move(request));
    if (!outcome || !covered)
        co_return outcome;
    co_return sanitize(std::move(*outcome));
}

} // namespace paddock
