// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// Commands on the host: output, time-outs, cancellation, children that stay, the environment and the permission.
#include "core/base/async.h"
#include "core/sandbox/local/local_provider.h"
#include "tests/support/test_main.h"

#include <QCoroTask>
#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <csignal>

using namespace paddock;
using namespace std::chrono_literals;

namespace tst_local_commands {

namespace {

HostCommand shell(const QString &script, std::chrono::milliseconds timeout = 20s)
{
    return {{QStringLiteral("/bin/sh"), QStringLiteral("-c"), script}, {{QStringLiteral("PATH"), QStringLiteral("/usr/bin:/bin")}}, timeout};
}

HostCommandResult run(HostProcesses &processes, const HostCommand &command, std::stop_token stop = {})
{
    const auto result = QCoro::waitFor(processes.run(command, stop));
    if (!result)
        qFatal("%s", qPrintable(result.error().message));
    return *result;
}

/// The process ended or is a zombie.
bool isGone(pid_t pid)
{
    QFile stat(QStringLiteral("/proc/%1/stat").arg(pid));
    if (!stat.open(QIODevice::ReadOnly))
        return true;
    const QByteArray text = stat.readAll();
    return text.mid(text.lastIndexOf(')') + 2, 1) == "Z";
}

} // namespace

class tst_local_commands : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void runsAndTellsApart()
    {
        HostProcesses processes;
        auto result = run(processes, shell(QStringLiteral("echo out; echo err >&2; exit 3")));
        QCOMPARE(result.out, QByteArray("out\n"));
        QCOMPARE(result.err, QByteArray("err\n"));
        QCOMPARE(result.exitCode, 3);
        result = run(processes, shell(QStringLiteral("kill -9 $$")));
        QCOMPARE(result.exitCode, -SIGKILL);
        result = run(processes, shell(QStringLiteral("read x; echo \"end $?\""))); // stdin is empty, not ours
        QCOMPARE(result.out, QByteArray("end 1\n"));
        result = run(processes, shell(QStringLiteral("exec <&- >&- 2>&-; sleep 0.1; exit 5")));
        QCOMPARE(result.exitCode, 5);
        result = run(processes, shell(QStringLiteral("ls /proc/self/fd | wc -l")));
        QCOMPARE(result.out.trimmed(), QByteArray("4")); // 0, 1, 2 and the listing's own
        QVERIFY(!QCoro::waitFor(processes.run({{QStringLiteral("/nonexistent")}, {}, 1s}, {})));
        QCOMPARE(QCoro::waitFor(processes.livingGroups()), 0);
    }

    void keepsTenMegabytes()
    {
        HostProcesses processes;
        const auto result = run(processes, shell(QStringLiteral("head -c 200000000 /dev/zero; echo end >&2"), 60s));
        QCOMPARE(result.outTotal, 200000000);
        QCOMPARE(result.out.size(), HostProcesses::keptBytes);
        QCOMPARE(result.err, QByteArray("end\n"));
        QCOMPARE(hostOutputText("ab", 5), QStringLiteral("ab\n... [output truncated after 2 of 5 bytes; remaining output discarded] ..."));
        QCOMPARE(hostOutputText("a\xe2\x82", 2), QStringLiteral("a") + QChar(0xfffd)); // a cut character becomes one sign
    }

    void returnsWhenTheShellDoes()
    {
        HostProcesses processes;
        QElapsedTimer timer;
        timer.start();
        auto result = run(processes, shell(QStringLiteral("sleep 100 & echo $!"), 60s));
        QVERIFY(timer.elapsed() < 20000);
        const pid_t background = result.out.trimmed().toInt();
        QVERIFY(background > 0 && !isGone(background));
        QCOMPARE(QCoro::waitFor(processes.livingGroups()), 1);
        // A talkative one must not be stopped by a full or closed pipe.
        result = run(processes, shell(QStringLiteral("(while :; do echo noise; done) & echo $!")));
        const pid_t noisy = result.out.left(result.out.indexOf('\n')).trimmed().toInt();
        if (noisy > 0)
            QVERIFY(!isGone(noisy));
        processes.endAll();
        QTRY_VERIFY_WITH_TIMEOUT(isGone(background), 10000);
        QTRY_COMPARE_WITH_TIMEOUT(QCoro::waitFor(processes.livingGroups()), 0, 10000);
    }

    void daemonsDoNotHoldUs()
    {
        HostProcesses processes;
        QElapsedTimer timer;
        timer.start();
        const auto result = run(processes, shell(QStringLiteral("setsid sleep 60 & setsid sh -c 'sleep 60' & echo started"), 60s));
        QVERIFY(timer.elapsed() < 15000);
        QCOMPARE(result.out, QByteArray("started\n"));
    }

    void timesOutWithTheWholeGroup()
    {
        HostProcesses processes;
        const auto result = run(processes, shell(QStringLiteral("echo before; sleep 100 & echo $! ; trap '' TERM; sleep 100"), 500ms));
        QVERIFY(result.timedOut);
        const QList<QByteArray> lines = result.out.split('\n');
        QCOMPARE(lines.at(0), QByteArray("before"));
        QTRY_VERIFY_WITH_TIMEOUT(isGone(lines.at(1).toInt()), 10000);
        QTRY_COMPARE_WITH_TIMEOUT(QCoro::waitFor(processes.livingGroups()), 0, 10000);
    }

    void cancelEndsTheWholeGroup()
    {
        HostProcesses processes;
        std::stop_source stop;
        QTemporaryDir dir;
        const QString ready = dir.filePath(QStringLiteral("ready"));
        auto task = processes.run(shell(QStringLiteral("sleep 100 & echo $!; echo x > ") + ready + QStringLiteral("; sleep 100")), stop.get_token());
        QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(ready), 10000);
        stop.request_stop();
        const auto result = QCoro::waitFor(std::move(task));
        QVERIFY(result && result->cancelled);
        QTRY_VERIFY_WITH_TIMEOUT(isGone(result->out.trimmed().toInt()), 10000);
        QVERIFY(QCoro::waitFor(processes.run(shell(QStringLiteral("true")), stop.get_token())).error().isCancelled());
    }

    void manyAtOnce()
    {
        HostProcesses processes;
        std::vector<Task<Result<HostCommandResult>>> tasks;
        for (int i = 0; i < 60; ++i)
            tasks.push_back(processes.run(shell(QStringLiteral("sleep 0.2; echo %1").arg(i)), {}));
        for (int i = 0; i < 60; ++i)
            QCOMPARE(QCoro::waitFor(std::move(tasks[size_t(i)]))->out.trimmed().toInt(), i);
    }

    void destructionEndsEverything()
    {
        pid_t running = 0;
        {
            HostProcesses processes;
            QTemporaryDir dir;
            const QString file = dir.filePath(QStringLiteral("pid"));
            auto task = processes.run(shell(QStringLiteral("echo $$ > %1.new; mv %1.new %1; sleep 100").arg(file)), {});
            QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(file), 10000);
            QFile f(file);
            QVERIFY(f.open(QIODevice::ReadOnly));
            running = f.readAll().trimmed().toInt();
        }
        QVERIFY(running > 0 && isGone(running));
    }

    // ---- through the sandbox

    void sandbox()
    {
        QTemporaryDir dir;
        bool allowed = false;
        LocalSandboxProvider::Options options;
        options.dataDir = dir.path() + QStringLiteral("/it's data");
        options.sandbox.hostBashAllowed = [&allowed] { return allowed; };
        options.sandbox.commandTimeout = 15s;
        qputenv("PADDOCK_TEST_SECRET", "hidden");
        LocalSandboxProvider provider(options);
        const ThreadKey key{UserId(QStringLiteral("u1")), ThreadId(QStringLiteral("t1"))};
        const auto id = QCoro::waitFor(provider.acquire(key, {}, {}));
        QVERIFY(id);
        QCOMPARE(id->value(), QStringLiteral("local:u1:t1"));
        const SandboxPtr sandbox = provider.get(*id);
        QVERIFY(sandbox && sandbox->isLocal());
        auto bus = std::make_shared<EventBus>();
        const auto queue = bus->subscribe();
        const auto execute = [&](const QString &command, const QMap<QString, QString> &env = {}) {
            CommandRequest request;
            request.command = command;
            request.env = env;
            request.identityPrefix = QStringLiteral("export DEERFLOW_CHANNEL_USER_ID='a b'; ");
            request.scope = ScopeId(QStringLiteral("run:r"));
            request.events = EventSink(bus, RunId(QStringLiteral("r")), leadAgent());
            return QCoro::waitFor(sandbox->execute(request, {}));
        };
        const auto refused = execute(QStringLiteral("echo x"));
        QVERIFY(!refused && refused.error().message.startsWith(QStringLiteral("Host bash execution is disabled")));
        QVERIFY(queue->drain().empty());
        allowed = true;
        QCOMPARE(execute(QStringLiteral("pwd; echo $DEERFLOW_CHANNEL_USER_ID"))->text, QStringLiteral("/mnt/user-data/workspace\na b\n"));
        QCOMPARE(queue->drain().size(), 2u);
        QCOMPARE(execute(QStringLiteral("echo \"[$PADDOCK_TEST_SECRET][$TOKEN]\""), {{QStringLiteral("TOKEN"), QStringLiteral("given")}})->text,
                 QStringLiteral("[][given]\n"));
        QCOMPARE(execute(QStringLiteral("echo hi > /mnt/user-data/outputs/x && cat /mnt/user-data/outputs/x"))->text, QStringLiteral("hi\n"));
        QCOMPARE(execute(QStringLiteral("cd /mnt/user-data/outputs; ls \"/mnt/user-data/outputs/\"x '/mnt/user-data/outputs/x' /mnt/user-data/outputs/*"))->text,
                 QStringLiteral("/mnt/user-data/outputs/x\n").repeated(3));
        QCOMPARE(execute(QStringLiteral("echo \"$(cat /mnt/user-data/outputs/x)\" # it's /mnt/user-data/outputs"))->text, QStringLiteral("hi\n"));
        QCOMPARE(execute(QStringLiteral("cat <<EOF\n/mnt/user-data/workspace/it\nEOF"))->text, QStringLiteral("/mnt/user-data/workspace/it\n"));
        QCOMPARE(execute(QStringLiteral("false"))->text, QStringLiteral("\nExit Code: 1"));
        QCOMPARE(execute(QStringLiteral("true"))->text, QStringLiteral("(no output)"));
        QVERIFY(execute(QStringLiteral("cat /etc/passwd")).error().message.startsWith(QStringLiteral("Unsafe absolute paths")));
        QVERIFY(execute(QStringLiteral("ls"), {{QStringLiteral("A-B"), QString()}}).error().message.contains(QStringLiteral("extra_env key")));
        QVERIFY(QCoro::waitFor(provider.release(*id)));
        QVERIFY(provider.get(*id));
        QCoro::waitFor(provider.shutdown());
        QVERIFY(!provider.get(*id));
        QVERIFY(!QCoro::waitFor(provider.acquire(key, {}, {})));
    }

    void cacheKeepsWhatIsHeld()
    {
        QTemporaryDir dir;
        LocalSandboxProvider::Options options;
        options.dataDir = dir.path();
        LocalSandboxProvider provider(options);
        const auto key = [](int i) { return ThreadKey{UserId(QStringLiteral("u")), ThreadId(QStringLiteral("t%1").arg(i))}; };
        const auto held = QCoro::waitFor(provider.acquire(key(0), {}, {}));
        const auto dropped = QCoro::waitFor(provider.acquire(key(1), {}, {}));
        QVERIFY(QCoro::waitFor(provider.release(*dropped)));
        for (int i = 2; i < 2 + int(LocalSandboxProvider::cacheSize); ++i)
            QVERIFY(QCoro::waitFor(provider.acquire(key(i), {}, {})));
        QVERIFY(provider.get(*held));
        QVERIFY(!provider.get(*dropped));
        QVERIFY(!QCoro::waitFor(provider.acquire({UserId(QStringLiteral("u")), ThreadId(QStringLiteral("../x"))}, {}, {})));
    }
};

} // namespace tst_local_commands

PADDOCK_TEST(tst_local_commands, tst_local_commands)
#include "tst_local_commands.moc"
