// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QString>

#include <functional>
#include <memory>

class QObject;
class QThread;

namespace paddock {

/// A copyable reference to a thread's event loop. Posting to a loop that has ended drops the call and returns false.
class LoopRef
{
public:
    LoopRef() = default;
    /// The loop of the calling thread (made on first use; lives until the thread ends).
    static LoopRef current();

    bool isValid() const { return m_context != nullptr; }
    bool isCurrent() const;
    /// Runs `call` on the loop, after everything posted to it before; never inline. Callable from any thread.
    bool post(std::function<void()> call) const;

    /// Shared by every reference to one loop; opaque to others.
    struct Context;

private:
    friend class EventLoop;
    std::shared_ptr<Context> m_context;
};

/// A named thread with an event loop. Owner: whoever made it; made and destroyed on one thread. The OS sees the first
/// 15 characters of the name, the object name keeps all of it (runtime §1.3).
class EventLoop
{
public:
    explicit EventLoop(QString name);
    /// Stops and joins; a loop that does not stop within the limit is reported and left running (never terminated).
    ~EventLoop();
    EventLoop(const EventLoop &) = delete;
    EventLoop &operator=(const EventLoop &) = delete;

    const QString &name() const { return m_name; }
    LoopRef ref() const { return m_ref; }
    QThread *thread() const { return m_thread.get(); }
    /// Asks the loop to end and waits at most `milliseconds`; false when it still runs.
    bool stop(int milliseconds = 5000);

private:
    QString m_name;
    std::unique_ptr<QThread> m_thread;
    LoopRef m_ref;
};

} // namespace paddock
