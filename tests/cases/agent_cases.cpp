// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// Areas of core/agent.
#include "core/agent/admission.h"
#include "core/agent/agent_loop.h"
#include "core/agent/outcome.h"
#include "core/agent/status_contract.h"
#include "core/agent/step_capture.h"
#include "core/agent/subagent_catalogue.h"
#include "core/agent/subagent_prompt.h"
#include "core/agent/subagent_result.h"
#include "core/sandbox/host_bash.h"
#include "tests/cases/case_registry.h"

#include <map>

namespace paddock::cases::agent_cases {

namespace {

Verdict verdictOf(const QString &problem)
{
    return problem.isEmpty() ? passed() : failed(problem);
}

Verdict compared(const Json &testCase, const Json &actual)
{
    return verdictOf(mismatch(memberOf(testCase, "expect"), actual));
}

Json orNull(const std::optional<QString> &text)
{
    return text ? toJson(*text) : Json(nullptr);
}

Result<MessageList> messagesOf(const Json &list)
{
    MessageList messages;
    for (const Json &item : list) {
        auto message = messageFromJson(item);
        if (!message)
            return fail(message.error());
        messages.append(makeMessage(std::move(*message)));
    }
    return messages;
}

// ---- status, state, outcome

SubagentReport reportOf(const Json &input)
{
    SubagentReport report;
    report.status = stringOf(input, "status");
    report.result = optionalString(input, "result");
    report.error = optionalString(input, "error");
    report.stopReason = optionalString(input, "stop_reason");
    report.modelName = optionalString(input, "model_name");
    report.usage = memberOf(input, "token_usage");
    return report;
}

Verdict status(const Json &testCase)
{
    const Json input = expandParts(memberOf(testCase, "input"));
    const QString op = stringOf(input, "op");
    Json actual = Json::object();
    if (op == u"status.format") {
        const auto text = reportText(reportOf(input));
        if (text)
            actual = Json{{"content", toJson(text->content)}, {"metadata_error", orNull(text->metadataError)}};
        else
            actual["error"] = true;
    } else if (op == u"status.make") {
        const auto kwargs = reportKwargs(reportOf(input));
        if (kwargs) {
            actual["kwargs"] = *kwargs;
            // What is not listed must not be written.
            if (const Json &wanted = memberOf(memberOf(testCase, "expect"), "kwargs"); wanted.is_object())
                return verdictOf(strictMismatch(wanted, *kwargs));
        } else {
            actual["error"] = true;
        }
    } else if (op == u"status.read") {
        actual["value"] = readReport(memberOf(input, "kwargs"));
        if (const Json &wanted = memberOf(memberOf(testCase, "expect"), "value"); wanted.is_object())
            return verdictOf(strictMismatch(wanted, actual["value"]));
    } else {
        return failed(QStringLiteral("unknown op '%1'").arg(op));
    }
    return compared(testCase, actual);
}

TerminalPayload payloadOf(const Json &op)
{
    TerminalPayload payload;
    payload.result = optionalString(op, "result");
    payload.error = optionalString(op, "error");
    payload.stopReason = optionalString(op, "stop_reason");
    if (const Json &usage = memberOf(op, "token_usage_records"); !usage.is_null())
        payload.usageRecords = usage;
    return payload;
}

Verdict state(const Json &testCase)
{
    const Json &input = memberOf(testCase, "input");
    SubagentResult record(QStringLiteral("t"), {});
    if (stringOf(input, "initial", QStringLiteral("running")) == u"running")
        record.markRunning();
    Json returns = Json::array();
    for (const Json &op : memberOf(input, "ops")) {
        if (!op.contains("status")) {
            record.updateUsage(memberOf(op, "usage"));
            returns.push_back(nullptr);
            continue;
        }
        const auto target = subagentStatusFromName(stringOf(op, "status"));
        const auto set = target ? record.trySetTerminal(*target, payloadOf(op)) : Result<bool>(fail(ErrorCode::InvalidArgument, QString()));
        returns.push_back(set ? Json(*set) : Json("error"));
    }
    const auto now = record.snapshot();
    return compared(testCase, Json{{"returns", returns},
                                   {"status", toJson(subagentStatusName(now.status))},
                                   {"result", orNull(now.result)},
                                   {"error", orNull(now.error)},
                                   {"stop_reason", orNull(now.stopReason)},
                                   {"usage", now.usageRecords},
                                   {"completed", now.completedAt.has_value()}});
}

Verdict outcome(const Json &testCase)
{
    const Json input = expandParts(memberOf(testCase, "input"));
    const auto messages = messagesOf(memberOf(input, "messages"));
    if (!messages)
        return failed(messages.error().message);
    std::optional<QString> reason;
    for (const Json &guard : memberOf(input, "guards")) {
        if (!reason && guard.is_string())
            reason = textOf(guard);
    }
    const SubagentOutcome got = outcomeOf(*messages, boolOf(input, "turn_limit"), int(intOf(input, "max_turns", 50)), reason);
    return compared(testCase, Json{{"status", toJson(subagentStatusName(got.status))},
                                   {"result", orNull(got.result)},
                                   {"error", orNull(got.error)},
                                   {"stop_reason", orNull(got.stopReason)}});
}

// ---- admission, turns, steps

/// Plays the events against the real queue, on one thread and without a clock.
class AdmissionPlay
{
public:
    explicit AdmissionPlay(const Json &config) : m_queue(options(config)) {}

    void event(const QString &kind, const QString &task)
    {
        if (kind == u"submit")
            submit(task);
        else if (!m_tasks.contains(task))
            return; // nothing of that name
        else if (kind == u"finish")
            end(task, "completed");
        else if (kind == u"cancel")
            end(task, "cancelled");
        else if (kind == u"deadline")
            end(task, "timed_out");
        else if (kind == u"queue_timeout" && m_tasks[task].status == "pending") {
            m_errors.push_back(toUtf8(m_queue.timedOut().message));
            end(task, "failed");
        }
        grant();
    }

    Json result() const
    {
        Json status = Json::object();
        for (const auto &[name, task] : m_tasks)
            status[toUtf8(name)] = task.status;
        const auto now = m_queue.snapshot();
        return Json{{"status", status}, {"running", now.running}, {"queued", now.queued}, {"errors", m_errors}};
    }

private:
    struct Entry {
        std::string status;
        AdmissionQueue::WaiterPtr waiter;
    };

    static AdmissionOptions options(const Json &config)
    {
        AdmissionOptions o;
        o.maxRunning = int(intOf(config, "max_running", o.maxRunning));
        o.maxQueued = int(intOf(config, "max_queued", o.maxQueued));
        o.reject = stringOf(config, "admission_policy") == u"reject";
        o.queueTimeout = std::chrono::seconds(intOf(config, "queue_timeout_seconds", o.queueTimeout.count()));
        return o;
    }
    void submit(const QString &task)
    {
        const auto entry = m_queue.enter();
        if (!entry) {
            m_errors.push_back(toUtf8(entry.error().message));
            m_tasks[task] = {"failed", nullptr};
        } else {
            m_tasks[task] = {entry->waiter ? "pending" : "running", entry->waiter};
        }
    }
    void end(const QString &task, const char *status)
    {
        Entry &entry = m_tasks[task];
        if (entry.status == "running")
            m_queue.leave();
        else if (entry.status == "pending")
            m_queue.withdraw(entry.waiter);
        else
            return;
        entry.status = status;
    }
    void grant()
    {
        for (auto &[name, task] : m_tasks) {
            if (task.status == "pending" && task.waiter->granted.isComplete())
                task.status = "running";
        }
    }

    AdmissionQueue m_queue;
    std::map<QString, Entry> m_tasks;
    Json m_errors = Json::array();
};

Verdict admission(const Json &testCase)
{
    const Json &input = memberOf(testCase, "input");
    AdmissionPlay play(memberOf(input, "config"));
    for (const Json &event : memberOf(input, "events"))
        play.event(textOf(event.at(0)), textOf(event.at(1)));
    return compared(testCase, play.result());
}

Verdict turns(const Json &testCase)
{
    const Json &input = memberOf(testCase, "input");
    const int max = int(intOf(input, "max_turns"));
    return compared(testCase, Json{{"limit", referenceStepLimit(max, int(intOf(input, "loop_hooks")), int(intOf(input, "invocation_hooks")))},
                                   {"model_calls", allowedModelCalls(max)}});
}

Verdict steps(const Json &testCase)
{
    StepCapture capture;
    for (const Json &snapshot : memberOf(memberOf(testCase, "input"), "snapshots")) {
        const auto messages = messagesOf(snapshot);
        if (!messages)
            return failed(messages.error().message);
        capture.update(*messages);
    }
    Json ids = Json::array();
    for (const MessagePtr &message : capture.captured())
        ids.push_back(toUtf8(message->id));
    return compared(testCase, Json{{"captured", ids}, {"cursor", capture.cursor()}});
}

// ---- prompt, catalogue

Verdict prompt(const Json &testCase)
{
    const Json input = expandParts(memberOf(testCase, "input"));
    if (stringOf(input, "op") == u"prompt.deferred")
        return compared(testCase, Json{{"text", toJson(deferredToolsSection(namesFromJson(memberOf(input, "names")).value_or(QStringList())))}});
    SubagentPromptParts parts;
    parts.rolePrompt = stringOf(input, "role_prompt");
    const QStringList skills = namesFromJson(memberOf(input, "skills")).value_or(QStringList());
    if (!skills.isEmpty())
        parts.skillSection = QStringLiteral("<skill_system>%1</skill_system>").arg(skills.join(u' '));
    parts.deferredTools = namesFromJson(memberOf(input, "deferred")).value_or(QStringList());
    if (boolOf(input, "routing_hints"))
        parts.routingHints = QStringLiteral("<mcp_routing_hints></mcp_routing_hints>");
    parts.task = stringOf(input, "task", QStringLiteral("task"));
    parts.criteria = normalizeCriteria(memberOf(input, "criteria"));
    const SubagentPrompt made = assembleSubagentPrompt(parts);
    Json roles = Json::array();
    for (const MessagePtr &message : made.messages())
        roles.push_back(toUtf8(roleName(message->role)));
    int inSystem = 0;
    for (const QString &criterion : parts.criteria)
        inSystem += made.system.contains(QStringLiteral("- ") + criterion) ? 1 : 0;
    return compared(testCase, Json{{"system_parts", namesToJson(made.parts)},
                                   {"messages", roles},
                                   {"criteria_in_task", made.task.count(QStringLiteral("\n- "))},
                                   {"criteria_in_system", inSystem}});
}

Verdict resolve(const Json &testCase)
{
    const Json &input = memberOf(testCase, "input");
    const SubagentOptions options = subagentOptionsFrom(memberOf(input, "subagents"));
    const bool bash = !input.contains("sandbox") || isHostBashAllowed(memberOf(input, "sandbox"));
    const QStringList available = availableSubagents(options, bash, namesFromJson(memberOf(input, "allowed_subagents")));
    const auto definition = findSubagent(options, stringOf(input, "name"));
    Json actual{{"found", definition.has_value()}, {"available", namesToJson(available)}};
    if (definition) {
        ResolveContext context;
        context.parentModel = stringOf(input, "parent_model");
        context.models = input.contains("models") ? namesFromJson(memberOf(input, "models")).value_or(QStringList()) : QStringList{QStringLiteral("m1")};
        context.parentSkills = namesFromJson(memberOf(input, "parent_skills"));
        context.summarization = boolOf(input, "summarization");
        const ResolvedSubagent resolved = resolveSubagent(*definition, options, context);
        actual["timeout"] = resolved.definition.timeoutSeconds;
        actual["max_turns"] = resolved.definition.maxTurns;
        actual["model"] = resolved.model ? toJson(*resolved.model) : Json("error");
        actual["skills"] = resolved.definition.skills ? namesToJson(*resolved.definition.skills) : Json(nullptr);
        actual["budget"] = resolved.tokenBudget ? Json(resolved.tokenBudget->maxTokens) : Json(nullptr);
        actual["polls"] = pollBudget(resolved.definition.timeoutSeconds);
    }
    return compared(testCase, actual);
}

Verdict toolsFilter(const Json &testCase)
{
    const Json &input = memberOf(testCase, "input");
    const auto list = [&](const char *key) { return namesFromJson(memberOf(input, key)); };
    return compared(testCase, Json{{"tools", namesToJson(filterTools(list("tools").value_or(QStringList()), list("allow"),
                                                                list("deny").value_or(QStringList())))}});
}

Verdict skillsMerge(const Json &testCase)
{
    const Json &input = memberOf(testCase, "input");
    const auto merged = mergeSkills(namesFromJson(memberOf(input, "parent")), namesFromJson(memberOf(input, "child")));
    return compared(testCase, Json{{"skills", merged ? namesToJson(*merged) : Json(nullptr)}});
}

// ---- sandbox.json

Verdict delegate(const Json &testCase)
{
    const Json &input = memberOf(testCase, "input");
    const bool allowed = isHostBashAllowed(memberOf(input, "sandbox"));
    const auto visible = namesFromJson(memberOf(input, "visible_names"));
    const auto refusal = refuseDelegation(stringOf(memberOf(input, "task"), "subagent_type"), allowed,
                                          visible ? *visible : availableSubagents({}, allowed, std::nullopt), false);
    if (!refusal)
        return compared(testCase, Json{{"status", "completed"}});
    SubagentReport report;
    report.status = QStringLiteral("failed");
    report.error = *refusal;
    return compared(testCase, Json{{"status", "failed"},
                                   {"content", toJson(reportText(report)->content)},
                                   {"error", memberOf(*reportKwargs(report), "subagent_error")},
                                   {"leases_created", 0}, // refused before anything is made
                                   {"subagent_events", 0}});
}

const Registrar registrars[] = {
    {"status", status}, {"state", state}, {"outcome", outcome}, {"admission", admission}, {"turns", turns}, {"steps", steps},
    {"prompt", prompt}, {"config#subagent.resolve", resolve}, {"config#tools.filter", toolsFilter}, {"config#skills.merge", skillsMerge},
    {"hostbash.delegate", delegate},
};

} // namespace

} // namespace paddock::cases::agent_cases
