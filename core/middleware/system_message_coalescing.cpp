// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/system_message_coalescing.h"

#include "core/middleware/message_edits.h"

namespace paddock {

namespace {

bool isDateReminder(const MessagePtr &message)
{
    return isTruthy(memberOf(message->kwargs, "dynamic_context_reminder"));
}

/// Of several date reminders only the last one is still true.
std::vector<MessagePtr> withoutOldDates(const std::vector<MessagePtr> &parts)
{
    std::size_t last = parts.size();
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (isDateReminder(parts[i]))
            last = i;
    }
    std::vector<MessagePtr> kept;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (i == last || !isDateReminder(parts[i]))
            kept.push_back(parts[i]);
    }
    return kept;
}

} // namespace

bool SystemMessageCoalescingMiddleware::coalesce(ModelRequest &request)
{
    bool found = false;
    for (const MessagePtr &message : request.messages) {
        if (message->role == Role::System) {
            found = true;
            break;
        }
    }
    if (!found)
        return false;
    std::vector<MessagePtr> parts;
    std::vector<MessagePtr> rest;
    if (request.system)
        parts.push_back(request.system);
    for (const MessagePtr &message : request.messages)
        (message->role == Role::System ? parts : rest).push_back(message);
    parts = withoutOldDates(parts);

    Message merged;
    merged.role = Role::System;
    merged.id = parts.front()->id;
    merged.name = parts.front()->name;
    merged.responseMetadata = parts.front()->responseMetadata;
    QStringList texts;
    for (const MessagePtr &part : parts) {
        texts.append(textOfContent(part->content));
        if (!part->kwargs.is_object())
            continue;
        for (auto it = part->kwargs.begin(); it != part->kwargs.end(); ++it)
            merged.kwargs[it.key()] = it.value();
    }
    merged.content = toJson(texts.join(QStringLiteral("\n\n")));
    request.system = makeMessage(std::move(merged));
    request.messages = MessageList(rest);
    return true;
}

Task<Result<ModelResponse>> SystemMessageCoalescingMiddleware::wrapModelCall(ModelCall call, ModelNext next)
{
    coalesce(call.request);
    return next(std::move(call));
}

} // namespace paddock
