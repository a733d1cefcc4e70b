// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "tests/support/sample_events.h"
#include "tests/support/test_main.h"
#include "ui/store/agent_names.h"
#include "ui/store/event_feed.h"
#include "ui/store/selection.h"

#include <QSignalSpy>
#include <QTest>

#include <thread>

namespace tst_stores {

using namespace paddock;
using namespace paddock::test;

namespace {

EventPtr eventOf(Seq seq, qint64 mono, const QString &agent, EventBody body, const QString &run = QStringLiteral("r"))
{
    auto event = std::make_shared<Event>();
    event->seq = seq;
    event->mono = std::chrono::microseconds(mono);
    event->run = RunId(run);
    event->agent = AgentId(agent);
    event->body = std::move(body);
    return event;
}

QString utf8(const char *text)
{
    return QString::fromUtf8(text);
}

} // namespace

class TestStores : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void names_data();
    void names();
    void agentsAreCalledByTheirTasks();
    void cancelledTasksAreNoErrors_data();
    void cancelledTasksAreNoErrors();
    void commandsAsWritten();
    void agents();
    void conversation();
    void aCompactedHistoryIsNoted();
    void retriedReplyIsNotSaidTwice();
    void streamingJoins();
    void traceLanes();
    void parallelTasksAreOneBar();
    void tracksNeverOverlap();
    void leases();
    void sandboxSecondLife();
    void shells();
    void files();
    void renameKeepsHistory();
    void approvalsEndWithTheRun();
    void oneSignalABatch();
    void repeatedEventsAreSkipped();
    void hubOrdersRuns();
    void interruptedRunEnds();
    void feedDrainsFromOtherThreads();
    void feedSleepsWhenIdle();
    void selectionSignals();
};

void TestStores::names_data()
{
    QTest::addColumn<QString>("owner");
    QTest::addColumn<QString>("shown");
    QTest::addColumn<QString>("tiny");
    QTest::newRow("lead") << "lead" << "lead" << "lead";
    QTest::newRow("run owner") << "run:8d1f" << "lead" << "lead";
    QTest::newRow("uuid") << "subagent:c41f0000-1111-4222-8333-444455556666" << "subagent:c41f" << "c41f";
    QTest::newRow("named") << "subagent:lexer" << "subagent:lexer" << "lexer";
    QTest::newRow("short hex") << "subagent:beef" << "subagent:beef" << "beef";
    QTest::newRow("unknown") << "unknown" << "unknown" << "unknown";
}

void TestStores::names()
{
    QFETCH(QString, owner);
    QTEST(shortOwner(owner), "shown");
    QTEST(tinyOwner(owner), "tiny");
}

void TestStores::agentsAreCalledByTheirTasks()
{
    RunStore store{RunId(utf8("r"))};
    const auto started = [](const char *what) { return AgentStarted{utf8("lead"), utf8("bash"), utf8(what), {}, 10, utf8("c")}; };
    const QString first = utf8("subagent:c41f0000-1111-4222-8333-444455556666");
    const QString second = utf8("subagent:77ab0000-1111-4222-8333-444455556666");
    const QString third = utf8("subagent:90de0000-1111-4222-8333-444455556666");
    const std::vector<EventPtr> events{eventOf(1, 1, first, started("Languages\nand lines")), eventOf(2, 2, second, started("Debt")),
                                       eventOf(3, 3, third, AgentQueued{1})};
    store.apply(events);
    const AgentTree &agents = store.agents();
    QCOMPARE(agentName(agents, utf8("run:r")), utf8("lead"));
    QCOMPARE(agentNameAndId(agents, utf8("lead")), utf8("lead"));
    QVERIFY(agentName(agents, first).startsWith(utf8("Languages"))); // one line
    QVERIFY(!agentName(agents, first).contains(u'\n'));
    QCOMPARE(agentName(agents, second), utf8("Debt"));
    QCOMPARE(agentShortId(agents, second), utf8("77ab"));
    QCOMPARE(agentNameAndId(agents, second), utf8("Debt (77ab)"));
    QVERIFY(agentToolTip(agents, second).contains(second));
    QCOMPARE(agentName(agents, third), utf8("subagent:90de")); // nothing is known of it yet
    QCOMPARE(agentName(agents, utf8("subagent:gone")), utf8("subagent:gone"));
    QCOMPARE(agentName(agents, utf8("unknown")), utf8("unknown"));
    const EventPtr twin = eventOf(4, 4, third, started("Debt"));
    store.apply(std::span(&twin, 1));
    QCOMPARE(agentName(agents, second), utf8("Debt · 77ab"));
    QCOMPARE(agentNameAndId(agents, third), utf8("Debt · 90de"));
}

void TestStores::cancelledTasksAreNoErrors_data()
{
    QTest::addColumn<QString>("agentStatus");
    QTest::addColumn<QString>("tool");
    QTest::addColumn<QString>("shown");
    QTest::newRow("cancelled") << "cancelled" << "task" << "cancelled";
    QTest::newRow("failed") << "failed" << "task" << "error";
    QTest::newRow("timed out") << "timed_out" << "task" << "error";
    QTest::newRow("another tool of that id") << "cancelled" << "bash" << "error";
}

void TestStores::cancelledTasksAreNoErrors()
{
    QFETCH(QString, agentStatus);
    QFETCH(QString, tool);
    RunStore store{RunId(utf8("r"))};
    const QString lead = utf8("lead");
    const QString child = utf8("subagent:slow");
    const std::vector<EventPtr> events{eventOf(1, 1, lead, ToolStarted{utf8("c1"), tool, {}, 1}),
                                       eventOf(2, 2, child, AgentStarted{lead, utf8("bash"), utf8("Slow"), {}, 10, utf8("c1")}),
                                       eventOf(3, 3, child, AgentFinished{agentStatus, 1, {}, {}, {}}),
                                       eventOf(4, 4, lead, ToolFinished{utf8("c1"), tool, utf8("error"), 3, 1, {}, {}})};
    store.apply(events);
    QFETCH(QString, shown);
    QCOMPARE(store.conversations().find(leadAgent())->items.back().status, shown);
    const quint8 flags = store.trace().flags(store.trace().spanOfCall(leadAgent(), utf8("c1")));
    QCOMPARE(bool(flags & SpanCancelled), shown == u"cancelled");
    QCOMPARE(bool(flags & SpanFailed), shown == u"error");
}

void TestStores::commandsAsWritten()
{
    QCOMPARE(commandAsWritten(utf8("cd /mnt/user-data/workspace; ls -l")), utf8("ls -l"));
    QCOMPARE(commandAsWritten(utf8("cd /mnt/user-data/workspace; cd /mnt/user-data/workspace; ls")), utf8("cd /mnt/user-data/workspace; ls"));
    QCOMPARE(commandAsWritten(utf8("cd /tmp; cd /mnt/user-data/workspace; ls")), utf8("cd /tmp; cd /mnt/user-data/workspace; ls"));
    QCOMPARE(commandAsWritten(QString()), QString());
}

void TestStores::agents()
{
    RunStore store{RunId(utf8("r1"))};
    store.apply(makeSampleRun(utf8("r1"), 1, 0, false).events);
    const AgentTree &tree = store.agents();
    QCOMPARE(tree.agents().size(), size_t(6));
    QCOMPARE(tree.agents().front().id, leadAgent());
    const AgentEntry *lead = tree.find(leadAgent());
    QCOMPARE(lead->step, StepKind::Children);
    QCOMPARE(lead->stepCount, 4);
    const AgentEntry *lexer = tree.find(AgentId(utf8(sampleC41f)));
    QCOMPARE(lexer->state, AgentState::Running);
    QCOMPARE(lexer->step, StepKind::Tool);
    QCOMPARE(lexer->stepName, utf8("bash"));
    QCOMPARE(lexer->tokens(), 3100 + 6300);
    QCOMPARE(tree.depthOf(tree.indexOf(lexer->id)), 1);
    QCOMPARE(tree.find(AgentId(utf8(sample90de)))->state, AgentState::WaitingForPerson);
    QCOMPARE(tree.find(AgentId(utf8(sample31b9)))->state, AgentState::Completed);
    QCOMPARE(tree.find(AgentId(utf8(sampleE2c0)))->state, AgentState::Queued);
    QCOMPARE(tree.running(), 4);
    QCOMPARE(tree.queued(), 1);
}

void TestStores::conversation()
{
    RunStore store{RunId(utf8("r1"))};
    store.apply(makeSampleRun(utf8("r1"), 1, 0, true).events);
    const Conversation *lead = store.conversations().find(leadAgent());
    QVERIFY(lead);
    QCOMPARE(lead->items.front().kind, ItemKind::Task);
    QCOMPARE(lead->items.front().text, utf8("Audit the parser for overflow"));
    const Conversation *lexer = store.conversations().find(AgentId(utf8(sampleC41f)));
    QVERIFY(lexer->items.front().text.startsWith(utf8("Audit the lexer. Report file"))); // the prompt of the task call
    int calls = 0;
    for (const ConversationItem &item : lexer->items) {
        QVERIFY(!item.streaming);
        calls += item.kind == ItemKind::ToolCall;
        if (item.call == u"call_14") {
            QCOMPARE(item.status, utf8("success"));
            QCOMPARE(item.summary, utf8("rg -n memcpy src"));
            QVERIFY(item.detail.contains(utf8("lex.c:118")));
        }
        if (item.call == u"call_15") // the agent ended while it ran
            QCOMPARE(item.status, utf8("cancelled"));
    }
    QCOMPARE(calls, 2);
    const Conversation *helpers = store.conversations().find(AgentId(utf8(sample77ab)));
    QVERIFY(std::any_of(helpers->items.begin(), helpers->items.end(),
                        [](const auto &item) { return item.note == NoteKind::SessionRecovered; }));
}

void TestStores::aCompactedHistoryIsNoted()
{
    RunStore store{RunId(utf8("r"))};
    const MiddlewareActed act{utf8("summarize"), utf8("SummarizationMiddleware"), utf8("before_model"), utf8("compact_history"),
                              Json{{"messages_summarized", 12}}};
    store.apply(std::vector<EventPtr>{eventOf(1, 1, utf8("lead"), act)});
    const Conversation *lead = store.conversations().find(leadAgent());
    QVERIFY(lead);
    QCOMPARE(lead->items.back().note, NoteKind::HistoryCompacted);
    QCOMPARE(lead->items.back().number, 12);
}

void TestStores::retriedReplyIsNotSaidTwice()
{
    RunStore store{RunId(utf8("r"))};
    const QString lead = utf8("lead");
    ModelResponded reply;
    reply.turn = 1;
    reply.message = aiMessage(utf8("Hello there"));
    const std::vector<EventPtr> events{eventOf(1, 1, lead, ModelRequested{1, {}, 1, {}, {}}),
                                       eventOf(2, 2, lead, ModelDelta{1, utf8("Hello "), false}),
                                       eventOf(3, 3, lead, ModelFailed{1, utf8("reset"), utf8("gone"), 1, 500}),
                                       eventOf(4, 4, lead, ModelRequested{1, {}, 1, {}, {}}),
                                       eventOf(5, 5, lead, ModelDelta{1, utf8("Hello there"), false}), eventOf(6, 6, lead, reply)};
    store.apply(events);
    QString said;
    for (const ConversationItem &item : store.conversations().find(leadAgent())->items)
        said += item.kind == ItemKind::Text ? item.text : QString();
    QCOMPARE(said, utf8("Hello there"));
}

void TestStores::streamingJoins()
{
    RunStore store{RunId(utf8("r"))};
    const QString lead = utf8("lead");
    const std::vector<EventPtr> events{eventOf(1, 1, lead, ModelDelta{1, utf8("a"), true}), eventOf(2, 2, lead, ModelDelta{1, utf8("b"), true}),
                                       eventOf(3, 3, lead, ModelDelta{1, utf8("c"), false}), eventOf(4, 4, lead, ModelDelta{1, utf8("d"), false})};
    store.apply(events);
    const auto &items = store.conversations().find(leadAgent())->items;
    QCOMPARE(items.size(), size_t(2));
    QCOMPARE(items[0].kind, ItemKind::Reasoning);
    QCOMPARE(items[0].text, utf8("ab"));
    QCOMPARE(items[1].text, utf8("cd"));
    QVERIFY(items[1].streaming);
}

void TestStores::traceLanes()
{
    RunStore store{RunId(utf8("r1"))};
    store.apply(makeSampleRun(utf8("r1"), 1, 0, false).events);
    const TraceLanes &trace = store.trace();
    QCOMPARE(trace.agents().size(), size_t(6));
    QVERIFY(trace.openSpans() > 0);
    const SpanIndex call = trace.spanOfCall(AgentId(utf8(sampleC41f)), utf8("call_14"));
    QVERIFY(call != noSpan);
    QCOMPARE(trace.kind(call), SpanKind::Tool);
    QCOMPARE(trace.end(call) - trace.start(call), 10'000'000);
    const SpanIndex failed = trace.spanOfCall(AgentId(utf8(sample77ab)), utf8("call_21"));
    QVERIFY(trace.flags(failed) & SpanFailed);
    // Middlewares stand in the order of the chain.
    for (const AgentLanes &agent : trace.agents()) {
        int last = -1;
        for (const quint32 lane : agent.hookLanes) {
            QVERIFY(trace.lanes()[lane].chainIndex > last);
            last = trace.lanes()[lane].chainIndex;
        }
    }
    RunStore ended{RunId(utf8("r1"))};
    ended.apply(makeSampleRun(utf8("r1"), 1, 0, true).events);
    QCOMPARE(ended.trace().openSpans(), 0);
}

void TestStores::parallelTasksAreOneBar()
{
    RunStore store{RunId(utf8("r1"))};
    store.apply(makeSampleRun(utf8("r1"), 1, 0, false).events);
    const TraceLanes &trace = store.trace();
    const SpanIndex first = trace.spanOfCall(leadAgent(), utf8("call_a"));
    QCOMPARE(trace.spanOfCall(leadAgent(), utf8("call_d")), first);
    QCOMPARE(trace.count(first), 4);
    QVERIFY(trace.flags(first) & SpanOpen);
}

void TestStores::tracksNeverOverlap()
{
    RunStore store{RunId(utf8("r"))};
    std::vector<EventPtr> events;
    Seq seq = 1;
    const QString lead = utf8("lead");
    for (int i = 0; i < 200; ++i) // far more at once than a lane has tracks
        events.push_back(eventOf(seq++, 100 + i, lead, ToolStarted{QString::number(i), utf8("bash"), {}, 1}));
    for (int i = 199; i >= 0; --i)
        events.push_back(eventOf(seq++, 1000 + i, lead, ToolFinished{QString::number(i), utf8("bash"), utf8("success"), 1, 1, {}, {}}));
    for (int i = 0; i < 50; ++i)
        events.push_back(eventOf(seq++, 2000 + i, lead, ToolStarted{utf8("x%1").arg(i), utf8("bash"), {}, 2}));
    store.apply(events);
    size_t spans = 0;
    for (const LaneTrack &track : store.trace().lanes().front().tracks) {
        for (size_t i = 0; i < track.starts.size(); ++i) {
            QVERIFY(track.starts[i] <= track.ends[i]);
            if (i > 0)
                QVERIFY(track.starts[i - 1] <= track.starts[i]);
        }
        spans += track.spans.size();
    }
    QCOMPARE(spans, size_t(250));
    QVERIFY(store.trace().lanes().front().tracks.size() <= TraceLanes::maxTracks);
}

void TestStores::leases()
{
    RunStore store{RunId(utf8("r1"))};
    store.apply(makeSampleRun(utf8("r1"), 1, 0, false).events);
    QCOMPARE(store.leases().sandboxes().size(), size_t(1));
    const SandboxLane &sandbox = store.leases().sandboxes().front();
    QCOMPARE(sandbox.reason(), AliveBecause::Held);
    QCOMPARE(sandbox.owners, (QStringList{utf8("run:r1"), utf8(sampleC41f), utf8(sample77ab)}));
    QCOMPARE(sandbox.sessionLimit, 11);
    QCOMPARE(store.leases().sessionsUsed(), 3); // lead, c41f and the second one of 77ab
    QCOMPARE(sandbox.periods.front().requestedAt, 200'000);
    const auto gone = std::find_if(sandbox.periods.begin(), sandbox.periods.end(), [](const auto &p) { return p.owner == utf8(sample31b9); });
    QCOMPARE(gone->state, LeaseState::Released);
    QCOMPARE(gone->releasedAt - gone->drainingAt, 1'900'000);

    RunStore ended{RunId(utf8("r1"))};
    ended.apply(makeSampleRun(utf8("r1"), 1, 0, true).events);
    QCOMPARE(ended.leases().sandboxes().front().reason(), AliveBecause::Ended);
    QCOMPARE(ended.leases().sessionsUsed(), 0);
}

void TestStores::sandboxSecondLife()
{
    RunStore store{RunId(utf8("r"))};
    const QString lead = utf8("lead");
    const std::vector<EventPtr> events{eventOf(1, 10, lead, SandboxAcquired{utf8("s"), utf8("aio"), utf8("embedded"), utf8("created"), 10, 0}),
                                       eventOf(2, 11, lead, LeaseAcquired{utf8("s"), utf8("run:r"), {utf8("run:r")}}),
                                       eventOf(3, 12, lead, LeaseReleased{utf8("s"), utf8("run:r"), {}, true}),
                                       eventOf(4, 13, lead, SandboxReleased{utf8("s"), utf8("aio"), utf8("embedded")}),
                                       eventOf(5, 20, lead, SandboxAcquired{utf8("s"), utf8("aio"), utf8("embedded"), utf8("warm"), 10, 0}),
                                       eventOf(6, 21, lead, LeaseAcquired{utf8("s"), utf8("run:r"), {utf8("run:r")}})};
    store.apply(std::span(events).first(3));
    QCOMPARE(store.leases().sandboxes().front().reason(), AliveBecause::BeingReleased);
    store.apply(std::span(events).subspan(3));
    QCOMPARE(store.leases().sandboxes().size(), size_t(2));
    QCOMPARE(store.leases().sandboxes()[0].until, 13);
    QCOMPARE(store.leases().sandboxes()[1].reason(), AliveBecause::Held);
}

void TestStores::shells()
{
    RunStore store{RunId(utf8("r1"))};
    store.apply(makeSampleRun(utf8("r1"), 1, 0, false).events);
    QCOMPARE(store.shells().shells().size(), size_t(3));
    const ShellEntry *lead = store.shells().find(utf8("run:r1"));
    QCOMPARE(lead->agent, leadAgent());
    QVERIFY(!lead->running());
    QCOMPARE(lead->lastFinished()->exitCode, 0);
    QVERIFY(store.shells().find(utf8(sampleC41f))->running());
    QCOMPARE(store.shells().find(utf8(sample77ab))->recoveries, 1);
    QCOMPARE(store.shells().find(utf8(sample77ab))->session, utf8("91d2-77ab"));
}

void TestStores::files()
{
    RunStore store{RunId(utf8("r1"))};
    store.apply(makeSampleRun(utf8("r1"), 1, 0, false).events);
    const FileEntry *file = store.files().find(utf8("/mnt/user-data/workspace/src/lex.c"));
    QVERIFY(file);
    QCOMPARE(file->added, 3);
    QCOMPARE(file->removed, 1);
    QCOMPARE(file->last().who, utf8(sampleC41f));
    QVERIFY(!file->createdInRun);
}

void TestStores::renameKeepsHistory()
{
    RunStore store{RunId(utf8("r"))};
    FileChanged made;
    made.path = utf8("/a");
    made.op = utf8("created");
    FileChanged moved;
    moved.path = utf8("/b");
    moved.renamedFrom = utf8("/a");
    moved.op = utf8("renamed");
    FileChanged gone;
    gone.path = utf8("/b");
    gone.op = utf8("deleted");
    const std::vector<EventPtr> events{eventOf(1, 1, {}, made), eventOf(2, 2, {}, moved), eventOf(3, 3, {}, gone)};
    store.apply(std::span(events).first(2));
    QVERIFY(!store.files().find(utf8("/a")));
    QCOMPARE(store.files().find(utf8("/b"))->versions.size(), size_t(2));
    store.apply(std::span(events).subspan(2));
    QVERIFY(!store.files().find(utf8("/b"))->exists);
}

void TestStores::approvalsEndWithTheRun()
{
    RunStore store{RunId(utf8("r1"))};
    store.apply(makeSampleRun(utf8("r1"), 1, 0, false).events);
    QCOMPARE(store.approvals().waiting(), 1);
    const EventPtr end = eventOf(100'000, 300'000'000, utf8("lead"), RunFinished{utf8("cancelled"), {}, {}, {}}, utf8("r1"));
    store.apply(std::span(&end, 1));
    QCOMPARE(store.approvals().waiting(), 0);
    QCOMPARE(store.facts().status, utf8("cancelled"));
}

void TestStores::oneSignalABatch()
{
    RunStore store{RunId(utf8("r1"))};
    QSignalSpy agents(&store, &RunStore::agentsChanged);
    QSignalSpy talk(&store, &RunStore::conversationsChanged);
    QSignalSpy trace(&store, &RunStore::traceChanged);
    QSignalSpy leases(&store, &RunStore::leasesChanged);
    QSignalSpy files(&store, &RunStore::filesChanged);
    store.apply(makeSampleRun(utf8("r1"), 1, 0, false).events);
    for (const QSignalSpy *spy : {&agents, &talk, &trace, &leases, &files})
        QCOMPARE(spy->count(), 1);
    const EventPtr delta = eventOf(100'000, 300'000'000, utf8("lead"), ModelDelta{9, utf8("x"), false}, utf8("r1"));
    store.apply(std::span(&delta, 1));
    QCOMPARE(talk.count(), 2);
    QCOMPARE(trace.count(), 1); // untouched parts stay silent
}

void TestStores::repeatedEventsAreSkipped()
{
    RunStore store{RunId(utf8("r1"))};
    const SampleRun sample = makeSampleRun(utf8("r1"), 1, 0, false);
    store.apply(sample.events);
    const size_t spans = store.trace().size();
    store.apply(sample.events);
    QCOMPARE(store.trace().size(), spans);
    QCOMPARE(store.facts().events, qint64(sample.events.size()));
}

void TestStores::hubOrdersRuns()
{
    StoreHub hub;
    QSignalSpy changed(&hub, &StoreHub::runsChanged);
    RunFacts old;
    old.id = RunId(utf8("old"));
    old.started = Clock::Wall(std::chrono::seconds(10));
    RunFacts older = old;
    older.id = RunId(utf8("older"));
    older.started = Clock::Wall(std::chrono::seconds(5));
    hub.setPast({older, old});
    hub.apply(makeSampleRun(utf8("r1"), 1, 0, false).events);
    QCOMPARE(changed.count(), 1);
    hub.apply(makeSampleRun(utf8("r2"), 10'000, 0, false).events);
    const auto ids = [&] {
        QStringList list;
        for (int i = 0; i < hub.count(); ++i)
            list += hub.entry(i).shown().id.value();
        return list;
    };
    QCOMPARE(ids(), (QStringList{utf8("r2"), utf8("r1"), utf8("old"), utf8("older")}));
    QCOMPARE(hub.liveRuns(), 2);
    QCOMPARE(hub.runningAgents(), 8);
    QCOMPARE(hub.waitingApprovals(), 2);
    RunStore *r1 = hub.find(RunId(utf8("r1")));
    hub.setPast({old}); // stores and places of this session stay
    QCOMPARE(hub.find(RunId(utf8("r1"))), r1);
    QCOMPARE(ids(), (QStringList{utf8("r2"), utf8("r1"), utf8("old")}));
}

void TestStores::interruptedRunEnds()
{
    StoreHub hub;
    RunFacts facts;
    facts.id = RunId(utf8("r1"));
    facts.status = utf8("interrupted");
    hub.setPast({facts});
    const SampleRun sample = makeSampleRun(utf8("r1"), 1, 0, false);
    hub.applyStored(RunId(utf8("r1")), sample.events, false);
    QVERIFY(hub.find(RunId(utf8("r1")))->isLoading());
    hub.applyStored(RunId(utf8("r1")), {}, true);
    const RunStore *store = hub.find(RunId(utf8("r1")));
    QVERIFY(!store->isLoading());
    QCOMPARE(store->facts().status, utf8("interrupted"));
    QCOMPARE(store->agents().running(), 0);
    QCOMPARE(store->trace().openSpans(), 0);
    QCOMPARE(hub.liveRuns(), 0);
}

void TestStores::feedDrainsFromOtherThreads()
{
    auto bus = std::make_shared<EventBus>();
    StoreHub hub;
    EventFeed feed(bus, &hub);
    QSignalSpy drained(&hub, &StoreHub::drained);
    std::thread producer([bus] {
        for (int i = 0; i < 1000; ++i)
            bus->append(RunId(utf8("r")), leadAgent(), ModelDelta{1, utf8("x"), false});
    });
    producer.join();
    QTRY_COMPARE(hub.eventsSeen(), 1000);
    QVERIFY(drained.count() <= 20); // batches, not single events
    QCOMPARE(hub.find(RunId(utf8("r")))->conversations().find(leadAgent())->items.front().text.size(), 1000);
}

void TestStores::feedSleepsWhenIdle()
{
    auto bus = std::make_shared<EventBus>();
    StoreHub hub;
    EventFeed feed(bus, &hub);
    bus->append(RunId(utf8("r")), leadAgent(), ModelDelta{1, utf8("x"), false});
    QTRY_COMPARE(hub.eventsSeen(), 1);
    // Nothing is armed: an idle window does not wake up.
    for (const QTimer *timer : feed.findChildren<QTimer *>())
        QVERIFY(!timer->isActive());
    QSignalSpy drained(&hub, &StoreHub::drained);
    feed.drainNow();
    QCOMPARE(drained.count(), 0);
    bus->append(RunId(utf8("r")), leadAgent(), ModelDelta{1, utf8("y"), false});
    QTRY_COMPARE(hub.eventsSeen(), 2); // and it wakes again
}

void TestStores::selectionSignals()
{
    RunStore a{RunId(utf8("a"))};
    Selection selection;
    QSignalSpy run(&selection, &Selection::runChanged);
    QSignalSpy agent(&selection, &Selection::agentChanged);
    selection.setRun(&a);
    selection.setRun(&a);
    QCOMPARE(run.count(), 1);
    selection.setAgent(AgentId(utf8(sampleC41f)));
    QCOMPARE(agent.count(), 2);
    QCOMPARE(run.count(), 1);
}

} // namespace tst_stores

PADDOCK_TEST(tst_stores, TestStores)
#include "tst_stores.moc"
