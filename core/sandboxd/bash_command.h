// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/sandboxd/output_buffer.h"
#include "core/sandboxd/reactor.h"
#include "core/sandboxd/spawn.h"
#include "core/wire/bash_api.h"

#include <functional>
#include <list>
#include <memory>
#include <vector>

namespace paddock::sandboxd {

/// What one pipe of a command produced: the head, and the last 16 MiB by absolute offset (aio-api.md §3.3).
class StreamLog
{
public:
    StreamLog();
    void append(QByteArrayView bytes);
    qint64 end() const { return m_ring.end(); }
    /// The whole as text, its middle cut to `limit` characters (0 = off).
    QString text(qint64 limit) const;
    struct Slice {
        QString text;
        qint64 offset = 0; ///< where the next read goes on
    };
    /// From an offset on, at most 1 MiB; never splits a code point unless the stream has ended.
    Slice from(qint64 offset, bool ended) const;

private:
    QByteArray m_head;
    ByteRing m_ring;
    qint64 m_codePoints = 0;
};

/// One process of the bash group: `bash -c` with pipes, its timers and its waiting readers.
/// Owner: BashTable (shared); reactor's thread.
class BashCommand : public std::enable_shared_from_this<BashCommand>
{
public:
    using ExecDone = std::function<void(wire::BashExecResult)>;
    using OutputDone = std::function<void(wire::BashOutputResult)>;

    BashCommand(Reactor &reactor, ChildReaper &reaper, QString sessionId, wire::BashExecRequest request);
    ~BashCommand();

    /// `snapshot` is a script sourced first; empty for none.
    Result<void> start(const QList<QByteArray> &environment, const QByteArray &directory, const QString &snapshot);
    void answerWhenDone(ExecDone done);
    void output(const wire::BashOutputRequest &request, OutputDone done);
    Result<void> write(const QByteArray &bytes);
    void signal(int number);
    /// TERM, 2 s, KILL; ends as killed.
    void terminate();

    const QString &id() const { return m_id; }
    const QString &text() const { return m_request.command; }
    const QString &status() const { return m_status; }
    bool running() const { return m_status == wire::bash_status::running; }
    pid_t pid() const { return m_pid; }
    wire::BashExecResult result(qint64 limit) const;
    std::function<void()> onEnded;

private:
    struct Reader {
        wire::BashOutputRequest request;
        OutputDone done;
        std::unique_ptr<Timer> limit;
    };
    QList<QByteArray> arguments(const QString &snapshot) const;
    void readPipe(UniqueFd &pipe, StreamLog &log, std::uint32_t events);
    void flushInput();
    void onExit(int waitStatus);
    void tryComplete(bool force);
    void finish();
    void killLadder(bool hard);
    wire::BashOutputResult slice(const wire::BashOutputRequest &request) const;
    bool hasNews(const wire::BashOutputRequest &request) const;
    void wakeReaders();

    Reactor &m_reactor;
    ChildReaper &m_reaper;
    QString m_sessionId;
    QString m_id;
    wire::BashExecRequest m_request; ///< the environment is dropped once the process runs
    QString m_status = QString(wire::bash_status::running);
    std::optional<qint64> m_exitCode;
    pid_t m_pid = -1;
    UniqueFd m_stdin;
    UniqueFd m_stdout;
    UniqueFd m_stderr;
    StreamLog m_out;
    StreamLog m_err;
    QByteArray m_input;
    ExecDone m_reply;
    std::list<std::shared_ptr<Reader>> m_readers;
    bool m_exited = false;
    int m_waitStatus = 0;
    bool m_timedOut = false;
    bool m_killRequested = false;
    Timer m_soft;
    Timer m_hard;
    Timer m_ladder;
    Timer m_grace;
};

} // namespace paddock::sandboxd
