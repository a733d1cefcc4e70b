// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// Whatever a history looks like, what the chain sends is something that both model APIs accept.
#include "core/base/ids.h"
#include "core/base/text.h"
#include "core/middleware/chain_build.h"
#include "core/middleware/dangling_tool_call.h"
#include "core/middleware/system_message_coalescing.h"
#include "tests/core/middleware/context_fixture.h"
#include "tests/support/test_main.h"

#include <QRandomGenerator>
#include <QTest>

namespace tst_history_property {

using namespace paddock;
using namespace paddock::test;

namespace {

constexpr int rounds = 3000;

class Histories
{
public:
    explicit Histories(quint32 seed) : m_random(seed) {}

    MessageList next()
    {
        std::vector<MessagePtr> messages;
        const int size = m_random.bounded(12);
        for (int i = 0; i < size; ++i)
            messages.push_back(message());
        return MessageList(messages);
    }

private:
    QString pick(const QStringList &from) { return from.at(m_random.bounded(int(from.size()))); }
    QString id() { return pick({QStringLiteral("c1"), QStringLiteral("c2"), QStringLiteral("c3"), QString(), QStringLiteral(" ")}); }
    QString name() { return pick({QStringLiteral("bash"), QStringLiteral("ls"), QString(), QStringLiteral(" bash ")}); }
    Json args()
    {
        switch (m_random.bounded(5)) {
        case 0: return Json("{bad");
        case 1: return Json("[1]");
        case 2: return Json{{"a", 1}};
        case 3: return Json();
        default: return Json("{\"a\":1}");
        }
    }

    MessagePtr message()
    {
        switch (m_random.bounded(6)) {
        case 0: return systemMessage(QStringLiteral("system"));
        case 1: return humanMessage(QStringLiteral("human"));
        case 2:
        case 3: return toolMessage(id(), name(), QStringLiteral("result"));
        default: return ai();
        }
    }

    MessagePtr ai()
    {
        Message message;
        message.role = Role::Ai;
        for (int i = m_random.bounded(3); i > 0; --i)
            message.toolCalls.push_back({name(), Json::object(), id()});
        if (m_random.bounded(4) == 0)
            message.invalidToolCalls.push_back({name(), args(), id(), QStringLiteral("broken")});
        if (m_random.bounded(4) == 0) {
            Json raw{{"id", toUtf8(id())}, {"type", "function"}, {"function", {{"name", toUtf8(name())}, {"arguments", args()}}}};
            message.kwargs["tool_calls"] = Json::array({raw});
        }
        return makeMessage(std::move(message));
    }

    QRandomGenerator m_random;
};

struct Call {
    QString id;
    QString name;
    Json args;
};

/// What an adapter would send as the calls of an ai message: the parsed view, the invalid ones, else the raw one.
std::vector<Call> sentCalls(const Message &ai)
{
    std::vector<Call> calls;
    for (const ToolCall &call : ai.toolCalls)
        calls.push_back({call.id, call.name, call.args});
    for (const InvalidToolCall &call : ai.invalidToolCalls)
        calls.push_back({call.id, call.name, call.args});
    const Json &raw = memberOf(ai.kwargs, "tool_calls");
    if (calls.empty() && raw.is_array()) {
        for (const Json &item : raw)
            calls.push_back({stringOf(item, "id"), stringOf(item["function"], "name"), item["function"]["arguments"]});
    }
    return calls;
}

/// The strict rules of both APIs about tools: each call answered at once, by ids that are usable, with sane arguments, and
/// no result without its call.
QString complaint(const MessageList &messages)
{
    qsizetype i = 0;
    while (i < messages.size()) {
        const Message &message = *messages.at(i);
        ++i;
        if (message.role == Role::Tool)
            return QStringLiteral("result at %1 answers nothing").arg(i - 1);
        if (message.role != Role::Ai)
            continue;
        for (const Call &call : sentCalls(message)) {
            if (pythonStrip(call.id).isEmpty() || pythonStrip(call.name).isEmpty() || call.name != pythonStrip(call.name))
                return QStringLiteral("call at %1 has no usable id or name").arg(i - 1);
            const auto parsed = call.args.is_string() ? parseJson(QByteArray::fromStdString(call.args.get<std::string>()))
                                                      : Result<Json>(call.args);
            if (!parsed || !parsed->is_object())
                return QStringLiteral("call %1 has arguments that are no object").arg(call.id);
            if (i >= messages.size() || messages.at(i)->role != Role::Tool || messages.at(i)->toolCallId != call.id)
                return QStringLiteral("call %1 is not answered directly").arg(call.id);
            ++i;
        }
    }
    return {};
}

} // namespace

class TestHistoryProperty : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void patchedHistoriesAreAccepted()
    {
        Histories histories(20261202);
        for (int i = 0; i < rounds; ++i) {
            const MessageList history = histories.next();
            const MessageList patched = DanglingToolCallMiddleware::patch(history);
            const QString problem = complaint(patched);
            QVERIFY2(problem.isEmpty(), qPrintable(QStringLiteral("round %1: %2").arg(i).arg(problem)));
            QVERIFY2(DanglingToolCallMiddleware::patch(patched).isSameAs(patched), "a second pass must change nothing");
            if (complaint(history).isEmpty() && patched.isSameAs(history))
                continue;
            // Nothing a person or a model said is lost.
            qsizetype kept = 0;
            qsizetype said = 0;
            for (const MessagePtr &message : history)
                said += message->role != Role::Tool;
            for (const MessagePtr &message : patched)
                kept += message->role != Role::Tool;
            QCOMPARE(kept, said);
        }
    }

    void theWholeChainSendsOneSystemMessage()
    {
        Histories histories(42);
        ChainOptions options;
        const auto chain = *buildSubagentChain(options);
        const RuntimePtr runtime = runtimeOn(nullptr);
        QLoggingCategory::setFilterRules(QStringLiteral("paddock.middleware.dangling=false"));
        for (int i = 0; i < rounds / 10; ++i) {
            QString problem;
            const auto result = awaited(chain->runModel(modelCall(runtime, histories.next()), [&problem](ModelCall call) {
                problem = complaint(call.request.messages);
                for (const MessagePtr &message : call.request.messages) {
                    if (message->role == Role::System)
                        problem = QStringLiteral("a second system message");
                }
                return responding(aiMessage(QStringLiteral("ok")));
            }));
            QVERIFY(result);
            QVERIFY2(problem.isEmpty(), qPrintable(QStringLiteral("round %1: %2").arg(i).arg(problem)));
        }
    }

    /// A cut history is as acceptable as a whole one, and each call that stays keeps the answer it had.
    void compactedHistoriesAreAccepted()
    {
        Histories histories(1203);
        QLoggingCategory::setFilterRules(QStringLiteral("paddock.middleware.dangling=false"));
        int cut = 0;
        for (int i = 0; i < rounds / 3; ++i) {
            ChainOptions made = everyGuard();
            made.summaries = options(saying("what was"), 1, i % 7 + 1);
            const auto chain = *buildSubagentChain(made);
            const RuntimePtr runtime = running(nullptr);
            AgentState state;
            const MessageList history = histories.next();
            for (const MessagePtr &message : history) {
                const QString place = QStringLiteral("result %1").arg(state.messages.size());
                state.messages.append(withNewId(message->role == Role::Tool ? toolMessage(message->toolCallId, message->name, place) : message));
            }
            const auto before = awaited(chain->runNode(Hook::BeforeModel, state, runtime));
            QVERIFY(before);
            cut += before->state.messages.size() < state.messages.size();
            const auto whole = answersSent(*chain, runtime, state);
            const auto compacted = answersSent(*chain, runtime, before->state);
            for (auto it = compacted.cbegin(); it != compacted.cend(); ++it) {
                const QString problem = QStringLiteral("round %1: %2, then %3").arg(i).arg(whole.value(it.key()).join(u'|'), it.value().join(u'|'));
                QVERIFY2(it.value() == whole.value(it.key()), qPrintable(problem));
            }
        }
        QVERIFY2(cut > 200, qPrintable(QString::number(cut)));
    }

    /// What the chain sends can be sent through it again (a retry, a replay) and is still the same.
    void aSecondPassChangesNothing_data() { chains(); }
    void aSecondPassChangesNothing()
    {
        QFETCH(bool, lead);
        Histories histories(20261203);
        QLoggingCategory::setFilterRules(QStringLiteral("paddock.middleware.dangling=false"));
        for (int i = 0; i < rounds / 10; ++i) {
            const auto chain = lead ? *buildLeadChain(everyGuard()) : *buildSubagentChain(everyGuard());
            const RuntimePtr runtime = runtimeOn(nullptr);
            const MessageList history = histories.next();
            const auto sent = [&](ModelRequest request) {
                ModelCall call = modelCall(runtime, history);
                call.request = std::move(request);
                std::optional<ModelRequest> seen;
                const auto result = awaited(chain->runModel(call, [&seen](ModelCall inner) {
                    seen = inner.request;
                    return responding(aiMessage(QStringLiteral("ok")));
                }));
                return result ? seen : std::nullopt;
            };
            ModelRequest request;
            request.messages = history;
            request.system = lead ? systemMessage(QStringLiteral("the lead's prompt")) : nullptr;
            const auto once = sent(request);
            QVERIFY(once);
            const auto twice = sent(*once);
            QVERIFY(twice);
            const QByteArray where = "round " + QByteArray::number(i) + '\n' + written(*once) + "\nthen\n" + written(*twice);
            QCOMPARE(bool(once->system), bool(twice->system));
            QVERIFY2(!once->system || *once->system == *twice->system, where.constData());
            QVERIFY2(once->messages == twice->messages, where.constData());
        }
    }

    /// An answer without words and calls never stays the last one behind a result: it goes, and the model is asked once more;
    /// the second time it gets words. Applying the same again changes nothing more.
    void emptyAnswersDoNotStay()
    {
        Histories histories(7);
        for (int i = 0; i < rounds / 10; ++i) {
            const auto chain = *buildLeadChain(everyGuard());
            const RuntimePtr runtime = runtimeOn(nullptr);
            AgentState state;
            const MessageList before = histories.next();
            for (const MessagePtr &message : before)
                state.messages.append(withNewId(message));
            state.messages.append(withNewId(humanMessage(QStringLiteral("do it"))));
            state.messages.append(withNewId(aiMessage(QString(), {{QStringLiteral("ls"), Json::object(), QStringLiteral("c9")}})));
            state.messages.append(withNewId(toolMessage(QStringLiteral("c9"), QStringLiteral("ls"), QStringLiteral("result"))));
            const qsizetype worked = state.messages.size();
            for (int answer = 0; answer < 2; ++answer) {
                state.messages.append(withNewId(aiMessage(answer == 0 ? QString() : QStringLiteral("  \n"))));
                const auto after = awaited(chain->runNode(Hook::AfterModel, state, runtime));
                QVERIFY2(after, "after_model failed");
                state = after->state;
                if (answer == 0) {
                    QCOMPARE(after->jumpTo, JumpTo::Model);
                    QCOMPARE(state.messages.size(), worked);
                }
            }
            QCOMPARE(state.messages.size(), worked + 1);
            QVERIFY(!pythonStrip(textOf(state.messages.last())).isEmpty());
            const auto again = awaited(chain->runNode(Hook::AfterModel, state, runtime));
            QVERIFY(again);
            QCOMPARE(again->jumpTo, JumpTo::None);
            QCOMPARE(again->state.messages, state.messages);
        }
    }

private:
    /// By the id of each ai message that is sent, the texts of the results behind it; complaints under an empty id.
    static QHash<QString, QStringList> answersSent(Chain &chain, const RuntimePtr &runtime, const AgentState &state)
    {
        QHash<QString, QStringList> answers;
        ModelCall call = modelCall(runtime, state.messages);
        call.state = state;
        const auto result = awaited(chain.runModel(call, [&answers](ModelCall inner) {
            if (const QString problem = complaint(inner.request.messages); !problem.isEmpty())
                answers[QString()].append(problem);
            QString ai;
            for (const MessagePtr &message : inner.request.messages) {
                if (message->role == Role::Ai)
                    answers[ai = message->id];
                else if (message->role == Role::Tool)
                    answers[ai].append(textOf(message));
            }
            return responding(aiMessage(QStringLiteral("ok")));
        }));
        if (!result)
            answers[QString()].append(result.error().message);
        return answers;
    }
    static QByteArray written(const ModelRequest &request)
    {
        QByteArray text = request.system ? dumpJson(messageToJson(*request.system)) : QByteArray();
        for (const MessagePtr &message : request.messages)
            text += '\n' + dumpJson(messageToJson(*message));
        return text;
    }
    static void chains()
    {
        QTest::addColumn<bool>("lead");
        QTest::newRow("lead") << true;
        QTest::newRow("subagent") << false;
    }
    static ChainOptions everyGuard()
    {
        ChainOptions options;
        options.dataDir = QStringLiteral("/nonexistent");
        options.piiRedaction = true;
        options.pii.tokenSecret = QStringLiteral("secret");
        options.vision = true; // not planMode: Todo explains its tool in each request anew
        return options;
    }
    static MessagePtr withNewId(const MessagePtr &message)
    {
        return edited(message, [](Message &m) { m.id = newUuid(); });
    }
};

} // namespace tst_history_property

PADDOCK_TEST(tst_history_property, TestHistoryProperty)
#include "tst_history_property.moc"
