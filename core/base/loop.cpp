// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/base/loop.h"

#include <QCoreApplication>
#include <QLoggingCategory>
#include <QObject>
#include <QSemaphore>
#include <QThread>

#include <mutex>
#include <utility>

Q_LOGGING_CATEGORY(lcLoop, "paddock.base.loop")

namespace paddock {

struct LoopRef::Context {
    std::mutex mutex; // guards receiver: posting and the end of the thread exclude each other
    QObject *receiver = nullptr;
};

namespace {

/// Ends the context when its thread ends, so that late posts are dropped instead of touching a dead object.
struct ThreadLocalContext {
    std::shared_ptr<LoopRef::Context> context;
    ~ThreadLocalContext()
    {
        if (!context)
            return;
        QObject *receiver = nullptr;
        {
            const std::lock_guard lock(context->mutex);
            receiver = std::exchange(context->receiver, nullptr);
        }
        delete receiver; // outside the lock: dropping pending calls may run destructors that post again
    }
};

} // namespace

LoopRef LoopRef::current()
{
    thread_local ThreadLocalContext local;
    if (!local.context) {
        local.context = std::make_shared<Context>();
        local.context->receiver = new QObject;
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
    return QMetaObject::invokeMethod(m_context->receiver, std::move(call), Qt::QueuedConnection);
}

EventLoop::EventLoop(QString name) : m_name(std::move(name)), m_thread(std::make_unique<QThread>())
{
    m_thread->setObjectName(m_name);
    QSemaphore started;
    LoopRef ref;
    QObject::connect(m_thread.get(), &QThread::started, m_thread.get(), [&started, &ref] {
        ref = LoopRef::current();
        started.release();
    }, Qt::DirectConnection); // runs in the new thread, which is the point
    m_thread->start();
    started.acquire();
    m_ref = ref;
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
