// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/store/event_feed.h"

#include "core/base/loop.h"

#include <QElapsedTimer>

#include <atomic>

namespace paddock {

struct EventFeed::Gate {
    EventFeed *feed = nullptr; ///< read and cleared on the GUI thread only
    std::atomic<bool> armed = false;
    LoopRef loop;
};

EventFeed::EventFeed(std::shared_ptr<EventBus> bus, StoreHub *hub, QObject *parent)
    : QObject(parent), m_hub(hub), m_queue(bus->subscribe()), m_gate(std::make_shared<Gate>()), m_timer(this)
{
    m_gate->feed = this;
    m_gate->loop = LoopRef::current();
    m_timer.setSingleShot(true);
    m_timer.setTimerType(Qt::PreciseTimer);
    connect(&m_timer, &QTimer::timeout, this, &EventFeed::drainNow);
    m_queue->setWakeup([gate = m_gate] {
        if (gate->armed.exchange(true))
            return;
        gate->loop.post([gate] {
            if (gate->feed)
                gate->feed->m_timer.start(frame);
        });
    });
    if (m_queue->pending() > 0)
        m_timer.start(frame);
}

EventFeed::~EventFeed()
{
    m_gate->feed = nullptr;
    m_queue->setWakeup({});
}

void EventFeed::drainNow()
{
    QElapsedTimer watch;
    watch.start();
    m_timer.stop();
    // Open the gate before draining: what arrives from here on wakes us again.
    m_gate->armed = false;
    const std::vector<EventPtr> events = m_queue->drain(mostPerFrame);
    if (!events.empty())
        m_hub->apply(events);
    if (m_queue->pending() > 0)
        m_timer.start(frame);
    m_lastDrain = std::chrono::microseconds(watch.nsecsElapsed() / 1000);
}

} // namespace paddock
