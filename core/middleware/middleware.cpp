// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/middleware.h"

namespace paddock {

QString hookName(Hook hook)
{
    switch (hook) {
    case Hook::BeforeAgent: return QStringLiteral("before_agent");
    case Hook::BeforeModel: return QStringLiteral("before_model");
    case Hook::WrapModelCall: return QStringLiteral("wrap_model_call");
    case Hook::AfterModel: return QStringLiteral("after_model");
    case Hook::WrapToolCall: return QStringLiteral("wrap_tool_call");
    case Hook::AfterAgent: return QStringLiteral("after_agent");
    }
    return {};
}

bool isControlSignal(const Error &error)
{
    return error.isCancelled() || memberOf(error.details, "control").is_string();
}

// The defaults are never called by a chain (an undeclared hook has no step); they make a member's class short.

Task<Result<StateUpdate>> Middleware::beforeAgent(AgentState, RuntimePtr)
{
    co_return StateUpdate{};
}

Task<Result<StateUpdate>> Middleware::beforeModel(AgentState, RuntimePtr)
{
    co_return StateUpdate{};
}

Task<Result<ModelResponse>> Middleware::wrapModelCall(ModelCall call, ModelNext next)
{
    return next(std::move(call));
}

Task<Result<StateUpdate>> Middleware::afterModel(AgentState, RuntimePtr)
{
    co_return StateUpdate{};
}

Task<Result<ToolOutcome>> Middleware::wrapToolCall(ToolCallRequest request, ToolNext next)
{
    return next(std::move(request));
}

Task<Result<StateUpdate>> Middleware::afterAgent(AgentState, RuntimePtr)
{
    co_return StateUpdate{};
}

std::optional<QString> Middleware::consumeStopReason(const QString &)
{
    return std::nullopt;
}

} // namespace paddock
