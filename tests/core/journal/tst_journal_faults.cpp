// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// What the journal does when the disk, the file or the process fails. Each failure ends in a sentence or in nothing lost.
#include "core/journal/journal_tables.h"
#include "core/journal/schema.h"
#include "tests/core/base/loop_guard.h"
#include "tests/core/journal/journal_fixture.h"
#include "tests/support/test_main.h"

#include <QCoreApplication>
#include <QFile>
#include <QProcess>
#include <QSemaphore>

#include <csignal>
#include <cstdio>
#include <sys/resource.h>
#include <thread>

namespace tst_journal_faults {

using namespace paddock;
using namespace paddock::test;

namespace {

constexpr int sqliteIoError = 10;
constexpr int sqliteFull = 13;

QByteArray contentOf(const QString &path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

void put(const QString &path, const QByteArray &bytes)
{
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(bytes);
}

/// The child of the kill -9 test: appends for ever and prints each number that was acknowledged.
int writeUntilKilled(const QString &folder)
{
    Setup s(folder);
    if (!s.journal)
        return 1;
    s.append(QStringLiteral("r"), started(QStringLiteral("to be killed")));
    for (int i = 0;; ++i) {
        for (int n = 0; n < 50; ++n)
            s.append(QStringLiteral("r"), someEvent(i));
        const Seq upTo = s.bus->lastSeq();
        if (!s.journal->flushBlocking(upTo, patience))
            return 1;
        std::printf("%llu\n", static_cast<unsigned long long>(upTo));
        std::fflush(stdout);
    }
}

} // namespace

class TestJournalFaults : public QObject
{
    Q_OBJECT

    static QString fileIn(const QTemporaryDir &dir) { return Journal::fileIn(dir.path()); }

private Q_SLOTS:
    void killedInTheMiddle() // every acknowledged event is there, the run is interrupted
    {
        for (int round = 0; round < 3; ++round) {
            const QTemporaryDir dir;
            QProcess child;
            child.start(QCoreApplication::applicationFilePath(), {QStringLiteral("tst_journal_faults"), QStringLiteral("--write"), dir.path()});
            QByteArray output;
            while (output.count('\n') < 20 + round * 7) {
                QVERIFY(child.waitForReadyRead(30000));
                output += child.readAllStandardOutput();
            }
            ::kill(pid_t(child.processId()), SIGKILL);
            QVERIFY(child.waitForFinished(30000));
            output += child.readAllStandardOutput();
            output.truncate(output.lastIndexOf('\n'));
            const Seq acknowledged = output.split('\n').last().toULongLong();
            {
                auto reader = JournalReader::open(dir.path());
                QVERIFY2(reader, reader ? "" : qPrintable(reader.error().message));
                QCOMPARE(reader->run(RunId(QStringLiteral("r")))->status, QStringLiteral("interrupted"));
            }
            Setup s(dir.path());
            QVERIFY(s.journal);
            auto reader = JournalReader::open(dir.path());
            const auto events = allEvents(*reader, QStringLiteral("r"), 2000);
            QVERIFY(events.size() > acknowledged); // and the run.finished at the end
            for (std::size_t i = 0; i < events.size(); ++i)
                QCOMPARE(events[i].event->seq, Seq(i + 1)); // no gap
            QCOMPARE(std::get<RunFinished>(events.back().event->body).status, QStringLiteral("interrupted"));
            QCOMPARE(reader->run(RunId(QStringLiteral("r")))->events, qint64(events.size()));
        }
    }

    void newerJournalIsRefusedAndUntouched()
    {
        const QTemporaryDir dir;
        {
            Setup s(dir.path());
            s.append(QStringLiteral("r"), someEvent(1));
        }
        {
            auto database = Database::open(fileIn(dir), Database::Mode::ReadWrite);
            QVERIFY(database->exec("PRAGMA user_version=99"));
            QVERIFY(database->exec("PRAGMA wal_checkpoint(TRUNCATE)"));
        }
        const QByteArray before = contentOf(fileIn(dir));
        const Setup s(dir.path());
        QVERIFY(!s.journal);
        QCOMPARE(s.error->code, ErrorCode::FailedPrecondition);
        QVERIFY(s.error->message.contains(u"newer Paddock"));
        QVERIFY(s.error->message.contains(u"99"));
        const auto reader = JournalReader::open(dir.path());
        QVERIFY(!reader);
        QCOMPARE(reader.error().code, ErrorCode::FailedPrecondition);
        QVERIFY(contentOf(fileIn(dir)) == before);
    }

    void notAJournal_data()
    {
        QTest::addColumn<QByteArray>("content");
        QTest::newRow("text") << QByteArray("hello, this is a letter to my aunt\n").repeated(40);
        QTest::newRow("header only") << QByteArray("SQLite format 3\0", 16) + QByteArray(84, '\xff');
        QTest::newRow("noise") << QByteArray("\x01\x02\x03\xff").repeated(2000);
    }
    void notAJournal()
    {
        QFETCH(QByteArray, content);
        const QTemporaryDir dir;
        put(fileIn(dir), content);
        const Setup s(dir.path());
        QVERIFY(!s.journal);
        QCOMPARE(s.error->code, ErrorCode::DataLoss);
        QVERIFY2(s.error->message.contains(u"left as it is"), qPrintable(s.error->message));
        QVERIFY(!JournalReader::open(dir.path()));
        QVERIFY(contentOf(fileIn(dir)) == content);
    }

    void anotherProgramsDatabase()
    {
        const QTemporaryDir dir;
        {
            auto database = Database::open(fileIn(dir), Database::Mode::ReadWrite);
            QVERIFY(database->exec("CREATE TABLE photos (id INTEGER)"));
        }
        const QByteArray before = contentOf(fileIn(dir));
        const Setup s(dir.path());
        QVERIFY(!s.journal);
        QVERIFY(s.error->message.contains(u"not a Paddock journal"));
        QVERIFY(contentOf(fileIn(dir)) == before);
    }

    void damagedRowsAreShownNotHidden()
    {
        const QTemporaryDir dir;
        {
            Setup s(dir.path());
            for (int i = 0; i < 3; ++i)
                s.append(QStringLiteral("r"), someEvent(i));
        }
        {
            auto database = Database::open(fileIn(dir), Database::Mode::ReadWrite);
            QVERIFY(database->exec("UPDATE events SET fields = x'00ff' WHERE id & 255 = 1; UPDATE events SET fields = '{\"position\":' WHERE id & 255 = 2"));
        }
        auto reader = JournalReader::open(dir.path());
        const auto events = allEvents(*reader, QStringLiteral("r"));
        QCOMPARE(events.size(), std::size_t(4)); // with the end of a run whose process is gone, here and below
        QCOMPARE(eventType(events[0].event->body), QStringLiteral("journal.damaged"));
        QCOMPARE(eventType(events[1].event->body), QStringLiteral("journal.damaged"));
        QCOMPARE(eventType(events[2].event->body), QStringLiteral("agent.queued"));
    }

    void damagedPagesAreAnErrorNotACrash()
    {
        const QTemporaryDir dir;
        {
            Setup s(dir.path());
            for (int i = 0; i < 5000; ++i)
                s.append(QStringLiteral("r"), someEvent(i));
        }
        const QByteArray good = contentOf(fileIn(dir));
        QVERIFY(JournalReader::open(dir.path())->check());
        static constexpr qsizetype page = 4096;
        for (qsizetype at = page; at + page <= good.size(); at += 7 * page) {
            QByteArray bad = good;
            bad.replace(at, page, QByteArray(page, '\x5a'));
            put(fileIn(dir), bad);
            auto reader = JournalReader::open(dir.path());
            if (!reader) {
                QVERIFY(!reader.error().message.isEmpty());
                continue;
            }
            const auto sound = reader->check();
            QVERIFY(!sound);
            QVERIFY2(!sound.error().message.isEmpty(), "a sentence");
            const auto runs = reader->runs();
            const auto got = reader->events(RunId(QStringLiteral("r")), 0, 100000);
            if (!got)
                QVERIFY2(!got.error().message.isEmpty(), "a sentence");
            else
                QVERIFY(got->events.size() <= 5000);
            Q_UNUSED(runs)
        }
    }

    void noJournalYet()
    {
        const QTemporaryDir dir;
        const auto reader = JournalReader::open(dir.path());
        QVERIFY(!reader);
        QCOMPARE(reader.error().code, ErrorCode::NotFound);
        QVERIFY(!QFile::exists(fileIn(dir)));
    }

    void folderThatCannotBe_data()
    {
        QTest::addColumn<QString>("folder");
        QTest::newRow("below a file") << QStringLiteral("/proc/version/x");
        QTest::newRow("not writable, even for root") << QStringLiteral("/proc/paddock");
    }
    void folderThatCannotBe()
    {
        QFETCH(QString, folder);
        const Setup s(folder);
        QVERIFY(!s.journal);
        QVERIFY2(s.error->message.contains(folder), qPrintable(s.error->message));
        QVERIFY(s.error->message.contains(u"choose another data folder"));
    }

    void strangeFolderNames()
    {
        const QTemporaryDir dir;
        const QString folder = dir.filePath(QStringLiteral("a b'c\"d%41?e#f\ng\u00e9"));
        {
            Setup s(folder);
            QVERIFY2(s.journal, s.error ? qPrintable(s.error->message) : "");
            s.append(QStringLiteral("r"), someEvent(1));
        }
        QVERIFY(QFile::exists(Journal::fileIn(folder)));
        QVERIFY(JournalReader::open(folder));
    }

    void aFailedCommitIsTriedAgain()
    {
        const QTemporaryDir dir;
        std::atomic<int> failures = 4;
        std::atomic<int> attempts = 0;
        std::vector<JournalState> states;
        {
            Setup s(dir.path(), {.fault = [&] {
                ++attempts;
                return failures > 0 && failures-- > 0 ? sqliteIoError : 0;
            }});
            s.journal->onStateChanged([&states](const JournalState &state) { states.push_back(state); });
            s.append(QStringLiteral("r"), someEvent(1));
            while (attempts < 5) // it goes on by itself
                std::this_thread::yield();
            QVERIFY(s.flush());
            QVERIFY(s.journal->state().isSaving());
        }
        QVERIFY(states.size() >= 2);
        QVERIFY(!states.front().isSaving());
        QCOMPARE(states.front().held, 1);
        QVERIFY(states.back().isSaving());
        auto reader = JournalReader::open(dir.path());
        QCOMPARE(allEvents(*reader, QStringLiteral("r")).size(), std::size_t(2));
    }

    void everyCommitMayFail() // fail the n-th, until all pass: nothing lost, nothing doubled
    {
        for (int n = 1; n <= 6; ++n) {
            const QTemporaryDir dir;
            {
                int count = 0;
                Setup s(dir.path(), {.fault = [&count, n] { return ++count == n ? sqliteFull : 0; }});
                for (int i = 0; i < 8; ++i) {
                    const QString hash = s.journal->keep(humanMessage(QString::number(i)));
                    ToolFinished done;
                    done.message = hash;
                    s.append(QStringLiteral("r"), done);
                    if (!s.flush())
                        QVERIFY(s.flush());
                }
            }
            auto reader = JournalReader::open(dir.path());
            auto events = allEvents(*reader, QStringLiteral("r"));
            QCOMPARE(events.size(), std::size_t(9));
            QCOMPARE(reader->run(RunId(QStringLiteral("r")))->events, 9);
            QVERIFY(std::holds_alternative<RunFinished>(events.back().event->body));
            events.pop_back();
            for (const StoredEvent &stored : events)
                QVERIFY(reader->message(std::get<ToolFinished>(stored.event->body).message));
        }
    }

    void aFlushOfABrokenJournalAnswers() // with the reason, at once, instead of hanging
    {
        const QTemporaryDir dir;
        std::atomic<bool> broken = true;
        Setup s(dir.path(), {.fault = [&] { return broken ? sqliteFull : 0; }});
        const Seq seq = s.append(QStringLiteral("r"), someEvent(1));
        const auto blocked = s.flush();
        QVERIFY(!blocked);
        QCOMPARE(blocked.error().code, ErrorCode::ResourceExhausted);
        QVERIFY(blocked.error().message.contains(u"no room"));
        const auto awaited = runTask(s.journal->flush(seq));
        QVERIFY(awaited && !*awaited);
        QVERIFY(s.journal->committedSeq() < seq);
        broken = false;
        QVERIFY(s.flush());
        QVERIFY(s.journal->committedSeq() >= seq);
    }

    void endOfARunOutlivesAFullDisk_data()
    {
        QTest::addColumn<QString>("status");
        QTest::newRow("failed") << QStringLiteral("failed");
        QTest::newRow("completed") << QStringLiteral("completed");
        QTest::newRow("cancelled") << QStringLiteral("cancelled");
    }
    void endOfARunOutlivesAFullDisk() // in room that was taken before it was full
    {
        QFETCH(QString, status);
        const QTemporaryDir dir;
        std::atomic<bool> broken = false;
        {
            Setup s(dir.path(), {.fault = [&] { return broken ? sqliteFull : 0; }});
            s.append(QStringLiteral("r"), started(QStringLiteral("x")));
            QVERIFY(s.flush());
            broken = true;
            s.append(QStringLiteral("r"), RunFinished{status, QStringLiteral("answer"), QString(5000, u'e'), Usage{1, 2, 3}});
            for (int i = 0; i < 100; ++i) // more than there is room for
                s.append(QStringLiteral("other%1").arg(i), RunFinished{status, {}, QString(5000, u'e'), {}});
            QVERIFY(!s.flush());
        }
        for (int look = 0; look < 2; ++look) {
            auto reader = JournalReader::open(dir.path());
            const auto run = reader->run(RunId(QStringLiteral("r")));
            QCOMPARE(run->status, status);
            QCOMPARE(run->usage.total, 3);
            QVERIFY2(run->error->startsWith(QStringLiteral("The end of this run could not be saved. eee")), qPrintable(*run->error));
            QCOMPARE(run->events, 2);
            if (look == 0)
                Setup recovers(dir.path());
        }
        QCOMPARE(QDir(ownersFolder(dir.path())).entryList(QDir::Files).size(), 0);
    }

    void endThatIsSavedLaterLeavesNoNote()
    {
        const QTemporaryDir dir;
        std::atomic<bool> broken = false;
        {
            Setup s(dir.path(), {.fault = [&] { return broken ? sqliteFull : 0; }});
            s.append(QStringLiteral("r"), started(QStringLiteral("x")));
            QVERIFY(s.flush());
            broken = true;
            s.append(QStringLiteral("r"), RunFinished{QStringLiteral("completed"), QStringLiteral("answer"), {}, {}});
            QVERIFY(!s.flush());
            broken = false;
            QVERIFY(s.flush());
        }
        QCOMPARE(QDir(ownersFolder(dir.path())).entryList(QDir::Files).size(), 0);
        auto reader = JournalReader::open(dir.path());
        QCOMPARE(reader->run(RunId(QStringLiteral("r")))->answer, QStringLiteral("answer"));
    }

    void memoryIsBoundedAndLossIsTold()
    {
        const QTemporaryDir dir;
        {
            std::atomic<bool> broken = true;
            Setup s(dir.path(), {.mostHeld = 100, .fault = [&] { return broken ? sqliteFull : 0; }});
            for (int i = 0; i < 250; ++i) {
                s.append(QStringLiteral("r"), someEvent(i));
                if (i % 10 == 0)
                    (void)s.flush();
            }
            QVERIFY(!s.flush());
            QCOMPARE(s.journal->state().held, 100);
            QCOMPARE(s.journal->state().lost, 150);
            broken = false;
            QVERIFY(s.flush());
            s.append(QStringLiteral("r"), someEvent(999));
            QVERIFY(s.flush());
        }
        auto reader = JournalReader::open(dir.path());
        const auto events = allEvents(*reader, QStringLiteral("r"), 1000);
        QCOMPARE(events.size(), std::size_t(103)); // 100 kept, one that tells, one after, and the end
        QVERIFY(std::get<LogRecorded>(events[100].event->body).text.contains(u"150 events are missing"));
        QCOMPARE(std::get<AgentQueued>(events[101].event->body).position, 999);
    }

    void theEndOfABrokenJournalDoesNotHang()
    {
        const QTemporaryDir dir;
        Setup s(dir.path(), {.fault = [] { return sqliteFull; }});
        s.append(QStringLiteral("r"), someEvent(1));
        QVERIFY(!s.flush());
        s.journal.reset();
    }

    void realFullDisk() // the kernel refuses to grow the file
    {
        const QTemporaryDir dir;
        rlimit old{};
        QCOMPARE(getrlimit(RLIMIT_FSIZE, &old), 0);
        std::signal(SIGXFSZ, SIG_IGN);
        {
            Setup s(dir.path());
            QVERIFY(s.flush());
            s.append(QStringLiteral("r"), someEvent(0));
            QVERIFY(s.flush());
            rlimit small = old;
            small.rlim_cur = 256 * 1024;
            QCOMPARE(setrlimit(RLIMIT_FSIZE, &small), 0);
            LogRecorded large{QStringLiteral("info"), QString(), false};
            for (int i = 0; i < 3000; ++i) {
                large.text = QString::number(i) + QString(500, QChar(u'a' + i % 26));
                s.append(QStringLiteral("r"), large);
            }
            const auto refused = s.flush();
            const auto refusedAgain = s.flush(); // the first may have been answered by a round that began before the last event
            const qint64 held = s.journal->state().held;
            auto partly = JournalReader::open(dir.path());
            const auto stored = qint64(allEvents(*partly, QStringLiteral("r"), 5000).size());
            setrlimit(RLIMIT_FSIZE, &old);
            QVERIFY(!refused && !refusedAgain);
            QVERIFY2(refused.error().message.contains(u"no room"), qPrintable(refused.error().message));
            QVERIFY(held > 0);
            QCOMPARE(stored + held, qint64(3001)); // each is in one of the two
            QVERIFY(s.flush()); // room again: nothing was lost
        }
        auto reader = JournalReader::open(dir.path());
        QCOMPARE(allEvents(*reader, QStringLiteral("r"), 5000).size(), std::size_t(3002));
    }

    void anotherWriterIsWaitedFor()
    {
        const QTemporaryDir dir;
        Setup s(dir.path());
        auto other = Database::open(fileIn(dir), Database::Mode::ReadWrite);
        QVERIFY(other->exec("BEGIN IMMEDIATE"));
        s.append(QStringLiteral("r"), someEvent(1));
        QSemaphore waiting;
        std::thread flusher([&] {
            waiting.release();
            QVERIFY(s.flush());
        });
        waiting.acquire();
        QVERIFY(other->exec("COMMIT"));
        flusher.join();
    }

    void migratesStepByStep()
    {
        static constexpr Migration steps[] = {
            {1, "CREATE TABLE a (x INTEGER)"},
            {2, "ALTER TABLE a ADD COLUMN y INTEGER; INSERT INTO a VALUES (1, 2)"},
            {3, "this is no SQL"},
        };
        const QTemporaryDir dir;
        auto database = Database::open(fileIn(dir), Database::Mode::ReadWrite);
        QVERIFY(migrate(*database, std::span(steps, 1)));
        QCOMPARE(database->queryInt("PRAGMA user_version")->value(), 1);
        QVERIFY(migrate(*database, std::span(steps, 2)));
        QVERIFY(migrate(*database, std::span(steps, 2))); // nothing left to do
        QCOMPARE(database->queryInt("SELECT y FROM a")->value(), 2);
        QVERIFY(!migrate(*database, std::span(steps, 3))); // a step is whole or not at all
        QCOMPARE(database->queryInt("PRAGMA user_version")->value(), 2);
        const auto older = migrate(*database, std::span(steps, 1));
        QVERIFY(!older);
        QCOMPARE(older.error().code, ErrorCode::FailedPrecondition);
    }

    void stepsAreAscending()
    {
        int last = 0;
        for (const Migration &step : journalMigrations()) {
            QCOMPARE(step.version, last + 1);
            last = step.version;
        }
        QCOMPARE(currentSchemaVersion(), last);
    }
};

int run(int argc, char **argv)
{
    QCoreApplication app(argc, argv);
    const QStringList arguments = QCoreApplication::arguments();
    if (arguments.size() == 3 && arguments.at(1) == u"--write")
        return writeUntilKilled(arguments.at(2));
    TestJournalFaults test;
    return QTest::qExec(&test, argc, argv);
}

} // namespace tst_journal_faults

PADDOCK_TEST_RUN(tst_journal_faults, run)

#include "tst_journal_faults.moc"
