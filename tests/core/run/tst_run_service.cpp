// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// The service without any sandbox: what a request is checked for, and what a journal alone answers.
#include "core/journal/database.h"
#include "core/journal/journal.h"
#include "core/run/log_limit.h"
#include "core/run/scenarios.h"
#include "tests/core/run/run_probe.h"
#include "tests/support/test_main.h"

#include <QDateTime>
#include <QTemporaryDir>
#include <QTest>
#include <QThreadPool>

#include <unistd.h>

namespace tst_run_service {

using namespace paddock;
using namespace paddock::test;

namespace {

QString utf8(const char *text)
{
    return QString::fromUtf8(text);
}

RunRequest survey(const QString &workspace = {})
{
    RunRequest request;
    request.scenario = QStringLiteral("survey");
    request.workspace = workspace;
    return request;
}

/// A journal with a run that its process never ended, as after kill -9.
void leaveUnfinishedRun(const QString &folder, const QString &run, int events = 1)
{
    auto journal = Journal::open({.folder = folder});
    QVERIFY(journal);
    auto bus = std::make_shared<EventBus>(Clock::system(), (*journal)->nextSeq());
    (*journal)->attach(bus);
    RunStarted started;
    started.thread = QStringLiteral("t1");
    started.task = QStringLiteral("Never finished");
    bus->append(RunId(run), leadAgent(), started);
    for (int i = 0; i < events; ++i)
        bus->append(RunId(run), leadAgent(), LogRecorded{QStringLiteral("info"), QStringLiteral("line %1 ").arg(i).repeated(40), false});
    QVERIFY((*journal)->flushBlocking(bus->lastSeq(), std::chrono::seconds(30)));
}

void leaveEndedRun(const QString &folder, const QString &run, const QString &thread)
{
    auto journal = Journal::open({.folder = folder});
    QVERIFY(journal);
    auto bus = std::make_shared<EventBus>(Clock::system(), (*journal)->nextSeq());
    (*journal)->attach(bus);
    RunStarted started;
    started.thread = thread;
    bus->append(RunId(run), leadAgent(), started);
    RunFinished finished;
    finished.status = QStringLiteral("completed");
    bus->append(RunId(run), leadAgent(), finished);
    QVERIFY((*journal)->flushBlocking(bus->lastSeq(), std::chrono::seconds(30)));
}

std::unique_ptr<RunService> view(const QString &folder, QString *problem = nullptr)
{
    auto opened = RunService::open({.configPath = {}, .dataDir = folder, .maxRunning = {}, .readOnly = true});
    if (!opened && problem)
        *problem = opened.error().fullMessage();
    return opened ? std::move(*opened) : nullptr;
}

std::vector<std::shared_ptr<const Event>> load(RunService &service, const RunId &run)
{
    std::vector<std::shared_ptr<const Event>> all;
    bool over = false;
    service.load(run, [&](std::vector<std::shared_ptr<const Event>> page, bool last) {
        all.insert(all.end(), page.begin(), page.end());
        over = last;
    });
    spinUntil([&] { return over; });
    return all;
}

} // namespace

class TestRunService : public QObject
{
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_dir;
    QString data() const { return m_dir->filePath(utf8("data")); }

private Q_SLOTS:
    void init() { m_dir = std::make_unique<QTemporaryDir>(); }

    void startChecks_data()
    {
        QTest::addColumn<QString>("kind");
        QTest::addColumn<QStringList>("says");
        QTest::newRow("missing folder") << utf8("missing") << QStringList{utf8("/nowhere"), utf8("does not exist")};
        QTest::newRow("a file instead") << utf8("file") << QStringList{utf8("/plain"), utf8("is not a folder")};
        QTest::newRow("dangling link") << utf8("dangling") << QStringList{utf8("/dangling"), utf8("does not exist")};
        QTest::newRow("unreadable folder") << utf8("unreadable") << QStringList{utf8("/closed"), utf8("permissions")};
        QTest::newRow("unknown scenario") << utf8("scenario") << QStringList{utf8("no built-in scenario 'nope'"), utf8("scenario list")};
        QTest::newRow("no scenario file") << utf8("scenario file") << QStringList{utf8("/none.yaml")};
        QTest::newRow("broken scenario") << utf8("broken") << QStringList{utf8("broken.yaml"), utf8(":8:"), utf8("sya")};
        QTest::newRow("newer scenario") << utf8("version") << QStringList{utf8("newer.yaml"), utf8("2")};
        QTest::newRow("unknown sandbox") << utf8("sandbox") << QStringList{utf8("no sandbox 'moon'"), utf8("embedded")};
        QTest::newRow("task without a model") << utf8("task") << QStringList{utf8("No model is configured"), utf8("survey")};
    }
    void startChecks()
    {
        QFETCH(QString, kind);
        QFETCH(QStringList, says);
        RunRequest request = survey();
        if (kind == u"missing") {
            request.workspace = m_dir->filePath(utf8("nowhere"));
        } else if (kind == u"file") {
            request.workspace = writeFile(m_dir->filePath(utf8("plain")), "text");
        } else if (kind == u"dangling") {
            request.workspace = m_dir->filePath(utf8("dangling"));
            QVERIFY(QFile::link(m_dir->filePath(utf8("gone")), request.workspace));
        } else if (kind == u"unreadable") {
            if (::geteuid() == 0)
                QSKIP("root may read every folder");
            request.workspace = m_dir->filePath(utf8("closed"));
            QVERIFY(QDir().mkdir(request.workspace, QFileDevice::Permissions()));
        } else if (kind == u"scenario") {
            request.scenario = utf8("nope");
        } else if (kind == u"scenario file") {
            request.scenario = m_dir->filePath(utf8("none.yaml"));
        } else if (kind == u"broken") {
            request.scenario = writeFile(m_dir->filePath(utf8("broken.yaml")), leadScenario({}, "      - sya: typo\n"));
        } else if (kind == u"version") {
            request.scenario = writeFile(m_dir->filePath(utf8("newer.yaml")), leadScenario({}).replace("scenario: 1", "scenario: 2"));
        } else if (kind == u"sandbox") {
            request.sandbox = utf8("moon");
        } else if (kind == u"task") {
            request.scenario.clear();
            request.task = utf8("Do it");
        }
        RunProbe probe(data());
        QVERIFY2(probe.service, qPrintable(probe.problem));
        const auto run = probe.service->start(request);
        QVERIFY(!run);
        for (const QString &part : says)
            QVERIFY2(run.error().fullMessage().contains(part), qPrintable(run.error().fullMessage()));
        // Nothing was begun: no run, no event of one, no folder.
        QVERIFY(probe.list().empty());
        probe.take();
        for (const auto &event : probe.events)
            QVERIFY(event->run.isEmpty());
        QVERIFY(!QDir(data() + utf8("/users")).exists());
        QVERIFY(probe.close());
    }

    void openChecks_data()
    {
        QTest::addColumn<QString>("kind");
        QTest::addColumn<QStringList>("says");
        QTest::newRow("data folder is a file") << utf8("file") << QStringList{utf8("/data"), utf8("--data-dir")};
        QTest::newRow("newer journal") << utf8("newer") << QStringList{utf8("journal.db"), utf8("newer Paddock"), utf8("left as it is")};
        QTest::newRow("not a journal") << utf8("letter") << QStringList{utf8("journal.db"), utf8("left as it is")};
        QTest::newRow("missing configuration") << utf8("no config") << QStringList{utf8("/none.yaml")};
        QTest::newRow("broken configuration") << utf8("bad config") << QStringList{utf8("config.yaml")};
    }
    void openChecks()
    {
        QFETCH(QString, kind);
        QFETCH(QStringList, says);
        RunService::Options options{.configPath = {}, .dataDir = data(), .maxRunning = {}, .readOnly = false};
        if (kind == u"file")
            writeFile(data(), "text");
        else if (kind == u"newer")
            makeNewer();
        else if (kind == u"letter")
            writeFile(Journal::fileIn(data()), QByteArray("Dear aunt, \n").repeated(500));
        else if (kind == u"no config")
            options.configPath = m_dir->filePath(utf8("none.yaml"));
        else
            options.configPath = writeFile(m_dir->filePath(utf8("config.yaml")), "subagents: [this, is, no, mapping\n");
        const auto opened = RunService::open(options);
        QVERIFY(!opened);
        for (const QString &part : says)
            QVERIFY2(opened.error().fullMessage().contains(part), qPrintable(opened.error().fullMessage()));
    }

    /// Who only looks is told the same, not shown an empty list.
    void lookingAtWhatCannotBeRead()
    {
        makeNewer();
        QString problem;
        QVERIFY(!view(data(), &problem));
        QVERIFY2(problem.contains(u"newer Paddock"), qPrintable(problem));
        writeFile(Journal::fileIn(m_dir->filePath(utf8("other"))), QByteArray("Dear aunt, \n").repeated(500));
        QVERIFY(!view(m_dir->filePath(utf8("other")), &problem));
        QVERIFY2(problem.contains(u"left as it is"), qPrintable(problem));
        // Where nothing was run yet there is nothing wrong.
        QVERIFY(view(m_dir->filePath(utf8("fresh"))));
        QVERIFY(!QDir(m_dir->filePath(utf8("fresh"))).exists());
    }

    void interruptedRuns()
    {
        leaveUnfinishedRun(data(), utf8("aaa111"));
        {
            const auto looking = view(data());
            std::optional<std::vector<RunSummary>> got;
            looking->list([&](std::vector<RunSummary> runs) { got = std::move(runs); });
            QVERIFY(spinUntil([&] { return got.has_value(); }));
            QCOMPARE(got->size(), size_t(1));
            QCOMPARE(got->front().status, utf8("interrupted")); // told without changing the journal
            QCOMPARE(got->front().events, 3); // as many as after the recovery below
            const auto shown = load(*looking, RunId(utf8("aaa111")));
            QCOMPARE(shown.size(), size_t(3));
            QCOMPARE(std::get<RunFinished>(shown.back()->body).status, utf8("interrupted"));
        }
        RunProbe probe(data());
        const auto runs = probe.list();
        QCOMPARE(runs.size(), size_t(1));
        QCOMPARE(runs[0].status, utf8("interrupted"));
        QCOMPARE(runs[0].events, 3);
        QCOMPARE(runs[0].task, utf8("Never finished"));
        QVERIFY(!runs[0].live);
        QVERIFY(!probe.service->isLive(runs[0].id));
        const auto events = probe.load(runs[0].id);
        QCOMPARE(events.size(), size_t(3));
        QCOMPARE(std::get<RunFinished>(events.back()->body).status, utf8("interrupted"));
        QCOMPARE(probe.service->resolve(utf8("aaa")).value(), RunId(utf8("aaa111")));
        QCOMPARE(probe.service->resolve(utf8("last")).value(), RunId(utf8("aaa111")));
        bool cancelled = false;
        probe.service->cancel(runs[0].id, [&] { cancelled = true; }); // of a run that is not live: nothing to do, and said so
        QVERIFY(spinUntil([&] { return cancelled; }));
        QVERIFY(probe.close());
    }

    void namesOfRuns()
    {
        leaveUnfinishedRun(data(), utf8("abc1"));
        leaveUnfinishedRun(data(), utf8("abc2"));
        const auto service = view(data());
        QVERIFY(!service->resolve(utf8("abc")));
        QVERIFY2(service->resolve(utf8("abc")).error().message.contains(u"abc"), "several begin with it");
        QVERIFY(!service->resolve(utf8("zzz")));
        QCOMPARE(service->resolve(utf8("abc1")).value(), RunId(utf8("abc1")));
        QVERIFY(load(*service, RunId(utf8("zzz"))).empty());
        QVERIFY(!service->start(survey())); // a journal that is only looked at runs nothing
        MessagePtr message = std::make_shared<const Message>();
        service->message(utf8("0000"), [&](MessagePtr found) { message = std::move(found); });
        QVERIFY(spinUntil([&] { return message == nullptr; }));
    }

    void damagedRowsAreShown()
    {
        leaveUnfinishedRun(data(), utf8("r1"), 3);
        {
            auto database = Database::open(Journal::fileIn(data()), Database::Mode::ReadWrite);
            QVERIFY(database->exec("UPDATE events SET fields = '{\"level\":' WHERE id & 255 = 2"));
        }
        const auto events = load(*view(data()), RunId(utf8("r1")));
        QCOMPARE(events.size(), size_t(5)); // with the end of a run that was cut off
        QCOMPARE(eventType(events[1]->body), utf8("journal.damaged"));
    }

    /// A journal whose pages are damaged ends in a sentence, not in a run that only looks shorter.
    void damagedPagesAreTold()
    {
        leaveUnfinishedRun(data(), utf8("r1"), 20000);
        QFile file(Journal::fileIn(data()));
        QVERIFY(file.open(QIODevice::ReadWrite));
        const qint64 size = file.size();
        static constexpr qint64 page = 4096;
        for (qint64 at = size / 3 / page * page; at + page <= size; at += page) {
            file.seek(at);
            file.write(QByteArray(page, '\x5a'));
        }
        file.close();
        const auto service = view(data());
        QVERIFY(service); // its first pages are whole
        const auto events = load(*service, RunId(utf8("r1")));
        QVERIFY(events.size() < 20000);
        QVERIFY(!events.empty());
        const auto *log = std::get_if<LogRecorded>(&events.back()->body);
        QVERIFY(log);
        QCOMPARE(log->level, utf8("error"));
        QVERIFY2(log->text.contains(u"journal.db"), qPrintable(log->text));
    }

    void terminalLogsAreLimited()
    {
        const auto folder = [&](const char *thread) { return data() + utf8("/shells/") + utf8(thread); };
        const auto there = [&](const char *thread) { return QDir(folder(thread)).exists(); };
        leaveEndedRun(data(), utf8("r1"), utf8("one"));
        leaveEndedRun(data(), utf8("r2"), utf8("two"));
        for (const char *thread : {"one", "two", "live", "strange"})
            writeFile(folder(thread) + utf8("/run_x.log"), QByteArray(1000, 'x'));
        writeFile(folder("old") + utf8("/run_x.log"), QByteArray(1000, 'x'));
        QFile old(folder("old") + utf8("/run_x.log"));
        QVERIFY(old.open(QIODevice::ReadWrite) && old.setFileTime(QDateTime::currentDateTime().addDays(-3), QFileDevice::FileModificationTime));
        old.close();
        QVERIFY(QFile::link(m_dir->path(), folder("one") + utf8("/elsewhere")));
        writeFile(m_dir->filePath(utf8("precious")), "x");

        RunProbe probe(data());
        QVERIFY2(probe.service, qPrintable(probe.problem));
        RunStarted started;
        started.thread = utf8("live");
        probe.service->bus()->append(RunId(utf8("r3")), leadAgent(), started);
        QVERIFY(probe.wait([&] { return probe.list().size() == 3; }));

        limitTerminalLogs(data(), 0);
        limitTerminalLogs(data(), 5000);
        for (const char *thread : {"one", "two", "live", "strange", "old"})
            QVERIFY2(there(thread), thread);
        QVERIFY(!view(data())->areShellLogsGone(RunId(utf8("r1"))));
        limitTerminalLogs(data(), 4500);
        QVERIFY(!there("old")); // nobody knows it, and nobody wrote to it for days
        limitTerminalLogs(data(), 3500);
        QVERIFY(!there("one"));
        QVERIFY(there("two"));
        limitTerminalLogs(data(), 1);
        QVERIFY(!there("two"));
        QVERIFY(there("live")); // a run of this process goes on
        QVERIFY(there("strange"));
        QVERIFY(QFile::exists(m_dir->filePath(utf8("precious"))));
        QVERIFY(probe.close());

        // It is said, not shown as nothing.
        const auto service = view(data());
        QVERIFY(service->areShellLogsGone(RunId(utf8("r1"))));
        QVERIFY(!service->areShellLogsGone(RunId(utf8("r3"))));
        QByteArray shown;
        bool over = false;
        const auto stream = service->observeShell(RunId(utf8("r1")), ScopeId(utf8("run:x")));
        QObject::connect(stream.get(), &ShellStream::bytes, stream.get(), [&](const QByteArray &bytes) { shown += bytes; });
        QObject::connect(stream.get(), &ShellStream::ended, stream.get(), [&] { over = true; });
        QVERIFY(spinUntil([&] { return over; }));
        QVERIFY2(shown.contains("There is no log of this shell. Old logs are removed"), shown.constData());
    }

    void terminalLogsStayWithoutAJournal()
    {
        writeFile(data() + utf8("/shells/t/run_x.log"), QByteArray(1000, 'x'));
        limitTerminalLogs(data(), 1);
        QVERIFY(QFile::exists(data() + utf8("/shells/t/run_x.log")));
    }

    /// An answer that comes after the service is gone goes nowhere.
    void answersAfterTheEnd()
    {
        leaveUnfinishedRun(data(), utf8("r1"));
        int answers = 0;
        {
            RunProbe probe(data());
            probe.close();
            auto opened = RunService::open({.configPath = {}, .dataDir = data(), .maxRunning = {}, .readOnly = false});
            QVERIFY(opened);
            (*opened)->list([&](std::vector<RunSummary>) { ++answers; });
            (*opened)->load(RunId(utf8("r1")), [&](const auto &, bool) { ++answers; });
            QThreadPool::globalInstance()->waitForDone();
        }
        QCoreApplication::processEvents();
        QCoreApplication::processEvents(); // no crash; sanitizers would see the use of what is gone
        QVERIFY(answers >= 0);
    }

    void scenariosThatComeAlong()
    {
        const auto entries = builtinScenarios();
        QVERIFY(entries.size() >= 2);
        QCOMPARE(entries.front().name, utf8("survey"));
        for (const ScenarioEntry &entry : entries) {
            QVERIFY(checkScenario(entry.name));
            QVERIFY(!entry.description.isEmpty());
            QVERIFY(!scenarioText(entry.name)->isEmpty());
        }
        QVERIFY(!checkScenario(m_dir->path())); // a folder
    }

private:
    void makeNewer()
    {
        leaveUnfinishedRun(data(), utf8("r1"));
        auto database = Database::open(Journal::fileIn(data()), Database::Mode::ReadWrite);
        QVERIFY(database->exec("PRAGMA user_version=99"));
        QVERIFY(database->exec("PRAGMA wal_checkpoint(TRUNCATE)"));
    }
};

} // namespace tst_run_service

PADDOCK_TEST(tst_run_service, TestRunService)
#include "tst_run_service.moc"
