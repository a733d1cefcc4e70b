// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/base/text.h"
#include "core/middleware/chain_build.h"
#include "core/middleware/guardrail.h"
#include "core/middleware/guardrail_policies.h"
#include "core/middleware/message_edits.h"
#include "core/middleware/tool_error_handling.h"
#include "core/middleware/tool_progress.h"
#include "core/middleware/tool_receipt.h"
#include "tests/core/middleware/chain_fixture.h"
#include "tests/support/test_main.h"

#include <QTest>

namespace tst_guards {

using namespace paddock;
using namespace paddock::test;

namespace {

Task<Result<ToolOutcome>> throwingTool(ToolCallRequest)
{
    throw std::runtime_error("connection lost");
    co_return MessagePtr();
}

MessagePtr textOutcome(const Result<ToolOutcome> &outcome)
{
    return std::get<MessagePtr>(*outcome);
}

QString metaOf(const Result<ToolOutcome> &outcome, const char *key)
{
    return stringOf(memberOf(textOutcome(outcome)->kwargs, toolMetaKey), key);
}

RuntimePtr runtimeOf(const Json &values, const QString &agent = {}, const std::shared_ptr<EventBus> &bus = nullptr)
{
    const RuntimePtr runtime = runtimeOn(bus);
    runtime->values = values;
    if (!agent.isEmpty())
        runtime->events = EventSink(bus, RunId(QStringLiteral("r1")), AgentId(agent));
    return runtime;
}

Task<Result<ModelResponse>> failed()
{
    co_return fail(ErrorCode::Unavailable, QStringLiteral("gone"));
}

/// What a model call sends behind the messages of the state.
QStringList hintsSent(const std::shared_ptr<Chain> &chain, const RuntimePtr &runtime, bool answers = true)
{
    QStringList hints;
    const auto result = awaited(chain->runModel(modelCall(runtime), [&hints, answers](ModelCall call) {
        for (const MessagePtr &message : call.request.messages) {
            if (message->name == u"progress_hint" && boolOf(message->kwargs, "hide_from_ui"))
                hints << textOf(message);
        }
        return answers ? responding(aiMessage(QString())) : failed();
    }));
    return result.has_value() == answers ? hints : QStringList{QStringLiteral("unexpected result")};
}

std::vector<MiddlewarePtr> progressAround(const ProgressOptions &options)
{
    return {std::make_shared<ToolProgressMiddleware>(options), std::make_shared<ToolErrorHandlingMiddleware>()};
}

ProgressOptions strict()
{
    ProgressOptions options;
    options.stagnationThreshold = options.warnEscalationCount = 1;
    return options;
}

Json receiptOf(const MessagePtr &message)
{
    return memberOf(message->kwargs, receiptKey);
}

ToolReceipt someReceipt(const char *callId)
{
    ToolReceipt receipt;
    receipt.toolCallId = QString::fromLatin1(callId);
    receipt.toolName = receipt.status = receipt.argsHash = receipt.outputHash = receipt.createdAt = QStringLiteral("x");
    return receipt;
}

MessagePtr receiptedTool(const char *callId, Json kwargs = Json::object())
{
    kwargs[receiptKey] = someReceipt(callId).toJson();
    return edited(toolMessage(QString::fromLatin1(callId), QStringLiteral("x"), QStringLiteral("out")), [&](Message &m) { m.kwargs = std::move(kwargs); });
}

/// The request as the model saw it and the answer as it came out.
struct Asked {
    MessageList seen;
    MessagePtr answer;
};
Asked ask(const std::shared_ptr<Chain> &chain, const MessageList &messages, const MessagePtr &answer)
{
    Asked asked;
    const auto result = awaited(chain->runModel(modelCall(runtimeOn(nullptr), messages), [&](ModelCall call) {
        asked.seen = call.request.messages;
        return responding(answer);
    }));
    asked.answer = result ? result->messages.front() : nullptr;
    return asked;
}

/// Remembers what it was asked; then allows, refuses, fails or throws.
class AskedProvider : public GuardrailProvider
{
public:
    explicit AskedProvider(QString answer) : m_answer(std::move(answer)) {}
    std::vector<GuardrailRequest> asked;
    Task<Result<GuardrailDecision>> evaluate(GuardrailRequest request, std::stop_token) override
    {
        asked.push_back(std::move(request));
        if (m_answer == u"throw")
            throw std::runtime_error("broken");
        if (m_answer == u"cancel")
            co_return cancelled();
        if (m_answer == u"fail")
            co_return fail(ErrorCode::Unavailable, QStringLiteral("no answer"));
        co_return GuardrailDecision{m_answer == u"allow", {{QStringLiteral("x.code"), QStringLiteral("why %1")}}, QStringLiteral("p"), {}};
    }

private:
    const QString m_answer;
};

std::shared_ptr<Chain> gated(const std::shared_ptr<GuardrailProvider> &provider, bool failClosed = true)
{
    GuardrailMiddleware::Options options;
    options.provider = provider;
    options.failClosed = failClosed;
    options.passport = QStringLiteral("pass");
    return compiled({std::make_shared<GuardrailMiddleware>(options)});
}

std::shared_ptr<RbacProvider> roles(const char *json)
{
    auto provider = RbacProvider::fromConfig(Json{{"roles", Json::parse(json)}});
    if (!provider)
        qFatal("%s", qPrintable(provider.error().message));
    return *provider;
}

QString firstWords(const Result<ToolOutcome> &outcome)
{
    return outcome ? textOf(textOutcome(outcome)).section(QLatin1Char(' '), 0, 1) : QStringLiteral("(error)");
}

} // namespace

class TestGuards : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    // --- tool progress -----------------------------------------------------------------------------------------------
    void throwingToolsAreCountedAndBlocked()
    {
        const auto bus = std::make_shared<EventBus>();
        const auto queue = bus->subscribe();
        const auto chain = compiled(progressAround(strict()));
        const RuntimePtr runtime = runtimeOf(Json{{"thread_id", "t"}, {"run_id", "r"}}, QStringLiteral("lead"), bus);
        const auto call = [&] { return awaited(chain->runTool(toolCall(runtime, QStringLiteral("fetch"), Json{{"url", "secret"}}), throwingTool)); };
        QCOMPARE(metaOf(call(), "error_type"), QStringLiteral("transient"));
        QCOMPARE(hintsSent(chain, runtime).size(), 1);
        QCOMPARE(hintsSent(chain, runtime).size(), 0);
        QCOMPARE(metaOf(call(), "error_type"), QStringLiteral("transient"));
        const auto blocked = call();
        QCOMPARE(metaOf(blocked, "error_type"), QStringLiteral("blocked_by_progress_guard"));
        QCOMPARE(textOutcome(blocked)->toolCallId, QStringLiteral("c1"));
        QVERIFY(awaited(chain->runNode(Hook::BeforeAgent, {}, runtime)));
        QCOMPARE(metaOf(call(), "error_type"), QStringLiteral("transient"));
        QStringList logs;
        for (const auto &event : queue->drain()) {
            if (const auto *log = std::get_if<LogRecorded>(&event->body))
                logs << log->text.section(QLatin1Char('('), 0, 0).trimmed();
        }
        const QString tell = QStringLiteral("tool_progress: %1 of fetch");
        QCOMPARE(logs, (QStringList{tell.arg(QStringLiteral("warn")), tell.arg(QStringLiteral("block")),
                                    tell.arg(QStringLiteral("reset")), tell.arg(QStringLiteral("warn"))}));
    }

    void aHintSurvivesAFailedModelCall()
    {
        const auto chain = compiled(progressAround(strict()));
        const RuntimePtr runtime = runtimeOn(nullptr);
        QVERIFY(awaited(chain->runTool(toolCall(runtime, QStringLiteral("ls")), throwingTool)));
        const QStringList hint = hintsSent(chain, runtime, false);
        QCOMPARE(hint.size(), 1);
        QCOMPARE(hintsSent(chain, runtime), hint);
        QCOMPARE(hintsSent(chain, runtime), QStringList());
    }

    void siblingsDoNotBlockEachOther_data()
    {
        QTest::addColumn<QString>("thread");
        QTest::addColumn<QString>("agent");
        QTest::addColumn<bool>("blocked");
        QTest::newRow("the same") << "t" << "subagent:a" << true;
        QTest::newRow("a sibling") << "t" << "subagent:b" << false;
        QTest::newRow("another thread") << "u" << "subagent:a" << false;
    }
    void siblingsDoNotBlockEachOther()
    {
        QFETCH(QString, thread);
        QFETCH(QString, agent);
        QFETCH(bool, blocked);
        const auto chain = compiled(progressAround(strict()));
        const auto call = [&chain](const QString &inThread, const QString &by) {
            return awaited(chain->runTool(toolCall(runtimeOf(Json{{"thread_id", toUtf8(inThread)}, {"is_subagent", true}}, by), QStringLiteral("ls")),
                                          throwingTool));
        };
        call(QStringLiteral("t"), QStringLiteral("subagent:a"));
        call(QStringLiteral("t"), QStringLiteral("subagent:a"));
        QCOMPARE(metaOf(call(thread, agent), "error_type") == u"blocked_by_progress_guard", blocked);
    }

    void whatIsNotJudgedPasses()
    {
        const auto member = std::make_shared<ToolProgressMiddleware>(strict());
        const auto chain = compiled({member});
        const RuntimePtr runtime = runtimeOn(nullptr);
        Command command;
        command.update.messages = {toolMessage(QStringLiteral("c1"), QStringLiteral("ls"), QStringLiteral("Error: x"), ToolStatus::Error)};
        QVERIFY(awaited(chain->runTool(toolCall(runtime, QStringLiteral("ls")), [command](ToolCallRequest) { return outcomeOf(command); })));
        QVERIFY(awaited(chain->runTool(toolCall(runtime, QStringLiteral("ls")), toolSaying(QStringLiteral("no meta")))));
        const Error interrupt{ErrorCode::FailedPrecondition, {}, Json{{"control", "interrupt"}}, nullptr};
        QVERIFY(!awaited(chain->runTool(toolCall(runtime, QStringLiteral("ls")), [interrupt](ToolCallRequest) { return outcomeOf(std::unexpected(interrupt)); })));
        QVERIFY(member->tracker().phaseOf(QStringLiteral("t1"), QStringLiteral("ls")) == nullptr);
    }

    void theLeastRecentThreadIsForgotten()
    {
        ProgressOptions options = strict();
        options.maxTrackedThreads = 2;
        ProgressTracker tracker(options);
        const ToolMeta stop{QStringLiteral("error"), QStringLiteral("auth"), false, QStringLiteral("stop"), {}};
        const ToolMeta again{QStringLiteral("error"), QStringLiteral("no_results"), true, QStringLiteral("rewrite_query"), {}};
        const QString run = QStringLiteral("r"), tool = QStringLiteral("x"), other = QStringLiteral("y");
        tracker.record(QStringLiteral("1"), run, tool, stop, {});
        tracker.record(QStringLiteral("1"), run, other, again, {});
        tracker.record(QStringLiteral("2"), run, tool, stop, {});
        QVERIFY(tracker.blockReason(QStringLiteral("1"), tool)); // looking is not using
        tracker.record(QStringLiteral("3"), run, tool, stop, {});
        QVERIFY(!tracker.blockReason(QStringLiteral("1"), tool));
        QVERIFY(tracker.takeHints(QStringLiteral("1"), run).isEmpty());
        QVERIFY(tracker.blockReason(QStringLiteral("2"), tool));
    }

    void optionsDecide()
    {
        ProgressOptions silent = strict();
        silent.injectAssessment = false;
        silent.exemptTools = {QStringLiteral("ls")};
        const auto chain = compiled(progressAround(silent));
        const RuntimePtr runtime = runtimeOn(nullptr);
        for (int i = 0; i < 4; ++i)
            QVERIFY(metaOf(awaited(chain->runTool(toolCall(runtime, QStringLiteral("ls")), throwingTool)), "error_type") != u"blocked_by_progress_guard");
        awaited(chain->runTool(toolCall(runtime, QStringLiteral("fetch")), throwingTool));
        QCOMPARE(hintsSent(chain, runtime), QStringList());
    }

    void progressStandsInTheChainsAndSharesNothing()
    {
        ChainOptions options;
        options.dataDir = QStringLiteral("/srv/paddock");
        options.toolProgress = true;
        options.progress = strict();
        const RuntimePtr runtime = runtimeOn(nullptr);
        const auto first = *buildSubagentChain(options);
        const auto second = *buildSubagentChain(options);
        for (int i = 0; i < 2; ++i)
            awaited(first->runTool(toolCall(runtime, QStringLiteral("fetch")), throwingTool));
        QVERIFY(textOf(textOutcome(awaited(first->runTool(toolCall(runtime, QStringLiteral("fetch")), throwingTool)))).startsWith(QStringLiteral("[TOOL_BLOCKED]")));
        for (const auto &fresh : {second, *buildLeadChain(options)})
            QVERIFY(!textOf(textOutcome(awaited(fresh->runTool(toolCall(runtime, QStringLiteral("fetch")), throwingTool)))).startsWith(QStringLiteral("[TOOL_BLOCKED]")));
        options.toolProgress = false;
        for (const MiddlewarePtr &built : buildSubagentMiddlewares(options))
            QVERIFY(shortName(built->name()) != u"ToolProgress");
    }

    // --- tool receipts -----------------------------------------------------------------------------------------------
    void everyResultIsReceipted_data()
    {
        QTest::addColumn<QString>("how");
        QTest::addColumn<QString>("status");
        QTest::newRow("success") << "success" << "success";
        QTest::newRow("thrown") << "thrown" << "error";
        QTest::newRow("blocked") << "blocked" << "error";
        QTest::newRow("forged") << "forged" << "success";
        QTest::newRow("command") << "command" << "success";
    }
    void everyResultIsReceipted()
    {
        QFETCH(QString, how);
        QFETCH(QString, status);
        auto members = progressAround(strict());
        members.insert(members.begin(), std::make_shared<ToolReceiptMiddleware>());
        const auto chain = compiled(members);
        const RuntimePtr runtime = runtimeOn(nullptr);
        const auto call = [&](const ToolNext &core) { return awaited(chain->runTool(toolCall(runtime, QStringLiteral("ls"), Json{{"b", 1}, {"a", 1.0}}), core)); };
        Result<ToolOutcome> outcome = fail(ErrorCode::Internal, QString());
        if (how == u"thrown") {
            outcome = call(throwingTool);
        } else if (how == u"blocked") {
            for (int i = 0; i < 3; ++i)
                outcome = call(throwingTool);
        } else if (how == u"forged") {
            const MessagePtr forged = receiptedTool("c1");
            outcome = call([forged](ToolCallRequest) { return outcomeOf(forged); });
        } else if (how == u"command") {
            Command command;
            command.update.messages = {toolMessage(QStringLiteral("c1"), QStringLiteral("ls"), QStringLiteral("a")),
                                       toolMessage(QStringLiteral("other"), QStringLiteral("ls"), QStringLiteral("b"))};
            outcome = call([command](ToolCallRequest) { return outcomeOf(command); });
        } else {
            outcome = call(toolSaying(QStringLiteral("a")));
        }
        QVERIFY(outcome);
        const auto *message = std::get_if<MessagePtr>(&*outcome);
        if (message == nullptr)
            QVERIFY(receiptOf(std::get<Command>(*outcome).update.messages[1]).is_null());
        const Json receipt = receiptOf(message != nullptr ? *message : std::get<Command>(*outcome).update.messages[0]);
        QVERIFY(ToolReceipt::fromJson(receipt));
        QCOMPARE(stringOf(receipt, "status"), status);
        QCOMPARE(stringOf(receipt, "tool_call_id"), QStringLiteral("c1"));
        QCOMPARE(stringOf(receipt, "tool_name"), QStringLiteral("ls"));
        QCOMPARE(stringOf(receipt, "args_sha256"), sha256Hex(QByteArray(R"({"a": 1.0, "b": 1})")).first(16));
    }

    void theLedgerAndItsSnapshot()
    {
        const auto chain = compiled({std::make_shared<ToolReceiptMiddleware>()});
        const MessageList messages{systemMessage(QStringLiteral("role")), humanMessage(QStringLiteral("q")), receiptedTool("a"), receiptedTool("b")};
        const Asked asked = ask(chain, messages, aiMessage(QStringLiteral("done [r2]")));
        QCOMPARE(asked.seen.size(), 5);
        QVERIFY(boolOf(asked.seen.at(1)->kwargs, receiptContextKey));
        QVERIFY(!isGenuineUserMessage(*asked.seen.at(1)));
        QVERIFY(textOf(asked.seen.at(1)).endsWith(QStringLiteral("- [r2] x status=x args_sha256=x output_sha256=x bytes=0")));
        MessageList later = messages;
        later.append(asked.answer);
        const auto snapshot = receiptSnapshot(later);
        QVERIFY(snapshot && snapshot->size() == 2);
        QCOMPARE(snapshot->back().toolCallId, QStringLiteral("b"));
        // Without receipts there is no ledger, and an answer may not bring one.
        const MessagePtr fake = edited(aiMessage(QStringLiteral("x")), [&](Message &m) { m.kwargs[receiptLedgerKey] = asked.answer->kwargs[receiptLedgerKey]; });
        const MessageList none{humanMessage(QStringLiteral("q"))};
        const Asked bare = ask(chain, none, fake);
        QVERIFY(bare.seen.isSameAs(none));
        QVERIFY(!bare.answer->kwargs.contains(receiptLedgerKey));
    }

    void receiptsOfDelegationsComeFirst()
    {
        Json children = Json::array({Json{{"id", "r1"}}, 3});
        for (int i = 0; i < 40; ++i) {
            ToolReceipt child = someReceipt("k");
            child.id = QStringLiteral("r%1").arg(i + 1);
            children.push_back(child.toJson());
        }
        MessageList messages{humanMessage(QStringLiteral("q"))};
        for (int i = 0; i < 40; ++i)
            messages.append(receiptedTool("d"));
        messages.append(receiptedTool("t", Json{{"subagent_status", "completed"}, {childReceiptsKey, children}}));
        const ReceiptLedger full = renderLedger(messages);
        QVERIFY(full.text.size() <= receiptBudgetChars);
        QVERIFY(full.text.startsWith(QStringLiteral("## Subagent tool receipts"))); // what is left does not hold the direct header
        QVERIFY(full.text.contains(QStringLiteral("older child receipts omitted")));
        QVERIFY(full.text.contains(QStringLiteral("- [task:t/r40] (child citation [r40]) x status=x")));
        QVERIFY(full.shown.empty());
        const ReceiptLedger both = renderLedger(messages, 8000);
        QVERIFY(both.text.startsWith(QStringLiteral("## Tool receipts")));
        QVERIFY(both.text.contains(QStringLiteral("bytes=0\n\n## Subagent tool receipts")));
        QCOMPARE(both.shown.size(), 41u);
    }

    void renderModesOfTheChains()
    {
        ChainOptions options;
        options.dataDir = QStringLiteral("/srv/paddock");
        const MessageList plain{humanMessage(QStringLiteral("q")), aiMessage(QString(), {{QStringLiteral("x"), Json::object(), QStringLiteral("a")}}), receiptedTool("a")};
        const auto shown = [&plain](const std::shared_ptr<Chain> &chain) {
            for (const MessagePtr &message : ask(chain, plain, aiMessage(QString())).seen) {
                if (boolOf(message->kwargs, receiptContextKey))
                    return true;
            }
            return false;
        };
        QVERIFY(shown(*buildSubagentChain(options)));
        QVERIFY(!shown(*buildLeadChain(options)));
        options.receiptRenderMode = ReceiptRenderMode::Always;
        QVERIFY(shown(*buildLeadChain(options)));
        options.toolReceipts = false;
        QVERIFY(!shown(*buildSubagentChain(options)));
    }

    // --- authorization and guardrail ---------------------------------------------------------------------------------
    void aGateDecides_data()
    {
        QTest::addColumn<QString>("answer");
        QTest::addColumn<bool>("failClosed");
        QTest::addColumn<QString>("first");
        QTest::addColumn<int>("logs");
        QTest::newRow("allowed") << "allow" << true << "ran" << 0;
        QTest::newRow("refused") << "deny" << true << "Guardrail denied:" << 1;
        QTest::newRow("refused, open") << "deny" << false << "Guardrail denied:" << 1;
        QTest::newRow("thrown, closed") << "throw" << true << "Guardrail denied:" << 1;
        QTest::newRow("thrown, open") << "throw" << false << "ran" << 1;
        QTest::newRow("failed, closed") << "fail" << true << "Guardrail denied:" << 1;
        QTest::newRow("none, closed") << "" << true << "Guardrail denied:" << 1;
        QTest::newRow("cancelled") << "cancel" << false << "(error)" << 0;
    }
    void aGateDecides()
    {
        QFETCH(QString, answer);
        QFETCH(bool, failClosed);
        QFETCH(QString, first);
        QFETCH(int, logs);
        const auto bus = std::make_shared<EventBus>();
        const auto queue = bus->subscribe();
        const auto provider = answer.isEmpty() ? nullptr : std::make_shared<AskedProvider>(answer);
        const auto outcome = awaited(gated(provider, failClosed)->runTool(
            toolCall(runtimeOf(Json::object(), QStringLiteral("lead"), bus), QStringLiteral("bash"), Json{{"command", "secret"}}), toolSaying(QStringLiteral("ran"))));
        QCOMPARE(firstWords(outcome), first);
        if (outcome && first != u"ran")
            QCOMPARE(metaOf(outcome, "error_type"), QStringLiteral("permission"));
        int seen = 0;
        for (const auto &event : queue->drain()) {
            if (const auto *log = std::get_if<LogRecorded>(&event->body)) {
                ++seen;
                QVERIFY(!log->text.contains(QStringLiteral("secret")));
            }
        }
        QCOMPARE(seen, logs);
    }

    void theRequestTellsWhoAsks()
    {
        const auto provider = std::make_shared<AskedProvider>(QStringLiteral("allow"));
        const Json values{{"thread_id", "t"}, {"run_id", "r"}, {"user_role", "ops"}, {"is_subagent", true}, {"is_internal", "true"}, {"authz_attributes", {{"a", 1}}}};
        const auto chain = gated(provider);
        awaited(chain->runTool(toolCall(runtimeOf(values), QStringLiteral("ls"), Json{{"path", "/"}}), toolSaying(QStringLiteral("x"))));
        QCOMPARE(provider->asked.size(), 1u);
        const GuardrailRequest &asked = provider->asked.front();
        QCOMPARE(asked.agentId, QStringLiteral("pass"));
        QCOMPARE(asked.principal.role, QStringLiteral("ops"));
        QVERIFY(asked.isSubagent);
        QVERIFY(!asked.principal.isInternal); // only the boolean counts
        QCOMPARE(asked.principal.attributes, (Json{{"a", 1}}));
        QCOMPARE(asked.toolInput, (Json{{"path", "/"}}));
        // Attributes that are no mapping: nobody is asked, and the closed gate refuses.
        const auto odd = awaited(chain->runTool(toolCall(runtimeOf(Json{{"authz_attributes", 3}}), QStringLiteral("ls")), toolSaying(QStringLiteral("x"))));
        QCOMPARE(firstWords(odd), QStringLiteral("Guardrail denied:"));
        QCOMPARE(provider->asked.size(), 1u);
    }

    void gatesStandInTheChains_data()
    {
        QTest::addColumn<bool>("lead");
        QTest::newRow("lead") << true;
        QTest::newRow("subagent") << false;
    }
    void gatesStandInTheChains()
    {
        QFETCH(bool, lead);
        ChainOptions options;
        options.dataDir = QStringLiteral("/srv/paddock");
        options.authorization = options.guardrails = true;
        options.deferredTools = true;
        options.authorizationGate.provider = roles(R"({"user": {"tools": {"allow": ["ls"]}}, "ops": {}})");
        options.guardrailGate.use = QStringLiteral("upstream.guardrails:AllowlistProvider");
        options.guardrailGate.config = Json{{"denied_tools", {"bash", "tool_search"}}};
        const auto chain = lead ? buildLeadChain(options) : buildSubagentChain(options);
        QVERIFY2(chain, chain ? "" : qPrintable(chain.error().message));
        const auto call = [&chain](const char *tool, const char *role) {
            const auto outcome = awaited((*chain)->runTool(toolCall(runtimeOf(Json{{"user_role", role}}), QString::fromLatin1(tool)), toolSaying(QStringLiteral("ran"))));
            if (!outcome || !ToolReceipt::fromJson(receiptOf(textOutcome(outcome))))
                return QStringLiteral("no receipt");
            return textOf(textOutcome(outcome)).section(u'(', 1).section(u')', 0, 0);
        };
        QCOMPARE(call("ls", ""), QString()); // the default role; ran
        QCOMPARE(call("fetch", ""), QStringLiteral("authz.denied"));
        QCOMPARE(call("fetch", "ops"), QString());
        QCOMPARE(call("bash", "ops"), QStringLiteral("oap.tool_not_allowed"));
        QCOMPARE(call("fetch", "ghost"), QStringLiteral("oap.evaluator_error"));
        QCOMPARE(call("tool_search", ""), QStringLiteral("oap.tool_not_allowed")); // authorization lets it pass, the guardrail still sees it
    }

    void badGatesStopTheBuild_data()
    {
        QTest::addColumn<QString>("use");
        QTest::addColumn<QByteArray>("config");
        QTest::addColumn<QString>("defaultRole");
        QTest::addColumn<QString>("says");
        QTest::newRow("none") << "" << QByteArray("{}") << "user" << "authorization.provider is not set";
        QTest::newRow("unknown") << "a.b:Nothing" << QByteArray("{}") << "user" << "there is no provider 'a.b:Nothing'";
        QTest::newRow("no roles") << "rbac" << QByteArray("{}") << "user" << "roles: must be a mapping";
        QTest::newRow("unknown key") << "rbac" << QByteArray(R"({"roles": {}, "rolse": 1})") << "user" << "unknown key 'rolse'";
        QTest::newRow("null allow") << "rbac" << QByteArray(R"({"roles": {"user": {"tools": {"allow": null}}}})") << "user" << "user.tools.allow";
        QTest::newRow("default role") << "rbac" << QByteArray(R"({"roles": {"user": {}}})") << "guest" << "no role 'guest'";
        QTest::newRow("good") << "rbac" << QByteArray(R"({"roles": {"user": {}}})") << "user" << "";
    }
    void badGatesStopTheBuild()
    {
        QFETCH(QString, use);
        QFETCH(QByteArray, config);
        QFETCH(QString, defaultRole);
        QFETCH(QString, says);
        ChainOptions options;
        options.authorization = true;
        options.authorizationGate.use = use;
        options.authorizationGate.config = *parseJson(config);
        options.authorizationGate.defaultRole = defaultRole;
        for (const auto &chain : {buildSubagentChain(options), buildLeadChain(options)}) {
            QCOMPARE(chain.has_value(), says.isEmpty());
            if (!chain)
                QVERIFY2(chain.error().message.contains(says), qPrintable(chain.error().message));
        }
    }

    void theListOfToolsIsFilteredToo()
    {
        const auto provider = roles(R"({"user": {"tools": {"deny": ["b"]}}})");
        const QStringList all{QStringLiteral("a"), QStringLiteral("b"), QStringLiteral("c"), QStringLiteral("a")};
        const QStringList some{QStringLiteral("a"), QStringLiteral("c"), QStringLiteral("a")};
        Principal user;
        user.role = QStringLiteral("user");
        QCOMPARE(awaited(authorizedTools(provider, user, all, true)), some);
        QCOMPARE(awaited(authorizedTools(provider, {}, all, true)), QStringList());
        QCOMPARE(awaited(authorizedTools(provider, {}, all, false)), all);
    }
};

} // namespace tst_guards

PADDOCK_TEST(tst_guards, TestGuards)
#include "tst_guards.moc"
