// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/run/environment.h"
#include "core/run/run_watcher.h"

#include <vector>

namespace paddock {

/// One run from its start to its end. Shared by the gateway loop, which drives it, and the owner's thread, which looks at
/// it; what both touch is guarded or fixed after the start.
struct LiveRun {
    RunId id;
    RunRequest request;
    ThreadKey key;
    ThreadPaths paths;
    std::shared_ptr<const Scenario> scenario; ///< null: the configured model
    std::shared_ptr<SandboxLeases> leases;
    std::stop_source stop;
    bool hostBash = false;

    std::mutex mutex; // guards all below
    std::shared_ptr<RunWatcher> watcher; ///< deleted on the gateway loop
    std::vector<std::function<void()>> whenOver;
    QString whyStopped; ///< as a sentence; empty while nobody asked
    bool over = false;

    /// Asks the run to stop; the first reason stays. Stop callbacks run on the calling thread: let it be the gateway's.
    void requestStop(const QString &why);
    QString stopReason();
};

/// Checks a request and prepares its run; nothing is started yet. Quick: no I/O beyond looking at the folder.
Result<std::shared_ptr<LiveRun>> prepareRun(Environment &environment, RunRequest request);

/// Drives a run on the gateway loop to its very end: everything of it is released when this returns. Never throws.
Task<> driveRun(std::shared_ptr<Environment> environment, std::shared_ptr<LiveRun> run);

} // namespace paddock
