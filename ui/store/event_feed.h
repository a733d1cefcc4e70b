// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/event/event_bus.h"
#include "ui/store/store_hub.h"

#include <QObject>
#include <QTimer>

#include <memory>

namespace paddock {

/// Drains the bus into the stores at most once a frame. The queue's wake-up arms one single-shot timer: no polling, and
/// no wake-ups while nothing happens. Owner: the main window; GUI thread, only the wake-up comes from others.
class EventFeed : public QObject
{
    Q_OBJECT
public:
    static constexpr std::chrono::milliseconds frame{16};
    /// More than this in one frame waits for the next, so that a flood does not freeze the window.
    static constexpr qsizetype mostPerFrame = 20000;

    EventFeed(std::shared_ptr<EventBus> bus, StoreHub *hub, QObject *parent = nullptr);
    ~EventFeed() override;

    /// Takes what is queued now (at most mostPerFrame) instead of at the next frame.
    void drainNow();
    /// How long the last drain took, all panels included.
    std::chrono::microseconds lastDrain() const { return m_lastDrain; }

private:
    struct Gate;
    StoreHub *m_hub;
    std::shared_ptr<EventQueue> m_queue;
    std::shared_ptr<Gate> m_gate; ///< outlives this in a wake-up that is under way
    QTimer m_timer;
    std::chrono::microseconds m_lastDrain{};
};

} // namespace paddock
