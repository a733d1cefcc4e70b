// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/middleware.h"
#include "core/middleware/progress_tracker.h"

namespace paddock {

/// Hints at a model whose calls of a tool bring nothing new, and finally blocks that tool until the next run
/// (middleware-base §15). Loop detection judges patterns of calls; this judges their results. Lives on its chain's loop; a
/// subagent is a thread of its own, so that siblings do not block each other.
class ToolProgressMiddleware : public Middleware
{
public:
    explicit ToolProgressMiddleware(ProgressOptions options = {});

    QString name() const override { return QStringLiteral("ToolProgressMiddleware"); }
    Hooks hooks() const override { return Hook::BeforeAgent | Hook::WrapModelCall | Hook::WrapToolCall; }
    Task<Result<StateUpdate>> beforeAgent(AgentState state, RuntimePtr runtime) override;
    Task<Result<ModelResponse>> wrapModelCall(ModelCall call, ModelNext next) override;
    Task<Result<ToolOutcome>> wrapToolCall(ToolCallRequest request, ToolNext next) override;

    const ProgressTracker &tracker() const { return *m_tracker; }
    /// Thread and run as the tracker keeps them apart.
    static QString threadOf(const RuntimeContext &runtime);
    static QString runOf(const RuntimeContext &runtime);

private:
    std::shared_ptr<ProgressTracker> m_tracker; ///< shared with the calls under way
};

} // namespace paddock
