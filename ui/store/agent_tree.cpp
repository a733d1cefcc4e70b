// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/store/agent_tree.h"

#include <algorithm>

namespace paddock {

namespace {

QString detailOf(const ToolStarted &tool)
{
    for (const char *key : {"command", "path", "description", "pattern"}) {
        const QString text = stringOf(tool.args, key);
        if (!text.isEmpty())
            return headOfCommand(text);
    }
    return {};
}

AgentState stateOf(const QString &status)
{
    if (status == u"completed")
        return AgentState::Completed;
    if (status == u"cancelled")
        return AgentState::Cancelled;
    if (status == u"timed_out")
        return AgentState::TimedOut;
    if (status == u"interrupted")
        return AgentState::Interrupted;
    return AgentState::Failed;
}

} // namespace

const AgentEntry *AgentTree::find(const AgentId &agent) const
{
    const int index = indexOf(agent);
    return index < 0 ? nullptr : &m_agents[size_t(index)];
}

AgentEntry &AgentTree::entry(const AgentId &agent)
{
    const auto found = m_index.constFind(agent);
    if (found != m_index.constEnd())
        return m_agents[size_t(*found)];
    m_index.insert(agent, int(m_agents.size()));
    AgentEntry fresh;
    fresh.id = agent;
    if (agent != leadAgent())
        fresh.parent = leadAgent();
    m_agents.push_back(std::move(fresh));
    return m_agents.back();
}

int AgentTree::depthOf(int index) const
{
    int depth = 0;
    // A damaged journal may hold a cycle; no tree is deeper than its number of agents.
    while (index >= 0 && !m_agents[size_t(index)].parent.isEmpty() && depth < int(m_agents.size())) {
        index = indexOf(m_agents[size_t(index)].parent);
        ++depth;
    }
    return depth;
}

int AgentTree::running() const
{
    return int(std::count_if(m_agents.begin(), m_agents.end(), [](const AgentEntry &agent) {
        return agent.state == AgentState::Running || agent.state == AgentState::WaitingForPerson;
    }));
}

int AgentTree::queued() const
{
    return int(std::count_if(m_agents.begin(), m_agents.end(),
                             [](const AgentEntry &agent) { return agent.state == AgentState::Queued; }));
}

qint64 AgentTree::tokens() const
{
    qint64 sum = 0;
    for (const AgentEntry &agent : m_agents)
        sum += agent.tokens();
    return sum;
}

void AgentTree::showStep(AgentEntry &agent, Micros now)
{
    const auto &open = m_openTools[agent.id];
    if (open.empty()) {
        if (agent.step != StepKind::Model && agent.step != StepKind::Retry)
            agent.step = StepKind::None;
        agent.stepSince = now;
        return;
    }
    const auto children = std::count_if(open.begin(), open.end(), [](const OpenTool &tool) { return tool.name == u"task"; });
    const OpenTool &last = open.back();
    agent.step = children == qsizetype(open.size()) ? StepKind::Children : StepKind::Tool;
    agent.stepCount = int(children);
    agent.stepName = last.name;
    agent.stepDetail = last.detail;
    agent.stepSince = children ? open.front().since : last.since;
}

void AgentTree::finishAll(AgentState state, Micros at)
{
    for (AgentEntry &agent : m_agents) {
        if (agent.isOver())
            continue;
        agent.state = state;
        agent.step = StepKind::None;
        agent.finishedAt = at;
    }
}

bool AgentTree::apply(const Event &event)
{
    return applyLife(event) || applyStep(event);
}

bool AgentTree::applyLife(const Event &event)
{
    const Micros now = event.mono.count();
    const auto visitor = [&](const auto &body) {
        using T = std::decay_t<decltype(body)>;
        if constexpr (std::is_same_v<T, RunStarted>) {
            AgentEntry &lead = entry(leadAgent());
            lead.state = AgentState::Running;
            lead.startedAt = now;
            lead.model = body.model;
            lead.description = body.task;
        } else if constexpr (std::is_same_v<T, RunFinished>) {
            finishAll(stateOf(body.status), now);
        } else if constexpr (std::is_same_v<T, AgentQueued>) {
            AgentEntry &agent = entry(event.agent);
            agent.state = AgentState::Queued;
            agent.queuePosition = body.position;
            if (agent.queuedAt < 0)
                agent.queuedAt = now;
        } else if constexpr (std::is_same_v<T, AgentStarted>) {
            AgentEntry &agent = entry(event.agent);
            agent.state = AgentState::Running;
            agent.startedAt = now;
            agent.stepSince = now;
            if (!body.parent.isEmpty())
                agent.parent = AgentId(body.parent);
            agent.type = body.subagentType;
            if (agent.description != body.description) {
                --m_descriptions[agent.description];
                ++m_descriptions[body.description];
            }
            agent.description = body.description;
            agent.model = body.model;
            agent.maxTurns = body.maxTurns;
            agent.call = body.call;
        } else if constexpr (std::is_same_v<T, AgentFinished>) {
            AgentEntry &agent = entry(event.agent);
            agent.state = stateOf(body.status);
            agent.step = StepKind::None;
            agent.finishedAt = now;
            agent.error = body.error.value_or(QString());
            agent.stopReason = body.stopReason.value_or(QString());
            if (body.turns)
                agent.turn = body.turns;
            if (!body.usage.isZero())
                agent.usage = body.usage;
            m_openTools.remove(event.agent);
        } else {
            return false;
        }
        return true;
    };
    return std::visit(visitor, event.body);
}

bool AgentTree::applyStep(const Event &event)
{
    const Micros now = event.mono.count();
    const auto visitor = [&](const auto &body) {
        using T = std::decay_t<decltype(body)>;
        if constexpr (std::is_same_v<T, ModelRequested>) {
            AgentEntry &agent = entry(event.agent);
            agent.step = StepKind::Model;
            agent.stepSince = now;
            agent.turn = body.turn;
            if (agent.model.isEmpty())
                agent.model = body.model;
        } else if constexpr (std::is_same_v<T, ModelResponded>) {
            AgentEntry &agent = entry(event.agent);
            agent.usage += body.usage;
            agent.step = StepKind::None;
            agent.stepSince = now;
        } else if constexpr (std::is_same_v<T, ModelFailed>) {
            AgentEntry &agent = entry(event.agent);
            agent.step = body.willRetryInMs ? StepKind::Retry : StepKind::None;
            agent.stepSince = now;
        } else if constexpr (std::is_same_v<T, ToolStarted>) {
            AgentEntry &agent = entry(event.agent);
            ++agent.toolCalls;
            m_openTools[event.agent].push_back({body.call, body.name, detailOf(body), now});
            showStep(agent, now);
        } else if constexpr (std::is_same_v<T, ToolFinished>) {
            AgentEntry &agent = entry(event.agent);
            std::erase_if(m_openTools[event.agent], [&](const OpenTool &tool) { return tool.call == body.call; });
            showStep(agent, now);
        } else if constexpr (std::is_same_v<T, ApprovalRequested>) {
            AgentEntry &agent = entry(event.agent);
            agent.state = AgentState::WaitingForPerson;
            agent.stepSince = now;
            m_approvals.insert(body.approval, event.agent);
        } else if constexpr (std::is_same_v<T, ApprovalDecided>) {
            const AgentId who = m_approvals.take(body.approval);
            const int index = indexOf(who);
            if (index < 0 || m_agents[size_t(index)].isOver())
                return false;
            m_agents[size_t(index)].state = AgentState::Running;
        } else {
            return false;
        }
        return true;
    };
    return std::visit(visitor, event.body);
}

} // namespace paddock
