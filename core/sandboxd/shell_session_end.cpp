// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// Timers, kill ladders, observers and the end of a session.
#include "core/sandboxd/process_tree.h"
#include "core/sandboxd/shell_session.h"

#include <csignal>

namespace paddock::sandboxd {

using namespace std::chrono_literals;
using Clock = Reactor::Clock;

namespace {

constexpr auto abortLook = 250ms;

Clock::duration seconds(double value)
{
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(std::min(value, 1e9)));
}

/// A command that outlives the first signal loses its background jobs too: perhaps it is one of them that it waits for.
PtyShell::Reach reachOf(int step)
{
    return step == 0 ? PtyShell::Reach::Substitutions : PtyShell::Reach::Command;
}

} // namespace

// ---- timers of a command (§2.2) ------------------------------------------------------------------------------------

Clock::time_point ShellSession::nextDeadline() const
{
    const ShellCommand &command = *m_command;
    Clock::time_point due = Clock::time_point::max();
    if (command.request.hardTimeout && !command.hardLimitHit && !command.killed)
        due = std::min(due, command.startedAt + seconds(*command.request.hardTimeout));
    if (!command.idleVerdict)
        due = std::min(due, command.lastOutputAt + seconds(double(command.idleLimit)));
    if (command.reply && command.request.timeout)
        due = std::min(due, command.startedAt + seconds(*command.request.timeout));
    return due;
}

void ShellSession::armTimers()
{
    if (m_state != State::Running)
        return;
    const auto due = nextDeadline();
    if (due == Clock::time_point::max())
        m_timer.stop();
    else
        m_timer.start(due - m_reactor.now(), [this] { onTimer(); });
}

void ShellSession::onTimer()
{
    const auto self = shared_from_this();
    if (m_state != State::Running)
        return;
    const auto now = m_reactor.now();
    ShellCommand &command = *m_command;
    // Completion wins over every limit: perhaps its record has just not been read yet. It answers what is left open then.
    if (command.request.hardTimeout && !command.hardLimitHit && !command.killed
        && now >= command.startedAt + seconds(*command.request.hardTimeout)) {
        command.hardLimitHit = true;
        hardStep(0);
    } else if (!command.idleVerdict && now >= command.lastOutputAt + seconds(double(command.idleLimit))) {
        command.idleVerdict = true;
        answerExec(wire::shell_status::noChangeTimeout, std::nullopt);
        wakeWaiters();
    } else if (command.reply && command.request.timeout && now >= command.startedAt + seconds(*command.request.timeout)) {
        answerExec(wire::shell_status::running, std::nullopt);
    }
    armTimers();
}

void ShellSession::setIdleLimit(qint64 limit)
{
    touch();
    m_options.idleLimit = limit;
    if (!commandActive())
        return;
    m_command->idleLimit = limit;
    armTimers();
}

// ---- kills (§2.6, §2.13) -------------------------------------------------------------------------------------------

void ShellSession::kill(KillDone done)
{
    touch();
    if (!commandActive()) {
        done({wire::shell_status::completed, m_command ? m_command->exitCode : std::nullopt});
        return;
    }
    m_kills.push_back(std::move(done));
    const bool first = !m_command->killed;
    m_command->killed = true;
    if (first)
        killStep(0);
}

void ShellSession::killStep(int step)
{
    if (!commandActive())
        return;
    constexpr int steps = 10;
    // SIGINT, 300 ms, SIGTERM, 1 s, SIGKILL, and again every 200 ms for what a loop starts anew; 3 s in all.
    m_shell->signalForeground(step == 0 ? SIGINT : step == 1 ? SIGTERM : SIGKILL, reachOf(step));
    sendProbe();
    if (step == steps) {
        const auto self = shared_from_this();
        answerExec(wire::shell_status::terminated, std::nullopt);
        killsDone(wire::shell_status::terminated);
        return;
    }
    const auto delay = step == 0 ? 300ms : step == 1 ? 1000ms : 200ms;
    m_ladder.start(delay, [this, step] { killStep(step + 1); });
}

void ShellSession::killsDone(const QString &status)
{
    const auto kills = std::exchange(m_kills, {});
    for (const KillDone &done : kills)
        done({status, status == wire::shell_status::completed ? m_command->exitCode : std::nullopt});
}

void ShellSession::hardStep(int step)
{
    if (!commandActive())
        return;
    constexpr int steps = 10;
    // SIGTERM, 500 ms, SIGKILL, 2 s for the shell to come back; then the session goes.
    if (step == steps) {
        const auto self = shared_from_this();
        m_state = State::Idle;
        finishCommand(wire::shell_status::hardTimeout, std::nullopt);
        close([] {});
        if (onGone)
            onGone();
        return;
    }
    m_shell->signalForeground(step == 0 ? SIGTERM : SIGKILL, reachOf(step));
    sendProbe();
    m_ladder.start(step == 0 ? 500ms : 220ms, [this, step] { hardStep(step + 1); });
}

void ShellSession::sendProbe()
{
    if (m_probe != 0 || m_state == State::Starting || over())
        return;
    m_probe = m_nextSequence++;
    m_shell->sendLine(probeLine(m_probe));
}

void ShellSession::watchForAbort(Clock::duration first)
{
    // An interrupt throws away the rest of the line that would have reported the end. The shell then waits at its prompt,
    // which shows in what its descriptor 0 is. Looked at only while something runs and the shell itself is in front.
    m_abortWatch.start(first, [this] {
        if (!commandActive() && m_state != State::Editing)
            return;
        if (m_shell->shellInFront() && stdinIsSocket(m_shell->pid())) {
            // Still no answer to the last one: an interrupt took that line away as well.
            if (m_probe != 0 && m_probeSeenWaiting)
                m_probe = 0;
            m_probeSeenWaiting = m_probe != 0;
            sendProbe();
        } else if (m_interrupted && m_state != State::Running) {
            m_shell->killForeground();
        }
        watchForAbort(abortLook);
    });
}

// ---- observers -----------------------------------------------------------------------------------------------------

ShellSession::ObserverId ShellSession::observe(Observer observer)
{
    m_observers.emplace_back(m_nextObserver, std::move(observer));
    return m_nextObserver++;
}

void ShellSession::stopObserving(ObserverId id)
{
    std::erase_if(m_observers, [id](const auto &entry) { return entry.first == id; });
    m_viewerSizes.erase(id);
}

void ShellSession::setViewerSize(ObserverId id, int columns, int rows)
{
    m_viewerSizes[id] = {columns, rows};
    for (const auto &[viewer, size] : m_viewerSizes) {
        columns = std::min(columns, size.first);
        rows = std::min(rows, size.second);
    }
    resize(columns, rows);
}

void ShellSession::resize(int columns, int rows)
{
    if (!over())
        m_shell->resize(columns, rows);
}

void ShellSession::notifyOver(bool shellExited)
{
    const auto observers = std::exchange(m_observers, {});
    for (const auto &[id, observer] : observers)
        observer.over(shellExited);
}

// ---- the end -------------------------------------------------------------------------------------------------------

void ShellSession::failQueue(ExecOutcome::Kind kind)
{
    auto queue = std::exchange(m_queue, {});
    for (Queued &queued : queue) {
        queued.patience->stop();
        queued.done({kind, {}, {}});
    }
}

void ShellSession::onEnded(int)
{
    const auto self = shared_from_this();
    if (over())
        return;
    if (m_state == State::Starting) {
        startFailed(QStringLiteral("the shell ended while it started"));
        if (onGone)
            onGone();
        return;
    }
    const bool active = commandActive();
    m_state = State::Gone;
    m_editorTimer.stop();
    if (active)
        finishCommand(m_command->hardLimitHit && !m_command->killed ? wire::shell_status::hardTimeout : wire::shell_status::terminated,
                      std::nullopt);
    wakeWaiters();
    failQueue(ExecOutcome::Kind::Lost);
    notifyOver(true);
    if (onGone)
        onGone();
}

void ShellSession::close(std::function<void()> done)
{
    const auto self = shared_from_this();
    if (m_state == State::Gone) {
        done();
        return;
    }
    m_closes.push_back(std::move(done));
    if (m_state == State::Closing)
        return;
    const bool active = commandActive();
    m_state = State::Closing;
    m_editorTimer.stop();
    if (auto started = std::exchange(m_startDone, nullptr))
        started(fail(ErrorCode::FailedPrecondition, QStringLiteral("Session was removed during creation")));
    if (active)
        finishCommand(wire::shell_status::terminated, std::nullopt);
    wakeWaiters();
    failQueue(ExecOutcome::Kind::Lost);
    notifyOver(false);
    m_timer.stop();
    m_abortWatch.stop();
    closeStep(0);
}

void ShellSession::closeStep(int step)
{
    constexpr int killAt = 50;   // steps of 20 ms: after 1 s
    constexpr int giveUpAt = 180;
    const auto members = m_shell->pid() > 0 ? processesOfSession(m_shell->pid()) : std::vector<pid_t>();
    if ((members.empty() && !m_shell->alive()) || step >= giveUpAt) {
        m_state = State::Gone;
        for (const auto &done : std::exchange(m_closes, {}))
            done();
        return;
    }
    if (step == 0 || step >= killAt) {
        for (const pid_t pid : members) {
            ::kill(pid, step == 0 ? SIGHUP : SIGKILL);
            ::kill(pid, SIGCONT);
        }
    }
    m_ladder.start(step == 0 ? 3ms : 20ms, [this, self = shared_from_this(), step] { closeStep(step + 1); });
}

} // namespace paddock::sandboxd
