// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "tests/core/agent/agent_fixture.h"
#include "tests/support/test_main.h"

namespace tst_agent_loop {

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;

namespace {

/// Jumps, ends or answers as the test says; remembers what ran.
class ProbeMember : public Middleware
{
public:
    QStringList ran;
    JumpTo beforeModelJump = JumpTo::None; ///< once
    bool answerCalls = false;
    QString name() const override { return QStringLiteral("ProbeMember"); }
    Hooks hooks() const override { return Hook::BeforeAgent | Hook::BeforeModel | Hook::AfterModel | Hook::AfterAgent; }
    std::vector<JumpTo> jumpTargets() const override { return {JumpTo::Model, JumpTo::End}; }
    Task<Result<StateUpdate>> beforeAgent(AgentState, RuntimePtr) override
    {
        ran << QStringLiteral("before_agent");
        co_return StateUpdate{};
    }
    Task<Result<StateUpdate>> beforeModel(AgentState, RuntimePtr runtime) override
    {
        ran << QStringLiteral("before_model %1").arg(runtime->turn);
        StateUpdate update;
        update.jumpTo = std::exchange(beforeModelJump, JumpTo::None);
        co_return update;
    }
    Task<Result<StateUpdate>> afterModel(AgentState state, RuntimePtr) override
    {
        ran << QStringLiteral("after_model");
        StateUpdate update;
        if (answerCalls) {
            for (const ToolCall &call : state.messages.last()->toolCalls)
                update.messages.push_back(toolMessage(call.id, call.name, QStringLiteral("by the chain")));
        }
        co_return update;
    }
    Task<Result<StateUpdate>> afterAgent(AgentState, RuntimePtr) override
    {
        ran << QStringLiteral("after_agent");
        co_return StateUpdate{};
    }
};

struct Bench {
    std::shared_ptr<ProbeMember> probe = std::make_shared<ProbeMember>();
    std::shared_ptr<EventBus> bus = std::make_shared<EventBus>();
    std::shared_ptr<EventQueue> queue = bus->subscribe();
    std::stop_source stop;
    AgentSpec spec;
    std::vector<std::shared_ptr<const Event>> events;

    explicit Bench(const QByteArray &turns)
    {
        spec.model = std::make_shared<ScriptedModel>(scenarioOf("  - turns:\n" + turns));
        spec.chain = *Chain::compile({probe});
        spec.tools = {std::make_shared<BodyTool>(QStringLiteral("echo"), echoBody),
                      std::make_shared<BodyTool>(QStringLiteral("wait"), waitBody)};
    }
    Result<AgentOutcome> run()
    {
        auto runtime = std::make_shared<RuntimeContext>();
        runtime->events = EventSink(bus, RunId(QStringLiteral("r")), leadAgent());
        runtime->stop = stop.get_token();
        auto outcome = spin(runAgent(spec, {{humanMessage(QStringLiteral("hi"))}, {}}, runtime));
        events = queue->drain();
        return outcome ? *outcome : Result<AgentOutcome>(fail(ErrorCode::Timeout, QStringLiteral("did not end")));
    }
    QStringList texts(const AgentOutcome &outcome) const
    {
        QStringList list;
        for (const MessagePtr &message : outcome.state.messages)
            list << roleName(message->role) + u':' + textOf(message);
        return list;
    }
};

} // namespace

class TestAgentLoop : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void turnsUntilNoCalls();
    void resultsStandInCallOrder();
    void unknownToolsAndBadArguments();
    void toolThatThrows();
    void toolErrorEndsTheRunAndStopsSiblings();
    void returnDirect();
    void commandUpdatesAndEnds();
    void turnLimitCountsModelCalls_data();
    void turnLimitCountsModelCalls();
    void jumps();
    void callsAnsweredByTheChain();
    void endlessJumpIsAnError();
    void cancelledEverywhere_data();
    void cancelledEverywhere();
    void cancelledCallsSayWhy_data();
    void cancelledCallsSayWhy();
    void modelErrorsEndTheRun();
    void tellsWhatHappens();
};

void TestAgentLoop::turnsUntilNoCalls()
{
    Bench b("      - calls: [{tool: echo, args: {text: A}}]\n      - say: done\n");
    const auto outcome = b.run();
    QVERIFY2(outcome, outcome ? "" : qPrintable(outcome.error().message));
    QCOMPARE(b.texts(*outcome), (QStringList{QStringLiteral("human:hi"), QStringLiteral("ai:"), QStringLiteral("tool:A"), QStringLiteral("ai:done")}));
    QCOMPARE(outcome->turns, 2);
    QVERIFY(!outcome->turnLimitHit);
    QVERIFY(outcome->usage.total > 0);
    QCOMPARE(b.probe->ran.join(u' '), QStringLiteral("before_agent before_model 1 after_model before_model 2 after_model after_agent"));
}

void TestAgentLoop::resultsStandInCallOrder()
{
    Bench b("      - calls: [{tool: wait, args: {ms: 30}}, {tool: echo, args: {text: fast}}, {tool: wait, args: {ms: 10}}]\n      - say: done\n");
    const auto outcome = b.run();
    QVERIFY(outcome);
    QCOMPARE(b.texts(*outcome).mid(2, 3), (QStringList{QStringLiteral("tool:waited"), QStringLiteral("tool:fast"), QStringLiteral("tool:waited")}));
}

void TestAgentLoop::unknownToolsAndBadArguments()
{
    Bench b("      - calls: [{tool: nope}, {tool: echo, args: {text: 7}}, {tool: echo, args: '{\"text'}]\n      - say: done\n");
    const auto outcome = b.run();
    QVERIFY(outcome);
    const auto &messages = outcome->state.messages;
    QCOMPARE(textOf(messages[2]), QStringLiteral("Error: nope is not a valid tool, try one of [echo, wait]."));
    QCOMPARE(messages[2]->status, ToolStatus::Error);
    QVERIFY(textOf(messages[3]).startsWith(u"Error invoking tool 'echo' with kwargs {\"text\":7} with error:\n "));
    QVERIFY(textOf(messages[3]).endsWith(u"\n Please fix the error and try again."));
    QCOMPARE(textOf(messages[4]), QStringLiteral("done")); // the broken call was never run
}

void TestAgentLoop::toolThatThrows()
{
    Bench b("      - calls: [{tool: bang}]\n      - say: done\n");
    b.spec.tools.push_back(std::make_shared<BodyTool>(QStringLiteral("bang"), [](ToolCallContext) -> Task<Result<ToolOutcome>> {
        throw std::runtime_error("bang");
        co_return cancelled();
    }));
    const auto outcome = b.run();
    QVERIFY(!outcome);
    QVERIFY2(outcome.error().message.contains(u"bang"), qPrintable(outcome.error().message));
    b.spec.chain = *Chain::compile({std::make_shared<ProbeMember>()});
}

void TestAgentLoop::toolErrorEndsTheRunAndStopsSiblings()
{
    Bench b("      - calls: [{tool: wait}, {tool: broken}]\n      - say: done\n");
    b.spec.tools.push_back(std::make_shared<BodyTool>(QStringLiteral("broken"), [](ToolCallContext) -> Task<Result<ToolOutcome>> {
        co_return fail(ErrorCode::Io, QStringLiteral("disk gone"));
    }));
    const auto outcome = b.run(); // would take ten minutes if the sibling were not stopped
    QVERIFY(!outcome);
    QCOMPARE(outcome.error().message, QStringLiteral("disk gone"));
}

void TestAgentLoop::returnDirect()
{
    Bench b("      - calls: [{tool: final, args: {text: F}}]\n      - say: never\n");
    b.spec.tools.push_back(std::make_shared<BodyTool>(QStringLiteral("final"), echoBody, true));
    const auto outcome = b.run();
    QVERIFY(outcome);
    QCOMPARE(outcome->turns, 1);
    QCOMPARE(textOf(outcome->state.messages.last()), QStringLiteral("F"));
    Bench mixed("      - calls: [{tool: final, args: {text: F}}, {tool: echo}]\n      - say: on\n");
    mixed.spec.tools.push_back(std::make_shared<BodyTool>(QStringLiteral("final"), echoBody, true));
    QCOMPARE(mixed.run()->turns, 2);
}

void TestAgentLoop::commandUpdatesAndEnds()
{
    Bench b("      - calls: [{tool: stop, id: s}, {tool: echo, args: {text: x}}]\n      - say: never\n");
    b.spec.tools.push_back(std::make_shared<BodyTool>(QStringLiteral("stop"), [](ToolCallContext) -> Task<Result<ToolOutcome>> {
        Command command;
        command.update.messages = {toolMessage({}, {}, QStringLiteral("stopped"))};
        command.update.channels["artifacts"] = Json::array({"a"});
        command.end = true;
        co_return ToolOutcome(command);
    }));
    const auto outcome = b.run();
    QVERIFY(outcome);
    QCOMPARE(outcome->turns, 1);
    QCOMPARE(outcome->state.messages[2]->toolCallId, QStringLiteral("s"));
    QCOMPARE(textOf(outcome->state.messages.last()), QStringLiteral("x"));
    QCOMPARE(outcome->state.channels["artifacts"].size(), 1u);
    QVERIFY(!b.probe->ran.contains(QStringLiteral("after_agent")));
}

void TestAgentLoop::turnLimitCountsModelCalls_data()
{
    QTest::addColumn<int>("max");
    QTest::addColumn<int>("turns");
    QTest::addColumn<bool>("hit");
    QTest::newRow("enough") << 4 << 4 << false;
    QTest::newRow("one short") << 3 << 3 << true;
    QTest::newRow("one") << 1 << 1 << true;
    QTest::newRow("zero is one") << 0 << 1 << true;
    QTest::newRow("negative is one") << -3 << 1 << true;
}

void TestAgentLoop::turnLimitCountsModelCalls()
{
    QFETCH(int, max);
    QFETCH(int, turns);
    QFETCH(bool, hit);
    Bench b("      - calls: [{tool: echo}]\n        repeat: 3\n      - say: done\n");
    b.spec.maxTurns = max;
    const auto outcome = b.run();
    QVERIFY(outcome);
    QCOMPARE(outcome->turns, turns);
    QCOMPARE(outcome->turnLimitHit, hit);
}

void TestAgentLoop::jumps()
{
    Bench again("      - say: done\n");
    again.probe->beforeModelJump = JumpTo::Model;
    const auto outcome = again.run();
    QVERIFY(outcome);
    QCOMPARE(outcome->turns, 1);
    QCOMPARE(again.probe->ran.count(QStringLiteral("before_model 1")), 2);
    Bench end("      - say: done\n");
    end.probe->beforeModelJump = JumpTo::End;
    const auto ended = end.run();
    QVERIFY(ended);
    QCOMPARE(ended->turns, 0);
    QVERIFY(end.probe->ran.contains(QStringLiteral("after_agent")));
}

void TestAgentLoop::callsAnsweredByTheChain()
{
    Bench b("      - calls: [{tool: echo, args: {text: never}}]\n      - say: done\n");
    b.probe->answerCalls = true;
    const auto outcome = b.run();
    QVERIFY(outcome);
    QCOMPARE(b.texts(*outcome).mid(2), (QStringList{QStringLiteral("tool:by the chain"), QStringLiteral("ai:done")}));
}

void TestAgentLoop::endlessJumpIsAnError()
{
    class Endless : public ProbeMember
    {
        Task<Result<StateUpdate>> beforeModel(AgentState, RuntimePtr) override
        {
            StateUpdate update;
            update.jumpTo = JumpTo::Model;
            co_return update;
        }
    };
    Bench b("      - say: done\n");
    b.spec.chain = *Chain::compile({std::make_shared<Endless>()});
    const auto outcome = b.run();
    QVERIFY(!outcome && !outcome.error().isCancelled());
}

void TestAgentLoop::cancelledEverywhere_data()
{
    QTest::addColumn<QByteArray>("turns");
    QTest::newRow("model hangs") << QByteArray("      - fault: {hang: true}\n");
    QTest::newRow("model waits") << QByteArray("      - {say: x, delay: 5m}\n");
    QTest::newRow("model streams") << QByteArray("      - {say: abc, stream: {chunk: 1, every: 5m}}\n");
    QTest::newRow("one tool") << QByteArray("      - calls: [{tool: wait}]\n");
    QTest::newRow("several tools") << QByteArray("      - calls: [{tool: wait}, {tool: wait}, {tool: echo}]\n");
    QTest::newRow("second turn") << QByteArray("      - calls: [{tool: echo}]\n      - fault: {hang: true}\n");
}

void TestAgentLoop::cancelledEverywhere()
{
    QFETCH(QByteArray, turns);
    Bench b(turns);
    QTimer::singleShot(10, [&] { b.stop.request_stop(); });
    const auto outcome = b.run();
    QVERIFY(!outcome && outcome.error().isCancelled());
    Bench early("      - say: x\n");
    early.stop.request_stop();
    QVERIFY(early.run().error().isCancelled());
}

void TestAgentLoop::cancelledCallsSayWhy_data()
{
    QTest::addColumn<QString>("why");
    QTest::addColumn<bool>("fromOutside");
    QTest::addColumn<QString>("says");
    QTest::newRow("known") << QStringLiteral("The scenario cancelled this agent.") << true << QStringLiteral("The scenario cancelled this agent.");
    QTest::newRow("not known") << QString() << true << QStringLiteral("The agent was cancelled.");
    QTest::newRow("a sibling failed") << QStringLiteral("Nobody asked.") << false << QStringLiteral("Another call of the same turn failed.");
}

void TestAgentLoop::cancelledCallsSayWhy()
{
    QFETCH(QString, why);
    QFETCH(bool, fromOutside);
    QFETCH(QString, says);
    Bench b(fromOutside ? "      - calls: [{tool: wait}]\n" : "      - calls: [{tool: wait}, {tool: broken}]\n");
    b.spec.tools.push_back(std::make_shared<BodyTool>(QStringLiteral("broken"), [](ToolCallContext) -> Task<Result<ToolOutcome>> {
        co_return fail(ErrorCode::Io, QStringLiteral("disk gone"));
    }));
    b.spec.whyStopped = [why] { return why; };
    if (fromOutside)
        QTimer::singleShot(10, [&] { b.stop.request_stop(); });
    QVERIFY(!b.run());
    QStringList told;
    for (const auto &event : b.events) {
        const auto *finished = std::get_if<ToolFinished>(&event->body);
        if (finished && finished->status == u"cancelled")
            told << finished->preview;
    }
    QCOMPARE(told, QStringList(says));
}

void TestAgentLoop::modelErrorsEndTheRun()
{
    Bench b("      - fault: {http: 503}\n");
    const auto outcome = b.run();
    QVERIFY(!outcome);
    QCOMPARE(intOf(outcome.error().details, "status"), 503);
    int failures = 0;
    for (const auto &event : b.events)
        failures += std::holds_alternative<ModelFailed>(event->body);
    QCOMPARE(failures, 1);
}

void TestAgentLoop::tellsWhatHappens()
{
    Bench b("      - {say: abcd, stream: {chunk: 2}, calls: [{tool: echo, id: e, args: {text: A}}]}\n      - say: done\n");
    QStringList kept;
    b.spec.blobs = [&](const MessagePtr &message) {
        kept << contentHash(message);
        return contentHash(message);
    };
    QVERIFY(b.run());
    QStringList types;
    SpanId toolSpan = 0;
    SpanId turnSpan = 0;
    for (const auto &event : b.events) {
        types << eventType(event->body);
        if (const auto *request = std::get_if<ModelRequested>(&event->body)) {
            QCOMPARE(request->messageHashes.size(), request->messages);
            for (const QString &hash : request->messageHashes)
                QVERIFY(kept.contains(hash));
            if (turnSpan == 0)
                turnSpan = event->parent;
        }
        if (const auto *started = std::get_if<ToolStarted>(&event->body)) {
            toolSpan = event->span;
            QCOMPARE(event->parent, turnSpan);
            QCOMPARE(started->turn, 1);
        }
        if (const auto *finished = std::get_if<ToolFinished>(&event->body)) {
            QCOMPARE(event->span, toolSpan);
            QCOMPARE(finished->status, QStringLiteral("success"));
            QCOMPARE(finished->preview, QStringLiteral("A"));
            QCOMPARE(finished->bytes, 1);
            QVERIFY(kept.contains(finished->message));
        }
    }
    QVERIFY(turnSpan != 0 && toolSpan != 0);
    types.removeAll(QStringLiteral("middleware.span"));
    QCOMPARE(types.join(u' '), QStringLiteral("model.request model.delta model.delta model.response tool.started tool.finished "
                                              "model.request model.delta model.response"));
}

} // namespace tst_agent_loop

PADDOCK_TEST(tst_agent_loop, TestAgentLoop)
#include "tst_agent_loop.moc"
