// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/run/run_service.h"
#include "tests/support/sample_events.h"

#include <QStringList>

namespace paddock::test {

/// A RunService without agents: runs are the recorded samples. For looking at the window and for tests of its wiring;
/// what a person asks for is noted in `commands`.
class SampleService : public RunService
{
public:
    SampleService();

    /// Puts a run's events on the bus, as a live run would.
    void play(SampleRun sample);
    /// Offers a run as one of the journal.
    void store(SampleRun sample, const QString &status);

    std::shared_ptr<EventBus> bus() const override { return m_bus; }
    Result<RunId> start(RunRequest request) override;
    void cancel(const RunId &run, std::function<void()> done) override;
    void cancelAgent(const RunId &run, const AgentId &agent) override;
    bool isLive(const RunId &run) const override { return m_live.contains(run.value()); }
    QString journalProblem() const override { return {}; }
    Result<RunId> resolve(const QString &prefix) const override;
    void exportRun(const RunId &, const QString &, const QString &, std::function<void(QString)> done) override { done({}); }
    void list(std::function<void(std::vector<RunSummary>)> done) override;
    void load(const RunId &run, std::function<void(std::vector<std::shared_ptr<const Event>>, bool)> batch) override;
    void message(const QString &hash, std::function<void(MessagePtr)> done) override { done(m_messages.value(hash)); }
    std::unique_ptr<ShellStream> observeShell(const RunId &, const ScopeId &scope) override;
    void takeOver(const RunId &, const ScopeId &, bool) override {}
    void type(const RunId &, const ScopeId &, const QByteArray &) override {}
    void resizeShell(const RunId &, const ScopeId &, int, int) override {}
    void interrupt(const RunId &, const ScopeId &) override {}
    QString hostPath(const RunId &, const QString &) const override { return {}; }
    void shutdown(std::function<void()> done) override { done(); }

    QStringList commands;

private:
    std::shared_ptr<EventBus> m_bus;
    QStringList m_live;
    QHash<QString, MessagePtr> m_messages;
    QHash<QString, SampleRun> m_stored;
    std::vector<RunSummary> m_summaries;
};

} // namespace paddock::test
