// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/base/loop.h"

#include "core/base/handover.h"

#include <QCoreApplication>
#include <QLoggingCategory>
#include <QObject>
#include <QThread>

#include <deque>
#include <future>
#include <mutex>
#include <utility>

Q_LOGGING_CATEGORY(lcLoop, "paddock.base.loop")

namespace paddock {

struct LoopRef::Context {
    std::mutex mutex; // guards both members: posting and the end of the thread exclude each other
    QObject *receiver = nullptr;
    // Not inside Qt's events: those that an application never delivered are destroyed under Qt's own lock, where a
    // destructor of ours that posts or deletes later would wait for itself.
    std::deque<std::function<void()>> calls;

    void runNext()
    {
        std::function<void()> call;
        {
            const std::lock_guard lock(mutex);
            if (calls.empty())
                return;
            call = std::move(calls.front());
            calls.pop_front();
        }
        call();
    }
};

namespace {

/// Where Qt delivers the wake-ups of a context. An event of no content, since what it would carry crosses threads under Qt's
/// locks only.
class Receiver : public QObject
{
public:
    explicit Receiver(std::weak_ptr<LoopRef::Context> context) : m_context(std::move(context)) {}
    bool event(QEvent *event) override
    {
        takeOver(event);
        if (event->type() != QEvent::User)
            return QObject::event(event);
        if (const auto context = m_context.lock()) // this may die in the call
            context->runNext();
        return true;
    }

private:
    std::weak_ptr<LoopRef::Context> m_context;
};

/// Ends the context when its thread ends, so that late posts are dropped instead of touching a dead object.
struct ThreadLocalContext {
    std::shared_ptr<LoopRef::Context> context;
    ~ThreadLocalContext()
    {
        if (!context)
            return;
        QObject *receiver = nullptr;
        std::deque<std::function<void()>> dropped;
        {
            const std::lock_guard lock(context->mutex);
            receiver = std::exchange(context->receiver, nullptr);
            dropped.swap(context->calls);
        }
        delete receiver;
        dropped.clear(); // outside the lock: this may run destructors that post again
    }
};

} // namespace

LoopRef LoopRef::current()
{
    thread_local ThreadLocalContext local;
    if (!local.context) {
        local.context = std::make_shared<Context>();
        local.context->receiver = new Receiver(local.context);
    }
    LoopRef ref;
    ref.m_context = local.context;
    return ref;
}

bool LoopRef::isCurrent() const
{
    return m_context && m_context == current().m_context;
}

bool LoopRef::post(std::function<void()> call) const
{
    if (!m_context)
        return false;
    const std::lock_guard lock(m_context->mutex);
    if (!m_context->receiver)
        return false;
    m_context->calls.push_back(std::move(call));
    auto *wakeup = new QEvent(QEvent::User);
    handOver(wakeup);
    QCoreApplication::postEvent(m_context->receiver, wakeup);
    return true;
}

EventLoop::EventLoop(QString name) : m_name(std::move(name)), m_thread(std::make_unique<QThread>())
{
    m_thread->setObjectName(m_name);
    std::promise<LoopRef> started;
    QObject::connect(m_thread.get(), &QThread::started, m_thread.get(), [this, &started] {
        takeOver(this);
        started.set_value(LoopRef::current());
    }, Qt::DirectConnection); // runs in the new thread, which is the point
    handOver(this);
    m_thread->start();
    m_ref = started.get_future().get();
}

EventLoop::~EventLoop()
{
    if (!stop()) {
        qCCritical(lcLoop, "loop %ls did not end; its thread is left behind", qUtf16Printable(m_name));
        m_thread.release();
    }
}

bool EventLoop::stop(int milliseconds)
{
    if (m_thread->isFinished())
        return true;
    m_thread->quit();
    return m_thread->wait(milliseconds);
}

} // namespace paddock
