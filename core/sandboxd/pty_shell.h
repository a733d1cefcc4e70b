// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/error.h"
#include "core/sandboxd/reactor.h"
#include "core/sandboxd/shell_protocol.h"
#include "core/sandboxd/spawn.h"
#include "core/sandboxd/unique_fd.h"

#include <QByteArray>

#include <functional>
#include <vector>

namespace paddock::sandboxd {

/// The process side of a session: an interactive bash, its terminal and its private channel. Knows nothing of commands.
/// Owner: ShellSession; reactor's thread. Nothing it calls may destroy it; use the reactor to do that later.
class PtyShell
{
public:
    struct Events {
        std::function<void(QByteArrayView)> output;             ///< raw terminal bytes, in order
        std::function<void(const ShellRecord &)> record;        ///< the shell waits for go() after each
        std::function<void(int waitStatus)> ended;              ///< the shell is gone and its last output was delivered
    };
    PtyShell(Reactor &reactor, ChildReaper &reaper, Events events);
    ~PtyShell();

    Result<void> start(const QList<QByteArray> &environment, const QByteArray &directory);
    /// Sends one line of the protocol.
    void sendLine(const QByteArray &line) { sendToChannel(line); }
    void go(const char *answer = channelGo) { sendToChannel(answer); }
    /// Types into the terminal; buffered up to a limit while the terminal does not take it. False: over the limit.
    bool type(const QByteArray &bytes);
    /// Whether something typed has been read by nothing yet. Only while the shell waits for go(): it holds the terminal's modes.
    bool inputWaits() const;
    void discardInput();
    /// Reads the terminal dry: everything written before this call is delivered before it returns.
    void drain();
    void setEcho(bool on);
    void resize(int columns, int rows);

    pid_t pid() const { return m_pid; }
    bool alive() const { return m_pid > 0 && !m_ended; }
    const QByteArray &terminal() const { return m_terminal; }
    /// Process group in front; 0 when unknown.
    pid_t foregroundGroup() const;
    bool shellInFront() const { return foregroundGroup() == m_pid; }
    /// A command begins: what is started from here on is its.
    void markCommand();
    /// Whom a signal reaches besides the shell when no program is in front.
    enum class Reach {
        Substitutions, ///< what the command runs in the shell's own group, for its text
        Command,       ///< everything the command has started, its background jobs too
    };
    /// What runs in front gets `signal`; the shell gives up the rest of a list or loop.
    void signalForeground(int signal, Reach reach);
    /// Ends whatever is in front besides the shell, which is at its prompt.
    void killForeground();
    /// The same, and what an interrupted command left in the shell's own group. Background jobs go on.
    void killLeftovers();

private:
    std::vector<pid_t> startedByCommand(Reach reach) const;
    bool openTerminal(QString *why);
    UniqueFd openShellSide() const;
    void onTerminal(std::uint32_t events);
    qint64 readTerminal(int rounds);
    void onChannel();
    void sendToChannel(const QByteArray &bytes);
    void flushChannel();
    void flushTyped();
    void onExit(int waitStatus);
    void updateTerminalWatch();

    Reactor &m_reactor;
    ChildReaper &m_reaper;
    Events m_events;
    UniqueFd m_master;
    UniqueFd m_channel;
    QByteArray m_terminal;
    RecordReader m_records;
    QByteArray m_channelOut;
    QByteArray m_typed;
    pid_t m_pid = -1;
    std::uint64_t m_commandSince = 0; ///< ticksSinceBoot()
    bool m_channelWaits = false; ///< for room to send
    bool m_ended = false;
    bool m_hungUp = false;
    std::shared_ptr<int> m_life = std::make_shared<int>(0);
};

} // namespace paddock::sandboxd
