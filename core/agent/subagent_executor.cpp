// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/agent/subagent_executor.h"

#include "core/agent/forwarding.h"
#include "core/agent/status_contract.h"
#include "core/agent/subagent_loop.h"
#include "core/agent/subagent_prompt.h"
#include "core/agent/subagent_run.h"
#include "core/base/run_on.h"

namespace paddock {

struct SubagentExecutor::State {
    std::shared_ptr<const AgentServices> services;
    Parent parent;

    bool hostBashAllowed() const { return !services->hostBashAllowed || services->hostBashAllowed(); }
    QStringList available() const { return availableSubagents(services->subagents, hostBashAllowed(), parent.allowed); }
};

namespace {

using StatePtr = std::shared_ptr<const SubagentExecutor::State>;

MessagePtr failure(const QString &error, const QString &callId)
{
    SubagentReport report;
    report.status = QStringLiteral("failed");
    report.error = error;
    return reportMessage(report, callId);
}

/// What would be created, or why not; nothing is created yet.
Result<ResolvedSubagent> resolve(const SubagentExecutor::State &state, const SubagentRequest &request)
{
    if (const auto refusal = refuseDelegation(request.subagentType, state.hostBashAllowed(), state.available(), state.parent.allowed.has_value()))
        return fail(ErrorCode::PermissionDenied, *refusal);
    const auto definition = findSubagent(state.services->subagents, request.subagentType);
    if (!definition)
        return fail(ErrorCode::NotFound, QStringLiteral("Unknown subagent type '%1'").arg(request.subagentType));
    ResolveContext context;
    context.parentModel = stringOf(request.parent.runtime->values, "model_name");
    context.models = state.services->models;
    context.parentSkills = namesFromJson(memberOf(request.parent.runtime->values, "available_skills"));
    context.summarization = state.services->summarization;
    ResolvedSubagent resolved = resolveSubagent(*definition, state.services->subagents, context);
    if (!resolved.model)
        return fail(resolved.model.error());
    return resolved;
}

std::shared_ptr<SubagentJob> makeJob(const SubagentExecutor::State &state, const SubagentRequest &request, ResolvedSubagent subagent)
{
    const RuntimeContext &parent = *request.parent.runtime;
    const QString taskId = newShortId();
    auto job = std::make_shared<SubagentJob>();
    job->services = state.services;
    job->record = std::make_shared<SubagentResult>(taskId, request.parent.call.id, state.services->clock);
    job->model = *subagent.model;
    job->subagent = std::move(subagent);
    job->description = request.description;
    job->prompt = request.prompt;
    job->criteria = normalizeCriteria(request.acceptanceCriteria);
    job->values = childValues(parent.values, job->subagent.definition.name, taskId, job->model);
    job->channels = childChannels(request.parent.state.channels);
    job->thread = state.parent.thread;
    job->events = parent.events.withAgent(subagentAgent(taskId));
    job->parentAgent = parent.events.agent().value();
    job->usage = UsageProxy(LoopRef::current(), state.parent.usage);
    return job;
}

/// Crosses to the subagent loop and back. The wait is not cancellable: what it waits for is.
Task<> runThere(LoopRef loop, std::shared_ptr<SubagentJob> job)
{
    QString problem;
    try {
        co_await runOn(loop, [job] { return executeSubagent(job); });
        co_return;
    } catch (const std::exception &e) {
        problem = QString::fromUtf8(e.what());
    } catch (...) {
        problem = QStringLiteral("an exception of an unknown type");
    }
    TerminalPayload payload;
    payload.error = QStringLiteral("The subagent could not be run: ") + problem;
    static_cast<void>(job->record->trySetTerminal(SubagentStatus::Failed, std::move(payload)));
    job->services->registry->finished(job->record->taskId());
}

SubagentReport reportOf(const SubagentJob &job)
{
    const SubagentResult::Snapshot now = job.record->snapshot();
    SubagentReport report;
    report.status = subagentStatusName(now.status);
    report.result = now.result;
    report.error = now.error;
    report.stopReason = now.stopReason;
    report.modelName = job.model;
    if (const auto usage = sumUsage(usageRecordsFromJson(now.usageRecords)))
        report.usage = usageToJson(*usage);
    return report;
}

Task<Result<ToolOutcome>> dispatchTo(StatePtr state, SubagentRequest request)
{
    const QString callId = request.parent.call.id;
    auto subagent = resolve(*state, request);
    if (!subagent)
        co_return ToolOutcome(failure(subagent.error().message, callId));
    // The loop first: when it cannot start, nothing is left half-made.
    auto loop = SubagentLoop::instance().ref();
    if (!loop)
        co_return ToolOutcome(failure(loop.error().message, callId));
    const auto job = makeJob(*state, request, std::move(*subagent));
    const auto registry = state->services->registry;
    registry->add(job->record);
    {
        const std::stop_callback onStop(request.parent.stop, [record = job->record] { record->requestStop(StopCause::Parent); });
        co_await runThere(*loop, job);
    }
    registry->cleanup(job->record->taskId());
    if (request.parent.stop.stop_requested())
        co_return cancelled();
    co_return ToolOutcome(reportMessage(reportOf(*job), callId));
}

} // namespace

MessagePtr reportMessage(const SubagentReport &report, const QString &callId)
{
    const auto text = reportText(report);
    auto kwargs = reportKwargs(report);
    if (!text || !kwargs)
        return failure(!text ? text.error().message : kwargs.error().message, callId);
    const bool good = report.status == u"completed";
    return edited(toolMessage(callId, QStringLiteral("task"), text->content, good ? ToolStatus::Success : ToolStatus::Error),
                  [&](Message &message) { message.kwargs = std::move(*kwargs); });
}

SubagentExecutor::SubagentExecutor(std::shared_ptr<const AgentServices> services, Parent parent)
{
    auto state = std::make_shared<State>();
    state->services = std::move(services);
    state->parent = std::move(parent);
    m_state = std::move(state);
}

QStringList SubagentExecutor::available() const
{
    return m_state->available();
}

Task<Result<ToolOutcome>> SubagentExecutor::dispatch(SubagentRequest request)
{
    return dispatchTo(m_state, std::move(request));
}

} // namespace paddock
