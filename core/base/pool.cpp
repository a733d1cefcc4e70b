// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/base/pool.h"

#include "core/base/handover.h"

#include <QRunnable>
#include <QThreadPool>

#include <utility>

namespace paddock {

namespace {

class PoolJob : public QRunnable
{
public:
    explicit PoolJob(std::function<void()> work) : m_work(std::move(work)) { handOver(this); }
    void run() override
    {
        takeOver(this);
        m_work();
    }

private:
    std::function<void()> m_work;
};

} // namespace

void runInPool(std::function<void()> work)
{
    QThreadPool::globalInstance()->start(new PoolJob(std::move(work)));
}

} // namespace paddock
