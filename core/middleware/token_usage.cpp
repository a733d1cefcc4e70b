// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/token_usage.h"

#include "core/middleware/message_edits.h"
#include "core/middleware/usage_attribution.h"

#include <algorithm>
#include <limits>
#include <map>

namespace paddock {

namespace {

constexpr const char *attributedKey = "subagent_token_usage_attributed";
constexpr const char *attributionKey = "token_usage_attribution";

/// Three counts that are whole and not negative; anything else is no report.
std::optional<Usage> reportedUsage(const Message &tool)
{
    if (isTruthy(memberOf(tool.kwargs, attributedKey)))
        return std::nullopt;
    const Json &report = memberOf(tool.kwargs, "subagent_token_usage");
    Usage usage;
    for (const auto &[key, count] : {std::pair("input_tokens", &usage.input), std::pair("output_tokens", &usage.output),
                                     std::pair("total_tokens", &usage.total)}) {
        const auto value = optionalInt(report, key);
        if (!value || *value < 0 || *value > std::numeric_limits<qint64>::max() / 4)
            return std::nullopt;
        *count = *value;
    }
    return usage;
}

/// The answer before `place` that made the call; -1 when it is gone.
qsizetype dispatcherOf(const MessageList &messages, qsizetype place, const QString &call)
{
    for (qsizetype i = place - 1; i >= 0; --i) {
        if (std::ranges::any_of(messages.at(i)->toolCalls, [&call](const ToolCall &c) { return c.id == call; }))
            return i;
    }
    return -1;
}

/// Edits by the place of the message.
using Edits = std::map<qsizetype, MessagePtr>;

const MessagePtr &current(const Edits &edits, const MessageList &messages, qsizetype place)
{
    const auto known = edits.find(place);
    return known == edits.end() ? messages.at(place) : known->second;
}

/// What the tool results right before the newest answer report.
void addReports(const MessageList &messages, Edits &edits)
{
    for (qsizetype i = messages.size() - 2; i >= 0 && messages.at(i)->role == Role::Tool && !messages.at(i)->toolCallId.isEmpty(); --i) {
        const auto usage = reportedUsage(*messages.at(i));
        const qsizetype from = usage ? dispatcherOf(messages, i, messages.at(i)->toolCallId) : -1;
        if (from < 0)
            continue;
        edits[from] = edited(current(edits, messages, from), [&usage](Message &message) {
            Usage sum = message.usage.value_or(Usage{});
            sum += *usage;
            message.usage = sum;
        });
        edits[i] = edited(messages.at(i), [](Message &message) { message.kwargs[attributedKey] = true; });
    }
}

} // namespace

Task<Result<StateUpdate>> TokenUsageMiddleware::afterModel(AgentState state, RuntimePtr)
{
    StateUpdate update;
    if (state.messages.isEmpty())
        co_return update;
    Edits edits;
    addReports(state.messages, edits);
    const MessagePtr last = state.messages.last();
    if (last->role == Role::Ai) {
        const Json attribution = usageAttribution(*last, memberOf(state.channels, "todos"));
        if (memberOf(last->kwargs, attributionKey) != attribution) {
            edits[state.messages.size() - 1] = edited(last, [&attribution](Message &message) {
                if (!message.kwargs.is_object())
                    message.kwargs = Json::object();
                message.kwargs[attributionKey] = attribution;
            });
        }
    }
    for (const auto &[place, message] : edits)
        update.messages.push_back(message);
    co_return update;
}

} // namespace paddock
