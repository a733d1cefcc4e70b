// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/lease/lease_registry.h"

#include "core/base/async.h"
#include "core/base/run_on.h"
#include "tests/core/lease/fake_lease_host.h"
#include "tests/support/test_main.h"

#include <QTest>

#include <algorithm>
#include <random>

namespace tst_lease_registry {

using namespace paddock;
using namespace paddock::test;

namespace {

const ThreadKey key1{UserId(QStringLiteral("u")), ThreadId(QStringLiteral("t1"))};
const ThreadKey key2{UserId(QStringLiteral("u")), ThreadId(QStringLiteral("t2"))};

LeaseOwner owner(const char *name)
{
    return LeaseOwner(QString::fromLatin1(name));
}

template<typename T>
Task<> keep(Task<T> task, std::shared_ptr<std::optional<T>> slot)
{
    slot->emplace(co_await task);
}

Task<> keepDone(Task<> task, std::shared_ptr<bool> done)
{
    co_await task;
    *done = true;
}

struct Bench {
    std::shared_ptr<FakeLeaseHost> host = std::make_shared<FakeLeaseHost>();
    LeaseRegistry registry{host};
    std::vector<LeaseChange> changes;

    Bench()
    {
        registry.setObserver([this](const LeaseChange &change) { changes.push_back(change); });
    }
    template<typename T>
    std::shared_ptr<std::optional<T>> start(Task<T> task)
    {
        auto slot = std::make_shared<std::optional<T>>();
        keep(std::move(task), slot);
        return slot;
    }
    std::shared_ptr<bool> start(Task<> task)
    {
        auto done = std::make_shared<bool>(false);
        keepDone(std::move(task), done);
        return done;
    }
    std::shared_ptr<std::optional<Result<SandboxId>>> acquire(const char *name, std::stop_token stop = {})
    {
        return start(registry.acquire(owner(name), key1, true, stop));
    }
    QStringList kinds() const
    {
        QStringList out;
        for (const LeaseChange &c : changes) {
            static const char *const names[] = {"acquired", "draining", "released", "sandbox_released", "sandbox_release_failed"};
            out << QLatin1String(names[int(c.kind)]) + QLatin1Char(' ') + c.owner.value()
                       + (c.kind == LeaseChange::Kind::Released && c.last ? QStringLiteral(" last") : QString());
        }
        return out;
    }
};

} // namespace

class TestLeaseRegistry : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void factsComeInOrder()
    {
        Bench bench;
        const auto a = bench.acquire("run:1");
        settle();
        const auto b = bench.start(bench.registry.reuseOrAcquire(owner("subagent:a"), *a->value(), key1, true, {}));
        settle();
        QVERIFY(b->has_value() && b->value());
        bench.start(bench.registry.release(owner("subagent:a")));
        bench.start(bench.registry.release(owner("run:1")));
        settle();
        QCOMPARE(bench.kinds(), QStringList({QStringLiteral("acquired run:1"), QStringLiteral("acquired subagent:a"),
                                             QStringLiteral("draining subagent:a"), QStringLiteral("released subagent:a"),
                                             QStringLiteral("draining run:1"), QStringLiteral("released run:1 last"),
                                             QStringLiteral("sandbox_released run:1")}));
        QCOMPARE(bench.host->journal, QStringList({QStringLiteral("acquire sbx-1"), QStringLiteral("scope sbx-1 subagent:a"),
                                                   QStringLiteral("scope sbx-1 run:1"), QStringLiteral("release sbx-1")}));
    }

    void sandboxReleasedOnlyAfterTheProviderCameBack()
    {
        Bench bench;
        bench.acquire("run:1");
        settle();
        bench.host->holdRelease = true;
        const auto done = bench.start(bench.registry.release(owner("run:1")));
        settle();
        QVERIFY(!*done);
        QVERIFY(!bench.kinds().contains(QStringLiteral("sandbox_released run:1")));
        const auto second = bench.start(bench.registry.release(owner("run:1")));
        settle();
        QVERIFY(*second); // sees no binding
        QVERIFY(bench.host->finishOne({}));
        settle();
        QVERIFY(*done);
        QCOMPARE(bench.kinds().count(QStringLiteral("sandbox_released run:1")), 1);
    }

    void scopeFailureDoesNotStopTheRelease()
    {
        Bench bench;
        bench.acquire("run:1");
        settle();
        bench.host->scopeThrows = true;
        const auto done = bench.start(bench.registry.release(owner("run:1")));
        settle();
        QVERIFY(*done);
        QVERIFY(bench.host->journal.contains(QStringLiteral("release sbx-1")));
    }

    void hostExceptionsBecomeErrors()
    {
        Bench bench;
        bench.host->acquireThrows = true;
        const auto a = bench.acquire("run:1");
        settle();
        QVERIFY(a->has_value() && !a->value());
        QCOMPARE(a->value().error().message, QStringLiteral("thrown"));
        QVERIFY(bench.registry.leases().empty());
    }

    void cancelledWhileWaitingDoesNothing()
    {
        Bench bench;
        bench.host->holdAcquire = true;
        const auto a = bench.acquire("run:1");
        std::stop_source stop;
        const auto b = bench.acquire("run:2", stop.get_token());
        settle();
        stop.request_stop();
        settle();
        QVERIFY(b->has_value() && b->value().error().isCancelled());
        QVERIFY(!a->has_value());
        QVERIFY(bench.host->finishOne({}));
        settle();
        QVERIFY(a->has_value() && a->value());
        QCOMPARE(bench.host->journal, QStringList({QStringLiteral("acquire sbx-1")}));
    }

    void rollbackKeepsASandboxThatOthersHold()
    {
        Bench bench;
        bench.acquire("run:1");
        settle();
        bench.host->holdAcquire = true;
        std::stop_source stop;
        const auto b = bench.acquire("run:2", stop.get_token());
        settle();
        stop.request_stop();
        QVERIFY(bench.host->finishOne({}));
        settle();
        QVERIFY(b->value().error().isCancelled());
        QVERIFY(!bench.host->journal.contains(QStringLiteral("release sbx-1")));
    }

    void retainMovesTheOwnerAndParksTheOldSandbox()
    {
        Bench bench;
        bench.acquire("run:1");
        settle();
        bench.start(bench.registry.reuseOrAcquire(owner("subagent:a"), SandboxId(QStringLiteral("sbx-1")), key1, true, {}));
        settle();
        bench.start(bench.registry.release(owner("run:1"))); // asks for the park; subagent:a stays
        settle();
        bench.host->makeAlive(SandboxId(QStringLiteral("sbx-9")));
        bench.start(bench.registry.retain(owner("subagent:a"), SandboxId(QStringLiteral("sbx-9")), key1, true, {}));
        settle();
        QVERIFY(bench.host->journal.contains(QStringLiteral("scope sbx-1 subagent:a")));
        QVERIFY(bench.host->journal.contains(QStringLiteral("release sbx-1")));
        QCOMPARE(bench.registry.leases().front().sandbox.value(), QStringLiteral("sbx-9"));
    }

    void drainReportsWhoIsLeft()
    {
        Bench bench;
        bench.acquire("run:1");
        settle();
        bench.host->holdRelease = true;
        bench.start(bench.registry.release(owner("run:1")));
        bench.start(bench.registry.acquire(owner("run:2"), key2, true, {}));
        settle();
        const auto early = bench.start(bench.registry.drain(std::chrono::milliseconds(20)));
        QTRY_VERIFY(early->has_value());
        QCOMPARE(early->value(), std::vector<LeaseOwner>{owner("run:2")});
        const auto full = bench.start(bench.registry.drain(std::chrono::seconds(30)));
        settle();
        QVERIFY(!full->has_value());
        bench.host->finishOne({});
        QTRY_VERIFY(full->has_value());
    }

    void droppedHandlesStillRelease()
    {
        auto host = std::make_shared<FakeLeaseHost>();
        {
            LeaseRegistry registry(host);
            (void)registry.acquire(owner("run:1"), key1, true, {});
            settle();
            host->holdRelease = true;
            (void)registry.release(owner("run:1"));
            settle();
        } // registry gone in the middle of the release
        QVERIFY(host->finishOne({}));
        settle();
        QVERIFY(host->journal.contains(QStringLiteral("release sbx-1")));
    }

    void manyThreads();
};

namespace {

Task<> oneOwner(LeaseRegistry *registry, LeaseOwner owner, ThreadKey key, int rounds, quint32 seed, std::shared_ptr<std::atomic<int>> left)
{
    std::minstd_rand random(seed);
    for (int i = 0; i < rounds; ++i) {
        std::stop_source stop;
        if (random() % 5 == 0)
            stop.request_stop();
        const Result<SandboxId> id = co_await registry->acquire(owner, key, random() % 4 != 0, stop.get_token());
        (void)id;
        co_await registry->release(owner);
    }
    left->fetch_sub(1);
}

} // namespace

/// Real threads: owners on four loops contend for three keys; afterwards nothing is bound and nothing is alive.
void TestLeaseRegistry::manyThreads()
{
    auto host = std::make_shared<ThreadedLeaseHost>();
    LeaseRegistry registry(host);
    std::vector<std::unique_ptr<EventLoop>> loops;
    auto left = std::make_shared<std::atomic<int>>(0);
    for (int i = 0; i < 4; ++i)
        loops.push_back(std::make_unique<EventLoop>(QStringLiteral("lease-%1").arg(i)));
    for (int i = 0; i < 24; ++i) {
        left->fetch_add(1);
        const LeaseOwner who(QStringLiteral("subagent:%1").arg(i));
        const ThreadKey key{UserId(QStringLiteral("u")), ThreadId(QStringLiteral("t%1").arg(i % 3))};
        loops[size_t(i % 4)]->ref().post([&registry, who, key, i, left] { oneOwner(&registry, who, key, 60, quint32(i + 1), left); });
    }
    QTRY_COMPARE_WITH_TIMEOUT(left->load(), 0, 60000);
    QVERIFY(registry.leases().empty());
    QCOMPARE(host->overlaps.load(), 0);
    QCOMPARE(host->releasedWhileOwned.load(), 0);
}

} // namespace tst_lease_registry

PADDOCK_TEST(tst_lease_registry, TestLeaseRegistry)
#include "tst_lease_registry.moc"
