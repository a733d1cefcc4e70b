// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/task.h"

#include <QDeadlineTimer>
#include <QCoreApplication>
#include <QTimer>

#include <functional>
#include <memory>
#include <optional>

namespace paddock::test {

template<typename T>
struct Pending {
    std::shared_ptr<std::optional<T>> slot = std::make_shared<std::optional<T>>();
    bool done() const { return slot->has_value(); }
    const T &value() const { return **slot; }
};

namespace detail {
template<typename T>
Task<> keep(Task<T> task, std::shared_ptr<std::optional<T>> slot)
{
    slot->emplace(co_await task);
}
inline Task<> keepVoid(Task<> task, std::shared_ptr<std::optional<bool>> slot)
{
    co_await task;
    slot->emplace(true);
}
} // namespace detail

/// Starts a task and keeps its value.
template<typename T>
Pending<T> begin(Task<T> task)
{
    Pending<T> pending;
    detail::keep(std::move(task), pending.slot);
    return pending;
}
inline Pending<bool> begin(Task<> task)
{
    Pending<bool> pending;
    detail::keepVoid(std::move(task), pending.slot);
    return pending;
}

/// Runs the calling thread's events until the condition holds; false when the time is over. Waits for events, not for time.
inline bool spinUntil(const std::function<bool()> &condition, int milliseconds = 30000)
{
    const QDeadlineTimer deadline(milliseconds);
    QTimer heartbeat; // conditions may depend on what other threads and processes do
    heartbeat.start(5);
    while (!condition()) {
        if (deadline.hasExpired())
            return false;
        QCoreApplication::processEvents(QEventLoop::AllEvents | QEventLoop::WaitForMoreEvents);
        QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
    }
    return true;
}

/// The value of a task, or nothing when it did not end in time.
template<typename T>
std::optional<T> spin(Task<T> task, int milliseconds = 60000)
{
    const auto pending = begin(std::move(task));
    spinUntil([&] { return pending.done(); }, milliseconds);
    return *pending.slot;
}
inline bool spin(Task<> task, int milliseconds = 60000)
{
    const auto pending = begin(std::move(task));
    return spinUntil([&] { return pending.done(); }, milliseconds);
}

} // namespace paddock::test
