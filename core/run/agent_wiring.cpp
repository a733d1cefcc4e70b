// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/run/agent_wiring.h"

#include "core/base/run_on.h"
#include "core/llm/scripted_model.h"
#include "core/run/log_limit.h"
#include "core/run/translate.h"
#include "core/sandbox/workspace_watch.h"
#include "core/tool/lead_tools.h"
#include "core/tool/sandbox_tools.h"
#include "core/tool/task_tool.h"
#include "core/tool/view_image.h"

namespace paddock {

namespace {

std::shared_ptr<AgentServices> makeServices(const std::shared_ptr<Environment> &environment, const std::shared_ptr<LiveRun> &run,
                                            const std::shared_ptr<ScriptedModel> &script)
{
    auto services = std::make_shared<AgentServices>();
    Journal *journal = environment->journal.get(); // lives in the environment, which the run keeps alive
    services->blobs = [journal, environment](const MessagePtr &message) { return journal->keep(message); };
    const QString bound = run->paths.workspaceIsForeign ? run->paths.workspace : QString();
    ChainOptions options = chainOptions(environment->config, environment->dataDir, bound, services->blobs);
    options.skills.source = environment->skills;
    ChainOptions leadOptions = leadChainOptions(options, environment->config, script != nullptr);
    leadOptions.planMode = run->request.planMode;
    services->delegation = leadOptions.delegation;
    services->titleChars = leadOptions.title ? leadOptions.titles.maxChars : 0;
    services->summarization = options.summarization;
    services->asksPerson = true;
    services->model = [script](const QString &name) -> Result<std::shared_ptr<ChatModel>> {
        if (!script)
            return fail(ErrorCode::NotFound, QStringLiteral("There is no model named '%1' in the configuration").arg(name));
        return std::static_pointer_cast<ChatModel>(script);
    };
    leadOptions.titles.model = services->model;
    leadOptions.summaries.model = services->model;
    options.summaries.model = services->model;
    services->leadChain = [leadOptions](const ChainRequest &request) { return buildLeadChain(chainOptionsFor(leadOptions, request)); };
    services->subagentChain = [options](const ChainRequest &request) {
        return buildSubagentChain(subagentChainOptions(chainOptionsFor(options, request), request.tokenBudget));
    };
    const bool local = run->request.sandbox == u"local";
    const bool hostBash = !local || run->hostBash;
    SandboxToolOptions toolOptions = sandboxToolOptions(environment->config, local, hostBash);
    toolOptions.isSkillDisabled = [skills = environment->skills](const QString &name) { return skills->isSwitchedOff(name); };
    const bool plans = run->request.planMode;
    services->tools = [toolOptions, plans](const ToolsRequest &request) -> Result<std::vector<ToolPtr>> {
        std::vector<ToolPtr> tools = sandboxTools(toolOptions);
        if (request.vision)
            tools.push_back(makeViewImageTool());
        if (request.dispatcher)
            tools.push_back(makeTaskTool(request.dispatcher));
        if (!request.subagent)
            tools.push_back(makeClarificationTool());
        if (!request.subagent && plans)
            tools.push_back(makeTodoTool());
        return tools;
    };
    services->sandbox = [leases = run->leases](LeaseOwner owner, ThreadKey key, EventSink events, SandboxId inherited) {
        return std::make_shared<SandboxAccess>(leases, std::move(owner), std::move(key), std::move(events), std::move(inherited));
    };
    services->hostBashAllowed = [hostBash] { return hostBash; };
    services->admission = environment->admission;
    services->registry = environment->subagents;
    services->subagents = subagentOptionsFrom(memberOf(environment->config.raw, "subagents"));
    services->subagents.timeoutSeconds = environment->config.subagents.timeoutSeconds;
    services->seesImages = [sighted = modelsThatSee(environment->config)](const QString &model) { return sighted.contains(model); };
    services->skills = environment->skills;
    services->deferSkills = environment->config.skills.deferredDiscovery;
    services->toolSearch = environment->config.toolSearch.enabled;
    services->receipts = options.toolReceipts; // a prompt asks for citations only where there is a ledger
    services->models = QStringList{run->request.model};
    services->maxLeadTurns = environment->config.maxRecursionLimit;
    return services;
}

} // namespace

AgentWiring::AgentWiring(std::shared_ptr<Environment> environment, std::shared_ptr<LiveRun> run, std::shared_ptr<ScriptedModel> script)
    : m_environment(std::move(environment)), m_run(std::move(run)), m_services(makeServices(m_environment, m_run, script))
{
}

AgentWiring::~AgentWiring() = default;

Task<> AgentWiring::startWatching(EventSink events)
{
    WorkspaceWatchOptions watchOptions;
    watchOptions.paths = m_run->paths;
    watchOptions.events = events;
    m_watch = std::make_shared<WorkspaceWatch>(std::move(watchOptions));
    RunWatcher::Wiring wiring;
    wiring.run = m_run->id;
    wiring.logFolder = shellLogFolder(m_environment->dataDir, m_run->key.thread.value());
    wiring.sandbox = [leases = m_run->leases, key = m_run->key]() -> SandboxPtr {
        for (const LeaseInfo &lease : leases->registry().leases()) {
            if (lease.key == key) {
                if (auto sandbox = leases->provider()->get(lease.sandbox))
                    return sandbox;
            }
        }
        return nullptr;
    };
    if (m_run->scenario)
        wiring.cancel = m_run->scenario->cancel;
    wiring.cancelRun = [run = std::weak_ptr(m_run)] {
        if (const auto live = run.lock())
            live->requestStop(QStringLiteral("The scenario cancelled the run."));
    };
    wiring.cancelAgent = [registry = m_environment->subagents](const AgentId &agent) {
        registry->requestCancel(agent.value(), StopCause::Scenario);
    };
    wiring.alsoTell = [watch = std::weak_ptr(m_watch)](const Event &event) {
        if (const auto live = watch.lock())
            live->note(event);
    };
    // Whoever lets go of it last, it dies on the gateway loop.
    std::shared_ptr<RunWatcher> watcher(new RunWatcher(m_environment->bus, std::move(wiring)), [](RunWatcher *w) { w->deleteLater(); });
    {
        const std::lock_guard lock(m_run->mutex);
        m_run->watcher = std::move(watcher);
    }
    const auto watch = m_watch;
    if (auto watching = co_await watch->start(); !watching)
        events.emitEvent(LogRecorded{QStringLiteral("warning"), watching.error().fullMessage(), false});
}

QString AgentWiring::sandboxProblem() const
{
    const std::lock_guard lock(m_run->mutex);
    return m_run->watcher ? m_run->watcher->sandboxProblem() : QString();
}

Task<> AgentWiring::stopWatching()
{
    const auto run = m_run;
    std::shared_ptr<RunWatcher> watcher;
    {
        const std::lock_guard lock(run->mutex);
        watcher = run->watcher;
    }
    if (watcher)
        watcher->finish();
    if (const auto watch = m_watch)
        co_await watch->flush();
}

} // namespace paddock
