// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/event/event_bus.h"
#include "core/llm/scenario.h"
#include "core/run/terminal_log.h"
#include "core/sandbox/sandbox.h"
#include "core/sandbox/shell_observer.h"

#include <QObject>
#include <QTimer>

#include <functional>
#include <map>
#include <memory>

namespace paddock {

/// Follows one live run's events on the gateway loop and does what must follow from them there: attaches the terminal logs
/// to new shell sessions, and acts out the scenario's cancel. Owner: the live run; made and destroyed on the gateway loop.
class RunWatcher : public QObject
{
    Q_OBJECT
public:
    struct Wiring {
        RunId run;
        QString logFolder; ///< one file a scope
        std::function<SandboxPtr()> sandbox;
        std::optional<ScenarioCancel> cancel;
        std::function<void()> cancelRun;
        std::function<void(const AgentId &)> cancelAgent;
        std::function<void(const Event &)> alsoTell; ///< e.g. the workspace watch
    };

    RunWatcher(std::shared_ptr<EventBus> bus, Wiring wiring);
    ~RunWatcher() override;

    /// The log of a scope, made when needed. Any thread.
    std::shared_ptr<TerminalLog> log(const QString &scope, bool create);
    void finish();
    /// Why no sandbox could be had, when the run asked for one and never got any. After finish.
    const QString &sandboxProblem() const { return m_sandboxProblem; }

private:
    void drain();
    void handle(const Event &event);
    void attach(const QString &scope, const SessionId &session);
    void triggerCancel(const Event &event);

    Wiring m_wiring;
    std::shared_ptr<EventQueue> m_queue;
    QTimer m_cancelTimer;
    int m_cancelSeen = 0;
    bool m_cancelled = false;
    bool m_hadSandbox = false;
    QString m_sandboxProblem;
    std::map<QString, QString> m_agentTypes; ///< agent id -> subagent type
    std::map<QString, std::unique_ptr<ShellObserver>> m_observers; ///< by scope
    std::mutex m_mutex; // guards m_logs
    std::map<QString, std::shared_ptr<TerminalLog>> m_logs;
};

} // namespace paddock
