// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/run_scope.h"

#include <map>

namespace paddock {

/// Plan mode (runtime §5.3): explains `write_todos`, reminds of a list that has left the window, and sends a run that ends with
/// open items back to work, at most twice.
class TodoMiddleware : public Middleware
{
public:
    QString name() const override { return QStringLiteral("TodoMiddleware"); }
    Hooks hooks() const override
    {
        return Hook::BeforeAgent | Hook::BeforeModel | Hook::WrapModelCall | Hook::AfterModel | Hook::AfterAgent;
    }
    std::vector<JumpTo> jumpTargets() const override { return {JumpTo::Model}; }
    Task<Result<StateUpdate>> beforeAgent(AgentState state, RuntimePtr runtime) override;
    Task<Result<StateUpdate>> beforeModel(AgentState state, RuntimePtr runtime) override;
    Task<Result<ModelResponse>> wrapModelCall(ModelCall call, ModelNext next) override;
    Task<Result<StateUpdate>> afterModel(AgentState state, RuntimePtr runtime) override;
    Task<Result<StateUpdate>> afterAgent(AgentState state, RuntimePtr runtime) override;

    static constexpr int maxReminders = 2; ///< per run

private:
    void forget(const RuntimeContext &runtime);

    std::map<QString, int> m_reminded; ///< by run; bounded
    PendingNotes m_notes{QStringLiteral("todo_completion_reminder")};
};

} // namespace paddock
