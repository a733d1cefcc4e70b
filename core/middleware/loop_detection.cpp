// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/loop_detection.h"

#include "core/middleware/message_edits.h"

#include <algorithm>

namespace paddock {

namespace {

constexpr qsizetype maxPendingTexts = 4;
constexpr std::size_t maxStoppedRuns = 1000;

QString threadKey(const RuntimeContext &runtime)
{
    const QString thread = stringOf(runtime.values, "thread_id");
    return thread.isEmpty() ? QStringLiteral("default") : thread;
}

/// A present id, a present null and an absent id are three different runs.
QString runKey(const RuntimeContext &runtime)
{
    if (runtime.values.is_object() && runtime.values.contains("run_id")) {
        const Json &id = runtime.values["run_id"];
        return id.is_string() ? QStringLiteral("run:") + textOf(id) : QStringLiteral("value:") + QString::fromUtf8(dumpJson(id));
    }
    return QStringLiteral("object:%1").arg(quintptr(&runtime));
}

QString scopeKey(const RuntimeContext &runtime)
{
    return threadKey(runtime) + QLatin1Char('\n') + runKey(runtime);
}

/// What consumeStopReason can be asked with: the id, or nothing for a run without one.
QString reasonKey(const RuntimeContext &runtime)
{
    const Json &id = memberOf(runtime.values, "run_id");
    return id.is_string() ? QStringLiteral("run:") + textOf(id) : QStringLiteral("none");
}

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
    return edited(ai, [&verdict](Message &message) {
        clearToolCalls(message);
        if (message.responseMetadata.is_object() && stringOf(message.responseMetadata, "finish_reason") == u"tool_calls")
            message.responseMetadata["finish_reason"] = "stop";
        const QString text = stopText(verdict);
        if (message.content.is_array())
            message.content.push_back(Json{{"type", "text"}, {"text", toUtf8(QStringLiteral("\n\n") + text)}});
        else if (message.content.is_null())
            message.content = toJson(text);
        else
            message.content = toJson(textOfContent(message.content) + QStringLiteral("\n\n") + text);
    });
}

QStringList LoopDetectionMiddleware::takePending(const QString &scope)
{
    const auto found = std::find_if(m_pending.begin(), m_pending.end(), [&scope](const Pending &p) { return p.scope == scope; });
    if (found == m_pending.end())
        return {};
    QStringList texts = std::move(found->texts);
    m_pending.erase(found);
    return texts;
}

void LoopDetectionMiddleware::queue(const QString &thread, const QString &scope, const QString &text)
{
    auto found = std::find_if(m_pending.begin(), m_pending.end(), [&scope](const Pending &p) { return p.scope == scope; });
    if (found == m_pending.end())
        found = m_pending.insert(m_pending.end(), Pending{thread, scope, {}});
    found->texts.removeAll(text);
    found->texts.append(text);
    while (found->texts.size() > maxPendingTexts)
        found->texts.removeFirst();
}

void LoopDetectionMiddleware::recordStop(RuntimeContext &runtime)
{
    const QString key = reasonKey(runtime);
    std::erase(m_stoppedRuns, key);
    m_stoppedRuns.push_back(key);
    if (m_stoppedRuns.size() > maxStoppedRuns)
        m_stoppedRuns.pop_front();
    if (!runtime.values.is_object())
        runtime.values = Json::object();
    runtime.values["stop_reason"] = "loop_capped";
}

Task<Result<StateUpdate>> LoopDetectionMiddleware::beforeAgent(AgentState, RuntimePtr runtime)
{
    const QString thread = threadKey(*runtime);
    const QString scope = scopeKey(*runtime);
    std::erase_if(m_pending, [&](const Pending &p) { return p.thread == thread && p.scope != scope; });
    co_return StateUpdate{};
}

Task<Result<StateUpdate>> LoopDetectionMiddleware::afterAgent(AgentState, RuntimePtr runtime)
{
    takePending(scopeKey(*runtime));
    co_return StateUpdate{};
}

Task<Result<ModelResponse>> LoopDetectionMiddleware::wrapModelCall(ModelCall call, ModelNext next)
{
    const QString thread = threadKey(*call.runtime);
    const QString scope = scopeKey(*call.runtime);
    const QStringList texts = takePending(scope);
    if (texts.isEmpty())
        co_return co_await next(std::move(call));
    Message warning;
    warning.role = Role::Human;
    warning.name = QStringLiteral("loop_warning");
    warning.content = toJson(texts.join(QStringLiteral("\n\n")));
    warning.kwargs["hide_from_ui"] = true; // else it would pass as text of the person
    call.request.messages.append(makeMessage(std::move(warning)));
    Result<ModelResponse> response = co_await next(std::move(call));
    if (!response) { // a retry must say the same
        for (const QString &text : texts)
            queue(thread, scope, text);
    }
    co_return response;
}

Task<Result<StateUpdate>> LoopDetectionMiddleware::afterModel(AgentState state, RuntimePtr runtime)
{
    if (state.messages.isEmpty())
        co_return StateUpdate{};
    const MessagePtr last = state.messages.last();
    if (last->role != Role::Ai || last->toolCalls.empty())
        co_return StateUpdate{};
    const QString scope = scopeKey(*runtime);
    const LoopVerdict verdict = m_detector.track(scope, last->toolCalls);
    if (verdict.action == LoopVerdict::Action::None)
        co_return StateUpdate{};
    tell(*runtime, verdict);
    if (verdict.action == LoopVerdict::Action::Warn) {
        queue(threadKey(*runtime), scope, warningText(verdict));
        co_return StateUpdate{};
    }
    recordStop(*runtime);
    StateUpdate update;
    update.messages.push_back(hardStopped(last, verdict));
    co_return update;
}

std::optional<QString> LoopDetectionMiddleware::consumeStopReason(const QString &runId)
{
    const QString key = runId.isNull() ? QStringLiteral("none") : QStringLiteral("run:") + runId;
    if (std::erase(m_stoppedRuns, key) == 0)
        return std::nullopt;
    return QStringLiteral("loop_capped");
}

} // namespace paddock
