// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/chain.h"

#include <QSet>

#include <algorithm>
#include <array>
#include <bit>
#include <cxxabi.h>
#include <cstdlib>
#include <optional>

namespace paddock {

struct Chain::Compiled {
    std::vector<MiddlewarePtr> members;
    std::array<std::vector<int>, 6> order; ///< per hook: indices of members, in the order they run
    std::shared_ptr<Tracer> tracer;        ///< its hash table changes; the chain's loop is the only user

    const std::vector<int> &of(Hook hook) const { return order[std::size_t(std::countr_zero(unsigned(hook)))]; }
};

namespace {

using Compiled = Chain::Compiled;

QString demangled(const char *name)
{
    int status = 0;
    std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
    QString type = QString::fromUtf8(status == 0 ? text.get() : name);
    return type.mid(type.lastIndexOf(QLatin1String("::")) + (type.contains(QLatin1String("::")) ? 2 : 0));
}

struct Thrown {
    QString type;
    QString text;
};

/// Call inside a catch block.
Thrown currentException()
{
    try {
        throw;
    } catch (const std::exception &e) {
        return {demangled(typeid(e).name()), QString::fromUtf8(e.what())};
    } catch (...) {
        return {QStringLiteral("UnknownException"), QStringLiteral("an exception of an unknown type")};
    }
}

Error memberThrew(const QString &member, Hook hook, const Thrown &thrown)
{
    return {ErrorCode::Internal,
            QStringLiteral("%1 failed in %2: %3").arg(member, hookName(hook), thrown.text.isEmpty() ? thrown.type : thrown.text),
            Json{{"member", toUtf8(member)},
                 {"hook", toUtf8(hookName(hook))},
                 {"exception_class", toUtf8(thrown.type)},
                 {"exception", toUtf8(thrown.text)}},
            nullptr};
}

Error coreThrew(const Thrown &thrown)
{
    return {ErrorCode::Internal, thrown.text.isEmpty() ? thrown.type : thrown.text,
            Json{{"exception_class", toUtf8(thrown.type)}, {"exception", toUtf8(thrown.text)}}, nullptr};
}

QString jumpName(JumpTo jump)
{
    switch (jump) {
    case JumpTo::Model: return QStringLiteral("model");
    case JumpTo::Tools: return QStringLiteral("tools");
    case JumpTo::End: return QStringLiteral("end");
    case JumpTo::None: break;
    }
    return QStringLiteral("none");
}

Task<Result<StateUpdate>> callNode(MiddlewarePtr member, Hook hook, AgentState state, RuntimePtr runtime)
{
    try {
        switch (hook) {
        case Hook::BeforeAgent: co_return co_await member->beforeAgent(std::move(state), runtime);
        case Hook::BeforeModel: co_return co_await member->beforeModel(std::move(state), runtime);
        case Hook::AfterModel: co_return co_await member->afterModel(std::move(state), runtime);
        case Hook::AfterAgent: co_return co_await member->afterAgent(std::move(state), runtime);
        case Hook::WrapModelCall:
        case Hook::WrapToolCall: break;
        }
    } catch (...) {
        co_return std::unexpected(memberThrew(member->name(), hook, currentException()));
    }
    co_return fail(ErrorCode::Internal, hookName(hook) + QStringLiteral(" is not a node hook"));
}

/// An error that a member returned keeps its text; who said it is added for the trace and the run's record.
Error attributed(Error error, const QString &member, Hook hook)
{
    if (!isControlSignal(error) && error.details.is_object() && !error.details.contains("member")) {
        error.details["member"] = toUtf8(member);
        error.details["hook"] = toUtf8(hookName(hook));
    }
    return error;
}

Result<JumpTo> checkedJump(const Middleware &member, Hook hook, JumpTo jump)
{
    if (jump == JumpTo::None)
        return jump;
    const std::vector<JumpTo> declared = member.jumpTargets();
    if (std::find(declared.begin(), declared.end(), jump) != declared.end())
        return jump;
    return fail(ErrorCode::FailedPrecondition,
                QStringLiteral("%1 asked in %2 to jump to '%3', a target it does not declare")
                    .arg(member.name(), hookName(hook), jumpName(jump)),
                Json{{"member", toUtf8(member.name())}, {"hook", toUtf8(hookName(hook))}});
}

// What differs between the two kinds of wrap hooks.

struct ModelKind {
    using Request = ModelCall;
    using Response = ModelResponse;
    using Next = ModelNext;
    static constexpr Hook hook = Hook::WrapModelCall;
    static const RuntimePtr &runtime(const Request &request) { return request.runtime; }
    static const std::stop_token &stop(const Request &request) { return request.stop; }
    static QString call(const Request &) { return {}; }
    static Task<Result<Response>> invoke(Middleware &member, Request request, Next next)
    {
        return member.wrapModelCall(std::move(request), std::move(next));
    }
    static ModelView view(const Request &request) { return {request.request.messages, request.request.system}; }
    static OutcomeView view(const Response &response)
    {
        OutcomeView view{response.messages, {}};
        for (const Command &command : response.commands) {
            view.messages.insert(view.messages.end(), command.update.messages.begin(), command.update.messages.end());
            for (auto it = command.update.channels.begin(); it != command.update.channels.end(); ++it)
                view.stateKeys.append(QString::fromStdString(it.key()));
        }
        return view;
    }
};

struct ToolKind {
    using Request = ToolCallRequest;
    using Response = ToolOutcome;
    using Next = ToolNext;
    static constexpr Hook hook = Hook::WrapToolCall;
    static const RuntimePtr &runtime(const Request &request) { return request.context.runtime; }
    static const std::stop_token &stop(const Request &request) { return request.context.stop; }
    static QString call(const Request &request) { return request.context.call.id; }
    static Task<Result<Response>> invoke(Middleware &member, Request request, Next next)
    {
        return member.wrapToolCall(std::move(request), std::move(next));
    }
    static ModelView view(const Request &) { return {}; }
    static OutcomeView view(const Response &response)
    {
        if (const auto *message = std::get_if<MessagePtr>(&response))
            return {{*message}, {}};
        const StateUpdate &update = std::get<Command>(response).update;
        OutcomeView view{update.messages, {}};
        for (auto it = update.channels.begin(); it != update.channels.end(); ++it)
            view.stateKeys.append(QString::fromStdString(it.key()));
        return view;
    }
};

/// One model call or tool call on its walk through the members.
template<typename Kind>
struct Walk {
    std::shared_ptr<const Compiled> compiled;
    typename Kind::Next core;
    SpanGroup spans;
};
template<typename Kind>
using WalkPtr = std::shared_ptr<Walk<Kind>>;

/// What one member's `next` has seen so far.
struct Link {
    WrapView view;
    bool inFlight = false;
    bool cancelled = false;
    std::optional<Error> failure; ///< the last that came back; passing it on makes it nobody else's
};

bool isSameFailure(const std::optional<Error> &seen, const Error &error)
{
    return seen && seen->code == error.code && seen->message == error.message && seen->details == error.details && seen->cause == error.cause;
}

template<typename Kind>
Task<Result<typename Kind::Response>> runFrom(WalkPtr<Kind> walk, std::size_t position, typename Kind::Request request);

template<typename Kind>
Task<Result<typename Kind::Response>> runCore(WalkPtr<Kind> walk, typename Kind::Request request)
{
    if (Kind::stop(request).stop_requested())
        co_return cancelled();
    try {
        co_return co_await walk->core(std::move(request));
    } catch (...) {
        co_return std::unexpected(coreThrew(currentException()));
    }
}

template<typename Kind>
Task<Result<typename Kind::Response>> callNext(WalkPtr<Kind> walk, std::size_t position, std::shared_ptr<Link> link,
                                               SpanId span, QString member, typename Kind::Request request)
{
    if (link->inFlight)
        co_return fail(ErrorCode::FailedPrecondition,
                       QStringLiteral("%1 called next in %2 before its earlier call had finished")
                           .arg(member, hookName(Kind::hook)),
                       Json{{"member", toUtf8(member)}, {"hook", toUtf8(hookName(Kind::hook))}});
    link->inFlight = true;
    link->view.called = true;
    if (span != 0) {
        link->view.passed = Kind::view(request);
        request.span = span;
    }
    Result<typename Kind::Response> result = co_await runFrom<Kind>(walk, position + 1, std::move(request));
    link->inFlight = false;
    if (!result) {
        link->cancelled = link->cancelled || result.error().isCancelled();
        link->failure = result.error();
    } else if (span != 0) {
        link->view.received = Kind::view(*result);
    }
    co_return result;
}

template<typename Kind>
Task<Result<typename Kind::Response>> callMember(WalkPtr<Kind> walk, std::size_t position, std::shared_ptr<Link> link,
                                                 SpanId span, typename Kind::Request request)
{
    const MiddlewarePtr member = walk->compiled->members[std::size_t(walk->compiled->of(Kind::hook)[position])];
    const QString name = member->name();
    // Captures of values only, and no coroutine itself: callNext's frame owns all it needs (style.md F4).
    typename Kind::Next next = [walk, position, link, span, name](typename Kind::Request inner) {
        return callNext<Kind>(walk, position, link, span, name, std::move(inner));
    };
    try {
        Result<typename Kind::Response> result = co_await Kind::invoke(*member, std::move(request), std::move(next));
        if (link->cancelled && (result || !result.error().isCancelled()))
            co_return cancelled(); // no member may swallow it
        if (!result && !isSameFailure(link->failure, result.error()))
            co_return std::unexpected(attributed(std::move(result.error()), name, Kind::hook));
        co_return result;
    } catch (...) {
        if (link->cancelled)
            co_return cancelled();
        co_return std::unexpected(memberThrew(name, Kind::hook, currentException()));
    }
}

template<typename Kind>
Task<Result<typename Kind::Response>> runFrom(WalkPtr<Kind> walk, std::size_t position, typename Kind::Request request)
{
    const std::vector<int> &order = walk->compiled->of(Kind::hook);
    if (position == order.size())
        co_return co_await runCore<Kind>(walk, std::move(request));
    if (Kind::stop(request).stop_requested())
        co_return cancelled();
    Tracer &tracer = *walk->compiled->tracer;
    const RuntimePtr runtime = Kind::runtime(request);
    const int index = order[position];
    if (HookGate *gate = tracer.gate()) {
        Result<void> passed = co_await gate->reached(tracer.point(Kind::hook, index, *runtime, Kind::call(request)), runtime);
        if (!passed)
            co_return std::unexpected(passed.error());
    }
    const SpanId parent = request.span != 0 ? request.span : runtime->events.parent();
    const OpenSpan span = tracer.open(Kind::hook, index, *runtime, parent, Kind::call(request));
    const auto link = std::make_shared<Link>();
    if (span)
        link->view.in = Kind::view(request);
    ++walk->spans.depth;
    Result<typename Kind::Response> result = co_await callMember<Kind>(walk, position, link, span.span, std::move(request));
    --walk->spans.depth;
    if (span) {
        if (result)
            link->view.returned = Kind::view(*result);
        tracer.closeWrap(span, *runtime, walk->spans, link->view, result ? nullptr : &result.error());
    }
    co_return result;
}

} // namespace

Result<std::shared_ptr<Chain>> Chain::compile(std::vector<MiddlewarePtr> members, Options options)
{
    QStringList names;
    QSet<QString> seen;
    for (const MiddlewarePtr &member : members) {
        const QString name = member->name();
        if (seen.contains(name))
            return fail(ErrorCode::AlreadyExists, QStringLiteral("duplicate middleware instances: %1").arg(name));
        seen.insert(name);
        names.append(name);
    }
    std::vector<OrderConstraint> rules = baseConstraints();
    rules.insert(rules.end(), options.rules.begin(), options.rules.end());
    const std::vector<OrderViolation> violations = checkOrder(names, rules);
    if (!violations.empty()) {
        QStringList texts;
        for (const OrderViolation &violation : violations)
            texts.append(violation.message());
        return fail(ErrorCode::InvalidArgument, texts.join(QLatin1Char('\n')));
    }
    auto compiled = std::make_shared<Compiled>();
    compiled->members = members;
    compiled->tracer = std::make_shared<Tracer>(names, std::move(options.trace));
    for (std::size_t h = 0; h < allHooks.size(); ++h) {
        for (std::size_t i = 0; i < members.size(); ++i) {
            if (members[i]->hooks().testFlag(allHooks[h]))
                compiled->order[h].push_back(int(i));
        }
        if (allHooks[h] == Hook::AfterModel || allHooks[h] == Hook::AfterAgent)
            std::reverse(compiled->order[h].begin(), compiled->order[h].end());
    }
    std::shared_ptr<Chain> chain(new Chain);
    chain->m_members = std::move(members);
    chain->m_compiled = std::move(compiled);
    return chain;
}

QStringList Chain::order(Hook hook) const
{
    QStringList names;
    for (const int index : m_compiled->of(hook))
        names.append(m_members[std::size_t(index)]->name());
    return names;
}

bool Chain::has(Hook hook) const
{
    return !m_compiled->of(hook).empty();
}

namespace {

/// Puts an update through the reducers; on error the state is unchanged.
Result<JumpTo> applied(const Middleware &member, Hook hook, const Result<StateUpdate> &update, AgentState &state)
{
    if (!update)
        return std::unexpected(update.error());
    Result<JumpTo> jump = checkedJump(member, hook, update->jumpTo);
    if (!jump || (update->messages.empty() && update->channels.empty()))
        return jump;
    Result<AgentState> after = applyUpdate(state, *update);
    if (!after)
        return std::unexpected(after.error());
    state = std::move(*after);
    return jump;
}

/// Cancelling ends what follows a hook; what a hook returned before is kept by nobody.
Task<Result<Chain::NodeResult>> walkNode(std::shared_ptr<const Compiled> compiled, Hook hook, AgentState state,
                                         RuntimePtr runtime)
{
    Tracer &tracer = *compiled->tracer;
    for (const int index : compiled->of(hook)) {
        if (runtime->stop.stop_requested())
            co_return cancelled();
        if (HookGate *gate = tracer.gate()) {
            Result<void> passed = co_await gate->reached(tracer.point(hook, index, *runtime), runtime);
            if (!passed)
                co_return std::unexpected(passed.error());
        }
        const MiddlewarePtr member = compiled->members[std::size_t(index)];
        const OpenSpan span = tracer.open(hook, index, *runtime, runtime->events.parent());
        Result<StateUpdate> update = co_await callNode(member, hook, state, runtime);
        const MessageList before = state.messages;
        Result<JumpTo> outcome = applied(*member, hook, update, state);
        const Error *error = outcome ? nullptr : &outcome.error();
        tracer.closeNode(span, *runtime, before, state.messages, update ? *update : StateUpdate{}, error);
        if (error != nullptr)
            co_return std::unexpected(attributed(*error, member->name(), hook));
        if (*outcome != JumpTo::None)
            co_return Chain::NodeResult{std::move(state), *outcome};
    }
    co_return Chain::NodeResult{std::move(state), JumpTo::None};
}

} // namespace

Task<Result<Chain::NodeResult>> Chain::runNode(Hook hook, AgentState state, RuntimePtr runtime)
{
    return walkNode(m_compiled, hook, std::move(state), std::move(runtime));
}

Task<Result<ModelResponse>> Chain::runModel(ModelCall call, ModelNext core)
{
    auto walk = std::make_shared<Walk<ModelKind>>(Walk<ModelKind>{m_compiled, std::move(core), {}});
    return runFrom<ModelKind>(std::move(walk), 0, std::move(call));
}

Task<Result<ToolOutcome>> Chain::runTool(ToolCallRequest request, ToolNext core)
{
    auto walk = std::make_shared<Walk<ToolKind>>(Walk<ToolKind>{m_compiled, std::move(core), {}});
    return runFrom<ToolKind>(std::move(walk), 0, std::move(request));
}

std::optional<QString> Chain::consumeStopReason(const QString &runId)
{
    std::optional<QString> first;
    for (const MiddlewarePtr &member : m_members) {
        std::optional<QString> reason = member->consumeStopReason(runId);
        if (!first)
            first = std::move(reason);
    }
    return first;
}

} // namespace paddock
