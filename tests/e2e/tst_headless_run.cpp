// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// Whole runs through the real program, the real sandbox server and real shells. Where the machine cannot isolate, the
// tests are skipped with a word, never passed.

#include "tests/support/paddock_program.h"
#include "tests/support/test_main.h"

#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QRegularExpression>
#include <QSet>
#include <QTest>

#include <csignal>

namespace tst_headless_run {

using namespace paddock;
using namespace paddock::test;

class HeadlessRunTest : public QObject
{
    Q_OBJECT

private:
    std::unique_ptr<PaddockProgram> m_program;
    QString m_work;

    QStringList arguments(const QString &scenario, const QString &workspace) const
    {
        return m_program->runArguments(scenario, {QStringLiteral("--workspace"), workspace});
    }
    Outcome run(const QStringList &args) const { return m_program->run(args); }

    void fill(const QString &folder) const
    {
        const auto write = [&](const QString &name, const QByteArray &text) {
            QFile file(folder + QLatin1Char('/') + name);
            QVERIFY(file.open(QIODevice::WriteOnly));
            file.write(text);
        };
        write(QStringLiteral("main.c"), "int main(void)\n{\n    /* TODO: everything */\n    return 0;\n}\n");
        write(QStringLiteral("it's \"odd\" name.py"), "# FIXME later\nprint('x')\n");
        write(QStringLiteral("run.sh"), "#!/bin/sh\necho ok\n");
        write(QStringLiteral("Makefile"), "all:\n\ttrue\n");
    }

    void checkOwners(const Outcome &o) const
    {
        QSet<QString> owners;
        int held = 0, mostHeld = 0;
        for (const Json &e : o.events) {
            const QString type = stringOf(e, "type");
            if (type == u"lease.acquired") {
                owners.insert(stringOf(e, "owner"));
                mostHeld = std::max(mostHeld, ++held);
            } else if (type == u"lease.released") {
                --held;
            }
        }
        QCOMPARE(owners.size(), 4);
        QCOMPARE(mostHeld, 4); // all four overlap
        QCOMPARE(std::count_if(owners.begin(), owners.end(), [](const QString &s) { return s.startsWith(u"run:"); }), 1);
        QCOMPARE(std::count_if(owners.begin(), owners.end(), [](const QString &s) { return s.startsWith(u"subagent:"); }), 3);
    }

    void checkHooksAndReport(const Outcome &o) const
    {
        QSet<QString> hooks;
        for (const Json &e : o.ofType("middleware.span"))
            hooks.insert(stringOf(e, "hook"));
        QCOMPARE(hooks, (QSet<QString>{QStringLiteral("before_agent"), QStringLiteral("before_model"), QStringLiteral("wrap_model_call"),
                                       QStringLiteral("wrap_tool_call"), QStringLiteral("after_model"), QStringLiteral("after_agent")}));

        bool reportByLead = false;
        for (const Json &e : o.ofType("file.changed")) {
            if (stringOf(e, "path") == u"/mnt/user-data/outputs/report.md" && stringOf(e, "owner") == u"lead")
                reportByLead = true;
        }
        QVERIFY(reportByLead);

        QDirIterator it(m_program->dataDir(), {QStringLiteral("report.md")}, QDir::Files, QDirIterator::Subdirectories);
        QVERIFY(it.hasNext());
        QFile report(it.next());
        QVERIFY(report.open(QIODevice::ReadOnly));
        const QByteArray text = report.readAll();
        QVERIFY2(text.contains("| 1 |") || text.contains("TODO"), text.constData());
    }

private Q_SLOTS:
    void initTestCase()
    {
        if (const QString problem = PaddockProgram::isolationProblem(); !problem.isEmpty())
            QSKIP(qPrintable(problem));
    }

    void init()
    {
        m_program = std::make_unique<PaddockProgram>();
        m_work = m_program->folder(QStringLiteral("work"));
        fill(m_work);
    }

    void surveyHoldsLeasesAndWritesAReport()
    {
        const Outcome o = run(arguments(QStringLiteral("survey"), m_work));
        QVERIFY2(o.exitCode == 0, o.err.right(3000).constData());

        checkOwners(o);
        if (QTest::currentTestFailed())
            return;

        int last = 0;
        qint64 lastSeq = 0;
        for (const Json &e : o.ofType("lease.released")) {
            if (boolOf(e, "last")) {
                ++last;
                lastSeq = intOf(e, "seq");
            }
        }
        QCOMPARE(last, 1);
        const auto released = o.ofType("sandbox.released");
        QCOMPARE(int(released.size()), 1);
        QVERIFY(intOf(released[0], "seq") > lastSeq);

        QSet<QString> sessions;
        const QRegularExpression uuid(QStringLiteral("^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$"));
        for (const Json &e : o.ofType("shell.session_created")) {
            QVERIFY(uuid.match(stringOf(e, "session")).hasMatch());
            sessions.insert(stringOf(e, "session"));
        }
        QCOMPARE(sessions.size(), 4);
        QCOMPARE(int(o.ofType("shell.session_closed").size()), 4);

        checkHooksAndReport(o);
    }

    void recoveryRetriesAndStillCompletes()
    {
        const Outcome o = run(arguments(QStringLiteral("recovery"), m_work));
        QVERIFY2(o.exitCode == 0, o.err.right(3000).constData());
        QSet<QString> reasons;
        for (const Json &e : o.ofType("shell.session_created"))
            reasons.insert(stringOf(e, "reason"));
        QVERIFY(reasons.contains(QStringLiteral("not_found")));
        QVERIFY(reasons.contains(QStringLiteral("error_observation")));
        QStringList whyCancelled;
        for (const Json &e : o.ofType("tool.finished")) {
            if (stringOf(e, "status") == u"cancelled")
                whyCancelled << stringOf(e, "preview");
        }
        QCOMPARE(whyCancelled, QStringList(QStringLiteral("The scenario cancelled this agent.")));
        bool cancelledAgent = false;
        for (const Json &e : o.ofType("agent.finished"))
            cancelledAgent = cancelledAgent || stringOf(e, "status") == u"cancelled";
        QVERIFY(cancelledAgent);
        QCOMPARE(m_program->leftovers().join(QLatin1Char('\n')), QString());
    }

    void interruptReleasesEverything()
    {
        const auto process = m_program->start(arguments(QStringLiteral("survey"), m_work));
        QByteArray seen;
        QVERIFY2(PaddockProgram::waitFor(*process, "\"shell.command_started\"", seen), process->readAllStandardError().constData());
        ::kill(pid_t(process->processId()), SIGINT);
        const Outcome o = PaddockProgram::outcomeOf(*process, seen);
        QCOMPARE(o.exitCode, 130);
        QCOMPARE(int(o.ofType("sandbox.released").size()), 1);
        QCOMPARE(m_program->leftovers().join(QLatin1Char('\n')), QString());
    }

    void killedRunIsInterruptedAndLeavesNothing()
    {
        const auto process = m_program->start(arguments(QStringLiteral("survey"), m_work));
        QByteArray seen;
        QVERIFY(PaddockProgram::waitFor(*process, "\"shell.command_started\"", seen));
        process->kill();
        const Outcome o = PaddockProgram::outcomeOf(*process, seen);
        for (const QString &left : m_program->leftovers())
            QVERIFY2(left.startsWith(u"file "), qPrintable(left)); // the runtime folder is swept by the next process
        const Outcome list = run({QStringLiteral("show"), QStringLiteral("--data-dir"), m_program->dataDir()});
        QCOMPARE(list.exitCode, 0);
        QVERIFY2(list.out.contains("interrupted"), list.out.constData());
        // Nothing between: what is stored is a beginning of what was printed, and the end that recovery wrote.
        const Outcome stored = run({QStringLiteral("export"), QStringLiteral("last"), QStringLiteral("--data-dir"), m_program->dataDir()});
        QVERIFY(!stored.events.empty());
        for (size_t i = 0; i < std::min(stored.events.size(), o.events.size()) && stringOf(stored.events[i], "type") != u"run.finished"; ++i)
            QCOMPARE(dumpJson(stored.events[i]), dumpJson(o.events[i]));
    }
};

} // namespace tst_headless_run

PADDOCK_TEST(tst_headless_run, HeadlessRunTest)
#include "tst_headless_run.moc"
