// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// The traps of style.md part F that the primitives of core/base take care of; each test names its trap.
#include "core/base/async.h"
#include "core/base/run_on.h"
#include "core/base/task_scope.h"
#include "tests/core/base/loop_guard.h"
#include "tests/support/test_main.h"

#include <QObject>
#include <QSemaphore>

#include <atomic>
#include <thread>

namespace tst_async {

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;

class Sender : public QObject
{
    Q_OBJECT
Q_SIGNALS:
    void fired();
};

namespace {

Task<QThread *> threadOf(LoopRef loop)
{
    co_return co_await runOn(loop, []() -> Task<QThread *> { co_return QThread::currentThread(); });
}

/// A callee that hops, and where its caller goes on (F3).
Task<std::pair<QThread *, QThread *>> hopAndReturn(LoopRef loop)
{
    QThread *there = co_await threadOf(loop);
    co_return std::pair(there, QThread::currentThread());
}

Task<bool> sleepOn(LoopRef loop, std::stop_token stop)
{
    co_return co_await runOn(loop, [stop]() -> Task<bool> {
        const bool slept = co_await sleepFor(1h, stop);
        co_return slept;
    });
}

Task<int> answer(int value)
{
    co_await sleepFor(1ms, {});
    co_return value;
}

Task<int> throwing(const char *what)
{
    co_await sleepFor(1ms, {});
    throw std::runtime_error(what);
}

Task<> throwingTask(std::stop_token)
{
    co_await sleepFor(1ms, {});
    throw std::runtime_error("lost in silence?");
}

Task<> untilStop(std::stop_token stop, std::shared_ptr<int> ended)
{
    co_await untilStopped(stop);
    ++*ended;
}

Task<QString> caught(Task<int> task)
{
    QString text = QStringLiteral("nothing thrown");
    try {
        co_await task;
    } catch (const std::exception &e) {
        text = QString::fromUtf8(e.what());
    }
    co_return text;
}

/// Takes the mutex, notes its number, and lets others run before it gives it back.
Task<> takeTurn(std::shared_ptr<AsyncMutex> mutex, int number, std::shared_ptr<std::vector<int>> order)
{
    const AsyncMutex::Guard guard = co_await mutex->lock();
    order->push_back(number);
    co_await sleepFor(0ms, {});
}

Task<bool> tryLock(std::shared_ptr<AsyncMutex> mutex, std::stop_token stop)
{
    const AsyncMutex::Guard guard = co_await mutex->lock(stop);
    co_return bool(guard);
}

/// Adds to a plain int under the mutex; a missing exclusion shows as a wrong sum (and to the thread sanitizer).
Task<> addMany(std::shared_ptr<AsyncMutex> mutex, std::shared_ptr<int> sum, int times)
{
    for (int i = 0; i < times; ++i) {
        const AsyncMutex::Guard guard = co_await mutex->lock();
        const int before = *sum;
        co_await sleepFor(0ms, {});
        *sum = before + 1;
    }
}

Task<> lockStopRace(std::shared_ptr<AsyncMutex> mutex, std::stop_token stop, std::shared_ptr<std::atomic<int>> done)
{
    {
        const AsyncMutex::Guard guard = co_await mutex->lock(stop);
    }
    ++*done;
}

} // namespace

class TestAsync : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void runOnReturnsToTheCallersThread() // F3
    {
        EventLoop loop(QStringLiteral("other"));
        const auto threads = runTask(hopAndReturn(loop.ref()));
        QVERIFY(threads);
        QCOMPARE(threads->first, loop.thread());
        QCOMPARE(threads->second, QThread::currentThread());
    }

    void runOnKeepsCapturesAlive() // F4: the captures live in the frame of runOn, not in the caller's expression
    {
        EventLoop loop(QStringLiteral("other"));
        const auto start = [](LoopRef where) {
            const QString text = QString(1000, QLatin1Char('x'));
            return runOn(where, [text]() -> Task<qsizetype> {
                co_await sleepFor(1ms, {});
                co_return text.size();
            });
        };
        QCOMPARE(runTask(start(loop.ref())), std::optional<qsizetype>(1000));
    }

    void runOnPassesExceptions() // F5
    {
        EventLoop loop(QStringLiteral("other"));
        auto task = runOn(loop.ref(), []() -> Task<int> { return throwing("over there"); });
        QCOMPARE(runTask(caught(std::move(task))), std::optional(QStringLiteral("over there")));
        QCOMPARE(runTask(caught(runOnPool([]() -> int { throw std::runtime_error("in the pool"); }))), std::optional(QStringLiteral("in the pool")));
    }

    void runOnAnEndedLoopFailsInsteadOfHanging()
    {
        EventLoop loop(QStringLiteral("gone"));
        const LoopRef ref = loop.ref();
        QVERIFY(loop.stop());
        QVERIFY(!ref.post([] {}));
        QCOMPARE(runTask(caught(runOn(ref, []() -> Task<int> { return answer(1); }))), std::optional(QStringLiteral("the event loop has ended")));
    }

    void aCallThatTheEndingLoopNeverRanFails()
    {
        EventLoop loop(QStringLiteral("busy"));
        QSemaphore started;
        QSemaphore mayEnd;
        loop.ref().post([&] {
            started.release();
            mayEnd.acquire();
            QThread::currentThread()->quit(); // ends before it takes the next call
        });
        started.acquire();
        auto task = runOn(loop.ref(), []() -> Task<int> { return answer(1); });
        mayEnd.release();
        QVERIFY(loop.stop());
        const auto text = runTask(caught(std::move(task)));
        QVERIFY(text);
        QVERIFY(*text == u"the event loop has ended" || *text == u"nothing thrown");
    }

    void runOnPoolReturnsToTheCallersThread()
    {
        const auto task = []() -> Task<bool> {
            QThread *const here = QThread::currentThread();
            QThread *const there = co_await runOnPool([] { return QThread::currentThread(); });
            co_return here != there && here == QThread::currentThread();
        };
        QCOMPARE(runTask(task()), std::optional(true));
    }

    void awaitSignalOfADyingSenderResumes() // F2
    {
        auto *sender = new Sender;
        auto waiting = awaitSignal(sender, &Sender::fired, {}, 1h); // with a limit QCoro's own never resumes either
        QTimer::singleShot(0, sender, [sender] { delete sender; });
        QCOMPARE(runTask(std::move(waiting)), std::optional(WaitResult::SenderDied));
    }

    void awaitSignalMayDestroyTheSender() // F6: resumes after the emitter has returned
    {
        const auto task = [](bool *emitting) -> Task<bool> {
            auto sender = std::make_unique<Sender>();
            QTimer::singleShot(0, sender.get(), [raw = sender.get(), emitting] {
                *emitting = true;
                Q_EMIT raw->fired();
                *emitting = false;
            });
            const WaitResult result = co_await awaitSignal(sender.get(), &Sender::fired, {});
            const bool inside = *emitting;
            sender.reset();
            co_return result == WaitResult::Done && !inside;
        };
        bool emitting = false;
        QCOMPARE(runTask(task(&emitting)), std::optional(true));
    }

    void awaitSignalTimesOut()
    {
        Sender sender;
        QCOMPARE(runTask(awaitSignal(&sender, &Sender::fired, {}, 1ms)), std::optional(WaitResult::TimedOut));
    }

    void stopFromAnotherThreadReachesTheLeaf() // F7
    {
        EventLoop loop(QStringLiteral("sleeper"));
        std::stop_source stop;
        auto task = sleepOn(loop.ref(), stop.get_token());
        std::thread stopper([&stop] { stop.request_stop(); });
        QCOMPARE(runTask(std::move(task)), std::optional(false));
        stopper.join();

        Sender sender;
        std::stop_source second;
        auto waiting = awaitSignal(&sender, &Sender::fired, second.get_token());
        std::thread secondStopper([&second] { second.request_stop(); });
        QCOMPARE(runTask(std::move(waiting)), std::optional(WaitResult::Stopped));
        secondStopper.join();
    }

    void stopRequestedBeforeTheWait()
    {
        std::stop_source stop;
        stop.request_stop();
        Sender sender;
        QCOMPARE(runTask(sleepFor(1h, stop.get_token())), std::optional(false));
        QCOMPARE(runTask(awaitSignal(&sender, &Sender::fired, stop.get_token())), std::optional(WaitResult::Stopped));
        QVERIFY(runTask(untilStopped(stop.get_token())));
    }

    void completionHasOneWinner()
    {
        for (int round = 0; round < 50; ++round) {
            const Completion<int> completion;
            std::atomic<int> winners = 0;
            std::atomic<int> winner = -1;
            std::vector<std::thread> threads;
            for (int t = 0; t < 8; ++t) {
                threads.emplace_back([&, t] {
                    if (completion.complete(t)) {
                        ++winners;
                        winner = t;
                    }
                });
            }
            const auto waiting = [](Completion<int> c) -> Task<int> { co_return co_await c; };
            const auto value = runTask(waiting(completion));
            for (auto &thread : threads)
                thread.join();
            QCOMPARE(winners.load(), 1);
            QCOMPARE(value, std::optional(winner.load()));
        }
    }

    void completionOutlivesItsCompleter()
    {
        const auto waiting = [](Completion<QString> c) -> Task<QString> { co_return co_await c; };
        Task<QString> task = [&] {
            const Completion<QString> completion;
            auto t = waiting(completion);
            std::thread([completion] { completion.complete(QStringLiteral("late")); }).detach();
            return t;
        }();
        QCOMPARE(runTask(std::move(task)), std::optional(QStringLiteral("late")));
    }

    void completionObserversAreCalledOnce()
    {
        const Completion<int> completion;
        int first = 0;
        int second = 0;
        int late = 0;
        completion.observe([&first] { ++first; });
        const quint64 id = completion.observe([&second] { ++second; });
        completion.unobserve(id);
        QVERIFY(completion.complete(7));
        QVERIFY(!completion.complete(8));
        completion.observe([&late] { ++late; });
        QCOMPARE(first, 1);
        QCOMPARE(second, 0);
        QCOMPARE(late, 1);
        QCOMPARE(completion.take(), 7);
    }

    void waitForEndsAtTheFirstReason()
    {
        const Completion<int> never;
        QCOMPARE(runTask(waitFor(never, {}, 1ms)), std::make_optional(std::optional<int>()));
        std::stop_source stop;
        auto stopped = waitFor(never, stop.get_token());
        stop.request_stop();
        QCOMPARE(runTask(std::move(stopped)), std::make_optional(std::optional<int>()));
        const Completion<int> now;
        now.complete(3);
        QCOMPARE(runTask(waitFor(now, stop.get_token())), std::make_optional(std::optional<int>(3))); // a value that is there is not lost
        // Waiting again after a limit still gets it.
        auto again = waitFor(never, {}, 1h);
        never.complete(4);
        QCOMPARE(runTask(std::move(again)), std::make_optional(std::optional<int>(4)));
    }

    void whenAllWaitsForAllEvenWhenOneThrows()
    {
        std::vector<Task<int>> tasks;
        for (int i = 0; i < 3; ++i)
            tasks.push_back(answer(i));
        QCOMPARE(runTask(whenAll(std::move(tasks))), std::optional(std::vector<int>{0, 1, 2}));

        const auto lastDone = std::make_shared<bool>(false);
        const auto slow = [](std::shared_ptr<bool> done) -> Task<int> {
            co_await sleepFor(20ms, {});
            *done = true;
            co_return 1;
        };
        const auto all = [](std::vector<Task<int>> list) -> Task<int> {
            co_await whenAll(std::move(list));
            co_return 0;
        };
        std::vector<Task<int>> mixed;
        mixed.push_back(throwing("first"));
        mixed.push_back(slow(lastDone));
        QCOMPARE(runTask(caught(all(std::move(mixed)))), std::optional(QStringLiteral("first")));
        QVERIFY(*lastDone);
    }

    void scopeLogsWhatATaskThrows() // F5
    {
        TaskScope scope(QStringLiteral("test-scope"));
        QTest::ignoreMessage(QtCriticalMsg, "task in scope test-scope threw: lost in silence?");
        QVERIFY(scope.spawn(throwingTask));
        QCOMPARE(scope.running(), 1);
        QVERIFY(runTask(scope.drain()));
        QCOMPARE(scope.running(), 0);
    }

    void scopeStopsAndDrains() // F1
    {
        TaskScope scope(QStringLiteral("test-scope"));
        const auto ended = std::make_shared<int>(0);
        for (int i = 0; i < 5; ++i)
            QVERIFY(scope.spawn([ended](std::stop_token stop) { return untilStop(stop, ended); }));
        QCOMPARE(scope.running(), 5);
        auto firstDrain = scope.drain();
        auto secondDrain = scope.drain();
        scope.requestStop();
        QVERIFY(!scope.spawn([ended](std::stop_token stop) { return untilStop(stop, ended); }));
        QVERIFY(runTask(std::move(firstDrain)));
        QVERIFY(runTask(std::move(secondDrain)));
        QCOMPARE(*ended, 5);
    }

    void scopeDestroyedWithTasksSaysSo() // F1: reported, stopped, nothing dangles
    {
        const auto ended = std::make_shared<int>(0);
        {
            TaskScope scope(QStringLiteral("early"));
            QVERIFY(scope.spawn([ended](std::stop_token stop) { return untilStop(stop, ended); }));
            QTest::ignoreMessage(QtCriticalMsg, "scope early destroyed with 1 tasks running");
        }
        QVERIFY(spinUntil([&] { return *ended == 1; }));
    }

    void mutexIsFair()
    {
        const auto mutex = std::make_shared<AsyncMutex>();
        const auto order = std::make_shared<std::vector<int>>();
        std::vector<Task<>> tasks;
        for (int i = 0; i < 6; ++i)
            tasks.push_back(takeTurn(mutex, i, order));
        QVERIFY(runTask(whenAll(std::move(tasks))));
        QCOMPARE(*order, (std::vector<int>{0, 1, 2, 3, 4, 5}));
        QVERIFY(!mutex->isLocked());
    }

    void mutexWaiterMayBeStopped()
    {
        const auto mutex = std::make_shared<AsyncMutex>();
        auto held = mutex->lock();
        std::stop_source stop;
        auto waiting = tryLock(mutex, stop.get_token());
        auto behind = tryLock(mutex, {});
        stop.request_stop();
        QCOMPARE(runTask(std::move(waiting)), std::optional(false));
        QVERIFY(mutex->isLocked());
        {
            auto guard = runTask(std::move(held));
            QVERIFY(guard);
        }
        QCOMPARE(runTask(std::move(behind)), std::optional(true)); // the stopped one in front is skipped
        QVERIFY(!mutex->isLocked());
    }

    void mutexExcludesAcrossThreads()
    {
        const auto mutex = std::make_shared<AsyncMutex>();
        const auto sum = std::make_shared<int>(0);
        EventLoop a(QStringLiteral("a"));
        EventLoop b(QStringLiteral("b"));
        std::vector<Task<>> tasks;
        for (const LoopRef &loop : {a.ref(), b.ref(), LoopRef::current()})
            tasks.push_back(runOn(loop, [mutex, sum] { return addMany(mutex, sum, 50); }));
        QVERIFY(runTask(whenAll(std::move(tasks))));
        QCOMPARE(*sum, 150);
    }

    void mutexHandOverRacesWithStop() // either the stop or the hand-over wins, and the lock is never lost
    {
        EventLoop other(QStringLiteral("other"));
        for (int round = 0; round < 200; ++round) {
            const auto mutex = std::make_shared<AsyncMutex>();
            const auto done = std::make_shared<std::atomic<int>>(0);
            auto guard = runTask(mutex->lock());
            QVERIFY(guard && *guard);
            std::stop_source stop;
            auto waiting = lockStopRace(mutex, stop.get_token(), done);
            auto last = lockStopRace(mutex, {}, done);
            QSemaphore ready;
            std::thread stopper([&] {
                ready.release();
                stop.request_stop();
            });
            ready.acquire();
            guard->unlock();
            stopper.join();
            QVERIFY(runTask(std::move(waiting)));
            QVERIFY(runTask(std::move(last)));
            QCOMPARE(done->load(), 2);
            QVERIFY(!mutex->isLocked());
        }
    }

    void postKeepsOrderAndNeverRunsInline()
    {
        std::vector<int> order;
        const LoopRef here = LoopRef::current();
        QVERIFY(here.isCurrent());
        for (int i = 0; i < 3; ++i)
            here.post([&order, i] { order.push_back(i); });
        QVERIFY(order.empty());
        QVERIFY(spinUntil([&] { return order.size() == 3; }));
        QCOMPARE(order, (std::vector<int>{0, 1, 2}));
        QVERIFY(!LoopRef().post([] {}));
    }

    void droppedCallsMayPostWhileTheLoopEnds() // a destructor that posts to the dying loop must not deadlock
    {
        struct PostsWhenDropped {
            LoopRef loop;
            ~PostsWhenDropped() { loop.post([] {}); }
        };
        EventLoop loop(QStringLiteral("dying"));
        QSemaphore started;
        QSemaphore mayEnd;
        const LoopRef ref = loop.ref();
        ref.post([&] {
            started.release();
            mayEnd.acquire();
            QThread::currentThread()->quit();
        });
        started.acquire();
        ref.post([guard = std::make_shared<PostsWhenDropped>(ref)] {});
        mayEnd.release();
        QVERIFY(loop.stop());
    }

    void loopKeepsItsName()
    {
        EventLoop loop(QStringLiteral("subagent-persistent-loop"));
        QCOMPARE(loop.thread()->objectName(), QStringLiteral("subagent-persistent-loop"));
        QVERIFY(loop.stop());
        QVERIFY(loop.stop());
    }
};

} // namespace tst_async

PADDOCK_TEST(tst_async, TestAsync)
#include "tst_async.moc"
