// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// What ends a run or cuts it short, beyond what the case files say.
#include "core/middleware/ai_edits.h"
#include "core/middleware/chain_build.h"
#include "core/middleware/model_length.h"
#include "core/middleware/safety_finish_reason.h"
#include "core/middleware/subagent_limit.h"
#include "core/middleware/terminal_response.h"
#include "core/middleware/token_budget.h"
#include "tests/core/middleware/chain_fixture.h"
#include "tests/support/test_main.h"

#include <QTest>

#include <limits>

namespace tst_run_guards {

using namespace paddock;
using namespace paddock::test;

namespace {

MessagePtr answer(const char *id, qint64 input, qint64 output, std::vector<ToolCall> calls = {})
{
    return edited(aiMessage(QStringLiteral("text"), std::move(calls)), [&](Message &m) {
        m.id = QString::fromLatin1(id);
        m.usage = Usage{input, output, input + output, 0, 0, 0};
    });
}

MessagePtr withMeta(const MessagePtr &ai, Json meta)
{
    return edited(ai, [&meta](Message &m) { m.responseMetadata = std::move(meta); });
}

ToolCall call(const char *name, const char *id)
{
    return {QString::fromLatin1(name), Json::object(), QString::fromLatin1(id)};
}

MessagePtr person(const char *text)
{
    return edited(humanMessage(QString::fromLatin1(text)), [](Message &m) { m.id = QStringLiteral("u"); });
}

AgentState stateOf(std::vector<MessagePtr> messages)
{
    return {MessageList(messages), Json::object()};
}

Result<Chain::NodeResult> afterModel(const std::shared_ptr<Chain> &chain, AgentState state, const RuntimePtr &runtime)
{
    return awaited(chain->runNode(Hook::AfterModel, std::move(state), runtime));
}

/// The hidden messages of one name that a model call is sent.
QStringList notes(const std::shared_ptr<Chain> &chain, const RuntimePtr &runtime, const char *name, bool works = true)
{
    QStringList texts;
    const auto core = [&texts, name, works](ModelCall inner) -> Task<Result<ModelResponse>> {
        for (const MessagePtr &message : inner.request.messages) {
            if (message->name == QLatin1StringView(name) && boolOf(message->kwargs, "hide_from_ui"))
                texts << textOf(message);
        }
        return [](bool good) -> Task<Result<ModelResponse>> {
            if (!good)
                co_return fail(ErrorCode::Unavailable, QStringLiteral("gone"));
            co_return ModelResponse{{aiMessage(QString())}, {}};
        }(works);
    };
    const auto result = awaited(chain->runModel(modelCall(runtime), core));
    return result.has_value() == works ? texts : QStringList{QStringLiteral("unexpected result")};
}

std::vector<MiddlewareActed> acts(EventQueue &queue)
{
    std::vector<MiddlewareActed> found;
    for (const auto &event : queue.drain()) {
        if (const auto *act = std::get_if<MiddlewareActed>(&event->body))
            found.push_back(*act);
    }
    return found;
}

} // namespace

class TestRunGuards : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    // --- token budget ------------------------------------------------------------------------------------------------
    void budgetWarnsOnceAndARetryHearsItAgain()
    {
        TokenBudgetOptions options;
        options.maxTokens = 1000;
        const auto chain = compiled({std::make_shared<TokenBudgetMiddleware>(options)});
        const auto bus = std::make_shared<EventBus>();
        const auto queue = bus->subscribe();
        const RuntimePtr runtime = runtimeOn(bus);
        AgentState state = stateOf({person("q"), answer("1", 800, 55)});
        QVERIFY(afterModel(chain, state, runtime).has_value());
        const auto told = acts(*queue);
        QCOMPARE(told.size(), 1u);
        QCOMPARE(told[0].tag, QStringLiteral("token_budget"));
        QCOMPARE(told[0].action, QStringLiteral("warn"));
        QCOMPARE(told[0].changes, (Json{{"kind", "total"}, {"used", 855}, {"limit", 1000}, {"percent", 86}}));
        const QStringList first = notes(chain, runtime, "budget_warning", false);
        QCOMPARE(first.size(), 1);
        QVERIFY(first[0].startsWith(u"[TOKEN BUDGET WARNING]"));
        QVERIFY2(first[0].contains(u"855 of the 1,000 total") && first[0].contains(u"(86%)"), qPrintable(first[0]));
        QCOMPARE(notes(chain, runtime, "budget_warning"), first); // the failed call did not use it up
        QCOMPARE(notes(chain, runtime, "budget_warning"), QStringList());
        QVERIFY(afterModel(chain, state, runtime).has_value());
        QCOMPARE(notes(chain, runtime, "budget_warning"), QStringList());
    }

    void budgetStopLeavesNoCall()
    {
        TokenBudgetOptions options;
        options.maxTokens = 1000;
        options.maxOutputTokens = 10;
        const auto chain = compiled({std::make_shared<TokenBudgetMiddleware>(options)});
        const RuntimePtr runtime = runtimeOn(nullptr);
        const MessagePtr last = edited(withMeta(answer("1", 100, 20, {call("ls", "c")}), Json{{"finish_reason", "tool_calls"}}), [](Message &m) {
            m.kwargs = Json{{"tool_calls", Json::array({Json{{"id", "c"}}})}};
            m.content = Json::array({Json{{"type", "text"}, {"text", "now"}}, Json{{"type", "tool_use"}, {"id", "c"}, {"name", "ls"}}});
        });
        const auto after = afterModel(chain, stateOf({person("q"), last}), runtime);
        QVERIFY(after.has_value());
        const Message &stopped = *after->state.messages.last();
        QVERIFY(!hasCallIntent(stopped));
        QCOMPARE(stopped.content.size(), 2u);
        QCOMPARE(stringOf(stopped.responseMetadata, "finish_reason"), QStringLiteral("stop"));
        QVERIFY(textOfContent(stopped.content).contains(u"[TOKEN BUDGET EXCEEDED] This run has used 20 output tokens of the 10"));
        QCOMPARE(stringOf(runtime->values, "stop_reason"), QStringLiteral("token_capped"));
        QCOMPARE(chain->consumeStopReason(QStringLiteral("r1")), QStringLiteral("token_capped"));
        QCOMPARE(chain->consumeStopReason(QStringLiteral("r1")), std::nullopt);
    }

    void budgetOfAnotherRunStartsAtZero()
    {
        TokenBudgetOptions options;
        options.maxTokens = 1000;
        const auto chain = compiled({std::make_shared<TokenBudgetMiddleware>(options)});
        const RuntimePtr runtime = runtimeOn(nullptr);
        AgentState state = stateOf({person("q"), answer("1", 1500, 0)});
        QVERIFY(!afterModel(chain, state, runtime)->state.messages.isSameAs(state.messages));
        // The first run ended by a command, so after_agent never ran; its messages are still there.
        QVERIFY(awaited(chain->runNode(Hook::BeforeAgent, state, runtime)).has_value());
        state.messages.append(answer("2", 10, 0));
        QVERIFY(afterModel(chain, state, runtime)->state.messages.isSameAs(state.messages));
    }

    void foreignNumbersDoNotOverflow()
    {
        TokenMeter meter;
        TokenBudgetOptions options;
        options.maxTokens = 1000;
        constexpr qint64 most = std::numeric_limits<qint64>::max();
        MessageList messages{answer("1", -5, -7)};
        QVERIFY(meter.account(messages, options).action == BudgetVerdict::Action::None);
        messages.append(edited(answer("2", 0, 0), [](Message &m) { m.usage->input = most; m.usage->output = most; }));
        messages.append(edited(answer("3", 0, 0), [](Message &m) { m.usage->input = most; }));
        const BudgetVerdict verdict = meter.account(messages, options);
        QVERIFY(verdict.action == BudgetVerdict::Action::HardStop);
        QCOMPARE(verdict.used, most);
        QCOMPARE(withThousands(-1234567), QStringLiteral("-1,234,567"));
        QCOMPARE(withThousands(123), QStringLiteral("123"));
        QCOMPARE(withThousands(1000), QStringLiteral("1,000"));
    }

    // --- safety and length -------------------------------------------------------------------------------------------
    void safetyTellsNamesButNoArguments()
    {
        const auto bus = std::make_shared<EventBus>();
        const auto queue = bus->subscribe();
        const RuntimePtr runtime = runtimeOn(bus);
        const auto chain = compiled({std::make_shared<SafetyFinishReasonMiddleware>()});
        ToolCall write{QStringLiteral("write_file"), Json{{"content", "secret words"}}, QStringLiteral("c1")};
        const MessagePtr last = withMeta(answer("m", 1, 1, {write}), Json{{"finish_reason", "content_filter"}, {"content_filter_results", {{"hate", true}}}});
        const auto after = afterModel(chain, stateOf({person("q"), last}), runtime);
        QVERIFY(after.has_value());
        QVERIFY(after->state.messages.last()->toolCalls.empty());
        const auto told = acts(*queue);
        QCOMPARE(told.size(), 1u);
        QCOMPARE(told[0].action, QStringLiteral("suppress_tool_calls"));
        QCOMPARE(told[0].changes["suppressed_tool_call_ids"], Json::array({"c1"}));
        QCOMPARE(told[0].changes["extras"], (Json{{"content_filter_results", {{"hate", true}}}}));
        QCOMPARE(told[0].changes["thread_id"], Json("t1"));
        QVERIFY(!QString::fromUtf8(dumpJson(told[0].changes)).contains(u"secret"));
    }

    void detectorsAreChosenByName_data()
    {
        QTest::addColumn<QByteArray>("list");
        QTest::addColumn<QString>("problem"); // empty: good
        QTest::newRow("none") << QByteArray("null") << QString();
        QTest::newRow("empty") << QByteArray("[]") << QStringLiteral("at least one");
        QTest::newRow("name") << QByteArray("[\"gemini_safety\"]") << QString();
        QTest::newRow("class path") << QByteArray(R"([{"use":"deerflow.x:AnthropicRefusalDetector"}])") << QString();
        QTest::newRow("own values") << QByteArray(R"([{"use":"openai_compatible_content_filter","config":{"finish_reasons":["sensitive"]}}])") << QString();
        QTest::newRow("unknown") << QByteArray("[\"nope\"]") << QStringLiteral("'nope' is not one of");
        QTest::newRow("bad values") << QByteArray(R"([{"use":"gemini_safety","config":{"finish_reasons":[3]}}])") << QStringLiteral("list of texts");
        QTest::newRow("no entry") << QByteArray("[3]") << QStringLiteral("'' is not one of");
    }
    void detectorsAreChosenByName()
    {
        QFETCH(QByteArray, list);
        QFETCH(QString, problem);
        ChainOptions options;
        options.safetyDetectorList = *parseJson(list);
        const auto chain = buildLeadChain(options);
        if (problem.isEmpty()) {
            QVERIFY(chain.has_value());
            return;
        }
        QVERIFY(!chain.has_value());
        QVERIFY2(chain.error().message.contains(problem), qPrintable(chain.error().message));
    }

    void lengthRunsNoCutCalls()
    {
        const auto chain = compiled({std::make_shared<TerminalResponseMiddleware>(), std::make_shared<ModelLengthMiddleware>()});
        const RuntimePtr runtime = runtimeOn(nullptr);
        const MessagePtr tool = toolMessage(QStringLiteral("c0"), QStringLiteral("ls"), QStringLiteral("r"));
        const auto cut = afterModel(chain, stateOf({person("q"), tool, withMeta(answer("m", 1, 1, {call("ls", "c")}), Json{{"stop_reason", "max_tokens"}})}), runtime);
        QVERIFY(cut.has_value() && cut->jumpTo == JumpTo::None);
        QVERIFY(cut->state.messages.last()->toolCalls.empty());
        QCOMPARE(memberOf(cut->state.messages.last()->kwargs, "model_length_termination")["suppressed_tool_call_names"], Json::array({"ls"}));
        QCOMPARE(stringOf(runtime->values, "stop_reason"), QStringLiteral("model_length_capped"));

        // No text, no calls: it says so, and nobody asks again.
        runtime->values["stop_reason"] = "loop_capped";
        const MessagePtr blank = edited(withMeta(answer("n", 1, 1), Json{{"finish_reason", "length"}}), [](Message &m) { m.content = nullptr; });
        const auto told = afterModel(chain, stateOf({person("q"), tool, blank}), runtime);
        QVERIFY(told.has_value() && told->jumpTo == JumpTo::None);
        QVERIFY(textOf(told->state.messages.last()).contains(u"output limit"));
        QCOMPARE(stringOf(runtime->values, "stop_reason"), QStringLiteral("loop_capped")); // the earlier cap says more

        // Text without calls stays as it is.
        const AgentState plain = stateOf({person("q"), withMeta(answer("o", 1, 1), Json{{"finish_reason", "MAX_TOKENS"}})});
        QVERIFY(afterModel(chain, plain, runtime)->state.messages.isSameAs(plain.messages));
    }

    // --- terminal response -------------------------------------------------------------------------------------------
    void emptyAnswerIsAskedForOnceMore()
    {
        const auto chain = compiled({std::make_shared<TerminalResponseMiddleware>()});
        const RuntimePtr runtime = runtimeOn(nullptr);
        const MessagePtr tool = toolMessage(QStringLiteral("c0"), QStringLiteral("ls"), QStringLiteral("r"));
        const MessagePtr empty = edited(answer("m", 1, 1), [](Message &m) { m.content = " \n"; });
        const auto first = afterModel(chain, stateOf({person("q"), tool, empty}), runtime);
        QVERIFY(first.has_value() && first->jumpTo == JumpTo::Model);
        QCOMPARE(first->state.messages.size(), 2);
        QCOMPARE(notes(chain, runtime, "terminal_response_recovery").size(), 1);
        const auto second = afterModel(chain, stateOf({person("q"), tool, edited(empty, [](Message &m) { m.id = QStringLiteral("n"); })}), runtime);
        QVERIFY(second.has_value() && second->jumpTo == JumpTo::None);
        QCOMPARE(memberOf(second->state.messages.last()->kwargs, "deerflow_error_fallback"), Json(true));
        QVERIFY(hasVisibleText(*second->state.messages.last()));
        QCOMPARE(notes(chain, runtime, "terminal_response_recovery"), QStringList());
    }

    void answersThatAreNotEmptyEnds_data()
    {
        QTest::addColumn<MessagePtr>("last");
        QTest::addColumn<bool>("toolBefore");
        const auto empty = [](auto edit) { return edited(answer("m", 1, 1), [&](Message &m) { m.content = ""; edit(m); }); };
        QTest::newRow("no tool in this turn") << empty([](Message &) {}) << false;
        QTest::newRow("text") << empty([](Message &m) { m.content = Json::array({Json{{"type", "text"}, {"text", "x"}}}); }) << true;
        QTest::newRow("calls") << empty([](Message &m) { m.toolCalls = {call("ls", "c")}; }) << true;
        QTest::newRow("raw calls") << empty([](Message &m) { m.kwargs = Json{{"tool_calls", Json::array({1})}}; }) << true;
        QTest::newRow("invalid calls") << empty([](Message &m) { m.invalidToolCalls.push_back({}); }) << true;
        QTest::newRow("announced calls") << empty([](Message &m) { m.responseMetadata["finish_reason"] = "function_call"; }) << true;
    }
    void answersThatAreNotEmptyEnds()
    {
        QFETCH(MessagePtr, last);
        QFETCH(bool, toolBefore);
        const auto chain = compiled({std::make_shared<TerminalResponseMiddleware>()});
        std::vector<MessagePtr> messages{toolMessage(QStringLiteral("old"), QStringLiteral("ls"), QStringLiteral("r")), person("q")};
        if (toolBefore)
            messages.push_back(toolMessage(QStringLiteral("c0"), QStringLiteral("ls"), QStringLiteral("r")));
        messages.push_back(last);
        const auto after = afterModel(chain, stateOf(messages), runtimeOn(nullptr));
        QVERIFY(after.has_value() && after->jumpTo == JumpTo::None);
        QCOMPARE(after->state.messages.size(), qsizetype(messages.size()));
    }

    // --- delegations -------------------------------------------------------------------------------------------------
    void limitsAreWithinTheirRanges()
    {
        QCOMPARE(DelegationLimits::within(3, 6, 3).perResponse, 3);
        QCOMPARE(DelegationLimits::within(0, 0, 3).perResponse, 1);
        QCOMPARE(DelegationLimits::within(100, 100, 100).perResponse, 64);
        QCOMPARE(DelegationLimits::within(5, 100, 2).perResponse, 2);
        QCOMPARE(DelegationLimits::within(5, 100, 2).perRun, 50);
        QCOMPARE(DelegationLimits::within(5, -3, 0).perRun, 1);
        QCOMPARE(DelegationLimits::within(5, 1, 0).perResponse, 1);
    }

    void limitDropsBlocksOfDroppedCallsOnly()
    {
        const auto chain = compiled({std::make_shared<SubagentLimitMiddleware>(DelegationLimits{1, 6})});
        const MessagePtr last = edited(answer("m", 1, 1, {call("task", "t1"), call("ls", "b"), call("task", "t2")}), [](Message &m) {
            m.content = Json::array({Json{{"type", "tool_use"}, {"id", "t1"}}, Json{{"type", "tool_use"}, {"id", "t2"}}, Json{{"type", "tool_use"}, {"id", "b"}}});
        });
        const auto after = afterModel(chain, stateOf({person("q"), last}), runtimeOn(nullptr));
        QVERIFY(after.has_value());
        const Message &kept = *after->state.messages.last();
        QCOMPARE(kept.toolCalls.size(), 2u);
        QCOMPARE(kept.toolCalls[1].id, QStringLiteral("b"));
        QCOMPARE(kept.content.size(), 2u);
        QCOMPARE(kept.content[1]["id"], Json("b"));
    }

    // --- the chains --------------------------------------------------------------------------------------------------
    void leadOnlyMembersAreNotOnASubagentsChain()
    {
        ChainOptions options;
        options.dataDir = QStringLiteral("/srv/paddock");
        options.planMode = options.vision = options.deferredTools = options.mcpRouting = options.extensions = true;
        const QSet<QString> leadOnly{QStringLiteral("DynamicContext"), QStringLiteral("Memory"), QStringLiteral("Todo"),
                                     QStringLiteral("TokenUsage"), QStringLiteral("Title"), QStringLiteral("SubagentLimit"),
                                     QStringLiteral("TerminalResponse"), QStringLiteral("ModelLength"), QStringLiteral("Clarification"),
                                     QStringLiteral("Uploads")};
        QSet<QString> onLead;
        for (const ChainSlot &row : leadSlots())
            onLead.insert(QString::fromLatin1(row.name));
        QVERIFY(onLead.contains(leadOnly));
        for (const ChainSlot &row : subagentSlots())
            QVERIFY2(!leadOnly.contains(QString::fromLatin1(row.name)), row.name);
        for (const MiddlewarePtr &member : buildSubagentMiddlewares(options))
            QVERIFY2(!leadOnly.contains(shortName(member->name())), qPrintable(member->name()));
        QStringList built;
        for (const MiddlewarePtr &member : buildLeadMiddlewares(options))
            built.append(shortName(member->name()));
        for (const QString &name : leadOnly)
            QVERIFY2(built.contains(name) || name == u"Memory", qPrintable(name)); // memory has no store yet
        QCOMPARE(built.last(), QStringLiteral("Clarification"));
    }
};

} // namespace tst_run_guards

PADDOCK_TEST(tst_run_guards, TestRunGuards)
#include "tst_run_guards.moc"
