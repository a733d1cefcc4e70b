// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/agent/admission.h"

namespace paddock {

AdmissionQueue::AdmissionQueue(AdmissionOptions options) : m_options(options) {}

Result<AdmissionQueue::Entry> AdmissionQueue::enter()
{
    const std::lock_guard lock(m_mutex);
    if (m_running < m_options.maxRunning) {
        ++m_running;
        return Entry{};
    }
    const int queued = int(m_waiters.size());
    if (m_options.reject || queued >= m_options.maxQueued)
        return fail(ErrorCode::ResourceExhausted,
                    QStringLiteral("Subagent execution capacity is full (%1 running, %2 queued)").arg(m_options.maxRunning).arg(queued));
    m_waiters.push_back(std::make_shared<Waiter>());
    return Entry{m_waiters.back(), queued + 1};
}

bool AdmissionQueue::withdraw(const WaiterPtr &waiter)
{
    const std::lock_guard lock(m_mutex);
    return std::erase(m_waiters, waiter) > 0;
}

void AdmissionQueue::leave()
{
    WaiterPtr next;
    {
        const std::lock_guard lock(m_mutex);
        if (m_running <= 0)
            qFatal("a subagent slot was given back that nobody had");
        if (m_waiters.empty()) {
            --m_running;
            return;
        }
        next = m_waiters.front(); // the slot changes hands: running stays as it is
        m_waiters.pop_front();
    }
    next->granted.complete(true);
}

AdmissionQueue::Snapshot AdmissionQueue::snapshot() const
{
    const std::lock_guard lock(m_mutex);
    return {m_running, int(m_waiters.size())};
}

AdmissionOptions AdmissionQueue::options() const
{
    const std::lock_guard lock(m_mutex);
    return m_options;
}

Error AdmissionQueue::timedOut() const
{
    return {ErrorCode::Timeout,
            QStringLiteral("Timed out after %1s waiting for a subagent execution slot").arg(options().queueTimeout.count()),
            Json::object(), nullptr};
}

Result<void> AdmissionQueue::reconfigure(const AdmissionOptions &options)
{
    const std::lock_guard lock(m_mutex);
    if (options == m_options)
        return {};
    if (m_running > 0 || !m_waiters.empty())
        return fail(ErrorCode::FailedPrecondition,
                    QStringLiteral("Cannot reconfigure subagent capacity while executions are active"));
    m_options = options;
    return {};
}

Task<Result<void>> takeSlot(std::shared_ptr<AdmissionQueue> queue, std::function<void(int)> onQueued, std::stop_token stop)
{
    if (stop.stop_requested())
        co_return cancelled();
    const auto entry = queue->enter();
    if (!entry)
        co_return fail(entry.error());
    if (!entry->waiter)
        co_return Result<void>();
    if (onQueued)
        onQueued(entry->position);
    const auto granted = co_await waitFor(entry->waiter->granted, stop, queue->options().queueTimeout);
    if (granted && !stop.stop_requested())
        co_return Result<void>();
    if (!queue->withdraw(entry->waiter))
        queue->leave();
    if (stop.stop_requested())
        co_return cancelled();
    co_return fail(queue->timedOut());
}

} // namespace paddock
