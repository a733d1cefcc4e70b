// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/event/event.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace paddock {

/// The consumer's end of the bus. Thread-safe. `drain` takes everything that arrived, in order.
class EventQueue
{
public:
    /// Everything queued so far; empty when nothing is.
    std::vector<std::shared_ptr<const Event>> drain(qsizetype max = -1);
    qsizetype pending() const;
    /// Called (from any thread, without locks held) once each time the queue goes from empty to non-empty, and at once
    /// when something already waits. After a partial drain look at pending() instead of waiting for a call.
    void setWakeup(std::function<void()> wakeup);
    /// How many deltas were merged into others because the queue was over its soft limit. State changes are never dropped.
    quint64 coalesced() const;

private:
    friend class EventBus;
    explicit EventQueue(qsizetype softLimit) : m_softLimit(std::max<qsizetype>(1, softLimit)) {}
    /// The wakeup to call once the caller holds no lock; empty when none is due.
    [[nodiscard]] std::function<void()> push(std::shared_ptr<const Event> event);
    bool mergeDelta(const Event &event);

    const qsizetype m_softLimit;
    mutable std::mutex m_mutex; // guards all below
    std::vector<std::shared_ptr<const Event>> m_events;
    std::size_t m_head = 0; ///< events before it were drained already
    std::function<void()> m_wakeup;
    quint64 m_coalesced = 0;
    /// Above the soft limit: per run and agent the delta that is the newest event of that agent, so that text joins it.
    std::map<std::pair<RunId, AgentId>, std::shared_ptr<Event>> m_openDeltas;
};

/// Gives each event its sequence number and times and hands it to every subscriber. Producers never wait for a
/// consumer. Thread-safe; shared by everything in one process.
class EventBus
{
public:
    /// Queue length above which deltas are merged.
    static constexpr qsizetype defaultSoftLimit = 100000;

    explicit EventBus(std::shared_ptr<const Clock> clock = Clock::system(), Seq firstSeq = 1);
    ~EventBus();

    /// The queue is dropped automatically when its last owner lets go of it.
    std::shared_ptr<EventQueue> subscribe(qsizetype softLimit = defaultSoftLimit);
    Seq append(RunId run, AgentId agent, EventBody body, SpanId span = 0, SpanId parent = 0);
    /// Replays a stored event as it is (sequence number and times kept).
    void replay(std::shared_ptr<const Event> event);
    SpanId nextSpanId();
    Seq lastSeq() const;
    const Clock &clock() const { return *m_clock; }

private:
    class Delivery;
    std::shared_ptr<const Clock> m_clock;
    mutable std::mutex m_mutex; // guards all below
    Seq m_next;
    SpanId m_nextSpan = 1;
    std::vector<std::weak_ptr<EventQueue>> m_queues;
};

/// A producer's handle: the bus plus who speaks. Cheap to copy; a default one drops everything.
class EventSink
{
public:
    EventSink() = default;
    EventSink(std::shared_ptr<EventBus> bus, RunId run, AgentId agent, SpanId parent = 0)
        : m_bus(std::move(bus)), m_run(std::move(run)), m_agent(std::move(agent)), m_parent(parent)
    {
    }

    Seq emitEvent(EventBody body, SpanId span = 0) const
    {
        return m_bus ? m_bus->append(m_run, m_agent, std::move(body), span, m_parent) : 0;
    }
    SpanId newSpan() const { return m_bus ? m_bus->nextSpanId() : 0; }
    EventSink withParent(SpanId parent) const { return {m_bus, m_run, m_agent, parent}; }
    EventSink withAgent(AgentId agent) const { return {m_bus, m_run, std::move(agent), m_parent}; }
    const RunId &run() const { return m_run; }
    const AgentId &agent() const { return m_agent; }
    SpanId parent() const { return m_parent; }
    const std::shared_ptr<EventBus> &bus() const { return m_bus; }

private:
    std::shared_ptr<EventBus> m_bus;
    RunId m_run;
    AgentId m_agent;
    SpanId m_parent = 0;
};

} // namespace paddock
