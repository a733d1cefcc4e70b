// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/completion.h"

#include <QObject>
#include <QPointer>
#include <QTimer>

#include <chrono>
#include <deque>
#include <memory>
#include <stop_token>

namespace paddock {

/// How a stop-aware wait ended.
enum class WaitResult { Done, TimedOut, Stopped, SenderDied };

/// Waits on the calling thread's loop. True when the time passed, false when stop was requested first.
Task<bool> sleepFor(std::chrono::milliseconds duration, std::stop_token stop);

/// Waits until stop is requested.
Task<> untilStopped(std::stop_token stop);

/// Waits for a completion, for stop, or for `timeout` (negative: no limit), whichever is first. The completion itself
/// is not stopped; false results leave it running.
template<typename T>
Task<std::optional<T>> waitFor(Completion<T> completion, std::stop_token stop,
                               std::chrono::milliseconds timeout = std::chrono::milliseconds(-1));

/// Waits for a signal of `sender`. Ends also when the sender dies, stop is requested, or the limit passes; always resumes
/// through a queued call on the calling thread, which must be the sender's (style.md A7, traps 2 and 6).
template<typename Sender, typename Signal>
Task<WaitResult> awaitSignal(Sender *sender, Signal signal, std::stop_token stop,
                             std::chrono::milliseconds timeout = std::chrono::milliseconds(-1))
{
    Completion<WaitResult> done;
    QObject context; // destroyed with the frame: connections never outlive the wait
    QObject::connect(sender, signal, &context, [done] { done.complete(WaitResult::Done); });
    QObject::connect(sender, &QObject::destroyed, &context, [done] { done.complete(WaitResult::SenderDied); });
    QTimer timer;
    if (timeout.count() >= 0) {
        timer.setSingleShot(true);
        QObject::connect(&timer, &QTimer::timeout, &context, [done] { done.complete(WaitResult::TimedOut); });
        timer.start(timeout);
    }
    const std::stop_callback onStop(stop, [done] { done.complete(WaitResult::Stopped); });
    co_return co_await done;
}

/// First come, first served; waiting listens to the stop token. Lives on one thread or is used from several: thread-safe.
/// Must outlive its waiters and guards (hold it in a shared_ptr beside the work).
class AsyncMutex
{
public:
    class Guard
    {
    public:
        Guard() = default;
        explicit Guard(AsyncMutex *mutex) : m_mutex(mutex) {}
        Guard(Guard &&other) noexcept : m_mutex(std::exchange(other.m_mutex, nullptr)) {}
        Guard &operator=(Guard &&other) noexcept
        {
            unlock();
            m_mutex = std::exchange(other.m_mutex, nullptr);
            return *this;
        }
        ~Guard() { unlock(); }
        /// False when the wait was stopped before the lock was ours.
        explicit operator bool() const { return m_mutex != nullptr; }
        void unlock()
        {
            if (auto *mutex = std::exchange(m_mutex, nullptr))
                mutex->release();
        }

    private:
        AsyncMutex *m_mutex = nullptr;
    };

    /// A false guard means stop was requested while waiting; the lock is then not held.
    Task<Guard> lock(std::stop_token stop = {});
    bool isLocked() const;

private:
    void release();
    mutable std::mutex m_mutex; // guards both below
    bool m_locked = false;
    std::deque<Completion<bool>> m_waiters; // completed with true: the lock was handed over
};

template<typename T>
Task<std::optional<T>> waitFor(Completion<T> completion, std::stop_token stop, std::chrono::milliseconds timeout)
{
    // Watching instead of awaiting leaves nothing behind when the limit or the stop comes first.
    Completion<void> first;
    const quint64 observer = completion.observe([first] { first.complete(); });
    {
        QTimer timer;
        if (timeout.count() >= 0) {
            timer.setSingleShot(true);
            QObject::connect(&timer, &QTimer::timeout, &timer, [first] { first.complete(); });
            timer.start(timeout);
        }
        const std::stop_callback onStop(stop, [first] { first.complete(); });
        co_await first;
    }
    completion.unobserve(observer);
    if (!completion.isComplete())
        co_return std::nullopt;
    co_return co_await completion; // ready: does not suspend
}

} // namespace paddock
