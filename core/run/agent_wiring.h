// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/run/live_run.h"

namespace paddock {

class ScriptedModel;
class WorkspaceWatch;

/// One run's services: the factories that give its agents their chains, model, tools and sandbox. Made on the gateway
/// loop; what it hands out is used on both loops and keeps what it needs alive.
class AgentWiring
{
public:
    AgentWiring(std::shared_ptr<Environment> environment, std::shared_ptr<LiveRun> run, std::shared_ptr<ScriptedModel> script);
    ~AgentWiring();

    const std::shared_ptr<const AgentServices> &services() const { return m_services; }
    /// Terminal logs, the scenario's cancel and the workspace watch.
    Task<> startWatching(EventSink events);
    Task<> stopWatching();
    /// See RunWatcher. After stopWatching.
    QString sandboxProblem() const;

private:
    std::shared_ptr<Environment> m_environment;
    std::shared_ptr<LiveRun> m_run;
    std::shared_ptr<const AgentServices> m_services;
    std::shared_ptr<WorkspaceWatch> m_watch;
};

} // namespace paddock
