// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/agent/lead.h"

#include "core/agent/agent_loop.h"
#include "core/agent/gear.h"
#include "core/agent/outcome.h"
#include "core/agent/subagent_executor.h"
#include "core/agent/subagent_prompt.h"
#include "core/base/run_on.h"
#include "core/middleware/title.h"

namespace paddock {

namespace {

using ServicesPtr = std::shared_ptr<const AgentServices>;

struct Lead {
    ServicesPtr services;
    LeadRequest request;
    QString model;
    std::shared_ptr<UsageLedger> ledger = std::make_shared<UsageLedger>();
    std::shared_ptr<SandboxAccess> access;
    Usage usage;
    int turns = 0;
    bool titled = false;
};
using LeadPtr = std::shared_ptr<Lead>;

Json leadValues(const Lead &lead)
{
    Json values = lead.request.values.is_object() ? lead.request.values : Json::object();
    const std::string owner = toUtf8(runOwner(lead.request.run).value());
    values["thread_id"] = toUtf8(lead.request.thread.thread.value());
    values["user_id"] = toUtf8(lead.request.thread.user.value());
    values["run_id"] = toUtf8(lead.request.run.value());
    values["agent_id"] = "lead";
    values["model_name"] = toUtf8(lead.model);
    values["sandbox_lease_owner_id"] = owner;
    values["sandbox_command_scope_id"] = owner;
    if (lead.request.allowedSubagents) {
        values["allowed_subagents"] = Json::array();
        for (const QString &name : *lead.request.allowedSubagents)
            values["allowed_subagents"].push_back(toUtf8(name));
    }
    return values;
}

Task<Result<AgentSpec>> makeSpec(LeadPtr lead, EventSink events)
{
    const auto dispatcher = std::make_shared<SubagentExecutor>(
        lead->services, SubagentExecutor::Parent{lead->request.thread, lead->ledger, lead->request.allowedSubagents});
    ToolsRequest wanted;
    wanted.model = lead->model;
    wanted.dispatcher = dispatcher;
    wanted.vision = lead->services->seesImages && lead->services->seesImages(lead->model);
    auto tools = lead->services->tools(wanted);
    if (!tools)
        co_return fail(tools.error());
    auto gear = co_await gearFor(lead->services, std::move(*tools), lead->model, namesFromJson(memberOf(lead->request.values, "available_skills")), events);
    if (!gear)
        co_return fail(gear.error());
    auto chain = lead->services->leadChain(gear->chain);
    if (!chain)
        co_return fail(chain.error());
    auto model = lead->services->model(lead->model);
    if (!model)
        co_return fail(model.error());
    AgentSpec spec;
    spec.chain = std::move(*chain);
    spec.model = std::move(*model);
    const AgentServices &services = *lead->services;
    spec.systemPrompt = systemMessage(leadPrompt({dispatcher->available(), services.delegation.perResponse,
                                                  services.delegation.perRun, services.asksPerson})
                                      + gear->promptTail());
    spec.tools = std::move(gear->tools);
    spec.maxTurns = lead->services->maxLeadTurns;
    spec.modelName = lead->model;
    spec.prompt = lead->request.task;
    spec.blobs = lead->services->blobs;
    spec.onState = [lead](const AgentState &state) {
        lead->titled = lead->titled || !memberOf(state.channels, "title").is_null();
    };
    spec.whyStopped = lead->request.whyStopped;
    spec.onReply = [lead](const MessagePtr &reply) {
        ++lead->turns;
        if (reply->usage)
            lead->usage += *reply->usage;
    };
    co_return spec;
}

void reportFailure(LeadReport &report, const Error &error, const QString &whyStopped)
{
    report.status = error.isCancelled() ? QStringLiteral("cancelled") : QStringLiteral("failed");
    report.error = error.fullMessage();
    if (error.isCancelled())
        report.error = whyStopped.isEmpty() ? QStringLiteral("Cancelled by user") : whyStopped;
}

void reportEnd(LeadReport &report, const AgentOutcome &ended, int maxTurns)
{
    const MessagePtr last = lastAi(ended.state.messages);
    report.answer = pendingQuestion(ended.state.messages).value_or(last ? textOf(last) : QString());
    report.turns = ended.turns;
    report.status = QStringLiteral("failed");
    if (ended.turnLimitHit)
        report.error = QStringLiteral("Reached max_recursion_limit=%1").arg(maxTurns);
    else if (const auto error = fallbackError(ended.state.messages))
        report.error = *error;
    else
        report.status = QStringLiteral("completed");
}

/// A thread whose first turn was interrupted has a title too (runtime §5.5).
void tellLocalTitle(const Lead &lead, const EventSink &events)
{
    if (lead.titled || lead.services->titleChars <= 0)
        return;
    const QString title = localTitle(lead.request.task, lead.services->titleChars);
    events.emitEvent(MiddlewareActed{QStringLiteral("title"), QStringLiteral("TitleMiddleware"), QString(), QStringLiteral("set"),
                                     Json{{"title", toUtf8(title)}, {"source", "local"}}});
}

Task<LeadReport> runGuarded(LeadPtr lead, EventSink events)
{
    LeadReport report;
    std::optional<Error> problem;
    try {
        if (lead->services->sandbox)
            lead->access = lead->services->sandbox(runOwner(lead->request.run), lead->request.thread, events, {});
        auto spec = co_await makeSpec(lead, events);
        if (spec) {
            auto runtime = std::make_shared<RuntimeContext>();
            runtime->values = leadValues(*lead);
            runtime->events = events;
            runtime->sandbox = lead->access;
            runtime->clock = lead->services->clock;
            runtime->stop = lead->request.stop;
            runtime->onSideReply = [ledger = lead->ledger](const QString &caller, const MessagePtr &reply) {
                UsageCollector one(caller);
                one.add(reply->id.isEmpty() ? newUuid() : reply->id, reply->usage, reply->responseMetadata);
                ledger->record(one.records());
            };
            AgentState initial;
            initial.messages.append(edited(humanMessage(lead->request.task), [](Message &m) { m.id = newUuid(); }));
            const auto ended = co_await runAgent(std::move(*spec), std::move(initial), runtime);
            if (ended)
                reportEnd(report, *ended, lead->services->maxLeadTurns);
            else
                problem = ended.error();
            report.stopReason = optionalString(runtime->values, "stop_reason");
        } else {
            problem = spec.error();
        }
    } catch (const std::exception &e) {
        problem = Error{ErrorCode::Internal, QString::fromUtf8(e.what()), Json::object(), nullptr};
    } catch (...) {
        problem = Error{ErrorCode::Internal, QStringLiteral("an exception of an unknown type"), Json::object(), nullptr};
    }
    if (problem) {
        reportFailure(report, *problem, lead->request.whyStopped ? lead->request.whyStopped() : QString());
        report.turns = lead->turns;
        tellLocalTitle(*lead, events);
    }
    co_return report;
}

/// Lets what was posted to this loop before now run first: the last usage reports of subagents.
Task<> settle()
{
    Completion<void> turn;
    LoopRef::current().post([turn] { turn.complete(); });
    co_await turn;
}

} // namespace

Task<LeadReport> runLead(std::shared_ptr<const AgentServices> services, LeadRequest request)
{
    const auto lead = std::make_shared<Lead>();
    lead->services = std::move(services);
    lead->request = std::move(request);
    lead->model = lead->request.model;
    if (lead->model.isEmpty() && !lead->services->models.isEmpty())
        lead->model = lead->services->models.first();
    const EventSink events = lead->request.events;
    const SpanId span = events.newSpan();
    events.emitEvent(AgentStarted{{}, {}, lead->request.task, lead->model, lead->services->maxLeadTurns, {}}, span);
    LeadReport report = co_await runGuarded(lead, events.withParent(span));
    if (lead->access)
        co_await lead->access->release(); // the chain did it already when it ended by itself
    co_await settle();
    report.leadUsage = lead->usage;
    report.usage = lead->usage;
    report.usage += lead->ledger->total();
    events.emitEvent(AgentFinished{report.status, report.turns, report.leadUsage, report.error, report.stopReason}, span);
    co_return report;
}

} // namespace paddock
