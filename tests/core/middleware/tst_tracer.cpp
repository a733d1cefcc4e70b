// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/chain_build.h"
#include "tests/core/middleware/chain_fixture.h"
#include "tests/support/test_main.h"

#include <QTest>

namespace tst_tracer {

using namespace paddock;
using namespace paddock::test;

namespace {

Task<Result<ModelResponse>> passModel(ModelCall call, ModelNext next)
{
    co_return co_await next(std::move(call));
}

Task<Result<ModelResponse>> addHint(ModelCall call, ModelNext next)
{
    call.request.messages.append(humanMessage(QStringLiteral("a hint")));
    co_return co_await next(std::move(call));
}

Task<Result<ToolOutcome>> passTool(ToolCallRequest request, ToolNext next)
{
    co_return co_await next(std::move(request));
}

Task<Result<ToolOutcome>> appendNote(ToolCallRequest request, ToolNext next)
{
    auto outcome = co_await next(std::move(request));
    co_return edited(std::get<MessagePtr>(*outcome), [](Message &m) { m.content = m.content.get<std::string>() + " (noted)"; });
}

Task<Result<ToolOutcome>> refuse(ToolCallRequest request, ToolNext)
{
    co_return toolMessage(request.context.call.id, request.context.call.name, QStringLiteral("no"), ToolStatus::Error);
}

class Gate : public HookGate
{
public:
    QStringList seen;
    QString refuseAt;
    Task<Result<void>> reached(HookPoint point, RuntimePtr) override
    {
        seen.append(point.member + u'.' + hookName(point.hook));
        if (point.member == refuseAt)
            co_return fail(ErrorCode::FailedPrecondition, QStringLiteral("aborted at a breakpoint"));
        co_return Result<void>();
    }
};

} // namespace

class TestTracer : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void namesLikeTheEvents_data()
    {
        QTest::addColumn<QString>("member");
        QTest::addColumn<QString>("shown");
        QTest::newRow("plain") << QStringLiteral("ToolOutputBudgetMiddleware") << QStringLiteral("tool_output_budget");
        QTest::newRow("initials") << QStringLiteral("LLMErrorHandlingMiddleware") << QStringLiteral("llm_error_handling");
        QTest::newRow("short") << QStringLiteral("A") << QStringLiteral("a");
    }
    void namesLikeTheEvents()
    {
        QFETCH(QString, member);
        QFETCH(QString, shown);
        QCOMPARE(traceName(member), shown);
    }

    void emitsEveryNodeHookInOrder()
    {
        auto bus = std::make_shared<EventBus>();
        const auto queue = bus->subscribe();
        auto a = member("A");
        auto b = member("B");
        for (const auto &m : {a, b}) {
            m->nodes[Hook::BeforeAgent] = [](AgentState, RuntimePtr) -> Result<StateUpdate> { return StateUpdate{}; };
            m->nodes[Hook::AfterAgent] = m->nodes[Hook::BeforeAgent];
        }
        a->nodes[Hook::BeforeAgent] = [](AgentState, RuntimePtr) -> Result<StateUpdate> {
            StateUpdate update;
            update.messages.push_back(humanMessage(QStringLiteral("hello there")));
            update.channels["title"] = "t";
            return update;
        };
        const auto chain = *Chain::compile({a, b});
        const RuntimePtr runtime = runtimeOn(bus);
        QVERIFY(awaited(chain->runNode(Hook::BeforeAgent, {}, runtime)));
        QVERIFY(awaited(chain->runNode(Hook::AfterAgent, {}, runtime)));
        const auto spans = spansOf(*queue);
        QStringList order;
        for (const MiddlewareSpan &span : spans)
            order.append(span.name + u'.' + span.hook);
        QCOMPARE(order, (QStringList{QStringLiteral("a.before_agent"), QStringLiteral("b.before_agent"),
                                     QStringLiteral("b.after_agent"), QStringLiteral("a.after_agent")}));
        QCOMPARE(spans[0].added, 1);
        QCOMPARE(spans[0].stateKeys, QStringList{QStringLiteral("title")});
        QVERIFY(spans[0].tokens > 0);
        QVERIFY(spans[0].persistent);
        QCOMPARE(spans[0].changes.size(), 1u);
        QCOMPARE(spans[0].changes[0].afterHash, contentHash(*humanMessage(QStringLiteral("hello there"))));
        QVERIFY(spans[1].changes.empty());
        QVERIFY(spans[0].durationUs > 0);
    }

    void emitsWrapHooksOutermostFirstAndNested()
    {
        auto bus = std::make_shared<EventBus>();
        const auto queue = bus->subscribe();
        auto a = member("A");
        auto b = member("B");
        a->wrapModel = passModel;
        b->wrapModel = addHint;
        const auto chain = *Chain::compile({a, b});
        SpanId innermost = 0;
        const auto result = awaited(chain->runModel(modelCall(runtimeOn(bus), {humanMessage(QStringLiteral("q"))}),
                                                    [&innermost](ModelCall call) {
                                                        innermost = call.span;
                                                        return responding(aiMessage(QStringLiteral("x")));
                                                    }));
        QVERIFY(result);
        const auto events = queue->drain();
        QCOMPARE(events.size(), 2u);
        const auto &outer = std::get<MiddlewareSpan>(events[0]->body);
        const auto &inner = std::get<MiddlewareSpan>(events[1]->body);
        QCOMPARE(outer.name, QStringLiteral("a"));
        QCOMPARE(inner.name, QStringLiteral("b"));
        QVERIFY(outer.startUs < inner.startUs);
        QCOMPARE(events[1]->parent, events[0]->span);
        QCOMPARE(innermost, events[1]->span);
        QVERIFY(outer.changes.empty());
        QCOMPARE(inner.added, 1);
        QVERIFY(!inner.persistent); // what the model saw, not what is stored
    }

    void seesEditedAndReplacedResults()
    {
        auto bus = std::make_shared<EventBus>();
        const auto queue = bus->subscribe();
        auto a = member("A");
        a->wrapTool = appendNote;
        QVERIFY(awaited((*Chain::compile({a}))->runTool(toolCall(runtimeOn(bus), QStringLiteral("ls")), toolSaying(QStringLiteral("f")))));
        auto spans = spansOf(*queue);
        QCOMPARE(spans.size(), 1u);
        QCOMPARE(spans[0].edited, 1);
        QCOMPARE(spans[0].call, QStringLiteral("c1"));
        QVERIFY(spans[0].persistent);
        auto b = member("B");
        b->wrapTool = refuse;
        QVERIFY(awaited((*Chain::compile({b}))->runTool(toolCall(runtimeOn(bus), QStringLiteral("ls")), toolSaying(QStringLiteral("f")))));
        spans = spansOf(*queue);
        QCOMPARE(spans[0].added, 1); // nothing came from inside
    }

    void storesContentBeforeTheSpan()
    {
        auto bus = std::make_shared<EventBus>();
        const auto queue = bus->subscribe();
        auto a = member("A");
        a->wrapTool = appendNote;
        auto b = member("B");
        b->wrapTool = passTool;
        QStringList stored;
        qsizetype pendingAtStore = -1;
        Chain::Options options;
        options.trace.blobSink = [&](const MessagePtr &message) {
            pendingAtStore = std::max(pendingAtStore, queue->pending());
            stored.append(contentHash(*message));
            return stored.last();
        };
        const auto chain = *Chain::compile({a, b}, options);
        QVERIFY(awaited(chain->runTool(toolCall(runtimeOn(bus), QStringLiteral("ls")), toolSaying(QStringLiteral("f")))));
        QCOMPARE(pendingAtStore, 0);
        QCOMPARE(stored.size(), 2);
        const auto spans = spansOf(*queue);
        QVERIFY(stored.contains(spans[0].changes[0].beforeHash));
        QVERIFY(stored.contains(spans[0].changes[0].afterHash));
    }

    void recordsErrorsAndCancels()
    {
        auto bus = std::make_shared<EventBus>();
        const auto queue = bus->subscribe();
        auto a = member("A");
        a->nodes[Hook::BeforeModel] = [](AgentState, RuntimePtr) -> Result<StateUpdate> {
            return fail(ErrorCode::NotFound, QStringLiteral("gone"));
        };
        a->nodes[Hook::AfterModel] = [](AgentState, RuntimePtr) -> Result<StateUpdate> { return cancelled(); };
        const auto chain = *Chain::compile({a});
        QVERIFY(!awaited(chain->runNode(Hook::BeforeModel, {}, runtimeOn(bus))));
        QVERIFY(!awaited(chain->runNode(Hook::AfterModel, {}, runtimeOn(bus))));
        const auto spans = spansOf(*queue);
        QCOMPARE(spans[0].error, std::optional(QStringLiteral("gone")));
        QCOMPARE(spans[1].error, std::optional(QStringLiteral("cancelled")));
    }

    void asksTheGateBeforeEachHook()
    {
        const auto gate = std::make_shared<Gate>();
        auto a = member("A");
        auto b = member("B");
        a->wrapTool = passTool;
        b->wrapTool = passTool;
        Chain::Options options;
        options.trace.gate = gate;
        const auto chain = *Chain::compile({a, b}, options);
        QVERIFY(awaited(chain->runTool(toolCall(runtimeOn(nullptr), QStringLiteral("ls")), toolSaying(QStringLiteral("f")))));
        QCOMPARE(gate->seen, (QStringList{QStringLiteral("A.wrap_tool_call"), QStringLiteral("B.wrap_tool_call")}));
        gate->refuseAt = QStringLiteral("B");
        const auto refused = awaited(chain->runTool(toolCall(runtimeOn(nullptr), QStringLiteral("ls")), toolSaying(QStringLiteral("f"))));
        QCOMPARE(refused.error().message, QStringLiteral("aborted at a breakpoint"));
    }

    void costsLittle()
    {
        std::vector<MessagePtr> many;
        for (int i = 0; i < 100; ++i)
            many.push_back(humanMessage(QStringLiteral("message %1").arg(i)));
        const MessageList list(many);
        ChainOptions options;
        const auto chain = *buildSubagentChain(options);
        const RuntimePtr quiet = runtimeOn(nullptr);
        QBENCHMARK {
            awaited(chain->runNode(Hook::BeforeModel, {list, Json::object()}, quiet));
            awaited(chain->runModel(modelCall(quiet, list), modelSaying(QStringLiteral("x"))));
            awaited(chain->runNode(Hook::AfterModel, {list, Json::object()}, quiet));
        }
    }
};

} // namespace tst_tracer

PADDOCK_TEST(tst_tracer, TestTracer)
#include "tst_tracer.moc"
