// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandboxd/worker_pool.h"

#include <csignal>

namespace paddock::sandboxd {

WorkerPool::~WorkerPool()
{
    {
        const std::lock_guard lock(m_mutex);
        m_stop = true;
        m_jobs.clear();
    }
    m_changed.notify_all();
    for (std::thread &thread : m_threads)
        thread.join();
}

void WorkerPool::run(std::function<void()> job)
{
    {
        const std::lock_guard lock(m_mutex);
        m_jobs.push_back(std::move(job));
        if (m_idle == 0 && int(m_threads.size()) < m_limit)
            m_threads.emplace_back([this] { work(); });
    }
    m_changed.notify_one();
}

void WorkerPool::work()
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr); // signals belong to the reactor's thread
    std::unique_lock lock(m_mutex);
    while (true) {
        ++m_idle;
        m_changed.wait(lock, [this] { return m_stop || !m_jobs.empty(); });
        --m_idle;
        if (m_stop)
            return;
        auto job = std::move(m_jobs.front());
        m_jobs.pop_front();
        lock.unlock();
        job();
        job = nullptr;
        lock.lock();
    }
}

} // namespace paddock::sandboxd
