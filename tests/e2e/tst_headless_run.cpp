// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// Whole runs through the real program, the real sandbox server and real shells. Where the machine cannot isolate, the
// tests are skipped with a word, never passed.

#include "core/base/error.h"

#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QProcess>
#include <QRegularExpression>
#include <QSet>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <csignal>

using namespace paddock;

namespace {

constexpr int runLimitMs = 90000;

QString program()
{
    return QStringLiteral(PADDOCK_BIN_DIR "/paddock");
}

struct Outcome {
    int exitCode = -1;
    QByteArray out;
    QByteArray err;
    std::vector<Json> events;

    std::vector<Json> ofType(const char *type) const
    {
        std::vector<Json> found;
        for (const Json &e : events) {
            if (stringOf(e, "type") == QLatin1String(type))
                found.push_back(e);
        }
        return found;
    }
};

/// Processes whose command line holds `text`, except this test's own.
int processesWith(const QByteArray &text)
{
    int count = 0;
    QDirIterator it(QStringLiteral("/proc"), QDir::Dirs | QDir::NoDotAndDotDot);
    while (it.hasNext()) {
        it.next();
        bool isPid = false;
        const qint64 pid = it.fileName().toLongLong(&isPid);
        if (!isPid || pid == QCoreApplication::applicationPid())
            continue;
        QFile file(it.filePath() + QStringLiteral("/cmdline"));
        if (file.open(QIODevice::ReadOnly) && file.readAll().contains(text))
            ++count;
    }
    return count;
}

} // namespace

class HeadlessRunTest : public QObject
{
    Q_OBJECT

private:
    std::unique_ptr<QTemporaryDir> m_data;
    std::unique_ptr<QTemporaryDir> m_work;

    QStringList arguments(const QString &scenario, const QString &workspace) const
    {
        return {QStringLiteral("run"), QStringLiteral("--scenario"), scenario, QStringLiteral("--workspace"), workspace,
                QStringLiteral("--data-dir"), m_data->path(), QStringLiteral("--jsonl")};
    }

    Outcome run(const QStringList &args) const
    {
        QProcess process;
        process.start(program(), args);
        Outcome o;
        if (!process.waitForFinished(runLimitMs)) {
            process.kill();
            process.waitForFinished();
        }
        o.out = process.readAllStandardOutput();
        o.err = process.readAllStandardError();
        o.exitCode = process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1;
        const QList<QByteArray> lines = o.out.split('\n');
        for (const QByteArray &line : lines) {
            if (line.startsWith('{')) {
                if (auto json = parseJson(line, 256))
                    o.events.push_back(std::move(*json));
            }
        }
        return o;
    }

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

private Q_SLOTS:
    void initTestCase()
    {
        QProcess probe;
        probe.start(QStringLiteral("bwrap"), QStringLiteral("--unshare-user --unshare-pid --unshare-net --ro-bind / / --proc /proc --dev /dev true").split(QLatin1Char(' ')));
        if (!probe.waitForFinished(10000) || probe.exitCode() != 0)
            QSKIP("this machine cannot start an isolated process: nested sandbox tests are skipped");
    }

    void init()
    {
        m_data = std::make_unique<QTemporaryDir>();
        m_work = std::make_unique<QTemporaryDir>();
        fill(m_work->path());
    }

    void surveyHoldsLeasesAndWritesAReport()
    {
        const Outcome o = run(arguments(QStringLiteral("survey"), m_work->path()));
        QVERIFY2(o.exitCode == 0, o.err.right(3000).constData());

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

        QSet<QString> hooks;
        for (const Json &e : o.ofType("middleware.span"))
            hooks.insert(stringOf(e, "hook"));
        QCOMPARE(hooks, (QSet<QString>{QStringLiteral("before_agent"), QStringLiteral("wrap_model_call"), QStringLiteral("wrap_tool_call"),
                                       QStringLiteral("after_model"), QStringLiteral("after_agent")}));

        bool reportByLead = false;
        for (const Json &e : o.ofType("file.changed")) {
            if (stringOf(e, "path") == u"/mnt/user-data/outputs/report.md" && stringOf(e, "owner") == u"lead")
                reportByLead = true;
        }
        QVERIFY(reportByLead);

        QDirIterator it(m_data->path(), {QStringLiteral("report.md")}, QDir::Files, QDirIterator::Subdirectories);
        QVERIFY(it.hasNext());
        QFile report(it.next());
        QVERIFY(report.open(QIODevice::ReadOnly));
        const QByteArray text = report.readAll();
        QVERIFY2(text.contains("| 1 |") || text.contains("TODO"), text.constData());
    }

    void recoveryRetriesAndStillCompletes()
    {
        const Outcome o = run(arguments(QStringLiteral("recovery"), m_work->path()));
        QVERIFY2(o.exitCode == 0, o.err.right(3000).constData());
        QSet<QString> reasons;
        for (const Json &e : o.ofType("shell.session_created"))
            reasons.insert(stringOf(e, "reason"));
        QVERIFY(reasons.contains(QStringLiteral("not_found")));
        QVERIFY(reasons.contains(QStringLiteral("error_observation")));
        bool cancelledAgent = false;
        for (const Json &e : o.ofType("agent.finished"))
            cancelledAgent = cancelledAgent || stringOf(e, "status") == u"cancelled";
        QVERIFY(cancelledAgent);
        QCOMPARE(processesWith("sleep 617"), 0);
    }

    void interruptReleasesEverything()
    {
        QProcess process;
        process.start(program(), arguments(QStringLiteral("survey"), m_work->path()));
        QByteArray seen;
        while (!seen.contains("\"shell.command_started\"") && process.state() != QProcess::NotRunning && process.waitForReadyRead(30000))
            seen += process.readAllStandardOutput();
        QVERIFY2(seen.contains("\"shell.command_started\""), process.readAllStandardError().constData());
        ::kill(pid_t(process.processId()), SIGINT);
        QVERIFY(process.waitForFinished(30000));
        seen += process.readAllStandardOutput();
        QCOMPARE(process.exitCode(), 130);
        QVERIFY(seen.contains("\"sandbox.released\""));
        QCOMPARE(processesWith(m_data->path().toUtf8()), 0);
    }

    void killedRunIsInterruptedAndLeavesNothing()
    {
        QProcess process;
        process.start(program(), arguments(QStringLiteral("survey"), m_work->path()));
        QByteArray seen;
        while (!seen.contains("\"shell.command_started\"") && process.state() != QProcess::NotRunning && process.waitForReadyRead(30000))
            seen += process.readAllStandardOutput();
        QVERIFY(seen.contains("\"shell.command_started\""));
        process.kill();
        QVERIFY(process.waitForFinished(10000));
        QTRY_COMPARE_WITH_TIMEOUT(processesWith(m_data->path().toUtf8()), 0, 10000);
        const Outcome list = run({QStringLiteral("show"), QStringLiteral("--data-dir"), m_data->path()});
        QCOMPARE(list.exitCode, 0);
        QVERIFY2(list.out.contains("interrupted"), list.out.constData());
    }

    void badInputGetsASentence_data()
    {
        QTest::addColumn<QStringList>("args");
        QTest::addColumn<int>("code");
        QTest::addColumn<QByteArray>("says");
        const QString data = QStringLiteral("DATA");
        QTest::newRow("no task") << QStringList{QStringLiteral("run")} << 2 << QByteArray("give a task");
        QTest::newRow("unknown scenario") << QStringList{QStringLiteral("run"), QStringLiteral("--scenario"), QStringLiteral("nope"), QStringLiteral("--data-dir"), data} << 2 << QByteArray("no built-in scenario");
        QTest::newRow("missing folder") << QStringList{QStringLiteral("run"), QStringLiteral("--scenario"), QStringLiteral("survey"), QStringLiteral("--workspace"), QStringLiteral("/no/such"), QStringLiteral("--data-dir"), data} << 2 << QByteArray("does not exist");
        QTest::newRow("unknown command") << QStringList{QStringLiteral("frobnicate")} << 2 << QByteArray("no command");
        QTest::newRow("unknown option") << QStringList{QStringLiteral("run"), QStringLiteral("--frob")} << 2 << QByteArray("--help");
        QTest::newRow("unknown sandbox") << QStringList{QStringLiteral("run"), QStringLiteral("--scenario"), QStringLiteral("survey"), QStringLiteral("--sandbox"), QStringLiteral("moon"), QStringLiteral("--data-dir"), data} << 2 << QByteArray("no sandbox 'moon'");
        QTest::newRow("no such run") << QStringList{QStringLiteral("show"), QStringLiteral("zzz"), QStringLiteral("--data-dir"), data} << -2 << QByteArray("paddock:");
    }
    void badInputGetsASentence()
    {
        QFETCH(QStringList, args);
        QFETCH(int, code);
        QFETCH(QByteArray, says);
        for (QString &arg : args) {
            if (arg == u"DATA")
                arg = m_data->path();
        }
        const Outcome o = run(args);
        if (code >= 0)
            QCOMPARE(o.exitCode, code);
        else
            QVERIFY(o.exitCode > 0);
        QVERIFY2(o.err.contains(says), o.err.constData());
    }
};

QTEST_GUILESS_MAIN(HeadlessRunTest)
#include "tst_headless_run.moc"
