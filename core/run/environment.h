// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/agent/agent_services.h"
#include "core/agent/lead.h"
#include "core/base/loop.h"
#include "core/config/config.h"
#include "core/journal/journal.h"
#include "core/llm/scenario.h"
#include "core/run/run_service.h"
#include "core/sandbox/sandbox_access.h"
#include "core/sandbox/thread_paths.h"
#include "core/skill/skill_store.h"

#include <map>
#include <memory>
#include <mutex>

namespace paddock {

class ScriptedModel;

/// Everything that lives as long as the service and is shared by its runs: configuration, loops, journal, bus, providers.
/// Made on the owner's thread. Thread-safe where it says so; the loops end in the destructor.
struct Environment {
    Config config;
    QString dataDir;
    std::unique_ptr<Journal> journal; ///< ends after the loops, so that their last events are saved
    std::shared_ptr<EventBus> bus;
    std::shared_ptr<AdmissionQueue> admission;
    std::shared_ptr<SubagentRegistry> subagents;
    std::shared_ptr<const SkillStore> skills;
    std::unique_ptr<EventLoop> gateway;

    /// The leases over the provider of a kind ("embedded", "local"), made at first use. Gateway loop or owner's thread.
    Result<std::shared_ptr<SandboxLeases>> leasesFor(const QString &kind);
    /// All providers made so far.
    std::vector<std::shared_ptr<SandboxLeases>> allLeases();
    /// The folder that a person named for a thread; any thread.
    void setWorkspace(const ThreadKey &key, const QString &folder);
    QString workspaceOf(const ThreadKey &key) const;

private:
    Result<std::shared_ptr<SandboxProvider>> makeProvider(const QString &kind);

    mutable std::mutex m_mutex; // guards both below
    std::map<QString, std::shared_ptr<SandboxLeases>> m_leases;
    std::map<std::pair<QString, QString>, QString> m_workspaces;
};

/// Reads the configuration, opens the journal, starts the gateway loop; every start-up check is here.
Result<std::shared_ptr<Environment>> openEnvironment(const RunService::Options &options);

/// The configuration and the file it came from; no file: the built-in defaults and an empty path.
struct FoundConfig {
    Config config;
    QString path;
};
/// Looks for the file (`explicitPath`, else the usual places) and reads it; blocking.
Result<FoundConfig> readConfig(const QString &explicitPath);

/// Where Paddock keeps its data when nobody names another place.
QString defaultDataDir();
QString defaultConfigDir();

} // namespace paddock
