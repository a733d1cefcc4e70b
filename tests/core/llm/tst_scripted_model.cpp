// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/base/run_on.h"
#include "core/llm/scripted_model.h"
#include "tests/support/test_main.h"

#include <QTest>

namespace tst_scripted_model {

using namespace paddock;
using namespace std::chrono_literals;

namespace {

std::shared_ptr<const Scenario> scenario(const QByteArray &agents)
{
    auto parsed = parseScenario("scenario: 1\nname: t\ntask: the task\nagents:\n" + agents, QStringLiteral("t.yaml"));
    if (!parsed)
        qFatal("%s", qPrintable(parsed.error().message));
    return *parsed;
}

ModelRequest request(const QString &agent = QStringLiteral("lead"), MessageList messages = {humanMessage(QStringLiteral("hi"))})
{
    ModelRequest request;
    request.messages = std::move(messages);
    request.caller.run = QStringLiteral("r1");
    request.caller.agent = agent;
    request.caller.subagentType = agent == u"lead" ? QString() : QStringLiteral("general-purpose");
    return request;
}

Result<MessagePtr> ask(ScriptedModel &model, ModelRequest r, DeltaSink sink = {}, std::stop_token stop = {})
{
    return QCoro::waitFor(model.complete(std::move(r), std::move(sink), stop));
}

QString say(ScriptedModel &model, ModelRequest r)
{
    const auto reply = ask(model, std::move(r));
    return reply ? textOf(*reply) : QStringLiteral("error: ") + reply.error().message;
}

} // namespace

class TestScriptedModel : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void playsTurnsPerInstance();
    void choosesTheFirstMatch();
    void membersTakeNoTurnOfAnAgent();
    void makesCallsAndReadsResults();
    void rawArguments();
    void streams();
    void stopsAtOnce_data();
    void stopsAtOnce();
    void faultsLookLikeProviders_data();
    void faultsLookLikeProviders();
    void faultThenNormal();
    void dropsAfterChunks();
    void diverges_data();
    void diverges();
    void divergedRunStaysDiverged();
    void captureThatDoesNotMatchDiverges();
    void reportsUsageAndFinish();
    void serveSeveralLoops();
};

void TestScriptedModel::playsTurnsPerInstance()
{
    ScriptedModel model(scenario("  - turns:\n      - say: one ${turn}\n      - say: two\n        repeat: 2\n"));
    QCOMPARE(say(model, request()), QStringLiteral("one 1"));
    QCOMPARE(say(model, request(QStringLiteral("subagent:a"))), QStringLiteral("one 1"));
    QCOMPARE(say(model, request()), QStringLiteral("two"));
    QCOMPARE(say(model, request()), QStringLiteral("two"));
    const auto end = ask(model, request());
    QVERIFY(end);
    QCOMPARE(textOf(*end), QString());
    QCOMPARE(stringOf((*end)->responseMetadata, "finish_reason"), QStringLiteral("stop"));
    model.forget(QStringLiteral("r1"));
    QCOMPARE(say(model, request()), QStringLiteral("one 1"));
}

void TestScriptedModel::membersTakeNoTurnOfAnAgent()
{
    const ModelRequest side = request(QStringLiteral("middleware:summarize"));
    for (const char *match : {"match: {}\n    turns", "match: {agent: '*'}\n    turns", "turns"}) {
        ScriptedModel model(scenario("  - " + QByteArray(match) + ": [{say: first}, {say: second}]\n"));
        QCOMPARE(say(model, request()), QStringLiteral("first"));
        const auto refused = ask(model, side);
        QVERIFY(!refused);
        QVERIFY(refused.error().message.contains(u"middleware:summarize"));
        QCOMPARE(model.divergence(QStringLiteral("r1")), QString()); // and the run goes on
        QCOMPARE(say(model, request()), QStringLiteral("second"));
    }
    ScriptedModel model(scenario("  - turns: [{say: agent}]\n  - match: {agent: 'middleware:*'}\n    turns: [{say: summary}]\n"));
    QCOMPARE(say(model, side), QStringLiteral("summary"));
    QCOMPARE(say(model, request()), QStringLiteral("agent"));
}

void TestScriptedModel::choosesTheFirstMatch()
{
    ScriptedModel model(scenario("  - match: {agent: lead}\n    turns: [{say: L}]\n"
                                 "  - match: {type: general-purpose, prompt: \"Count \\\\w+\"}\n    turns: [{say: G}]\n"
                                 "  - match: {agent: \"subagent:*\"}\n    turns: [{say: S}]\n"));
    QCOMPARE(say(model, request()), QStringLiteral("L"));
    QCOMPARE(say(model, request(QStringLiteral("subagent:x"))), QStringLiteral("S"));
    ModelRequest counted = request(QStringLiteral("subagent:y"));
    counted.caller.prompt = QStringLiteral("Please Count lines");
    QCOMPARE(say(model, counted), QStringLiteral("G"));
    ModelRequest nobody = request(QStringLiteral("other"));
    nobody.caller.subagentType = QString();
    QVERIFY(say(model, nobody).startsWith(u"error: scenario diverged at other turn 1: expected one of the scenario's agents"));
}

void TestScriptedModel::makesCallsAndReadsResults()
{
    ScriptedModel model(scenario("  - turns:\n"
                                 "      - calls: [{tool: bash, id: a, args: {command: \"ls ${workspace}\", deep: [\"${outputs}\"]}}, {tool: ls}]\n"
                                 "        capture: {total: '(\\d+) total'}\n"
                                 "      - say: '${total} of ${result.a} for ${task}; $${x}'\n"),
                        {QStringLiteral("/w"), QStringLiteral("/o"), {}});
    const auto first = ask(model, request());
    QVERIFY(first);
    QCOMPARE((*first)->toolCalls.size(), 2u);
    QCOMPARE((*first)->toolCalls[0].id, QStringLiteral("a"));
    QCOMPARE(stringOf((*first)->toolCalls[0].args, "command"), QStringLiteral("ls /w"));
    QCOMPARE(textOf((*first)->toolCalls[0].args["deep"][0]), QStringLiteral("/o"));
    QCOMPARE((*first)->toolCalls[1].id, QStringLiteral("call_1_2"));
    QCOMPARE(stringOf((*first)->responseMetadata, "finish_reason"), QStringLiteral("tool_calls"));
    const MessageList after{*first, toolMessage(QStringLiteral("call_1_2"), QStringLiteral("ls"), QStringLiteral("12 total")),
                            toolMessage(QStringLiteral("a"), QStringLiteral("bash"), QStringLiteral("R${total}"))};
    QCOMPARE(say(model, request(QStringLiteral("lead"), after)), QStringLiteral("12 of R${total} for the task; ${x}"));
}

void TestScriptedModel::rawArguments()
{
    ScriptedModel model(scenario("  - turns: [{calls: [{tool: a, args: '{\"x\": 1}'}, {tool: b, args: '{\"x\"'}, {tool: c, args: '[1]'}]}]\n"));
    const auto reply = ask(model, request());
    QVERIFY(reply);
    QCOMPARE((*reply)->toolCalls.size(), 1u);
    QCOMPARE((*reply)->toolCalls[0].args["x"].get<int>(), 1);
    QCOMPARE((*reply)->invalidToolCalls.size(), 2u);
    QCOMPARE(textOf((*reply)->invalidToolCalls[0].args), QStringLiteral("{\"x\""));
    QVERIFY(!(*reply)->invalidToolCalls[0].error.isEmpty());
}

void TestScriptedModel::streams()
{
    ScriptedModel model(scenario("  - turns: [{say: \"a\U0001F600bcd\", reasoning: hm, stream: {chunk: 2, every: 1ms}}]\n"));
    QStringList pieces;
    const auto reply = ask(model, request(), [&](const ModelDeltaPiece &piece) {
        pieces.append((piece.reasoning ? QStringLiteral("~") : QString()) + piece.text);
    });
    QVERIFY(reply);
    QCOMPARE(pieces, (QStringList{QStringLiteral("~hm"), QString::fromUtf8("a\U0001F600"), QStringLiteral("bc"), QStringLiteral("d")}));
    QCOMPARE(stringOf((*reply)->kwargs, "reasoning_content"), QStringLiteral("hm"));
}

void TestScriptedModel::stopsAtOnce_data()
{
    QTest::addColumn<QByteArray>("turn");
    QTest::newRow("delay") << QByteArray("{say: x, delay: 1m}");
    QTest::newRow("between chunks") << QByteArray("{say: xyz, stream: {chunk: 1, every: 1m}}");
    QTest::newRow("hang") << QByteArray("{fault: {hang: true}}");
    QTest::newRow("hang after content") << QByteArray("{say: xyz, stream: {chunk: 1}, fault: {hang: true, drop_after: 2}}");
}

void TestScriptedModel::stopsAtOnce()
{
    QFETCH(QByteArray, turn);
    ScriptedModel model(scenario("  - turns: [" + turn + "]\n"));
    std::stop_source stop;
    QTimer::singleShot(0, this, [&] { stop.request_stop(); });
    const auto reply = ask(model, request(), {}, stop.get_token());
    QVERIFY(!reply && reply.error().isCancelled());
    QVERIFY(ask(model, request(), {}, stop.get_token()).error().isCancelled());
}

void TestScriptedModel::faultsLookLikeProviders_data()
{
    QTest::addColumn<QByteArray>("fault");
    QTest::addColumn<QString>("cls");
    QTest::addColumn<int>("status");
    QTest::newRow("429") << QByteArray("{http: 429}") << "RateLimitError" << 429;
    QTest::newRow("529") << QByteArray("{http: 529, retry_after: 1.5s}") << "InternalServerError" << 529;
    QTest::newRow("401") << QByteArray("{http: 401}") << "AuthenticationError" << 401;
    QTest::newRow("418") << QByteArray("{http: 418}") << "APIStatusError" << 418;
    QTest::newRow("drop") << QByteArray("{drop_after: 1}") << "RemoteProtocolError" << 0;
    QTest::newRow("reset") << QByteArray("{reset: true}") << "ReadError" << 0;
    QTest::newRow("malformed") << QByteArray("{malformed: true}") << "JSONDecodeError" << 200;
}

void TestScriptedModel::faultsLookLikeProviders()
{
    QFETCH(QByteArray, fault);
    QFETCH(QString, cls);
    QFETCH(int, status);
    ScriptedModel model(scenario("  - turns: [{say: x, fault: " + fault + "}]\n"));
    const auto reply = ask(model, request());
    QVERIFY(!reply && !reply.error().isCancelled());
    QCOMPARE(stringOf(reply.error().details, "cls"), cls);
    QCOMPARE(intOf(reply.error().details, "status"), status);
    if (status == 529)
        QCOMPARE(stringOf(memberOf(reply.error().details, "headers"), "retry-after"), QStringLiteral("1.5"));
}

void TestScriptedModel::faultThenNormal()
{
    ScriptedModel model(scenario("  - turns: [{say: fine, fault: {http: 503, times: 2}}, {say: next}]\n"));
    QVERIFY(!ask(model, request()));
    QVERIFY(!ask(model, request()));
    QCOMPARE(say(model, request()), QStringLiteral("fine"));
    QCOMPARE(say(model, request()), QStringLiteral("next"));
}

void TestScriptedModel::dropsAfterChunks()
{
    ScriptedModel model(scenario("  - turns: [{say: abcdef, stream: {chunk: 2}, fault: {drop_after: 2}}]\n"));
    QString seen;
    const auto sink = [&](const ModelDeltaPiece &piece) { seen += piece.text; };
    QVERIFY(!ask(model, request(), sink));
    QCOMPARE(seen, QStringLiteral("abcd"));
}

void TestScriptedModel::diverges_data()
{
    QTest::addColumn<QByteArray>("expect");
    QTest::addColumn<QString>("text");
    QTest::newRow("last_user") << QByteArray("{last_user: bye}") << "expected last_user to match /bye/, got \"hi\"";
    QTest::newRow("hidden reminders are not the user") << QByteArray("{last_user: reminder}") << "expected last_user to match /reminder/, got \"hi\"";
    QTest::newRow("last_message") << QByteArray("{last_message: zz}") << "expected last_message to match /zz/, got \"reminder\"";
    QTest::newRow("system") << QByteArray("{system: role}") << "expected system to match /role/, got \"be good\"";
    QTest::newRow("not_system") << QByteArray("{not_system: good}") << "expected system not to match /good/, got \"be good\"";
    QTest::newRow("tools") << QByteArray("{tools: [bash, ls]}") << "expected the tool ls to be bound, got bash";
    QTest::newRow("not_tools") << QByteArray("{not_tools: [bash]}") << "expected the tool bash not to be bound, got bash";
    QTest::newRow("min") << QByteArray("{messages_min: 9}") << "expected at least 9 messages, got 2";
    QTest::newRow("max") << QByteArray("{messages_max: 1}") << "expected at most 1 messages, got 2";
    QTest::newRow("fine") << QByteArray("{messages_max: 2, tools: [bash], system: good, last_user: ^hi$}") << "";
}

void TestScriptedModel::diverges()
{
    QFETCH(QByteArray, expect);
    QFETCH(QString, text);
    ScriptedModel model(scenario("  - turns: [{say: fine, expect: " + expect + "}]\n"));
    ModelRequest r = request(QStringLiteral("lead"),
                             {humanMessage(QStringLiteral("hi")), edited(humanMessage(QStringLiteral("reminder")), [](Message &m) {
                                  m.kwargs["hide_from_ui"] = true;
                              })});
    r.system = systemMessage(QStringLiteral("be good"));
    r.tools.push_back({QStringLiteral("bash"), {}});
    QCOMPARE(say(model, r), text.isEmpty() ? QStringLiteral("fine") : QStringLiteral("error: scenario diverged at lead turn 1: ") + text);
}

void TestScriptedModel::divergedRunStaysDiverged()
{
    ScriptedModel model(scenario("  - match: {agent: lead}\n    turns: [{say: L}]\n"
                                 "  - turns: [{expect: {last_user: bye}}]\n"));
    const QString first = say(model, request(QStringLiteral("subagent:a")));
    QVERIFY(first.contains(u"diverged at subagent:a turn 1"));
    QCOMPARE(say(model, request()), first);
    QCOMPARE(model.divergence(QStringLiteral("r1")), first.sliced(7));
    ModelRequest other = request();
    other.caller.run = QStringLiteral("r2");
    QCOMPARE(say(model, other), QStringLiteral("L"));
}

void TestScriptedModel::captureThatDoesNotMatchDiverges()
{
    ScriptedModel model(scenario("  - turns:\n      - calls: [{tool: t, id: a}]\n        capture: {n: '(\\d+)'}\n      - say: x\n"));
    const auto first = ask(model, request());
    const MessageList after{*first, toolMessage(QStringLiteral("a"), QStringLiteral("t"), QStringLiteral("none"))};
    QCOMPARE(say(model, request(QStringLiteral("lead"), after)),
             QStringLiteral("error: scenario diverged at lead turn 2: expected capture n to match /(\\d+)/ in the tool results, got \"none\""));
}

void TestScriptedModel::reportsUsageAndFinish()
{
    ScriptedModel model(scenario("  - turns: [{say: x, usage: {input: 5, output: 3}, finish: safety}, {say: abcdefgh}]\n"));
    const auto first = ask(model, request());
    QCOMPARE((*first)->usage->total, 8);
    QCOMPARE(stringOf((*first)->responseMetadata, "finish_reason"), QStringLiteral("safety"));
    const auto second = ask(model, request());
    QVERIFY((*second)->usage->input > 0 && (*second)->usage->output > 0);
    QCOMPARE((*second)->usage->total, (*second)->usage->input + (*second)->usage->output);
}

void TestScriptedModel::serveSeveralLoops()
{
    const auto model = std::make_shared<ScriptedModel>(scenario("  - turns: [{say: \"n${turn}\", repeat: 50, stream: {chunk: 1}}]\n"));
    EventLoop one(QStringLiteral("one"));
    EventLoop two(QStringLiteral("two"));
    std::vector<Task<int>> tasks;
    for (int i = 0; i < 8; ++i) {
        tasks.push_back(runOn((i % 2 ? one : two).ref(), [model, i] {
            return [](std::shared_ptr<ScriptedModel> m, int n) -> Task<int> {
                int right = 0;
                for (int turn = 1; turn <= 50; ++turn) {
                    const auto reply = co_await m->complete(request(QStringLiteral("subagent:%1").arg(n)), {}, {});
                    right += reply && textOf(*reply) == QStringLiteral("n%1").arg(turn);
                }
                co_return right;
            }(model, i);
        }));
    }
    for (const int right : QCoro::waitFor(whenAll(std::move(tasks))))
        QCOMPARE(right, 50);
}

} // namespace tst_scripted_model

PADDOCK_TEST(tst_scripted_model, TestScriptedModel)
#include "tst_scripted_model.moc"
