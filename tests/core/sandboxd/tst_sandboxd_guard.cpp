// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// `paddock-sandboxd guard` around commands that do not want to end. Needs no namespaces.
#include "core/sandboxd/process_tree.h"
#include "core/sandboxd/unique_fd.h"
#include "tests/support/spin.h"
#include "tests/support/test_main.h"

#include <QDir>
#include <QFile>
#include <QProcess>
#include <QTest>

#include <csignal>

#include <fcntl.h>
#include <unistd.h>

namespace tst_sandboxd_guard {

using namespace paddock;
using namespace paddock::sandboxd;
using namespace paddock::test;

namespace {

constexpr int killedCode = 128 + SIGKILL;

QString guardProgram()
{
    return QStringLiteral(PADDOCK_BIN_DIR "/paddock-sandboxd");
}

/// A sleep that only this test has.
QString uniqueSleep()
{
    static int count = 0;
    return QStringLiteral("sleep %1.%2").arg(200000 + ::getpid() % 100000).arg(++count);
}

QString linkOf(qint64 pid, const QString &fd)
{
    return QFile::symLinkTarget(QStringLiteral("/proc/%1/fd/%2").arg(pid).arg(fd)).section(QLatin1Char('/'), -1);
}

QStringList linksOf(qint64 pid)
{
    QStringList links;
    for (const QString &fd : QDir(QStringLiteral("/proc/%1/fd").arg(pid)).entryList(QDir::AllEntries | QDir::System | QDir::NoDotAndDotDot))
        links << linkOf(pid, fd);
    return links;
}

/// Living processes with the text in their command line.
int countOf(const QString &text)
{
    int count = 0;
    for (const ProcessFacts &facts : allProcesses()) {
        QFile file(QStringLiteral("/proc/%1/cmdline").arg(facts.pid));
        if (facts.state != 'Z' && file.open(QIODevice::ReadOnly) && file.readAll().replace('\0', ' ').contains(text.toUtf8()))
            ++count;
    }
    return count;
}

/// Ignores what can be ignored, and has a daemon, a grandchild whose parent went away, one in a session of its own, and one
/// that makes another before it ends.
QString stubborn(const QString &sleep, const QString &end)
{
    return QStringLiteral("trap '' TERM INT HUP QUIT\n"
                          "nohup %1 >/dev/null 2>&1 &\n"
                          "(setsid sh -c 'setsid %1 & setsid %1 & wait' >/dev/null 2>&1 &)\n"
                          "(sh -c '(sh -c \"setsid %1 & exec setsid %1\" &) &' >/dev/null 2>&1 &)\n"
                          "(%1 & %1 & wait) &\n"
                          "while [ $(pgrep -f -c \"^%1\") -lt 7 ]; do :; done\n"
                          "echo up\n%2\n")
        .arg(sleep, end);
}

class Guarded
{
public:
    explicit Guarded(const QStringList &command, bool closed = false)
    {
        int fds[2] = {-1, -1}, others[2] = {-1, -1};
        if (::pipe2(fds, O_CLOEXEC) != 0 || ::pipe2(others, O_CLOEXEC) != 0)
            qFatal("no pipes");
        const UniqueFd read(fds[0]), other(others[1]);
        m_otherRead.reset(others[0]);
        if (closed)
            ::close(fds[1]);
        else
            write.reset(fds[1]);
        pipe = linkOf(::getpid(), QString::number(fds[0]));
        handedOn = linkOf(::getpid(), QString::number(others[1]));
        process.setChildProcessModifier([inherited = std::array{fds[0], others[1]}] {
            for (const int fd : inherited)
                ::fcntl(fd, F_SETFD, 0);
        });
        process.setStandardInputFile(QProcess::nullDevice());
        process.start(guardProgram(), QStringList{QStringLiteral("guard"), QStringLiteral("--parent-fd"), QString::number(fds[0]), QStringLiteral("--")} + command);
        process.waitForStarted();
    }
    ~Guarded()
    {
        write.reset();
        ended();
    }
    static QStringList shell(const QString &script) { return {QStringLiteral("/bin/sh"), QStringLiteral("-c"), script}; }
    QByteArray nextLine()
    {
        spinUntil([&] { return process.canReadLine() || process.state() == QProcess::NotRunning; });
        return process.readLine();
    }
    /// The exit code; -1 when it does not end, or by a signal.
    int ended()
    {
        const bool over = spinUntil([&] { return process.state() == QProcess::NotRunning; });
        return over && process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1;
    }

    QProcess process;
    UniqueFd write;
    QString pipe;     ///< what its descriptors are called in /proc
    QString handedOn; ///< the same of another pipe, which is meant for the command

private:
    UniqueFd m_otherRead;
};

} // namespace

class TestSandboxdGuard : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void passesTheExitCodeOn_data()
    {
        QTest::addColumn<QString>("script");
        QTest::addColumn<int>("code");
        QTest::newRow("good") << QStringLiteral("exit 0") << 0;
        QTest::newRow("bad") << QStringLiteral("exit 7") << 7;
        QTest::newRow("killed") << QStringLiteral("kill -9 $$") << killedCode;
        QTest::newRow("signals are as usual") << QStringLiteral("kill -TERM $$; exit 1") << 128 + SIGTERM;
    }
    void passesTheExitCodeOn()
    {
        QFETCH(QString, script);
        QFETCH(int, code);
        Guarded guarded(Guarded::shell(script));
        QCOMPARE(guarded.ended(), code);
        QCOMPARE(guarded.process.readAllStandardError(), QByteArray());
    }

    void saysWhatItCannotStart()
    {
        Guarded guarded({QStringLiteral("/nonexistent/program")});
        QCOMPARE(guarded.ended(), 127);
        QCOMPARE(guarded.process.readAllStandardError(), QByteArray("cannot start /nonexistent/program: No such file or directory\n"));
        QProcess process;
        process.start(guardProgram(), {QStringLiteral("guard"), QStringLiteral("--parent-fd"), QStringLiteral("77"), QStringLiteral("--"), QStringLiteral("true")});
        QVERIFY(spinUntil([&] { return process.state() == QProcess::NotRunning; }));
        QCOMPARE(process.exitCode(), 2);
    }

    void endsEverything_data()
    {
        QTest::addColumn<int>("signal");
        QTest::newRow("pipe closed") << 0;
        QTest::newRow("SIGTERM") << SIGTERM;
        QTest::newRow("SIGINT") << SIGINT;
        QTest::newRow("SIGHUP") << SIGHUP;
    }
    void endsEverything()
    {
        QFETCH(int, signal);
        const QString sleep = uniqueSleep();
        Guarded guarded(Guarded::shell(stubborn(sleep, QStringLiteral("while :; do %1; done").arg(sleep))));
        QCOMPARE(guarded.nextLine(), QByteArray("up\n"));
        if (signal)
            ::kill(pid_t(guarded.process.processId()), signal);
        else
            guarded.write.reset();
        QCOMPARE(guarded.ended(), killedCode);
        QCOMPARE(countOf(sleep), 0); // at once: it ends after the last of them
    }

    void endsWhatTheCommandLeft()
    {
        const QString sleep = uniqueSleep();
        Guarded guarded(Guarded::shell(stubborn(sleep, QStringLiteral("exit 5"))));
        QCOMPARE(guarded.ended(), 5);
        QCOMPARE(countOf(sleep), 0);
    }

    void endsWhenTheStarterWasGoneBefore()
    {
        const QString sleep = uniqueSleep();
        Guarded guarded(Guarded::shell(sleep), true);
        QCOMPARE(guarded.ended(), killedCode);
        QCOMPARE(countOf(sleep), 0);
    }

    void keepsToItself()
    {
        Guarded guarded(Guarded::shell(QStringLiteral("echo $$; exec %1").arg(uniqueSleep())));
        const qint64 guard = guarded.process.processId();
        const qint64 command = guarded.nextLine().trimmed().toLongLong();
        QVERIFY(command > 0);
        QVERIFY(linksOf(guard).contains(guarded.pipe));
        QVERIFY(!linksOf(command).contains(guarded.pipe));
        QVERIFY(linksOf(command).contains(guarded.handedOn));
        QVERIFY(spinUntil([&] { return !linksOf(guard).contains(guarded.handedOn); }));
        QCOMPARE(qint64(::getsid(pid_t(guard))), guard); // no terminal's signals
        QFile name(QStringLiteral("/proc/%1/comm").arg(guard));
        QVERIFY(name.open(QIODevice::ReadOnly) && name.readAll() == "sandbox-guard\n"); // pkill paddock
    }
};

} // namespace tst_sandboxd_guard

PADDOCK_TEST(tst_sandboxd_guard, TestSandboxdGuard)
#include "tst_sandboxd_guard.moc"
