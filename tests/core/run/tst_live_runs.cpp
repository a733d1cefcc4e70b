// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// Live runs through the service: the real server in the real bubblewrap, short scripted runs.
#include "tests/core/run/run_probe.h"
#include "tests/support/test_main.h"

#include <QSet>
#include <QTemporaryDir>
#include <QTest>

namespace tst_live_runs {

using namespace paddock;
using namespace paddock::test;

namespace {

QString utf8(const char *text)
{
    return QString::fromUtf8(text);
}

/// Everything that a stream brings.
struct Listener {
    explicit Listener(std::unique_ptr<ShellStream> from) : stream(std::move(from))
    {
        if (!stream)
            return;
        QObject::connect(stream.get(), &ShellStream::bytes, stream.get(), [this](const QByteArray &data) { bytes += data; });
        QObject::connect(stream.get(), &ShellStream::ended, stream.get(), [this] { over = true; });
    }
    std::unique_ptr<ShellStream> stream;
    QByteArray bytes;
    bool over = false;
};

std::vector<std::shared_ptr<const Event>> withoutDeltas(const std::vector<std::shared_ptr<const Event>> &events, const RunId &run)
{
    std::vector<std::shared_ptr<const Event>> kept;
    for (const auto &event : events) {
        if (event->run == run && !std::holds_alternative<ModelDelta>(event->body))
            kept.push_back(event);
    }
    return kept;
}

} // namespace

class TestLiveRuns : public QObject
{
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_dir;
    QString data() const { return m_dir->filePath(utf8("data")); }

    RunRequest request(const QByteArrayList &commands, const QByteArray &lastTurn = "      - say: All said.\n") const
    {
        RunRequest request;
        request.scenario = writeFile(m_dir->filePath(utf8("probe.yaml")), leadScenario(commands, lastTurn));
        request.workspace = m_dir->filePath(utf8("work"));
        QDir().mkpath(request.workspace);
        return request;
    }
    static QByteArray longCommand() { return "echo begun; " + ownSleep(619); }
    static bool commandRuns(RunProbe &probe, const RunId &run) { return !probe.of<ShellCommandStarted>(run).empty(); }

private Q_SLOTS:
    void initTestCase()
    {
        if (!canIsolate())
            QSKIP(cannotIsolate);
    }
    void init() { m_dir = std::make_unique<QTemporaryDir>(); }

    void wholeRun()
    {
        RunProbe probe(data());
        QVERIFY2(probe.service, qPrintable(probe.problem));
        const auto run = probe.service->start(request({"echo hello > /mnt/user-data/outputs/hello.txt; pwd"}));
        QVERIFY2(run, run ? "" : qPrintable(run.error().fullMessage()));
        QVERIFY(probe.service->isLive(*run)); // from the first moment on
        QCOMPARE(probe.end(*run), utf8("completed"));
        QCOMPARE(probe.of<RunFinished>(*run).front()->answer, utf8("All said."));

        const auto live = withoutDeltas(probe.events, *run);
        QVERIFY(std::holds_alternative<RunStarted>(live.front()->body));
        QVERIFY(std::holds_alternative<RunFinished>(live.back()->body));

        const auto runs = probe.list();
        QCOMPARE(runs.size(), size_t(1));
        QCOMPARE(runs[0].id, *run);
        QCOMPARE(runs[0].status, utf8("completed"));
        QCOMPARE(runs[0].task, utf8("Say hello"));
        QVERIFY(runs[0].finished.has_value() && *runs[0].finished >= runs[0].started);
        QVERIFY(!runs[0].live);

        // What is loaded is what was seen.
        const auto stored = withoutDeltas(probe.load(*run), *run);
        QCOMPARE(stored.size(), live.size());
        for (size_t i = 0; i < live.size(); ++i) {
            QCOMPARE(stored[i]->seq, live[i]->seq);
            QCOMPARE(eventType(stored[i]->body), eventType(live[i]->body));
            QCOMPARE(stored[i]->agent, live[i]->agent);
        }
        const auto requests = probe.of<ModelRequested>(*run);
        QVERIFY(!requests.empty() && !requests[0]->messageHashes.isEmpty());
        MessagePtr message;
        bool asked = false;
        probe.service->message(requests[0]->messageHashes.back(), [&](MessagePtr found) {
            message = std::move(found);
            asked = true;
        });
        QVERIFY(spinUntil([&] { return asked; }));
        QVERIFY(message);

        const QString outputs = probe.service->hostPath(*run, utf8("/mnt/user-data/outputs"));
        QVERIFY(QFile::exists(outputs + utf8("/hello.txt")));
        QVERIFY(probe.service->hostPath(*run, utf8("/etc")).isEmpty());
        QVERIFY(probe.service->hostPath(*run, utf8("/mnt/user-data/other")).isEmpty());
        QString problem = utf8("?");
        const QString file = m_dir->filePath(utf8("out.jsonl"));
        probe.service->exportRun(*run, utf8("jsonl"), file, [&](const QString &said) { problem = said; });
        QVERIFY(spinUntil([&] { return problem != u"?"; }));
        QVERIFY2(problem.isEmpty(), qPrintable(problem));
        QVERIFY(QFileInfo(file).size() > 1000);
        QVERIFY(probe.close());
        QCOMPARE(processesWith(data().toUtf8()), 0);

        // The same from another process' point of view.
        RunProbe later(data());
        QCOMPARE(later.list().size(), size_t(1));
        QVERIFY(QFile::exists(later.service->hostPath(*run, utf8("/mnt/user-data/outputs/hello.txt"))));
        QVERIFY(later.close());
    }

    void oddFolders_data()
    {
        QTest::addColumn<QByteArray>("name");
        QTest::newRow("spaces") << QByteArray("a b  c");
        QTest::newRow("quotes") << QByteArray("it's \"odd\" $HOME `x`");
        QTest::newRow("newline") << QByteArray("two\nlines");
        QTest::newRow("leading dash") << QByteArray("-rf");
        QTest::newRow("accents") << QByteArray("\xc3\xa9t\xc3\xa9 \xe4\xb8\xad");
    }
    void oddFolders()
    {
        QFETCH(QByteArray, name);
        RunProbe probe(data());
        RunRequest asked = request({"cat here.txt; echo done > there.txt"});
        asked.workspace = m_dir->path() + QLatin1Char('/') + QString::fromUtf8(name);
        writeFile(asked.workspace + utf8("/here.txt"), "found");
        const auto run = probe.service->start(asked);
        QVERIFY2(run, run ? "" : qPrintable(run.error().fullMessage()));
        QCOMPARE(probe.end(*run), utf8("completed"));
        QVERIFY(QFile::exists(asked.workspace + utf8("/there.txt")));
        QCOMPARE(probe.of<ShellCommandFinished>(*run).front()->exitCode.value_or(-1), 0);
    }

    void cancelDrains()
    {
        RunProbe probe(data());
        const auto run = probe.service->start(request({longCommand()}));
        QVERIFY(run);
        QVERIFY(probe.wait([&] { return commandRuns(probe, *run) && processesWith(ownSleep(619)) > 0; }));
        bool done = false, again = false, foreign = false;
        probe.service->cancel(*run, [&] {
            done = true;
            // Everything is over at this moment, not some time later.
            QVERIFY(!probe.service->isLive(*run));
            QCOMPARE(processesWith(ownSleep(619)), 0);
            QCOMPARE(probe.of<SandboxReleased>(*run).size(), size_t(1));
            QCOMPARE(probe.of<RunFinished>(*run).size(), size_t(1));
        });
        probe.service->cancel(*run, [&] { again = true; });
        probe.service->cancel(RunId(utf8("unknown")), [&] { foreign = true; });
        QVERIFY(probe.wait([&] { return done && again && foreign; }));
        QCOMPARE(probe.end(*run), utf8("cancelled"));
        QCOMPARE(probe.list().at(0).status, utf8("cancelled"));
        bool late = false;
        probe.service->cancel(*run, [&] { late = true; });
        QVERIFY(probe.wait([&] { return late; }));
        QVERIFY(probe.close());
        QCOMPARE(processesWith(data().toUtf8()), 0);
    }

    void cancelBeforeAnything()
    {
        RunProbe probe(data());
        const auto run = probe.service->start(request({longCommand()}));
        QVERIFY(run);
        bool done = false;
        probe.service->cancel(*run, [&] { done = true; });
        QVERIFY(probe.wait([&] { return done; }));
        QCOMPARE(probe.end(*run), utf8("cancelled"));
        QCOMPARE(processesWith(ownSleep(619)), 0);
    }

    void twoRunsAtOnce()
    {
        RunProbe probe(data());
        RunRequest asked = request({"export WHO=me; echo first > /tmp/mark; sleep 0.2", "cat /tmp/mark; ls /mnt/user-data/workspace"});
        asked.workspace = m_dir->filePath(utf8("one"));
        writeFile(asked.workspace + utf8("/only-one.txt"), "1");
        const auto one = probe.service->start(asked);
        asked.workspace = m_dir->filePath(utf8("two"));
        writeFile(asked.workspace + utf8("/only-two.txt"), "2");
        const auto two = probe.service->start(asked);
        QVERIFY(one && two);
        QVERIFY(*one != *two);
        QCOMPARE(probe.end(*one), utf8("completed"));
        QCOMPARE(probe.end(*two), utf8("completed"));
        QVERIFY(probe.of<RunStarted>(*one)[0]->thread != probe.of<RunStarted>(*two)[0]->thread);
        QVERIFY(probe.of<SandboxAcquired>(*one)[0]->sandbox != probe.of<SandboxAcquired>(*two)[0]->sandbox);
        for (const auto &[run, mine, other] : {std::tuple(*one, "only-one.txt", "only-two.txt"), std::tuple(*two, "only-two.txt", "only-one.txt")}) {
            QString text;
            for (const ToolFinished *tool : probe.of<ToolFinished>(run))
                text += tool->preview;
            QVERIFY2(text.contains(utf8(mine)), qPrintable(text));
            QVERIFY2(!text.contains(utf8(other)), qPrintable(text));
        }
        QCOMPARE(probe.list().size(), size_t(2));
        // Events of both on one bus: numbers never repeat and never go back.
        Seq last = 0;
        for (const auto &event : probe.events) {
            QVERIFY(event->seq > last);
            last = event->seq;
        }
    }

    void subscribersSeeTheSame()
    {
        RunProbe probe(data());
        const auto early = probe.service->bus()->subscribe();
        const auto run = probe.service->start(request({"echo one", "echo two"}));
        QVERIFY(run);
        QVERIFY(probe.wait([&] { return commandRuns(probe, *run); }));
        const auto late = probe.service->bus()->subscribe();
        QCOMPARE(probe.end(*run), utf8("completed"));
        const auto all = early->drain();
        const auto rest = late->drain();
        QVERIFY(rest.size() < all.size());
        QVERIFY(!rest.empty());
        for (size_t i = 0; i < rest.size(); ++i)
            QCOMPARE(rest[rest.size() - 1 - i]->seq, all[all.size() - 1 - i]->seq); // from its moment on, without a gap
    }

    void shellsAreSharedAndTakenOver()
    {
        RunProbe probe(data());
        // The model thinks for ever after its first command, so that the shell is idle and open.
        const auto run = probe.service->start(request({"echo from-the-agent"}, "      - {say: Late., delay: 600s}\n"));
        QVERIFY(run);
        QVERIFY(probe.wait([&] { return !probe.of<ToolFinished>(*run).empty(); }));
        const ScopeId scope(utf8("run:") + run->value());
        Listener first(probe.service->observeShell(*run, scope));
        Listener second(probe.service->observeShell(*run, scope));
        QVERIFY(probe.wait([&] { return first.bytes.contains("from-the-agent") && second.bytes.contains("from-the-agent"); }));

        probe.service->type(*run, scope, "echo refused-$((1+1))\r"); // not taken over: nothing is typed
        probe.service->takeOver(*run, scope, true);
        QVERIFY(probe.wait([&] { return !probe.of<ShellTakeoverStarted>(*run).empty(); }));
        probe.service->resizeShell(*run, scope, 100, 30);
        probe.service->type(*run, scope, "echo typed-$((40+2))\r");
        QVERIFY(probe.wait([&] { return first.bytes.contains("typed-42") && second.bytes.contains("typed-42"); }));
        QVERIFY(!first.bytes.contains("refused-2"));
        second.stream.reset(); // one leaves, the other stays
        probe.service->type(*run, scope, ownSleep(618) + '\r');
        QVERIFY(probe.wait([] { return processesWith(ownSleep(618)) > 0; }));
        probe.service->interrupt(*run, scope);
        QVERIFY(probe.wait([] { return processesWith(ownSleep(618)) == 0; }));
        probe.service->takeOver(*run, scope, false);
        QVERIFY(probe.wait([&] { return !probe.of<ShellTakeoverEnded>(*run).empty(); }));
        probe.service->cancel(*run);
        QCOMPARE(probe.end(*run), utf8("cancelled"));
        QVERIFY(probe.wait([&] { return first.over; }));
        // Afterwards, in this session and in a later one, the same text is there and the stream ends.
        Listener after(probe.service->observeShell(*run, scope));
        QVERIFY(probe.wait([&] { return after.over; }));
        QVERIFY(after.bytes.contains("typed-42"));
        QVERIFY(probe.close());
        RunProbe later(data());
        Listener past(later.service->observeShell(*run, scope));
        QVERIFY(later.wait([&] { return past.over; }));
        QCOMPARE(past.bytes, after.bytes);
    }

    void quittingEndsEverything()
    {
        RunProbe probe(data());
        const auto run = probe.service->start(request({longCommand()}));
        QVERIFY(run);
        QVERIFY(probe.wait([&] { return commandRuns(probe, *run) && processesWith(ownSleep(619)) > 0; }));
        bool done = false;
        probe.service->shutdown([&] { done = true; });
        const auto refused = probe.service->start(request({longCommand()}));
        QVERIFY(!refused);
        QVERIFY(refused.error().message.contains(u"quitting"));
        QVERIFY(probe.wait([&] { return done; }));
        QCOMPARE(processesWith(ownSleep(619)), 0);
        QCOMPARE(processesWith(data().toUtf8()), 0);
        probe.service.reset();
        RunProbe later(data());
        QCOMPARE(later.list().at(0).status, utf8("cancelled")); // not interrupted: it was ended
        QVERIFY(later.close());
    }

    void aCopyLeavesTheFolderAlone()
    {
        RunProbe probe(data());
        RunRequest asked = request({"echo changed > here.txt; cat here.txt"});
        writeFile(asked.workspace + utf8("/here.txt"), "as it was");
        asked.copyWorkspace = true;
        const auto run = probe.service->start(asked);
        QVERIFY(run);
        QCOMPARE(probe.end(*run), utf8("completed"));
        QFile file(asked.workspace + utf8("/here.txt"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        QCOMPARE(file.readAll(), QByteArray("as it was"));
    }
};

} // namespace tst_live_runs

PADDOCK_TEST(tst_live_runs, TestLiveRuns)
#include "tst_live_runs.moc"
