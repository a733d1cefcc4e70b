// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandboxd/pty_shell.h"

#include "core/sandboxd/process_tree.h"

#include <fcntl.h>
#include <pty.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

namespace paddock::sandboxd {

namespace {

constexpr int defaultColumns = 120; // §2.13
constexpr int defaultRows = 40;
constexpr size_t readSize = 65536;
constexpr int roundsPerTurn = 64;   // a flooding terminal must not keep others waiting
constexpr int roundsPerDrain = 256; // more than the kernel buffers for one terminal
constexpr qsizetype maxTypedBytes = 1024 * 1024;

} // namespace

PtyShell::PtyShell(Reactor &reactor, ChildReaper &reaper, Events events)
    : m_reactor(reactor), m_reaper(reaper), m_events(std::move(events))
{
}

PtyShell::~PtyShell()
{
    if (m_master)
        m_reactor.unwatch(m_master.get());
    if (m_channel)
        m_reactor.unwatch(m_channel.get());
}

bool PtyShell::openTerminal(QString *why)
{
    m_master.reset(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
    char name[128];
    if (!m_master || ::grantpt(m_master.get()) != 0 || ::unlockpt(m_master.get()) != 0
        || ::ptsname_r(m_master.get(), name, sizeof name) != 0) {
        *why = QString::fromLocal8Bit(std::strerror(errno));
        return false;
    }
    m_terminal = name;
    resize(defaultColumns, defaultRows);
    setEcho(false);
    return true;
}

Result<void> PtyShell::start(const QList<QByteArray> &environment, const QByteArray &directory)
{
    QString why;
    if (!openTerminal(&why))
        return fail(ErrorCode::ResourceExhausted, QStringLiteral("Cannot open a terminal: %1").arg(why));
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return fail(ErrorCode::ResourceExhausted, QStringLiteral("Cannot open a channel: %1").arg(QString::fromLocal8Bit(std::strerror(errno))));
    m_channel.reset(ends[0]);
    const UniqueFd childEnd(ends[1]);
    ::fcntl(m_channel.get(), F_SETFL, O_NONBLOCK);
    SpawnRequest request;
    request.argv = {"bash", "--noprofile", "--norc", "--noediting", "-i"};
    request.file = "/bin/bash";
    request.environment = environment;
    request.environment.append({"PS1=", "PS2="}); // no prompt before ours is set
    request.workingDir = directory;
    request.standardInput = childEnd.get();
    request.terminal = m_terminal;
    request.newSession = true;
    const auto pid = spawnProcess(request);
    if (!pid)
        return fail(pid.error());
    m_pid = *pid;
    m_reaper.expect(m_pid, [this, life = std::weak_ptr(m_life)](int status) {
        if (!life.expired())
            onExit(status);
    });
    m_reactor.watch(m_channel.get(), EPOLLIN, [this](std::uint32_t events) {
        if (events & EPOLLOUT)
            flushChannel();
        if (events & (EPOLLIN | EPOLLHUP | EPOLLERR))
            onChannel();
    });
    m_reactor.watch(m_master.get(), EPOLLIN, [this](std::uint32_t events) { onTerminal(events); });
    sendLine(startLine(m_terminal));
    return {};
}

// ---- terminal ------------------------------------------------------------------------------------------------------

qint64 PtyShell::readTerminal(int rounds)
{
    char buffer[readSize];
    qint64 total = 0;
    while (rounds-- > 0 && m_master) {
        const ssize_t count = ::read(m_master.get(), buffer, sizeof buffer);
        if (count > 0) {
            total += count;
            m_events.output(QByteArrayView(buffer, count));
            continue;
        }
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0 && errno == EIO && !m_hungUp) {
            // Nobody has the terminal open: either the end, or a shell that is just being started again by exec.
            m_hungUp = true;
            updateTerminalWatch();
        }
        break;
    }
    return total;
}

void PtyShell::onTerminal(std::uint32_t events)
{
    if (events & EPOLLOUT)
        flushTyped();
    if (events & (EPOLLIN | EPOLLHUP | EPOLLERR))
        readTerminal(roundsPerTurn);
}

void PtyShell::drain()
{
    readTerminal(roundsPerDrain);
}

void PtyShell::updateTerminalWatch()
{
    if (!m_master)
        return;
    if (m_hungUp) {
        m_reactor.unwatch(m_master.get()); // a hung-up terminal is readable for ever
        return;
    }
    m_reactor.modify(m_master.get(), EPOLLIN | (m_typed.isEmpty() ? 0U : unsigned(EPOLLOUT)));
}

bool PtyShell::type(const QByteArray &bytes)
{
    if (m_typed.size() + bytes.size() > maxTypedBytes)
        return false;
    m_typed += bytes;
    flushTyped();
    return true;
}

UniqueFd PtyShell::openShellSide() const
{
    return UniqueFd(::open(m_terminal.constData(), O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
}

bool PtyShell::inputWaits() const
{
    if (!m_typed.isEmpty())
        return true;
    const UniqueFd side = openShellSide();
    termios settings;
    if (!side || ::tcgetattr(side.get(), &settings) != 0)
        return false;
    termios bare = settings;
    bare.c_lflag &= ~tcflag_t(ICANON); // else half a line does not count
    ::tcsetattr(side.get(), TCSANOW, &bare);
    int waiting = 0;
    ::ioctl(side.get(), FIONREAD, &waiting);
    ::tcsetattr(side.get(), TCSANOW, &settings);
    return waiting > 0;
}

void PtyShell::discardInput()
{
    m_typed.clear();
    updateTerminalWatch();
    if (const UniqueFd side = openShellSide())
        ::tcflush(side.get(), TCIFLUSH);
}

void PtyShell::flushTyped()
{
    const bool wasWaiting = !m_typed.isEmpty();
    while (!m_typed.isEmpty() && m_master) {
        const ssize_t count = ::write(m_master.get(), m_typed.constData(), size_t(m_typed.size()));
        if (count <= 0)
            break;
        m_typed.remove(0, count);
    }
    if (wasWaiting && !m_hungUp)
        updateTerminalWatch();
}

void PtyShell::setEcho(bool on)
{
    termios settings;
    if (::tcgetattr(m_master.get(), &settings) != 0)
        return;
    const tcflag_t wanted = on ? settings.c_lflag | ECHO : settings.c_lflag & ~tcflag_t(ECHO);
    if (wanted == settings.c_lflag)
        return;
    settings.c_lflag = wanted;
    ::tcsetattr(m_master.get(), TCSANOW, &settings);
}

void PtyShell::resize(int columns, int rows)
{
    winsize size{};
    size.ws_col = static_cast<unsigned short>(columns);
    size.ws_row = static_cast<unsigned short>(rows);
    ::ioctl(m_master.get(), TIOCSWINSZ, &size);
}

pid_t PtyShell::foregroundGroup() const
{
    const pid_t group = m_master ? ::tcgetpgrp(m_master.get()) : -1;
    return group > 0 ? group : 0;
}

void PtyShell::markCommand()
{
    m_commandSince = ticksSinceBoot();
}

std::vector<pid_t> PtyShell::startedByCommand(Reach reach) const
{
    std::vector<pid_t> out;
    for (const ProcessFacts &facts : allProcesses()) {
        // Older ones belong to the session: exec 3< <(tail -f log).
        if (facts.session == m_pid && facts.pid != m_pid && facts.startedAt >= m_commandSince
            && (facts.group == m_pid || reach == Reach::Command))
            out.push_back(facts.pid);
    }
    return out;
}

void PtyShell::signalForeground(int signal, Reach reach)
{
    if (!alive())
        return;
    const pid_t group = foregroundGroup();
    // A program that dies of an interrupt makes bash give up the list by itself; one more interrupt would hit the next
    // command. With other signals bash must know before its child's end lets it go on with the list.
    const bool programInFront = group > 0 && group != m_pid;
    if (!programInFront || signal != SIGINT)
        ::kill(m_pid, SIGINT);
    if (programInFront) {
        ::kill(-group, signal);
        ::kill(-group, SIGCONT);
        return;
    }
    // The shell heeds no signal while it waits for the text of a substitution, or for a pipeline that an interrupt met half
    // started: that one took the terminal back from the programs started after it.
    for (const pid_t pid : startedByCommand(reach)) {
        ::kill(pid, signal);
        ::kill(pid, SIGCONT);
    }
}

void PtyShell::killForeground()
{
    const pid_t group = foregroundGroup();
    if (alive() && group > 0 && group != m_pid)
        ::kill(-group, SIGKILL);
}

void PtyShell::killLeftovers()
{
    if (!alive())
        return;
    killForeground();
    // Bash may have forked the process of a substitution just before the interrupt, and forgotten it.
    for (const pid_t pid : startedByCommand(Reach::Substitutions))
        ::kill(pid, SIGKILL);
}

// ---- channel -------------------------------------------------------------------------------------------------------

void PtyShell::onChannel()
{
    char buffer[readSize];
    while (m_channel) {
        const ssize_t count = ::read(m_channel.get(), buffer, sizeof buffer);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0 && errno == EAGAIN)
            return;
        if (count <= 0) {
            // The shell closed it: it ended, or was replaced by exec. Its exit status tells which.
            m_reactor.unwatch(m_channel.get());
            m_channel.reset();
            return;
        }
        const auto records = m_records.feed(QByteArrayView(buffer, count));
        if (!records) {
            m_reactor.unwatch(m_channel.get());
            m_channel.reset();
            return;
        }
        for (const ShellRecord &record : *records)
            m_events.record(record);
        if (size_t(count) < sizeof buffer)
            return;
    }
}

void PtyShell::sendToChannel(const QByteArray &bytes)
{
    m_channelOut += bytes;
    flushChannel();
}

void PtyShell::flushChannel()
{
    if (!m_channel)
        return;
    bool waits = false;
    while (!m_channelOut.isEmpty()) {
        const ssize_t count = ::send(m_channel.get(), m_channelOut.constData(), size_t(m_channelOut.size()), MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0) {
            waits = errno == EAGAIN;
            break;
        }
        m_channelOut.remove(0, count);
    }
    if (waits != m_channelWaits) {
        m_channelWaits = waits;
        m_reactor.modify(m_channel.get(), EPOLLIN | (waits ? unsigned(EPOLLOUT) : 0U));
    }
}

void PtyShell::onExit(int waitStatus)
{
    drain();
    m_ended = true;
    if (!m_hungUp && m_master) {
        // Background jobs may still hold the terminal; nobody reads them any more.
        m_hungUp = true;
        updateTerminalWatch();
    }
    m_events.ended(waitStatus);
}

} // namespace paddock::sandboxd
