// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/store/selection.h"

namespace paddock {

void Selection::setRun(RunStore *run)
{
    set(run, leadAgent());
}

void Selection::setAgent(const AgentId &agent)
{
    set(m_run, agent);
}

void Selection::set(RunStore *run, const AgentId &agent)
{
    const bool otherRun = run != m_run;
    const bool otherAgent = otherRun || agent != m_agent;
    m_run = run;
    m_agent = agent;
    if (otherRun)
        Q_EMIT runChanged(run);
    if (otherAgent)
        Q_EMIT agentChanged(agent);
}

} // namespace paddock
