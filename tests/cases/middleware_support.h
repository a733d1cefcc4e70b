// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/chain.h"
#include "tests/cases/case_registry.h"

namespace paddock::cases {

inline Verdict verdictOf(const QString &problem)
{
    return problem.isEmpty() ? passed() : failed(problem);
}

/// Runs a task to its end on a local loop (tests only).
template<typename T>
T awaited(Task<T> task)
{
    return QCoro::waitFor(std::move(task));
}

inline Result<MessageList> messageListOf(const Json &list)
{
    std::vector<MessagePtr> messages;
    for (const Json &item : list) {
        auto message = messageFromJson(item);
        if (!message)
            return std::unexpected(message.error());
        messages.push_back(makeMessage(std::move(*message)));
    }
    return MessageList(messages);
}

template<typename List>
Json messagesToJson(const List &messages)
{
    Json out = Json::array();
    for (const MessagePtr &message : messages)
        out.push_back(messageToJson(*message));
    return out;
}

inline RuntimePtr plainRuntime(Json values = Json::object())
{
    auto runtime = std::make_shared<RuntimeContext>();
    runtime->values = std::move(values);
    return runtime;
}

inline ToolCallRequest toolRequest(RuntimePtr runtime, ToolCall call, AgentState state = {})
{
    ToolCallRequest request;
    request.context.runtime = std::move(runtime);
    request.context.state = std::move(state);
    request.context.call = std::move(call);
    return request;
}

inline Result<std::shared_ptr<Chain>> chainOf(std::vector<MiddlewarePtr> members)
{
    return Chain::compile(std::move(members));
}

/// A tool core that answers with what `answer` makes; nothing it captures is needed after the call starts.
inline ToolNext toolCore(std::function<Result<ToolOutcome>(ToolCallRequest)> answer)
{
    return [answer = std::move(answer)](ToolCallRequest request) -> Task<Result<ToolOutcome>> {
        return [](Result<ToolOutcome> result) -> Task<Result<ToolOutcome>> { co_return result; }(answer(std::move(request)));
    };
}

} // namespace paddock::cases
