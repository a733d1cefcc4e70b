// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/event/event_bus.h"

#include <QVarLengthArray>

#include <algorithm>
#include <iterator>
#include <utility>

namespace paddock {

std::vector<std::shared_ptr<const Event>> EventQueue::drain(qsizetype max)
{
    const std::lock_guard lock(m_mutex);
    const qsizetype waiting = qsizetype(m_events.size() - m_head);
    m_openDeltas.clear(); // what leaves the queue must not grow any more
    if (m_head == 0 && (max < 0 || max >= waiting))
        return std::exchange(m_events, {});
    const qsizetype count = max < 0 ? waiting : std::min(max, waiting);
    const auto from = m_events.begin() + qsizetype(m_head);
    std::vector<std::shared_ptr<const Event>> out(std::make_move_iterator(from), std::make_move_iterator(from + count));
    m_head += std::size_t(count);
    if (m_head * 2 >= m_events.size()) { // so that many small drains of a long queue stay cheap
        m_events.erase(m_events.begin(), m_events.begin() + qsizetype(m_head));
        m_head = 0;
    }
    return out;
}

qsizetype EventQueue::pending() const
{
    const std::lock_guard lock(m_mutex);
    return qsizetype(m_events.size() - m_head);
}

void EventQueue::setWakeup(std::function<void()> wakeup)
{
    bool due = false;
    std::function<void()> old; // ends outside the lock
    {
        const std::lock_guard lock(m_mutex);
        old = std::exchange(m_wakeup, wakeup);
        due = m_events.size() > m_head;
    }
    if (due && wakeup)
        wakeup();
}

quint64 EventQueue::coalesced() const
{
    const std::lock_guard lock(m_mutex);
    return m_coalesced;
}

std::function<void()> EventQueue::push(std::shared_ptr<const Event> event)
{
    const std::lock_guard lock(m_mutex);
    const bool wasEmpty = m_events.size() == m_head;
    if (qsizetype(m_events.size() - m_head) >= m_softLimit && mergeDelta(*event))
        return {};
    if (!m_openDeltas.empty())
        m_openDeltas.erase({event->run, event->agent});
    m_events.push_back(std::move(event));
    return wasEmpty ? m_wakeup : std::function<void()>();
}

/// Joins streamed text to the agent's newest event when that is text of the same turn. State changes never shrink.
bool EventQueue::mergeDelta(const Event &event)
{
    const auto *delta = std::get_if<ModelDelta>(&event.body);
    if (!delta)
        return false;
    const auto open = m_openDeltas.find({event.run, event.agent});
    if (open != m_openDeltas.end()) {
        auto &into = std::get<ModelDelta>(open->second->body);
        if (into.turn == delta->turn && into.reasoning == delta->reasoning && open->second->parent == event.parent) {
            into.text += delta->text;
            ++m_coalesced;
            return true;
        }
    }
    // The queue's own copy: other queues share the event that was pushed.
    auto own = std::make_shared<Event>(event);
    m_openDeltas.insert_or_assign({event.run, event.agent}, own);
    m_events.push_back(std::move(own));
    return true;
}

EventBus::EventBus(std::shared_ptr<const Clock> clock, Seq firstSeq) : m_clock(std::move(clock)), m_next(firstSeq) {}

EventBus::~EventBus() = default;

std::shared_ptr<EventQueue> EventBus::subscribe(qsizetype softLimit)
{
    std::shared_ptr<EventQueue> queue(new EventQueue(softLimit));
    const std::lock_guard lock(m_mutex);
    std::erase_if(m_queues, [](const std::weak_ptr<EventQueue> &q) { return q.expired(); });
    m_queues.push_back(queue);
    return queue;
}

/// What is left to do after the bus lock is released: waking consumers, and letting go of queues whose last owner left
/// meanwhile (their destructors run foreign code).
class EventBus::Delivery
{
public:
    void push(const std::vector<std::weak_ptr<EventQueue>> &queues, const std::shared_ptr<const Event> &event)
    {
        for (const auto &weak : queues) {
            auto queue = weak.lock();
            if (!queue)
                continue;
            if (auto wakeup = queue->push(event))
                m_wakeups.append(std::move(wakeup));
            m_alive.append(std::move(queue));
        }
    }
    void finish()
    {
        for (const auto &wakeup : m_wakeups)
            wakeup();
    }

private:
    QVarLengthArray<std::shared_ptr<EventQueue>, 8> m_alive;
    QVarLengthArray<std::function<void()>, 4> m_wakeups;
};

Seq EventBus::append(RunId run, AgentId agent, EventBody body, SpanId span, SpanId parent)
{
    auto event = std::make_shared<Event>();
    event->run = std::move(run);
    event->agent = std::move(agent);
    event->span = span;
    event->parent = parent;
    event->body = std::move(body);
    Delivery delivery;
    Seq seq = 0;
    {
        // The lock spans numbering and queueing, so that every queue sees the events in the order of their numbers.
        const std::lock_guard lock(m_mutex);
        seq = event->seq = m_next++;
        event->time = m_clock->wall();
        event->mono = m_clock->mono();
        delivery.push(m_queues, event);
    }
    delivery.finish();
    return seq;
}

void EventBus::replay(std::shared_ptr<const Event> event)
{
    Delivery delivery;
    {
        const std::lock_guard lock(m_mutex);
        m_next = std::max(m_next, event->seq + 1);
        delivery.push(m_queues, event);
    }
    delivery.finish();
}

SpanId EventBus::nextSpanId()
{
    const std::lock_guard lock(m_mutex);
    return m_nextSpan++;
}

Seq EventBus::lastSeq() const
{
    const std::lock_guard lock(m_mutex);
    return m_next - 1;
}

} // namespace paddock
