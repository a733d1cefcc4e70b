// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "ui/store/run_store.h"

#include <QObject>
#include <QPointer>

namespace paddock {

/// What the window looks at: one run, one agent of it. Panels follow it and change it; none of them knows another.
/// Owner: the main window; GUI thread.
class Selection : public QObject
{
    Q_OBJECT
public:
    using QObject::QObject;

    RunStore *run() const { return m_run; }
    const AgentId &agent() const { return m_agent; }

    /// Another run starts at its lead agent. Null: nothing is looked at.
    void setRun(RunStore *run);
    void setAgent(const AgentId &agent);
    void set(RunStore *run, const AgentId &agent);
    /// Asks whoever shows such a thing to bring it forward.
    void showCall(const AgentId &agent, const QString &call) { Q_EMIT callRequested(agent, call); }

Q_SIGNALS:
    void runChanged(paddock::RunStore *run);
    void agentChanged(const paddock::AgentId &agent);
    void callRequested(const paddock::AgentId &agent, const QString &call);

private:
    QPointer<RunStore> m_run;
    AgentId m_agent = leadAgent();
};

} // namespace paddock
