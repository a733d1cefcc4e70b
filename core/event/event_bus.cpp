// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/event/event_bus.h"

#include <algorithm>

namespace paddock {

std::vector<std::shared_ptr<const Event>> EventQueue::drain(qsizetype max)
{
    const std::lock_guard lock(m_mutex);
    if (max < 0 || max >= qsizetype(m_events.size()))
        return std::exchange(m_events, {});
    std::vector<std::shared_ptr<const Event>> out(m_events.begin(), m_events.begin() + max);
    m_events.erase(m_events.begin(), m_events.begin() + max);
    return out;
}

qsizetype EventQueue::pending() const
{
    const std::lock_guard lock(m_mutex);
    return qsizetype(m_events.size());
}

void EventQueue::setWakeup(std::function<void()> wakeup)
{
    const std::lock_guard lock(m_mutex);
    m_wakeup = std::move(wakeup);
}

quint64 EventQueue::coalesced() const
{
    const std::lock_guard lock(m_mutex);
    return m_coalesced;
}

void EventQueue::push(std::shared_ptr<const Event> event)
{
    std::function<void()> wakeup;
    {
        const std::lock_guard lock(m_mutex);
        if (qsizetype(m_events.size()) >= m_softLimit) {
            // Over the limit only streamed text may shrink: it joins the newest event when that is text of the same turn.
            const auto *delta = std::get_if<ModelDelta>(&event->body);
            const auto *last = std::get_if<ModelDelta>(&m_events.back()->body);
            if (delta && last && m_events.back()->agent == event->agent && m_events.back()->run == event->run
                && last->turn == delta->turn && last->reasoning == delta->reasoning) {
                auto merged = std::make_shared<Event>(*event);
                std::get<ModelDelta>(merged->body).text.prepend(last->text);
                m_events.back() = std::move(merged);
                ++m_coalesced;
                return;
            }
        }
        if (m_events.empty())
            wakeup = m_wakeup;
        m_events.push_back(std::move(event));
    }
    if (wakeup)
        wakeup();
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

Seq EventBus::append(RunId run, AgentId agent, EventBody body, SpanId span, SpanId parent)
{
    auto event = std::make_shared<Event>();
    event->run = std::move(run);
    event->agent = std::move(agent);
    event->span = span;
    event->parent = parent;
    event->body = std::move(body);
    // The lock spans numbering and queueing, so that every queue sees the events in the order of their numbers.
    const std::lock_guard lock(m_mutex);
    event->seq = m_next++;
    event->time = m_clock->wall();
    event->mono = m_clock->mono();
    const Seq seq = event->seq;
    for (const auto &weak : m_queues) {
        if (const auto queue = weak.lock())
            queue->push(event);
    }
    return seq;
}

void EventBus::replay(std::shared_ptr<const Event> event)
{
    const std::lock_guard lock(m_mutex);
    m_next = std::max(m_next, event->seq + 1);
    for (const auto &weak : m_queues) {
        if (const auto queue = weak.lock())
            queue->push(event);
    }
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
