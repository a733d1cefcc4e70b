// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/base/async.h"

namespace paddock {

Task<bool> sleepFor(std::chrono::milliseconds duration, std::stop_token stop)
{
    Completion<bool> done;
    QTimer timer;
    timer.setSingleShot(true);
    QObject::connect(&timer, &QTimer::timeout, &timer, [done] { done.complete(true); });
    timer.start(duration);
    const std::stop_callback onStop(stop, [done] { done.complete(false); });
    co_return co_await done;
}

Task<> untilStopped(std::stop_token stop)
{
    Completion<void> done;
    const std::stop_callback onStop(stop, [done] { done.complete(); });
    co_await done;
}

Task<AsyncMutex::Guard> AsyncMutex::lock(std::stop_token stop)
{
    Completion<bool> turn;
    {
        const std::lock_guard lock(m_mutex);
        if (!m_locked) {
            m_locked = true;
            co_return Guard(this);
        }
        m_waiters.push_back(turn);
    }
    bool ours = false;
    {
        const std::stop_callback onStop(stop, [turn] { turn.complete(false); });
        ours = co_await turn;
    }
    // A stopped waiter stays in the queue; release() skips it because its completion is already set.
    co_return ours ? Guard(this) : Guard();
}

bool AsyncMutex::isLocked() const
{
    const std::lock_guard lock(m_mutex);
    return m_locked;
}

void AsyncMutex::release()
{
    const std::lock_guard lock(m_mutex);
    while (!m_waiters.empty()) {
        const Completion<bool> next = m_waiters.front();
        m_waiters.pop_front();
        if (next.complete(true))
            return; // handed over without unlocking
    }
    m_locked = false;
}

} // namespace paddock
