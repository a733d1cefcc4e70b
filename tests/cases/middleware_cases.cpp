// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// Areas chain.*, dangling.patch, threaddata.*, sandbox.attach, sandbox.lifecycle, loop*, coalesce, date, chain (runtime).
#include "core/lease/lease_registry.h"
#include "core/middleware/chain_build.h"
#include "core/middleware/dangling_tool_call.h"
#include "core/middleware/loop_detection.h"
#include "core/middleware/route.h"
#include "core/middleware/sandbox_member.h"
#include "core/middleware/subagent_date_context.h"
#include "core/middleware/system_message_coalescing.h"
#include "core/middleware/thread_data.h"
#include "tests/cases/middleware_support.h"

#include <QDateTime>

namespace paddock::cases::middleware_cases {

namespace {

// --- chain.order -----------------------------------------------------------------------------------------------------

using EventLog = std::shared_ptr<Json>;

class LoggingMember : public Middleware
{
public:
    LoggingMember(QString name, Hooks hooks, EventLog log) : m_name(std::move(name)), m_hooks(hooks), m_log(std::move(log)) {}

    QString name() const override { return m_name; }
    Hooks hooks() const override { return m_hooks; }
    Task<Result<StateUpdate>> beforeAgent(AgentState, RuntimePtr) override { return node(Hook::BeforeAgent); }
    Task<Result<StateUpdate>> beforeModel(AgentState, RuntimePtr) override { return node(Hook::BeforeModel); }
    Task<Result<StateUpdate>> afterModel(AgentState, RuntimePtr) override { return node(Hook::AfterModel); }
    Task<Result<StateUpdate>> afterAgent(AgentState, RuntimePtr) override { return node(Hook::AfterAgent); }
    Task<Result<ModelResponse>> wrapModelCall(ModelCall call, ModelNext next) override
    {
        enter(Hook::WrapModelCall);
        auto result = co_await next(std::move(call));
        leave();
        co_return result;
    }
    Task<Result<ToolOutcome>> wrapToolCall(ToolCallRequest request, ToolNext next) override
    {
        enter(Hook::WrapToolCall);
        auto result = co_await next(std::move(request));
        leave();
        co_return result;
    }

private:
    Task<Result<StateUpdate>> node(Hook hook)
    {
        m_log->push_back(toUtf8(m_name + u'.' + hookName(hook)));
        co_return StateUpdate{};
    }
    void enter(Hook hook) { m_log->push_back(toUtf8(m_name + u'.' + hookName(hook) + u'{')); }
    void leave() { m_log->push_back(toUtf8(u'}' + m_name)); }

    const QString m_name;
    const Hooks m_hooks;
    EventLog m_log;
};

Hooks hooksOf(const Json &names)
{
    Hooks hooks;
    for (const Hook hook : allHooks) {
        for (const Json &name : names) {
            if (textOf(name) == hookName(hook))
                hooks |= hook;
        }
    }
    return hooks;
}

MessagePtr scriptedAnswer(const Json &toolNames, int turn)
{
    std::vector<ToolCall> calls;
    for (const Json &name : toolNames)
        calls.push_back({textOf(name), Json::object(), QStringLiteral("call_%1_%2").arg(turn).arg(calls.size())});
    return aiMessage(QString(), std::move(calls));
}

Task<Result<ModelResponse>> answerWith(MessagePtr message)
{
    co_return ModelResponse{{message}, {}};
}

/// The loop of §1.3 over one chain, with scripted model turns.
Task<Result<void>> driveLoop(std::shared_ptr<Chain> chain, Json turns, EventLog log)
{
    const RuntimePtr runtime = plainRuntime();
    AgentState state;
    auto entered = co_await chain->runNode(Hook::BeforeAgent, state, runtime);
    if (!entered)
        co_return std::unexpected(entered.error());
    state = entered->state;
    for (int turn = 0; turn < int(turns.size()); ++turn) {
        auto before = co_await chain->runNode(Hook::BeforeModel, state, runtime);
        if (!before)
            co_return std::unexpected(before.error());
        const MessagePtr answer = scriptedAnswer(turns[std::size_t(turn)], turn);
        ModelCall call;
        call.runtime = runtime;
        auto response = co_await chain->runModel(call, [log, answer](ModelCall) {
            log->push_back("model");
            return answerWith(answer);
        });
        if (!response)
            co_return std::unexpected(response.error());
        StateUpdate update;
        update.messages = response->messages;
        state = *applyUpdate(before->state, update);
        auto after = co_await chain->runNode(Hook::AfterModel, state, runtime);
        if (!after)
            co_return std::unexpected(after.error());
        state = after->state;
        const Route route = routeAfterModel(state.messages, {after->jumpTo, false, {}});
        if (route.to != RouteTo::Tools)
            break;
        StateUpdate results;
        for (const ToolCall &pending : route.pending) {
            auto outcome = co_await chain->runTool(toolRequest(runtime, pending, state), toolCore([log](ToolCallRequest request) {
                log->push_back("tool:" + toUtf8(request.context.call.name));
                return Result<ToolOutcome>(toolMessage(request.context.call.id, request.context.call.name, QStringLiteral("ok")));
            }));
            if (!outcome)
                co_return std::unexpected(outcome.error());
            results.messages.push_back(std::get<MessagePtr>(*outcome));
        }
        state = *applyUpdate(state, results);
    }
    auto left = co_await chain->runNode(Hook::AfterAgent, state, runtime);
    if (!left)
        co_return std::unexpected(left.error());
    co_return Result<void>();
}

Verdict chainOrder(const Json &testCase)
{
    const Json &input = memberOf(testCase, "input");
    auto log = std::make_shared<Json>(Json::array());
    std::vector<MiddlewarePtr> members;
    for (const Json &member : memberOf(input, "members"))
        members.push_back(std::make_shared<LoggingMember>(stringOf(member, "name"), hooksOf(memberOf(member, "hooks")), log));
    auto chain = Chain::compile(members);
    if (!chain)
        return failed(chain.error().message);
    const auto driven = awaited(driveLoop(*chain, memberOf(input, "model_turns"), log));
    if (!driven)
        return failed(driven.error().message);
    return verdictOf(mismatch(memberOf(testCase, "expect"), *log));
}

Verdict chainRoute(const Json &testCase)
{
    const Json &input = memberOf(testCase, "input");
    const auto messages = messageListOf(memberOf(input, "messages"));
    if (!messages)
        return failed(messages.error().message);
    const QString jump = stringOf(input, "jump_to");
    RouteOptions options;
    options.jumpTo = jump == u"model" ? JumpTo::Model : jump == u"tools" ? JumpTo::Tools : jump == u"end" ? JumpTo::End : JumpTo::None;
    for (const char *key : {"structured_response", "has_structured_response"}) {
        const Json &structured = memberOf(input, key);
        options.structuredResponse = options.structuredResponse || !(structured.is_null() || structured == false);
    }
    for (const Json &name : memberOf(input, "structured_tools"))
        options.structuredTools.append(textOf(name));
    const Route route = routeAfterModel(*messages, options);
    Json pending = Json::array();
    for (const ToolCall &call : route.pending)
        pending.push_back(toUtf8(call.id));
    const char *next = route.to == RouteTo::Tools ? "tools" : route.to == RouteTo::LoopEntry ? "loop_entry" : "end";
    return verdictOf(mismatch(memberOf(testCase, "expect"), Json{{"next", next}, {"pending", pending}}));
}

Verdict orderingCheck(const Json &testCase)
{
    const Json &input = memberOf(testCase, "input");
    QStringList chain;
    for (const Json &name : memberOf(input, "chain"))
        chain.append(textOf(name));
    std::vector<OrderConstraint> rules;
    for (const Json &rule : memberOf(input, "constraints"))
        rules.push_back({stringOf(rule, "outer"), stringOf(rule, "inner"), stringOf(rule, "reason")});
    Json violations = Json::array();
    for (const OrderViolation &violation : checkOrder(chain, rules)) {
        violations.push_back({{"outer", toUtf8(violation.rule.outer)},
                              {"inner", toUtf8(violation.rule.inner)},
                              {"outer_indices", Json(std::vector<int>(violation.outerIndices.begin(), violation.outerIndices.end()))},
                              {"inner_indices", Json(std::vector<int>(violation.innerIndices.begin(), violation.innerIndices.end()))}});
    }
    return verdictOf(mismatch(memberOf(testCase, "expect"), Json{{"violations", violations}}));
}

// --- members ---------------------------------------------------------------------------------------------------------

Verdict danglingPatch(const Json &testCase)
{
    const Json input = expandParts(memberOf(testCase, "input"));
    const auto messages = messageListOf(memberOf(input, "messages"));
    if (!messages)
        return failed(messages.error().message);
    const MessageList patched = DanglingToolCallMiddleware::patch(*messages);
    const Json actual{{"changed", !patched.isSameAs(*messages)}, {"messages", messagesToJson(patched)}};
    return verdictOf(mismatch(memberOf(testCase, "expect"), actual));
}

/// bug-15, #2319: a history that a loop guard left unpaired.
Verdict unpairedHistory(const Json &testCase)
{
    const auto messages = messageListOf(memberOf(memberOf(testCase, "input"), "messages"));
    if (!messages)
        return failed(messages.error().message);
    const MessageList patched = DanglingToolCallMiddleware::patch(*messages);
    if (patched.size() != 4 || patched.at(1) != messages->at(1) || patched.at(3) != messages->at(2))
        return failed(QStringLiteral("only the placeholder may be new: %1").arg(QString::fromUtf8(dumpJson(messagesToJson(patched)))));
    const MessagePtr answer = patched.at(2);
    if (answer->role != Role::Tool || answer->toolCallId != u"c2" || answer->status != ToolStatus::Error)
        return failed(QStringLiteral("c2 needs an error result directly behind that of c1"));
    return passed();
}

Json replacedBase(const Json &value, const QString &base)
{
    QByteArray text = dumpJson(value);
    text.replace("{base}", base.toUtf8());
    return *parseJson(text);
}

Verdict threadData(const Json &testCase)
{
    const Json &input = memberOf(testCase, "input");
    const auto messages = messageListOf(memberOf(input, "messages"));
    if (!messages)
        return failed(messages.error().message);
    Json values = memberOf(input, "context");
    values["configurable"] = memberOf(input, "configurable");
    const QString base = QStringLiteral("/srv/paddock");
    ThreadDataMiddleware member({base, {}, true});
    const auto update = awaited(member.beforeAgent({*messages, Json::object()}, plainRuntime(values)));
    Json actual = Json::object();
    if (!update) {
        const bool whichever = memberOf(memberOf(testCase, "expect"), "error").is_boolean();
        actual["error"] = whichever ? Json(true) : toJson(update.error().message);
    } else {
        actual["thread_data"] = update->channels["thread_data"];
        actual["messages"] = messagesToJson(update->messages);
    }
    return verdictOf(mismatch(replacedBase(memberOf(testCase, "expect"), base), actual));
}

Json outcomeToJson(const ToolOutcome &outcome)
{
    if (const auto *message = std::get_if<MessagePtr>(&outcome))
        return Json{{"kind", "message"}, {"message", messageToJson(**message)}};
    const StateUpdate &update = std::get<Command>(outcome).update;
    if (update.isEmpty())
        return Json{{"kind", "command"}, {"update", Json()}};
    Json fields = update.channels;
    fields["messages"] = messagesToJson(update.messages);
    return Json{{"kind", "command"}, {"update", fields}};
}

Verdict sandboxAttach(const Json &testCase)
{
    const Json &input = memberOf(testCase, "input");
    const Json &given = memberOf(input, "result");
    ToolOutcome outcome;
    if (stringOf(given, "kind") == u"message") {
        auto message = messageFromJson(memberOf(given, "message"));
        if (!message)
            return failed(message.error().message);
        outcome = makeMessage(std::move(*message));
    } else {
        Command command;
        for (const auto &[key, value] : memberOf(given, "update").items()) {
            if (key == "messages")
                command.update.messages = messageListOf(value)->toVector();
            else
                command.update.channels[key] = value;
        }
        outcome = command;
    }
    outcome = SandboxMiddleware::attach(std::move(outcome), stringOf(input, "id_before"), stringOf(input, "id_after"));
    return verdictOf(mismatch(memberOf(testCase, "expect"), Json{{"result", outcomeToJson(outcome)}}));
}

class CountingHost : public LeaseHost
{
public:
    SandboxId next;
    int released = 0;
    Task<Result<SandboxId>> acquireSandbox(ThreadKey, LeaseOwner, std::stop_token) override { co_return next; }
    bool isAlive(const SandboxId &) override { return true; }
    Task<> releaseScope(SandboxId, LeaseOwner) override { co_return; }
    Task<Result<void>> releaseSandbox(SandboxId) override
    {
        ++released;
        co_return Result<void>();
    }
};

Task<Json> driveLeases(Json steps)
{
    const auto host = std::make_shared<CountingHost>();
    LeaseRegistry registry(host);
    const ThreadKey key{UserId(QStringLiteral("u")), ThreadId(QStringLiteral("t"))};
    Json outcomes = Json::array();
    for (const Json &step : steps) {
        const QString op = stringOf(step, "op");
        const LeaseOwner owner(stringOf(step, "owner"));
        const SandboxId sandbox(stringOf(step, "sandbox"));
        if (op == u"release") {
            const std::vector<LeaseInfo> leases = registry.leases();
            const bool held = std::any_of(leases.begin(), leases.end(), [&owner](const LeaseInfo &l) { return l.owner == owner; });
            const int before = host->released;
            co_await registry.release(owner);
            outcomes.push_back(!held ? "nothing" : host->released > before ? "provider_release" : "kept");
            continue;
        }
        host->next = sandbox;
        bool ok = false;
        if (op == u"acquire")
            ok = (co_await registry.acquire(owner, key, true, {})).has_value();
        else
            ok = (co_await registry.retain(owner, sandbox, key, true, {})).has_value();
        outcomes.push_back(ok ? "held" : "refused");
    }
    co_return outcomes;
}

Verdict sandboxLifecycle(const Json &testCase)
{
    const Json outcomes = awaited(driveLeases(memberOf(memberOf(testCase, "input"), "steps")));
    return verdictOf(mismatch(memberOf(testCase, "expect"), Json{{"outcomes", outcomes}}));
}

// --- runtime.json ----------------------------------------------------------------------------------------------------

std::vector<ToolCall> callsOf(const Json &list)
{
    std::vector<ToolCall> calls;
    for (const Json &call : list)
        calls.push_back({stringOf(call, "name"), memberOf(call, "args"), stringOf(call, "id")});
    return calls;
}

Verdict loopHashCase(const Json &testCase)
{
    const QString hash = loopHash(callsOf(memberOf(memberOf(testCase, "input"), "calls")));
    return verdictOf(mismatch(memberOf(testCase, "expect"), Json{{"hash", toUtf8(hash)}}));
}

LoopOptions loopOptions(const Json &config)
{
    LoopOptions options;
    options.warnThreshold = int(intOf(config, "warn_threshold", options.warnThreshold));
    options.hardLimit = int(intOf(config, "hard_limit", options.hardLimit));
    options.windowSize = int(intOf(config, "window_size", options.windowSize));
    options.maxScopes = int(intOf(config, "max_tracked_threads", options.maxScopes));
    options.toolFreqWarn = int(intOf(config, "tool_freq_warn", options.toolFreqWarn));
    options.toolFreqHardLimit = int(intOf(config, "tool_freq_hard_limit", options.toolFreqHardLimit));
    for (const auto &[tool, limits] : memberOf(config, "tool_freq_overrides").items())
        options.toolFreqOverrides[QString::fromStdString(tool)] = {int(intOf(limits, "warn")), int(intOf(limits, "hard_limit"))};
    return options;
}

Verdict loopRun(const Json &testCase)
{
    const Json &input = memberOf(testCase, "input");
    LoopDetector detector(loopOptions(memberOf(input, "config")));
    Json steps = Json::array();
    for (const Json &step : memberOf(input, "steps")) {
        const QString scope = stringOf(step, "thread", QStringLiteral("default")) + u'\n' + stringOf(step, "run", QStringLiteral("r"));
        const LoopVerdict verdict = detector.track(scope, callsOf(memberOf(step, "calls")));
        const char *action = verdict.action == LoopVerdict::Action::None ? "none"
            : verdict.action == LoopVerdict::Action::Warn                ? "warn"
                                                                         : "hard_stop";
        Json layer;
        if (verdict.layer != LoopVerdict::Layer::None)
            layer = verdict.layer == LoopVerdict::Layer::ToolFrequency ? "tool_frequency" : "identical_call_set";
        steps.push_back({{"action", action}, {"layer", layer}});
    }
    return verdictOf(mismatch(memberOf(testCase, "expect"), Json{{"steps", steps}}));
}

Verdict loopHardStop(const Json &testCase)
{
    const Json &given = memberOf(memberOf(testCase, "input"), "message");
    const Json &expect = memberOf(testCase, "expect");
    auto message = messageFromJson(given);
    if (!message)
        return failed(message.error().message);
    message->content = memberOf(given, "content");
    LoopOptions options;
    options.warnThreshold = options.hardLimit = 1;
    LoopDetectionMiddleware member(options);
    const RuntimePtr runtime = plainRuntime(Json{{"thread_id", "t"}, {"run_id", "r"}});
    const auto update = awaited(member.afterModel({MessageList{makeMessage(std::move(*message))}, Json::object()}, runtime));
    if (!update || update->messages.size() != 1)
        return failed(QStringLiteral("one rewritten message was expected"));
    const Message &out = *update->messages.front();
    const QString text = textOfContent(out.content);
    const QString prefix = stringOf(expect, "prefix");
    const auto reason = [&member] {
        const auto popped = member.consumeStopReason(QStringLiteral("r"));
        return popped ? toJson(*popped) : Json();
    };
    Json actual{{"id", toUtf8(out.id)},
                {"tool_calls", Json(std::vector<int>(out.toolCalls.size()))},
                {"kwargs", out.kwargs},
                {"finish_reason", memberOf(out.responseMetadata, "finish_reason")},
                {"content_is_list", out.content.is_array()},
                {"blocks", out.content.is_array() ? Json(out.content.size()) : Json()},
                {"prefix", memberOf(expect, "prefix")},
                {"contains", memberOf(expect, "contains")},
                {"stop_reason", memberOf(runtime->values, "stop_reason")}};
    actual["consume"] = Json::array({reason(), reason()});
    if (!text.startsWith(prefix) || !text.contains(stringOf(expect, "contains")))
        return failed(QStringLiteral("the text is '%1'").arg(text));
    return verdictOf(mismatch(expect, actual));
}

Verdict loopCase(const Json &testCase)
{
    return stringOf(memberOf(testCase, "input"), "op") == u"loop.run" ? loopRun(testCase) : loopHardStop(testCase);
}

Verdict coalesce(const Json &testCase)
{
    const Json &input = memberOf(testCase, "input");
    ModelRequest request;
    if (!memberOf(input, "system").is_null()) {
        auto system = messageFromJson(memberOf(input, "system"));
        if (!system)
            return failed(system.error().message);
        request.system = makeMessage(std::move(*system));
    }
    const auto messages = messageListOf(memberOf(input, "messages"));
    if (!messages)
        return failed(messages.error().message);
    request.messages = *messages;
    const bool changed = SystemMessageCoalescingMiddleware::coalesce(request);
    Json actual{{"unchanged", !changed}};
    if (changed) {
        actual["system"] = Json{{"id", toUtf8(request.system->id)}, {"content", request.system->content}, {"kwargs", request.system->kwargs}};
        actual["messages"] = Json::array();
        for (const MessagePtr &message : request.messages)
            actual["messages"].push_back(toUtf8(message->id));
    }
    return verdictOf(mismatch(memberOf(testCase, "expect"), actual));
}

Verdict date(const Json &testCase)
{
    const Json &input = memberOf(testCase, "input");
    const QDateTime now = QDateTime::fromString(stringOf(input, "now") + u'Z', Qt::ISODate);
    const Clock::Wall wall{std::chrono::milliseconds(now.toMSecsSinceEpoch())};
    const Json reminder = messageToJson(*SubagentDateContextMiddleware::reminder(wall, QStringLiteral("UTC")));
    const Json actual{{"append", Json::array({Json{{"role", reminder["type"]}, {"content", reminder["content"]},
                                                   {"kwargs", reminder["additional_kwargs"]}}})}};
    return verdictOf(mismatch(memberOf(testCase, "expect"), actual));
}

Verdict chainList(const Json &testCase)
{
    const Json &input = memberOf(testCase, "input");
    ChainOptions options;
    options.deferredTools = boolOf(input, "deferred");
    options.mcpRouting = boolOf(input, "routing");
    options.vision = boolOf(input, "vision");
    options.extensions = !memberOf(input, "extensions").empty();
    options.loopDetection = boolOf(input, "loop_detection", true);
    options.tokenBudget = boolOf(input, "token_budget", true);
    options.safetyFinishReason = boolOf(input, "safety", true);
    options.summarization = boolOf(input, "summarization", true);
    options.planMode = boolOf(input, "plan_mode");
    options.title = boolOf(input, "title", true);
    options.memory = boolOf(input, "memory", true);
    options.tokenUsage = boolOf(input, "token_usage", true);
    options.subagents = boolOf(input, "subagent_enabled", true);
    const bool lead = stringOf(input, "scope") == u"lead";
    Json order = Json::array();
    Json afterModel = Json::array();
    bool inBase = true;
    for (const ChainSlot &row : lead ? leadSlots() : subagentSlots()) {
        if (!inBase && row.wanted(options)) {
            order.push_back(row.name);
            if (row.hooks.testFlag(Hook::AfterModel))
                afterModel.insert(afterModel.begin(), Json(row.name));
        }
        inBase = inBase && qstrcmp(row.name, "ToolErrorHandling") != 0;
    }
    return verdictOf(mismatch(memberOf(testCase, "expect"), Json{{"order", order}, {"after_model", afterModel}}));
}

const Registrar r1("chain.order", chainOrder);
const Registrar r2("chain.route", chainRoute);
const Registrar r3("chain.ordering_check", orderingCheck);
const Registrar r4("dangling.patch", danglingPatch);
const Registrar r5("bugs#bug-15", unpairedHistory);
const Registrar r6("threaddata.before_agent", threadData);
const Registrar r7("sandbox.attach", sandboxAttach);
const Registrar r8("sandbox.lifecycle", sandboxLifecycle);
const Registrar r9("loop_hash", loopHashCase);
const Registrar r10("loop", loopCase);
const Registrar r11("coalesce", coalesce);
const Registrar r12("date#date.subagent", date);
const Registrar r13("chain", chainList);

} // namespace

} // namespace paddock::cases::middleware_cases
