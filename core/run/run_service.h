// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/error.h"
#include "core/base/ids.h"
#include "core/event/event_bus.h"

#include <QObject>
#include <QString>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace paddock {

struct RunRequest {
    QString task;                ///< empty: the scenario's own
    QString scenario;            ///< built-in name or file; empty: the configured model
    QString workspace;           ///< host folder bound in place; empty: the thread's own
    bool copyWorkspace = false;
    QString sandbox; ///< embedded, container or local; empty: as sandbox.use of the configuration says
    QString model;
    std::optional<QString> channelUserId;
    bool planMode = false; ///< the lead keeps a todo list
};

/// One run as the list shows it; live or past.
struct RunSummary {
    RunId id;
    QString thread;
    QString title;
    QString task;
    QString status; ///< running, completed, failed, cancelled, interrupted
    QString model;
    QString workspace;
    Clock::Wall started{};
    std::optional<Clock::Wall> finished;
    Usage usage;
    qint64 events = 0;
    bool live = false;
};

/// Raw pty bytes of one session, for terminal panels (design.md §4: bytes are not events).
class ShellStream : public QObject
{
    Q_OBJECT
public:
    using QObject::QObject;
Q_SIGNALS:
    void bytes(const QByteArray &data);
    void ended(const QString &reason);
};

/// The facade of core (composition root): start, cancel, list, load, subscribe. Made on the GUI (or main) thread; owns
/// the gateway loop, the subagent loop and the journal. Every method may be called from the owner's thread and returns
/// at once; results arrive by callback on the owner's thread, or as events.
class RunService
{
public:
    struct Options {
        QString configPath; ///< empty: search
        QString dataDir;    ///< empty: $XDG_DATA_HOME/paddock
        std::optional<int> maxRunning; ///< overrides subagent_runtime.max_running
        bool readOnly = false; ///< only look at the journal: nothing is started, no owner is taken
    };
    static Result<std::unique_ptr<RunService>> open(Options options);
    virtual ~RunService() = default;

    /// Live events of all runs from now on.
    virtual std::shared_ptr<EventBus> bus() const = 0;
    /// The id is given at once; a start that fails later is a run.finished event with status failed.
    virtual Result<RunId> start(RunRequest request) = 0;
    /// Cancels and drains; `done` is called when everything of the run is released.
    virtual void cancel(const RunId &run, std::function<void()> done = {}) = 0;
    virtual void cancelAgent(const RunId &run, const AgentId &agent) = 0;
    virtual bool isLive(const RunId &run) const = 0;

    /// One place for what is said about the journal: "" when all is saved, else a sentence.
    virtual QString journalProblem() const = 0;
    /// The only run whose id starts with `prefix` ("last" is the newest); an error when none or several do.
    virtual Result<RunId> resolve(const QString &prefix) const = 0;
    /// Writes a stored run as "jsonl", "markdown" or "otlp" to `path`, or to standard output when it is empty; `done` gets an empty string or a sentence.
    virtual void exportRun(const RunId &run, const QString &format, const QString &path,
                           std::function<void(QString problem)> done) = 0;

    virtual void list(std::function<void(std::vector<RunSummary>)> done) = 0;
    /// Replays a stored run's events into `queue`-like sink in order, in batches on the owner's thread.
    virtual void load(const RunId &run, std::function<void(std::vector<std::shared_ptr<const Event>>, bool last)> batch) = 0;
    /// A message by content hash; null when the journal has none. For the inspector.
    virtual void message(const QString &hash, std::function<void(MessagePtr)> done) = 0;

    /// Attaches as one more observer to a scope's terminal: what it printed so far (bounded), then what it prints, over all
    /// its sessions. Of a past run: what the log kept, then ended. Owned by the caller.
    virtual std::unique_ptr<ShellStream> observeShell(const RunId &run, const ScopeId &scope) = 0;
    /// A past run printed to terminals and nothing of it is kept. Blocks for a moment.
    virtual bool areShellLogsGone(const RunId &run) const
    {
        Q_UNUSED(run)
        return false;
    }
    /// Taking over is deliberate: typing without it is refused. Events mark both ends.
    virtual void takeOver(const RunId &run, const ScopeId &scope, bool on) = 0;
    virtual void type(const RunId &run, const ScopeId &scope, const QByteArray &bytes) = 0;
    virtual void resizeShell(const RunId &run, const ScopeId &scope, int columns, int rows) = 0;
    virtual void interrupt(const RunId &run, const ScopeId &scope) = 0;

    /// Host folder of a virtual root of a run ("/mnt/user-data/outputs"), for the workspace browser; empty when unknown.
    virtual QString hostPath(const RunId &run, const QString &virtualPath) const = 0;
    /// Stops everything and waits (bounded); then the service may be destroyed.
    virtual void shutdown(std::function<void()> done) = 0;
};

} // namespace paddock
