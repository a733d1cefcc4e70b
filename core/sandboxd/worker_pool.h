// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace paddock::sandboxd {

/// A few threads for work that may block on the disk (the file group). Jobs get their result back by Reactor::post.
/// Owner: SandboxServer. The destructor lets running jobs end and drops waiting ones. Threads start on first use.
class WorkerPool
{
public:
    explicit WorkerPool(int threads) : m_limit(threads) {}
    ~WorkerPool();
    WorkerPool(const WorkerPool &) = delete;
    WorkerPool &operator=(const WorkerPool &) = delete;

    void run(std::function<void()> job);

private:
    void work();

    const int m_limit;
    std::mutex m_mutex; ///< guards all below
    std::condition_variable m_changed;
    std::deque<std::function<void()>> m_jobs;
    std::vector<std::thread> m_threads;
    int m_idle = 0;
    bool m_stop = false;
};

} // namespace paddock::sandboxd
