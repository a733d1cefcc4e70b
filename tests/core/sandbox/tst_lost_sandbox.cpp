// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// A sandbox whose server is killed from inside: who is told what, and that no command runs twice. Real server and bubblewrap.
#include "core/sandbox/aio/aio_provider.h"
#include "core/sandbox/aio/shell_text.h"
#include "core/sandbox/backend/embedded_backend.h"
#include "core/sandbox/sandbox_access.h"
#include "tests/support/paddock_program.h"
#include "tests/support/spin.h"
#include "tests/support/test_main.h"

#include <QTemporaryDir>
#include <QTest>

namespace tst_lost_sandbox {

using namespace paddock;
using namespace paddock::test;

namespace {

const ThreadKey key{UserId(QStringLiteral("u")), ThreadId(QStringLiteral("t"))};

struct Bench {
    QTemporaryDir dir;
    std::shared_ptr<AioProvider> provider;
    std::shared_ptr<SandboxLeases> leases;
    std::shared_ptr<EventBus> bus = std::make_shared<EventBus>();
    std::shared_ptr<EventQueue> queue = bus->subscribe();

    Bench()
    {
        EmbeddedOptions options;
        options.serverProgram = QStringLiteral(PADDOCK_BIN_DIR) + QStringLiteral("/paddock-sandboxd");
        options.runtimeDir = dir.path() + QStringLiteral("/rt");
        options.folders = [data = dir.path()](const ThreadKey &thread) -> Result<SandboxFolders> {
            const auto paths = ThreadPaths::make(data, thread);
            if (!paths)
                return fail(paths.error());
            if (const auto made = paths->create(); !made)
                return fail(made.error());
            return SandboxFolders::of(*paths);
        };
        provider = std::make_shared<AioProvider>(std::make_shared<EmbeddedBackend>(std::move(options)));
        leases = std::make_shared<SandboxLeases>(provider);
    }
    ~Bench() { spin(provider->shutdown()); }

    std::unique_ptr<SandboxAccess> access(const char *owner)
    {
        return std::make_unique<SandboxAccess>(leases, LeaseOwner(QString::fromLatin1(owner)), key, sink());
    }
    EventSink sink() const { return EventSink(bus, RunId(QStringLiteral("r")), leadAgent()); }
    CommandRequest command(const QString &text, const SandboxAccess &access, bool withEnvironment = false) const
    {
        CommandRequest request;
        request.command = text;
        request.scope = access.scope();
        request.timeout = std::chrono::seconds(30);
        request.events = sink();
        if (withEnvironment)
            request.env.insert(QStringLiteral("KEY"), QStringLiteral("value"));
        return request;
    }
    /// As the tool does it.
    QString run(SandboxAccess &access, const QString &text, bool withEnvironment = false) const
    {
        const auto sandbox = spin(access.ensure({}), 60000);
        if (!sandbox || !*sandbox)
            return QStringLiteral("(no sandbox: %1)").arg(sandbox ? sandbox->error().fullMessage() : QString());
        return runIn(**sandbox, access, text, withEnvironment);
    }
    QString runIn(const SandboxPtr &sandbox, const SandboxAccess &access, const QString &text, bool withEnvironment = false) const
    {
        const auto result = spin(sandbox->execute(command(text, access, withEnvironment), {}), 60000);
        if (!result)
            return QStringLiteral("(never ended)");
        return *result ? (*result)->text : QStringLiteral("Error: ") + result->error().message;
    }
};

QString noted(const char *text)
{
    return aio::restartedNotice() + QLatin1Char('\n') + QString::fromUtf8(text);
}

} // namespace

class TestLostSandbox : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        if (const QString problem = PaddockProgram::isolationProblem(); !problem.isEmpty())
            QSKIP(qPrintable(problem));
    }

    void everyScopeWithAShellIsToldOnce()
    {
        Bench bench;
        const auto lead = bench.access("run:r"), a = bench.access("subagent:a"), b = bench.access("subagent:b"), fresh = bench.access("subagent:c");
        QCOMPARE(bench.run(*lead, QStringLiteral("echo 1 >> kept.txt; touch /tmp/mine; echo ok")), QStringLiteral("ok"));
        QCOMPARE(bench.run(*a, QStringLiteral("echo ok")), QStringLiteral("ok"));
        QCOMPARE(bench.run(*b, QStringLiteral("sleep 300 & echo ok")).right(2), QStringLiteral("ok"));
        QVERIFY(spin(fresh->ensure({})));
        QVERIFY(bench.run(*a, QStringLiteral("echo 2 >> kept.txt; kill -9 -1")).startsWith(u"Error: "));
        QCOMPARE(bench.run(*a, QStringLiteral("cat kept.txt; ls /tmp")), noted("1\n2"));
        QCOMPARE(bench.run(*fresh, QStringLiteral("echo new")), QStringLiteral("new"));
        QCOMPARE(bench.run(*b, QStringLiteral("printf \"$KEY\""), true), noted("value"));
        QCOMPARE(bench.run(*lead, QStringLiteral("echo lead")), noted("lead"));
        for (SandboxAccess *access : {lead.get(), a.get(), b.get(), fresh.get()})
            QCOMPARE(bench.run(*access, QStringLiteral("echo again")), QStringLiteral("again"));
        int failures = 0, acquired = 0;
        for (const auto &event : bench.queue->drain()) {
            failures += std::holds_alternative<SandboxFailed>(event->body) ? 1 : 0;
            acquired += std::holds_alternative<SandboxAcquired>(event->body) ? 1 : 0;
        }
        QCOMPARE(failures, 1);
        QCOMPARE(acquired, 2);
    }

    /// One that nobody has used again before the second death is told of it just the same.
    void severalDeathsAreToldOnce()
    {
        Bench bench;
        const auto lead = bench.access("run:r"), a = bench.access("subagent:a");
        QCOMPARE(bench.run(*lead, QStringLiteral("echo ok")), QStringLiteral("ok"));
        for (int i = 0; i < 3; ++i)
            QVERIFY(bench.run(*a, QStringLiteral("kill -9 -1")).startsWith(u"Error: "));
        QCOMPARE(bench.run(*lead, QStringLiteral("echo lead")), noted("lead"));
        QCOMPARE(bench.run(*a, QStringLiteral("echo a")), noted("a"));
    }

    /// A command that met nobody is known not to have run; one whose connection broke is not.
    void onlyWhatReachedNobodyMayBeGivenAgain()
    {
        Bench bench;
        const auto lead = bench.access("run:r");
        QCOMPARE(bench.run(*lead, QStringLiteral("echo ok")), QStringLiteral("ok"));
        const SandboxPtr old = lead->current();
        const auto broken = spin(old->execute(bench.command(QStringLiteral("echo x >> count; kill -9 -1"), *lead), {}), 60000);
        QVERIFY(broken && !*broken);
        QVERIFY(!boolOf(broken->error().details, notDeliveredKey));
        QVERIFY(old->isSuspect());
        QVERIFY(spinUntil([&] { return !bench.provider->get(old->id()); }, 10000)); // its first process may take connections for a moment
        for (const bool withEnvironment : {false, true}) {
            const auto refused = spin(old->execute(bench.command(QStringLiteral("echo y >> count"), *lead, withEnvironment), {}), 60000);
            QVERIFY(refused && !*refused);
            QVERIFY2(boolOf(refused->error().details, notDeliveredKey), qPrintable(refused->error().message));
        }
        const auto there = spin(old->isThere({}));
        QVERIFY(there && !*there);
        QCOMPARE(bench.run(*lead, QStringLiteral("cat count")), noted("x"));
    }
};

} // namespace tst_lost_sandbox

PADDOCK_TEST(tst_lost_sandbox, TestLostSandbox)
#include "tst_lost_sandbox.moc"
