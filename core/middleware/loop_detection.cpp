// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/loop_detection.h"

#include "core/middleware/ai_edits.h"

namespace paddock {

namespace {

QString layerName(LoopVerdict::Layer layer)
{
    return layer == LoopVerdict::Layer::ToolFrequency ? QStringLiteral("tool_frequency") : QStringLiteral("identical_call_set");
}

QString stopText(const LoopVerdict &verdict)
{
    if (verdict.layer == LoopVerdict::Layer::ToolFrequency)
        return QStringLiteral("[FORCED STOP] The tool %1 was called %2 times in this run, which is its limit. Its calls were "
                              "removed. Finish with what you have.")
            .arg(verdict.toolNames.value(0))
            .arg(verdict.count);
    return QStringLiteral("[FORCED STOP] The same tool calls were repeated %1 times. They were removed. Finish with what you have.")
        .arg(verdict.count);
}

void tell(const RuntimeContext &runtime, const LoopVerdict &verdict)
{
    LogRecorded log;
    const bool stop = verdict.action == LoopVerdict::Action::HardStop;
    log.level = QStringLiteral("warning");
    log.text = QStringLiteral("loop_detection: %1 (%2), tools %3, count %4, threshold %5")
                   .arg(stop ? QStringLiteral("hard_stop") : QStringLiteral("warn"), layerName(verdict.layer),
                        verdict.toolNames.join(QStringLiteral(", ")))
                   .arg(verdict.count)
                   .arg(verdict.threshold);
    runtime.events.emitEvent(std::move(log));
}

} // namespace

Hooks LoopDetectionMiddleware::hooks() const
{
    return Hook::BeforeAgent | Hook::WrapModelCall | Hook::AfterModel | Hook::AfterAgent;
}

QString LoopDetectionMiddleware::warningText(const LoopVerdict &verdict)
{
    if (verdict.layer == LoopVerdict::Layer::ToolFrequency)
        return QStringLiteral("[LOOP DETECTED] You have called %1 %2 times. Stop calling tools and answer with what you have; "
                              "if something is missing, say what.")
            .arg(verdict.toolNames.value(0))
            .arg(verdict.count);
    return QStringLiteral("[LOOP DETECTED] You are repeating the same tool calls. Stop calling tools and answer with what you "
                          "have; if something is missing, say what.");
}

MessagePtr LoopDetectionMiddleware::hardStopped(const MessagePtr &ai, const LoopVerdict &verdict)
{
    return paddock::hardStopped(ai, stopText(verdict));
}

Task<Result<StateUpdate>> LoopDetectionMiddleware::beforeAgent(AgentState, RuntimePtr runtime)
{
    m_notes.dropOtherRuns(*runtime);
    co_return StateUpdate{};
}

Task<Result<StateUpdate>> LoopDetectionMiddleware::afterAgent(AgentState, RuntimePtr runtime)
{
    m_notes.drop(*runtime);
    co_return StateUpdate{};
}

Task<Result<ModelResponse>> LoopDetectionMiddleware::wrapModelCall(ModelCall call, ModelNext next)
{
    return m_notes.inject(std::move(call), std::move(next));
}

Task<Result<StateUpdate>> LoopDetectionMiddleware::afterModel(AgentState state, RuntimePtr runtime)
{
    if (state.messages.isEmpty())
        co_return StateUpdate{};
    const MessagePtr last = state.messages.last();
    if (last->role != Role::Ai || last->toolCalls.empty())
        co_return StateUpdate{};
    const LoopVerdict verdict = m_detector.track(scopeKeyOf(*runtime), last->toolCalls);
    if (verdict.action == LoopVerdict::Action::None)
        co_return StateUpdate{};
    tell(*runtime, verdict);
    if (verdict.action == LoopVerdict::Action::Warn) {
        m_notes.queue(*runtime, warningText(verdict));
        co_return StateUpdate{};
    }
    m_stopped.record(*runtime);
    setStopReason(*runtime, QStringLiteral("loop_capped"));
    StateUpdate update;
    update.messages.push_back(hardStopped(last, verdict));
    co_return update;
}

std::optional<QString> LoopDetectionMiddleware::consumeStopReason(const QString &runId)
{
    if (!m_stopped.consume(runId))
        return std::nullopt;
    return QStringLiteral("loop_capped");
}

} // namespace paddock
