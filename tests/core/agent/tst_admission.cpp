// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/agent/admission.h"
#include "core/agent/subagent_loop.h"
#include "core/base/run_on.h"
#include "tests/support/spin.h"
#include "tests/support/test_main.h"

#include <QTest>
#include <QThread>

namespace tst_admission {

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;

class TestAdmission : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void firstComeFirstServed();
    void rejects();
    void queueTimesOut();
    void cancelledWaiterLeavesNothing();
    void grantAndCancelInTheSameInstant();
    void reconfigures();
    void manyThreads();
    void loopHasItsName();
    void loopComesBackAfterShutdown();
};

namespace {

AdmissionOptions options(int running, int queued = 64, std::chrono::seconds timeout = 300s)
{
    AdmissionOptions o;
    o.maxRunning = running;
    o.maxQueued = queued;
    o.queueTimeout = timeout;
    return o;
}

} // namespace

void TestAdmission::firstComeFirstServed()
{
    const auto queue = std::make_shared<AdmissionQueue>(options(1));
    QList<int> positions;
    const auto note = [&](int position) { positions.append(position); };
    const auto a = begin(takeSlot(queue, note, {}));
    const auto b = begin(takeSlot(queue, note, {}));
    const auto c = begin(takeSlot(queue, note, {}));
    QVERIFY(a.done() && a.value());
    QVERIFY(!b.done() && !c.done());
    QCOMPARE(positions, (QList<int>{1, 2}));
    queue->leave();
    QCOMPARE(queue->snapshot().running, 1); // handed over, not given back
    QVERIFY(spinUntil([&] { return b.done(); }));
    QVERIFY(!c.done());
    queue->leave();
    QVERIFY(spinUntil([&] { return c.done(); }));
    queue->leave();
    QCOMPARE(queue->snapshot().running, 0);
}

void TestAdmission::rejects()
{
    auto o = options(2, 1);
    const auto queue = std::make_shared<AdmissionQueue>(o);
    QVERIFY(queue->enter());
    QVERIFY(queue->enter());
    QVERIFY(queue->enter());
    const auto full = spin(takeSlot(queue, {}, {}));
    QCOMPARE(full->error().message, QStringLiteral("Subagent execution capacity is full (2 running, 1 queued)"));
    o.reject = true;
    const auto strict = std::make_shared<AdmissionQueue>(o);
    QVERIFY(strict->enter() && strict->enter());
    QCOMPARE(strict->enter().error().message, QStringLiteral("Subagent execution capacity is full (2 running, 0 queued)"));
}

void TestAdmission::queueTimesOut()
{
    const auto queue = std::make_shared<AdmissionQueue>(options(1, 8, 1s));
    QVERIFY(queue->enter());
    const auto late = spin(takeSlot(queue, {}, {}));
    QCOMPARE(late->error().message, QStringLiteral("Timed out after 1s waiting for a subagent execution slot"));
    QCOMPARE(queue->snapshot().queued, 0);
    queue->leave();
    QCOMPARE(queue->snapshot().running, 0);
}

void TestAdmission::cancelledWaiterLeavesNothing()
{
    const auto queue = std::make_shared<AdmissionQueue>(options(1));
    QVERIFY(queue->enter());
    std::stop_source stop;
    const auto waiting = begin(takeSlot(queue, {}, stop.get_token()));
    stop.request_stop();
    QVERIFY(spinUntil([&] { return waiting.done(); }));
    QVERIFY(waiting.value().error().isCancelled());
    QCOMPARE(queue->snapshot().queued, 0);
    queue->leave();
    QCOMPARE(queue->snapshot().running, 0);
    QVERIFY(spin(takeSlot(queue, {}, stop.get_token()))->error().isCancelled());
}

void TestAdmission::grantAndCancelInTheSameInstant()
{
    for (const bool grantFirst : {true, false}) {
        const auto queue = std::make_shared<AdmissionQueue>(options(1));
        QVERIFY(queue->enter());
        std::stop_source stop;
        const auto waiting = begin(takeSlot(queue, {}, stop.get_token()));
        if (grantFirst)
            queue->leave();
        stop.request_stop();
        if (!grantFirst)
            queue->leave();
        QVERIFY(spinUntil([&] { return waiting.done(); }));
        QVERIFY(waiting.value().error().isCancelled());
        QCOMPARE(queue->snapshot().running, 0); // the slot came back
    }
}

void TestAdmission::reconfigures()
{
    AdmissionQueue queue(options(2));
    QVERIFY(queue.reconfigure(options(2)));
    QVERIFY(queue.reconfigure(options(5)));
    QVERIFY(queue.enter());
    QVERIFY(queue.reconfigure(options(5)));
    QCOMPARE(queue.reconfigure(options(2)).error().message,
             QStringLiteral("Cannot reconfigure subagent capacity while executions are active"));
}

void TestAdmission::manyThreads()
{
    const auto queue = std::make_shared<AdmissionQueue>(options(3, 1000));
    std::atomic<int> inside = 0;
    std::atomic<int> most = 0;
    std::vector<std::unique_ptr<EventLoop>> loops;
    for (int i = 0; i < 4; ++i)
        loops.push_back(std::make_unique<EventLoop>(QStringLiteral("l%1").arg(i)));
    std::vector<Task<>> tasks;
    for (int i = 0; i < 200; ++i) {
        tasks.push_back(runOn(loops[std::size_t(i % 4)]->ref(), [queue, &inside, &most] {
            return [](std::shared_ptr<AdmissionQueue> q, std::atomic<int> *in, std::atomic<int> *max) -> Task<> {
                if (!co_await takeSlot(q, {}, {}))
                    co_return;
                const int now = ++*in;
                int known = *max;
                while (now > known && !max->compare_exchange_weak(known, now)) { }
                co_await sleepFor(1ms, {});
                --*in;
                q->leave();
            }(queue, &inside, &most);
        }));
    }
    QVERIFY(spin(whenAll(std::move(tasks))));
    QCOMPARE(most.load(), 3);
    QCOMPARE(queue->snapshot().running, 0);
    QCOMPARE(queue->snapshot().queued, 0);
}

void TestAdmission::loopHasItsName()
{
    const auto loop = SubagentLoop::instance().ref();
    QVERIFY(loop);
    const auto name = spin(runOn(*loop, [] {
        return []() -> Task<QString> { co_return QThread::currentThread()->objectName(); }();
    }));
    QCOMPARE(*name, QStringLiteral("subagent-persistent-loop"));
    QVERIFY(!loop->isCurrent());
}

void TestAdmission::loopComesBackAfterShutdown()
{
    auto &only = SubagentLoop::instance();
    QVERIFY(only.ref());
    // A loop that is busy does not stop at once: it stays ours and refuses work until it is gone.
    std::atomic<bool> hold = true;
    std::atomic<bool> begun = false;
    QVERIFY(only.ref()->post([&hold, &begun] {
        begun = true;
        while (hold)
            QThread::msleep(1);
    }));
    QTRY_VERIFY(begun);
    QVERIFY(!only.shutdown(20));
    QCOMPARE(only.ref().error().message, QStringLiteral("The subagent event loop is still shutting down"));
    hold = false;
    QVERIFY(only.shutdown(5000));
    const auto again = only.ref();
    QVERIFY(again);
    QVERIFY(spin(runOn(*again, [] { return []() -> Task<> { co_return; }(); })));
    QVERIFY(only.shutdown(5000));
}

} // namespace tst_admission

PADDOCK_TEST(tst_admission, TestAdmission)
#include "tst_admission.moc"
