// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// Every hook of every member of both chains fails once: the outcome is what middleware-base §1.10 names, the member's name is
// in the error, and nothing is held afterwards.
#include "tests/core/agent/agent_fixture.h"
#include "tests/support/test_main.h"

namespace tst_hook_failures {

using namespace paddock;
using namespace paddock::test;

namespace {

enum class Way { Returns, Throws, Cancels };

/// A real member of which one hook fails.
class FailingAt : public Middleware
{
public:
    FailingAt(MiddlewarePtr real, Hook at, Way way) : m_real(std::move(real)), m_at(at), m_way(way) {}

    QString name() const override { return m_real->name(); }
    Hooks hooks() const override { return m_real->hooks(); }
    std::vector<JumpTo> jumpTargets() const override { return m_real->jumpTargets(); }
    std::optional<QString> consumeStopReason(const QString &run) override { return m_real->consumeStopReason(run); }
    Task<Result<StateUpdate>> beforeAgent(AgentState s, RuntimePtr r) override
    {
        return m_at == Hook::BeforeAgent ? broken<StateUpdate>(m_way) : m_real->beforeAgent(std::move(s), std::move(r));
    }
    Task<Result<StateUpdate>> beforeModel(AgentState s, RuntimePtr r) override
    {
        return m_at == Hook::BeforeModel ? broken<StateUpdate>(m_way) : m_real->beforeModel(std::move(s), std::move(r));
    }
    Task<Result<StateUpdate>> afterModel(AgentState s, RuntimePtr r) override
    {
        return m_at == Hook::AfterModel ? broken<StateUpdate>(m_way) : m_real->afterModel(std::move(s), std::move(r));
    }
    Task<Result<StateUpdate>> afterAgent(AgentState s, RuntimePtr r) override
    {
        return m_at == Hook::AfterAgent ? broken<StateUpdate>(m_way) : m_real->afterAgent(std::move(s), std::move(r));
    }
    Task<Result<ModelResponse>> wrapModelCall(ModelCall call, ModelNext next) override
    {
        return m_at == Hook::WrapModelCall ? broken<ModelResponse>(m_way) : m_real->wrapModelCall(std::move(call), std::move(next));
    }
    Task<Result<ToolOutcome>> wrapToolCall(ToolCallRequest request, ToolNext next) override
    {
        return m_at == Hook::WrapToolCall ? broken<ToolOutcome>(m_way) : m_real->wrapToolCall(std::move(request), std::move(next));
    }

private:
    template<typename T>
    static Task<Result<T>> broken(Way way)
    {
        if (way == Way::Throws)
            throw std::runtime_error("the probe broke");
        if (way == Way::Cancels)
            co_return cancelled();
        co_return fail(ErrorCode::Internal, QStringLiteral("the probe broke"));
    }

    const MiddlewarePtr m_real;
    const Hook m_at;
    const Way m_way;
};

class AllowAll : public GuardrailProvider, public AuthorizationProvider
{
public:
    Task<Result<GuardrailDecision>> evaluate(GuardrailRequest, std::stop_token) override { co_return yes(); }
    Task<Result<GuardrailDecision>> authorize(Principal, QString, QString, QString) override { co_return yes(); }
    Task<Result<QStringList>> filter(Principal, QString, QStringList candidates) override { co_return candidates; }
    bool knowsRole(const QString &) const override { return true; }

private:
    static GuardrailDecision yes()
    {
        GuardrailDecision decision;
        decision.allow = true;
        return decision;
    }
};

/// Whatever can be in a chain is in it.
ChainOptions everything()
{
    ChainOptions options;
    options.dataDir = QStringLiteral("/nonexistent");
    options.piiRedaction = true;
    options.pii.tokenSecret = QStringLiteral("secret");
    const auto allow = std::make_shared<AllowAll>();
    options.authorization = true;
    options.authorizationGate.provider = allow;
    options.guardrails = true;
    options.guardrailGate.provider = allow;
    options.toolProgress = true;
    options.deferredTools = true;
    options.mcpRouting = true;
    options.vision = true;
    options.planMode = true;
    options.llmRetry.maxAttempts = 1;
    return options;
}

std::vector<MiddlewarePtr> membersOf(bool lead)
{
    return lead ? buildLeadMiddlewares(everything()) : buildSubagentMiddlewares(everything());
}

int placeOf(const std::vector<MiddlewarePtr> &members, const char *name)
{
    for (std::size_t i = 0; i < members.size(); ++i) {
        if (members[i]->name() == QLatin1String(name))
            return int(i);
    }
    qFatal("no member %s", name);
}

const QByteArray calling = "      - calls: [{tool: echo, id: x, args: {text: hello}}, {tool: touch, id: y, args: {}}]\n      - say: over\n";

} // namespace

class TestHookFailures : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aBrokenHook_data()
    {
        QTest::addColumn<bool>("lead");
        QTest::addColumn<int>("place");
        QTest::addColumn<int>("hook");
        QTest::addColumn<int>("way");
        const char *ways[] = {"returns", "throws", "cancels"};
        int rows = 0;
        for (const bool lead : {true, false}) {
            const std::vector<MiddlewarePtr> members = membersOf(lead);
            for (std::size_t i = 0; i < members.size(); ++i) {
                for (const Hook hook : allHooks) {
                    if (!members[i]->hooks().testFlag(hook))
                        continue;
                    for (int way = 0; way < 3; ++way, ++rows)
                        QTest::addRow("%s, %s, %s, %s", lead ? "lead" : "subagent", qPrintable(members[i]->name()),
                                      qPrintable(hookName(hook)), ways[way]) << lead << int(i) << int(hook) << way;
                }
            }
        }
        QVERIFY2(rows > 250, qPrintable(QString::number(rows)));
    }
    void aBrokenHook()
    {
        QFETCH(bool, lead);
        QFETCH(int, place);
        QFETCH(int, hook);
        QFETCH(int, way);
        const Hook at = Hook(hook);
        std::vector<MiddlewarePtr> members = membersOf(lead);
        const int llm = placeOf(members, "LLMErrorHandlingMiddleware");
        const int tools = placeOf(members, "ToolErrorHandlingMiddleware");
        const QString name = members[std::size_t(place)]->name();
        members[std::size_t(place)] = std::make_shared<FailingAt>(members[std::size_t(place)], at, Way(way));
        const auto chain = Chain::compile(members);
        QVERIFY(chain);
        World world(QByteArray("  - match: {agent: lead}\n    turns:\n")
                    + (lead ? calling : QByteArray("      - calls: [{tool: task, id: s, args: {description: d, prompt: p, subagent_type: general-purpose}}]\n"
                                                   "      - say: over\n"))
                    + "  - match: {type: general-purpose}\n    turns:\n" + calling);
        (lead ? world.services->leadChain : world.services->subagentChain) = [chain](const ChainRequest &) { return *chain; };
        const LeadReport report = world.run();
        QCOMPARE(world.held(), QString());
        QCOMPARE(world.provider->acquired.load(), world.provider->released.load());

        const std::vector<AgentFinished> ends = world.all<AgentFinished>();
        const AgentFinished &end = lead ? ends.back() : ends.front();
        const QString error = end.error.value_or(QString());
        // What a tool's wrap hook fails with becomes an answer, and what a model's does an error answer, where the member that
        // does this stands outside.
        const bool toModel = at == Hook::WrapToolCall && place > tools && way != int(Way::Cancels);
        const bool toPerson = at == Hook::WrapModelCall && place > llm && way != int(Way::Cancels);
        if (way == int(Way::Cancels)) {
            // Nobody asked for it, so it is no cancelling of the agent either; but nothing may turn it into an answer.
            QVERIFY2(end.status != u"completed", qPrintable(end.status));
        } else if (toModel) {
            QCOMPARE(end.status, QStringLiteral("completed"));
            int answered = 0;
            for (const ToolFinished &tool : world.all<ToolFinished>())
                answered += tool.status == u"error" && tool.preview.contains(u"the probe broke");
            QVERIFY(answered > 0);
        } else {
            QCOMPARE(end.status, QStringLiteral("failed"));
            QVERIFY2(error.contains(u"the probe broke"), qPrintable(error));
            QCOMPARE(error.startsWith(u"LLM request failed: "), toPerson);
            if (toPerson || way == int(Way::Throws))
                QVERIFY2(error.contains(name + QStringLiteral(" failed in ") + hookName(at)), qPrintable(error));
        }
        // The trace says where it broke, and after_agent does not run after that.
        int told = 0;
        for (const auto &event : world.events) {
            const auto *span = std::get_if<MiddlewareSpan>(&event->body);
            if (span && event->agent.value().startsWith(QLatin1String(lead ? "lead" : "subagent")) && span->index == place
                && span->hook == hookName(at))
                told += span->error.has_value();
            if (span && !toModel && !toPerson && at != Hook::AfterAgent && event->agent.value().startsWith(QLatin1String(lead ? "lead" : "subagent")))
                QVERIFY2(span->hook != u"after_agent", qPrintable(span->name));
        }
        QVERIFY(told > 0);
        if (!lead)
            QCOMPARE(report.status, QStringLiteral("completed")); // the lead reads of it and goes on
    }

    /// The error as a value: who said it is in its details, and only there when the text is another's contract.
    void theErrorKnowsItsMember_data() { aBrokenHook_data(); }
    void theErrorKnowsItsMember()
    {
        QFETCH(bool, lead);
        QFETCH(int, place);
        QFETCH(int, hook);
        QFETCH(int, way);
        const Hook at = Hook(hook);
        if (way == int(Way::Cancels) || (at != Hook::WrapModelCall && at != Hook::WrapToolCall))
            return;
        const MiddlewarePtr real = membersOf(lead)[std::size_t(place)];
        std::vector<MiddlewarePtr> members{std::make_shared<FailingAt>(real, at, Way(way))};
        if (real->name() != u"InputSanitizationMiddleware") // nobody stands outside that one
            members.insert(members.begin(), std::make_shared<PassingMember>());
        const auto chain = Chain::compile(members);
        QVERIFY(chain);
        const auto runtime = std::make_shared<RuntimeContext>();
        runtime->values = Json{{"thread_id", "t"}, {"run_id", "r"}};
        std::optional<Error> error;
        if (at == Hook::WrapModelCall) {
            ModelCall call;
            call.runtime = runtime;
            const auto result = spin((*chain)->runModel(call, [](ModelCall) -> Task<Result<ModelResponse>> { co_return ModelResponse{}; }));
            QVERIFY(result && !*result);
            error = result->error();
        } else {
            ToolCallRequest call;
            call.context.runtime = runtime;
            const auto result = spin((*chain)->runTool(call, [](ToolCallRequest) -> Task<Result<ToolOutcome>> { co_return MessagePtr(); }));
            QVERIFY(result && !*result);
            error = result->error();
        }
        QCOMPARE(stringOf(error->details, "member"), real->name());
        QCOMPARE(stringOf(error->details, "hook"), hookName(at));
        if (way == int(Way::Returns))
            QCOMPARE(error->message, QStringLiteral("the probe broke"));
    }

    void theCoresErrorIsNobodys()
    {
        const auto chain = Chain::compile({std::make_shared<PassingMember>()});
        ModelCall call;
        call.runtime = std::make_shared<RuntimeContext>();
        const auto result = spin((*chain)->runModel(call, [](ModelCall) -> Task<Result<ModelResponse>> {
            co_return fail(ErrorCode::Unavailable, QStringLiteral("the provider is down"));
        }));
        QVERIFY(result && !*result);
        QVERIFY(!result->error().details.contains("member"));
    }

private:
    class PassingMember : public Middleware
    {
    public:
        QString name() const override { return QStringLiteral("Passing"); }
        Hooks hooks() const override { return Hook::WrapModelCall | Hook::WrapToolCall; }
        Task<Result<ModelResponse>> wrapModelCall(ModelCall call, ModelNext next) override { return next(std::move(call)); }
        Task<Result<ToolOutcome>> wrapToolCall(ToolCallRequest request, ToolNext next) override { return next(std::move(request)); }
    };
};

} // namespace tst_hook_failures

PADDOCK_TEST(tst_hook_failures, TestHookFailures)
#include "tst_hook_failures.moc"
