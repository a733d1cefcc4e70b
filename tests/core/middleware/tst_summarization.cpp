// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// Where a history is cut, and the summary of what goes.
#include "core/middleware/message_edits.h"
#include "core/middleware/summary_input.h"
#include "tests/core/middleware/context_fixture.h"
#include "tests/support/test_main.h"

#include <QRandomGenerator>
#include <QTest>

#include <set>

namespace tst_summarization {

using namespace paddock;
using namespace paddock::test;

namespace {

/// Any order of messages, with ids that repeat, calls without results and results without calls.
MessageList randomHistory(QRandomGenerator &random)
{
    MessageList messages;
    const int size = random.bounded(24);
    for (int i = 0; i < size; ++i) {
        const QString call = QStringLiteral("c%1").arg(random.bounded(4));
        MessagePtr message;
        switch (random.bounded(9)) {
        case 0: message = systemMessage(utf8("s")); break;
        case 1: message = humanMessage(utf8("h")); break;
        case 2: message = withKwarg(humanMessage(utf8("hidden")), "hide_from_ui", true); break;
        case 3: message = withKwarg(humanMessage(utf8("memory")), "dynamic_context_reminder", true); break;
        case 4: message = edited(humanMessage(utf8("old summary")), [](Message &m) { m.name = utf8("summary"); }); break;
        case 5: message = calling({}, {call, QStringLiteral("c%1").arg(random.bounded(4))}); break;
        default: message = toolMessage(random.bounded(5) == 0 ? QString() : call, utf8("bash"), utf8("r")); break;
        }
        messages.append(withId(message, QStringLiteral("m%1").arg(i)));
    }
    return messages;
}

} // namespace

class TestSummarization : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    // ---- where a history is cut

    void aPlanNeverLosesWhatMustStay()
    {
        QRandomGenerator random(412);
        using Unit = ContextSize::Unit;
        for (int round = 0; round < 4000; ++round) {
            CompactionInput input;
            input.messages = randomHistory(random);
            input.force = true;
            const Unit unit = random.bounded(2) == 0 ? Unit::Messages : Unit::Tokens;
            input.policy.keep = {unit, double(random.bounded(30))};
            input.tokens = [](const Message &message) { return qint64(message.content.dump().size()); };
            const CompactionPlan plan = planCompaction(input);
            const QByteArray where = "round " + QByteArray::number(round);
            std::set<const Message *> kept;
            for (const MessagePtr &message : plan.kept)
                kept.insert(message.get());
            QCOMPARE(plan.kept.size() + plan.summarized.size(), std::size_t(input.messages.size()));
            for (const MessagePtr &message : plan.summarized)
                QVERIFY2(!kept.contains(message.get()), where.constData());
            if (plan.summarized.empty()) {
                QCOMPARE(MessageList(plan.kept), input.messages);
                continue;
            }
            qsizetype latest = -1;
            for (qsizetype i = 0; i < input.messages.size(); ++i) {
                const MessagePtr &message = input.messages.at(i);
                if (isGenuineUserMessage(*message))
                    latest = i;
                if (message->role == Role::System || isTruthy(memberOf(message->kwargs, "dynamic_context_reminder")))
                    QVERIFY2(kept.contains(message.get()), where.constData());
            }
            if (latest >= 0)
                QVERIFY2(kept.contains(input.messages.at(latest).get()), where.constData());
            for (const PairedCall &pair : pairCalls(input.messages)) {
                if (pair.result >= 0)
                    QVERIFY2(kept.contains(input.messages.at(pair.ai).get()) == kept.contains(input.messages.at(pair.result).get()), where.constData());
            }
            for (std::size_t i = 1; i < plan.kept.size(); ++i) // the order is the old one
                QVERIFY2(idsOf(input.messages).indexOf(plan.kept[i - 1]->id) < idsOf(input.messages).indexOf(plan.kept[i]->id), where.constData());
        }
    }

    void emptyAndTinyHistoriesStayWhole()
    {
        using Unit = ContextSize::Unit;
        for (const Unit unit : {Unit::Messages, Unit::Tokens, Unit::Fraction}) {
            CompactionInput input;
            input.force = true;
            input.model.contextWindow = 10;
            input.policy = {{{unit, 1}}, {unit, 0}};
            QCOMPARE(planCompaction(input).kept.size(), 0U);
            QCOMPARE(planCompaction(input).cut, 0);
            input.messages.append(humanMessage(utf8("only this")));
            QVERIFY(planCompaction(input).summarized.empty());
        }
    }

    void aResultFarFromItsCallStaysWithIt()
    {
        CompactionInput input;
        input.force = true;
        input.policy.keep = {ContextSize::Unit::Messages, 2};
        input.messages = {named(humanMessage(utf8("u")), "u"), named(aiMessage(utf8("old")), "a0"), calling(utf8("a1"), {utf8("c1")}),
                          named(humanMessage(utf8("meanwhile")), "u2"), named(toolMessage(utf8("c1"), utf8("bash"), utf8("r")), "t1")};
        const CompactionPlan plan = planCompaction(input);
        QCOMPARE(idsOf(MessageList(plan.kept)), QStringList({utf8("a1"), utf8("u2"), utf8("t1")}));
    }

    void aDisplacedResultStaysWithItsCall()
    {
        CompactionInput input;
        input.force = true;
        input.policy.keep = {ContextSize::Unit::Messages, 2};
        input.messages = {named(humanMessage(utf8("u")), "u"), named(aiMessage(utf8("old")), "a0"), calling(utf8("a1"), {utf8("c1")}),
                          named(aiMessage(utf8("on")), "a2"), named(toolMessage(utf8("c1"), utf8("bash"), utf8("late")), "t1")};
        const CompactionPlan plan = planCompaction(input); // the request brings them together again
        QCOMPARE(idsOf(MessageList(plan.kept)), QStringList({utf8("u"), utf8("a1"), utf8("a2"), utf8("t1")}));
    }

    void reportedTokensCountForTheSameModelOnly()
    {
        CompactionInput input;
        input.policy = {{{ContextSize::Unit::Tokens, 1000}}, {ContextSize::Unit::Messages, 1}};
        input.model = {utf8("own"), utf8("openai"), 0};
        const auto answered = [](const char *key, const char *value) {
            return edited(aiMessage(utf8("x")), [&](Message &m) {
                m.usage = Usage{900, 200, 1100};
                m.responseMetadata[key] = value;
            });
        };
        const auto triggers = [&input](const MessagePtr &last) {
            input.messages = {humanMessage(utf8("u")), last};
            return planCompaction(input).triggered;
        };
        QVERIFY(triggers(answered("model_provider", "openai")));
        QVERIFY(!triggers(answered("model_provider", "anthropic")));
        QVERIFY(triggers(answered("model_name", "own")));
        QVERIFY(!triggers(answered("model_name", "another")));
        QVERIFY(!triggers(aiMessage(utf8("x"))));
    }

    void fractionsNeedAWindow()
    {
        using Unit = ContextSize::Unit;
        const CompactionPolicy policy{{{Unit::Fraction, 0.8}, {Unit::Messages, 50}}, {Unit::Fraction, 0.3}};
        QStringList dropped;
        const CompactionPolicy usable = usablePolicy(policy, 0, &dropped);
        QCOMPARE(usable.trigger.size(), 1U);
        QCOMPARE(usable.keep.value, 20.0);
        QCOMPARE(dropped.size(), 2);
        QCOMPARE(usablePolicy(policy, 1000, &dropped).trigger.size(), 2U);
        // Said once, and the member goes on.
        auto bus = std::make_shared<EventBus>();
        const auto queue = bus->subscribe();
        SummarizationOptions made = options(saying("s"));
        made.policy = policy;
        const auto member = std::make_shared<SummarizationMiddleware>(made);
        for (int i = 0; i < 3; ++i)
            QVERIFY(beforeModel(member, workedState(5), running(bus)));
        QStringList warnings;
        QVERIFY(actsOf(*queue, &warnings).empty());
        QCOMPARE(warnings.size(), 1);
        QVERIFY(warnings.first().contains(u"fraction 0.8") && warnings.first().contains(u"'own'"));
    }

    void anImageCostsNoBase64()
    {
        Message message;
        message.content = Json::array({Json{{"type", "image_url"}, {"image_url", {{"url", std::string(1'000'000, 'x')}}}}});
        QVERIFY(approximateTokens(message) < 2000);
        QCOMPARE(approximateTokens(*humanMessage(utf8("12345678"))), 7); // with "human" 13 characters: 4 and 3
    }

    // ---- the summary

    void compactsAndTells()
    {
        auto bus = std::make_shared<EventBus>();
        const auto queue = bus->subscribe();
        const AnsweringPtr model = saying("  the summary  ");
        AgentState state = workedState(4);
        state.channels["summary_text"] = "what was before";
        const auto after = beforeModel(std::make_shared<SummarizationMiddleware>(options(model)), state, running(bus));
        QVERIFY(after);
        QCOMPARE(idsOf(after->messages), QStringList({utf8("s"), utf8("u"), utf8("a2"), utf8("t2"), utf8("a3"), utf8("t3")}));
        QCOMPARE(stringOf(after->channels, "summary_text"), utf8("the summary"));
        QCOMPARE(model->asked.size(), 1U);
        const ModelRequest &asked = model->asked.front();
        QCOMPARE(asked.caller.agent, utf8("middleware:summarize"));
        QCOMPARE(asked.model, utf8("own"));
        const QString prompt = textOf(asked.messages.first());
        QVERIFY(prompt.contains(u"<existing_summary>\nwhat was before\n</existing_summary>"));
        QVERIFY(prompt.contains(u"Tool: result 0") && prompt.contains(u"Tool: result 1") && !prompt.contains(u"result 2"));
        QVERIFY(!prompt.contains(u"role prompt") && !prompt.contains(u"the task"));
        const auto acts = actsOf(*queue);
        QCOMPARE(acts.size(), 1U);
        QCOMPARE(acts.front().tag, utf8("summarize"));
        QCOMPARE(acts.front().action, utf8("compact_history"));
        QCOMPARE(acts.front().hook, utf8("before_model"));
        const Json &changes = acts.front().changes;
        QCOMPARE(intOf(changes, "messages_summarized"), 4);
        QCOMPARE(intOf(changes, "messages_preserved"), 6);
        QCOMPARE(intOf(changes, "summary_chars"), 11);
        QVERIFY(intOf(changes, "tokens_after") < intOf(changes, "tokens_before"));
        QCOMPARE(changes["is_subagent"], Json(false));
    }

    void theNextCandidateHelps()
    {
        const AnsweringPtr good = saying("from the own model");
        const AnsweringPtr bad = std::make_shared<AnsweringModel>([](const ModelRequest &) -> Result<MessagePtr> { throw std::runtime_error("boom"); });
        SummarizationOptions made = options(good);
        made.modelName = utf8("cheap");
        made.model = [good, bad](const QString &name) -> Result<std::shared_ptr<ChatModel>> {
            return std::static_pointer_cast<ChatModel>(name == u"cheap" ? bad : good);
        };
        const auto after = beforeModel(std::make_shared<SummarizationMiddleware>(made), workedState(4), running(nullptr));
        QVERIFY(after);
        QCOMPARE(stringOf(after->channels, "summary_text"), utf8("from the own model"));
        QCOMPARE(bad->asked.size(), 1U);
    }

    void nothingGoesWithoutASummary_data()
    {
        QTest::addColumn<int>("kind");
        QTest::newRow("blank") << 0;
        QTest::newRow("error") << 1;
        QTest::newRow("throws") << 2;
        QTest::newRow("no message") << 3;
        QTest::newRow("no model") << 4;
    }
    void nothingGoesWithoutASummary()
    {
        QFETCH(int, kind);
        const auto model = std::make_shared<AnsweringModel>([kind](const ModelRequest &) -> Result<MessagePtr> {
            switch (kind) {
            case 0: return aiMessage(utf8(" \n "));
            case 1: return fail(ErrorCode::Unavailable, utf8("down"));
            case 2: throw std::runtime_error("boom");
            default: return MessagePtr();
            }
        });
        SummarizationOptions made = options(model);
        if (kind == 4)
            made.model = nullptr;
        auto bus = std::make_shared<EventBus>();
        const auto queue = bus->subscribe();
        const AgentState state = workedState(4);
        const auto after = beforeModel(std::make_shared<SummarizationMiddleware>(made), state, running(bus));
        QVERIFY(after);
        QVERIFY(after->messages.isSameAs(state.messages));
        QCOMPARE(after->channels, state.channels);
        QStringList warnings;
        QVERIFY(actsOf(*queue, &warnings).empty());
        QCOMPARE(warnings.size(), 1);
        QVERIFY(warnings.first().contains(u"nothing was removed"));
        // A person who asked for it learns why it did not happen.
        const auto manual = awaited(compactHistory(made, state, running(nullptr), true));
        QVERIFY(!manual);
        QCOMPARE(manual.error().message, utf8("summary generation failed"));
    }

    void aPersonNeedsNoTrigger()
    {
        SummarizationOptions made = options(saying("s"));
        made.policy.trigger.clear();
        const auto done = awaited(compactHistory(made, workedState(4), running(nullptr), true));
        QVERIFY(done && done->has_value());
        QCOMPARE((*done)->summarized, 4);
        QVERIFY(!awaited(compactHistory(made, workedState(4), running(nullptr), false)).value().has_value());
        QVERIFY(!awaited(compactHistory(made, {}, running(nullptr), true)).value().has_value());
    }

    void stoppingIsNoFailure()
    {
        std::stop_source stop;
        const auto model = std::make_shared<AnsweringModel>([stop](const ModelRequest &) mutable -> Result<MessagePtr> {
            stop.request_stop();
            return cancelled();
        });
        const auto after = beforeModel(std::make_shared<SummarizationMiddleware>(options(model)), workedState(4), running(nullptr, stop.get_token()));
        QVERIFY(!after);
        QVERIFY(after.error().isCancelled());
    }

    void whoRemembersIsToldBefore()
    {
        QStringList told;
        SummarizationOptions made = options(saying("s"));
        made.beforeRemoval = [&told](const std::vector<MessagePtr> &removed, const RuntimePtr &) {
            told = idsOf(MessageList(removed));
            throw std::runtime_error("the memory is full");
        };
        auto bus = std::make_shared<EventBus>();
        const auto queue = bus->subscribe();
        const auto after = beforeModel(std::make_shared<SummarizationMiddleware>(made), workedState(4), running(bus));
        QVERIFY(after);
        QCOMPARE(told, QStringList({utf8("a0"), utf8("t0"), utf8("a1"), utf8("t1")}));
        QCOMPARE(after->messages.size(), 6);
        QStringList warnings;
        QCOMPARE(actsOf(*queue, &warnings).size(), 1U);
        QVERIFY(warnings.value(0).contains(u"the memory is full"));
        // A subagent's chain never tells.
        told.clear();
        ChainOptions chain;
        chain.summaries = made;
        for (const MiddlewarePtr &member : buildSubagentMiddlewares(chain)) {
            if (member->name() == u"SummarizationMiddleware")
                QVERIFY(beforeModel(member, workedState(4), running(nullptr)));
        }
        QVERIFY(told.isEmpty());
    }

    void theInputIsTrimmedAndEscaped()
    {
        SummaryInput input;
        input.tokens = [](const Message &) { return 10; };
        input.trimTokens = 25;
        const MessagePtr h1 = humanMessage(utf8("one"));
        const MessagePtr a1 = aiMessage(utf8("two"));
        const MessagePtr h2 = humanMessage(utf8("three </new_messages> {messages}"));
        const MessagePtr a2 = aiMessage(utf8("four"));
        input.messages = {h1, a1, h2, a2};
        QCOMPARE(trimmedForSummary(input), std::vector({h2, a2}));
        QVERIFY(summaryPrompt(input).contains(u"Human: three &lt;/new_messages&gt; {messages}\nAI: four"));
        input.messages = {h1, a1, h2, a1, a2}; // the window begins with answers
        input.trimTokens = 15;
        QVERIFY(trimmedForSummary(input).empty());
        QVERIFY(summaryPrompt(input).contains(u"AI: four") && !summaryPrompt(input).contains(u"two"));
        input.messages = {systemMessage(utf8("kept")), h1, a1, h2, a2};
        input.trimTokens = 35;
        QCOMPARE(trimmedForSummary(input).size(), 3U);
        input.messages = {a1, a2, h1};
        input.trimTokens = std::nullopt;
        QCOMPARE(trimmedForSummary(input).size(), 3U);
        input.promptTemplate = utf8("Say it.");
        QVERIFY(summaryPrompt(input).startsWith(u"Say it.\n\n<new_messages>\nAI: two\nAI: four\nHuman: one"));
    }

    void halfIsForWhatWasBefore()
    {
        SummaryInput input;
        input.promptTemplate = utf8("{messages}");
        input.previous = QString(100, u'p') + utf8("END");
        input.trimTokens = 10; // 5 each: 20 characters
        input.messages = {humanMessage(utf8("0123456789012345678901234567890"))};
        input.tokens = [](const Message &) { return 1; };
        const QString prompt = summaryPrompt(input);
        QVERIFY(prompt.contains(utf8("<existing_summary>\n") + QString(17, u'p') + utf8("END\n</existing_summary>")));
        QVERIFY(prompt.contains(u"<new_messages>\nHuman: 0123456789012\n</new_messages>"));
        input.messages = {aiMessage(utf8("0123456789012345678901234567890"))}; // answers alone: their end is news
        QVERIFY(summaryPrompt(input).contains(u"<new_messages>\n12345678901234567890\n"));
    }

    void personalDataIsTakenOutBeforeTheCut()
    {
        const AnsweringPtr model = saying("ask me@example.org");
        ChainOptions chain;
        chain.piiRedaction = true;
        chain.pii.tokenSecret = utf8("secret");
        chain.summaries = options(model);
        chain.summaries.trimTokens = 8;
        AgentState state = workedState(4);
        state.messages.replace(3, named(toolMessage(utf8("c0"), utf8("bash"), utf8("write to someone@example.org now")), "t0"));
        MiddlewarePtr summarization;
        MiddlewarePtr durable;
        for (const MiddlewarePtr &member : buildLeadMiddlewares(chain)) {
            summarization = member->name() == u"SummarizationMiddleware" ? member : summarization;
            durable = member->name() == u"DurableContextMiddleware" ? member : durable;
        }
        QVERIFY(summarization && durable);
        const auto after = beforeModel(summarization, state, running(nullptr));
        QVERIFY(after);
        QVERIFY(!textOf(model->asked.front().messages.first()).contains(u"example.org"));
        ModelCall call = modelCall(running(nullptr), after->messages);
        call.state = *after;
        QString shown;
        QVERIFY(awaited(compiled({durable})->runModel(call, [&shown](ModelCall inner) {
            for (const MessagePtr &message : inner.request.messages)
                shown += textOf(message);
            return responding(aiMessage(utf8("ok")));
        })));
        QVERIFY(shown.contains(u"[EMAIL_") && !shown.contains(u"me@example.org"));
    }
};

} // namespace tst_summarization

PADDOCK_TEST(tst_summarization, TestSummarization)
#include "tst_summarization.moc"
