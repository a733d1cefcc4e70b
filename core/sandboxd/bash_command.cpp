// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandboxd/bash_command.h"

#include "core/base/ids.h"
#include "core/base/text.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

namespace paddock::sandboxd {

using namespace std::chrono_literals;

namespace {

constexpr qint64 keptBytes = 16 * 1024 * 1024; // §3.3, per stream
constexpr qint64 headBytes = 256 * 1024;
constexpr qint64 replyBytes = 1024 * 1024;
constexpr qsizetype maxInputBytes = 4 * 1024 * 1024;
constexpr qsizetype argumentBytes = 100 * 1024; // the kernel takes 128 KiB a piece
constexpr auto pipeGrace = 500ms;               // §3.2: a background child may hold the pipes
constexpr auto killGrace = 2s;
constexpr int roundsPerTurn = 16;

std::chrono::milliseconds milliseconds(double seconds)
{
    return std::chrono::milliseconds(qint64(std::min(seconds, 1e9) * 1000));
}

bool isContinuation(char c)
{
    return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

} // namespace

// ---- StreamLog -----------------------------------------------------------------------------------------------------

StreamLog::StreamLog() : m_ring(keptBytes) {}

void StreamLog::append(QByteArrayView bytes)
{
    if (m_head.size() < headBytes)
        m_head.append(bytes.first(std::min<qsizetype>(bytes.size(), headBytes - m_head.size())));
    m_codePoints += countCodePoints(bytes);
    m_ring.append(bytes);
}

QString StreamLog::text(qint64 limit) const
{
    if (m_ring.begin() == 0)
        return truncateMiddle(QString::fromUtf8(m_ring.all()), limit);
    const QString head = QString::fromUtf8(m_head);
    const qint64 half = limit / 2;
    const QString first = limit > 0 ? firstCodePoints(head, half) : head;
    // The tail is read with room for the longest code points.
    const qint64 tailBytes = limit > 0 ? std::min<qint64>(half * 4 + 4, keptBytes) : keptBytes;
    QByteArray tail = m_ring.mid(m_ring.end() - tailBytes, tailBytes);
    qsizetype skip = 0;
    while (skip < 4 && skip < tail.size() && isContinuation(tail.at(skip)))
        ++skip;
    QString last = QString::fromUtf8(QByteArrayView(tail).sliced(skip));
    if (limit > 0)
        last = lastCodePoints(last, half);
    const qint64 dropped = m_codePoints - codePointCount(first) - codePointCount(last);
    return first + QStringLiteral("\n... [%1 characters truncated] ...\n").arg(std::max<qint64>(dropped, 0)) + last;
}

StreamLog::Slice StreamLog::from(qint64 offset, bool ended) const
{
    if (offset >= m_ring.end())
        return {{}, offset};
    const qint64 start = std::max(offset, m_ring.begin());
    QByteArray bytes = m_ring.mid(start, replyBytes);
    if (!ended || start + bytes.size() < m_ring.end()) {
        // A sequence cut at the end waits for its rest.
        for (qsizetype back = 1; back <= 4 && back <= bytes.size(); ++back) {
            const auto c = static_cast<unsigned char>(bytes.at(bytes.size() - back));
            if (isContinuation(char(c)))
                continue;
            const qsizetype need = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;
            if (need > back)
                bytes.chop(back);
            break;
        }
    }
    return {QString::fromUtf8(bytes), start + bytes.size()};
}

// ---- BashCommand ---------------------------------------------------------------------------------------------------

BashCommand::BashCommand(Reactor &reactor, ChildReaper &reaper, QString sessionId, wire::BashExecRequest request)
    : m_reactor(reactor), m_reaper(reaper), m_sessionId(std::move(sessionId)), m_id(newUuid()), m_request(std::move(request)),
      m_soft(reactor), m_hard(reactor), m_ladder(reactor), m_grace(reactor)
{
}

BashCommand::~BashCommand()
{
    for (UniqueFd *fd : {&m_stdin, &m_stdout, &m_stderr}) {
        if (*fd)
            m_reactor.unwatch(fd->get());
    }
}

QList<QByteArray> BashCommand::arguments(const QString &snapshot) const
{
    QByteArray command = m_request.command.toUtf8();
    if (!snapshot.isEmpty())
        command.prepend(". " + shellQuote(snapshot).toUtf8() + "\n");
    if (command.size() <= argumentBytes)
        return {"/bin/bash", "-c", command};
    // Too long for one argument: in pieces, put together again inside.
    QList<QByteArray> out{"/bin/bash", "-c", "IFS=; __pd_c=\"$*\"; set --; unset IFS; eval \"unset __pd_c\n$__pd_c\"", "bash"};
    for (qsizetype at = 0; at < command.size(); at += argumentBytes)
        out.append(command.mid(at, argumentBytes));
    return out;
}

Result<void> BashCommand::start(const QList<QByteArray> &environment, const QByteArray &directory, const QString &snapshot)
{
    int in[2], out[2], err[2];
    if (::pipe2(in, O_CLOEXEC) != 0)
        return fail(ErrorCode::ResourceExhausted, QStringLiteral("Cannot open a pipe: too many open files"));
    const UniqueFd childIn(in[0]);
    m_stdin.reset(in[1]);
    if (::pipe2(out, O_CLOEXEC) != 0)
        return fail(ErrorCode::ResourceExhausted, QStringLiteral("Cannot open a pipe: too many open files"));
    const UniqueFd childOut(out[1]);
    m_stdout.reset(out[0]);
    if (::pipe2(err, O_CLOEXEC) != 0)
        return fail(ErrorCode::ResourceExhausted, QStringLiteral("Cannot open a pipe: too many open files"));
    const UniqueFd childErr(err[1]);
    m_stderr.reset(err[0]);
    for (const UniqueFd *fd : {&m_stdin, &m_stdout, &m_stderr})
        ::fcntl(fd->get(), F_SETFL, O_NONBLOCK);
    ::fcntl(m_stdout.get(), F_SETPIPE_SZ, 1024 * 1024);

    SpawnRequest request;
    request.argv = arguments(snapshot);
    request.environment = environment;
    for (const auto &[name, value] : m_request.env) {
        const QByteArray prefix = name.toUtf8() + '=';
        request.environment.removeIf([&](const QByteArray &entry) { return entry.startsWith(prefix); });
        request.environment.append(prefix + value.toUtf8());
    }
    m_request.env.clear();
    request.workingDir = directory;
    request.standardInput = childIn.get();
    request.standardOutput = childOut.get();
    request.standardError = childErr.get();
    const auto pid = spawnProcess(request);
    if (!pid)
        return fail(pid.error());
    m_pid = *pid;
    m_reaper.expect(m_pid, [weak = weak_from_this()](int status) {
        if (const auto self = weak.lock())
            self->onExit(status);
    });
    m_reactor.watch(m_stdout.get(), EPOLLIN, [this](std::uint32_t events) { readPipe(m_stdout, m_out, events); });
    m_reactor.watch(m_stderr.get(), EPOLLIN, [this](std::uint32_t events) { readPipe(m_stderr, m_err, events); });
    if (m_request.hardTimeout) {
        m_hard.start(milliseconds(*m_request.hardTimeout), [this] {
            m_timedOut = true;
            killLadder(false);
        });
    }
    return {};
}

void BashCommand::answerWhenDone(ExecDone done)
{
    if (m_request.asyncMode || !running()) {
        done(result(m_request.maxOutputLength));
        return;
    }
    m_reply = std::move(done);
    if (m_request.timeout) {
        m_soft.start(milliseconds(*m_request.timeout), [this] {
            if (auto reply = std::exchange(m_reply, nullptr))
                reply(result(m_request.maxOutputLength));
        });
    }
}

wire::BashExecResult BashCommand::result(qint64 limit) const
{
    wire::BashExecResult out;
    out.sessionId = m_sessionId;
    out.commandId = m_id;
    out.command = m_request.command;
    out.status = m_status;
    out.standardOutput = m_out.text(limit);
    out.standardError = m_err.text(limit);
    out.exitCode = m_exitCode;
    out.offset = m_out.end();
    out.stderrOffset = m_err.end();
    return out;
}

void BashCommand::readPipe(UniqueFd &pipe, StreamLog &log, std::uint32_t)
{
    const auto self = shared_from_this();
    char buffer[65536];
    bool news = false;
    for (int round = 0; round < roundsPerTurn && pipe; ++round) {
        const ssize_t count = ::read(pipe.get(), buffer, sizeof buffer);
        if (count > 0) {
            log.append(QByteArrayView(buffer, count));
            news = true;
            continue;
        }
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0 && errno == EAGAIN)
            break;
        m_reactor.unwatch(pipe.get());
        pipe.reset();
    }
    if (news)
        wakeReaders();
    if (!pipe)
        tryComplete(false);
}

Result<void> BashCommand::write(const QByteArray &bytes)
{
    if (!running() || !m_stdin)
        return fail(ErrorCode::FailedPrecondition, QStringLiteral("No running command"));
    if (m_input.size() + bytes.size() > maxInputBytes)
        return fail(ErrorCode::ResourceExhausted, QStringLiteral("The command does not read its input"));
    m_input += bytes;
    flushInput();
    return {};
}

void BashCommand::flushInput()
{
    while (!m_input.isEmpty() && m_stdin) {
        const ssize_t count = ::write(m_stdin.get(), m_input.constData(), size_t(m_input.size()));
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0 && errno == EAGAIN) {
            m_reactor.watch(m_stdin.get(), EPOLLOUT, [this](std::uint32_t) { flushInput(); });
            return;
        }
        if (count < 0) {
            m_input.clear();
            m_reactor.unwatch(m_stdin.get());
            m_stdin.reset();
            return;
        }
        m_input.remove(0, count);
    }
    if (m_stdin)
        m_reactor.unwatch(m_stdin.get());
}

// ---- end -----------------------------------------------------------------------------------------------------------

void BashCommand::signal(int number)
{
    if (m_pid <= 0 || !running())
        return;
    m_killRequested = true;
    ::kill(-m_pid, number);
    ::kill(-m_pid, SIGCONT);
}

void BashCommand::terminate()
{
    if (!running())
        return;
    m_killRequested = true;
    killLadder(false);
}

void BashCommand::killLadder(bool hard)
{
    ::kill(-m_pid, hard ? SIGKILL : SIGTERM);
    ::kill(-m_pid, SIGCONT);
    if (!hard)
        m_ladder.start(killGrace, [this] { killLadder(true); });
}

void BashCommand::onExit(int waitStatus)
{
    m_exited = true;
    m_waitStatus = waitStatus;
    if (m_timedOut || m_killRequested)
        ::kill(-m_pid, SIGKILL); // whoever of the group outlived the first signal
    m_grace.start(pipeGrace, [this] { tryComplete(true); });
    tryComplete(false);
}

void BashCommand::tryComplete(bool force)
{
    if (m_exited && running() && (force || (!m_stdout && !m_stderr)))
        finish();
}

void BashCommand::finish()
{
    const auto self = shared_from_this();
    m_soft.stop();
    m_hard.stop();
    m_ladder.stop();
    m_grace.stop();
    if (m_stdin) {
        m_reactor.unwatch(m_stdin.get());
        m_stdin.reset();
    }
    const bool signalled = WIFSIGNALED(m_waitStatus);
    if (m_timedOut) {
        m_status = wire::bash_status::timedOut;
    } else if (m_killRequested && signalled) {
        m_status = wire::bash_status::killed;
    } else {
        m_status = wire::bash_status::completed;
        m_exitCode = signalled ? 128 + WTERMSIG(m_waitStatus) : WEXITSTATUS(m_waitStatus);
    }
    if (auto reply = std::exchange(m_reply, nullptr))
        reply(result(m_request.maxOutputLength));
    wakeReaders();
    if (onEnded)
        onEnded();
}

// ---- output --------------------------------------------------------------------------------------------------------

wire::BashOutputResult BashCommand::slice(const wire::BashOutputRequest &request) const
{
    wire::BashOutputResult out;
    out.sessionId = m_sessionId;
    const auto first = m_out.from(request.offset, !running());
    const auto second = m_err.from(request.stderrOffset, !running());
    out.standardOutput = first.text;
    out.standardError = second.text;
    out.offset = first.offset;
    out.stderrOffset = second.offset;
    out.command = wire::BashCommandState{m_id, m_request.command, m_status, m_exitCode};
    return out;
}

bool BashCommand::hasNews(const wire::BashOutputRequest &request) const
{
    if (!running())
        return true;
    return m_out.from(request.offset, false).offset > request.offset || m_err.from(request.stderrOffset, false).offset > request.stderrOffset;
}

void BashCommand::output(const wire::BashOutputRequest &request, OutputDone done)
{
    constexpr double maxWait = 120; // §3.3
    const double seconds = std::clamp(request.waitTimeout, 0.0, maxWait);
    if (!request.wait || seconds <= 0 || hasNews(request)) {
        done(slice(request));
        return;
    }
    auto reader = std::make_shared<Reader>(Reader{request, std::move(done), std::make_unique<Timer>(m_reactor)});
    m_readers.push_back(reader);
    reader->limit->start(milliseconds(seconds), [this, weak = std::weak_ptr(reader)] {
        const auto late = weak.lock();
        m_readers.remove(late);
        late->done(slice(late->request));
        m_reactor.post([late] {}); // it owns the timer that is calling
    });
}

void BashCommand::wakeReaders()
{
    for (auto it = m_readers.begin(); it != m_readers.end();) {
        if (!hasNews((*it)->request)) {
            ++it;
            continue;
        }
        const auto reader = *it;
        it = m_readers.erase(it);
        reader->limit->stop();
        reader->done(slice(reader->request));
    }
}

} // namespace paddock::sandboxd
