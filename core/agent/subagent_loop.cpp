// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/agent/subagent_loop.h"

namespace paddock {

namespace {
const QString &loopName()
{
    static const QString name = QStringLiteral("subagent-persistent-loop");
    return name;
}
} // namespace

SubagentLoop &SubagentLoop::instance()
{
    // Never destroyed: a process that ends without shutdown() must not wait for, or pull down, a running thread.
    static SubagentLoop *const only = new SubagentLoop;
    return *only;
}

Result<LoopRef> SubagentLoop::ref()
{
    const std::lock_guard lock(m_mutex);
    if (m_stopping && !reapLocked(0))
        return fail(ErrorCode::Unavailable, QStringLiteral("The subagent event loop is still shutting down"));
    if (!m_loop)
        m_loop = std::make_unique<EventLoop>(loopName());
    return m_loop->ref();
}

bool SubagentLoop::shutdown(int milliseconds)
{
    const std::lock_guard lock(m_mutex);
    if (!m_loop)
        return true;
    m_stopping = true;
    return reapLocked(milliseconds);
}

bool SubagentLoop::reapLocked(int milliseconds)
{
    if (!m_loop->stop(milliseconds))
        return false;
    m_loop.reset();
    m_stopping = false;
    return true;
}

QString SubagentLoop::threadName() const
{
    return loopName();
}

} // namespace paddock
