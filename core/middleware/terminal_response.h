// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/run_scope.h"

#include <QSet>

namespace paddock {

/// A run does not end in silence (runtime §5.7): an empty answer after tools is asked for once more, and the second one becomes
/// a failure that a person can read.
class TerminalResponseMiddleware : public Middleware
{
public:
    QString name() const override { return QStringLiteral("TerminalResponseMiddleware"); }
    Hooks hooks() const override { return Hook::BeforeAgent | Hook::WrapModelCall | Hook::AfterModel | Hook::AfterAgent; }
    std::vector<JumpTo> jumpTargets() const override { return {JumpTo::Model}; }
    Task<Result<StateUpdate>> beforeAgent(AgentState state, RuntimePtr runtime) override;
    Task<Result<ModelResponse>> wrapModelCall(ModelCall call, ModelNext next) override;
    Task<Result<StateUpdate>> afterModel(AgentState state, RuntimePtr runtime) override;
    Task<Result<StateUpdate>> afterAgent(AgentState state, RuntimePtr runtime) override;

private:
    void forget(const RuntimeContext &runtime);

    QSet<QString> m_retried; ///< runs that had their one retry; bounded
    PendingNotes m_notes{QStringLiteral("terminal_response_recovery")};
};

} // namespace paddock
