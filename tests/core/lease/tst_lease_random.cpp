// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// Tens of thousands of random interleavings of acquire, retain, reuse, release, cancel, slow and failing provider calls and
// dying sandboxes. PADDOCK_LEASE_SEED=n replays one; PADDOCK_LEASE_RUNS=n sets how many.
#include "tests/core/lease/fake_lease_host.h"
#include "tests/support/test_main.h"

#include <QTest>

#include <algorithm>
#include <random>

namespace tst_lease_random {

using namespace paddock;
using namespace paddock::test;

namespace {

struct Op {
    bool isRelease = false;
    std::stop_source stop;
    bool done = false;
    bool bound = false; ///< ended with a lease
    LeaseOwner owner;
};

/// One random history, checked against what the observer and the provider saw.
class History
{
public:
    explicit History(quint32 seed) : m_random(seed)
    {
        m_host->holdAcquire = m_host->holdScope = m_host->holdRelease = true;
        m_registry.setObserver([this](const LeaseChange &change) { observe(change); });
        m_owners = 1 + int(m_random() % 7);
        m_keys = 1 + int(m_random() % 3);
    }

    QString run()
    {
        const int steps = 8 + int(m_random() % 40);
        for (int i = 0; i < steps && m_problem.isEmpty(); ++i) {
            step();
            check();
        }
        finish();
        return m_problem;
    }

private:
    LeaseOwner randomOwner() { return LeaseOwner(QStringLiteral("o%1").arg(m_random() % quint32(m_owners))); }
    ThreadKey keyOf(const LeaseOwner &owner) const
    {
        return {UserId(QStringLiteral("u")), ThreadId(QStringLiteral("t%1").arg(owner.value().mid(1).toInt() % m_keys))};
    }
    static Task<> runAcquire(LeaseRegistry *registry, std::shared_ptr<Op> op, int how, SandboxId inherited, ThreadKey key, bool normal)
    {
        if (how == 0) {
            op->bound = (co_await registry->acquire(op->owner, key, normal, op->stop.get_token())).has_value();
        } else if (how == 1) {
            op->bound = (co_await registry->reuseOrAcquire(op->owner, inherited, key, normal, op->stop.get_token())).has_value();
        } else {
            op->bound = (co_await registry->retain(op->owner, inherited, key, normal, op->stop.get_token())).has_value();
        }
        op->done = true;
    }
    static Task<> runRelease(LeaseRegistry *registry, std::shared_ptr<Op> op)
    {
        co_await registry->release(op->owner);
        op->done = true;
    }

    void step()
    {
        const quint32 dice = m_random() % 100;
        if (dice < 32) {
            auto op = std::make_shared<Op>();
            op->owner = randomOwner();
            const ThreadKey key = keyOf(op->owner);
            const auto cached = m_host->cache.find(key);
            const bool canInherit = cached != m_host->cache.end() && !cached->second.isEmpty();
            const int how = canInherit ? int(m_random() % 3) : 0;
            m_ops.push_back(op);
            runAcquire(&m_registry, op, how, canInherit ? cached->second : SandboxId(), key, m_random() % 5 != 0);
        } else if (dice < 58) {
            auto op = std::make_shared<Op>();
            op->isRelease = true;
            op->owner = randomOwner();
            m_ops.push_back(op);
            runRelease(&m_registry, op);
        } else if (dice < 68) {
            if (!m_ops.empty())
                m_ops[m_random() % m_ops.size()]->stop.request_stop();
        } else if (dice < 95) {
            if (!m_host->held.empty())
                m_host->finishOne(m_random() % 6 == 0 ? std::optional(QStringLiteral("boom")) : std::nullopt,
                                  m_random() % m_host->held.size());
        } else if (!m_host->alive.empty()) {
            auto it = m_host->alive.begin();
            std::advance(it, std::ptrdiff_t(m_random() % m_host->alive.size()));
            m_host->kill(SandboxId(*it));
        }
        settle(m_random() % 3 == 0 ? 1 : 10);
    }

    void observe(const LeaseChange &change)
    {
        auto &owners = m_seen[change.sandbox];
        const auto listed = [&] { return std::vector<LeaseOwner>(owners.begin(), owners.end()); };
        switch (change.kind) {
        case LeaseChange::Kind::Acquired:
            if (!owners.insert(change.owner).second)
                problem(QStringLiteral("acquired twice"), change);
            break;
        case LeaseChange::Kind::Draining:
            if (!owners.contains(change.owner))
                problem(QStringLiteral("draining without a lease"), change);
            break;
        case LeaseChange::Kind::Released:
            if (owners.erase(change.owner) == 0)
                problem(QStringLiteral("released without a lease"), change);
            if (change.last != owners.empty())
                problem(QStringLiteral("wrong 'last'"), change);
            if (change.parks)
                ++m_parks;
            break;
        case LeaseChange::Kind::SandboxReleased:
        case LeaseChange::Kind::SandboxReleaseFailed:
            ++m_sandboxFacts;
            if (!owners.empty())
                problem(QStringLiteral("sandbox released while held"), change);
            return;
        }
        if (change.kind != LeaseChange::Kind::Draining && change.owners != listed())
            problem(QStringLiteral("owners differ"), change);
    }

    void problem(const QString &what, const LeaseChange &change)
    {
        if (m_problem.isEmpty())
            m_problem = QStringLiteral("%1: sandbox %2, owner %3").arg(what, change.sandbox.value(), change.owner.value());
    }

    void check()
    {
        // The provider's release is never inside while somebody is bound; one call per key at a time.
        std::map<SandboxId, int> releases;
        for (const auto &lease : m_registry.leases())
            releases[lease.sandbox] += 0;
        for (const auto &lease : m_registry.leases()) {
            const auto owners = m_registry.ownersOf(lease.sandbox);
            if (std::find(owners.begin(), owners.end(), lease.owner) == owners.end())
                problem(QStringLiteral("binding without owner"), {.kind = LeaseChange::Kind::Acquired, .sandbox = lease.sandbox, .owner = lease.owner, .owners = {}, .error = {}});
        }
        if (int(m_host->held.size()) > m_keys && m_problem.isEmpty())
            m_problem = QStringLiteral("%1 provider calls at once for %2 keys").arg(m_host->held.size()).arg(m_keys);
    }

    void finish()
    {
        // Everybody leaves; every provider call comes back.
        m_host->holdAcquire = m_host->holdScope = m_host->holdRelease = false;
        for (int round = 0; round < 3; ++round) {
            while (!m_host->held.empty()) {
                m_host->finishOne({});
                settle();
            }
            for (int i = 0; i < m_owners; ++i) {
                auto op = std::make_shared<Op>();
                op->isRelease = true;
                op->owner = LeaseOwner(QStringLiteral("o%1").arg(i));
                m_ops.push_back(op);
                runRelease(&m_registry, op);
            }
            settle(40);
        }
        if (!m_problem.isEmpty())
            return;
        for (const auto &op : m_ops) {
            if (!op->done)
                m_problem = QStringLiteral("an operation of %1 never ended").arg(op->owner.value());
        }
        if (!m_registry.leases().empty())
            m_problem = QStringLiteral("%1 leases are left").arg(m_registry.leases().size());
        const int calls = int(std::count_if(m_host->journal.begin(), m_host->journal.end(),
                                            [](const QString &line) { return line.startsWith(QLatin1String("release ")); }));
        if (m_problem.isEmpty() && calls != m_sandboxFacts)
            m_problem = QStringLiteral("%1 provider releases, %2 facts about them").arg(calls).arg(m_sandboxFacts);
        if (m_problem.isEmpty() && m_parks > calls)
            m_problem = QStringLiteral("a promised park did not happen");
    }

    std::minstd_rand m_random;
    std::shared_ptr<FakeLeaseHost> m_host = std::make_shared<FakeLeaseHost>();
    LeaseRegistry m_registry{m_host};
    std::vector<std::shared_ptr<Op>> m_ops;
    std::map<SandboxId, std::set<LeaseOwner>> m_seen;
    int m_owners = 1;
    int m_keys = 1;
    int m_parks = 0;
    int m_sandboxFacts = 0;
    QString m_problem;
};

} // namespace

class TestLeaseRandom : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void histories()
    {
        QLoggingCategory::setFilterRules(QStringLiteral("paddock.lease=false")); // failures are part of the histories
        bool fixed = false;
        const quint32 seed = qEnvironmentVariable("PADDOCK_LEASE_SEED").toUInt(&fixed);
        bool counted = false;
        int runs = qEnvironmentVariable("PADDOCK_LEASE_RUNS").toInt(&counted);
        if (!counted)
            runs = 40000;
        const quint32 first = fixed ? seed : quint32(std::random_device()());
        qInfo("first seed %u, %d histories", first, fixed ? 1 : runs);
        for (int i = 0; i < (fixed ? 1 : runs); ++i) {
            const quint32 current = first + quint32(i);
            const QString problem = History(current).run();
            QVERIFY2(problem.isEmpty(), qPrintable(QStringLiteral("%1; replay with PADDOCK_LEASE_SEED=%2").arg(problem).arg(current)));
        }
    }
};

} // namespace tst_lease_random

PADDOCK_TEST(tst_lease_random, TestLeaseRandom)
#include "tst_lease_random.moc"
