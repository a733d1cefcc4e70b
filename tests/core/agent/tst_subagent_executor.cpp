// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// Real loops, real chains, real leases, the real task tool; only the model's words and the sandbox's inside are made up.
#include "core/agent/subagent_loop.h"
#include "core/agent/subagent_executor.h"
#include "tests/core/agent/agent_fixture.h"
#include "tests/support/test_main.h"

namespace tst_subagent_executor {

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;

namespace {

QByteArray leadDispatching(const QByteArray &calls, const QByteArray &rest = "      - say: \"${result.a}\"\n")
{
    return "  - match: {agent: lead}\n    turns:\n      - calls: [" + calls + "]\n" + rest;
}
const QByteArray oneTask = "{tool: task, id: a, args: {description: d, prompt: do it, subagent_type: general-purpose}}";

AdmissionOptions slots(int running, int queued = 1000)
{
    AdmissionOptions options;
    options.maxRunning = running;
    options.maxQueued = queued;
    return options;
}

} // namespace

class TestSubagentExecutor : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void oneSubagent();
    void runsOnItsOwnLoop();
    void nothingOfItsMessagesInTheParent();
    void refusals_data();
    void refusals();
    void failuresAreResults_data();
    void failuresAreResults();
    void deadlineCoversQueueAndRun();
    void turnCap();
    void parentCancelled_data();
    void parentCancelled();
    void oneAgentCancelled_data();
    void oneAgentCancelled();
    void queueFull();
    void sharedLeaseIsReleasedOnce();
    void teardownInOrder();
    void usageReachesTheLead();
    void identityIsForwarded();
    void twoHundred();
    void brokenFactories();
};

void TestSubagentExecutor::oneSubagent()
{
    World w(leadDispatching(oneTask) + "  - turns:\n      - {expect: {last_user: do it, system: report_contract, not_tools: [task]}, calls: [{tool: touch}]}\n      - say: found it\n");
    const LeadReport report = w.run();
    QCOMPARE(report.status, QStringLiteral("completed"));
    QCOMPARE(report.answer, QStringLiteral("Task Succeeded. Result: found it"));
    QCOMPARE(w.held(), QString());
    const auto started = w.all<AgentStarted>();
    QCOMPARE(started.size(), 2u);
    QCOMPARE(started[1].parent, QStringLiteral("lead"));
    QCOMPARE(started[1].subagentType, QStringLiteral("general-purpose"));
    QCOMPARE(started[1].call, QStringLiteral("a"));
    QCOMPARE(started[1].maxTurns, 150);
    const auto finished = w.all<AgentFinished>();
    QCOMPARE(finished.size(), 2u);
    QCOMPARE(finished[0].status, QStringLiteral("completed"));
    QCOMPARE(finished[0].turns, 2);
}

void TestSubagentExecutor::runsOnItsOwnLoop()
{
    World w(leadDispatching(oneTask) + "  - turns:\n      - calls: [{tool: where}]\n      - say: ok\n");
    static QString name;
    const auto base = w.services->tools;
    w.services->tools = [base](const ToolsRequest &request) {
        auto tools = base(request);
        tools->push_back(std::make_shared<BodyTool>(QStringLiteral("where"), [](ToolCallContext context) -> Task<Result<ToolOutcome>> {
            name = QThread::currentThread()->objectName();
            return echoBody(std::move(context));
        }));
        return tools;
    };
    w.run();
    QCOMPARE(name, QStringLiteral("subagent-persistent-loop"));
}

void TestSubagentExecutor::nothingOfItsMessagesInTheParent()
{
    // Request, call, result, and the ledgers of receipts and of delegations.
    World w(leadDispatching(oneTask, "      - {expect: {messages_max: 5, not_system: report_contract}, say: fine}\n")
            + "  - turns:\n      - {say: secret thought, calls: [{tool: echo, args: {text: secret result}}]}\n      - say: public\n");
    const LeadReport report = w.run();
    QCOMPARE(report.answer, QStringLiteral("fine"));
    for (const auto &event : w.events) {
        if (event->agent.value() != u"lead")
            continue;
        if (const auto *response = std::get_if<ModelResponded>(&event->body))
            QVERIFY(!textOf(response->message).contains(u"secret"));
        QVERIFY(!std::holds_alternative<ModelDelta>(event->body) || !std::get<ModelDelta>(event->body).text.contains(u"secret"));
    }
}

void TestSubagentExecutor::refusals_data()
{
    QTest::addColumn<QByteArray>("type");
    QTest::addColumn<bool>("hostBash");
    QTest::addColumn<QStringList>("allowed");
    QTest::addColumn<QString>("answer");
    const QStringList all{QStringLiteral("*")};
    QTest::newRow("bash gate") << QByteArray("bash") << false << all
                               << "Task failed. Error: Bash subagent is disabled for LocalSandboxProvider because host bash execution is not a "
                                  "secure sandbox boundary. Switch to AioSandboxProvider for isolated bash access, or set "
                                  "sandbox.allow_host_bash: true only in a fully trusted local environment.";
    QTest::newRow("unknown") << QByteArray("nope") << true << all << "Task failed. Error: Unknown subagent type 'nope'. Available: general-purpose, bash";
    QTest::newRow("unknown, gate shut") << QByteArray("nope") << false << all << "Task failed. Error: Unknown subagent type 'nope'. Available: general-purpose";
    QTest::newRow("not permitted") << QByteArray("general-purpose") << true << QStringList{QStringLiteral("bash")}
                                   << "Task failed. Error: Unknown subagent type 'general-purpose'. Available: bash";
    QTest::newRow("none permitted") << QByteArray("bash") << true << QStringList() << "Task failed. Error: Unknown subagent type 'bash'. Available: none permitted by caller policy";
}

void TestSubagentExecutor::refusals()
{
    QFETCH(QByteArray, type);
    QFETCH(bool, hostBash);
    QFETCH(QStringList, allowed);
    QFETCH(QString, answer);
    World w(leadDispatching("{tool: task, id: a, args: {prompt: p, subagent_type: " + type + "}}"));
    w.services->hostBashAllowed = [hostBash] { return hostBash; };
    LeadRequest request = w.request();
    if (allowed != QStringList{QStringLiteral("*")})
        request.allowedSubagents = allowed;
    QCOMPARE(w.run(request).answer, answer);
    QCOMPARE(w.all<AgentStarted>().size(), 1u); // the lead's
    QCOMPARE(w.provider->acquired.load(), 0);
    QCOMPARE(w.held(), QString());
}

void TestSubagentExecutor::failuresAreResults_data()
{
    QTest::addColumn<QByteArray>("turns");
    QTest::addColumn<QString>("answer");
    QTest::newRow("empty answer") << QByteArray("      - say: \"\"\n") << "Task Succeeded. Result: No response generated";
    QTest::newRow("model fails") << QByteArray("      - fault: {malformed: true, times: 99}\n") << "Task failed. Error: ";
    QTest::newRow("model fails for good") << QByteArray("      - fault: {http: 503, retry_after: 1ms, times: 99}\n")
                                          << "Task failed. Error: The configured LLM provider is temporarily unavailable after multiple retries.";
    QTest::newRow("model fails twice") << QByteArray("      - {say: there, fault: {http: 529, retry_after: 1ms, times: 2}}\n") << "Task Succeeded. Result: there";
}

void TestSubagentExecutor::failuresAreResults()
{
    QFETCH(QByteArray, turns);
    QFETCH(QString, answer);
    World w(leadDispatching(oneTask) + "  - turns:\n" + turns);
    const LeadReport report = w.run();
    QCOMPARE(report.status, QStringLiteral("completed"));
    QVERIFY2(report.answer.startsWith(answer), qPrintable(report.answer));
    QCOMPARE(w.held(), QString());
}

void TestSubagentExecutor::deadlineCoversQueueAndRun()
{
    // One slot and two tasks: the second is still queued when its second is over.
    World w(leadDispatching(oneTask + ", {tool: task, id: b, args: {prompt: do it, subagent_type: general-purpose}}",
                            "      - say: \"${result.a} / ${result.b}\"\n")
                + "  - turns:\n      - calls: [{tool: touch}, {tool: wait}]\n",
            slots(1));
    w.services->subagents.overrides[QStringLiteral("general-purpose")].timeoutSeconds = 1;
    const LeadReport report = w.run();
    const QString late = QStringLiteral("Task timed out. Error: Execution timed out after 1 seconds");
    QCOMPARE(report.answer, late + QStringLiteral(" / ") + late);
    QCOMPARE(w.all<AgentQueued>().size(), 1u);
    QCOMPARE(w.held(), QString());
}

void TestSubagentExecutor::turnCap()
{
    World w(leadDispatching(oneTask) + "  - turns:\n      - {say: half way, calls: [{tool: echo}], repeat: 9}\n");
    w.services->subagents.maxTurns = 2;
    QCOMPARE(w.run().answer, QStringLiteral("Task Succeeded (capped: turn budget). Result: half way"));
    World none(leadDispatching(oneTask) + "  - turns:\n      - {calls: [{tool: echo}], repeat: 9}\n");
    none.services->subagents.maxTurns = 2;
    QCOMPARE(none.run().answer, QStringLiteral("Task failed (capped: turn budget). Error: Reached max_turns=2"));
}

void TestSubagentExecutor::parentCancelled_data()
{
    QTest::addColumn<QByteArray>("turns");
    QTest::addColumn<int>("running");
    QTest::newRow("in a tool") << QByteArray("      - calls: [{tool: touch}]\n      - calls: [{tool: wait}]\n") << 3;
    QTest::newRow("in the model") << QByteArray("      - calls: [{tool: touch}]\n      - fault: {hang: true}\n") << 3;
    QTest::newRow("while streaming") << QByteArray("      - {say: abc, stream: {chunk: 1, every: 5m}}\n") << 3;
    QTest::newRow("some queued") << QByteArray("      - calls: [{tool: touch}]\n      - calls: [{tool: wait}]\n") << 1;
}

void TestSubagentExecutor::parentCancelled()
{
    QFETCH(QByteArray, turns);
    QFETCH(int, running);
    World w(leadDispatching(oneTask + ", {tool: task, args: {prompt: p, subagent_type: general-purpose}}, {tool: touch}") + "  - turns:\n" + turns,
            slots(running));
    const auto pending = begin(runLead(w.services, w.request()));
    // Wait until as many as may are at work.
    QVERIFY(spinUntil([&] {
        w.drain();
        return int(w.all<AgentStarted>().size()) == 1 + std::min(2, running) && w.all<ModelRequested>().size() >= 2u;
    }));
    w.stop.request_stop();
    w.stop.request_stop();
    QVERIFY(spinUntil([&] { return pending.done(); }));
    QCOMPARE(pending.value().status, QStringLiteral("cancelled"));
    QCOMPARE(w.held(), QString()); // at once: whoever cancels waits for the teardown
    w.drain();
    for (const AgentFinished &finished : w.all<AgentFinished>())
        QCOMPARE(finished.status, QStringLiteral("cancelled"));
    QCOMPARE(w.all<AgentFinished>().size(), 3u);
}

void TestSubagentExecutor::oneAgentCancelled_data()
{
    QTest::addColumn<int>("cause");
    QTest::addColumn<QString>("told");
    QTest::newRow("by a person") << int(StopCause::User) << QStringLiteral("A person cancelled this agent.");
    QTest::newRow("by the scenario") << int(StopCause::Scenario) << QStringLiteral("The scenario cancelled this agent.");
}

void TestSubagentExecutor::oneAgentCancelled()
{
    QFETCH(int, cause);
    QFETCH(QString, told);
    World w(leadDispatching(oneTask + ", {tool: task, id: b, args: {prompt: slow, subagent_type: slow}}",
                            "      - say: \"${result.a} / ${result.b}\"\n")
            + "  - match: {prompt: slow}\n    turns:\n      - calls: [{tool: wait}]\n"
              "  - turns:\n      - calls: [{tool: touch}]\n      - say: fine\n");
    SubagentDefinition slow;
    slow.name = QStringLiteral("slow");
    w.services->subagents.custom.push_back(slow);
    const auto pending = begin(runLead(w.services, w.request()));
    QVERIFY(spinUntil([&] {
        w.drain();
        return w.all<AgentStarted>().size() == 3u;
    }));
    QString victim;
    for (const auto &event : w.events) {
        const auto *started = std::get_if<AgentStarted>(&event->body);
        if (started && started->subagentType == u"slow")
            victim = event->agent.value();
    }
    QVERIFY(victim.startsWith(u"subagent:"));
    w.services->registry->requestCancel(victim, StopCause(cause));
    QVERIFY(spinUntil([&] { return pending.done(); }));
    QCOMPARE(pending.value().status, QStringLiteral("completed"));
    QCOMPARE(pending.value().answer,
             QStringLiteral("Task Succeeded. Result: fine / Task cancelled by user. Error: Cancelled by user"));
    QCOMPARE(w.held(), QString());
    w.drain();
    int cancelledAgents = 0;
    for (const AgentFinished &finished : w.all<AgentFinished>()) { // the words for models stay; people are told who it was
        QCOMPARE(finished.cause.value_or(QString()), finished.status == u"cancelled" ? told : QString());
        cancelledAgents += finished.status == u"cancelled" ? 1 : 0;
    }
    QCOMPARE(cancelledAgents, 1);
    QVERIFY(!w.services->registry->requestCancel(victim));
}

void TestSubagentExecutor::queueFull()
{
    World w(leadDispatching(oneTask + ", {tool: task, id: b, args: {prompt: p, subagent_type: general-purpose}}", "      - say: \"${result.b}\"\n")
                + "  - turns:\n      - calls: [{tool: wait, args: {ms: 30}}]\n      - say: ok\n",
            slots(1, 0));
    QCOMPARE(w.run().answer, QStringLiteral("Task failed. Error: Subagent execution capacity is full (1 running, 0 queued)"));
    QCOMPARE(w.held(), QString());
}

void TestSubagentExecutor::sharedLeaseIsReleasedOnce()
{
    World w(leadDispatching("{tool: touch}, " + oneTask + ", {tool: task, args: {prompt: p, subagent_type: general-purpose}}", "      - say: done\n")
            + "  - turns:\n      - calls: [{tool: touch}, {tool: touch}]\n      - say: ok\n");
    QCOMPARE(w.run().status, QStringLiteral("completed"));
    int last = 0;
    for (const LeaseReleased &released : w.all<LeaseReleased>())
        last += released.last;
    QCOMPARE(w.all<LeaseAcquired>().size(), 3u);
    QCOMPARE(w.all<LeaseReleased>().size(), 3u);
    QCOMPARE(last, 1);
    QCOMPARE(w.all<SandboxReleased>().size(), 1u);
    QCOMPARE(w.held(), QString());
}

void TestSubagentExecutor::teardownInOrder()
{
    World w(leadDispatching(oneTask) + "  - turns:\n      - calls: [{tool: touch}]\n      - calls: [{tool: wait}]\n");
    const auto pending = begin(runLead(w.services, w.request()));
    QVERIFY(spinUntil([&] {
        w.drain();
        return w.all<ToolStarted>().size() == 3u;
    }));
    w.stop.request_stop();
    QVERIFY(spinUntil([&] { return pending.done(); }));
    w.drain();
    const QString sub = QStringLiteral("subagent:");
    int toolEnd = -1;
    for (std::size_t i = 0; i < w.events.size(); ++i) {
        if (w.events[i]->agent.value().startsWith(sub) && std::holds_alternative<ToolFinished>(w.events[i]->body))
            toolEnd = int(i);
    }
    const int released = w.indexOf<LeaseReleased>(sub);
    const int finished = w.indexOf<AgentFinished>(sub);
    QVERIFY(toolEnd >= 0 && released > toolEnd && finished > released);
    QVERIFY(w.indexOf<AgentFinished>(QStringLiteral("lead")) > finished);
}

void TestSubagentExecutor::usageReachesTheLead()
{
    World w("  - match: {agent: lead}\n    turns:\n      - {calls: [" + oneTask + "], usage: {input: 10, output: 1}}\n"
            "      - {say: done, usage: {input: 20, output: 2}}\n"
            "  - turns:\n      - {calls: [{tool: echo}], usage: {input: 100, output: 5}}\n      - {say: ok, usage: {input: 200, output: 6}}\n");
    const LeadReport report = w.run();
    QCOMPARE(report.leadUsage.total, 33);
    QCOMPARE(report.usage.input, 330);
    QCOMPARE(report.usage.output, 14);
    QCOMPARE(report.usage.total, 344);
    const auto finished = w.all<AgentFinished>();
    QCOMPARE(finished[0].usage.total, 311);
}

void TestSubagentExecutor::identityIsForwarded()
{
    for (const Json &identity : {Json("u7"), Json(""), Json(nullptr)}) {
        World w(leadDispatching(oneTask) + "  - turns:\n      - calls: [{tool: values}]\n      - say: \"${result.call_1_1}\"\n");
        const auto base = w.services->tools;
        w.services->tools = [base](const ToolsRequest &request) {
            auto tools = base(request);
            tools->push_back(std::make_shared<BodyTool>(QStringLiteral("values"), [](ToolCallContext context) -> Task<Result<ToolOutcome>> {
                const QString text = QString::fromUtf8(dumpJson(context.runtime->values));
                co_return ToolOutcome(toolMessage(context.call.id, context.call.name, text));
            }));
            return tools;
        };
        LeadRequest request = w.request();
        request.values["channel_user_id"] = identity;
        const LeadReport report = w.run(request);
        const auto values = parseJson(report.answer.mid(QStringLiteral("Task Succeeded. Result: ").size()).toUtf8());
        QVERIFY2(values, qPrintable(report.answer));
        QVERIFY(values->contains("channel_user_id"));
        QCOMPARE((*values)["channel_user_id"], identity);
        QCOMPARE((*values)["is_subagent"], Json(true));
        QCOMPARE(stringOf(*values, "run_id"), QStringLiteral("r1"));
        QVERIFY(stringOf(*values, "sandbox_lease_owner_id").startsWith(u"subagent:"));
    }
}

void TestSubagentExecutor::twoHundred()
{
    QByteArray calls;
    for (int i = 0; i < 200; ++i)
        calls += (i ? ", " : "") + QByteArray("{tool: task, args: {prompt: p, subagent_type: general-purpose}}");
    World w(leadDispatching(calls, "      - say: done\n") + "  - turns:\n      - calls: [{tool: touch_in_crowd}]\n      - say: ok\n", slots(16, 1000));
    // The first sixteen go on only when all others wait: an early end would let a late one in past the queue.
    const auto base = w.services->tools;
    w.services->tools = [base, admission = w.services->admission, all = std::make_shared<std::atomic<bool>>(false)](const ToolsRequest &request) {
        auto tools = base(request);
        tools->push_back(std::make_shared<BodyTool>(QStringLiteral("touch_in_crowd"), [admission, all](ToolCallContext context) -> Task<Result<ToolOutcome>> {
            while (!*all && admission->snapshot().queued < 184) {
                if (!co_await sleepFor(std::chrono::milliseconds(1), context.stop))
                    co_return cancelled();
            }
            *all = true;
            co_return co_await touchBody(std::move(context));
        }));
        return tools;
    };
    const LeadReport report = w.run();
    QCOMPARE(report.status, QStringLiteral("completed"));
    QCOMPARE(w.all<AgentStarted>().size(), 201u);
    QCOMPARE(w.all<AgentQueued>().size(), 184u);
    int running = 0;
    int most = 0;
    for (const auto &event : w.events) {
        if (event->agent.value() == u"lead")
            continue;
        running += std::holds_alternative<AgentStarted>(event->body);
        running -= std::holds_alternative<AgentFinished>(event->body);
        most = std::max(most, running);
    }
    QCOMPARE(running, 0);
    QVERIFY(most >= 16 && most <= 17); // the slot is handed on just before agent.finished is told
    QCOMPARE(w.held(), QString());
}

void TestSubagentExecutor::brokenFactories()
{
    World noChain(leadDispatching(oneTask) + "  - turns: []\n");
    noChain.services->subagentChain = [](const ChainRequest &) -> Result<std::shared_ptr<Chain>> { return fail(ErrorCode::InvalidArgument, QStringLiteral("no chain")); };
    QCOMPARE(noChain.run().answer, QStringLiteral("Task failed. Error: no chain"));
    QCOMPARE(noChain.held(), QString());
    World thrower(leadDispatching(oneTask) + "  - turns: []\n");
    const auto good = thrower.services->model;
    thrower.services->model = [good](const QString &name) -> Result<std::shared_ptr<ChatModel>> {
        if (QThread::currentThread()->objectName() == u"subagent-persistent-loop")
            throw std::runtime_error("no model today");
        return good(name);
    };
    QCOMPARE(thrower.run().answer, QStringLiteral("Task failed. Error: no model today"));
    QCOMPARE(thrower.held(), QString());
    World noModels(leadDispatching(oneTask) + "  - turns: []\n");
    noModels.services->models.clear();
    QCOMPARE(noModels.run().answer, QStringLiteral("Task failed. Error: No chat models are configured"));
}

} // namespace tst_subagent_executor

PADDOCK_TEST(tst_subagent_executor, TestSubagentExecutor)
#include "tst_subagent_executor.moc"
