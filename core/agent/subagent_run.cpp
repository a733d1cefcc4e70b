// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/agent/subagent_run.h"

#include "core/agent/agent_loop.h"
#include "core/agent/gear.h"
#include "core/agent/outcome.h"
#include "core/agent/step_capture.h"
#include "core/agent/subagent_prompt.h"

#include <QTimer>

namespace paddock {

namespace {

using JobPtr = std::shared_ptr<SubagentJob>;

/// What one execution keeps on the subagent loop.
struct Execution {
    explicit Execution(JobPtr j) : job(std::move(j)), usage(QStringLiteral("subagent:") + job->subagent.definition.name) {}

    JobPtr job;
    std::shared_ptr<SandboxAccess> access;
    UsageCollector usage;
    StepCapture steps;
    int turns = 0;

    void sawState(const AgentState &state)
    {
        if (!steps.update(state.messages).empty())
            job->record->updateMessages(steps.captured());
    }
    void sawReply(const MessagePtr &reply)
    {
        ++turns;
        count(reply, {});
    }
    void count(const MessagePtr &reply, const QString &caller)
    {
        if (usage.add(reply->id.isEmpty() ? newUuid() : reply->id, reply->usage, reply->responseMetadata, caller))
            job->record->updateUsage(usageRecordsToJson(usage.records()));
    }
};
using ExecutionPtr = std::shared_ptr<Execution>;

void armDeadline(QTimer &timer, const SubagentJob &job)
{
    const auto left = job.submitted + job.deadline() - std::chrono::steady_clock::now();
    timer.setSingleShot(true);
    QObject::connect(&timer, &QTimer::timeout, &timer, [record = job.record] { record->requestStop(StopCause::Deadline); });
    timer.start(std::max(std::chrono::milliseconds(0), std::chrono::ceil<std::chrono::milliseconds>(left)));
}

std::vector<ToolPtr> allowedTools(const std::vector<ToolPtr> &tools, const SubagentDefinition &definition)
{
    QStringList names;
    for (const ToolPtr &tool : tools)
        names.append(tool->spec().name);
    const QStringList kept = filterTools(names, definition.tools, definition.disallowedTools);
    std::vector<ToolPtr> allowed;
    for (std::size_t i = 0; i < tools.size(); ++i) {
        if (kept.contains(names.at(qsizetype(i))))
            allowed.push_back(tools[i]);
    }
    return allowed;
}

RuntimePtr makeRuntime(const ExecutionPtr &run, const EventSink &events)
{
    const SubagentJob &job = *run->job;
    auto runtime = std::make_shared<RuntimeContext>();
    runtime->values = job.values;
    runtime->events = events;
    runtime->sandbox = run->access;
    runtime->clock = job.services->clock;
    runtime->stop = job.record->stopToken();
    runtime->onSideReply = [run = std::weak_ptr(run)](const QString &caller, const MessagePtr &reply) {
        if (const auto alive = run.lock())
            alive->count(reply, caller);
    };
    return runtime;
}

AgentState initialState(const SubagentJob &job, const Gear &gear)
{
    SubagentPromptParts parts;
    parts.rolePrompt = job.subagent.definition.systemPrompt;
    parts.receipts = job.services->receipts;
    parts.skillSection = gear.skillSection;
    parts.deferredTools = gear.deferredTools;
    parts.routingHints = gear.routingHints;
    parts.task = job.prompt;
    parts.criteria = job.criteria;
    AgentState state;
    const MessageList prompt = assembleSubagentPrompt(parts).messages();
    for (const MessagePtr &message : prompt)
        state.messages.append(edited(message, [](Message &m) { m.id = newUuid(); }));
    state.channels = job.channels;
    return state;
}

/// Past the lists of names; the framework's own tools come with it.
Task<Result<Gear>> makeGear(ExecutionPtr run, EventSink events)
{
    const SubagentJob &job = *run->job;
    ToolsRequest wanted;
    wanted.subagent = true;
    wanted.model = job.model;
    wanted.uploads = job.channels.contains("uploaded_files");
    wanted.vision = job.services->seesImages && job.services->seesImages(job.model);
    auto tools = job.services->tools(wanted);
    if (!tools)
        co_return fail(tools.error());
    const SubagentDefinition &definition = job.subagent.definition;
    co_return co_await gearFor(job.services, allowedTools(*tools, definition), job.model, definition.skills, std::move(events));
}

Result<AgentSpec> makeSpec(const ExecutionPtr &run, const Gear &gear)
{
    const SubagentJob &job = *run->job;
    ChainRequest request = gear.chain;
    request.tokenBudget = job.subagent.tokenBudget;
    auto chain = job.services->subagentChain(request);
    if (!chain)
        return fail(chain.error());
    auto model = job.services->model(job.model);
    if (!model)
        return fail(model.error());
    AgentSpec spec;
    spec.chain = std::move(*chain);
    spec.model = std::move(*model);
    spec.tools = gear.tools;
    spec.maxTurns = job.subagent.definition.maxTurns;
    spec.modelName = job.model;
    spec.subagentType = job.subagent.definition.name;
    spec.prompt = job.prompt;
    spec.blobs = job.services->blobs;
    spec.whyStopped = [record = job.record, deadline = job.deadline()] { return stopSentence(record->stopCause(), deadline); };
    spec.onState = [run](const AgentState &state) { run->sawState(state); };
    spec.onReply = [run](const MessagePtr &reply) { run->sawReply(reply); };
    return spec;
}

Task<SubagentOutcome> runInSlot(ExecutionPtr run, EventSink events)
{
    const JobPtr job = run->job;
    if (job->record->stopToken().stop_requested())
        co_return outcomeOfFailure(cancelled().error(), job->record->stopCause(), job->deadline());
    const auto gear = co_await makeGear(run, events);
    if (job->record->stopToken().stop_requested())
        co_return outcomeOfFailure(cancelled().error(), job->record->stopCause(), job->deadline());
    auto spec = gear ? makeSpec(run, *gear) : fail(gear.error());
    if (!spec)
        co_return outcomeOfFailure(spec.error(), StopCause::None, job->deadline());
    if (job->services->sandbox)
        run->access = job->services->sandbox(subagentOwner(job->record->taskId()), job->thread, events,
                                             SandboxId(stringOf(memberOf(job->channels, "sandbox"), "sandbox_id")));
    const Result<AgentOutcome> ended = co_await runAgent(std::move(*spec), initialState(*job, *gear), makeRuntime(run, events));
    // Here the stream is closed: the loop is left and each of its tools has ended.
    if (!ended)
        co_return outcomeOfFailure(ended.error(), job->record->stopCause(), job->deadline());
    run->turns = ended->turns;
    if (job->record->stopToken().stop_requested())
        co_return outcomeOfFailure(cancelled().error(), job->record->stopCause(), job->deadline());
    co_return outcomeOf(ended->state.messages, ended->turnLimitHit, job->subagent.definition.maxTurns, ended->stopReason);
}

/// Factories are others' code: what they throw ends this execution and nothing else.
Task<SubagentOutcome> guardedRun(ExecutionPtr run, EventSink events)
{
    Error problem;
    try {
        co_return co_await runInSlot(run, std::move(events));
    } catch (const std::exception &e) {
        problem.message = QString::fromUtf8(e.what());
    } catch (...) {
        problem.message = QStringLiteral("an exception of an unknown type");
    }
    co_return outcomeOfFailure(problem, run->job->record->stopCause(), run->job->deadline());
}

void terminalize(const Execution &run, SubagentOutcome outcome, bool admissionFailure)
{
    TerminalPayload payload;
    payload.result = std::move(outcome.result);
    payload.error = std::move(outcome.error);
    payload.stopReason = std::move(outcome.stopReason);
    payload.messages = run.steps.captured();
    payload.usageRecords = usageRecordsToJson(run.usage.records());
    payload.admissionFailure = admissionFailure;
    static_cast<void>(run.job->record->trySetTerminal(outcome.status, std::move(payload)));
}

void tellStarted(const SubagentJob &job, SpanId span)
{
    AgentStarted told;
    told.parent = job.parentAgent;
    told.subagentType = job.subagent.definition.name;
    told.description = job.description.isEmpty() ? job.prompt : job.description;
    told.model = job.model;
    told.maxTurns = job.subagent.definition.maxTurns;
    told.call = job.record->callId();
    job.events.emitEvent(std::move(told), span);
}

void tellFinished(const Execution &run, SpanId span)
{
    const SubagentResult::Snapshot now = run.job->record->snapshot();
    AgentFinished told{subagentStatusName(now.status), run.turns, sumUsage(run.usage.records()).value_or(Usage{}), now.error, now.stopReason};
    const QString cause = stopSentence(run.job->record->stopCause(), run.job->deadline());
    if (!cause.isEmpty() && (now.status == SubagentStatus::Cancelled || now.status == SubagentStatus::TimedOut))
        told.cause = cause;
    run.job->events.emitEvent(std::move(told), span);
}

} // namespace

Task<> executeSubagent(std::shared_ptr<SubagentJob> job)
{
    const auto run = std::make_shared<Execution>(job);
    const SpanId span = job->events.newSpan();
    QTimer deadline; // of this loop; ends with this frame
    armDeadline(deadline, *job);
    const auto slot = co_await takeSlot(job->services->admission,
                                        [job](int position) { job->events.emitEvent(AgentQueued{position}); },
                                        job->record->stopToken());
    if (slot) {
        job->record->markRunning();
        tellStarted(*job, span);
        terminalize(*run, co_await guardedRun(run, job->events.withParent(span)), false);
        if (run->access)
            co_await run->access->release(); // the chain did it already when it ended by itself
        job->services->admission->leave();
    } else {
        terminalize(*run, outcomeOfFailure(slot.error(), job->record->stopCause(), job->deadline()), !slot.error().isCancelled());
    }
    deadline.stop();
    tellFinished(*run, span);
    if (job->record->claimUsageReport())
        job->usage.report(run->usage.records());
    job->services->registry->finished(job->record->taskId());
}

} // namespace paddock
