// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/base/async.h"
#include "core/middleware/chain_build.h"
#include "core/middleware/route.h"
#include "tests/core/middleware/chain_fixture.h"
#include "tests/support/test_main.h"

#include <QTest>

namespace tst_chain {

using namespace paddock;
using namespace paddock::test;

namespace {

Task<Result<ModelResponse>> passModel(ModelCall call, ModelNext next)
{
    co_return co_await next(std::move(call));
}

Task<Result<ModelResponse>> waitForStop(ModelCall call)
{
    co_await untilStopped(call.stop);
    co_return cancelled();
}

Task<Result<ModelResponse>> swallow(ModelCall call, ModelNext next)
{
    co_await next(std::move(call));
    co_return ModelResponse{{aiMessage(QStringLiteral("nothing happened"))}, {}};
}

Task<Result<ModelResponse>> twiceAtOnce(ModelCall call, ModelNext next)
{
    auto first = next(call);
    auto second = co_await next(call);
    co_await first;
    co_return second;
}

Task<Result<ModelResponse>> oneAfterTheOther(ModelCall call, ModelNext next)
{
    auto first = co_await next(call);
    if (first)
        co_return co_await next(call);
    co_return first;
}

Task<Result<ModelResponse>> slowly(ModelCall)
{
    co_await sleepFor(std::chrono::milliseconds(1), {});
    co_return ModelResponse{{aiMessage(QStringLiteral("late"))}, {}};
}

Task<Result<ModelResponse>> throwingModel(ModelCall, ModelNext)
{
    throw std::runtime_error("broken hook");
    co_return ModelResponse{};
}

Task<Result<ToolOutcome>> throwingTool(ToolCallRequest, ToolNext)
{
    throw std::runtime_error("broken hook");
    co_return MessagePtr();
}

Task<Result<ToolOutcome>> throwingCore(ToolCallRequest)
{
    throw std::out_of_range("no such index");
    co_return MessagePtr();
}

} // namespace

class TestChain : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void refusesDuplicateNames()
    {
        const auto chain = Chain::compile({member("A"), member("B"), member("A")});
        QVERIFY(!chain);
        QVERIFY(chain.error().message.startsWith(QStringLiteral("duplicate middleware instances")));
    }

    void namesBothSidesOfAViolatedOrder()
    {
        const auto chain = Chain::compile({member("ToolErrorHandlingMiddleware"), member("ToolProgressMiddleware")});
        QVERIFY(!chain);
        QCOMPARE(chain.error().message,
                 QStringLiteral("Middleware ordering constraint violated: ToolProgress must be outer (lower index) of every "
                                "ToolErrorHandling, but found outer indices [1] vs inner indices [0]. Reason: progress is judged "
                                "by the result's meta. Contributed by: paddock."));
    }

    void wantsThePolicyDirectlyBehindTheActivation()
    {
        QVERIFY(Chain::compile({member("SkillActivation"), member("DeferredToolPromotionAudit"), member("SkillToolPolicy")}));
        QVERIFY(!Chain::compile({member("SkillActivation"), member("ViewImage"), member("SkillToolPolicy")}));
        QVERIFY(!Chain::compile({member("A"), member("InputSanitization")}));
    }

    void leavesUndeclaredHooksOut()
    {
        auto a = member("A");
        a->wrapModel = passModel;
        const auto chain = compiled({a, member("B")});
        QCOMPARE(chain->order(Hook::WrapModelCall), QStringList{QStringLiteral("A")});
        QVERIFY(!chain->has(Hook::BeforeModel));
    }

    void appliesUpdatesInOrder()
    {
        auto a = member("A");
        auto b = member("B");
        a->nodes[Hook::BeforeModel] = [](AgentState, RuntimePtr) -> Result<StateUpdate> {
            StateUpdate update;
            update.messages.push_back(humanMessage(QStringLiteral("from a")));
            update.channels["title"] = "x";
            return update;
        };
        qsizetype seen = -1;
        b->nodes[Hook::BeforeModel] = [&seen](AgentState state, RuntimePtr) -> Result<StateUpdate> {
            seen = state.messages.size();
            return StateUpdate{};
        };
        const auto result = awaited(compiled({a, b})->runNode(Hook::BeforeModel, {}, runtimeOn(nullptr)));
        QVERIFY(result);
        QCOMPARE(seen, 1);
        QCOMPARE(result->state.channels["title"], Json("x"));
    }

    void stopsAtADeclaredJump()
    {
        auto a = member("A");
        auto b = member("B");
        bool reached = false;
        a->targets = {JumpTo::End};
        a->nodes[Hook::BeforeModel] = [](AgentState, RuntimePtr) -> Result<StateUpdate> {
            StateUpdate update;
            update.jumpTo = JumpTo::End;
            return update;
        };
        b->nodes[Hook::BeforeModel] = [&reached](AgentState, RuntimePtr) -> Result<StateUpdate> {
            reached = true;
            return StateUpdate{};
        };
        const auto result = awaited(compiled({a, b})->runNode(Hook::BeforeModel, {}, runtimeOn(nullptr)));
        QVERIFY(result);
        QVERIFY(result->jumpTo == JumpTo::End);
        QVERIFY(!reached);
    }

    void refusesAnUndeclaredJump()
    {
        auto a = member("A");
        a->targets = {JumpTo::Model};
        a->nodes[Hook::AfterModel] = [](AgentState, RuntimePtr) -> Result<StateUpdate> {
            StateUpdate update;
            update.jumpTo = JumpTo::Tools;
            return update;
        };
        const auto result = awaited(compiled({a})->runNode(Hook::AfterModel, {}, runtimeOn(nullptr)));
        QVERIFY(!result);
        QCOMPARE(result.error().message, QStringLiteral("A asked in after_model to jump to 'tools', a target it does not declare"));
    }

    void namesMemberAndHookOfAnException_data()
    {
        QTest::addColumn<int>("hook");
        for (const Hook hook : allHooks)
            QTest::newRow(qPrintable(hookName(hook))) << int(hook);
    }
    void namesMemberAndHookOfAnException()
    {
        QFETCH(int, hook);
        const Hook which = Hook(hook);
        auto outer = member("Outer");
        outer->wrapModel = passModel;
        auto bad = member("Bad");
        for (const Hook node : {Hook::BeforeAgent, Hook::BeforeModel, Hook::AfterModel, Hook::AfterAgent})
            bad->nodes[node] = [](AgentState, RuntimePtr) -> Result<StateUpdate> { throw std::runtime_error("broken hook"); };
        bad->wrapModel = throwingModel;
        bad->wrapTool = throwingTool;
        const auto chain = compiled({outer, bad});
        const RuntimePtr runtime = runtimeOn(nullptr);
        Error error;
        if (which == Hook::WrapModelCall)
            error = awaited(chain->runModel(modelCall(runtime), modelSaying(QStringLiteral("x")))).error();
        else if (which == Hook::WrapToolCall)
            error = awaited(chain->runTool(toolCall(runtime, QStringLiteral("ls")), toolSaying(QStringLiteral("x")))).error();
        else
            error = awaited(chain->runNode(which, {}, runtime)).error();
        QCOMPARE(error.message, QStringLiteral("Bad failed in %1: broken hook").arg(hookName(which)));
        QCOMPARE(error.details["member"], Json("Bad"));
    }

    void turnsExceptionsOfTheCoreIntoErrors()
    {
        auto outer = member("Outer");
        outer->wrapModel = passModel;
        const auto result = awaited(compiled({outer})->runTool(toolCall(runtimeOn(nullptr), QStringLiteral("ls")), throwingCore));
        QVERIFY(!result);
        QCOMPARE(result.error().details["exception_class"], Json("out_of_range"));
        QCOMPARE(result.error().details["exception"], Json("no such index"));
    }

    void letsNobodySwallowACancel()
    {
        std::stop_source source;
        auto a = member("A");
        a->wrapModel = swallow;
        auto call = compiled({a})->runModel(modelCall(runtimeOn(nullptr, source.get_token())), waitForStop);
        source.request_stop();
        const auto result = awaited(std::move(call));
        QVERIFY(!result);
        QVERIFY(result.error().isCancelled());
    }

    void runsNothingOnceStopped_data()
    {
        namesMemberAndHookOfAnException_data();
    }
    void runsNothingOnceStopped()
    {
        QFETCH(int, hook);
        const Hook which = Hook(hook);
        std::stop_source source;
        source.request_stop();
        const RuntimePtr runtime = runtimeOn(nullptr, source.get_token());
        bool ran = false;
        auto a = member("A");
        for (const Hook node : {Hook::BeforeAgent, Hook::BeforeModel, Hook::AfterModel, Hook::AfterAgent})
            a->nodes[node] = [&ran](AgentState, RuntimePtr) -> Result<StateUpdate> {
                ran = true;
                return StateUpdate{};
            };
        const auto chain = compiled({a});
        const auto countModel = [&ran](ModelCall) {
            ran = true;
            return responding(aiMessage(QString()));
        };
        const auto countTool = [&ran](ToolCallRequest) {
            ran = true;
            return outcomeOf(MessagePtr());
        };
        bool wasCancelled = false;
        if (which == Hook::WrapModelCall)
            wasCancelled = awaited(chain->runModel(modelCall(runtime), countModel)).error().isCancelled();
        else if (which == Hook::WrapToolCall)
            wasCancelled = awaited(chain->runTool(toolCall(runtime, QStringLiteral("ls")), countTool)).error().isCancelled();
        else
            wasCancelled = awaited(chain->runNode(which, {}, runtime)).error().isCancelled();
        QVERIFY(wasCancelled);
        QVERIFY(!ran);
    }

    void refusesNextWhileItRuns()
    {
        auto a = member("A");
        a->wrapModel = twiceAtOnce;
        const auto result = awaited(compiled({a})->runModel(modelCall(runtimeOn(nullptr)), slowly));
        QVERIFY(!result);
        QCOMPARE(result.error().message, QStringLiteral("A called next in wrap_model_call before its earlier call had finished"));
        auto b = member("B");
        b->wrapModel = oneAfterTheOther;
        QVERIFY(awaited(compiled({b})->runModel(modelCall(runtimeOn(nullptr)), slowly)));
    }

    void asksForTheStopReasonInOrderAndPopsAll()
    {
        class Guard : public Scripted
        {
        public:
            Guard(const char *name, QString reason) : Scripted(QString::fromLatin1(name)), m_reason(std::move(reason)) {}
            std::optional<QString> consumeStopReason(const QString &) override
            {
                return m_reason.isEmpty() ? std::nullopt : std::optional(std::exchange(m_reason, QString()));
            }

        private:
            QString m_reason;
        };
        const auto chain = compiled({std::make_shared<Guard>("A", QString()), std::make_shared<Guard>("B", QStringLiteral("b")),
                                     std::make_shared<Guard>("C", QStringLiteral("c"))});
        QCOMPARE(chain->consumeStopReason(QStringLiteral("r1")), std::optional(QStringLiteral("b")));
        QVERIFY(!chain->consumeStopReason(QStringLiteral("r1")));
    }

    void doesNotCopyAnUneditedList()
    {
        std::vector<MessagePtr> many;
        for (int i = 0; i < 500; ++i)
            many.push_back(aiMessage(QString::number(i)));
        const MessageList list(many);
        ChainOptions options;
        options.dataDir = QStringLiteral("/srv/paddock");
        const auto chain = buildSubagentChain(options);
        QVERIFY2(chain, chain ? "" : qPrintable(chain.error().message));
        bool same = false;
        const auto result = awaited((*chain)->runModel(modelCall(runtimeOn(nullptr), list), [&same, &list](ModelCall call) {
            same = call.request.messages.isSameAs(list);
            return responding(aiMessage(QStringLiteral("x")));
        }));
        QVERIFY(result);
        QVERIFY(same);
    }

    void listsBothChainsAsTheSeedDoes()
    {
        ChainOptions options;
        const auto subagent = buildSubagentChain(options);
        const auto lead = buildLeadChain(options);
        QVERIFY(subagent);
        QVERIFY(lead);
        QStringList names;
        for (const MiddlewarePtr &m : (*subagent)->members())
            names.append(shortName(m->name()));
        const QStringList expected{QStringLiteral("InputSanitization"), QStringLiteral("ToolResultSanitization"),
                                   QStringLiteral("ThreadData"), QStringLiteral("Sandbox"), QStringLiteral("DanglingToolCall"),
                                   QStringLiteral("SandboxAudit"), QStringLiteral("ReadBeforeWrite"),
                                   QStringLiteral("ToolErrorHandling"), QStringLiteral("LoopDetection"),
                                   QStringLiteral("SubagentDateContext"), QStringLiteral("SystemMessageCoalescing")};
        QStringList kept; // members may join, the order of these stays
        for (const QString &name : std::as_const(names)) {
            if (expected.contains(name))
                kept.append(name);
        }
        QCOMPARE(kept, expected);
    }

    void tellsTheTruthAboutHooksInItsRows()
    {
        ChainOptions options;
        for (const auto *rows : {&subagentSlots(), &leadSlots()}) {
            for (const ChainSlot &row : *rows) {
                if (row.make == nullptr)
                    continue;
                const MiddlewarePtr made = row.make(options);
                QCOMPARE(shortName(made->name()), QString::fromLatin1(row.name));
                QVERIFY2(made->hooks() == row.hooks, row.name);
            }
        }
    }

    void sharesNothingBetweenTwoBuilds()
    {
        ChainOptions options;
        const auto first = buildSubagentMiddlewares(options);
        const auto second = buildSubagentMiddlewares(options);
        QCOMPARE(first.size(), second.size());
        for (std::size_t i = 0; i < first.size(); ++i)
            QVERIFY(first[i] != second[i]);
        // Loop detection of one build knows nothing of the other's history.
        const auto repeated = [](const std::vector<MiddlewarePtr> &members) {
            for (const MiddlewarePtr &m : members) {
                if (shortName(m->name()) != u"LoopDetection")
                    continue;
                AgentState state;
                state.messages.append(aiMessage(QString(), {{QStringLiteral("ls"), Json{{"path", "/a"}}, QStringLiteral("c")}}));
                return awaited(m->afterModel(state, runtimeOn(nullptr)))->messages.size();
            }
            return std::size_t(99);
        };
        for (int i = 0; i < 4; ++i)
            QCOMPARE(repeated(first), 0u);
        QCOMPARE(repeated(second), 0u);
        QCOMPARE(repeated(first), 1u); // the fifth: hard stop
    }

    void routesAfterTools()
    {
        QVERIFY(routeAfterTools(false, false) == RouteTo::LoopEntry);
        QVERIFY(routeAfterTools(true, false) == RouteTo::End);
        QVERIFY(routeAfterTools(false, true) == RouteTo::End);
    }
};

} // namespace tst_chain

PADDOCK_TEST(tst_chain, TestChain)
#include "tst_chain.moc"
