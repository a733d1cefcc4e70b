// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/run/live_run.h"

#include "core/base/run_on.h"
#include "core/llm/scripted_model.h"
#include "core/run/agent_wiring.h"
#include "core/run/scenarios.h"
#include "core/run/translate.h"
#include "core/run/workspace_copy.h"

#include <QDir>
#include <QFileInfo>

#include <unistd.h>

Q_LOGGING_CATEGORY(lcRun, "paddock.run")

namespace paddock {

namespace {

Result<QString> checkedFolder(const QString &folder)
{
    if (folder.isEmpty())
        return QString();
    const QFileInfo info(folder);
    if (!info.exists())
        return fail(ErrorCode::NotFound, QStringLiteral("The folder %1 does not exist").arg(folder));
    if (!info.isDir())
        return fail(ErrorCode::InvalidArgument, QStringLiteral("%1 is not a folder").arg(folder));
    if (::access(QFile::encodeName(info.absoluteFilePath()).constData(), R_OK | X_OK) != 0)
        return fail(ErrorCode::PermissionDenied, QStringLiteral("The folder %1 cannot be read by you; check its permissions").arg(folder));
    const QString canonical = info.canonicalFilePath();
    return canonical.isEmpty() ? info.absoluteFilePath() : canonical;
}

RunFinished finishedFrom(const LeadReport &report, const QString &divergence)
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
    const LeadReport report = co_await runLead(wiring.services(), request);
    co_await wiring.stopWatching();
    finished = finishedFrom(report, script ? script->divergence(run->id.value()) : QString());
    if (run->scenario && !run->scenario->faults.empty())
        run->leases->setFaults(run->key, nullptr);
    co_return finished;
}

} // namespace

QString shellLogFolder(const QString &dataDir, const QString &thread)
{
    return dataDir + QStringLiteral("/shells/") + thread;
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
    auto folder = checkedFolder(request.workspace);
    if (!folder)
        return fail(folder.error());
    request.workspace = *folder;
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
    events.emitEvent(std::move(started));
    RunFinished finished;
    try {
        finished = co_await perform(environment, run, events);
    } catch (const std::exception &e) {
        finished.status = QStringLiteral("failed");
        finished.error = QStringLiteral("Internal error: %1").arg(QString::fromUtf8(e.what()));
        qCCritical(lcRun, "run %ls threw: %s", qUtf16Printable(run->id.value()), e.what());
    }
    const Seq last = events.emitEvent(std::move(finished));
    if (auto saved = co_await environment->journal->flush(last); !saved)
        qCWarning(lcRun, "run %ls is not saved: %ls", qUtf16Printable(run->id.value()), qUtf16Printable(saved.error().fullMessage()));
    finishRun(*run);
}

} // namespace paddock
