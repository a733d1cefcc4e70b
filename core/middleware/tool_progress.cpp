// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/tool_progress.h"

namespace paddock {

namespace {

using TrackerPtr = std::shared_ptr<ProgressTracker>;

const QString &progressFallback()
{
    static const QString name = QStringLiteral("default");
    return name;
}

void logProgress(const RuntimeContext &runtime, const QString &level, const QString &text)
{
    runtime.events.emitEvent(LogRecorded{level, QStringLiteral("tool_progress: ") + text, false});
}

/// Facts of the change only, never arguments or content. `meta` is null for a reset.
void tellPhase(const RuntimeContext &runtime, const PhaseChange &change, const ToolMeta *meta)
{
    using Phase = ToolPhase::Phase;
    const QString action = meta == nullptr     ? QStringLiteral("reset")
        : change.to == Phase::Blocked ? QStringLiteral("block")
        : change.to == Phase::Warned  ? QStringLiteral("warn")
                                      : QStringLiteral("recover");
    QString text = QStringLiteral("%1 of %2 (%3 to %4), count %5")
                       .arg(action, change.tool, progressPhaseName(change.from), progressPhaseName(change.to))
                       .arg(change.count);
    if (change.threshold)
        text += QStringLiteral(", threshold %1").arg(*change.threshold);
    if (meta != nullptr)
        text += QStringLiteral(", status %1, error type %2, %3")
                    .arg(meta->status, meta->errorType.isEmpty() ? QStringLiteral("none") : meta->errorType,
                         meta->recoverable ? QStringLiteral("recoverable") : QStringLiteral("not recoverable"));
    logProgress(runtime, change.to == Phase::Blocked ? QStringLiteral("warning") : QStringLiteral("info"), text);
}

MessagePtr blockedResult(const ToolCall &call, const QString &reason)
{
    return edited(toolMessage(call.id, call.name, QStringLiteral("[TOOL_BLOCKED] ") + reason, ToolStatus::Error), [](Message &m) {
        m.kwargs[toolMetaKey] = ToolMeta{QStringLiteral("error"), QStringLiteral("blocked_by_progress_guard"), true,
                                         QStringLiteral("summarize"), QStringLiteral("progress_middleware")}
                                    .toJson();
    });
}

/// The result as the model will see it; null for what is not judged.
MessagePtr judgedMessage(const Result<ToolOutcome> &outcome)
{
    const auto *message = outcome ? std::get_if<MessagePtr>(&*outcome) : nullptr;
    return message != nullptr && *message && (*message)->role == Role::Tool ? *message : nullptr;
}

Task<Result<ToolOutcome>> trackedCall(TrackerPtr tracker, ToolCallRequest request, ToolNext next)
{
    const RuntimePtr runtime = request.context.runtime;
    const QString thread = ToolProgressMiddleware::threadOf(*runtime);
    const QString tool = request.context.call.name;
    if (const auto reason = tracker->blockReason(thread, tool))
        co_return blockedResult(request.context.call, *reason);
    const Result<ToolOutcome> outcome = co_await next(std::move(request));
    const MessagePtr message = judgedMessage(outcome);
    if (!message)
        co_return outcome;
    const Json &stamp = memberOf(message->kwargs, toolMetaKey);
    if (!stamp.is_object()) {
        logProgress(*runtime, QStringLiteral("warning"), QStringLiteral("a result of %1 has no meta and is not counted").arg(tool));
        co_return outcome;
    }
    const ToolMeta meta = ToolMeta::fromJson(stamp);
    const QString text = textOf(message->content); // string content only
    if (const auto change = tracker->record(thread, ToolProgressMiddleware::runOf(*runtime), tool, meta, text))
        tellPhase(*runtime, *change, &meta);
    co_return outcome;
}

Task<Result<ModelResponse>> hintedCall(TrackerPtr tracker, QStringList hints, ModelCall call, ModelNext next)
{
    const RuntimePtr runtime = call.runtime;
    call.request.messages.append(edited(humanMessage(hints.join(QStringLiteral("\n\n"))), [](Message &m) {
        m.name = QStringLiteral("progress_hint");
        m.kwargs["hide_from_ui"] = true; // else it would pass as text of the person
    }));
    const Result<ModelResponse> response = co_await next(std::move(call));
    if (!response) // another attempt must say the same
        tracker->requeueHints(ToolProgressMiddleware::threadOf(*runtime), ToolProgressMiddleware::runOf(*runtime), hints);
    co_return response;
}

} // namespace

ToolProgressMiddleware::ToolProgressMiddleware(ProgressOptions options)
    : m_tracker(std::make_shared<ProgressTracker>(std::move(options)))
{
}

QString ToolProgressMiddleware::threadOf(const RuntimeContext &runtime)
{
    QString thread = stringOf(runtime.values, "thread_id");
    if (thread.isEmpty())
        thread = progressFallback();
    if (boolOf(runtime.values, "is_subagent"))
        thread += QLatin1Char('/') + runtime.events.agent().value();
    return thread;
}

QString ToolProgressMiddleware::runOf(const RuntimeContext &runtime)
{
    const QString run = stringOf(runtime.values, "run_id");
    return run.isEmpty() ? progressFallback() : run;
}

Task<Result<StateUpdate>> ToolProgressMiddleware::beforeAgent(AgentState, RuntimePtr runtime)
{
    for (const PhaseChange &change : m_tracker->startRun(threadOf(*runtime), runOf(*runtime)))
        tellPhase(*runtime, change, nullptr);
    co_return StateUpdate{};
}

Task<Result<ModelResponse>> ToolProgressMiddleware::wrapModelCall(ModelCall call, ModelNext next)
{
    const QStringList hints = m_tracker->takeHints(threadOf(*call.runtime), runOf(*call.runtime));
    if (hints.isEmpty())
        return next(std::move(call));
    return hintedCall(m_tracker, hints, std::move(call), std::move(next));
}

Task<Result<ToolOutcome>> ToolProgressMiddleware::wrapToolCall(ToolCallRequest request, ToolNext next)
{
    if (!m_tracker->isTracked(request.context.call.name))
        return next(std::move(request));
    return trackedCall(m_tracker, std::move(request), std::move(next));
}

} // namespace paddock
