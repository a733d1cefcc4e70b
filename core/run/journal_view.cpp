// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/run/log_limit.h"
#include "core/run/run_engine.h"
#include "core/run/stored_runs.h"
#include "core/run/terminal_log.h"

namespace paddock {

namespace {

/// Answers everything that a journal alone can; nothing is live.
class JournalView : public RunService
{
public:
    explicit JournalView(QString folder) : m_folder(std::move(folder)), m_owner(LoopRef::current()), m_bus(std::make_shared<EventBus>()) {}

    std::shared_ptr<EventBus> bus() const override { return m_bus; }
    Result<RunId> start(RunRequest) override { return fail(ErrorCode::FailedPrecondition, QStringLiteral("The journal is only being looked at")); }
    void cancel(const RunId &, std::function<void()> done) override
    {
        if (done)
            done();
    }
    void cancelAgent(const RunId &, const AgentId &) override {}
    bool isLive(const RunId &) const override { return false; }
    QString journalProblem() const override { return {}; }
    Result<RunId> resolve(const QString &prefix) const override { return resolveStored(m_folder, prefix); }
    void exportRun(const RunId &run, const QString &format, const QString &path, std::function<void(QString)> done) override
    {
        exportStored(m_folder, run, format, path, m_owner, std::move(done));
    }
    void list(std::function<void(std::vector<RunSummary>)> done) override { listStored(m_folder, m_owner, std::move(done)); }
    void load(const RunId &run, std::function<void(std::vector<std::shared_ptr<const Event>>, bool)> batch) override
    {
        loadStored(m_folder, run, m_owner, std::move(batch));
    }
    void message(const QString &hash, std::function<void(MessagePtr)> done) override { messageStored(m_folder, hash, m_owner, std::move(done)); }
    std::unique_ptr<ShellStream> observeShell(const RunId &run, const ScopeId &scope) override
    {
        return TerminalLog::observeFile(shellLogFolder(m_folder, placeOfStored(m_folder, run).first) + QLatin1Char('/') + scopeFileName(scope.value()));
    }
    bool areShellLogsGone(const RunId &run) const override { return areLogsGone(m_folder, run); }
    void takeOver(const RunId &, const ScopeId &, bool) override {}
    void type(const RunId &, const ScopeId &, const QByteArray &) override {}
    void resizeShell(const RunId &, const ScopeId &, int, int) override {}
    void interrupt(const RunId &, const ScopeId &) override {}
    QString hostPath(const RunId &, const QString &) const override { return {}; }
    void shutdown(std::function<void()> done) override { m_owner.post(std::move(done)); }

private:
    QString m_folder;
    LoopRef m_owner;
    std::shared_ptr<EventBus> m_bus;
};

} // namespace

std::unique_ptr<RunService> makeJournalView(const QString &dataDir)
{
    return std::make_unique<JournalView>(dataDir);
}

} // namespace paddock
