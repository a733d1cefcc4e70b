// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// Leases over a provider and one execution's way to its sandbox, with the events they tell.
#include "core/base/completion.h"
#include "core/sandbox/sandbox_access.h"
#include "tests/support/spin.h"
#include "tests/support/test_main.h"

#include <QTest>

#include <map>

namespace tst_sandbox_access {

using namespace paddock;
using namespace paddock::test;

namespace {

const ThreadKey key{UserId(QStringLiteral("u")), ThreadId(QStringLiteral("t"))};

class FakeSandbox : public Sandbox
{
public:
    explicit FakeSandbox(SandboxId id) : m_id(std::move(id)) {}
    SandboxId id() const override { return m_id; }
    bool isLocal() const override { return false; }
    Task<Result<CommandResult>> execute(CommandRequest, std::stop_token) override { co_return CommandResult(); }
    Task<Result<QString>> readFile(QString, std::stop_token) override { co_return QString(); }
    Task<Result<QByteArray>> readBytes(QString, qint64, std::stop_token) override { co_return QByteArray(); }
    Task<Result<FileWritten>> writeFile(QString, QString, bool, std::stop_token) override { co_return FileWritten(); }
    Task<Result<FileWritten>> writeBytes(QString, QByteArray, std::stop_token) override { co_return FileWritten(); }
    Task<Result<QStringList>> listDir(QString, int, std::stop_token) override { co_return QStringList(); }
    Task<Result<GlobResult>> glob(QString, QString, bool, int, std::stop_token) override { co_return GlobResult(); }
    Task<Result<GrepResult>> grep(GrepQuery, std::stop_token) override { co_return GrepResult(); }
    Task<> releaseCommandScope(ScopeId scope) override
    {
        ended << scope.value();
        co_return;
    }
    bool isSuspect() const override { return suspect; }
    Task<bool> isThere(std::stop_token) override
    {
        ++asked;
        lost = lost || !there;
        co_return !lost;
    }
    QStringList ended;
    bool suspect = false;
    bool there = true;
    bool lost = false;
    int asked = 0;

private:
    SandboxId m_id;
};

class FakeProvider : public SandboxProvider
{
public:
    Task<Result<SandboxId>> acquire(ThreadKey, EventSink, std::stop_token) override
    {
        ++acquires;
        if (hold)
            co_await gate;
        if (failing)
            co_return fail(ErrorCode::Unavailable, QStringLiteral("no room"));
        if (!sandbox || sandbox->lost)
            sandbox = std::make_shared<FakeSandbox>(SandboxId(QStringLiteral("sbx")));
        co_return SandboxId(QStringLiteral("sbx"));
    }
    SandboxPtr get(const SandboxId &) override { return sandbox && !sandbox->lost ? sandbox : nullptr; }
    Task<Result<void>> release(SandboxId) override
    {
        ++releases;
        sandbox.reset();
        co_return Result<void>();
    }
    Task<> shutdown() override { co_return; }
    QString providerName() const override { return QStringLiteral("aio"); }
    QString backendName() const override { return QStringLiteral("fake"); }
    int sessionLimit() const override { return 11; }

    std::shared_ptr<FakeSandbox> sandbox;
    bool hold = false;
    bool failing = false;
    Completion<void> gate;
    int acquires = 0;
    int releases = 0;
};

struct Bench {
    std::shared_ptr<FakeProvider> provider = std::make_shared<FakeProvider>();
    std::shared_ptr<SandboxLeases> leases = std::make_shared<SandboxLeases>(provider);
    std::shared_ptr<EventBus> bus = std::make_shared<EventBus>();
    std::shared_ptr<EventQueue> queue = bus->subscribe();

    SandboxAccess access(const QString &owner, const QString &agent)
    {
        return SandboxAccess(leases, LeaseOwner(owner), key, EventSink(bus, RunId(QStringLiteral("r")), AgentId(agent)));
    }
    QStringList told() const
    {
        QStringList out;
        for (const auto &event : queue->drain()) {
            QString line = event->agent.value() + QLatin1Char(' ') + eventType(event->body);
            if (const auto *acquired = std::get_if<LeaseAcquired>(&event->body))
                line += QLatin1Char(' ') + acquired->owners.join(QLatin1Char(','));
            if (const auto *released = std::get_if<LeaseReleased>(&event->body))
                line += released->last ? QStringLiteral(" last") : QString();
            if (const auto *failed = std::get_if<SandboxFailed>(&event->body))
                line += QLatin1Char(' ') + failed->during + QLatin1Char(' ') + failed->reason;
            out << line;
        }
        return out;
    }
};

} // namespace

class TestSandboxAccess : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void tellsTheLifeOfALease()
    {
        Bench bench;
        SandboxAccess lead = bench.access(QStringLiteral("run:1"), QStringLiteral("lead"));
        SandboxAccess child = bench.access(QStringLiteral("subagent:a"), QStringLiteral("subagent:a"));
        QVERIFY(*spin(lead.ensure({})));
        QVERIFY(*spin(child.ensure({})));
        QVERIFY(spin(child.release()));
        QVERIFY(spin(lead.release()));
        QVERIFY(spin(lead.release())); // idempotent
        QCOMPARE(bench.told(), QStringList({QStringLiteral("lead sandbox.acquired"), QStringLiteral("lead lease.acquired run:1"),
                                            QStringLiteral("subagent:a lease.acquired run:1,subagent:a"), QStringLiteral("subagent:a lease.draining"),
                                            QStringLiteral("subagent:a lease.released"), QStringLiteral("lead lease.draining"),
                                            QStringLiteral("lead lease.released last"), QStringLiteral("lead sandbox.released")}));
        QCOMPARE(bench.provider->releases, 1);
        const auto after = spin(lead.ensure({}));
        QVERIFY(after && !*after);
        QCOMPARE(int(after->error().code), int(ErrorCode::FailedPrecondition));
    }

    void aSuspectIsAskedAndReplacedWhenGone()
    {
        Bench bench;
        SandboxAccess lead = bench.access(QStringLiteral("run:1"), QStringLiteral("lead"));
        QVERIFY(*spin(lead.ensure({})));
        const auto first = bench.provider->sandbox;
        QVERIFY(*spin(lead.ensure({})));
        QCOMPARE(first->asked, 0); // nobody asks without a reason
        first->suspect = true;
        QCOMPARE(spin(lead.ensure({}))->value(), SandboxPtr(first)); // slow, not gone
        QCOMPARE(first->asked, 1);
        first->there = false;
        const auto second = spin(lead.ensure({}));
        QVERIFY(second && *second && second->value() != first);
        QCOMPARE(bench.provider->acquires, 2);
        // What a parent left behind is asked, too.
        bench.provider->sandbox->suspect = true;
        bench.provider->sandbox->there = false;
        SandboxAccess child(bench.leases, LeaseOwner(QStringLiteral("subagent:a")), key, EventSink(), SandboxId(QStringLiteral("sbx")));
        const auto third = spin(child.ensure({}));
        QVERIFY(third && *third && third->value() != second->value());
        QVERIFY(spin(child.release()));
        QVERIFY(spin(lead.release()));
    }

    void callsOfOneTurnShareTheAcquisition()
    {
        Bench bench;
        bench.provider->hold = true;
        SandboxAccess lead = bench.access(QStringLiteral("run:1"), QStringLiteral("lead"));
        std::vector<Pending<Result<SandboxPtr>>> pending;
        for (int i = 0; i < 5; ++i)
            pending.push_back(begin(lead.ensure({})));
        bench.provider->gate.complete();
        QVERIFY(spinUntil([&] { return std::all_of(pending.begin(), pending.end(), [](const auto &p) { return p.done(); }); }));
        for (const auto &one : pending)
            QVERIFY(one.value().has_value() && *one.value());
        QCOMPARE(bench.provider->acquires, 1);
        QVERIFY(spin(lead.release()));
    }

    void releaseWaitsForAnAcquisition()
    {
        Bench bench;
        bench.provider->hold = true;
        SandboxAccess lead = bench.access(QStringLiteral("run:1"), QStringLiteral("lead"));
        const auto ensured = begin(lead.ensure({}));
        const auto released = begin(lead.release());
        QVERIFY(!released.done());
        bench.provider->gate.complete();
        QVERIFY(spinUntil([&] { return released.done(); }));
        QVERIFY(ensured.done());
        QCOMPARE(bench.provider->releases, 1);
        QVERIFY(bench.leases->registry().leases().empty());
    }

    void aDeadSandboxIsReplaced()
    {
        Bench bench;
        SandboxAccess lead = bench.access(QStringLiteral("run:1"), QStringLiteral("lead"));
        QVERIFY(*spin(lead.ensure({})));
        bench.provider->sandbox.reset();
        QVERIFY(!lead.current());
        QVERIFY(*spin(lead.ensure({})));
        QCOMPARE(bench.told().filter(QStringLiteral("sandbox.acquired")).size(), 2);
        QVERIFY(spin(lead.release()));
    }

    void failuresAreTold()
    {
        Bench bench;
        bench.provider->failing = true;
        SandboxAccess lead = bench.access(QStringLiteral("run:1"), QStringLiteral("lead"));
        const auto refused = spin(lead.ensure({}));
        QVERIFY(refused && !*refused);
        QCOMPARE(bench.told(), QStringList({QStringLiteral("lead sandbox.failed acquire no room")}));
        bench.provider->failing = false;
        const std::vector<FaultPlan::Rule> rules{
            {FaultPlan::Point::ProviderRelease, QString(), 1, FaultPlan::Action::Fail, QStringLiteral("backend gone"), std::chrono::milliseconds(0)}};
        bench.leases->setFaults(key, std::make_shared<FaultPlan>(rules));
        QVERIFY(*spin(lead.ensure({})));
        QVERIFY(spin(lead.release()));
        QVERIFY(bench.told().contains(QStringLiteral("lead sandbox.failed release backend gone")));
        QCOMPARE(bench.provider->releases, 0);
    }

    void cancelledAcquireIsGivenBack()
    {
        Bench bench;
        bench.provider->hold = true;
        SandboxAccess lead = bench.access(QStringLiteral("run:1"), QStringLiteral("lead"));
        std::stop_source stop;
        const auto pending = begin(lead.ensure(stop.get_token()));
        stop.request_stop();
        bench.provider->gate.complete();
        QVERIFY(spinUntil([&] { return pending.done(); }));
        QVERIFY(!pending.value() && pending.value().error().isCancelled());
        QCOMPARE(bench.told(), QStringList({QStringLiteral("lead sandbox.acquired"), QStringLiteral("lead sandbox.released")}));
    }
};

} // namespace tst_sandbox_access

PADDOCK_TEST(tst_sandbox_access, TestSandboxAccess)
#include "tst_sandbox_access.moc"
