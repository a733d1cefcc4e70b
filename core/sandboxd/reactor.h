// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/sandboxd/unique_fd.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace paddock::sandboxd {

/// The one event loop of the server: epoll, timers, calls from other threads. All sessions, processes and HTTP
/// connections live on its thread, so none of them needs a lock. Owner: SandboxServer. Only `post` may be called from
/// another thread. Times are monotonic. No wake-ups while nothing is due.
class Reactor
{
public:
    using Clock = std::chrono::steady_clock;
    using IoCallback = std::function<void(std::uint32_t events)>;
    using Callback = std::function<void()>;
    using TimerId = std::uint64_t;

    Reactor();
    ~Reactor();
    Reactor(const Reactor &) = delete;
    Reactor &operator=(const Reactor &) = delete;

    /// Watches a descriptor (level-triggered). The callback may remove itself or others.
    void watch(int fd, std::uint32_t events, IoCallback callback);
    void modify(int fd, std::uint32_t events);
    void unwatch(int fd);

    TimerId after(Clock::duration delay, Callback callback);
    TimerId at(Clock::time_point when, Callback callback);
    void cancel(TimerId id);

    /// Runs the call on the reactor's thread, in order, never inline. Any thread.
    void post(Callback callback);
    /// Called once per turn before sleeping; returns the longest time to sleep, negative for no limit.
    void setPrepare(std::function<int()> prepare);

    void run();
    void stop();
    Clock::time_point now() const { return Clock::now(); }

private:
    struct Watch {
        IoCallback callback;
        std::uint64_t generation;
    };
    void runPosted();
    void runTimers();
    int sleepLimit(int prepared) const;

    UniqueFd m_epoll;
    UniqueFd m_wake;
    std::unordered_map<int, std::shared_ptr<Watch>> m_watches;
    std::multimap<Clock::time_point, std::pair<TimerId, Callback>> m_timers;
    std::unordered_map<TimerId, Clock::time_point> m_timerIndex;
    TimerId m_nextTimer = 1;
    std::uint64_t m_generation = 0;
    std::function<int()> m_prepare;
    bool m_stop = false;
    std::mutex m_mutex; ///< guards m_posted
    std::vector<Callback> m_posted;
};

/// A timer that dies with its owner. Restarting replaces the earlier one.
class Timer
{
public:
    explicit Timer(Reactor &reactor) : m_reactor(reactor) {}
    ~Timer() { stop(); }
    Timer(const Timer &) = delete;
    Timer &operator=(const Timer &) = delete;

    void start(Reactor::Clock::duration delay, Reactor::Callback callback)
    {
        stop();
        m_id = m_reactor.after(delay, [this, callback = std::move(callback)] {
            m_id = 0;
            callback();
        });
    }
    void stop()
    {
        if (m_id)
            m_reactor.cancel(std::exchange(m_id, 0));
    }
    bool active() const { return m_id != 0; }

private:
    Reactor &m_reactor;
    Reactor::TimerId m_id = 0;
};

} // namespace paddock::sandboxd
