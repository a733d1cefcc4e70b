// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/middleware.h"

namespace paddock {

/// A question to the person ends the turn (runtime §5.9): the call of `ask_clarification` is answered with the question itself,
/// and calls that stand beside it are dropped, for asking comes before acting. `disable_clarification` of the run's values
/// turns it into the advice to decide alone.
class ClarificationMiddleware : public Middleware
{
public:
    QString name() const override { return QStringLiteral("ClarificationMiddleware"); }
    Hooks hooks() const override { return Hook::WrapToolCall | Hook::AfterModel; }
    Task<Result<ToolOutcome>> wrapToolCall(ToolCallRequest request, ToolNext next) override;
    Task<Result<StateUpdate>> afterModel(AgentState state, RuntimePtr runtime) override;
};

} // namespace paddock
