// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// The real paddock-sandboxd in the real bubblewrap. Skipped, with a word why, where namespaces are refused.
#include "core/sandbox/aio/aio_provider.h"
#include "core/sandbox/aio/shell_text.h"
#include "core/sandbox/backend/embedded_backend.h"
#include "tests/support/paddock_program.h"
#include "tests/support/spin.h"
#include "tests/support/test_main.h"

#include <QDir>
#include <QDirIterator>
#include <QProcess>
#include <QRandomGenerator>
#include <QTemporaryDir>
#include <QTest>

#include <csignal>
#include <cstdio>

#include <fcntl.h>
#include <unistd.h>

namespace tst_embedded_sandbox {

using namespace paddock;
using namespace paddock::test;

namespace {

const QString superviseOption = QStringLiteral("--supervise");

QString serverProgram()
{
    return QStringLiteral(PADDOCK_BIN_DIR) + QStringLiteral("/paddock-sandboxd");
}

EmbeddedOptions optionsFor(const QString &dataDir, int sessions = 10)
{
    EmbeddedOptions options;
    options.serverProgram = serverProgram();
    options.runtimeDir = dataDir + QStringLiteral("/rt");
    options.sessionLimit = sessions;
    options.folders = [dataDir](const ThreadKey &key) -> Result<SandboxFolders> {
        const auto paths = ThreadPaths::make(dataDir, key);
        if (!paths)
            return fail(paths.error());
        if (const auto made = paths->create(); !made)
            return fail(made.error());
        return SandboxFolders::of(*paths);
    };
    return options;
}

/// Pids of living processes whose command line holds the text, but for this one.
QList<qint64> processesWith(const QByteArray &text)
{
    QList<qint64> pids;
    for (const QString &name : QDir(QStringLiteral("/proc")).entryList(QDir::Dirs)) {
        bool ok = false;
        const qint64 pid = name.toLongLong(&ok);
        if (!ok || pid == ::getpid())
            continue;
        QFile file(QStringLiteral("/proc/%1/cmdline").arg(pid));
        if (file.open(QIODevice::ReadOnly) && file.readAll().replace('\0', ' ').contains(text))
            pids << pid;
    }
    return pids;
}

QStringList socketsIn(const QString &dataDir)
{
    QStringList found;
    QDirIterator walk(dataDir + QStringLiteral("/rt"), QDir::System, QDirIterator::Subdirectories);
    while (walk.hasNext())
        found << walk.next();
    return found;
}

/// A sleep that only this test has.
QByteArray uniqueSleep()
{
    static int count = 0;
    return "sleep " + QByteArray::number(100000 + ::getpid() % 100000) + "." + QByteArray::number(++count) + "77";
}

struct Bench {
    QTemporaryDir dir;
    std::shared_ptr<AioProvider> provider;
    ThreadKey key{UserId(QStringLiteral("u")), ThreadId(QStringLiteral("t"))};
    std::shared_ptr<EventBus> bus = std::make_shared<EventBus>();
    std::shared_ptr<EventQueue> queue = bus->subscribe();
    SandboxId id;
    SandboxPtr sandbox;

    explicit Bench(int sessions = 10)
        : provider(std::make_shared<AioProvider>(std::make_shared<EmbeddedBackend>(optionsFor(dir.path(), sessions))))
    {
    }
    ~Bench()
    {
        sandbox.reset();
        spin(provider->shutdown());
    }
    QString start()
    {
        const auto acquired = spin(provider->acquire(key, sink(), {}));
        if (!acquired)
            return QStringLiteral("the start never ended");
        if (!*acquired)
            return acquired->error().fullMessage();
        id = **acquired;
        sandbox = provider->get(id);
        return sandbox ? QString() : QStringLiteral("the sandbox is not there");
    }
    EventSink sink() const { return EventSink(bus, RunId(QStringLiteral("r")), leadAgent()); }
    CommandRequest command(const QString &text, const char *scope = "run:r", int seconds = 30) const
    {
        CommandRequest request;
        request.command = text;
        request.scope = ScopeId(QString::fromLatin1(scope));
        request.timeout = std::chrono::seconds(seconds);
        request.events = sink();
        return request;
    }
    QString run(const QString &text, const char *scope = "run:r", int seconds = 30) const
    {
        const auto result = spin(sandbox->execute(command(text, scope, seconds), {}), 90000);
        if (!result)
            return QStringLiteral("(never ended)");
        return *result ? (*result)->text : QStringLiteral("Error: ") + result->error().message;
    }
};

/// The child of the kill -9 tests: says that it starts, starts a sandbox with a process in it, says so, waits to be killed.
int supervise(const QString &dataDir, const QString &sleep, const QString &bubblewrap)
{
    EmbeddedOptions options = optionsFor(dataDir);
    options.bubblewrap = bubblewrap;
    AioProvider provider(std::make_shared<EmbeddedBackend>(std::move(options)));
    std::puts("starting");
    std::fflush(stdout);
    const ThreadKey key{UserId(QStringLiteral("u")), ThreadId(QStringLiteral("t"))};
    const auto id = spin(provider.acquire(key, {}, {}));
    if (!id || !*id)
        return 1;
    CommandRequest request;
    request.command = sleep + QStringLiteral(" & disown; setsid ") + sleep + QStringLiteral(" & echo up");
    request.scope = ScopeId(QStringLiteral("run:r"));
    const auto up = spin(provider.get(**id)->execute(request, {}));
    if (!up || !*up)
        return 1;
    std::puts("ready");
    std::fflush(stdout);
    spinUntil([] { return false; }, 60000);
    return 1;
}

/// Such a child, and everything that it may leave behind.
class Supervisor
{
public:
    explicit Supervisor(const QByteArray &sleep, const QString &bubblewrap = {})
    {
        m_process.setProcessChannelMode(QProcess::ForwardedErrorChannel);
        m_process.start(QCoreApplication::applicationFilePath(), {QStringLiteral("tst_embedded_sandbox"), superviseOption, m_dir.path(), QString::fromLatin1(sleep), bubblewrap});
    }
    QByteArray nextLine()
    {
        spinUntil([&] { return m_process.canReadLine() || m_process.state() == QProcess::NotRunning; });
        return m_process.readLine();
    }
    /// SIGKILL, and what is there afterwards that should not.
    QString killed()
    {
        ::kill(pid_t(m_process.processId()), SIGKILL);
        if (!spinUntil([&] { return m_process.state() == QProcess::NotRunning; }))
            return QStringLiteral("it cannot be killed");
        return m_watch.leftovers().join(QLatin1Char('\n'));
    }
    QString dir() const { return m_dir.path(); }
    qint64 pid() const { return m_process.processId(); }

private:
    QTemporaryDir m_dir;
    PaddockProgram m_watch; ///< adopts orphans, so that they can be seen
    QProcess m_process;
};

/// The guard of the only sandbox of this process.
qint64 guardPid()
{
    for (const qint64 pid : processesWith("paddock-sandboxd guard --parent-fd ")) {
        QFile stat(QStringLiteral("/proc/%1/stat").arg(pid));
        if (stat.open(QIODevice::ReadOnly) && stat.readAll().contains(" S " + QByteArray::number(::getpid()) + ' '))
            return pid;
    }
    return 0;
}

} // namespace

class TestEmbeddedSandbox : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void scopesDoNotLeak();
    void commandsTellWhereTheShellIs();
    void lostSessionIsRecovered();
    void environmentIsOneOff();
    void stopLeavesNothing();
    void releaseLeavesNothing();
    void killedSupervisorLeavesNothing();
    void killedAtAnyMomentLeavesNothing();
    void killedBeforeTheWordToGoOn();
    void killedGuardTakesTheSandboxAlong();
    void files();
    void showsNothingOfTheHost();
    void deadServerIsReplaced();
    void manyScopesAtOnce();
    void badCommands_data();
    void badCommands();
    void observerSeesAndTypes();
    void startCanBeCancelled();
    void explainsRefusals();
};

void TestEmbeddedSandbox::scopesDoNotLeak()
{
    Bench bench;
    QCOMPARE(bench.start(), QString());
    QCOMPARE(bench.run(QStringLiteral("pwd"), "subagent:a"), QStringLiteral("/mnt/user-data/workspace"));
    QCOMPARE(bench.run(QStringLiteral("cd /tmp; export X=1; f() { echo f; }; sleep 300 & true"), "subagent:a").contains(QStringLiteral("Error")), false);
    QCOMPARE(bench.run(QStringLiteral("pwd; echo $X; f; jobs | wc -l"), "subagent:a"), QStringLiteral("/tmp\n1\nf\n1"));
    QCOMPARE(bench.run(QStringLiteral("pwd; echo ${X:-none}; type f 2>/dev/null || echo no f; jobs | wc -l"), "subagent:b"),
             QStringLiteral("/mnt/user-data/workspace\nnone\nno f\n0"));
    QVERIFY(bench.sandbox->sessionOf(ScopeId(QStringLiteral("subagent:a"))) != bench.sandbox->sessionOf(ScopeId(QStringLiteral("subagent:b"))));
    QCOMPARE(bench.run(QStringLiteral("echo shared > f.txt"), "subagent:a"), QStringLiteral("(no output)"));
    QCOMPARE(bench.run(QStringLiteral("cat /tmp/f.txt"), "subagent:b"), QStringLiteral("shared"));
}

void TestEmbeddedSandbox::commandsTellWhereTheShellIs()
{
    Bench bench;
    QCOMPARE(bench.start(), QString());
    bench.run(QStringLiteral("true"));
    bench.run(QStringLiteral("cd /tmp"));
    bench.run(QStringLiteral("cd /usr; false"));
    bench.run(QStringLiteral("exit 0"));
    QStringList folders;
    for (const auto &event : bench.queue->drain()) {
        if (const auto *finished = std::get_if<ShellCommandFinished>(&event->body))
            folders << finished->cwd;
    }
    QCOMPARE(folders, QStringList({QStringLiteral("/mnt/user-data/workspace"), QStringLiteral("/tmp"), QStringLiteral("/usr"), QString()}));
}

/// The plan makes the server really forget the session.
void TestEmbeddedSandbox::lostSessionIsRecovered()
{
    Bench bench;
    QCOMPARE(bench.start(), QString());
    const std::vector<FaultPlan::Rule> rules{
        {FaultPlan::Point::ShellExec, QStringLiteral("subagent:*"), 2, FaultPlan::Action::SessionNotFound, {}, std::chrono::milliseconds(0)}};
    bench.provider->setFaults(bench.key, std::make_shared<FaultPlan>(rules));
    QCOMPARE(bench.run(QStringLiteral("export X=1; echo first"), "subagent:a"), QStringLiteral("first"));
    QCOMPARE(bench.run(QStringLiteral("echo ${X:-gone}"), "subagent:a"), aio::recreatedNotice() + QStringLiteral("\ngone"));
    QStringList reasons;
    for (const auto &event : bench.queue->drain()) {
        if (const auto *created = std::get_if<ShellSessionCreated>(&event->body))
            reasons << QStringLiteral("created ") + created->reason;
        if (const auto *lost = std::get_if<ShellSessionLost>(&event->body))
            reasons << QStringLiteral("lost ") + lost->reason;
    }
    QCOMPARE(reasons, QStringList({QStringLiteral("created first_use"), QStringLiteral("lost not_found"), QStringLiteral("created not_found")}));
}

void TestEmbeddedSandbox::environmentIsOneOff()
{
    Bench bench;
    QCOMPARE(bench.start(), QString());
    CommandRequest request = bench.command(QStringLiteral("echo \"$TOKEN\"; cat; echo oops >&2; exit 3"));
    request.env.insert(QStringLiteral("TOKEN"), QStringLiteral("given value"));
    const auto result = spin(bench.sandbox->execute(request, {}));
    QVERIFY(result && *result);
    QCOMPARE((*result)->text, QStringLiteral("given value\n\nStd Error:\noops\n\nExit Code: 3")); // stdin is at its end
    QCOMPARE(bench.run(QStringLiteral("echo ${TOKEN:-none}")), QStringLiteral("none"));
}

void TestEmbeddedSandbox::stopLeavesNothing()
{
    Bench bench;
    QCOMPARE(bench.start(), QString());
    const QByteArray sleep = uniqueSleep();
    for (const bool withEnvironment : {false, true}) {
        CommandRequest request = bench.command(QString::fromLatin1(sleep), "subagent:a", 600);
        if (withEnvironment)
            request.env.insert(QStringLiteral("K"), QStringLiteral("v"));
        std::stop_source stop;
        const auto pending = begin(bench.sandbox->execute(request, stop.get_token()));
        QVERIFY(spinUntil([&] { return !processesWith(sleep).isEmpty(); }));
        stop.request_stop();
        QVERIFY(spinUntil([&] { return pending.done(); }));
        QVERIFY(!pending.value() && pending.value().error().isCancelled());
        QVERIFY(processesWith(sleep).isEmpty());
    }
}

void TestEmbeddedSandbox::releaseLeavesNothing()
{
    Bench bench;
    QCOMPARE(bench.start(), QString());
    const QByteArray sleep = uniqueSleep();
    const QString text = QString::fromLatin1(sleep);
    const QString said = bench.run(QStringLiteral("(setsid %1 &); (trap '' TERM HUP INT; %1) & disown; nohup %1 >/dev/null 2>&1 & echo started").arg(text));
    QVERIFY2(said.endsWith(QStringLiteral("started")), qPrintable(said)); // after the job numbers of an interactive shell
    QVERIFY(spinUntil([&] { return processesWith(sleep).size() >= 3; }));
    const auto released = spin(bench.provider->release(bench.id));
    QVERIFY(released && *released);
    QVERIFY(processesWith(sleep).isEmpty());
    QVERIFY(socketsIn(bench.dir.path()).isEmpty());
    QVERIFY(!bench.provider->get(bench.id));
    QCOMPARE(bench.start(), QString()); // and it can be had again
    QCOMPARE(bench.run(QStringLiteral("echo again")), QStringLiteral("again"));
}

void TestEmbeddedSandbox::killedSupervisorLeavesNothing()
{
    const QByteArray sleep = uniqueSleep();
    Supervisor supervisor(sleep);
    QCOMPARE(supervisor.nextLine(), QByteArray("starting\n"));
    QCOMPARE(supervisor.nextLine(), QByteArray("ready\n"));
    // The shell has forked them; when they become what they are told to be is up to them.
    QVERIFY(spinUntil([&] {
        QList<qint64> inside = processesWith(sleep);
        inside.removeAll(supervisor.pid());
        return !inside.isEmpty();
    }));
    QCOMPARE(supervisor.killed(), QString());
    QVERIFY(processesWith(sleep).isEmpty());
    // The next process sweeps what is left in the file system.
    Bench next;
    EmbeddedOptions options = optionsFor(supervisor.dir());
    AioProvider provider(std::make_shared<EmbeddedBackend>(options));
    QVERIFY(*spin(provider.acquire(next.key, {}, {})));
    QCOMPARE(QDir(supervisor.dir() + QStringLiteral("/rt")).entryList(QDir::Dirs | QDir::NoDotAndDotDot).size(), 1);
    QVERIFY(spin(provider.shutdown()));
}

void TestEmbeddedSandbox::killedAtAnyMomentLeavesNothing()
{
    constexpr int rounds = 40;
    constexpr int startTakes = 150; // ms: from the first step to the ready line, roughly
    QRandomGenerator random(QRandomGenerator::global()->generate());
    for (int round = 0; round < rounds; ++round) {
        Supervisor supervisor(uniqueSleep());
        QCOMPARE(supervisor.nextLine(), QByteArray("starting\n"));
        const int moment = random.bounded(startTakes * 1000);
        ::usleep(useconds_t(moment)); // which step that meets is left to chance
        const QString left = supervisor.killed();
        QVERIFY2(left.isEmpty(), qPrintable(QStringLiteral("killed after %1 µs: %2").arg(moment).arg(left)));
    }
}

/// A stand-in for a bubblewrap that was killed when its child, which waits to be told to go on, had no bond to it yet.
void TestEmbeddedSandbox::killedBeforeTheWordToGoOn()
{
    QTemporaryDir dir;
    const QByteArray sleep = uniqueSleep();
    QFile fake(dir.filePath(QStringLiteral("bwrap")));
    QVERIFY(fake.open(QIODevice::WriteOnly));
    fake.write("#!/bin/sh\nsetsid " + sleep + " &\nexec " + sleep + "\n");
    fake.close();
    QVERIFY(fake.setPermissions(QFile::ReadOwner | QFile::ExeOwner));
    Supervisor supervisor(uniqueSleep(), fake.fileName());
    QCOMPARE(supervisor.nextLine(), QByteArray("starting\n"));
    QVERIFY(spinUntil([&] { return processesWith(sleep).size() == 2; }));
    QCOMPARE(supervisor.killed(), QString());
    QVERIFY(processesWith(sleep).isEmpty());
}

void TestEmbeddedSandbox::killedGuardTakesTheSandboxAlong()
{
    Bench bench;
    QCOMPARE(bench.start(), QString());
    const QByteArray sleep = uniqueSleep();
    bench.run(QStringLiteral("setsid %1 >/dev/null 2>&1 & echo").arg(QString::fromLatin1(sleep)));
    QVERIFY(spinUntil([&] { return !processesWith(sleep).isEmpty(); }));
    const qint64 guard = guardPid();
    QVERIFY(guard > 0);
    ::kill(pid_t(guard), SIGKILL);
    QVERIFY(spinUntil([&] { return !bench.provider->get(bench.id); }, 10000));
    QVERIFY(spinUntil([&] { return processesWith(sleep).isEmpty(); }, 10000));
    QCOMPARE(bench.start(), QString());
    const QString back = bench.run(QStringLiteral("echo back"));
    QVERIFY2(back.startsWith(u"[sandbox] the sandbox was restarted") && back.endsWith(u"\nback"), qPrintable(back));
    QCOMPARE(bench.run(QStringLiteral("echo back")), QStringLiteral("back")); // it is said once
}

void TestEmbeddedSandbox::files()
{
    Bench bench;
    QCOMPARE(bench.start(), QString());
    const QString root = QStringLiteral("/mnt/user-data/workspace");
    const auto path = [&](const char *name) { return root + QLatin1Char('/') + QString::fromUtf8(name); };
    QVERIFY(*spin(bench.sandbox->writeFile(path("src/a b.txt"), QStringLiteral("one\nTODO zwei ä\n"), false, {})));
    QVERIFY(*spin(bench.sandbox->writeFile(path("src/a b.txt"), QStringLiteral("three\n"), true, {})));
    QCOMPARE(**spin(bench.sandbox->readFile(path("src/a b.txt"), {})), QStringLiteral("one\nTODO zwei ä\nthree\n"));
    QVERIFY(*spin(bench.sandbox->writeBytes(path("bin"), QByteArray("\0\xff\n", 3), {})));
    QCOMPARE(**spin(bench.sandbox->readBytes(path("bin"), 100, {})), QByteArray("\0\xff\n", 3));
    QCOMPARE(int(spin(bench.sandbox->readBytes(path("bin"), 2, {}))->error().code), int(ErrorCode::ResourceExhausted));
    QCOMPARE(int(spin(bench.sandbox->readBytes(QStringLiteral("/etc/passwd"), 100, {}))->error().code), int(ErrorCode::PermissionDenied));
    QCOMPARE(int(spin(bench.sandbox->readFile(path("none"), {}))->error().code), int(ErrorCode::NotFound));
    QCOMPARE(int(spin(bench.sandbox->readFile(path("bin"), {}))->error().code), int(ErrorCode::DataLoss));
    bench.run(QStringLiteral("mkdir -p node_modules/x .hidden deep/er/est; echo TODO > node_modules/x/y.txt; echo TODO > .hidden/z.txt; echo 1 > deep/er/est/f.txt"));
    QCOMPARE(**spin(bench.sandbox->listDir(root, 2, {})),
             QStringList({path(".hidden/"), path(".hidden/z.txt"), path("bin"), path("deep/"), path("deep/er/"), path("src/"), path("src/a b.txt")}));
    QCOMPARE(spin(bench.sandbox->listDir(path("none"), 2, {}))->error().message, QStringLiteral("Directory not found: ") + path("none"));
    QCOMPARE((*spin(bench.sandbox->glob(root, QStringLiteral("*.txt"), false, 100, {})))->paths,
             QStringList({path(".hidden/z.txt"), path("deep/er/est/f.txt"), path("src/a b.txt")}));
    QVERIFY((*spin(bench.sandbox->glob(root, QStringLiteral("*.txt"), false, 2, {})))->truncated);
    GrepQuery query;
    query.pattern = QStringLiteral("todo");
    query.path = root;
    const auto found = spin(bench.sandbox->grep(query, {}));
    QVERIFY(found && *found);
    QCOMPARE((*found)->matches.size(), 2u);
    QCOMPARE((*found)->matches.back().text, QStringLiteral("TODO zwei ä"));
    QCOMPARE((*found)->matches.back().line, 2);
}

void TestEmbeddedSandbox::showsNothingOfTheHost()
{
    Bench bench;
    QCOMPARE(bench.start(), QString());
    QVERIFY(!bench.run(QStringLiteral("cat /proc/1/cmdline /proc/1/environ | tr '\\0' ' '")).contains(bench.dir.path()));
    QCOMPARE(bench.run(QStringLiteral("id -un; id -u; echo ~; hostname")), QStringLiteral("gem\n1000\n/home/gem\npaddock"));
    QCOMPARE(bench.run(QStringLiteral("touch /x /usr/x 2>/dev/null || echo read-only")), QStringLiteral("read-only"));
    QCOMPARE(bench.run(QStringLiteral("cat /etc/shadow 2>/dev/null || echo none; ls -A /root 2>/dev/null | wc -l")), QStringLiteral("none\n0"));
    QCOMPARE(bench.run(QStringLiteral("(exec 3<>/dev/tcp/127.0.0.1/22) 2>/dev/null || echo no network; ls /sys/class/net 2>/dev/null | grep -vc lo")),
             QStringLiteral("no network\n0\nExit Code: 1"));
    QCOMPARE(bench.run(QStringLiteral("grep -c . /proc/self/uid_map; grep CapEff /proc/self/status")),
             QStringLiteral("1\nCapEff:\t0000000000000000"));
}

void TestEmbeddedSandbox::deadServerIsReplaced()
{
    Bench bench;
    QCOMPARE(bench.start(), QString());
    bench.run(QStringLiteral("pkill -9 -f paddock-sandboxd; kill -9 2"), "run:r", 5);
    QVERIFY(spinUntil([&] { return !bench.provider->get(bench.id); }, 10000));
    bool told = false;
    QVERIFY(spinUntil([&] {
        for (const auto &event : bench.queue->drain())
            told = told || std::holds_alternative<SandboxFailed>(event->body);
        return told;
    }, 10000));
    const SandboxId before = bench.id;
    QCOMPARE(bench.start(), QString());
    QVERIFY(bench.id == before);
    QCOMPARE(bench.run(QStringLiteral("echo back")), aio::restartedNotice() + QStringLiteral("\nback"));
}

void TestEmbeddedSandbox::manyScopesAtOnce()
{
    constexpr int many = 20;
    Bench bench(many + 1);
    QCOMPARE(bench.start(), QString());
    std::vector<Pending<Result<CommandResult>>> pending;
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < many; ++i) {
            const QByteArray scope = "subagent:" + QByteArray::number(i);
            const QString text = round == 0 ? QStringLiteral("mkdir -p /tmp/d%1; cd /tmp/d%1; export ME=%1; sleep 200 &").arg(i)
                : QStringLiteral("echo $PWD $ME $(jobs | wc -l)");
            pending.push_back(begin(bench.sandbox->execute(bench.command(text, scope.constData()), {})));
        }
    }
    QVERIFY(spinUntil([&] { return std::all_of(pending.begin(), pending.end(), [](const auto &p) { return p.done(); }); }, 60000));
    for (int i = 0; i < many * 3; ++i) {
        QVERIFY(pending[size_t(i)].value().has_value());
        QVERIFY(!pending[size_t(i)].value()->sessionRecreated);
        if (i >= many)
            QCOMPARE(pending[size_t(i)].value()->text, QStringLiteral("/tmp/d%1 %1 1").arg(i % many));
    }
}

void TestEmbeddedSandbox::badCommands_data()
{
    QTest::addColumn<QString>("command");
    QTest::addColumn<QString>("part"); // an interactive shell adds job numbers and how a command ended
    QTest::addColumn<QString>("end");
    QTest::newRow("exit") << QStringLiteral("echo x; exit 3") << QStringLiteral("x\n") << QStringLiteral("Command was terminated because its shell session ended.");
    QTest::newRow("kills its shell") << QStringLiteral("kill -9 $$") << QStringLiteral("Command was terminated because its shell session ended.") << QString();
    QTest::newRow("much output") << QStringLiteral("head -c 50000000 /dev/zero | tr '\\0' x; echo; echo the end") << QStringLiteral("xxxx") << QStringLiteral("the end");
    QTest::newRow("binary") << QStringLiteral("head -c 1000 /dev/urandom; echo; echo done") << QString() << QStringLiteral("done");
    QTest::newRow("closes stdin") << QStringLiteral("exec 0<&-; echo closed") << QStringLiteral("closed") << QString();
    QTest::newRow("unfinished quote") << QStringLiteral("echo 'abc") << QString() << QStringLiteral("Exit Code: 2");
    QTest::newRow("never ends") << QStringLiteral("sleep 1000") << QStringLiteral("Command timed out after 2 seconds and was terminated.")
                                << QStringLiteral("Exit Code: 124");
    QTest::newRow("daemon") << QStringLiteral("setsid sleep 500 >/dev/null 2>&1 < /dev/null & echo off") << QStringLiteral("off") << QString();
}

/// Each gives an answer, and the scope works afterwards.
void TestEmbeddedSandbox::badCommands()
{
    QFETCH(QString, command);
    QFETCH(QString, part);
    QFETCH(QString, end);
    Bench bench;
    QCOMPARE(bench.start(), QString());
    const QString got = bench.run(command, "subagent:a", command.contains(QStringLiteral("1000")) && command.startsWith(QStringLiteral("sleep")) ? 2 : 60);
    QVERIFY2(got.contains(part), qPrintable(got.left(300)));
    QVERIFY2(got.endsWith(end), qPrintable(got.right(300)));
    QVERIFY(got.size() < 100000);
    const QString after = bench.run(QStringLiteral("echo after"), "subagent:a");
    QVERIFY2(after.endsWith(QStringLiteral("after")), qPrintable(after));
}

void TestEmbeddedSandbox::observerSeesAndTypes()
{
    Bench bench;
    QCOMPARE(bench.start(), QString());
    bench.run(QStringLiteral("echo warm"), "subagent:a");
    const SessionId session = bench.sandbox->sessionOf(ScopeId(QStringLiteral("subagent:a")));
    QByteArray seen;
    QString reason;
    const auto first = bench.sandbox->observeShell(session);
    const auto second = bench.sandbox->observeShell(session);
    QVERIFY(first && second);
    connect(first.get(), &ShellObserver::bytes, this, [&](const QByteArray &data) { seen += data; });
    connect(first.get(), &ShellObserver::ended, this, [&](const QString &text) { reason = text; });
    bench.run(QStringLiteral("echo hello-observer"), "subagent:a");
    QVERIFY(spinUntil([&] { return seen.contains("hello-observer"); }));
    QVERIFY(*spin(bench.sandbox->resizeShell(session, 100, 30, {})));
    QVERIFY(*spin(bench.sandbox->typeIntoShell(session, "echo typed-$((40+2))\r", {})));
    QVERIFY(spinUntil([&] { return seen.contains("typed-42"); }));
    QVERIFY(spin(bench.sandbox->releaseCommandScope(ScopeId(QStringLiteral("subagent:a")))));
    QVERIFY(spinUntil([&] { return !reason.isEmpty(); }));
}

void TestEmbeddedSandbox::startCanBeCancelled()
{
    Bench bench;
    std::stop_source stop;
    const auto pending = begin(bench.provider->acquire(bench.key, bench.sink(), stop.get_token()));
    stop.request_stop();
    QVERIFY(spinUntil([&] { return pending.done(); }));
    QVERIFY(!pending.value() && pending.value().error().isCancelled());
    QVERIFY(spin(bench.provider->shutdown()));
    QVERIFY(socketsIn(bench.dir.path()).isEmpty());
}

void TestEmbeddedSandbox::explainsRefusals()
{
    const QString off = explainBwrapFailure(QStringLiteral("bwrap: No permissions to create new namespace"),
                                            {{QStringLiteral("kernel.unprivileged_userns_clone"), QStringLiteral("0")}});
    QVERIFY(off.contains(QStringLiteral("sysctl -w kernel.unprivileged_userns_clone=1")));
    const QString armoured = explainBwrapFailure(QStringLiteral("bwrap: setting up uid map: Permission denied"),
                                                 {{QStringLiteral("kernel.apparmor_restrict_unprivileged_userns"), QStringLiteral("1")}});
    QVERIFY(armoured.contains(QStringLiteral("AppArmor")));
    QVERIFY(explainBwrapFailure(QStringLiteral("bwrap: Can't mount proc on /newroot/proc"), {}).contains(QStringLiteral("/proc")));
    const auto missing = findBubblewrap(QStringLiteral("/nonexistent/bwrap"));
    QVERIFY(!missing && missing.error().message.contains(QStringLiteral("Install the package bubblewrap")));
    QVERIFY(!findServerProgram(QStringLiteral("/nonexistent/server")));
}

int run(int argc, char **argv)
{
    QCoreApplication app(argc, argv);
    if (argc == 5 && QString::fromLocal8Bit(argv[1]) == superviseOption)
        return supervise(QString::fromLocal8Bit(argv[2]), QString::fromLocal8Bit(argv[3]), QString::fromLocal8Bit(argv[4]));
    const auto isolation = spin(checkIsolation({}, {}));
    if (!isolation || !*isolation) {
        std::fprintf(stderr, "SKIPPED: nested sandbox tests: %s\n",
                     qPrintable(isolation ? isolation->error().message : QStringLiteral("bubblewrap did not answer")));
        return 77;
    }
    TestEmbeddedSandbox tests;
    return QTest::qExec(&tests, argc, argv);
}

} // namespace tst_embedded_sandbox

PADDOCK_TEST_RUN(tst_embedded_sandbox, run)

#include "tst_embedded_sandbox.moc"
