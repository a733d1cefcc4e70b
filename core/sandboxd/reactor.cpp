// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandboxd/reactor.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>

namespace paddock::sandboxd {

namespace {
constexpr int maxEventsPerTurn = 64;
}

Reactor::Reactor() : m_epoll(::epoll_create1(EPOLL_CLOEXEC)), m_wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
{
    epoll_event event{.events = EPOLLIN, .data = {.fd = m_wake.get()}};
    ::epoll_ctl(m_epoll.get(), EPOLL_CTL_ADD, m_wake.get(), &event);
}

Reactor::~Reactor() = default;

void Reactor::watch(int fd, std::uint32_t events, IoCallback callback)
{
    epoll_event event{.events = events, .data = {.fd = fd}};
    const bool known = m_watches.contains(fd);
    m_watches[fd] = std::make_shared<Watch>(Watch{std::move(callback), ++m_generation});
    ::epoll_ctl(m_epoll.get(), known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event);
}

void Reactor::modify(int fd, std::uint32_t events)
{
    epoll_event event{.events = events, .data = {.fd = fd}};
    ::epoll_ctl(m_epoll.get(), EPOLL_CTL_MOD, fd, &event);
}

void Reactor::unwatch(int fd)
{
    if (m_watches.erase(fd))
        ::epoll_ctl(m_epoll.get(), EPOLL_CTL_DEL, fd, nullptr);
}

Reactor::TimerId Reactor::after(Clock::duration delay, Callback callback)
{
    return at(Clock::now() + std::max(delay, Clock::duration::zero()), std::move(callback));
}

Reactor::TimerId Reactor::at(Clock::time_point when, Callback callback)
{
    const TimerId id = m_nextTimer++;
    m_timers.emplace(when, std::pair(id, std::move(callback)));
    m_timerIndex.emplace(id, when);
    return id;
}

void Reactor::cancel(TimerId id)
{
    const auto found = m_timerIndex.find(id);
    if (found == m_timerIndex.end())
        return;
    const auto [first, last] = m_timers.equal_range(found->second);
    for (auto it = first; it != last; ++it) {
        if (it->second.first == id) {
            m_timers.erase(it);
            break;
        }
    }
    m_timerIndex.erase(found);
}

void Reactor::post(Callback callback)
{
    {
        const std::lock_guard lock(m_mutex);
        m_posted.push_back(std::move(callback));
    }
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(m_wake.get(), &one, sizeof one);
}

void Reactor::setPrepare(std::function<int()> prepare)
{
    m_prepare = std::move(prepare);
}

void Reactor::stop()
{
    m_stop = true;
}

void Reactor::runPosted()
{
    std::vector<Callback> batch;
    {
        const std::lock_guard lock(m_mutex);
        batch.swap(m_posted);
    }
    for (Callback &callback : batch)
        callback();
}

void Reactor::runTimers()
{
    const auto now = Clock::now();
    while (!m_timers.empty() && m_timers.begin()->first <= now) {
        auto node = m_timers.extract(m_timers.begin());
        m_timerIndex.erase(node.mapped().first);
        node.mapped().second();
    }
}

int Reactor::sleepLimit(int prepared) const
{
    if (m_timers.empty())
        return prepared;
    const auto wait = m_timers.begin()->first - Clock::now();
    // Rounded up, so that a timer is due when the sleep ends.
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(wait).count();
    const int limit = int(std::clamp<std::int64_t>(ms, 0, 3'600'000));
    return prepared < 0 ? limit : std::min(prepared, limit);
}

void Reactor::run()
{
    epoll_event events[maxEventsPerTurn];
    while (!m_stop) {
        const int limit = sleepLimit(m_prepare ? m_prepare() : -1);
        const int count = ::epoll_wait(m_epoll.get(), events, maxEventsPerTurn, limit);
        if (count < 0 && errno != EINTR)
            return;
        const std::uint64_t turnGeneration = m_generation;
        for (int i = 0; i < count; ++i) {
            if (events[i].data.fd == m_wake.get()) {
                std::uint64_t value = 0;
                [[maybe_unused]] const auto got = ::read(m_wake.get(), &value, sizeof value);
                runPosted();
                continue;
            }
            const auto found = m_watches.find(events[i].data.fd);
            // A descriptor closed and reused within this turn must not get the old one's event.
            if (found == m_watches.end() || found->second->generation > turnGeneration)
                continue;
            const auto keepAlive = found->second;
            keepAlive->callback(events[i].events);
        }
        runTimers();
    }
}

} // namespace paddock::sandboxd
