// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/loop_detector.h"
#include "core/middleware/run_scope.h"

namespace paddock {

/// Warns a model that repeats itself and finally takes its tool calls away (runtime §4.7). Histories belong to
/// (thread, run); presence of run_id matters [K-9, K-10].
class LoopDetectionMiddleware : public Middleware
{
public:
    explicit LoopDetectionMiddleware(LoopOptions options = {}) : m_detector(std::move(options)) {}

    QString name() const override { return QStringLiteral("LoopDetectionMiddleware"); }
    Hooks hooks() const override;
    Task<Result<StateUpdate>> beforeAgent(AgentState state, RuntimePtr runtime) override;
    Task<Result<ModelResponse>> wrapModelCall(ModelCall call, ModelNext next) override;
    Task<Result<StateUpdate>> afterModel(AgentState state, RuntimePtr runtime) override;
    Task<Result<StateUpdate>> afterAgent(AgentState state, RuntimePtr runtime) override;
    /// A null string asks for the run without an id.
    std::optional<QString> consumeStopReason(const QString &runId) override;

    /// The same message without its calls and with the reason behind its text.
    static MessagePtr hardStopped(const MessagePtr &ai, const LoopVerdict &verdict);
    static QString warningText(const LoopVerdict &verdict);

private:
    LoopDetector m_detector;
    PendingNotes m_notes{QStringLiteral("loop_warning")};
    StoppedRuns m_stopped;
};

} // namespace paddock
