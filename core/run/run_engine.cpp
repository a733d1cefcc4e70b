// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/run/run_engine.h"

#include "core/agent/subagent_loop.h"
#include "core/base/run_on.h"
#include "core/run/log_limit.h"
#include "core/run/stored_runs.h"

#include <QDir>

Q_LOGGING_CATEGORY(lcEngine, "paddock.run.engine")

namespace paddock {

namespace {

/// How long quitting waits for a provider that does not end.
constexpr std::chrono::seconds leaseDrainLimit{10};

Task<> shutDownProviders(std::shared_ptr<Environment> environment)
{
    for (const auto &leases : environment->allLeases()) {
        const auto left = co_await leases->registry().drain(leaseDrainLimit);
        for (const LeaseOwner &owner : left)
            qCWarning(lcEngine, "lease of %ls is still held while quitting", qUtf16Printable(owner.value()));
        co_await leases->provider()->shutdown();
    }
}

Task<> closeDown(std::shared_ptr<Environment> environment, std::shared_ptr<TaskScope> scope, std::function<void()> done, LoopRef owner)
{
    co_await scope->drain();
    co_await shutDownProviders(environment);
    owner.post(std::move(done));
}

} // namespace

Result<std::unique_ptr<RunService>> RunService::open(Options options)
{
    if (options.readOnly) {
        const QString folder = QDir(options.dataDir.isEmpty() ? defaultDataDir() : options.dataDir).absolutePath();
        // A journal that cannot be read is not an empty one.
        if (auto readable = JournalReader::open(folder); !readable && readable.error().code != ErrorCode::NotFound)
            return fail(readable.error());
        return makeJournalView(folder);
    }
    auto environment = openEnvironment(options);
    if (!environment)
        return fail(environment.error());
    return std::make_unique<RunEngine>(std::move(*environment));
}

RunEngine::RunEngine(std::shared_ptr<Environment> environment) : m_environment(std::move(environment)), m_owner(LoopRef::current())
{
    m_scope = std::make_shared<TaskScope>(QStringLiteral("runs"));
}

RunEngine::~RunEngine()
{
    m_runs.clear(); // their watchers die on the gateway loop
    // The scope belongs to the gateway loop; it must be empty by now (shutdown), and dies there.
    m_environment->gateway->ref().post([scope = std::move(m_scope)] {});
    m_environment->gateway->stop();
}

std::shared_ptr<LiveRun> RunEngine::find(const RunId &run) const
{
    return m_runs.value(run);
}

Result<RunId> RunEngine::start(RunRequest request)
{
    if (m_closing)
        return fail(ErrorCode::FailedPrecondition, QStringLiteral("Paddock is quitting"));
    auto run = prepareRun(*m_environment, std::move(request));
    if (!run)
        return fail(run.error());
    m_runs.insert((*run)->id, *run);
    m_environment->gateway->ref().post([scope = m_scope, environment = m_environment, run = *run] {
        scope->spawn([environment, run](std::stop_token) { return driveRun(environment, run); });
    });
    return (*run)->id;
}

void RunEngine::cancel(const RunId &id, std::function<void()> done)
{
    const auto run = find(id);
    if (!run) {
        if (done)
            m_owner.post(std::move(done));
        return;
    }
    if (done) {
        const std::lock_guard lock(run->mutex);
        if (run->over)
            m_owner.post(std::move(done));
        else
            run->whenOver.push_back([owner = m_owner, done = std::move(done)] { owner.post(done); });
    }
    // Stop callbacks run on the thread that requests: let it be the gateway's.
    m_environment->gateway->ref().post([run] { run->requestStop(QStringLiteral("A person cancelled the run.")); });
}

void RunEngine::cancelAgent(const RunId &id, const AgentId &agent)
{
    if (agent == leadAgent()) {
        cancel(id, {});
        return;
    }
    m_environment->gateway->ref().post([registry = m_environment->subagents, agent] { registry->requestCancel(agent.value()); });
}

bool RunEngine::isLive(const RunId &id) const
{
    const auto run = find(id);
    if (!run)
        return false;
    const std::lock_guard lock(run->mutex);
    return !run->over;
}

QString RunEngine::journalProblem() const
{
    return m_environment->journal->state().problem;
}

Result<RunId> RunEngine::resolve(const QString &prefix) const
{
    return resolveStored(m_environment->dataDir, prefix);
}

void RunEngine::exportRun(const RunId &run, const QString &format, const QString &path, std::function<void(QString)> done)
{
    exportStored(m_environment->dataDir, run, format, path, m_owner, std::move(done));
}

void RunEngine::list(std::function<void(std::vector<RunSummary>)> done)
{
    listStored(m_environment->dataDir, m_owner, [this, alive = std::weak_ptr(m_alive), done = std::move(done)](std::vector<RunSummary> runs) {
        if (alive.expired())
            return;
        for (RunSummary &run : runs)
            run.live = isLive(run.id);
        done(std::move(runs));
    });
}

void RunEngine::load(const RunId &run, std::function<void(std::vector<std::shared_ptr<const Event>>, bool)> batch)
{
    loadStored(m_environment->dataDir, run, m_owner, std::move(batch));
}

void RunEngine::message(const QString &hash, std::function<void(MessagePtr)> done)
{
    if (MessagePtr recent = m_environment->journal->recent(hash)) {
        m_owner.post([done = std::move(done), recent] { done(recent); });
        return;
    }
    messageStored(m_environment->dataDir, hash, m_owner, std::move(done));
}

std::unique_ptr<ShellStream> RunEngine::observeShell(const RunId &id, const ScopeId &scope)
{
    if (const auto run = find(id)) {
        std::shared_ptr<RunWatcher> watcher;
        {
            const std::lock_guard lock(run->mutex);
            watcher = run->watcher;
        }
        if (watcher)
            return watcher->log(scope.value(), true)->observe();
        return nullptr;
    }
    const QString thread = placeOfStored(m_environment->dataDir, id).first;
    return TerminalLog::observeFile(shellLogFolder(m_environment->dataDir, thread) + QLatin1Char('/') + scopeFileName(scope.value()));
}

bool RunEngine::areShellLogsGone(const RunId &id) const
{
    return !find(id) && areLogsGone(m_environment->dataDir, id);
}

std::pair<SandboxPtr, SessionId> RunEngine::shellOf(const std::shared_ptr<LiveRun> &run, const ScopeId &scope)
{
    for (const LeaseInfo &lease : run->leases->registry().leases()) {
        if (lease.owner.value() != scope.value())
            continue;
        if (SandboxPtr sandbox = run->leases->provider()->get(lease.sandbox))
            return {sandbox, sandbox->sessionOf(scope)};
    }
    return {};
}

void RunEngine::onShell(const RunId &id, const ScopeId &scope, std::function<Task<>(SandboxPtr, SessionId, EventSink)> act)
{
    const auto run = find(id);
    if (!run)
        return;
    const QString owner = scope.value();
    const AgentId agent = owner.startsWith(QLatin1String("subagent:")) ? AgentId(owner) : leadAgent();
    const EventSink events(m_environment->bus, id, agent);
    m_environment->gateway->ref().post([tasks = m_scope, run, scope, events, act = std::move(act)] {
        auto [sandbox, session] = shellOf(run, scope);
        if (!sandbox || session.isEmpty())
            return;
        tasks->spawn([sandbox, session, events, act](std::stop_token) { return act(sandbox, session, events); });
    });
}

void RunEngine::takeOver(const RunId &run, const ScopeId &scope, bool on)
{
    const std::pair key(run.value(), scope.value());
    if (m_takenOver.contains(key) == on)
        return;
    if (on)
        m_takenOver.insert(key);
    else
        m_takenOver.remove(key);
    onShell(run, scope, [scope, on](SandboxPtr sandbox, SessionId session, EventSink events) -> Task<> {
        return [](SandboxPtr box, SessionId id, EventSink sink, ScopeId where, bool begin) -> Task<> {
            if (begin) {
                sink.emitEvent(ShellTakeoverStarted{where.value(), id.value()});
                box->noteForNextResult(where, QStringLiteral("[sandbox] a person took over this shell and typed into it."));
            } else {
                sink.emitEvent(ShellTakeoverEnded{where.value(), id.value()});
            }
            co_return;
        }(std::move(sandbox), std::move(session), std::move(events), scope, on);
    });
}

void RunEngine::type(const RunId &run, const ScopeId &scope, const QByteArray &bytes)
{
    if (!m_takenOver.contains({run.value(), scope.value()})) {
        qCWarning(lcEngine, "typing into %ls: nobody has taken it over", qUtf16Printable(scope.value()));
        return;
    }
    onShell(run, scope, [bytes](SandboxPtr sandbox, SessionId session, EventSink) -> Task<> {
        return [](SandboxPtr box, SessionId id, QByteArray text) -> Task<> {
            if (auto typed = co_await box->typeIntoShell(id, text, {}); !typed)
                qCWarning(lcEngine, "typing into a shell: %ls", qUtf16Printable(typed.error().message));
        }(std::move(sandbox), std::move(session), bytes);
    });
}

void RunEngine::resizeShell(const RunId &run, const ScopeId &scope, int columns, int rows)
{
    onShell(run, scope, [columns, rows](SandboxPtr sandbox, SessionId session, EventSink) -> Task<> {
        return [](SandboxPtr box, SessionId id, int c, int r) -> Task<> {
            if (auto done = co_await box->resizeShell(id, c, r, {}); !done)
                qCWarning(lcEngine, "resizing a shell: %ls", qUtf16Printable(done.error().message));
        }(std::move(sandbox), std::move(session), columns, rows);
    });
}

void RunEngine::interrupt(const RunId &run, const ScopeId &scope)
{
    onShell(run, scope, [](SandboxPtr sandbox, SessionId session, EventSink) -> Task<> {
        return [](SandboxPtr box, SessionId id) -> Task<> {
            if (auto done = co_await box->interruptShell(id, {}); !done)
                qCWarning(lcEngine, "interrupting a shell: %ls", qUtf16Printable(done.error().message));
        }(std::move(sandbox), std::move(session));
    });
}

QString RunEngine::hostPath(const RunId &id, const QString &virtualPath) const
{
    static const QString root = QStringLiteral("/mnt/user-data/");
    if (!virtualPath.startsWith(root))
        return {};
    const QString name = virtualPath.mid(root.size()).section(QLatin1Char('/'), 0, 0);
    const QString rest = virtualPath.mid(root.size() + name.size());
    ThreadPaths paths;
    if (const auto run = find(id)) {
        paths = run->paths;
    } else {
        if (!m_places.contains(id.value()))
            m_places.insert(id.value(), placeOfStored(m_environment->dataDir, id));
        const auto [thread, workspace] = m_places.value(id.value());
        if (thread.isEmpty())
            return {};
        const ThreadKey key{UserId(QStringLiteral("default")), ThreadId(thread)};
        auto made = ThreadPaths::make(m_environment->dataDir, key, workspace);
        if (!made)
            return {};
        paths = *made;
    }
    const QString base = name == u"workspace" ? paths.workspace : name == u"outputs" ? paths.outputs : name == u"uploads" ? paths.uploads : QString();
    if (base.isEmpty() || !QDir(base).exists())
        return {};
    return base + rest;
}

void RunEngine::shutdown(std::function<void()> done)
{
    m_closing = true;
    const auto runs = m_runs;
    m_environment->gateway->ref().post([runs, scope = m_scope, environment = m_environment, owner = m_owner, done = std::move(done)] {
        for (const auto &run : runs)
            run->requestStop(QStringLiteral("Paddock was quit."));
        closeDown(environment, scope, done, owner); // detached: it ends by posting `done`
    });
}

} // namespace paddock
