// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/run/live_run.h"

#include "core/base/run_on.h"
#include "core/llm/scripted_model.h"
#include "core/run/agent_wiring.h"
#include "core/run/log_limit.h"
#include "core/run/scenarios.h"
#include "core/run/skill_wiring.h"
#include "core/run/translate.h"
#include "core/run/workspace_copy.h"
#include "core/sandbox/host_bash.h"
#include "core/sandbox/virtual_paths.h"

#include <QDir>
#include <QFileInfo>

#include <algorithm>
#include <array>
#include <climits>

#include <unistd.h>

Q_LOGGING_CATEGORY(lcRun, "paddock.run")

namespace paddock {

namespace {

/// A name in a sentence: the whole of it would be no sentence any more.
QString shownName(const QString &name)
{
    constexpr qsizetype most = 200;
    return name.size() <= most ? name : name.left(most) + QStringLiteral("…");
}

/// What a configuration names by a class path, in our short word.
QString sandboxKindOf(const QString &use)
{
    if (usesLocalProvider(use))
        return QStringLiteral("local");
    return use.endsWith(QLatin1String(":AioSandboxProvider")) ? QStringLiteral("embedded") : use;
}

/// A folder that agents must not get whole: one of the system's, or one that overlaps Paddock's own data.
Result<void> checkReach(const QString &canonical, const QString &dataDir)
{
    static constexpr std::array exactly{"/", "/bin", "/dev", "/home", "/lib", "/lib64", "/run", "/sbin", "/usr", "/var"};
    static constexpr std::array andBelow{"/boot", "/etc", "/proc", "/sys", "/usr/bin", "/usr/lib", "/usr/sbin"};
    const auto at = [&](const char *system) { return canonical == QLatin1String(system); };
    const auto below = [&](const char *system) { return isUnder(canonical, QString::fromLatin1(system)); };
    if (std::ranges::any_of(exactly, at) || std::ranges::any_of(andBelow, below)) {
        return fail(ErrorCode::InvalidArgument,
                    QStringLiteral("The folder %1 belongs to the system, not to a project; name the folder that agents shall work on").arg(canonical));
    }
    const QString data = QFileInfo(dataDir).canonicalFilePath();
    if (!data.isEmpty() && (isUnder(canonical, data) || isUnder(data, canonical))) {
        return fail(ErrorCode::InvalidArgument,
                    QStringLiteral("Agents that work on %1 could change Paddock's own records in %2; name a folder that does not hold them and is not in them")
                        .arg(canonical, data));
    }
    return {};
}

Result<QString> checkedFolder(const QString &folder, const QString &dataDir)
{
    if (folder.isEmpty())
        return QString();
    const QFileInfo info(folder);
    const QString shown = shownName(info.absoluteFilePath());
    if (QFile::encodeName(info.absoluteFilePath()).size() >= PATH_MAX)
        return fail(ErrorCode::InvalidArgument, QStringLiteral("The path %1 is longer than the %2 bytes that the system can open; name a shorter one")
                                                    .arg(shown).arg(PATH_MAX - 1));
    if (!info.exists())
        return fail(ErrorCode::NotFound, QStringLiteral("The folder %1 does not exist, or you may not look into the one above it; name an existing folder").arg(shown));
    if (!info.isDir())
        return fail(ErrorCode::InvalidArgument, QStringLiteral("%1 is not a folder; name the folder that agents shall work on").arg(shown));
    const QString canonical = info.canonicalFilePath().isEmpty() ? info.absoluteFilePath() : info.canonicalFilePath();
    if (::access(QFile::encodeName(canonical).constData(), F_OK) != 0) // it is there, but not under the name that a QString holds
        return fail(ErrorCode::InvalidArgument,
                    QStringLiteral("The name of the folder %1 is not UTF-8 text, so Paddock cannot use it; rename it").arg(shownName(canonical)));
    if (::access(QFile::encodeName(canonical).constData(), R_OK | X_OK) != 0)
        return fail(ErrorCode::PermissionDenied, QStringLiteral("The folder %1 cannot be read by you; check its permissions").arg(shown));
    if (auto reach = checkReach(canonical, dataDir); !reach)
        return fail(reach.error());
    return canonical;
}

/// What a scenario calls is known before it runs, so a sandbox without commands is refused then and not in the middle.
bool usesBash(const Scenario &scenario)
{
    const auto callsBash = [](const ScenarioCall &call) {
        return call.tool == u"bash" || (call.tool == u"task" && stringOf(call.args, "subagent_type") == u"bash");
    };
    const auto turnUses = [&](const std::shared_ptr<const ScenarioTurn> &turn) { return std::ranges::any_of(turn->calls, callsBash); };
    return std::ranges::any_of(scenario.agents, [&](const ScenarioAgent &agent) { return std::ranges::any_of(agent.turns, turnUses); });
}

/// `sandboxProblem`: why the run never got a sandbox though it asked for one. Whatever the model made of it, the run did
/// not do its work.
RunFinished finishedFrom(const LeadReport &report, const QString &divergence, const QString &sandboxProblem)
{
    RunFinished finished;
    finished.status = report.status;
    finished.answer = report.answer;
    finished.error = report.error;
    finished.usage = report.usage;
    if (!divergence.isEmpty() && report.status != u"cancelled") {
        finished.status = QStringLiteral("failed");
        finished.error = divergence;
    }
    if (!sandboxProblem.isEmpty() && report.status != u"cancelled") {
        finished.status = QStringLiteral("failed");
        finished.error = sandboxProblem;
    }
    return finished;
}

void finishRun(LiveRun &run)
{
    std::vector<std::function<void()>> callbacks;
    {
        const std::lock_guard lock(run.mutex);
        run.over = true;
        callbacks.swap(run.whenOver);
    }
    for (const auto &call : callbacks)
        call();
}

Task<Result<void>> prepareFolders(std::shared_ptr<LiveRun> run)
{
    if (!run->request.copyWorkspace || run->request.workspace.isEmpty()) {
        co_return co_await runOnPool([paths = run->paths] { return paths.create(); });
    }
    co_return co_await runOnPool([paths = run->paths, from = run->request.workspace, stop = run->stop.get_token()] {
        if (auto made = paths.create(); !made)
            return made;
        return copyWorkspace(from, paths.workspace, stop);
    });
}

/// The part that may fail early; what it returns is the end of the run.
Task<RunFinished> perform(std::shared_ptr<Environment> environment, std::shared_ptr<LiveRun> run, EventSink events)
{
    RunFinished finished;
    finished.status = QStringLiteral("failed");
    if (auto ready = co_await prepareFolders(run); !ready) {
        finished.status = ready.error().isCancelled() ? QStringLiteral("cancelled") : finished.status;
        finished.error = ready.error().fullMessage();
        co_return finished;
    }
    const QStringList problems = co_await runOnPool([environment, user = run->key.user] {
        return projectUserSkills(*environment->skills, environment->dataDir, user);
    });
    for (const QString &problem : problems)
        events.emitEvent(LogRecorded{QStringLiteral("warning"), problem, false});
    std::shared_ptr<ScriptedModel> script;
    if (run->scenario) {
        script = std::make_shared<ScriptedModel>(run->scenario, ScriptNames{.task = run->request.task});
        if (!run->scenario->faults.empty())
            run->leases->setFaults(run->key, faultPlan(*run->scenario));
    }
    AgentWiring wiring(environment, run, script);
    co_await wiring.startWatching(events);
    LeadRequest request;
    request.run = run->id;
    request.thread = run->key;
    request.task = run->request.task;
    request.model = run->request.model;
    if (run->request.channelUserId)
        request.values["channel_user_id"] = toUtf8(*run->request.channelUserId);
    request.events = events;
    request.stop = run->stop.get_token();
    request.whyStopped = [weak = std::weak_ptr(run)] {
        const auto live = weak.lock();
        return live ? live->stopReason() : QString();
    };
    const LeadReport report = co_await runLead(wiring.services(), request);
    co_await wiring.stopWatching();
    finished = finishedFrom(report, script ? script->divergence(run->id.value()) : QString(), wiring.sandboxProblem());
    if (run->scenario && !run->scenario->faults.empty())
        run->leases->setFaults(run->key, nullptr);
    co_return finished;
}

} // namespace

void LiveRun::requestStop(const QString &why)
{
    {
        const std::lock_guard lock(mutex);
        if (whyStopped.isEmpty())
            whyStopped = why;
    }
    stop.request_stop();
}

QString LiveRun::stopReason()
{
    const std::lock_guard lock(mutex);
    return whyStopped;
}

Result<std::shared_ptr<LiveRun>> prepareRun(Environment &environment, RunRequest request)
{
    auto run = std::make_shared<LiveRun>();
    run->id = RunId(newShortId());
    run->key = ThreadKey{UserId(QStringLiteral("default")), ThreadId(newShortId())};
    if (request.scenario.isEmpty() && environment.config.models.empty())
        return fail(ErrorCode::FailedPrecondition,
                    QStringLiteral("No model is configured yet, so a task of your own cannot be answered. Try the scripted sample: "
                                   "--scenario survey"));
    if (request.scenario.isEmpty())
        return fail(ErrorCode::Unsupported,
                    QStringLiteral("Models from the configuration are not built into this version yet. Try the scripted sample: --scenario survey"));
    auto scenario = loadScenario(request.scenario);
    if (!scenario)
        return fail(scenario.error());
    run->scenario = std::move(*scenario);
    if (request.task.isEmpty())
        request.task = run->scenario->task.isEmpty() ? run->scenario->description : run->scenario->task;
    if (request.model.isEmpty())
        request.model = QStringLiteral("scripted:") + run->scenario->name;
    auto folder = checkedFolder(request.workspace, environment.dataDir);
    if (!folder)
        return fail(folder.error());
    request.workspace = *folder;
    if (request.sandbox.isEmpty())
        request.sandbox = sandboxKindOf(environment.config.sandbox.use);
    if (request.sandbox == u"local" && !environment.config.sandbox.allowHostBash && usesBash(*run->scenario)) {
        return fail(ErrorCode::FailedPrecondition,
                    QStringLiteral("The scenario %1 runs commands with bash, and the local sandbox offers no bash while sandbox.allow_host_bash "
                                   "is off; use --sandbox embedded").arg(shownName(run->scenario->name)));
    }
    auto leases = environment.leasesFor(request.sandbox);
    if (!leases)
        return fail(leases.error());
    run->leases = std::move(*leases);
    run->hostBash = environment.config.sandbox.allowHostBash;
    const QString bound = request.copyWorkspace ? QString() : request.workspace;
    auto paths = ThreadPaths::make(environment.dataDir, run->key, bound);
    if (!paths)
        return fail(paths.error());
    run->paths = std::move(*paths);
    environment.setWorkspace(run->key, bound);
    run->request = std::move(request);
    return run;
}

Task<> driveRun(std::shared_ptr<Environment> environment, std::shared_ptr<LiveRun> run)
{
    const EventSink events(environment->bus, run->id, leadAgent());
    RunStarted started;
    started.thread = run->key.thread.value();
    started.task = run->request.task;
    started.model = run->request.model;
    started.sandbox = run->request.sandbox;
    started.workspace = run->request.workspace.isEmpty() ? run->paths.workspace : run->request.workspace;
    started.channelUserId = run->request.channelUserId;
    const Seq first = events.emitEvent(std::move(started));
    for (const QString &warning : environment->config.warnings)
        events.emitEvent(LogRecorded{QStringLiteral("warning"), warning, false});
    if (run->request.sandbox == u"local" && !run->hostBash) {
        events.emitEvent(LogRecorded{QStringLiteral("warning"),
                                     QStringLiteral("The local sandbox gives agents files but no bash: sandbox.allow_host_bash is off. "
                                                    "The embedded sandbox gives them both."), false});
    }
    RunFinished finished;
    try {
        // A run that cannot even be begun in the journal would leave no trace of what its agents did.
        if (auto saved = co_await environment->journal->flush(first); saved) {
            finished = co_await perform(environment, run, events);
        } else {
            finished.status = QStringLiteral("failed");
            finished.error = saved.error().fullMessage();
        }
    } catch (const std::exception &e) {
        finished.status = QStringLiteral("failed");
        finished.error = QStringLiteral("Internal error: %1").arg(QString::fromUtf8(e.what()));
        qCCritical(lcRun, "run %ls threw: %s", qUtf16Printable(run->id.value()), e.what());
    }
    const Seq last = events.emitEvent(std::move(finished));
    (void)co_await environment->journal->flush(last); // what went wrong stays in its state, and is told from there
    finishRun(*run);
    limitTerminalLogsLater(environment->dataDir, environment->config.terminalLogs.maxTotalBytes);
}

} // namespace paddock
