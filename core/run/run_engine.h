// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/task_scope.h"
#include "core/run/live_run.h"

#include <QHash>
#include <QSet>

namespace paddock {

/// RunService over an Environment. Lives on the owner's thread; runs are driven on the gateway loop. See run_service.h.
class RunEngine : public RunService
{
public:
    explicit RunEngine(std::shared_ptr<Environment> environment);
    ~RunEngine() override;

    std::shared_ptr<EventBus> bus() const override { return m_environment->bus; }
    Result<RunId> start(RunRequest request) override;
    void cancel(const RunId &run, std::function<void()> done) override;
    void cancelAgent(const RunId &run, const AgentId &agent) override;
    bool isLive(const RunId &run) const override;
    QString journalProblem() const override;
    Result<RunId> resolve(const QString &prefix) const override;
    void exportRun(const RunId &run, const QString &format, const QString &path, std::function<void(QString)> done) override;
    void list(std::function<void(std::vector<RunSummary>)> done) override;
    void load(const RunId &run, std::function<void(std::vector<std::shared_ptr<const Event>>, bool)> batch) override;
    void message(const QString &hash, std::function<void(MessagePtr)> done) override;
    std::unique_ptr<ShellStream> observeShell(const RunId &run, const ScopeId &scope) override;
    bool areShellLogsGone(const RunId &run) const override;
    void takeOver(const RunId &run, const ScopeId &scope, bool on) override;
    void type(const RunId &run, const ScopeId &scope, const QByteArray &bytes) override;
    void resizeShell(const RunId &run, const ScopeId &scope, int columns, int rows) override;
    void interrupt(const RunId &run, const ScopeId &scope) override;
    QString hostPath(const RunId &run, const QString &virtualPath) const override;
    void shutdown(std::function<void()> done) override;

private:
    std::shared_ptr<LiveRun> find(const RunId &run) const;
    /// The sandbox of a live run and the session of a scope in it; null when there is none.
    static std::pair<SandboxPtr, SessionId> shellOf(const std::shared_ptr<LiveRun> &run, const ScopeId &scope);
    void onShell(const RunId &run, const ScopeId &scope, std::function<Task<>(SandboxPtr, SessionId, EventSink)> act);

    std::shared_ptr<Environment> m_environment;
    LoopRef m_owner;
    std::shared_ptr<TaskScope> m_scope; ///< lives on the gateway loop
    QHash<RunId, std::shared_ptr<LiveRun>> m_runs;
    mutable QHash<QString, std::pair<QString, QString>> m_places; ///< run -> (thread, workspace) of past runs
    QSet<std::pair<QString, QString>> m_takenOver; ///< run and scope that a person types into
    std::shared_ptr<const bool> m_alive = std::make_shared<const bool>(true); ///< for answers that come when it is gone
    bool m_closing = false;
};

/// RunService over a journal that is only looked at.
std::unique_ptr<RunService> makeJournalView(const QString &dataDir);

} // namespace paddock
