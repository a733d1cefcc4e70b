// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/llm/chat_model.h"
#include "core/tool/tool.h"

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace paddock {

enum class Hook : unsigned {
    BeforeAgent = 1,
    BeforeModel = 2,
    WrapModelCall = 4,
    AfterModel = 8,
    WrapToolCall = 16,
    AfterAgent = 32,
};
Q_DECLARE_FLAGS(Hooks, Hook)
Q_DECLARE_OPERATORS_FOR_FLAGS(Hooks)

/// In the order of a run.
inline constexpr std::array allHooks{Hook::BeforeAgent, Hook::BeforeModel, Hook::WrapModelCall,
                                     Hook::AfterModel, Hook::WrapToolCall, Hook::AfterAgent};

/// "before_agent", …
QString hookName(Hook hook);

/// Cancellation, and errors whose details carry {"control": "interrupt" | "parent_command"}: not failures
/// (middleware-base §1.10). Every member passes them untouched and never counts, retries or logs them.
bool isControlSignal(const Error &error);

/// A model call on its way in (middleware-base §1.8). A value: a hook passes a changed copy to `next`.
struct ModelCall {
    ModelRequest request;
    AgentState state; ///< read only
    RuntimePtr runtime;
    std::stop_token stop;
    SpanId span = 0; ///< the enclosing span; events of the call itself are emitted with it as parent
    /// Set by a member that tries failed calls again. The core asks it once per failure, before it reports the failure: how
    /// long until the next try; nullopt or an empty function: there is none.
    std::function<std::optional<std::chrono::milliseconds>(const Error &)> retryIn = {};
};
/// What comes back: normally one ai message, and commands that inner members attached (inner before outer).
struct ModelResponse {
    std::vector<MessagePtr> messages;
    std::vector<Command> commands;
};
/// May be called zero times (short circuit), once, or again after the earlier call has finished (retry).
using ModelNext = std::function<Task<Result<ModelResponse>>(ModelCall)>;

/// A tool call on its way in; `tool` is null for an unknown name.
struct ToolCallRequest {
    ToolPtr tool;
    ToolCallContext context;
    SpanId span = 0; ///< as in ModelCall
};
using ToolNext = std::function<Task<Result<ToolOutcome>>(ToolCallRequest)>;

/// One member of a chain (middleware-base §1.1). An instance belongs to one build of one chain; its hooks run on that
/// chain's loop, wrapToolCall several at a time. `hooks()` is fixed: a hook that is not declared is never called and
/// costs nothing. An exception out of a hook ends the run with the member's name in the error.
class Middleware
{
public:
    virtual ~Middleware() = default;
    /// Stable and unique in a chain, class-like: "DanglingToolCallMiddleware".
    virtual QString name() const = 0;
    virtual Hooks hooks() const = 0;
    /// Targets a node hook may put into StateUpdate::jumpTo.
    virtual std::vector<JumpTo> jumpTargets() const { return {}; }

    virtual Task<Result<StateUpdate>> beforeAgent(AgentState state, RuntimePtr runtime);
    virtual Task<Result<StateUpdate>> beforeModel(AgentState state, RuntimePtr runtime);
    virtual Task<Result<ModelResponse>> wrapModelCall(ModelCall call, ModelNext next);
    virtual Task<Result<StateUpdate>> afterModel(AgentState state, RuntimePtr runtime);
    virtual Task<Result<ToolOutcome>> wrapToolCall(ToolCallRequest request, ToolNext next);
    virtual Task<Result<StateUpdate>> afterAgent(AgentState state, RuntimePtr runtime);

    /// For guards that end a run early (loop, budget): the reason of the finished run, popped (runtime §1.6).
    virtual std::optional<QString> consumeStopReason(const QString &runId);
};

using MiddlewarePtr = std::shared_ptr<Middleware>;

} // namespace paddock
