// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/task.h"
#include "core/event/event_bus.h"
#include "core/sandbox/thread_paths.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

namespace paddock {

struct WorkspaceWatchOptions {
    ThreadPaths paths;
    EventSink events; ///< whose run the file events belong to; the agent is replaced by the owner when known
    /// Keeps one version of a text file (at most 1 MiB, never a sensitive one) under its hash. Called on the watch's thread.
    std::function<void(const QString &sha256, const QByteArray &content)> keepVersion;
    /// A kept version, for counting lines; optional.
    std::function<std::optional<QByteArray>(const QString &sha256)> loadVersion;

    int maxWatches = 16384;        ///< directories; the rest is compared at flush()
    int maxFiles = 300000;         ///< files that are remembered
    int maxSnapshotFiles = 5000;   ///< files whose content is read before the run
    qint64 maxSnapshotBytes = 64 * 1024 * 1024;
    std::chrono::milliseconds coalesce{100};      ///< a burst becomes one look
    std::chrono::milliseconds openWriters{1000};  ///< a file that stays open for writing is looked at so late
};

/// Watches a thread's host folders and tells every change as a file.changed event: what tools told already is only noted, the
/// rest is attributed to the agent whose command ran then ("probably") or to nobody ("unknown"). No polling: inotify, one
/// thread "workspace-watch". Names may be any bytes; links are recorded, never followed. Made and destroyed on one thread;
/// the other methods may be called from any thread.
class WorkspaceWatch
{
public:
    explicit WorkspaceWatch(WorkspaceWatchOptions options);
    /// Stops without telling what is still pending; call flush() before.
    ~WorkspaceWatch();
    WorkspaceWatch(const WorkspaceWatch &) = delete;
    WorkspaceWatch &operator=(const WorkspaceWatch &) = delete;

    /// Begins at the call; the task ends when the snapshot is taken and every change from then on will be told. Await it
    /// before agents start. An Error only says what is not watched; the watch works as far as it can.
    Task<Result<void>> start();

    /// Everything the watch wants to know, from the run's events: shell.command_*, tool.* and file.changed.
    void note(const Event &event);
    void noteCommandStarted(AgentId agent, ScopeId scope, QString commandId, QString command, std::chrono::microseconds mono);
    void noteCommandFinished(QString commandId, std::chrono::microseconds mono);
    /// A write that a tool told of itself; an empty hash means "as it is now".
    void noteToolWrite(QString virtualPath, QString sha256, qint64 size, AgentId agent);

    /// Looks at everything that happened up to now and tells it; folders that could not be watched are compared.
    Task<> flush();

    struct Counts {
        int files = 0;
        int watches = 0;
        int unwatched = 0;
    };
    Task<Counts> counts();

private:
    class Core;
    template<typename Call>
    void post(Call call);
    std::unique_ptr<class EventLoop> m_loop;
    std::shared_ptr<Core> m_core; ///< lives and dies on the loop
};

} // namespace paddock
