// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/run/run_watcher.h"

#include "core/base/pool.h"

#include <QRegularExpression>

namespace paddock {

namespace {
bool matchesPattern(const QString &pattern, const QString &text)
{
    if (pattern.isEmpty())
        return true;
    const auto options = QRegularExpression::anchoredPattern(
        QRegularExpression::wildcardToRegularExpression(pattern, QRegularExpression::UnanchoredWildcardConversion));
    return QRegularExpression(options).match(text).hasMatch();
}
} // namespace

RunWatcher::RunWatcher(std::shared_ptr<EventBus> bus, Wiring wiring) : m_wiring(std::move(wiring)), m_queue(bus->subscribe())
{
    m_queue->setWakeup(postedFor(this, [this] { drain(); }));
    m_cancelTimer.setSingleShot(true);
    connect(&m_cancelTimer, &QTimer::timeout, this, [this] {
        if (!m_cancelled) {
            m_cancelled = true;
            m_wiring.cancelRun();
        }
    });
    if (m_wiring.cancel && m_wiring.cancel->after)
        m_cancelTimer.start(*m_wiring.cancel->after);
}

RunWatcher::~RunWatcher()
{
    m_queue->setWakeup({});
}

std::shared_ptr<TerminalLog> RunWatcher::log(const QString &scope, bool create)
{
    const std::lock_guard lock(m_mutex);
    auto &entry = m_logs[scope];
    if (!entry && create)
        entry = std::make_shared<TerminalLog>(m_wiring.logFolder + QLatin1Char('/') + scopeFileName(scope));
    return entry;
}

void RunWatcher::drain()
{
    for (const auto &event : m_queue->drain()) {
        if (event->run == m_wiring.run)
            handle(*event);
    }
}

void RunWatcher::handle(const Event &event)
{
    if (const auto *started = std::get_if<AgentStarted>(&event.body))
        m_agentTypes[event.agent.value()] = started->subagentType;
    if (std::holds_alternative<SandboxAcquired>(event.body)) {
        m_hadSandbox = true;
        m_sandboxProblem.clear();
    } else if (const auto *failed = std::get_if<SandboxFailed>(&event.body); failed && !m_hadSandbox && m_sandboxProblem.isEmpty()) {
        m_sandboxProblem = failed->reason;
    }
    if (const auto *created = std::get_if<ShellSessionCreated>(&event.body)) {
        if (created->reason != u"first_use")
            log(created->scope, true)->mark(QStringLiteral("new session %1").arg(created->session.left(8)));
        attach(created->scope, SessionId(created->session));
    } else if (const auto *lost = std::get_if<ShellSessionLost>(&event.body)) {
        m_observers.erase(lost->scope);
        log(lost->scope, true)->mark(QStringLiteral("session %1 lost: %2").arg(lost->session.left(8), lost->reason));
    }
    // A closed session keeps its observer until the run is over: its last bytes may still be on their way.
    if (m_wiring.alsoTell)
        m_wiring.alsoTell(event);
    triggerCancel(event);
}

void RunWatcher::attach(const QString &scope, const SessionId &session)
{
    const SandboxPtr sandbox = m_wiring.sandbox ? m_wiring.sandbox() : nullptr;
    if (!sandbox)
        return;
    auto observer = sandbox->observeShell(session);
    if (!observer)
        return;
    const auto into = log(scope, true);
    connect(observer.get(), &ShellObserver::bytes, this, [into](const QByteArray &data) { into->append(data); });
    m_observers[scope] = std::move(observer);
}

void RunWatcher::triggerCancel(const Event &event)
{
    const auto &cancel = m_wiring.cancel;
    if (!cancel || cancel->after || m_cancelled || cancel->at.isEmpty() || eventType(event.body) != cancel->at)
        return;
    if (!matchesPattern(cancel->agent, event.agent.value()))
        return;
    if (!cancel->type.isEmpty() && m_agentTypes[event.agent.value()] != cancel->type)
        return;
    if (++m_cancelSeen < cancel->nth)
        return;
    m_cancelled = true;
    if (cancel->wholeRun)
        m_wiring.cancelRun();
    else
        m_wiring.cancelAgent(event.agent);
}

void RunWatcher::finish()
{
    drain();
    m_observers.clear();
    const std::lock_guard lock(m_mutex);
    for (const auto &[scope, entry] : m_logs) {
        if (entry)
            entry->end(QStringLiteral("The run is over."));
    }
}

} // namespace paddock
