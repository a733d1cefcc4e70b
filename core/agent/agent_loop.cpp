// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/agent/agent_loop.h"

#include "core/base/text.h"
#include "core/middleware/route.h"

#include <algorithm>

namespace paddock {

namespace {

constexpr qsizetype maxPreviewChars = 400;
/// Jumps back to the model without a model call in between; more is a chain that never ends.
constexpr int maxIdleJumps = 100;

enum class Next { LoopEntry, Model, Tools, End, EndWithoutHooks, TurnLimit };

/// One invocation under way. Lives on one loop.
struct Invocation {
    AgentSpec spec;
    RuntimePtr runtime;
    AgentState state;
    EventSink base; ///< what the runtime's sink was at the start
    int turns = 0;
    int idleJumps = 0;
    Usage usage;
    std::vector<ToolCall> pending;

    void publish() const
    {
        if (spec.onState)
            spec.onState(state);
    }
    ToolPtr toolNamed(const QString &name) const
    {
        const auto it = std::ranges::find_if(spec.tools, [&](const ToolPtr &tool) { return tool->spec().name == name; });
        return it == spec.tools.end() ? nullptr : *it;
    }
    QString hashOf(const MessagePtr &message) const
    {
        return spec.blobs ? spec.blobs(message) : contentHash(message);
    }
    qint64 elapsedMs(std::chrono::microseconds since) const { return (runtime->clock->mono() - since).count() / 1000; }
};
using InvocationPtr = std::shared_ptr<Invocation>;

// ---- model

void tellRequest(const Invocation &self, const EventSink &events, SpanId span, const ModelRequest &request)
{
    if (!events.bus())
        return;
    ModelRequested told;
    told.turn = request.caller.turn;
    told.model = request.model;
    told.messages = int(request.messages.size());
    for (const ToolSpec &tool : request.tools)
        told.tools.append(tool.name);
    if (request.system)
        told.messageHashes.append(self.hashOf(request.system));
    for (const MessagePtr &message : request.messages)
        told.messageHashes.append(self.hashOf(message));
    events.emitEvent(std::move(told), span);
}

Error modelThrew(const char *what)
{
    return {ErrorCode::Internal, QString::fromUtf8(what), Json{{"cls", "Exception"}, {"exception", what}}, nullptr};
}

Task<Result<MessagePtr>> askModel(std::shared_ptr<ChatModel> model, ModelRequest request, DeltaSink onDelta, std::stop_token stop)
{
    try {
        Result<MessagePtr> reply = co_await model->complete(std::move(request), std::move(onDelta), std::move(stop));
        if (reply && !*reply)
            co_return fail(ErrorCode::Protocol, QStringLiteral("The model returned no message"), Json{{"cls", "EmptyGenerationError"}});
        co_return reply;
    } catch (const std::exception &e) {
        co_return fail(modelThrew(e.what()));
    } catch (...) {
        co_return fail(modelThrew("an exception of an unknown type"));
    }
}

void tellFailure(const ModelCall &call, const EventSink &events, SpanId span, int turn, int attempt, const Error &error)
{
    const QString cls = stringOf(error.details, "cls", errorCodeName(error.code));
    std::optional<qint64> retryInMs;
    if (const auto wait = call.retryIn && !error.isCancelled() ? call.retryIn(error) : std::nullopt)
        retryInMs = wait->count();
    events.emitEvent(ModelFailed{turn, error.isCancelled() ? QStringLiteral("Cancelled") : cls,
                                 error.fullMessage(), attempt, retryInMs},
                     span);
}

/// The core of the model call: what the chain wraps. Runs once per attempt.
Task<Result<ModelResponse>> modelCore(InvocationPtr self, std::shared_ptr<int> attempts, ModelCall call)
{
    const EventSink events = call.runtime->events.withParent(call.span);
    const SpanId span = events.newSpan();
    const int turn = call.request.caller.turn;
    const int attempt = ++*attempts;
    tellRequest(*self, events, span, call.request);
    const auto start = self->runtime->clock->mono();
    DeltaSink onDelta;
    if (events.bus())
        onDelta = [events, span, turn](const ModelDeltaPiece &piece) {
            events.emitEvent(ModelDelta{turn, piece.text, piece.reasoning}, span);
        };
    Result<MessagePtr> reply = co_await askModel(self->spec.model, std::move(call.request), std::move(onDelta), call.stop);
    if (!reply) {
        tellFailure(call, events, span, turn, attempt, reply.error());
        co_return fail(reply.error());
    }
    MessagePtr message = std::move(*reply);
    if (message->id.isEmpty())
        message = edited(message, [](Message &m) { m.id = newUuid(); });
    if (message->usage)
        self->usage += *message->usage;
    if (self->spec.blobs)
        self->spec.blobs(message);
    events.emitEvent(ModelResponded{turn, message->usage.value_or(Usage{}), stringOf(message->responseMetadata, "finish_reason"),
                                    self->elapsedMs(start), message},
                     span);
    if (self->spec.onReply)
        self->spec.onReply(message);
    co_return ModelResponse{{message}, {}};
}

ModelCall modelCallOf(const Invocation &self)
{
    ModelCall call;
    call.request.model = self.spec.modelName.isEmpty() ? self.spec.model->name() : self.spec.modelName;
    call.request.provider = self.spec.model->provider();
    call.request.system = self.spec.systemPrompt;
    call.request.messages = self.state.messages;
    for (const ToolPtr &tool : self.spec.tools)
        call.request.tools.push_back(tool->spec());
    call.request.caller = {self.base.run().value(), self.base.agent().value(), self.spec.subagentType, self.spec.prompt,
                           self.runtime->turn};
    call.state = self.state;
    call.runtime = self.runtime;
    call.stop = self.runtime->stop;
    call.span = self.runtime->events.parent();
    return call;
}

Result<bool> applyResponse(Invocation &self, ModelResponse response)
{
    StateUpdate update;
    update.messages = std::move(response.messages);
    auto next = applyUpdate(self.state, update);
    bool end = false;
    for (const Command &command : response.commands) {
        if (!next)
            break;
        next = applyUpdate(*next, command.update);
        end = end || command.end;
    }
    if (!next)
        return fail(next.error());
    self.state = std::move(*next);
    self.publish();
    return end;
}

// ---- tools

MessagePtr unknownTool(const Invocation &self, const ToolCall &call)
{
    QStringList names;
    for (const ToolPtr &tool : self.spec.tools)
        names.append(tool->spec().name);
    return toolMessage(call.id, call.name,
                       QStringLiteral("Error: %1 is not a valid tool, try one of [%2].").arg(call.name, names.join(u", ")),
                       ToolStatus::Error);
}

MessagePtr badArguments(const ToolCall &call, const Error &error)
{
    // The pieces come from outside, so they must not be taken for place marks of one another.
    return toolMessage(call.id, call.name,
                       QStringLiteral("Error invoking tool '") + call.name + QStringLiteral("' with kwargs ")
                           + QString::fromUtf8(dumpJson(call.args)) + QStringLiteral(" with error:\n ") + error.message
                           + QStringLiteral("\n Please fix the error and try again."),
                       ToolStatus::Error);
}

/// The core of a tool call. Unknown names and bad arguments are answered here (middleware-base §1.9).
Task<Result<ToolOutcome>> toolCore(InvocationPtr self, ToolCallRequest request)
{
    if (!request.tool)
        co_return ToolOutcome(unknownTool(*self, request.context.call));
    auto args = checkArguments(request.tool->spec(), request.context.call.args);
    if (!args)
        co_return ToolOutcome(badArguments(request.context.call, args.error()));
    request.context.call.args = std::move(*args);
    // The tool's own view of the runtime: its events lie under this call, and it ends with this batch.
    auto inner = std::make_shared<RuntimeContext>(*request.context.runtime);
    inner->events = inner->events.withParent(request.span);
    inner->stop = request.context.stop;
    request.context.runtime = std::move(inner);
    const ToolPtr tool = request.tool;
    co_return co_await tool->call(std::move(request.context));
}

/// The tool message of an outcome, completed where a tool left out whose answer it is.
MessagePtr answerOf(ToolOutcome &outcome, const ToolCall &call)
{
    const auto complete = [&](MessagePtr &message) {
        if (message->toolCallId == call.id && !message->name.isEmpty())
            return;
        message = edited(message, [&](Message &m) {
            m.toolCallId = call.id;
            if (m.name.isEmpty())
                m.name = call.name;
        });
    };
    if (auto *message = std::get_if<MessagePtr>(&outcome)) {
        if (!*message)
            *message = toolMessage(call.id, call.name, {});
        complete(*message);
        return *message;
    }
    for (MessagePtr &message : std::get<Command>(outcome).update.messages) {
        if (!message || message->role != Role::Tool || (!message->toolCallId.isEmpty() && message->toolCallId != call.id))
            continue;
        complete(message);
        return message;
    }
    return nullptr;
}

/// Why a call of this turn was cancelled.
QString whyCancelled(const Invocation &self)
{
    if (!self.runtime->stop.stop_requested())
        return QStringLiteral("Another call of the same turn failed.");
    const QString why = self.spec.whyStopped ? self.spec.whyStopped() : QString();
    return why.isEmpty() ? QStringLiteral("The agent was cancelled.") : why;
}

ToolFinished finishedTool(const Invocation &self, const ToolCall &call, Result<ToolOutcome> &outcome)
{
    ToolFinished told;
    told.call = call.id;
    told.name = call.name;
    if (!outcome) {
        told.status = outcome.error().isCancelled() ? QStringLiteral("cancelled") : QStringLiteral("error");
        told.preview = firstCodePoints(outcome.error().isCancelled() ? whyCancelled(self) : outcome.error().fullMessage(), maxPreviewChars);
        return told;
    }
    const MessagePtr answer = answerOf(*outcome, call);
    told.status = answer && answer->status == ToolStatus::Error ? QStringLiteral("error") : QStringLiteral("success");
    if (answer) {
        const QString text = textOf(answer);
        told.bytes = text.toUtf8().size();
        told.preview = firstCodePoints(text, maxPreviewChars);
        told.message = self.hashOf(answer);
    }
    return told;
}

Task<Result<ToolOutcome>> oneTool(InvocationPtr self, ToolCall call, std::stop_source batch)
{
    const EventSink events = self->runtime->events;
    const SpanId span = events.newSpan();
    events.emitEvent(ToolStarted{call.id, call.name, call.args, self->runtime->turn}, span);
    const auto start = self->runtime->clock->mono();
    ToolCallRequest request;
    request.tool = self->toolNamed(call.name);
    request.context = {self->runtime, self->state, call, batch.get_token()};
    request.span = span;
    Result<ToolOutcome> outcome = co_await self->spec.chain->runTool(std::move(request), [self](ToolCallRequest inner) {
        return toolCore(self, std::move(inner));
    });
    if (!outcome)
        batch.request_stop(); // a failure that leaves the outermost hook ends the batch (middleware-base §1.10)
    ToolFinished told = finishedTool(*self, call, outcome);
    told.durationMs = self->elapsedMs(start);
    events.emitEvent(std::move(told), span);
    co_return outcome;
}

/// All pending calls at once; their updates are applied together, in the order of the calls.
Task<Result<Next>> toolStep(InvocationPtr self)
{
    std::vector<Result<ToolOutcome>> outcomes;
    const std::vector<ToolCall> pending = std::exchange(self->pending, {});
    {
        std::stop_source batch;
        const std::stop_callback link(self->runtime->stop, [batch]() mutable { batch.request_stop(); });
        std::vector<Task<Result<ToolOutcome>>> tasks;
        for (const ToolCall &call : pending)
            tasks.push_back(oneTool(self, call, batch));
        outcomes = co_await whenAll(std::move(tasks));
    }
    const Error *failure = nullptr;
    for (const Result<ToolOutcome> &outcome : outcomes) {
        if (!outcome && (!failure || (failure->isCancelled() && !outcome.error().isCancelled())))
            failure = &outcome.error();
    }
    if (failure)
        co_return fail(*failure);
    Result<AgentState> next = self->state;
    bool end = false;
    for (Result<ToolOutcome> &outcome : outcomes) {
        StateUpdate update;
        if (auto *message = std::get_if<MessagePtr>(&*outcome)) {
            update.messages = {*message};
        } else {
            auto &command = std::get<Command>(*outcome);
            update = std::move(command.update);
            end = end || command.end;
        }
        next = applyUpdate(*next, update);
        if (!next)
            co_return fail(next.error());
    }
    self->state = std::move(*next);
    self->publish();
    const bool direct = !pending.empty() && std::ranges::all_of(pending, [&](const ToolCall &call) {
        const ToolPtr tool = self->toolNamed(call.name);
        return tool && tool->returnsDirectly();
    });
    if (end)
        co_return Next::EndWithoutHooks;
    co_return routeAfterTools(direct, false) == RouteTo::End ? Next::End : Next::LoopEntry;
}

// ---- the walk

Next nextOf(const Route &route, Invocation &self)
{
    self.pending = route.pending;
    switch (route.to) {
    case RouteTo::Tools: return Next::Tools;
    case RouteTo::LoopEntry: return Next::LoopEntry;
    case RouteTo::End: break;
    }
    return Next::End;
}

Next jumped(JumpTo jump, Invocation &self)
{
    RouteOptions options;
    options.jumpTo = jump;
    return nextOf(routeAfterModel(self.state.messages, options), self);
}

/// Runs the members of one node hook; where a jump leads, or `otherwise`.
Task<Result<Next>> nodeStep(InvocationPtr self, Hook hook, Next otherwise)
{
    if (!self->spec.chain->has(hook))
        co_return otherwise;
    auto result = co_await self->spec.chain->runNode(hook, self->state, self->runtime);
    if (!result)
        co_return fail(result.error());
    const bool changed = !result->state.messages.isSameAs(self->state.messages) || result->state.channels != self->state.channels;
    self->state = std::move(result->state);
    if (changed)
        self->publish();
    co_return result->jumpTo == JumpTo::None ? otherwise : jumped(result->jumpTo, *self);
}

Task<Result<Next>> loopEntry(InvocationPtr self)
{
    if (++self->idleJumps > maxIdleJumps)
        co_return fail(ErrorCode::Internal, QStringLiteral("The chain jumped %1 times without a model call").arg(maxIdleJumps));
    self->runtime->turn = self->turns + 1;
    self->runtime->events = self->base.withParent(self->base.newSpan());
    co_return co_await nodeStep(self, Hook::BeforeModel, Next::Model);
}

Task<Result<Next>> modelStep(InvocationPtr self)
{
    if (self->turns >= allowedModelCalls(self->spec.maxTurns))
        co_return Next::TurnLimit;
    ++self->turns;
    self->idleJumps = 0;
    const auto attempts = std::make_shared<int>(0);
    auto response = co_await self->spec.chain->runModel(modelCallOf(*self), [self, attempts](ModelCall call) {
        return modelCore(self, attempts, std::move(call));
    });
    if (!response)
        co_return fail(response.error());
    auto end = applyResponse(*self, std::move(*response));
    if (!end)
        co_return fail(end.error());
    if (*end)
        co_return Next::EndWithoutHooks;
    if (self->runtime->stop.stop_requested())
        co_return cancelled();
    // The route is read after the hooks ran, which may have answered or dropped calls.
    auto after = co_await nodeStep(self, Hook::AfterModel, Next::Model);
    if (!after || *after != Next::Model)
        co_return after;
    co_return nextOf(routeAfterModel(self->state.messages), *self);
}

Task<Result<Next>> step(InvocationPtr self, Next next)
{
    switch (next) {
    case Next::LoopEntry: return loopEntry(self);
    case Next::Model: return modelStep(self);
    case Next::Tools: return toolStep(self);
    case Next::End: return nodeStep(self, Hook::AfterAgent, Next::EndWithoutHooks);
    case Next::EndWithoutHooks:
    case Next::TurnLimit: break;
    }
    return [](Next same) -> Task<Result<Next>> { co_return same; }(next);
}

Task<Result<Next>> walk(InvocationPtr self)
{
    Result<Next> next = co_await nodeStep(self, Hook::BeforeAgent, Next::LoopEntry);
    while (next && *next != Next::EndWithoutHooks && *next != Next::TurnLimit) {
        if (self->runtime->stop.stop_requested())
            co_return cancelled();
        const bool last = *next == Next::End;
        next = co_await step(self, *next);
        if (last && next)
            co_return Next::EndWithoutHooks; // after_agent may not send us anywhere
    }
    co_return next;
}

Task<Result<Next>> guardedWalk(InvocationPtr self)
{
    try {
        co_return co_await walk(self);
    } catch (const std::exception &e) {
        co_return fail(ErrorCode::Internal, QStringLiteral("The agent failed: %1").arg(QString::fromUtf8(e.what())));
    } catch (...) {
        co_return fail(ErrorCode::Internal, QStringLiteral("The agent failed with an exception of an unknown type"));
    }
}

} // namespace

Task<Result<AgentOutcome>> runAgent(AgentSpec spec, AgentState initial, RuntimePtr runtime)
{
    auto self = std::make_shared<Invocation>();
    self->spec = std::move(spec);
    self->runtime = runtime;
    self->state = std::move(initial);
    self->base = runtime->events;
    const Result<Next> ended = co_await guardedWalk(self);
    runtime->events = self->base;
    const auto reason = self->spec.chain->consumeStopReason(stringOf(runtime->values, "run_id"));
    if (!ended)
        co_return fail(ended.error());
    AgentOutcome outcome;
    outcome.state = self->state;
    outcome.turns = self->turns;
    outcome.turnLimitHit = *ended == Next::TurnLimit;
    outcome.usage = self->usage;
    outcome.stopReason = reason;
    co_return outcome;
}

int allowedModelCalls(int maxTurns)
{
    return std::max(1, maxTurns);
}

int referenceStepLimit(int maxTurns, int loopHooks, int invocationHooks)
{
    return allowedModelCalls(maxTurns) * (loopHooks + 2) + invocationHooks;
}

} // namespace paddock
