// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/chain.h"

#include <functional>

namespace paddock::test {

/// Runs a task to its end on a local loop (tests only).
template<typename T>
T awaited(Task<T> task)
{
    return QCoro::waitFor(std::move(task));
}

/// A clock that moves one microsecond each time it is looked at.
class TickingClock : public Clock
{
public:
    Wall wall() const override { return Wall{std::chrono::seconds(1796198400)}; } // 2026-12-02 08:00 UTC
    std::chrono::microseconds mono() const override { return std::chrono::microseconds(++m_ticks); }

private:
    mutable qint64 m_ticks = 0;
};

inline std::shared_ptr<Chain> compiled(std::vector<MiddlewarePtr> members)
{
    auto chain = Chain::compile(std::move(members));
    if (!chain)
        qFatal("%s", qPrintable(chain.error().message));
    return *chain;
}

inline RuntimePtr runtimeOn(const std::shared_ptr<EventBus> &bus, std::stop_token stop = {})
{
    auto runtime = std::make_shared<RuntimeContext>();
    runtime->values = Json{{"thread_id", "t1"}, {"run_id", "r1"}};
    if (bus)
        runtime->events = EventSink(bus, RunId(QStringLiteral("r1")), leadAgent());
    runtime->clock = std::make_shared<TickingClock>();
    runtime->stop = std::move(stop);
    runtime->turn = 1;
    return runtime;
}

/// A member whose hooks are given one by one; what is absent is not declared.
class Scripted : public Middleware
{
public:
    using Node = std::function<Result<StateUpdate>(AgentState, RuntimePtr)>;
    using WrapModel = std::function<Task<Result<ModelResponse>>(ModelCall, ModelNext)>;
    using WrapTool = std::function<Task<Result<ToolOutcome>>(ToolCallRequest, ToolNext)>;

    explicit Scripted(QString name) : m_name(std::move(name)) {}

    std::map<Hook, Node> nodes;
    WrapModel wrapModel;
    WrapTool wrapTool;
    std::vector<JumpTo> targets;

    QString name() const override { return m_name; }
    Hooks hooks() const override
    {
        Hooks hooks;
        for (const auto &[hook, fn] : nodes)
            hooks |= hook;
        if (wrapModel)
            hooks |= Hook::WrapModelCall;
        if (wrapTool)
            hooks |= Hook::WrapToolCall;
        return hooks;
    }
    std::vector<JumpTo> jumpTargets() const override { return targets; }
    Task<Result<StateUpdate>> beforeAgent(AgentState s, RuntimePtr r) override { co_return nodes[Hook::BeforeAgent](s, r); }
    Task<Result<StateUpdate>> beforeModel(AgentState s, RuntimePtr r) override { co_return nodes[Hook::BeforeModel](s, r); }
    Task<Result<StateUpdate>> afterModel(AgentState s, RuntimePtr r) override { co_return nodes[Hook::AfterModel](s, r); }
    Task<Result<StateUpdate>> afterAgent(AgentState s, RuntimePtr r) override { co_return nodes[Hook::AfterAgent](s, r); }
    Task<Result<ModelResponse>> wrapModelCall(ModelCall call, ModelNext next) override { return wrapModel(std::move(call), std::move(next)); }
    Task<Result<ToolOutcome>> wrapToolCall(ToolCallRequest request, ToolNext next) override { return wrapTool(std::move(request), std::move(next)); }

private:
    const QString m_name;
};

inline std::shared_ptr<Scripted> member(const char *name)
{
    return std::make_shared<Scripted>(QString::fromLatin1(name));
}

inline Task<Result<ModelResponse>> responding(MessagePtr message)
{
    co_return ModelResponse{{message}, {}};
}

inline ModelNext modelSaying(const QString &text)
{
    const MessagePtr message = aiMessage(text);
    return [message](ModelCall) { return responding(message); };
}

inline Task<Result<ToolOutcome>> outcomeOf(Result<ToolOutcome> outcome)
{
    co_return outcome;
}

inline ToolNext toolSaying(const QString &text)
{
    return [text](ToolCallRequest request) {
        return outcomeOf(toolMessage(request.context.call.id, request.context.call.name, text));
    };
}

inline ModelCall modelCall(const RuntimePtr &runtime, MessageList messages = {})
{
    ModelCall call;
    call.runtime = runtime;
    call.stop = runtime->stop;
    call.state.messages = messages;
    call.request.messages = std::move(messages);
    return call;
}

inline ToolCallRequest toolCall(const RuntimePtr &runtime, const QString &name, Json args = Json::object(), AgentState state = {})
{
    ToolCallRequest request;
    request.context.runtime = runtime;
    request.context.stop = runtime->stop;
    request.context.state = std::move(state);
    request.context.call = {name, std::move(args), QStringLiteral("c1")};
    return request;
}

inline std::vector<MiddlewareSpan> spansOf(EventQueue &queue)
{
    std::vector<MiddlewareSpan> spans;
    for (const auto &event : queue.drain()) {
        if (const auto *span = std::get_if<MiddlewareSpan>(&event->body))
            spans.push_back(*span);
    }
    return spans;
}

} // namespace paddock::test
