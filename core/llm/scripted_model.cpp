// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/llm/scripted_model.h"

#include "core/base/async.h"
#include "core/base/ids.h"
#include "core/base/text.h"
#include "core/llm/provider_fault.h"
#include "core/llm/scenario_remarks.h"
#include "core/llm/scripted_checks.h"

#include <QHash>

#include <mutex>

namespace paddock {

namespace {

/// One agent instance on its way through its script.
struct Instance {
    const ScenarioAgent *script = nullptr;
    std::size_t turn = 0; ///< turns served
    int faultUses = 0;    ///< of the turn that is next
    bool captured = false; ///< the captures of the last served turn were taken
    QHash<QString, QString> names;
    QStringList lastCallIds;
};

using InstanceKey = std::pair<QString, QString>; // run, agent

} // namespace

struct ScriptedModel::State {
    std::shared_ptr<const Scenario> scenario;
    ScriptNames names;
    mutable std::mutex mutex; // guards both below
    std::map<InstanceKey, Instance> instances;
    QHash<QString, QString> divergences; // by run
};

namespace {

using StatePtr = std::shared_ptr<ScriptedModel::State>;

/// What one call has to do, decided under the lock.
struct Plan {
    std::shared_ptr<const ScenarioTurn> turn; ///< null: the turns have run out
    int number = 1;
    std::optional<ScenarioFault> fault;
    QString say;
    QString reasoning;
    std::vector<ToolCall> calls;
    std::vector<InvalidToolCall> invalidCalls;
    QStringList callIds;
};

/// A call that a member of the chain makes for itself, for a title or a summary.
bool isSideCall(const ModelCaller &caller)
{
    return caller.agent.startsWith(u"middleware:");
}

const ScenarioAgent *scriptFor(const Scenario &scenario, const ModelCaller &caller)
{
    for (const ScenarioAgent &agent : scenario.agents) {
        if (isSideCall(caller) && !agent.agent.startsWith(u"middleware:"))
            continue; // "any agent" means agents: what those say is no title and no summary
        if (matchesAgent(agent.agent, caller.agent) && (agent.type.isEmpty() || agent.type == caller.subagentType)
            && (!agent.prompt || agent.prompt->match(caller.prompt).hasMatch()))
            return &agent;
    }
    return nullptr;
}

Error scenarioError(const QString &message)
{
    return {ErrorCode::FailedPrecondition, message, Json{{"cls", "ScenarioError"}}, nullptr};
}

void addCall(Plan &plan, const ScenarioCall &call, std::size_t n, const NameLookup &lookup)
{
    const QString id = call.id.isEmpty() ? QStringLiteral("call_%1_%2").arg(plan.number).arg(n + 1) : call.id;
    plan.callIds.append(id);
    if (!call.rawArgs) {
        plan.calls.push_back({call.tool, fillIn(call.args, lookup), id});
        return;
    }
    const QString raw = fillIn(*call.rawArgs, lookup);
    auto args = parseJson(raw.toUtf8());
    if (args && args->is_object())
        plan.calls.push_back({call.tool, std::move(*args), id});
    else
        plan.invalidCalls.push_back({call.tool, toJson(raw), id,
                                     args ? QStringLiteral("the arguments are not an object") : args.error().message});
}

/// The part of a call that needs the lock.
class Planner
{
public:
    Planner(ScriptedModel::State &state, const ModelRequest &request)
        : m_state(state), m_request(request), m_instance(state.instances[{request.caller.run, request.caller.agent}])
    {
    }

    Result<Plan> plan()
    {
        const ModelCaller &caller = m_request.caller;
        if (const QString known = m_state.divergences.value(caller.run); !known.isEmpty())
            return fail(scenarioError(known));
        if (!m_instance.script)
            m_instance.script = scriptFor(*m_state.scenario, caller);
        if (!m_instance.script && isSideCall(caller))
            return fail(ErrorCode::NotFound, QStringLiteral("The scenario has no script for %1").arg(caller.agent), Json{{"cls", "ScenarioError"}});
        if (!m_instance.script)
            return diverge({QStringLiteral("one of the scenario's agents to match"),
                            QStringLiteral("type \"%1\" with prompt \"%2\"").arg(caller.subagentType, boundText(caller.prompt, 200))});
        if (auto problem = takeCaptures())
            return diverge(*problem);
        Plan plan;
        plan.number = int(m_instance.turn) + 1;
        if (m_instance.turn >= m_instance.script->turns.size())
            return plan;
        plan.turn = m_instance.script->turns[m_instance.turn];
        if (auto problem = checkExpectations(plan.turn->expect, m_request, lookup()))
            return diverge(*problem);
        if (plan.turn->fault && m_instance.faultUses < plan.turn->fault->times) {
            ++m_instance.faultUses;
            plan.fault = plan.turn->fault;
        }
        plan.say = fillIn(plan.turn->say, lookup());
        plan.reasoning = fillIn(plan.turn->reasoning, lookup());
        for (std::size_t n = 0; n < plan.turn->calls.size(); ++n)
            addCall(plan, plan.turn->calls[n], n, lookup());
        return plan;
    }

private:
    NameLookup lookup() const
    {
        return [this](const QString &name) -> std::optional<QString> {
            if (name == u"workspace")
                return m_state.names.workspace;
            if (name == u"outputs")
                return m_state.names.outputs;
            if (name == u"task")
                return m_state.names.task.isEmpty() ? m_state.scenario->task : m_state.names.task;
            if (name == u"turn")
                return QString::number(m_instance.turn + 1);
            if (name.startsWith(u"result."))
                return toolResultText(m_request.messages, name.sliced(7)).value_or(QString());
            const auto known = m_instance.names.constFind(name);
            return known == m_instance.names.constEnd() ? std::nullopt : std::optional(*known);
        };
    }

    std::optional<Divergence> takeCaptures()
    {
        if (m_instance.turn == 0 || m_instance.captured)
            return std::nullopt;
        const ScenarioTurn &last = *m_instance.script->turns[std::min(m_instance.turn, m_instance.script->turns.size()) - 1];
        for (const auto &[name, pattern] : last.capture) {
            auto value = captureFrom(pattern, m_instance.lastCallIds, m_request, lookup());
            if (!value)
                return Divergence{QStringLiteral("capture %1 to match /%2/ in the tool results").arg(name, pattern), value.error().message};
            m_instance.names.insert(name, *value);
        }
        m_instance.captured = true;
        return std::nullopt;
    }

    std::unexpected<Error> diverge(const Divergence &problem)
    {
        const QString text = QStringLiteral("scenario diverged at %1 turn %2: expected %3, got %4")
                                 .arg(m_request.caller.agent, QString::number(m_instance.turn + 1), problem.expected, problem.got);
        m_state.divergences.insert(m_request.caller.run, text);
        return fail(scenarioError(text));
    }

    ScriptedModel::State &m_state;
    const ModelRequest &m_request;
    Instance &m_instance;
};

/// Streams the text in chunks; `limit` chunks at most. False when it was stopped.
Task<bool> streamText(QString text, bool reasoning, ScenarioTurn how, DeltaSink onDelta, std::shared_ptr<int> left, std::stop_token stop)
{
    const qsizetype total = codePointCount(text);
    const qsizetype step = how.chunk > 0 ? how.chunk : std::max<qsizetype>(1, total);
    QString rest = text;
    while (!rest.isEmpty() && *left != 0) {
        if (how.every.count() > 0) {
            if (!co_await sleepFor(how.every, stop))
                co_return false;
        } else if (stop.stop_requested()) {
            co_return false;
        }
        const QString piece = firstCodePoints(rest, step);
        rest = rest.sliced(piece.size());
        if (*left > 0)
            --*left;
        if (onDelta)
            onDelta({piece, reasoning});
    }
    co_return !stop.stop_requested();
}

MessagePtr replyOf(const Plan &plan, const ModelRequest &request)
{
    Message message;
    message.role = Role::Ai;
    message.id = newUuid();
    message.content = toJson(plan.say);
    message.toolCalls = plan.calls;
    message.invalidToolCalls = plan.invalidCalls;
    if (!plan.reasoning.isEmpty())
        message.kwargs["reasoning_content"] = toUtf8(plan.reasoning);
    const bool calls = !plan.callIds.isEmpty();
    const QString finish = plan.turn && !plan.turn->finish.isEmpty() ? plan.turn->finish
        : calls                                                      ? QStringLiteral("tool_calls")
                                                                     : QStringLiteral("stop");
    message.responseMetadata = Json{{"model_name", toUtf8(request.model.isEmpty() ? QStringLiteral("scripted") : request.model)},
                                    {"finish_reason", toUtf8(finish)}};
    Usage usage;
    if (plan.turn && plan.turn->usageInput) {
        usage.input = *plan.turn->usageInput;
    } else {
        usage.input = request.system ? estimateTokens(*request.system) : 0;
        for (const MessagePtr &sent : request.messages)
            usage.input += estimateTokens(*sent);
    }
    usage.output = plan.turn && plan.turn->usageOutput ? *plan.turn->usageOutput : estimateTokens(message);
    usage.total = usage.input + usage.output;
    message.usage = usage;
    return makeMessage(std::move(message));
}

void advance(ScriptedModel::State &state, const ModelCaller &caller, const Plan &plan)
{
    const std::lock_guard lock(state.mutex);
    Instance &instance = state.instances[{caller.run, caller.agent}];
    if (!plan.turn)
        return;
    ++instance.turn;
    instance.faultUses = 0;
    instance.captured = false;
    instance.lastCallIds = plan.callIds;
}

Task<Result<MessagePtr>> serve(StatePtr state, ModelRequest request, DeltaSink onDelta, std::stop_token stop)
{
    if (stop.stop_requested())
        co_return cancelled();
    Result<Plan> planned = fail(ErrorCode::Internal, QString());
    {
        const std::lock_guard lock(state->mutex);
        planned = Planner(*state, request).plan();
    }
    if (!planned)
        co_return fail(planned.error());
    const Plan plan = std::move(*planned);
    const ScenarioTurn how = plan.turn ? *plan.turn : ScenarioTurn{};
    if (how.delay.count() > 0 && !co_await sleepFor(how.delay, stop))
        co_return cancelled();
    // -1: no limit. A fault without content strikes before the first chunk.
    const auto left = std::make_shared<int>(plan.fault ? plan.fault->afterChunks.value_or(0) : -1);
    if (!co_await streamText(plan.reasoning, true, how, onDelta, left, stop))
        co_return cancelled();
    if (!co_await streamText(plan.say, false, how, onDelta, left, stop))
        co_return cancelled();
    if (plan.fault) {
        if (plan.fault->kind == ScenarioFault::Kind::Hang)
            co_await untilStopped(stop);
        co_return fail(providerError(*plan.fault));
    }
    advance(*state, request.caller, plan);
    co_return replyOf(plan, request);
}

} // namespace

ScriptedModel::ScriptedModel(std::shared_ptr<const Scenario> scenario, ScriptNames names) : m_state(std::make_shared<State>())
{
    m_state->scenario = std::move(scenario);
    m_state->names = std::move(names);
}

QString ScriptedModel::name() const
{
    return QStringLiteral("scripted");
}

QString ScriptedModel::provider() const
{
    return QStringLiteral("scenario:") + m_state->scenario->name;
}

Task<Result<MessagePtr>> ScriptedModel::complete(ModelRequest request, DeltaSink onDelta, std::stop_token stop)
{
    return serve(m_state, std::move(request), std::move(onDelta), std::move(stop));
}

QString ScriptedModel::divergence(const QString &run) const
{
    const std::lock_guard lock(m_state->mutex);
    return m_state->divergences.value(run);
}

void ScriptedModel::forget(const QString &run)
{
    const std::lock_guard lock(m_state->mutex);
    m_state->divergences.remove(run);
    std::erase_if(m_state->instances, [&](const auto &entry) { return entry.first.first == run; });
}

} // namespace paddock
