// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/store/run_store.h"

namespace paddock {

RunStore::RunStore(RunId id, QObject *parent) : QObject(parent)
{
    m_facts.id = std::move(id);
}

void RunStore::setLive(bool live)
{
    if (m_facts.live == live)
        return;
    m_facts.live = live;
    Q_EMIT factsChanged();
}

void RunStore::seed(RunFacts facts)
{
    const RunId id = m_facts.id;
    m_facts = std::move(facts);
    m_facts.id = id;
    m_facts.events = 0;
}

void RunStore::setLoading(bool loading)
{
    if (m_loading == loading)
        return;
    m_loading = loading;
    if (!loading && !m_facts.live && m_facts.finishedAt < 0) {
        // The process that ran it ended without saying so: what is open in the panels ends where the events do.
        auto end = std::make_shared<Event>();
        end->time = m_lastWall;
        end->mono = std::chrono::microseconds(m_lastTime);
        end->run = m_facts.id;
        end->agent = leadAgent();
        RunFinished body;
        body.status = m_facts.isOver() ? m_facts.status : QStringLiteral("interrupted");
        end->body = body;
        const EventPtr event = std::move(end);
        const qint64 events = m_facts.events;
        applyParts(std::span(&event, 1));
        m_facts.events = events;
    }
    Q_EMIT factsChanged();
}

Clock::Wall RunStore::wallAt(Micros mono) const
{
    return m_lastWall - std::chrono::microseconds(m_lastTime - mono);
}

bool RunStore::applyFacts(const Event &event)
{
    if (const auto *started = std::get_if<RunStarted>(&event.body)) {
        m_facts.thread = started->thread;
        m_facts.task = started->task;
        m_facts.title = headOfCommand(started->task, 120);
        m_facts.status = QStringLiteral("running");
        m_facts.model = started->model;
        m_facts.sandbox = started->sandbox;
        m_facts.workspace = started->workspace;
        m_facts.started = event.time;
        m_facts.startedAt = event.mono.count();
        return true;
    }
    if (const auto *finished = std::get_if<RunFinished>(&event.body)) {
        m_facts.status = finished->status;
        m_facts.answer = finished->answer;
        m_facts.error = finished->error.value_or(QString());
        m_facts.usage = finished->usage;
        m_facts.finished = event.time;
        m_facts.finishedAt = event.mono.count();
        return true;
    }
    if (const auto *acted = std::get_if<MiddlewareActed>(&event.body)) {
        // One that was cut out of the task says less than what stands there.
        if (acted->tag != u"title" || stringOf(acted->changes, "source") != u"model")
            return false;
        m_facts.title = headOfCommand(stringOf(acted->changes, "title"), 120);
        return true;
    }
    return false;
}

void RunStore::apply(std::span<const EventPtr> events)
{
    applyParts(events);
}

void RunStore::applyParts(std::span<const EventPtr> events)
{
    bool facts = false, agents = false, talk = false, trace = false, leases = false;
    bool shells = false, files = false, approvals = false, requests = false;
    for (const EventPtr &event : events) {
        if (event->seq != 0) {
            if (event->seq <= m_lastSeq)
                continue;
            m_lastSeq = event->seq;
        }
        ++m_facts.events;
        if (event->mono.count() >= m_lastTime) {
            m_lastTime = event->mono.count();
            m_lastWall = event->time;
        }
        facts = applyFacts(*event) || facts;
        agents = m_agents.apply(*event) || agents;
        talk = m_conversations.apply(*event) || talk;
        trace = m_trace.apply(event) || trace;
        leases = m_leases.apply(*event) || leases;
        shells = m_shells.apply(*event) || shells;
        files = m_files.apply(*event) || files;
        approvals = m_approvals.apply(*event) || approvals;
        requests = m_requests.apply(*event) || requests;
    }
    if (facts)
        Q_EMIT factsChanged();
    if (agents)
        Q_EMIT agentsChanged();
    if (talk)
        Q_EMIT conversationsChanged();
    if (trace)
        Q_EMIT traceChanged();
    if (leases)
        Q_EMIT leasesChanged();
    if (shells)
        Q_EMIT shellsChanged();
    if (files)
        Q_EMIT filesChanged();
    if (approvals)
        Q_EMIT approvalsChanged();
    if (requests)
        Q_EMIT requestsChanged();
}

} // namespace paddock
