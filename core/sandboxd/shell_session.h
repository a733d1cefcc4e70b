// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/sandboxd/pty_shell.h"
#include "core/sandboxd/shell_command.h"
#include "core/wire/shell_api.h"

#include <deque>
#include <list>
#include <map>
#include <vector>

namespace paddock::sandboxd {

/// One persistent shell (aio-api.md §2): commands in order of arrival, their timers, the scrollback, the people and
/// streams that watch it. Owner: ShellTable (shared, so that a callback can outlive its removal); reactor's thread.
class ShellSession : public std::enable_shared_from_this<ShellSession>
{
public:
    struct Options {
        QString id;
        QByteArray directory;
        QList<QByteArray> environment;
        qint64 idleLimit = 120; ///< seconds without output
        bool keepSymlinks = false;
        bool implicit = false; ///< made by an exec without an id
    };
    /// Watches a session's raw bytes. All calls on the reactor's thread.
    struct Observer {
        std::function<void()> grown;               ///< the ring has more
        std::function<void(bool shellExited)> over; ///< nothing more will come
    };
    using ObserverId = std::uint64_t;
    using WaitDone = std::function<void(QString status)>;
    using KillDone = std::function<void(wire::ShellKillResult)>;
    using StartDone = std::function<void(Result<void>)>;

    ShellSession(Reactor &reactor, ChildReaper &reaper, Options options);
    ~ShellSession();

    /// Called when the shell ended by itself; set by the table.
    std::function<void()> onGone;

    void start(StartDone done);
    void exec(const wire::ShellExecRequest &request, ExecDone done);
    wire::ShellView view() const;
    void wait(double seconds, WaitDone done);
    /// The status to report; an error when the terminal takes no more input.
    Result<QString> write(const QByteArray &bytes);
    void kill(KillDone done);
    void setIdleLimit(qint64 seconds);
    void resize(int columns, int rows);
    /// Ends the session and all its processes; `done` when they are gone.
    void close(std::function<void()> done);

    ObserverId observe(Observer observer);
    void stopObserving(ObserverId id);
    /// Size of one observer's view; the smallest of all is the terminal's (§6).
    void setViewerSize(ObserverId id, int columns, int rows);
    const ByteRing &ring() const { return m_ring; }

    const QString &id() const { return m_options.id; }
    bool implicit() const { return m_options.implicit; }
    bool ready() const { return m_state != State::Starting && !over(); }
    bool over() const { return m_state == State::Closing || m_state == State::Gone; }
    /// A command runs or waits, or the shell still starts.
    bool busy() const;
    bool watched() const { return !m_observers.empty(); }
    QString workingDirectory() const { return m_directory; }
    std::optional<QString> currentCommand() const;
    wire::Timestamp createdAt() const { return m_createdAt; }
    wire::Timestamp lastUsedAt() const { return m_lastUsedAt; }
    Reactor::Clock::time_point lastUse() const { return m_lastUse; }
    std::uint64_t useOrder() const { return m_useOrder; }
    void touch();
    bool usedByRest() const { return m_usedByRest; }

private:
    /// Editing: a person edits a line, nothing runs. Dispatching: sent, not begun.
    enum class State { Starting, Idle, Editing, Dispatching, Running, Closing, Gone };
    struct Queued {
        wire::ShellExecRequest request;
        ExecDone done;
        std::unique_ptr<Timer> patience;
    };
    struct Waiter {
        WaitDone done;
        std::unique_ptr<Timer> limit;
    };

    void onOutput(QByteArrayView bytes);
    void onRecord(const ShellRecord &record);
    void onStarted(const ShellRecord &record);
    void onTyped(const ShellRecord &record);
    void onFinished(const ShellRecord &record);
    void onEnded(int waitStatus);
    void startFailed(const QString &why);
    void sendCommand();
    bool commandActive() const { return m_state == State::Dispatching || m_state == State::Running; }
    void dispatchNext();
    void dispatch(wire::ShellExecRequest request, ExecDone done);
    void beginTyping();
    void releaseTyped();
    void leaveEditor();
    void finishCommand(const QString &status, std::optional<qint64> exitCode);
    void recordCommand();
    void answerExec(const QString &status, std::optional<qint64> exitCode);
    wire::ShellExecResult resultOf(const QString &status, std::optional<qint64> exitCode) const;
    void wakeWaiters();
    void armTimers();
    Reactor::Clock::time_point nextDeadline() const;
    void onTimer();
    void killStep(int step);
    void hardStep(int step);
    void killsDone(const QString &status);
    void stripPrompt();
    void tidyAfterInterrupt();
    void sendProbe();
    void watchForAbort(Reactor::Clock::duration first);
    void appendToRing(QByteArrayView bytes);
    void closeStep(int step);
    void notifyOver(bool shellExited);
    void failQueue(ExecOutcome::Kind kind);
    QString status() const;

    Reactor &m_reactor;
    Options m_options;
    std::unique_ptr<PtyShell> m_shell;
    State m_state = State::Starting;
    StartDone m_startDone;
    std::shared_ptr<ShellCommand> m_command; ///< current or last
    std::deque<Queued> m_queue;
    std::list<std::shared_ptr<Waiter>> m_waiters;
    std::vector<KillDone> m_kills;
    std::vector<std::function<void()>> m_closes;
    std::vector<std::pair<ObserverId, Observer>> m_observers;
    ObserverId m_nextObserver = 1;
    std::map<ObserverId, std::pair<int, int>> m_viewerSizes;
    std::deque<wire::ConsoleRecord> m_console;
    qint64 m_consoleBytes = 0;
    ByteRing m_ring;
    qint64 m_promptFrom = 0; ///< ring offset where the text between commands begins
    QByteArray m_typedAhead; ///< waits until the line editor listens
    bool m_interrupted = false; ///< the last command was; what it left may still be in front
    bool m_inputWaits = false; ///< a command that ended has left input in the terminal
    bool m_editorListens = false;
    std::uint64_t m_editSequence = 0;
    ShellState m_userState;
    std::uint64_t m_nextSequence = 1;
    std::uint64_t m_probe = 0; ///< sequence of the probe not answered yet
    bool m_probeSeenWaiting = false;
    QString m_directory;
    bool m_usedByRest = false;
    wire::Timestamp m_createdAt;
    wire::Timestamp m_lastUsedAt;
    Reactor::Clock::time_point m_lastUse;
    std::uint64_t m_useOrder = 0;
    Timer m_timer;      ///< start limit, then the command's next deadline
    Timer m_ladder;     ///< kill or close steps
    Timer m_abortWatch; ///< looks whether an interrupt threw a command away
    Timer m_editorTimer;
};

} // namespace paddock::sandboxd
