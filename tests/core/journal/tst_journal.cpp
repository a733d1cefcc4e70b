// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/base/text.h"
#include "core/journal/journal_export.h"
#include "core/journal/journal_import.h"
#include "core/journal/journal_tables.h"
#include "core/journal/owner_lock.h"
#include "core/journal/stored_text.h"
#include "tests/core/base/loop_guard.h"
#include "tests/core/event/random_event.h"
#include "tests/core/journal/journal_fixture.h"
#include "tests/support/test_main.h"

#include <QBuffer>
#include <QDir>
#include <QFile>

#include <thread>

namespace tst_journal {

using namespace paddock;
using namespace paddock::test;

namespace {

QByteArray exported(const QString &folder, const QString &run, decltype(&exportJsonl) exporter = exportJsonl)
{
    auto reader = JournalReader::open(folder);
    QByteArray all;
    if (!reader)
        return all;
    const auto done = exporter(*reader, RunId(run), [&all](const QByteArray &piece) -> Result<void> {
        all += piece;
        return {};
    });
    return done ? all : QByteArray();
}

template<std::size_t... I>
std::vector<Event> oneOfEach(quint32 seed, std::index_sequence<I...>)
{
    RandomFields random(seed);
    return {random.make<I>()...};
}

} // namespace

class TestJournal : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void savesAndReadsBack()
    {
        const QTemporaryDir dir;
        std::vector<std::shared_ptr<const Event>> sent;
        {
            Setup s(dir.path());
            QVERIFY(s.journal);
            const auto queue = s.bus->subscribe();
            s.append(QStringLiteral("r1"), started(QStringLiteral("  Count lines\nand more")));
            for (int i = 0; i < 10; ++i)
                s.append(QStringLiteral("r1"), someEvent(i));
            s.append(QStringLiteral("r2"), started(QStringLiteral("Another")));
            s.append(QStringLiteral("r1"), RunFinished{QStringLiteral("completed"), QStringLiteral("42"), {}, Usage{3, 4, 7}});
            QVERIFY(s.flush());
            QCOMPARE(s.journal->committedSeq(), s.bus->lastSeq());
            QVERIFY(s.journal->state().isSaving());
            sent = queue->drain();

            auto reader = JournalReader::open(dir.path()); // beside the living writer
            QVERIFY(reader);
            const auto runs = reader->runs();
            QVERIFY(runs);
            QCOMPARE(runs->size(), std::size_t(2));
            QCOMPARE(runs->at(0).id.value(), QStringLiteral("r2")); // newest first
            QCOMPARE(runs->at(0).status, QStringLiteral("running"));
        }
        auto reader = JournalReader::open(dir.path());
        QVERIFY(reader);
        const auto run = reader->run(RunId(QStringLiteral("r1")));
        QVERIFY(run);
        QCOMPARE(run->title, QStringLiteral("Count lines"));
        QCOMPARE(run->status, QStringLiteral("completed"));
        QCOMPARE(run->answer, QStringLiteral("42"));
        QCOMPARE(run->usage.total, 7);
        QCOMPARE(run->events, 12);
        QCOMPARE(run->channelUserId, std::optional(QStringLiteral("u1")));
        QVERIFY(run->finished);
        QCOMPARE(run->started, sent.front()->time);
        const auto events = allEvents(*reader, QStringLiteral("r1")); // in pages of three
        QCOMPARE(events.size(), std::size_t(12));
        std::size_t next = 0;
        for (const auto &event : sent) {
            if (event->run.value() == u"r1")
                QCOMPARE(encodeEvent(*events[next++].event), encodeEvent(*event));
        }
    }

    void everyKindOfEventIsKeptExactly()
    {
        const QTemporaryDir dir;
        QByteArray wanted;
        {
            Setup s(dir.path());
            for (Event event : oneOfEach(5, std::make_index_sequence<std::variant_size_v<EventBody>>())) {
                event.run = RunId(QStringLiteral("r"));
                event.seq = s.bus->lastSeq() + 1;
                wanted += encodeEvent(event) + '\n';
                s.bus->replay(std::make_shared<const Event>(event));
            }
            QVERIFY(s.flush());
        }
        QCOMPARE(exported(dir.path(), QStringLiteral("r")), wanted);
    }

    void messagesAreStoredOnceAndWithTheirEvent()
    {
        const QTemporaryDir dir;
        Setup s(dir.path());
        const QString large = QString(100'000, QLatin1Char('x')) + QString::fromUtf8("\xF0\x9F\x98\x80");
        const MessagePtr a = edited(humanMessage(large), [](Message &m) { m.id = QStringLiteral("1"); });
        const MessagePtr b = edited(a, [](Message &m) { m.id = QStringLiteral("2"); });
        const QString hash = s.journal->keep(a);
        QCOMPARE(s.journal->keep(b), hash);
        QCOMPARE(hash, contentHash(a));
        MiddlewareSpan span;
        span.changes = {{QStringLiteral("added"), -1, 0, a->id, {}, hash}};
        s.append(QStringLiteral("r"), span);
        QVERIFY(s.journal->recent(hash) || s.flush());
        QVERIFY(s.flush());
        QCOMPARE(s.journal->recent(hash), nullptr); // committed: readers have it now
        auto reader = JournalReader::open(dir.path());
        const auto message = reader->message(hash);
        QVERIFY(message);
        QCOMPARE(textOf(*message), large);
        QCOMPARE(contentHash(*message), hash);
        QVERIFY(!reader->message(QString(64, QLatin1Char('0'))));
        auto database = Database::open(Journal::fileIn(dir.path()), Database::Mode::ReadOnly);
        QCOMPARE(database->queryInt("SELECT count(*) FROM blobs")->value(), 1);
        QVERIFY(database->queryInt("SELECT length(data) FROM blobs")->value() < 2000); // compressed
    }

    void noEventIsSeenBeforeItsMessage() // a reader that finds a span finds what it names
    {
        const QTemporaryDir dir;
        Setup s(dir.path());
        std::atomic<bool> stop = false;
        std::thread producer([&] {
            for (int i = 0; i < 3000; ++i) {
                ToolFinished done;
                done.message = s.journal->keep(humanMessage(QString::number(i)));
                s.append(QStringLiteral("r"), done);
            }
            stop = true;
        });
        Seq after = 0;
        int seen = 0;
        bool last = false;
        while (!last) {
            last = stop; // once more after the end
            if (last)
                QVERIFY(s.flush());
            auto reader = JournalReader::open(dir.path());
            const auto page = reader->events(RunId(QStringLiteral("r")), after, 100000);
            if (!page)
                continue; // not there yet
            for (const StoredEvent &stored : page->events) {
                after = stored.event->seq;
                QVERIFY(reader->message(std::get<ToolFinished>(stored.event->body).message));
                ++seen;
            }
        }
        producer.join();
        QCOMPARE(seen, 3000);
    }

    void manyProducersLoseNothing()
    {
        const QTemporaryDir dir;
        static constexpr int producers = 4;
        static constexpr int each = 5000;
        {
            Setup s(dir.path());
            std::vector<std::thread> threads;
            for (int p = 0; p < producers; ++p) {
                threads.emplace_back([&s, p] {
                    for (int i = 0; i < each; ++i)
                        s.append(QStringLiteral("r%1").arg(p), someEvent(i));
                });
            }
            for (auto &thread : threads)
                thread.join();
        } // the end saves what is queued
        auto reader = JournalReader::open(dir.path());
        for (int p = 0; p < producers; ++p) {
            const auto events = allEvents(*reader, QStringLiteral("r%1").arg(p), 2000);
            QCOMPARE(events.size(), std::size_t(each) + 1); // and the end of a run whose process is gone
            QVERIFY(std::holds_alternative<RunFinished>(events.back().event->body));
            for (int i = 0; i < each; ++i)
                QCOMPARE(std::get<AgentQueued>(events[std::size_t(i)].event->body).position, i);
        }
    }

    void flushWorksFromALoop()
    {
        const QTemporaryDir dir;
        Setup s(dir.path());
        const Seq seq = s.append(QStringLiteral("r"), someEvent(1));
        const auto flushed = runTask(s.journal->flush(seq));
        QVERIFY(flushed && *flushed);
        QVERIFY(s.journal->committedSeq() >= seq);
        const auto beyond = runTask(s.journal->flush(seq + 1000)); // never given out: nothing to wait for
        QVERIFY(beyond && *beyond);
    }

    void numbersContinueInTheNextProcess()
    {
        const QTemporaryDir dir;
        Seq last = 0;
        {
            Setup s(dir.path());
            QCOMPARE(s.journal->nextSeq(), Seq(1));
            last = s.append(QStringLiteral("r"), someEvent(1));
        }
        Setup s(dir.path());
        QVERIFY(s.journal->nextSeq() > last);
    }

    void replayedEventsAreNotDoubled()
    {
        const QTemporaryDir dir;
        Setup s(dir.path());
        const auto queue = s.bus->subscribe();
        s.append(QStringLiteral("r"), started(QStringLiteral("x")));
        QVERIFY(s.flush());
        s.bus->replay(queue->drain().front());
        s.append(QStringLiteral("r"), someEvent(1));
        QVERIFY(s.flush());
        auto reader = JournalReader::open(dir.path());
        QCOMPARE(reader->run(RunId(QStringLiteral("r")))->events, 2);
    }

    void processEventsHaveNoRun()
    {
        const QTemporaryDir dir;
        Setup s(dir.path());
        s.bus->append({}, {}, ConfigLoaded{});
        s.append(QStringLiteral("r"), someEvent(1));
        QVERIFY(s.flush());
        auto reader = JournalReader::open(dir.path());
        QCOMPARE(reader->runs()->size(), std::size_t(1));
    }

    void resolvesRuns()
    {
        const QTemporaryDir dir;
        Setup s(dir.path());
        auto empty = JournalReader::open(dir.path());
        QCOMPARE(empty->resolve(QStringLiteral("last")).error().code, ErrorCode::NotFound);
        for (const char *run : {"abc1", "abc2", "ab", "x%1"})
            s.append(QString::fromLatin1(run), started(QString::fromLatin1(run)));
        QVERIFY(s.flush());
        auto reader = JournalReader::open(dir.path());
        QCOMPARE(reader->resolve(QStringLiteral("abc1"))->value(), QStringLiteral("abc1"));
        QCOMPARE(reader->resolve(QStringLiteral("ab"))->value(), QStringLiteral("ab")); // exact beats longer ones
        QCOMPARE(reader->resolve(QStringLiteral("x"))->value(), QStringLiteral("x%1"));
        QCOMPARE(reader->resolve(QStringLiteral("last"))->value(), QStringLiteral("x%1"));
        QCOMPARE(reader->resolve(QStringLiteral("abc")).error().code, ErrorCode::InvalidArgument);
        QCOMPARE(reader->resolve(QStringLiteral("%")).error().code, ErrorCode::NotFound); // no wildcards
        QCOMPARE(reader->resolve(QString()).error().code, ErrorCode::InvalidArgument);
    }

    void twoProcessesShareAFolder() // two journals in one process have separate locks, like two processes
    {
        const QTemporaryDir dir;
        Setup first(dir.path());
        first.append(QStringLiteral("a"), started(QStringLiteral("first")));
        QVERIFY(first.flush());
        Setup second(dir.path());
        QVERIFY(second.journal);
        for (int i = 0; i < 200; ++i) {
            first.append(QStringLiteral("a"), someEvent(i));
            second.append(QStringLiteral("b"), someEvent(i));
        }
        QVERIFY(first.flush());
        QVERIFY(second.flush());
        auto reader = JournalReader::open(dir.path());
        QCOMPARE(reader->run(RunId(QStringLiteral("a")))->status, QStringLiteral("running")); // not taken for dead
        QCOMPARE(reader->run(RunId(QStringLiteral("a")))->events, 201);
        QCOMPARE(reader->run(RunId(QStringLiteral("b")))->events, 200);
    }

    void manyMayOpenAtOnce()
    {
        const QTemporaryDir dir;
        std::atomic<int> opened = 0;
        std::vector<std::thread> threads;
        for (int t = 0; t < 6; ++t) {
            threads.emplace_back([&] {
                Setup s(dir.path());
                if (!s.journal) {
                    qWarning("%ls", qUtf16Printable(s.error->message));
                    return;
                }
                s.append(newShortId(), started(QStringLiteral("x")));
                if (s.flush())
                    ++opened;
            });
        }
        for (auto &thread : threads)
            thread.join();
        QCOMPARE(opened.load(), 6);
        QCOMPARE(JournalReader::open(dir.path())->runs()->size(), std::size_t(6));
    }

    void cutOffRunsAreInterruptedOnce()
    {
        const QTemporaryDir dir;
        Seq last = 0;
        {
            Setup s(dir.path());
            s.append(QStringLiteral("done"), started(QStringLiteral("x")));
            s.append(QStringLiteral("done"), RunFinished{QStringLiteral("completed"), {}, {}, {}});
            s.append(QStringLiteral("cut"), started(QStringLiteral("x")));
            s.append(QStringLiteral("cut"), reply(Usage{100, 20, 120}));
            last = s.append(QStringLiteral("cut"), reply(Usage{200, 30, 230}));
        }
        const auto lines = [](JournalReader &reader) {
            QByteArray text;
            auto exported = exportJsonl(reader, RunId(QStringLiteral("cut")), [&](const QByteArray &piece) -> Result<void> {
                text += piece;
                return {};
            });
            return exported ? text : QByteArray("error");
        };
        QByteArray before; // a reader says what recovery will write, without writing
        for (int again = 0; again < 2; ++again) {
            auto reader = JournalReader::open(dir.path());
            const auto run = reader->run(RunId(QStringLiteral("cut")));
            QCOMPARE(run->status, QStringLiteral("interrupted"));
            QCOMPARE(run->events, 4);
            QCOMPARE(run->usage.total, 350); // what was spent until then
            QCOMPARE(run->lastSeq, last + 1);
            QVERIFY(run->finished && run->error);
            QCOMPARE(reader->runs()->size(), std::size_t(2));
            QCOMPARE(allEvents(*reader, QStringLiteral("cut"), 1).size(), std::size_t(4)); // also across pages
            QCOMPARE(allEvents(*reader, QStringLiteral("cut"), 2).size(), std::size_t(4));
            QCOMPARE(allEvents(*reader, QStringLiteral("done")).size(), std::size_t(2));
            QCOMPARE(reader->lastSeq().value(), last);
            before = lines(*reader);
            QCOMPARE(before.count('\n'), 4);
        }
        for (int again = 0; again < 3; ++again) {
            Setup s(dir.path());
            QVERIFY(s.journal->nextSeq() > last + 1);
            auto reader = JournalReader::open(dir.path());
            const auto run = reader->run(RunId(QStringLiteral("cut")));
            QCOMPARE(run->status, QStringLiteral("interrupted"));
            QCOMPARE(run->events, 4);
            QCOMPARE(run->usage.total, 350);
            QVERIFY(run->finished);
            QVERIFY(run->error);
            const auto events = allEvents(*reader, QStringLiteral("cut"));
            QCOMPARE(events.back().event->seq, last + 1);
            QCOMPARE(std::get<RunFinished>(events.back().event->body).status, QStringLiteral("interrupted"));
            QCOMPARE(lines(*reader), before);
            QCOMPARE(reader->run(RunId(QStringLiteral("done")))->events, 2);
        }
        QCOMPARE(QDir(ownersFolder(dir.path())).entryList(QDir::Files).size(), 0); // no lock file stays behind
    }

    void ownerLocksTellLifeFromDeath()
    {
        const QTemporaryDir dir;
        auto lock = OwnerLock::create(dir.path());
        QVERIFY(lock);
        const QString name = lock->name();
        QVERIFY(OwnerLock::isAlive(dir.path(), name));
        QVERIFY(!OwnerLock::tryAdopt(dir.path(), name).isHeld());
        OwnerLock moved = std::move(*lock);
        QVERIFY(OwnerLock::isAlive(dir.path(), name));
        moved.release();
        QVERIFY(!OwnerLock::isAlive(dir.path(), name));
        QVERIFY(!OwnerLock::isAlive(dir.path(), QStringLiteral("../x")));
        QVERIFY(!OwnerLock::tryAdopt(dir.path(), QStringLiteral("../x")).isHeld());
        OwnerLock adopted = OwnerLock::tryAdopt(dir.path(), name);
        QVERIFY(adopted.isHeld());
        QVERIFY(!OwnerLock::tryAdopt(dir.path(), name).isHeld()); // one cleans up
    }

    void exportsAndImports()
    {
        const QTemporaryDir from;
        const QTemporaryDir to;
        {
            Setup s(from.path());
            s.append(QStringLiteral("r"), started(QStringLiteral("Say \"hi\"")));
            s.append(QStringLiteral("r"), ModelResponded{1, {}, QStringLiteral("stop"), 5, aiMessage(QStringLiteral("hello"))});
            s.append(QStringLiteral("r"), UnknownEvent{QStringLiteral("future.kind"), Json{{"z", 1}, {"a", Json::array({1.0})}}});
            s.append(QStringLiteral("r"), RunFinished{QStringLiteral("completed"), QStringLiteral("hello"), {}, {}});
        }
        QByteArray text = exported(from.path(), QStringLiteral("r"));
        QCOMPARE(text.count('\n'), 4);
        text.replace("\"answer\":\"hello\"", "\"answer\":\"hello\",\"mood\":\"good\""); // a field of a newer version
        Setup target(to.path());
        QBuffer input(&text);
        QVERIFY(input.open(QIODevice::ReadOnly));
        const auto result = importJsonl(*target.journal, input);
        QVERIFY2(result, result ? "" : qPrintable(result.error().message));
        QCOMPARE(result->events, 4);
        QCOMPARE(result->runs.size(), std::size_t(1));
        QCOMPARE(exported(to.path(), QStringLiteral("r")), text); // not a byte differs
        auto reader = JournalReader::open(to.path());
        QCOMPARE(reader->run(RunId(QStringLiteral("r")))->answer, QStringLiteral("hello"));
        QVERIFY(reader->message(contentHash(aiMessage(QStringLiteral("hello")))));
        input.seek(0);
        QCOMPARE(importJsonl(*target.journal, input).error().code, ErrorCode::AlreadyExists);
        // Live events go on beside it.
        target.append(QStringLiteral("live"), someEvent(1));
        QVERIFY(target.flush());
    }

    void importRefuses_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QString>("part");
        const auto line = [](int seq) {
            return "{\"v\":1,\"seq\":" + QByteArray::number(seq) + ",\"t\":\"2026-12-02T04:11:22Z\",\"mono_us\":1,\"run\":\"r\",\"agent\":\"lead\",\"type\":\"agent.queued\"}\n";
        };
        QTest::newRow("nothing") << QByteArray() << QStringLiteral("no event");
        QTest::newRow("no JSON") << QByteArray("hello\n") << QStringLiteral("Line 1:");
        QTest::newRow("damaged later") << line(1) + "\n" + line(2) + "{\"v\":1\n" << QStringLiteral("Line 4:");
        QTest::newRow("out of order") << line(2) + line(1) << QStringLiteral("does not follow 2");
        QTest::newRow("repeated") << line(1) + line(1) << QStringLiteral("Line 2:");
        QTest::newRow("number zero") << line(0) << QStringLiteral("Line 1:");
        QTest::newRow("other version") << QByteArray("{\"v\":9,\"seq\":1,\"t\":\"2026-12-02T04:11:22Z\",\"run\":\"r\",\"type\":\"x\"}\n") << QStringLiteral("version 9");
    }
    void importRefuses()
    {
        QFETCH(QByteArray, text);
        QFETCH(QString, part);
        const QTemporaryDir dir;
        const Setup s(dir.path());
        QBuffer input(&text);
        QVERIFY(input.open(QIODevice::ReadOnly));
        const auto result = importJsonl(*s.journal, input);
        QVERIFY(!result);
        QVERIFY2(result.error().message.contains(part), qPrintable(result.error().message));
        QCOMPARE(JournalReader::open(dir.path())->runs()->size(), std::size_t(0)); // all or nothing
    }

    void importedRunWithoutAnEndIsInterrupted()
    {
        const QTemporaryDir dir;
        Setup s(dir.path());
        QByteArray text = "{\"v\":1,\"seq\":7,\"t\":\"2026-12-02T04:11:22Z\",\"mono_us\":1,\"run\":\"r\",\"agent\":\"lead\",\"type\":\"run.started\",\"task\":\"x\"}\n";
        QBuffer input(&text);
        QVERIFY(input.open(QIODevice::ReadOnly));
        QVERIFY(importJsonl(*s.journal, input));
        s.journal.reset();
        Setup again(dir.path());
        auto reader = JournalReader::open(dir.path());
        QCOMPARE(reader->run(RunId(QStringLiteral("r")))->status, QStringLiteral("interrupted"));
        QCOMPARE(reader->run(RunId(QStringLiteral("r")))->events, 1); // nothing was added to what somebody else recorded
    }

    void exportsForPeopleAndTools()
    {
        const QTemporaryDir dir;
        {
            Setup s(dir.path());
            s.append(QStringLiteral("r"), started(QStringLiteral("Count ```lines```")));
            s.append(QStringLiteral("r"), AgentStarted{{}, {}, QStringLiteral("Count"), QStringLiteral("m"), 10, {}});
            s.append(QStringLiteral("r"), ModelRequested{1, QStringLiteral("m"), 2, {}, {}});
            s.append(QStringLiteral("r"), ModelResponded{1, Usage{1, 2, 3}, QStringLiteral("tool_calls"), 5,
                                                         aiMessage(QStringLiteral("I count."), {{QStringLiteral("bash"), Json{{"command", "wc -l"}}, QStringLiteral("c1")}})});
            s.append(QStringLiteral("r"), ToolStarted{QStringLiteral("c1"), QStringLiteral("bash"), Json::object(), 1});
            s.append(QStringLiteral("r"), ToolFinished{QStringLiteral("c1"), QStringLiteral("bash"), QStringLiteral("error"), 9, 3, QStringLiteral("12 ```"), {}});
            MiddlewareSpan span;
            span.name = QStringLiteral("sandbox");
            span.hook = QStringLiteral("before_agent");
            span.durationUs = 10;
            s.append(QStringLiteral("r"), span);
            s.append(QStringLiteral("r"), ToolStarted{QStringLiteral("c2"), QStringLiteral("ls"), Json::object(), 1}); // never ends
            s.append(QStringLiteral("r"), RunFinished{QStringLiteral("completed"), QStringLiteral("Twelve."), {}, {}});
        }
        const QString markdown = QString::fromUtf8(exported(dir.path(), QStringLiteral("r"), exportMarkdown));
        for (const char *part : {"# Count ```lines```", "I count.", "Calls `bash`", "wc -l", "12 ```", "````", "## Outcome: completed", "Twelve."})
            QVERIFY2(markdown.contains(QString::fromLatin1(part)), part);

        const auto otlp = parseJson(exported(dir.path(), QStringLiteral("r"), exportOtlp));
        QVERIFY(otlp);
        const Json &spans = (*otlp)["resourceSpans"][0]["scopeSpans"][0]["spans"];
        QCOMPARE(spans.size(), std::size_t(6)); // chat, bash, middleware, run, and what never ended: agent and ls
        QSet<QString> ids;
        QString trace;
        for (const Json &one : spans) {
            QCOMPARE(stringOf(one, "spanId").size(), 16);
            QCOMPARE(stringOf(one, "traceId").size(), 32);
            QVERIFY(trace.isEmpty() || trace == stringOf(one, "traceId"));
            trace = stringOf(one, "traceId");
            ids.insert(stringOf(one, "spanId"));
            QVERIFY(stringOf(one, "startTimeUnixNano").toLongLong() <= stringOf(one, "endTimeUnixNano").toLongLong());
        }
        QCOMPARE(ids.size(), 6);
        for (const Json &one : spans) {
            const QString parent = stringOf(one, "parentSpanId");
            QVERIFY2(parent.isEmpty() || ids.contains(parent), qPrintable(stringOf(one, "name"))); // no orphan
        }
        QCOMPARE(exported(dir.path(), QStringLiteral("none"), exportOtlp), QByteArray());
    }

    void exportsToAFile()
    {
        const QTemporaryDir dir;
        {
            Setup s(dir.path());
            s.append(QStringLiteral("r"), someEvent(1));
        }
        auto reader = JournalReader::open(dir.path());
        const QString path = dir.filePath(QStringLiteral("out.jsonl"));
        QVERIFY(exportRun(*reader, RunId(QStringLiteral("r")), QStringLiteral("jsonl"), path));
        QFile file(path);
        QVERIFY(file.open(QIODevice::ReadOnly));
        QCOMPARE(file.readAll(), exported(dir.path(), QStringLiteral("r")));
        QVERIFY(!exportRun(*reader, RunId(QStringLiteral("r")), QStringLiteral("pdf"), path));
        QVERIFY(!exportRun(*reader, RunId(QStringLiteral("r")), QStringLiteral("jsonl"), dir.filePath(QStringLiteral("no/such/folder"))));
        QVERIFY(!exportRun(*reader, RunId(QStringLiteral("none")), QStringLiteral("jsonl"), path));
        QVERIFY(file.seek(0));
        QCOMPARE(QFile(path).size(), file.size()); // a failed export leaves the old file
        if (QFile::exists(QStringLiteral("/dev/full"))) {
            const auto full = exportRun(*reader, RunId(QStringLiteral("r")), QStringLiteral("jsonl"), QStringLiteral("/dev/full"));
            QVERIFY(!full);
        }
    }

    void storedTextIsBounded()
    {
        QVERIFY(!compressed(QByteArray(100, 'x')));
        const QByteArray text(100'000, 'x');
        const auto frame = compressed(text);
        QVERIFY(frame && frame->size() < 1000);
        QCOMPARE(*decompressed(*frame), text);
        for (const QByteArray &bad : {QByteArray(), QByteArray("junk"), frame->left(frame->size() - 3), QByteArray("\x28\xB5\x2F\xFD\xA0\xFF\xFF\xFF\xFF", 9)})
            QVERIFY(!decompressed(bad));
    }
};

} // namespace tst_journal

PADDOCK_TEST(tst_journal, TestJournal)
#include "tst_journal.moc"
