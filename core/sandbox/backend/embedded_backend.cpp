// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/backend/embedded_backend.h"

#include "core/base/async.h"
#include "core/base/run_on.h"
#include "core/sandbox/backend/runtime_dir.h"
#include "core/sandbox/backend/supervised_process.h"
#include "core/sandbox/env_policy.h"

#include <QCoreApplication>
#include <QFileInfo>
#include <QLoggingCategory>
#include <QStandardPaths>

#include <atomic>

Q_LOGGING_CATEGORY(lcEmbedded, "paddock.sandbox.embedded")

namespace paddock {

namespace {

constexpr std::chrono::seconds readyLineLimit{20}; ///< from the start to the ready line
constexpr std::chrono::seconds answerLimit{10};    ///< and from there to the first 200
constexpr std::chrono::milliseconds answerPause{50};
constexpr std::chrono::seconds endGrace{3};        ///< for the server's own end, before SIGKILL
constexpr std::chrono::seconds killLimit{10};      ///< for the kernel to clear the namespace

} // namespace

struct EmbeddedBackend::State {
    EmbeddedOptions options;
    std::mutex mutex; // guards runtime
    std::shared_ptr<RuntimeDir> runtime;

    Result<std::shared_ptr<RuntimeDir>> runtimeDir()
    {
        const std::lock_guard lock(mutex);
        if (!runtime) {
            auto made = RuntimeDir::make(options.runtimeDir);
            if (!made)
                return fail(made.error());
            runtime = std::move(*made);
        }
        return runtime;
    }
};

namespace {

/// What runs on the backend's loop, and what other threads may know of it.
class EmbeddedInstance final : public SandboxInstance, public std::enable_shared_from_this<EmbeddedInstance>
{
public:
    EmbeddedInstance(LoopRef loop, std::shared_ptr<RuntimeDir> runtime, ListeningSocket socket)
        : m_loop(std::move(loop)), m_runtime(std::move(runtime)), m_socket(std::move(socket))
    {
    }
    ~EmbeddedInstance() override
    {
        // The process object belongs to the loop's thread.
        if (m_process)
            m_loop.post([process = std::shared_ptr<SupervisedProcess>(std::move(m_process))] {});
    }

    aio::Endpoint endpoint() const override { return aio::Endpoint::unixSocket(m_socket.path()); }
    bool alive() const override { return m_alive; }
    void onDeath(std::function<void(QString)> callback) override
    {
        const std::lock_guard lock(m_mutex);
        m_onDeath = std::move(callback);
    }
    Task<Result<void>> stop() override { return stopFrom(shared_from_this()); }

    /// On the loop.
    static Task<Result<void>> run(std::shared_ptr<EmbeddedInstance> self, QString bubblewrap, BwrapPlan plan, EmbeddedOptions options,
                                  std::stop_token stop)
    {
        self->m_process = std::make_unique<SupervisedProcess>();
        SupervisedProcess &process = *self->m_process;
        plan.infoFd = process.infoFd();
        plan.serverArguments = {QStringLiteral("--listen"), QStringLiteral("fd:%1").arg(self->m_socket.fd()),
                                QStringLiteral("--ready-fd"), QString::number(process.readyFd()),
                                QStringLiteral("--parent-fd"), QString::number(process.parentFd()),
                                QStringLiteral("--max-shell-sessions"), QString::number(options.sessionLimit),
                                QStringLiteral("--workspace"), QString(sandbox_inside::workspace),
                                QStringLiteral("--home"), QString(sandbox_inside::home)};
        SupervisedProcess::Launch launch;
        launch.guard = plan.serverProgram;
        launch.program = bubblewrap;
        launch.options = bwrapOptions(plan);
        launch.command = bwrapCommand(plan);
        launch.environment = sandboxEnvironment(processEnv(), options.environment, options.sessionLimit);
        launch.listenFd = self->m_socket.takeFd();
        launch.fileBytes = plan.limits.fileBytes;
        launch.openFiles = plan.limits.openFiles;
        process.launch(std::move(launch));
        process.gone().observe([weak = self->weak_from_this()] {
            if (const auto instance = weak.lock())
                instance->died();
        });
        auto ready = co_await waitFor(process.ready(), stop, readyLineLimit);
        if (!ready) {
            const QString said = process.stderrText().simplified();
            co_await end(self);
            if (stop.stop_requested())
                co_return cancelled();
            co_return fail(ErrorCode::Timeout, QStringLiteral("The sandbox server did not start within %1 seconds. %2").arg(readyLineLimit.count()).arg(said));
        }
        if (!*ready) {
            co_await end(self);
            co_return fail(ErrorCode::Unavailable, explainBwrapFailure(ready->error().message, isolationFacts()));
        }
        self->m_alive = true;
        co_return co_await answers(self, stop);
    }

private:
    /// The ready line is the server's word; its first reply is the proof.
    static Task<Result<void>> answers(std::shared_ptr<EmbeddedInstance> self, std::stop_token stop)
    {
        const aio::AioClient client(self->m_loop, self->endpoint());
        const auto readiness = co_await client.waitReady(answerLimit, answerPause, aio::limits::readyTimeout, stop);
        co_await client.close();
        if (readiness.ready && !stop.stop_requested())
            co_return Result<void>();
        const QString said = self->m_process->stderrText().simplified();
        co_await end(self);
        if (stop.stop_requested())
            co_return cancelled();
        co_return fail(ErrorCode::Timeout, QStringLiteral("The sandbox server started but did not answer within %1 seconds (%2). %3")
                                               .arg(answerLimit.count())
                                               .arg(readiness.last, said));
    }

    static Task<Result<void>> stopFrom(std::shared_ptr<EmbeddedInstance> self)
    {
        try {
            co_return co_await runOn(self->m_loop, [self] { return end(self); });
        } catch (const std::exception &e) {
            co_return fail(ErrorCode::Internal, QString::fromUtf8(e.what()));
        }
    }

    /// Asks, waits, kills, waits until nothing is left. On the loop; several at once are fine.
    static Task<Result<void>> end(std::shared_ptr<EmbeddedInstance> self)
    {
        self->m_stopping = true;
        self->m_alive = false;
        if (!self->m_process || !self->m_process->running())
            co_return Result<void>();
        const Completion<bool> told;
        self->m_process->gone().observe([told] { told.complete(true); });
        self->m_process->askToEnd();
        if (!co_await waitFor(told, {}, endGrace)) {
            self->m_process->kill();
            const Completion<bool> again;
            self->m_process->gone().observe([again] { again.complete(true); });
            if (!co_await waitFor(again, {}, killLimit))
                co_return fail(ErrorCode::Internal, QStringLiteral("The processes of the sandbox did not end within %1 seconds after SIGKILL; "
                                                                   "they probably hang in the kernel on a file system that does not answer.")
                                                        .arg(killLimit.count()));
        }
        self->m_socket.remove();
        co_return Result<void>();
    }

    void died()
    {
        const bool expected = m_stopping;
        m_alive = false;
        std::function<void(QString)> tell;
        {
            const std::lock_guard lock(m_mutex);
            tell = std::exchange(m_onDeath, nullptr);
        }
        if (expected)
            return;
        const QString said = m_process ? m_process->stderrText().simplified().right(300) : QString();
        qCWarning(lcEmbedded, "A sandbox ended unexpectedly: %ls", qUtf16Printable(said));
        if (tell)
            tell(said.isEmpty() ? QStringLiteral("The sandbox server ended unexpectedly.")
                                : QStringLiteral("The sandbox server ended unexpectedly: %1").arg(said));
    }

    const LoopRef m_loop;
    const std::shared_ptr<RuntimeDir> m_runtime;
    ListeningSocket m_socket;                     ///< on the loop
    std::unique_ptr<SupervisedProcess> m_process; ///< on the loop
    std::atomic<bool> m_alive = false;
    std::atomic<bool> m_stopping = false;
    std::mutex m_mutex; // guards m_onDeath
    std::function<void(QString)> m_onDeath;
};

using Started = Result<std::shared_ptr<SandboxInstance>>;

template<typename S>
Task<Started> startOnLoop(std::shared_ptr<S> state, SandboxId id, ThreadKey key, LoopRef loop, std::stop_token stop)
{
    const EmbeddedOptions &options = state->options;
    const auto bubblewrap = findBubblewrap(options.bubblewrap);
    if (!bubblewrap)
        co_return fail(bubblewrap.error());
    const auto server = findServerProgram(options.serverProgram);
    if (!server)
        co_return fail(server.error());
    if (!options.folders)
        co_return fail(ErrorCode::Internal, QStringLiteral("The embedded sandbox was not told which folders to show."));
    const auto folders = options.folders(key);
    if (!folders)
        co_return fail(folders.error());
    const auto runtime = state->runtimeDir();
    if (!runtime)
        co_return fail(runtime.error());
    BwrapPlan plan;
    plan.serverProgram = *server;
    plan.etcDir = (*runtime)->path() + QStringLiteral("/etc");
    plan.folders = *folders;
    plan.limits = options.limits;
    plan.hostNetwork = options.hostNetwork;
    if (const auto written = writeEtcFiles(plan.etcDir, plan.hostNetwork); !written)
        co_return fail(written.error());
    auto socket = ListeningSocket::make((*runtime)->path(), id.value());
    if (!socket)
        co_return fail(socket.error());
    auto instance = std::make_shared<EmbeddedInstance>(loop, *runtime, std::move(*socket));
    const Result<void> up = co_await EmbeddedInstance::run(instance, *bubblewrap, std::move(plan), options, stop);
    if (!up)
        co_return fail(up.error());
    co_return std::shared_ptr<SandboxInstance>(instance);
}

template<typename S>
Task<Started> startFrom(std::shared_ptr<S> state, SandboxId id, ThreadKey key, LoopRef loop, std::stop_token stop)
{
    try {
        co_return co_await runOn(loop, [state, id, key, loop, stop] { return startOnLoop(state, id, key, loop, stop); });
    } catch (const std::exception &e) {
        co_return fail(ErrorCode::Internal, QString::fromUtf8(e.what()));
    }
}

} // namespace

Result<QString> findBubblewrap(const QString &configured)
{
    const QString found = configured.isEmpty() ? QStandardPaths::findExecutable(QStringLiteral("bwrap")) : configured;
    if (found.isEmpty() || !QFileInfo(found).isExecutable())
        return fail(ErrorCode::Unsupported,
                    QStringLiteral("The embedded sandbox needs bubblewrap, and no program \"bwrap\" was found. Install the package bubblewrap."));
    return found;
}

Result<QString> findServerProgram(const QString &configured)
{
    const QString name = QStringLiteral("paddock-sandboxd");
    QStringList candidates;
    if (!configured.isEmpty()) {
        candidates << configured;
    } else {
        const QString own = QCoreApplication::applicationDirPath();
        candidates << own + QLatin1Char('/') + name << own + QStringLiteral("/../lib/paddock/") + name
                   << own + QStringLiteral("/../libexec/paddock/") + name << QStandardPaths::findExecutable(name);
    }
    for (const QString &candidate : std::as_const(candidates)) {
        const QFileInfo info(candidate);
        if (!candidate.isEmpty() && info.isFile() && info.isExecutable())
            return info.canonicalFilePath();
    }
    return fail(ErrorCode::NotFound, QStringLiteral("The sandbox server %1 was not found%2. Build or install it beside paddock.")
                                         .arg(name, configured.isEmpty() ? QString() : QStringLiteral(" at ") + configured));
}

EmbeddedBackend::EmbeddedBackend(EmbeddedOptions options) : m_state(std::make_shared<State>())
{
    m_state->options = std::move(options);
}

EmbeddedBackend::~EmbeddedBackend() = default;

int EmbeddedBackend::sessionLimit() const
{
    return m_state->options.sessionLimit;
}

Task<Result<std::shared_ptr<SandboxInstance>>> EmbeddedBackend::start(SandboxId id, ThreadKey key, LoopRef loop, std::stop_token stop)
{
    return startFrom(m_state, std::move(id), std::move(key), std::move(loop), std::move(stop));
}

namespace {

Result<void> tryIsolation(const QString &bubblewrap)
{
    QProcess probe;
    // Without --die-with-parent: it ends by itself, and is never killed before its child may go on.
    probe.start(bubblewrap, {QStringLiteral("--unshare-user"), QStringLiteral("--unshare-pid"), QStringLiteral("--unshare-net"),
                             QStringLiteral("--unshare-ipc"), QStringLiteral("--unshare-uts"), QStringLiteral("--ro-bind"),
                             QStringLiteral("/"), QStringLiteral("/"), QStringLiteral("--proc"), QStringLiteral("/proc"), QStringLiteral("--dev"),
                             QStringLiteral("/dev"), QStringLiteral("true")});
    if (!probe.waitForFinished(10000)) { // on a pool thread
        probe.kill();
        return fail(ErrorCode::Timeout, QStringLiteral("bubblewrap did not answer within 10 seconds."));
    }
    if (probe.exitStatus() == QProcess::NormalExit && probe.exitCode() == 0)
        return {};
    return fail(ErrorCode::Unsupported, explainBwrapFailure(QString::fromLocal8Bit(probe.readAllStandardError()), isolationFacts()));
}

} // namespace

Task<Result<void>> checkIsolation(QString bubblewrap, std::stop_token)
{
    const auto found = findBubblewrap(bubblewrap);
    if (!found)
        co_return fail(found.error());
    co_return co_await runOnPool([program = *found] { return tryIsolation(program); });
}

} // namespace paddock
