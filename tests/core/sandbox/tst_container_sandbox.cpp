// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// The container backend against a stand-in of the engine's command line that starts the real sandbox server, and against
// the engine of this machine where one works.
#include "core/sandbox/backend/engine_process.h"
#include "core/sandbox/backend/process_mark.h"
#include "core/sandbox/sandbox_ids.h"
#include "tests/core/sandbox/container_bench.h"
#include "tests/support/test_main.h"

#include <QElapsedTimer>
#include <QStandardPaths>
#include <QTcpServer>
#include <QTest>

#include <cstdio>

namespace tst_container_sandbox {

using namespace paddock;
using namespace paddock::test;

namespace {

/// Processes of this machine whose command line or environment holds the text.
int processesShowing(const QByteArray &text, const QString &file)
{
    int count = 0;
    for (const QString &name : QDir(QStringLiteral("/proc")).entryList(QDir::Dirs)) {
        QFile in(QStringLiteral("/proc/%1/%2").arg(name, file));
        if (name.toLongLong() > 0 && name.toLongLong() != ::getpid() && in.open(QIODevice::ReadOnly) && in.readAll().contains(text))
            ++count;
    }
    return count;
}

EngineCall callOf(const QStringList &command, std::chrono::milliseconds timeout = std::chrono::seconds(20))
{
    return {command, {}, timeout};
}

} // namespace

class TstContainerSandbox : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();

    // the engine's program
    void programIsBoundedInTime();
    void programIsBoundedInOutput();
    void programIsCancelled();
    void programThatIsMissing();

    // life of a container
    void startsRunsParksAndEnds();
    void secretsStayOutOfTheProcessList();
    void takesTheNextPort();
    void refusedStartTellsWhy();
    void hungStartEndsInTime();
    void cancelledStartLeavesNothing();
    void neverReadyIsCleanedAway();
    void deadContainerIsReplaced();
    void unknownIsNotDead();
    void hungStopCountsAsRunning();
    void adoptsOnNameConflict();

    // the pool
    void idleOnesEnd();
    void roomIsMade();
    void orphansAreAdoptedAndEnd();
    void othersAreLeftAlone();
    void deathIsTold();

    // capacity
    void tooSmallIsReplaced();
    void tooSmallOfAPeerDefers();
    void enoughIsAdopted();

    void realEngine();
};

void TstContainerSandbox::initTestCase()
{
    QVERIFY(QFile::exists(StandInEngine::program()));
}

void TstContainerSandbox::programIsBoundedInTime()
{
    QElapsedTimer timer;
    timer.start();
    const auto output = spin(runEngineProgram(callOf({QStringLiteral("sh"), QStringLiteral("-c"), QStringLiteral("sleep 987.5 & sleep 987.5")}, std::chrono::milliseconds(200)), {}));
    QVERIFY(output && !*output);
    QCOMPARE(output->error().code, ErrorCode::Timeout);
    QVERIFY(timer.elapsed() < 5000);
    QVERIFY(spinUntil([] { return processesShowing(QByteArray("sleep\0" "987.5", 11), QStringLiteral("cmdline")) == 0; }, 5000)); // its helpers too
}

void TstContainerSandbox::programIsBoundedInOutput()
{
    const auto output = spin(runEngineProgram(callOf({QStringLiteral("cat"), QStringLiteral("/dev/zero")}), {}));
    QVERIFY(output && !*output);
    QCOMPARE(output->error().code, ErrorCode::ResourceExhausted);
    const auto errors = spin(runEngineProgram(callOf({QStringLiteral("sh"), QStringLiteral("-c"), QStringLiteral("head -c 1000000 /dev/zero >&2; echo last >&2; exit 3")}), {}));
    QVERIFY(errors && *errors);
    QCOMPARE((*errors)->exitCode, 3);
    QCOMPARE((*errors)->err.size(), maxEngineErrors);
    QVERIFY((*errors)->err.endsWith("last\n"));
}

void TstContainerSandbox::programIsCancelled()
{
    std::stop_source stop;
    const auto pending = begin(runEngineProgram(callOf({QStringLiteral("sleep"), QStringLiteral("988.5")}), stop.get_token()));
    QVERIFY(spinUntil([] { return processesShowing(QByteArray("sleep\0" "988.5", 11), QStringLiteral("cmdline")) == 1; }, 5000));
    stop.request_stop();
    QVERIFY(spinUntil([&] { return pending.done(); }, 5000));
    QVERIFY(!pending.value() && pending.value().error().isCancelled());
    QCOMPARE(processesShowing(QByteArray("sleep\0" "988.5", 11), QStringLiteral("cmdline")), 0);
}

void TstContainerSandbox::programThatIsMissing()
{
    const auto output = spin(runEngineProgram(callOf({QStringLiteral("/nowhere/docker"), QStringLiteral("ps")}), {}));
    QVERIFY(output && !*output);
    QCOMPARE(output->error().code, ErrorCode::Unavailable);
    QVERIFY(output->error().message.contains(QStringLiteral("/nowhere/docker")));
}

void TstContainerSandbox::startsRunsParksAndEnds()
{
    ContainerBench bench;
    QCOMPARE(bench.acquire(), QString());
    QCOMPARE(bench.engine.containers(), QStringList{bench.nameOf()});
    QCOMPARE(bench.run(QStringLiteral("echo made > note.txt; echo $((6*7))")), QStringLiteral("42"));
    QVERIFY(QFile::exists(bench.dir.path() + QStringLiteral("/t/work/note.txt")));
    const QByteArray command = bench.engine.calls();
    QVERIFY2(command.contains("--cap-drop=ALL --security-opt no-new-privileges"), command.constData());
    QVERIFY2(command.contains("--label deerflow.sandbox_id=" + ContainerBench::idOf().toUtf8()), command.constData());
    QVERIFY2(command.contains("-p 127.0.0.1:"), command.constData());

    QVERIFY(bench.release());
    QVERIFY(!bench.provider->get(SandboxId(ContainerBench::idOf())));
    QVERIFY(bench.engine.runs(bench.nameOf())); // warm
    QCOMPARE(bench.acquire(), QString());
    QCOMPARE(bench.engine.callsOf("run"), 1);
    QCOMPARE(bench.run(QStringLiteral("cat note.txt")), QStringLiteral("made"));
    QVERIFY(bench.release());
    bench.shutdown();
    QCOMPARE(bench.engine.containers(), QStringList());
}

void TstContainerSandbox::secretsStayOutOfTheProcessList()
{
    ContainerBench bench;
    bench.options.environment = {{QStringLiteral("API_TOKEN"), QStringLiteral("hush=hush-4711")}, {QStringLiteral("HTTP_PROXY"), QStringLiteral("http://proxy.example.com:3128")}};
    QCOMPARE(bench.acquire(), QString());
    const QByteArray environment = bench.engine.read(QStringLiteral("/containers/%1/env").arg(bench.nameOf()));
    QVERIFY2(environment.contains("API_TOKEN=hush=hush-4711\n"), environment.constData());
    QVERIFY2(environment.contains("HTTP_PROXY=http://proxy.example.com:3128\n"), environment.constData()); // must not become the engine's proxy
    QVERIFY(!bench.engine.calls().contains("hush-4711"));
    QVERIFY(bench.engine.calls().contains("-e API_TOKEN "));
}

void TstContainerSandbox::takesTheNextPort()
{
    ContainerBench bench;
    QTcpServer taken;
    QVERIFY(taken.listen(QHostAddress::LocalHost, quint16(bench.options.basePort)));
    bench.engine.fault(QStringLiteral("run"), "fail docker: Error response from daemon: Bind for 0.0.0.0:1 failed: port is already allocated.");
    QCOMPARE(bench.acquire(), QString());
    QVERIFY2(bench.engine.calls().contains("127.0.0.1:" + QByteArray::number(bench.options.basePort + 1) + ":8080"), bench.engine.calls().constData());
    QCOMPARE(bench.engine.read(QStringLiteral("/containers/%1/port").arg(bench.nameOf())).trimmed(), "127.0.0.1:" + QByteArray::number(bench.options.basePort + 2));
    QCOMPARE(bench.run(QStringLiteral("echo up")), QStringLiteral("up"));
    QCOMPARE(bench.acquire("other"), QString()); // ports of two sandboxes differ
    QCOMPARE(bench.run(QStringLiteral("echo up"), "other"), QStringLiteral("up"));
}

void TstContainerSandbox::refusedStartTellsWhy()
{
    ContainerBench bench;
    bench.engine.fault(QStringLiteral("run"), "fail docker: no space left on device");
    QCOMPARE(bench.acquire(), QStringLiteral("Failed to start sandbox container: docker: no space left on device"));
    for (int i = 0; i < ContainerStartAttempts::maxStarts; ++i)
        bench.engine.fault(QStringLiteral("run"), "fail listen tcp: address already in use");
    QCOMPARE(bench.acquire(), QStringLiteral("Could not start sandbox container: all candidate ports are already allocated by Docker"));
    QCOMPARE(bench.acquire(), QString()); // and a later one is not harmed
}

void TstContainerSandbox::hungStartEndsInTime()
{
    ContainerBench bench;
    bench.options.engineTimes.start = std::chrono::milliseconds(300);
    bench.engine.fault(QStringLiteral("run"), "hang");
    const QString why = bench.acquire();
    QVERIFY2(why.contains(QStringLiteral("did not end within 0.3 seconds")), qPrintable(why));
    QCOMPARE(bench.engine.callsOf("stop"), 1); // the engine may have started it all the same
    QCOMPARE(bench.acquire("other"), QStringLiteral("")); // others are not held up
}

void TstContainerSandbox::cancelledStartLeavesNothing()
{
    ContainerBench bench;
    bench.begin();
    bench.engine.fault(QStringLiteral("run"), "dead");
    std::stop_source stop;
    const auto pending = begin(bench.provider->acquire(ContainerBench::key(), {}, stop.get_token()));
    QVERIFY(spinUntil([&] { return !bench.engine.containers().isEmpty(); }));
    stop.request_stop();
    QVERIFY(spinUntil([&] { return pending.done(); }, 10000));
    QVERIFY(!pending.value() && pending.value().error().isCancelled());
    QCOMPARE(bench.engine.containers(), QStringList());
}

void TstContainerSandbox::neverReadyIsCleanedAway()
{
    ContainerBench bench;
    bench.options.readyTimeout = std::chrono::milliseconds(500);
    bench.engine.fault(QStringLiteral("run"), "dead");
    QCOMPARE(bench.acquire(), QStringLiteral("Sandbox %1 failed to become ready within timeout at http://localhost:%2").arg(ContainerBench::idOf()).arg(bench.options.basePort));
    QCOMPARE(bench.engine.containers(), QStringList());
}

void TstContainerSandbox::deadContainerIsReplaced()
{
    ContainerBench bench;
    QCOMPARE(bench.acquire(), QString());
    bench.engine.kill(bench.nameOf());
    QVERIFY(spinUntil([&] { return !bench.engine.runs(bench.nameOf()); }));
    QCOMPARE(bench.acquire(), QString()); // in use
    QCOMPARE(bench.run(QStringLiteral("echo again")), QStringLiteral("again"));
    QVERIFY(bench.release());
    bench.engine.kill(bench.nameOf());
    QVERIFY(spinUntil([&] { return !bench.engine.runs(bench.nameOf()); }));
    QCOMPARE(bench.acquire(), QString()); // warm
    QCOMPARE(bench.run(QStringLiteral("echo again")), QStringLiteral("again"));
    QCOMPARE(bench.engine.callsOf("run"), 3);
}

void TstContainerSandbox::unknownIsNotDead()
{
    ContainerBench bench;
    bench.options.engineTimes.alive = std::chrono::milliseconds(300);
    QCOMPARE(bench.acquire(), QString());
    bench.engine.fault(QStringLiteral("inspect"), "fail Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?");
    QCOMPARE(bench.acquire(), QString());
    QVERIFY(bench.release());
    bench.engine.fault(QStringLiteral("inspect"), "hang");
    QCOMPARE(bench.acquire(), QString());
    QCOMPARE(bench.engine.callsOf("run"), 1);
    QCOMPARE(bench.run(QStringLiteral("echo here")), QStringLiteral("here"));
}

void TstContainerSandbox::hungStopCountsAsRunning()
{
    ContainerBench bench;
    bench.options.engineTimes.stop = std::chrono::seconds(6);
    bench.options.replicas = 1;
    QCOMPARE(bench.acquire(), QString());
    QVERIFY(bench.release());
    bench.engine.fault(QStringLiteral("stop"), "hang");
    QCOMPARE(bench.acquire("other"), QString()); // the room was not made, and it is only a soft limit
    QVERIFY(bench.engine.runs(bench.nameOf()));
    QCOMPARE(bench.acquire(), QString()); // still known, still used
    QCOMPARE(bench.engine.callsOf("run"), 2);
    bench.shutdown();
    QCOMPARE(bench.engine.containers(), QStringList());
}

void TstContainerSandbox::adoptsOnNameConflict()
{
    ContainerBench bench;
    // The search before the start learns nothing; the engine's conflict tells of it.
    QVERIFY(bench.engine.startByHand({QStringLiteral("-p"), QStringLiteral("127.0.0.1:%1:8080").arg(bench.options.basePort + 5), QStringLiteral("--name"), bench.nameOf(), QStringLiteral("img")}));
    bench.engine.fault(QStringLiteral("ps"), "always fail no list today"); // or the search for orphans would ask as well
    bench.engine.fault(QStringLiteral("inspect"), "fail something");
    QCOMPARE(bench.acquire(), QString());
    QCOMPARE(bench.engine.callsOf("run"), 2); // by hand, and the refused one
    QCOMPARE(bench.engine.read(QStringLiteral("/containers/%1/port").arg(bench.nameOf())).trimmed(), "127.0.0.1:" + QByteArray::number(bench.options.basePort + 5));
    QCOMPARE(bench.run(QStringLiteral("echo found")), QStringLiteral("found"));
    bench.shutdown();

    // One that cannot be verified is neither adopted nor stopped.
    QVERIFY(bench.engine.startByHand({QStringLiteral("-p"), QStringLiteral("127.0.0.1:%1:8080").arg(bench.options.basePort + 5), QStringLiteral("--name"), bench.nameOf(), QStringLiteral("img")}));
    bench.engine.fault(QStringLiteral("port"), "always fail something");
    const QString why = bench.acquire();
    QVERIFY2(why.startsWith(QStringLiteral("Failed to start sandbox container: docker: Error response from daemon: Conflict.")), qPrintable(why));
    QVERIFY(bench.engine.runs(bench.nameOf()));
}

void TstContainerSandbox::idleOnesEnd()
{
    ContainerBench bench;
    bench.options.idleTimeout = std::chrono::seconds(1);
    bench.options.checkInterval = std::chrono::milliseconds(100);
    QCOMPARE(bench.acquire(), QString());
    QCOMPARE(bench.acquire("used"), QString());
    QVERIFY(bench.release());
    QVERIFY(spinUntil([&] { return bench.engine.containers() == QStringList{bench.nameOf("used")}; }));
    QCOMPARE(bench.run(QStringLiteral("echo kept"), "used"), QStringLiteral("kept")); // a leased one is never ended for being idle
    QCOMPARE(bench.acquire(), QString());
}

void TstContainerSandbox::roomIsMade()
{
    ContainerBench bench;
    bench.options.replicas = 2;
    QCOMPARE(bench.acquire("a"), QString());
    QCOMPARE(bench.acquire("b"), QString());
    QVERIFY(bench.release("a"));
    QTest::qWait(20); // so that the idle times differ
    QVERIFY(bench.release("b"));
    QCOMPARE(bench.acquire("c"), QString());
    QCOMPARE(bench.engine.containers().size(), 2);
    QVERIFY(bench.engine.runs(bench.nameOf("c")));
    QCOMPARE(bench.acquire("d"), QString()); // the other warm one goes
    QCOMPARE(bench.engine.containers().size(), 2);
    QTest::ignoreMessage(QtWarningMsg, QRegularExpression(QStringLiteral("All 2 replica slots are in active use; creating sandbox [0-9a-f]{16} beyond the soft limit")));
    QCOMPARE(bench.acquire("e"), QString()); // never one in use
    QCOMPARE(bench.engine.containers().size(), 3);
}

void TstContainerSandbox::orphansAreAdoptedAndEnd()
{
    ContainerBench bench;
    bench.options.idleTimeout = std::chrono::seconds(1);
    bench.options.checkInterval = std::chrono::milliseconds(100);
    const QString left = bench.options.prefix + QStringLiteral("-0123456789abcdef");
    const QString similar = QStringLiteral("x-") + left;
    for (const QString &name : {left, similar})
        QVERIFY(bench.engine.startByHand({QStringLiteral("-p"), QStringLiteral("127.0.0.1:%1:8080").arg(freshBasePort() + 7), QStringLiteral("--name"), name, QStringLiteral("img")}));
    QCOMPARE(bench.acquire(), QString());
    QVERIFY(spinUntil([&] { return !bench.engine.containers().contains(left); }));
    QVERIFY(bench.engine.runs(similar)); // the engine's filter finds it, but the prefix is not ours
    QVERIFY(bench.engine.runs(bench.nameOf()));
}

void TstContainerSandbox::othersAreLeftAlone()
{
    ContainerBench first, second; // two processes would be two backends; these share one process, so the mark is made by hand
    second.options.idleTimeout = std::chrono::seconds(1);
    second.options.checkInterval = std::chrono::milliseconds(100);
    QProcess peer;
    peer.start(QStringLiteral("sh"), {QStringLiteral("-c"), QStringLiteral("cut -d' ' -f22 /proc/$$/stat; read x")});
    QVERIFY(peer.waitForReadyRead(5000));
    QString mark = ownProcessMark().section(u':', 0, -3) + u':' + QString::number(peer.processId()) + u':' + QString::fromLatin1(peer.readAll().trimmed());
    QVERIFY(isMarkOfAnotherLivingProcess(mark));
    const QString theirs = second.options.prefix + QStringLiteral("-feedfeedfeedfeed");
    QVERIFY(second.engine.startByHand({QStringLiteral("-p"), QStringLiteral("127.0.0.1:%1:8080").arg(freshBasePort() + 7), QStringLiteral("--label"), QStringLiteral("paddock.owner=") + mark,
                                       QStringLiteral("--name"), theirs, QStringLiteral("img")}));
    QCOMPARE(second.acquire(), QString());
    QVERIFY(second.release());
    QVERIFY(spinUntil([&] { return !second.engine.containers().contains(second.nameOf()); }));
    QVERIFY(second.engine.runs(theirs));
    peer.write("\n");
    QVERIFY(peer.waitForFinished(5000));
    QVERIFY(!isMarkOfAnotherLivingProcess(mark));
    QVERIFY(spinUntil([&] { return !second.engine.containers().contains(theirs); })); // nobody's now
}

void TstContainerSandbox::deathIsTold()
{
    ContainerBench bench;
    bench.options.checkInterval = std::chrono::milliseconds(100);
    QCOMPARE(bench.acquire(), QString());
    bench.engine.kill(bench.nameOf());
    bool told = false;
    QVERIFY(spinUntil([&] {
        for (const auto &event : bench.queue->drain())
            told = told || std::holds_alternative<SandboxFailed>(event->body);
        return told;
    }));
    QVERIFY(!bench.provider->get(SandboxId(ContainerBench::idOf())));
}

void TstContainerSandbox::tooSmallIsReplaced()
{
    ContainerBench bench;
    bench.options.capacity = {13, 13};
    QVERIFY(bench.engine.startByHand({QStringLiteral("-p"), QStringLiteral("127.0.0.1:%1:8080").arg(bench.options.basePort + 5), QStringLiteral("--name"), bench.nameOf(), QStringLiteral("img")}));
    const qint64 before = bench.engine.pidOf(bench.nameOf());
    QCOMPARE(bench.acquire(), QString());
    QVERIFY(bench.engine.pidOf(bench.nameOf()) != before);
    QVERIFY(bench.engine.read(QStringLiteral("/containers/%1/env").arg(bench.nameOf())).contains("MAX_SHELL_SESSIONS=13\n"));
    QCOMPARE(bench.provider->sessionLimit(), 13);
}

void TstContainerSandbox::tooSmallOfAPeerDefers()
{
    ContainerBench bench;
    bench.options.capacity = {13, 13};
    bench.options.ownershipTable = std::make_shared<OwnershipTable>(std::chrono::seconds(120));
    OwnershipStore peer(bench.options.ownershipTable, QStringLiteral("peer"));
    QVERIFY(peer.take(SandboxId(ContainerBench::idOf())));
    QVERIFY(bench.engine.startByHand({QStringLiteral("-p"), QStringLiteral("127.0.0.1:%1:8080").arg(bench.options.basePort + 5), QStringLiteral("--name"), bench.nameOf(),
                                      QStringLiteral("-e"), QStringLiteral("MAX_SHELL_SESSIONS=11"), QStringLiteral("img")}));
    QCOMPARE(bench.acquire(), QStringLiteral("sandbox %1 has an incompatible provisioning policy; replacement is deferred until its current owner releases it").arg(ContainerBench::idOf()));
    QVERIFY(bench.engine.runs(bench.nameOf()));
    bench.shutdown();
    QVERIFY(bench.engine.runs(bench.nameOf())); // never ours to stop
    peer.release(SandboxId(ContainerBench::idOf()));
    QCOMPARE(bench.acquire(), QString());
    QVERIFY(bench.engine.read(QStringLiteral("/containers/%1/env").arg(bench.nameOf())).contains("MAX_SHELL_SESSIONS=13\n"));
}

void TstContainerSandbox::enoughIsAdopted()
{
    ContainerBench bench;
    bench.options.capacity = {13, 13};
    QVERIFY(bench.engine.startByHand({QStringLiteral("-p"), QStringLiteral("127.0.0.1:%1:8080").arg(bench.options.basePort + 5), QStringLiteral("--name"), bench.nameOf(),
                                      QStringLiteral("-e"), QStringLiteral("MAX_SHELL_SESSIONS=20"), QStringLiteral("img")}));
    const qint64 before = bench.engine.pidOf(bench.nameOf());
    QCOMPARE(bench.acquire(), QString());
    QCOMPARE(bench.engine.pidOf(bench.nameOf()), before);
    QCOMPARE(bench.run(QStringLiteral("echo same")), QStringLiteral("same"));
}

void TstContainerSandbox::realEngine()
{
    QString works;
    for (const QString &name : {QStringLiteral("docker"), QStringLiteral("podman")}) {
        const QString program = QStandardPaths::findExecutable(name);
        if (works.isEmpty() && !program.isEmpty()) {
            const auto said = spin(runEngineProgram(callOf({program, QStringLiteral("ps"), QStringLiteral("-q")}, std::chrono::seconds(10)), {}));
            if (said && *said && (*said)->exitCode == 0)
                works = name;
        }
    }
    std::printf("engine of this run: %s\n", works.isEmpty() ? "the stand-in only" : qPrintable(works));
    if (works.isEmpty())
        QSKIP("Neither docker nor podman works on this machine: only the stand-in ran.");
    const ContainerEngine engine(*containerEngineKind(works), {});
    const QString nobody = QStringLiteral("paddock-test-no-such-container");
    const auto running = spin(engine.isRunning(nobody, {}));
    QVERIFY(running && *running && !**running);
    const auto facts = spin(engine.inspect({nobody}, {}));
    QVERIFY(facts && *facts && (*facts)->empty());
    const auto names = spin(engine.list(nobody, {}));
    QVERIFY(names && *names && (*names)->isEmpty());
    QVERIFY(*spin(engine.stop(nobody)));
}

} // namespace tst_container_sandbox

PADDOCK_TEST(tst_container_sandbox, TstContainerSandbox)
#include "tst_container_sandbox.moc"
