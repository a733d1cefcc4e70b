// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/run_scope.h"

#include <algorithm>

namespace paddock {

namespace {

constexpr qsizetype maxPendingTexts = 4;
constexpr std::size_t maxWaitingRuns = 1000;
constexpr std::size_t maxStoppedRuns = 1000;

QString runKey(const RuntimeContext &runtime)
{
    if (runtime.values.is_object() && runtime.values.contains("run_id")) {
        const Json &id = runtime.values["run_id"];
        return id.is_string() ? QStringLiteral("run:") + textOf(id) : QStringLiteral("value:") + QString::fromUtf8(dumpJson(id));
    }
    return QStringLiteral("object:%1").arg(quintptr(&runtime));
}

/// What consume can be asked with: the id, or nothing for a run without one.
QString reasonKey(const RuntimeContext &runtime)
{
    const Json &id = memberOf(runtime.values, "run_id");
    return id.is_string() ? QStringLiteral("run:") + textOf(id) : QStringLiteral("none");
}

} // namespace

QString threadKeyOf(const RuntimeContext &runtime)
{
    const QString thread = stringOf(runtime.values, "thread_id");
    return thread.isEmpty() ? QStringLiteral("default") : thread;
}

QString scopeKeyOf(const RuntimeContext &runtime)
{
    return threadKeyOf(runtime) + QLatin1Char('\n') + runKey(runtime);
}

void setStopReason(RuntimeContext &runtime, const QString &reason)
{
    if (!runtime.values.is_object())
        runtime.values = Json::object();
    runtime.values["stop_reason"] = toUtf8(reason);
}

QString stopReasonOf(const RuntimeContext &runtime)
{
    return stringOf(runtime.values, "stop_reason");
}

void StoppedRuns::record(const RuntimeContext &runtime)
{
    const QString key = reasonKey(runtime);
    std::erase(m_runs, key);
    m_runs.push_back(key);
    if (m_runs.size() > maxStoppedRuns)
        m_runs.pop_front();
}

bool StoppedRuns::consume(const QString &runId)
{
    return std::erase(m_runs, runId.isNull() ? QStringLiteral("none") : QStringLiteral("run:") + runId) > 0;
}

void PendingNotes::queue(const RuntimeContext &runtime, const QString &text)
{
    queue(threadKeyOf(runtime), scopeKeyOf(runtime), text);
}

void PendingNotes::queue(const QString &thread, const QString &scope, const QString &text)
{
    auto found = std::ranges::find(m_waiting, scope, &Waiting::scope);
    if (found == m_waiting.end()) {
        if (m_waiting.size() >= maxWaitingRuns)
            m_waiting.pop_front();
        m_waiting.push_back({thread, scope, {}});
        found = std::prev(m_waiting.end());
    }
    found->texts.removeAll(text);
    found->texts.append(text);
    while (found->texts.size() > maxPendingTexts)
        found->texts.removeFirst();
}

QStringList PendingNotes::take(const QString &scope)
{
    const auto found = std::ranges::find(m_waiting, scope, &Waiting::scope);
    if (found == m_waiting.end())
        return {};
    QStringList texts = std::move(found->texts);
    m_waiting.erase(found);
    return texts;
}

void PendingNotes::drop(const RuntimeContext &runtime)
{
    take(scopeKeyOf(runtime));
}

void PendingNotes::dropOtherRuns(const RuntimeContext &runtime)
{
    const QString thread = threadKeyOf(runtime);
    const QString scope = scopeKeyOf(runtime);
    std::erase_if(m_waiting, [&](const Waiting &waiting) { return waiting.thread == thread && waiting.scope != scope; });
}

Task<Result<ModelResponse>> PendingNotes::inject(ModelCall call, ModelNext next)
{
    const QString thread = threadKeyOf(*call.runtime);
    const QString scope = scopeKeyOf(*call.runtime);
    const QStringList texts = take(scope);
    if (texts.isEmpty())
        co_return co_await next(std::move(call));
    Message note;
    note.role = Role::Human;
    note.name = m_name;
    note.content = toJson(texts.join(QStringLiteral("\n\n")));
    note.kwargs["hide_from_ui"] = true; // else it would pass as text of the person
    call.request.messages.append(makeMessage(std::move(note)));
    Result<ModelResponse> response = co_await next(std::move(call));
    if (!response) {
        for (const QString &text : texts)
            queue(thread, scope, text);
    }
    co_return response;
}

void recordAct(const RuntimeContext &runtime, const QString &tag, const Middleware &member, Hook hook, const QString &action,
               Json changes)
{
    runtime.events.emitEvent(MiddlewareActed{tag, member.name(), hookName(hook), action, std::move(changes)});
}

} // namespace paddock
