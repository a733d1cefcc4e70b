// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/agent/agent_loop.h"
#include "core/agent/agent_services.h"
#include "core/agent/lead.h"
#include "core/base/async.h"
#include "core/llm/scripted_model.h"
#include "core/middleware/chain_build.h"
#include "core/tool/task_tool.h"
#include "tests/support/spin.h"

#include <QTest>

#include <atomic>

namespace paddock::test {

/// A tool whose body the test gives. Shared by threads: the body must be able to bear that.
class BodyTool : public Tool
{
public:
    using Body = std::function<Task<Result<ToolOutcome>>(ToolCallContext)>;
    BodyTool(QString name, Body body, bool direct = false) : m_name(std::move(name)), m_body(std::move(body)), m_direct(direct) {}
    ToolSpec spec() const override
    {
        return {m_name, {}, Json{{"type", "object"}, {"properties", {{"text", {{"type", "string"}}}, {"ms", {{"type", "integer"}}}}}}};
    }
    bool returnsDirectly() const override { return m_direct; }
    Task<Result<ToolOutcome>> call(ToolCallContext context) override { return m_body(std::move(context)); }

private:
    QString m_name;
    Body m_body;
    bool m_direct;
};

inline Task<Result<ToolOutcome>> echoBody(ToolCallContext context)
{
    co_return ToolOutcome(toolMessage(context.call.id, context.call.name, stringOf(context.call.args, "text")));
}
inline Task<Result<ToolOutcome>> waitBody(ToolCallContext context)
{
    if (!co_await sleepFor(std::chrono::milliseconds(intOf(context.call.args, "ms", 600000)), context.stop))
        co_return cancelled();
    co_return ToolOutcome(toolMessage(context.call.id, context.call.name, QStringLiteral("waited")));
}
/// Takes the lease of the execution.
inline Task<Result<ToolOutcome>> touchBody(ToolCallContext context)
{
    const auto sandbox = co_await context.runtime->sandbox->ensure(context.stop);
    if (!sandbox)
        co_return fail(sandbox.error());
    co_return ToolOutcome(toolMessage(context.call.id, context.call.name, (*sandbox)->id().value()));
}

inline std::shared_ptr<const Scenario> scenarioOf(const QByteArray &agents)
{
    auto parsed = parseScenario("scenario: 1\nname: t\ntask: go\nagents:\n" + agents, QStringLiteral("t.yaml"));
    if (!parsed)
        qFatal("%s", qPrintable(parsed.error().message));
    return *parsed;
}

/// A sandbox that only exists.
class BareSandbox : public Sandbox
{
public:
    SandboxId id() const override { return SandboxId(QStringLiteral("sb")); }
    bool isLocal() const override { return false; }
    Task<Result<CommandResult>> execute(CommandRequest, std::stop_token) override { co_return CommandResult{}; }
    Task<Result<QString>> readFile(QString, std::stop_token) override { co_return QString(); }
    Task<Result<QByteArray>> readBytes(QString, qint64, std::stop_token) override { co_return QByteArray(); }
    Task<Result<FileWritten>> writeFile(QString, QString, bool, std::stop_token) override { co_return FileWritten(); }
    Task<Result<FileWritten>> writeBytes(QString, QByteArray, std::stop_token) override { co_return FileWritten(); }
    Task<Result<QStringList>> listDir(QString, int, std::stop_token) override { co_return QStringList(); }
    Task<Result<GlobResult>> glob(QString, QString, bool, int, std::stop_token) override { co_return GlobResult{}; }
    Task<Result<GrepResult>> grep(GrepQuery, std::stop_token) override { co_return GrepResult{}; }
    Task<> releaseCommandScope(ScopeId) override { co_return; }
};

/// Counts; the release takes a moment, so that a teardown that does not wait for it is seen.
class BareProvider : public SandboxProvider
{
public:
    std::atomic<int> acquired = 0;
    std::atomic<int> released = 0;
    std::atomic<bool> alive = false;
    Task<Result<SandboxId>> acquire(ThreadKey, EventSink, std::stop_token) override
    {
        ++acquired;
        alive = true;
        co_return m_sandbox->id();
    }
    SandboxPtr get(const SandboxId &) override { return alive ? m_sandbox : nullptr; }
    Task<Result<void>> release(SandboxId) override
    {
        co_await sleepFor(std::chrono::milliseconds(5), {});
        alive = false;
        ++released;
        co_return Result<void>();
    }
    Task<> shutdown() override { co_return; }
    QString providerName() const override { return QStringLiteral("aio"); }
    QString backendName() const override { return QStringLiteral("embedded"); }
    int sessionLimit() const override { return 10; }

private:
    SandboxPtr m_sandbox = std::make_shared<BareSandbox>();
};

/// A whole set of services over a scenario, real chains and real leases.
struct World {
    std::shared_ptr<EventBus> bus = std::make_shared<EventBus>();
    std::shared_ptr<EventQueue> queue = bus->subscribe();
    std::shared_ptr<BareProvider> provider = std::make_shared<BareProvider>();
    std::shared_ptr<SandboxLeases> leases = std::make_shared<SandboxLeases>(provider);
    std::shared_ptr<ScriptedModel> model;
    std::shared_ptr<AgentServices> services = std::make_shared<AgentServices>();
    std::vector<ToolPtr> extraTools;
    std::stop_source stop;
    std::vector<std::shared_ptr<const Event>> events;

    explicit World(const QByteArray &agents, AdmissionOptions admission = {}) : model(std::make_shared<ScriptedModel>(scenarioOf(agents)))
    {
        ChainOptions options;
        options.dataDir = QStringLiteral("/nonexistent");
        options.loopDetection = false; // two hundred equal calls are the point of one test
        options.subagents = false;     // and so are many subagents at once
        services->leadChain = [options](const ChainRequest &) { return Chain::compile(buildLeadMiddlewares(options)); };
        services->subagentChain = [options](const ChainRequest &) { return Chain::compile(buildSubagentMiddlewares(options)); };
        services->model = [model = model](const QString &) -> Result<std::shared_ptr<ChatModel>> { return model; };
        services->sandbox = [leases = leases](LeaseOwner owner, ThreadKey key, EventSink sink, SandboxId inherited) {
            return std::make_shared<SandboxAccess>(leases, owner, key, sink, inherited);
        };
        services->models = {QStringLiteral("scripted")};
        services->admission = std::make_shared<AdmissionQueue>(admission);
        extraTools = {std::make_shared<BodyTool>(QStringLiteral("echo"), echoBody),
                      std::make_shared<BodyTool>(QStringLiteral("wait"), waitBody),
                      std::make_shared<BodyTool>(QStringLiteral("touch"), touchBody)};
        services->tools = [extra = extraTools](const ToolsRequest &request) -> Result<std::vector<ToolPtr>> {
            std::vector<ToolPtr> tools = extra;
            if (request.dispatcher)
                tools.push_back(makeTaskTool(request.dispatcher));
            return tools;
        };
    }

    LeadRequest request()
    {
        LeadRequest request;
        request.run = RunId(QStringLiteral("r1"));
        request.thread = {UserId(QStringLiteral("u1")), ThreadId(QStringLiteral("t1"))};
        request.task = QStringLiteral("go");
        request.events = EventSink(bus, request.run, leadAgent());
        request.stop = stop.get_token();
        return request;
    }

    LeadReport run(LeadRequest lead)
    {
        const auto report = spin(runLead(services, std::move(lead)));
        drain();
        if (!report)
            qFatal("the run did not end");
        return *report;
    }
    LeadReport run() { return run(request()); }

    void drain()
    {
        for (auto &event : queue->drain())
            events.push_back(event);
    }
    template<typename T>
    std::vector<T> all() const
    {
        std::vector<T> found;
        for (const auto &event : events) {
            if (const T *body = std::get_if<T>(&event->body))
                found.push_back(*body);
        }
        return found;
    }
    /// Index of the first event of a type by agents that start so; -1 when there is none.
    template<typename T>
    int indexOf(const QString &agent) const
    {
        for (std::size_t i = 0; i < events.size(); ++i) {
            if (std::holds_alternative<T>(events[i]->body) && events[i]->agent.value().startsWith(agent))
                return int(i);
        }
        return -1;
    }
    /// What is still held, in words; empty: nothing any more.
    QString held() const
    {
        const auto slots_ = services->admission->snapshot();
        QStringList what;
        if (slots_.running != 0 || slots_.queued != 0)
            what << QStringLiteral("%1 running, %2 queued").arg(slots_.running).arg(slots_.queued);
        if (!leases->registry().leases().empty())
            what << QStringLiteral("leases");
        if (!services->registry->list().empty())
            what << QStringLiteral("tasks in the registry");
        if (provider->alive)
            what << QStringLiteral("the sandbox");
        return what.join(QStringLiteral(", "));
    }
};

} // namespace paddock::test
