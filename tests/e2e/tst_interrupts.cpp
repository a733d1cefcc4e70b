// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// Ctrl-C, kill and kill -9 at every point of a run: it ends in order (or at once), nothing of it runs on, the journal knows
// it, and the next run works in the same place.

#include "tests/support/paddock_program.h"
#include "tests/support/sanitizer.h"
#include "tests/support/test_main.h"

#include <QRandomGenerator>
#include <QTest>

#include <csignal>

#include <unistd.h>

namespace tst_interrupts {

using namespace paddock;
using namespace paddock::test;

namespace {

QString text(const char *utf8)
{
    return QString::fromUtf8(utf8);
}

/// A lead with a command, two subagents (one of which must wait for the other) and another command.
Json delegatingScenario()
{
    Json scenario = commandScenario({bashCall(text("a"), text("sleep 0.1")), bashCall(text("b"), text("sleep 0.1"))});
    Json delegate{{"tool", "task"}, {"id", "t"}, {"args", Json{{"description", "t"}, {"prompt", "wait"}, {"subagent_type", "general-purpose"}}}};
    Json second = delegate;
    second["id"] = "u";
    scenario["agents"][0]["turns"].insert(scenario["agents"][0]["turns"].begin() + 1, Json{{"calls", Json::array({delegate, second})}});
    scenario["agents"].push_back(Json{{"match", Json{{"type", "general-purpose"}}},
                                      {"turns", Json::array({Json{{"calls", Json::array({bashCall(text("s"), text("sleep 0.2 & wait"))})}}, Json{{"say", "waited"}}})}});
    return scenario;
}

/// What the vfork of SupervisedProcess::launch prevents.
constexpr const char *forkedChildWaits = "under a sanitizer Qt starts programs by fork, and a forked child waits for ever for a parent that was killed";

} // namespace

class InterruptsTest : public QObject
{
    Q_OBJECT

private:
    std::unique_ptr<PaddockProgram> m_program;

    /// SIGKILL at some moment of the next milliseconds: which step that meets is left to chance. What stayed, and when it was.
    QString leftWhenKilled(QProcess &process, int within) const
    {
        const int moment = QRandomGenerator::global()->bounded(within * 1000);
        ::usleep(useconds_t(moment));
        ::kill(pid_t(process.processId()), SIGKILL);
        if (PaddockProgram::outcomeOf(process).hung)
            return text("it cannot be killed");
        QStringList left = m_program->leftovers();
        left.removeIf([](const QString &one) { return one.startsWith(u"file "); }); // swept by the next process
        return left.isEmpty() ? QString() : text("killed after %1 µs: %2").arg(moment).arg(left.join(QLatin1Char('\n')));
    }
    static void verifyReleased(const Outcome &o)
    {
        QCOMPARE(int(o.ofType("sandbox.released").size()), 1);
        QVERIFY(boolOf(o.last("lease.released"), "last"));
        QVERIFY(intOf(o.last("sandbox.released"), "seq") > intOf(o.last("lease.released"), "seq"));
        QCOMPARE(o.ofType("shell.session_created").size(), o.ofType("shell.session_closed").size());
    }

private Q_SLOTS:
    void initTestCase()
    {
        if (const QString problem = PaddockProgram::isolationProblem(); !problem.isEmpty())
            QSKIP(qPrintable(problem));
    }
    void init() { m_program = std::make_unique<PaddockProgram>(); }

    void endlessCommandsAreCancelled_data()
    {
        QTest::addColumn<QString>("command");
        QTest::newRow("sleeps") << text("sleep 4711");
        QTest::newRow("prints for ever") << text("yes");
        QTest::newRow("ignores signals") << text("trap '' INT TERM HUP QUIT; while :; do sleep 4711; done");
        QTest::newRow("daemons around it") << text("setsid nohup sleep 4242 >/dev/null 2>&1 & sleep 4711");
    }
    void endlessCommandsAreCancelled()
    {
        QFETCH(QString, command);
        const QString scenario = m_program->scenario(commandScenario({bashCall(text("endless"), command)}));
        const auto process = m_program->start(m_program->runArguments(scenario));
        QByteArray seen;
        QVERIFY2(PaddockProgram::waitFor(*process, "\"shell.command_started\"", seen), process->readAllStandardError().constData());
        ::kill(pid_t(process->processId()), SIGINT);
        const Outcome o = PaddockProgram::outcomeOf(*process, seen);
        QCOMPARE(o.exitCode, 130);
        QCOMPARE(stringOf(o.last("run.finished"), "status"), text("cancelled"));
        verifyReleased(o);
        QCOMPARE(o.complaints(), QStringList{text("paddock: cancelling; once more ends at once")});
        QCOMPARE(m_program->leftovers().join(QLatin1Char('\n')), QString());
    }

    void secondInterruptEndsAtOnce()
    {
        const QString scenario = m_program->scenario(
            commandScenario({bashCall(text("endless"), text("trap '' INT TERM HUP QUIT; while :; do sleep 4711; done"))}));
        const auto process = m_program->start(m_program->runArguments(scenario));
        QByteArray seen;
        QVERIFY(PaddockProgram::waitFor(*process, "\"shell.command_started\"", seen));
        // Pressed again and again until it is over: once cancels, a second press ends at once.
        while (process->state() != QProcess::NotRunning) {
            ::kill(pid_t(process->processId()), SIGINT);
            process->waitForFinished(400);
        }
        const Outcome o = PaddockProgram::outcomeOf(*process, seen);
        QCOMPARE(o.exitCode, 130);
        QVERIFY2(o.complaints().size() <= 2, o.err.constData());
        const QStringList left = m_program->leftovers();
        for (const QString &one : left) // the runtime folder of a process that did not tidy up is swept by the next one
            QVERIFY2(one.startsWith(u"file "), qPrintable(one));
        const Outcome list = m_program->run({text("show"), text("--data-dir"), m_program->dataDir()});
        QCOMPARE(list.exitCode, 0);
        QVERIFY2(list.out.contains("interrupted") || list.out.contains("cancelled"), list.out.constData());
    }

    void interruptThatArrivesTwiceIsOne()
    {
        const QString scenario = m_program->scenario(commandScenario({bashCall(text("endless"), text("sleep 4711"))}));
        const auto process = m_program->start(m_program->runArguments(scenario));
        QByteArray seen;
        QVERIFY(PaddockProgram::waitFor(*process, "\"shell.command_started\"", seen));
        ::kill(pid_t(process->processId()), SIGINT);
        ::kill(pid_t(process->processId()), SIGTERM);
        const Outcome o = PaddockProgram::outcomeOf(*process, seen);
        QCOMPARE(o.exitCode, 130);
        QCOMPARE(stringOf(o.last("run.finished"), "status"), text("cancelled"));
        verifyReleased(o);
        QCOMPARE(m_program->leftovers().join(QLatin1Char('\n')), QString());
    }

    void endsInOrderWhereverItIsInterrupted_data()
    {
        QTest::addColumn<QByteArray>("at");
        QTest::addColumn<int>("signal");
        for (const char *at : {"run.started", "agent.started", "middleware.span", "model.request", "tool.started", "sandbox.acquired", "lease.acquired",
                               "shell.session_created", "shell.command_started", "shell.command_finished", "agent.queued", "lease.released", "sandbox.released"}) {
            QTest::newRow(at) << QByteArray(at) << SIGINT;
        }
        QTest::newRow("asked to end") << QByteArray("shell.command_started") << SIGTERM;
        QTest::newRow("terminal closed") << QByteArray("shell.command_started") << SIGHUP;
        QTest::newRow("killed at the start") << QByteArray("run.started") << SIGKILL;
        QTest::newRow("killed while acquiring") << QByteArray("tool.started") << SIGKILL;
        QTest::newRow("killed while working") << QByteArray("shell.command_started") << SIGKILL;
        QTest::newRow("killed while releasing") << QByteArray("lease.released") << SIGKILL;
    }
    void endsInOrderWhereverItIsInterrupted()
    {
        QFETCH(QByteArray, at);
        QFETCH(int, signal);
        const auto process = m_program->start(m_program->runArguments(m_program->scenario(delegatingScenario()), {text("--max-running"), text("1")}));
        QByteArray seen;
        QVERIFY2(PaddockProgram::waitFor(*process, "\"type\":\"" + at + '"', seen), process->readAllStandardError().constData());
        ::kill(pid_t(process->processId()), signal);
        const Outcome o = PaddockProgram::outcomeOf(*process, seen);
        QVERIFY(!o.hung);
        QStringList left = m_program->leftovers();
        if (signal == SIGKILL) {
            QCOMPARE(o.exitCode, -1);
            left.removeIf([](const QString &one) { return one.startsWith(u"file "); }); // swept by the next process
        } else {
            // At the very end the run may have been faster.
            QVERIFY2(o.exitCode == 130 || (o.exitCode == 0 && at.endsWith("released")), o.err.constData());
            QCOMPARE(o.ofType("sandbox.acquired").size(), o.ofType("sandbox.released").size());
            QCOMPARE(o.ofType("lease.acquired").size(), o.ofType("lease.released").size());
            QCOMPARE(int(o.ofType("run.finished").size()), 1);
        }
        QCOMPARE(left.join(QLatin1Char('\n')), QString());
        // The journal tells the same, and the next run works where this one was.
        const Outcome exported = m_program->run({text("export"), text("last"), text("--data-dir"), m_program->dataDir()});
        const bool stored = exported.exitCode == 0;
        QVERIFY2(stored || (signal == SIGKILL && at == "run.started"), exported.err.constData()); // printed, and not yet acknowledged
        if (signal != SIGKILL)
            QCOMPARE(exported.out, o.out);
        const Outcome next = m_program->run(m_program->runArguments(m_program->scenario(commandScenario({bashCall(text("a"), text("echo fine"))}))));
        QCOMPARE(next.exitCode, 0);
        QCOMPARE(next.resultOf(text("a")), text("fine"));
        QCOMPARE(m_program->leftovers().join(QLatin1Char('\n')), QString());
        const Outcome list = m_program->run({text("show"), text("--data-dir"), m_program->dataDir()});
        QVERIFY2(signal != SIGKILL || !stored || list.out.contains("interrupted"), list.out.constData());
    }

    void killedWhileTheSandboxStarts()
    {
        if (underSanitizer)
            QSKIP(forkedChildWaits);
        constexpr int rounds = 20;
        const QString scenario = m_program->scenario(commandScenario({bashCall(text("endless"), text("sleep 4711"))}));
        for (int round = 0; round < rounds; ++round) {
            const auto process = m_program->start(m_program->runArguments(scenario));
            QByteArray seen;
            QVERIFY2(PaddockProgram::waitFor(*process, "\"type\":\"tool.started\"", seen), process->readAllStandardError().constData());
            const QString left = leftWhenKilled(*process, 150);
            QVERIFY2(left.isEmpty(), qPrintable(left));
        }
    }

    void killedWhileServingStarts()
    {
        if (underSanitizer)
            QSKIP(forkedChildWaits);
        constexpr int rounds = 10;
        for (int round = 0; round < rounds; ++round) {
            const QString socket = m_program->folder(text("sockets")) + text("/%1.sock").arg(round);
            const auto process = m_program->start({text("sandbox"), text("serve"), text("--workspace"), m_program->folder(text("project")), text("--listen"), text("unix:") + socket});
            QVERIFY(process->waitForStarted());
            const QString left = leftWhenKilled(*process, 250);
            QVERIFY2(left.isEmpty(), qPrintable(left));
        }
    }
};

} // namespace tst_interrupts

PADDOCK_TEST(tst_interrupts, InterruptsTest)
#include "tst_interrupts.moc"
