// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/route.h"

#include <QSet>

namespace paddock {

std::vector<ToolCall> pendingCalls(const MessageList &messages, const QStringList &structuredTools)
{
    QSet<QString> answered;
    for (qsizetype i = messages.size() - 1; i >= 0; --i) {
        const MessagePtr &message = messages.at(i);
        if (message->role == Role::Tool)
            answered.insert(message->toolCallId);
        if (message->role != Role::Ai)
            continue;
        std::vector<ToolCall> pending;
        for (const ToolCall &call : message->toolCalls) {
            if (!answered.contains(call.id) && !structuredTools.contains(call.name))
                pending.push_back(call);
        }
        return pending;
    }
    return {};
}

Route routeAfterModel(const MessageList &messages, const RouteOptions &options)
{
    switch (options.jumpTo) {
    case JumpTo::Model: return {RouteTo::LoopEntry, {}};
    case JumpTo::End: return {RouteTo::End, {}};
    case JumpTo::Tools: return {RouteTo::Tools, pendingCalls(messages, options.structuredTools)};
    case JumpTo::None: break;
    }
    const MessagePtr *last = nullptr;
    for (qsizetype i = messages.size() - 1; i >= 0 && last == nullptr; --i) {
        if (messages.at(i)->role == Role::Ai)
            last = &messages.at(i);
    }
    if (last == nullptr || (*last)->toolCalls.empty())
        return {RouteTo::End, {}};
    std::vector<ToolCall> pending = pendingCalls(messages, options.structuredTools);
    if (!pending.empty())
        return {RouteTo::Tools, std::move(pending)};
    return {options.structuredResponse ? RouteTo::End : RouteTo::LoopEntry, {}};
}

RouteTo routeAfterTools(bool allReturnDirect, bool commandEnd)
{
    return allReturnDirect || commandEnd ? RouteTo::End : RouteTo::LoopEntry;
}

} // namespace paddock
