// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// Faults of the place where Paddock keeps its journal and threads: full, read-only, newer, damaged, used twice. What was
// stored stays as it is, and what cannot be stored is said.

#include "tests/support/paddock_program.h"
#include "tests/support/test_main.h"

#include <QDir>
#include <QFile>
#include <QSet>
#include <QTest>
#include <QtEndian>

#include <unistd.h>

namespace tst_bad_data_folder {

using namespace paddock;
using namespace paddock::test;

namespace {

QString text(const char *utf8)
{
    return QString::fromUtf8(utf8);
}

Json smallScenario()
{
    return commandScenario({bashCall(QStringLiteral("a"), QStringLiteral("echo small"))});
}

} // namespace

class BadDataFolderTest : public QObject
{
    Q_OBJECT

private:
    std::unique_ptr<PaddockProgram> m_program;

    Outcome runSmall(const QStringList &wrapper = {}) const
    {
        return m_program->run(m_program->runArguments(m_program->scenario(smallScenario())), wrapper);
    }
    Outcome look(const QStringList &command) const
    {
        return m_program->run(command + QStringList{text("--data-dir"), m_program->dataDir()});
    }
    QString journal() const { return m_program->dataDir() + text("/journal.db"); }
    QByteArray journalBytes() const
    {
        QFile file(journal());
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }
    void overwrite(qint64 at, const QByteArray &bytes) const
    {
        QFile file(journal());
        QVERIFY(file.open(QIODevice::ReadWrite));
        QVERIFY(file.seek(at));
        QCOMPARE(file.write(bytes), bytes.size());
    }
    /// Every way in says the same sentence and leaves the file alone.
    void verifyRefused(int code, const QStringList &says) const
    {
        const QByteArray before = journalBytes();
        const QString scenario = m_program->scenario(smallScenario());
        for (const QStringList &command : {QStringList{text("run"), text("--scenario"), scenario}, QStringList{text("show")},
                                           QStringList{text("show"), text("last")}, QStringList{text("export"), text("last")}}) {
            const Outcome o = look(command);
            QVERIFY(!o.hung);
            QVERIFY2(o.exitCode == code, qPrintable(command.join(QLatin1Char(' ')) + text(": ") + QString::fromUtf8(o.err)));
            QVERIFY2(o.complaints().size() == 1, o.err.constData());
            for (const QString &part : says)
                QVERIFY2(o.err.contains(part.toUtf8()), o.err.constData());
            QVERIFY2(o.out.isEmpty(), o.out.constData());
        }
        const Outcome doctor = look({text("doctor")});
        QCOMPARE(doctor.exitCode, 1);
        QVERIFY2(doctor.out.contains("BAD   journal: "), doctor.out.constData());
        QCOMPARE(journalBytes(), before);
    }

private Q_SLOTS:
    void initTestCase()
    {
        if (const QString problem = PaddockProgram::isolationProblem(); !problem.isEmpty())
            QSKIP(qPrintable(problem));
    }
    void init() { m_program = std::make_unique<PaddockProgram>(); }
    void cleanup()
    {
        if (m_program)
            QCOMPARE(m_program->leftovers().join(QLatin1Char('\n')), QString());
        m_program.reset();
    }

    void newerJournalIsLeftAlone()
    {
        QCOMPARE(runSmall().exitCode, 0);
        QByteArray version(4, '\0');
        qToBigEndian<quint32>(99, version.data());
        overwrite(60, version);
        verifyRefused(2, {text("newer Paddock"), text("format 99"), text("left as it is")});
    }

    void strangeJournalIsLeftAlone()
    {
        m_program->folder(text("data"));
        m_program->file(text("data/journal.db"), QByteArray("my diary, do not touch\n").repeated(400));
        verifyRefused(1, {text("journal.db is damaged or not a journal"), text("left as it is")});
    }

    void damagedJournalIsLeftAlone()
    {
        QCOMPARE(runSmall().exitCode, 0);
        const qint64 size = QFileInfo(journal()).size();
        QVERIFY(size > 4096);
        overwrite(4096, QByteArray(int(size) - 4096, '\xa5'));
        verifyRefused(1, {text("journal.db is damaged"), text("left as it is")});
    }

    /// A hole in the middle of one run: what can be read is shown, and that something is missing is said.
    void holeInARunIsTold()
    {
        Json scenario = commandScenario({});
        Json turns = Json::array();
        for (int i = 0; i < 30; ++i)
            turns.push_back(Json{{"calls", Json::array({bashCall(QStringLiteral("c%1").arg(i), QStringLiteral("echo %1; head -c 9000 /dev/urandom | base64").arg(i))})}});
        turns.push_back(Json{{"say", "finished"}});
        scenario["agents"][0]["turns"] = turns;
        const Outcome live = m_program->run(m_program->runArguments(m_program->scenario(scenario)));
        QCOMPARE(live.exitCode, 0);
        const qint64 pages = QFileInfo(journal()).size() / 4096;
        QVERIFY(pages > 40);
        for (qint64 page = pages / 2; page < pages / 2 + pages / 4; ++page)
            overwrite(page * 4096, QByteArray(4096, '\x5a'));
        const QByteArray before = journalBytes();
        const Outcome shown = look({text("show"), text("last")});
        QVERIFY(!shown.hung);
        QCOMPARE(shown.exitCode, 1);
        QVERIFY2(shown.err.contains("cannot be read") && shown.err.count('\n') == 1, shown.err.right(2000).constData());
        QVERIFY2(shown.out.contains(" started: "), shown.out.left(2000).constData());
        const QString file = m_program->folder(text("out")) + text("/run.jsonl");
        const Outcome exported = look({text("export"), text("last")});
        const Outcome written = look({text("export"), text("last"), text("--output"), file});
        for (const Outcome *o : {&exported, &written}) {
            QCOMPARE(o->exitCode, 1);
            QVERIFY2(o->err.count('\n') == 1, o->err.right(2000).constData());
        }
        QVERIFY(exported.events.size() > 20 && exported.events.size() < live.events.size());
        const QByteArray missing = QByteArray::number(qint64(live.events.size() - exported.events.size())) + " of the " + QByteArray::number(qint64(live.events.size()));
        QVERIFY2(exported.err.contains("paddock: " + missing + " events of this run cannot be read"), exported.err.constData());
        // Each of them is as it was, and there are some from before the hole and from behind it.
        QSet<QByteArray> lines;
        for (const Json &event : live.events)
            lines.insert(dumpJson(event));
        for (const Json &event : exported.events)
            QVERIFY(lines.contains(dumpJson(event)));
        QCOMPARE(dumpJson(exported.events.front()), dumpJson(live.events.front()));
        QCOMPARE(dumpJson(exported.events.back()), dumpJson(live.events.back()));
        QFile there(file);
        QVERIFY(there.open(QIODevice::ReadOnly));
        QCOMPARE(there.readAll(), exported.out);
        QCOMPARE(journalBytes(), before);
    }

    void readOnlyFolder()
    {
        QCOMPARE(runSmall().exitCode, 0);
        const QStringList mounted = PaddockProgram::withMounts(
            QStringLiteral("mount --bind '%1' '%1' && mount -o remount,bind,ro '%1' || exit 99").arg(m_program->dataDir()));
        if (mounted.isEmpty())
            QSKIP("this machine does not let the test mount a read-only file system");
        const Outcome o = runSmall(mounted);
        QCOMPARE(o.exitCode, 2);
        QVERIFY2(o.complaints().size() == 1 && o.err.contains(m_program->dataDir().toUtf8()) && o.err.contains("data folder"), o.err.constData());
        QVERIFY(o.events.empty());
        // Looking at what is there needs no writing.
        const Outcome list = m_program->run({text("show"), text("--data-dir"), m_program->dataDir()}, mounted);
        QCOMPARE(list.exitCode, 0);
        QVERIFY2(list.out.contains("completed"), list.out.constData());
        const Outcome exported = m_program->run({text("export"), text("last"), text("--data-dir"), m_program->dataDir()}, mounted);
        QCOMPARE(exported.exitCode, 0);
        QCOMPARE(exported.resultOf(text("a")), text("small"));
    }

    void folderOfSomebodyElse()
    {
        const QStringList user = m_program->asOrdinaryUser();
        if (user.isEmpty())
            QSKIP("this test is no root that could become an ordinary user");
        QCOMPARE(::chown(QFile::encodeName(m_program->dataDir()).constData(), 0, 0), 0);
        QFile::setPermissions(m_program->dataDir(), QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
        const Outcome o = runSmall(user);
        QCOMPARE(o.exitCode, 2);
        QVERIFY2(o.complaints().size() == 1 && o.err.contains(m_program->dataDir().toUtf8()), o.err.constData());
    }

    void fullBeforeTheRun()
    {
        const QStringList mounted = PaddockProgram::withMounts(
            QStringLiteral("mkdir -p '%1'; mount -t tmpfs -o size=128k t '%1' || exit 99; head -c 131072 /dev/zero > '%1/fill' 2>/dev/null").arg(m_program->dataDir()));
        if (mounted.isEmpty())
            QSKIP("this machine does not let the test mount a small file system");
        const Outcome o = runSmall(mounted);
        QVERIFY(!o.hung);
        QVERIFY2(o.exitCode == 1 || o.exitCode == 2, o.err.constData());
        QVERIFY2(o.complaints().size() == 1, o.err.constData());
        QVERIFY(o.ofType("tool.started").empty()); // no agent works without a trace
    }

    void doctorSeesAFullDisk()
    {
        const QStringList mounted = PaddockProgram::withMounts(QStringLiteral("mkdir -p '%1'; mount -t tmpfs -o size=1m t '%1' || exit 99").arg(m_program->dataDir()));
        if (mounted.isEmpty())
            QSKIP("this machine does not let the test mount a small file system");
        const Outcome o = m_program->run({text("doctor"), text("--data-dir"), m_program->dataDir()}, mounted);
        QCOMPARE(o.exitCode, 1);
        QVERIFY2(o.out.contains("BAD   data folder: ") && o.out.contains("A run cannot be started with less than 4 MB"), o.out.constData());
    }

    void journalCannotBeBegun()
    {
        // Room for the folders and an empty journal, not for a run.
        const QStringList mounted = PaddockProgram::withMounts(
            QStringLiteral("mkdir -p '%1'; mount -t tmpfs -o size=64k t '%1' || exit 99").arg(m_program->dataDir()));
        if (mounted.isEmpty())
            QSKIP("this machine does not let the test mount a small file system");
        const Outcome o = runSmall(mounted);
        QVERIFY2(o.exitCode == 1, o.err.constData());
        QVERIFY2(o.complaints().size() == 1 && o.err.contains("no room left") && o.err.contains("Free some space"), o.err.constData());
        QVERIFY(o.ofType("tool.started").empty());
    }

    void fullInTheMiddle()
    {
        const QStringList mounted = PaddockProgram::withMounts(QStringLiteral("mkdir -p '%1'; mount -t tmpfs -o size=400k t '%1' || exit 99").arg(m_program->dataDir()));
        if (mounted.isEmpty())
            QSKIP("this machine does not let the test mount a small file system");
        Json scenario = commandScenario({});
        Json turns = Json::array();
        for (int i = 0; i < 40; ++i)
            turns.push_back(Json{{"calls", Json::array({bashCall(QStringLiteral("c%1").arg(i), QStringLiteral("echo %1; head -c 9000 /dev/urandom | base64").arg(i))})}});
        turns.push_back(Json{{"say", "finished"}});
        scenario["agents"][0]["turns"] = turns;
        const QString file = m_program->scenario(scenario);
        QStringList keepOnlyFirstRun = mounted;
        const QString inside = keepOnlyFirstRun.takeAt(keepOnlyFirstRun.size() - 2);
        const QString both = QString(inside).replace(QLatin1String("exec \"$@\""),
            QStringLiteral("\"$@\"; code=$?; \"$1\" show --data-dir '%1' >&2; exit $code").arg(m_program->dataDir()));
        keepOnlyFirstRun.insert(keepOnlyFirstRun.size() - 1, both);
        const Outcome o = m_program->run(m_program->runArguments(file), keepOnlyFirstRun);
        QVERIFY(!o.hung);
        QVERIFY2(o.exitCode == 1, o.err.right(3000).constData());
        // The agents went on, and the events that were printed are all of them.
        QCOMPARE(stringOf(o.last("run.finished"), "status"), text("completed"));
        QCOMPARE(int(o.ofType("sandbox.released").size()), 1);
        QVERIFY2(o.complaints().size() == 1 && o.err.contains("paddock: this run is not saved whole: There is no room left"), o.err.right(3000).constData());
        // What was acknowledged is there, and how it ended, too.
        QVERIFY2(!o.err.contains("interrupted") && o.err.contains("  completed "), o.err.right(3000).constData());
    }

    void twoProcessesShareOneFolder()
    {
        const QString scenario = m_program->scenario(
            commandScenario({bashCall(text("a"), text("for i in 1 2 3 4 5 6; do echo $i; sleep 0.1; done")), bashCall(text("b"), text("echo second"))}));
        std::vector<std::unique_ptr<QProcess>> processes;
        for (int i = 0; i < 4; ++i)
            processes.push_back(m_program->start(m_program->runArguments(scenario)));
        QSet<QString> runs;
        size_t printed = 0;
        for (const auto &process : processes) {
            const Outcome o = PaddockProgram::outcomeOf(*process);
            QVERIFY2(o.exitCode == 0, o.err.constData());
            QCOMPARE(o.resultOf(text("b")), text("second"));
            const QString run = stringOf(o.last("run.finished"), "run");
            runs.insert(run);
            printed = o.events.size();
            const Outcome exported = look({text("export"), run});
            QCOMPARE(exported.exitCode, 0);
            QCOMPARE(exported.events.size(), printed);
            QCOMPARE(dumpJson(exported.events.back()), dumpJson(o.events.back()));
        }
        QCOMPARE(runs.size(), qsizetype(processes.size()));
        const Outcome list = look({text("show")});
        QCOMPARE(list.out.count("completed"), qsizetype(processes.size()));
    }
};

} // namespace tst_bad_data_folder

PADDOCK_TEST(tst_bad_data_folder, BadDataFolderTest)
#include "tst_bad_data_folder.moc"
