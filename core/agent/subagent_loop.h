// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/error.h"
#include "core/base/loop.h"

#include <memory>
#include <mutex>

namespace paddock {

/// The one loop that all subagents of the process share, on a thread named exactly "subagent-persistent-loop" (runtime
/// §1.3). Made at the first use and reused; it does not keep the process from ending. Thread-safe.
class SubagentLoop
{
public:
    static SubagentLoop &instance();

    /// The loop, started if need be. Fails while an earlier one is still shutting down.
    Result<LoopRef> ref();
    /// Asks the loop to end and waits at most `milliseconds`. When it still runs it stays ours and new work is refused
    /// until it is gone; the next ref() after that makes a new one (K-3). True when nothing runs any more.
    bool shutdown(int milliseconds = 1000);
    QString threadName() const;

private:
    SubagentLoop() = default;
    bool reapLocked(int milliseconds);

    std::mutex m_mutex; // guards both below
    std::unique_ptr<EventLoop> m_loop;
    bool m_stopping = false;
};

} // namespace paddock
