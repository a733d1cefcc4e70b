// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/middleware.h"

namespace paddock {

/// A turn may restrict retrieval from knowledge bases or switch it off (middleware-base §3): the scope of the turn's message is
/// checked and put into the run's context once, kept from the model, and "disabled" is enforced without asking any base. A
/// subagent's context brings its parent's scope, which is taken as it is. Fails closed: a scope that is not valid ends the run.
class KnowledgeScopeMiddleware : public Middleware
{
public:
    QString name() const override { return QStringLiteral("KnowledgeScopeMiddleware"); }
    Hooks hooks() const override { return Hook::BeforeAgent | Hook::WrapModelCall | Hook::WrapToolCall; }
    Task<Result<StateUpdate>> beforeAgent(AgentState state, RuntimePtr runtime) override;
    Task<Result<ModelResponse>> wrapModelCall(ModelCall call, ModelNext next) override;
    Task<Result<ToolOutcome>> wrapToolCall(ToolCallRequest request, ToolNext next) override;
};

} // namespace paddock
