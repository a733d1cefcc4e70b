// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/sandbox_member.h"

namespace paddock {

namespace {

bool isOverwrite(const Json &channel)
{
    return channel.is_object() && (channel.contains("overwrite") || channel.contains("__overwrite__"));
}

} // namespace

QString sandboxIdOf(const AgentState &state)
{
    return stringOf(memberOf(state.channels, "sandbox"), "sandbox_id");
}

Hooks SandboxMiddleware::hooks() const
{
    return Hook::BeforeAgent | Hook::WrapToolCall | Hook::AfterAgent;
}

Task<Result<StateUpdate>> SandboxMiddleware::beforeAgent(AgentState state, RuntimePtr runtime)
{
    // Lazy: a sandbox already in the state is not leased here; the lease is taken when a tool first touches it.
    if (m_options.lazyInit || !runtime->sandbox || stringOf(runtime->values, "thread_id").isEmpty()
        || !sandboxIdOf(state).isEmpty())
        co_return StateUpdate{};
    const Result<SandboxPtr> sandbox = co_await runtime->sandbox->ensure(runtime->stop);
    if (!sandbox) {
        if (sandbox.error().code == ErrorCode::PermissionDenied)
            co_return StateUpdate{}; // the lazy gate in the tools answers per call
        co_return std::unexpected(sandbox.error());
    }
    StateUpdate update;
    update.channels["sandbox"] = Json{{"sandbox_id", toUtf8((*sandbox)->id().value())}};
    co_return update;
}

ToolOutcome SandboxMiddleware::attach(ToolOutcome outcome, const QString &idBefore, const QString &idAfter)
{
    if (!idBefore.isEmpty() || idAfter.isEmpty())
        return outcome;
    const Json value{{"sandbox_id", toUtf8(idAfter)}};
    if (const auto *message = std::get_if<MessagePtr>(&outcome)) {
        Command command;
        command.update.messages = {*message};
        command.update.channels["sandbox"] = value;
        return command;
    }
    Command command = std::get<Command>(std::move(outcome));
    if (!command.update.isEmpty())
        command.update.channels["sandbox"] = value;
    return command;
}

Task<Result<ToolOutcome>> SandboxMiddleware::wrapToolCall(ToolCallRequest request, ToolNext next)
{
    const QString before = sandboxIdOf(request.context.state);
    const RuntimePtr runtime = request.context.runtime;
    Result<ToolOutcome> outcome = co_await next(std::move(request));
    if (!outcome || !before.isEmpty() || !runtime->sandbox)
        co_return outcome;
    co_return attach(std::move(*outcome), before, runtime->sandbox->currentId().value());
}

Task<Result<StateUpdate>> SandboxMiddleware::afterAgent(AgentState state, RuntimePtr runtime)
{
    // A wrapped (fork-restored) value belongs to the parent thread.
    if (runtime->sandbox && !isOverwrite(memberOf(state.channels, "sandbox")))
        co_await runtime->sandbox->release();
    co_return StateUpdate{};
}

} // namespace paddock
