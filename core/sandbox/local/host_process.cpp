// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/local/host_process.h"

#include "core/base/completion.h"
#include "core/sandbox/local/host_child.h"
#include "core/sandbox/unique_fd.h"

#include <QElapsedTimer>
#include <QFileInfo>
#include <QLoggingCategory>
#include <QPointer>
#include <QSocketNotifier>
#include <QStandardPaths>
#include <QTimer>

#include <cerrno>
#include <future>
#include <map>
#include <thread>
#include <unistd.h>

namespace paddock {

namespace {

Q_LOGGING_CATEGORY(lcLocal, "paddock.sandbox.local")

constexpr qsizetype readChunk = 64 * 1024;
constexpr int readsPerTurn = 64; ///< then the other pipes get their turn

/// One end of a pipe: keeps a bounded prefix, counts and drops the rest.
struct Capture {
    UniqueFd fd;
    std::unique_ptr<QSocketNotifier> notifier;
    QByteArray kept;
    qint64 total = 0;

    bool isOpen() const { return bool(fd); }
    void close()
    {
        notifier->setEnabled(false);
        notifier.release()->deleteLater(); // we may be inside its signal
        fd.reset();
    }
    /// False at the end of the stream.
    bool readSome(QByteArray &buffer, bool keep)
    {
        for (int i = 0; i < readsPerTurn; ++i) {
            const ssize_t n = ::read(fd.get(), buffer.data(), size_t(buffer.size()));
            if (n < 0 && errno == EINTR)
                continue;
            if (n < 0 && errno == EAGAIN)
                return true;
            if (n <= 0)
                return false;
            total += n;
            if (keep && kept.size() < HostProcesses::keptBytes)
                kept.append(buffer.constData(), std::min<qsizetype>(n, HostProcesses::keptBytes - kept.size()));
        }
        return true;
    }
};

} // namespace

/// One command, from fork until its last pipe closes. Lives on the exec loop.
class HostJob : public QObject
{
public:
    using Done = Completion<Result<HostCommandResult>>;

    HostJob(HostChild child, std::chrono::milliseconds timeout, LoopRef loop, Done done, std::function<void()> finished)
        : m_pid(child.pid), m_done(std::move(done)), m_finished(std::move(finished)), m_buffer(readChunk, Qt::Uninitialized)
    {
        m_out.fd = std::move(child.out);
        m_err.fd = std::move(child.err);
        watch(m_out);
        watch(m_err);
        m_timer.setSingleShot(true);
        connect(&m_timer, &QTimer::timeout, this, &HostJob::onTimer);
        m_timer.start(timeout);
        // The waiter leaves the child as a zombie: its pid, which is the group's id, cannot be given away before reap().
        m_waiter = std::thread([pid = m_pid, loop, self = QPointer<HostJob>(this)] {
            waitForExit(pid);
            loop.post([self] {
                if (self)
                    self->onExit();
            });
        });
    }

    ~HostJob() override
    {
        if (!m_exited)
            killGroup(m_pid);
        if (m_waiter.joinable())
            m_waiter.join();
        if (!m_reaped) {
            killGroup(m_pid); // nobody but us can hold this number: the zombie keeps it
            reapChild(m_pid);
        }
        if (!m_answered)
            m_done.complete(fail(ErrorCode::FailedPrecondition, QStringLiteral("The local sandbox was closed.")));
    }

    void cancel()
    {
        if (m_exited || m_timedOut)
            return;
        m_cancelled = true;
        endGroup();
    }
    void end()
    {
        if (!m_exited)
            cancel();
        else if (!m_reaped) // afterwards the number may be somebody else's
            killGroup(m_pid);
    }
    bool isRunning() const { return !m_answered; }
    pid_t pid() const { return m_pid; }
    /// A background group of a finished command: gone when no other process is in it.
    bool tryReap()
    {
        if (!m_exited || m_reaped || groupHasOthers(m_pid))
            return m_reaped;
        reapChild(m_pid);
        m_reaped = true;
        return true;
    }
    bool isOver() const { return m_reaped && m_answered && !m_out.isOpen() && !m_err.isOpen(); }

private:
    void watch(Capture &capture)
    {
        capture.notifier = std::make_unique<QSocketNotifier>(capture.fd.get(), QSocketNotifier::Read);
        connect(capture.notifier.get(), &QSocketNotifier::activated, this, [this, &capture] {
            if (!capture.readSome(m_buffer, !m_answered)) {
                capture.close();
                check();
            } else if (m_groupGone && m_sinceExit.isValid()
                       && std::chrono::milliseconds(m_sinceExit.elapsed()) < HostProcesses::drainWithoutGroup) {
                m_timer.start(HostProcesses::drainWithGroup); // what the group wrote is still coming
            }
        });
    }

    void endGroup()
    {
        killGroup(m_pid);
        m_timer.start(HostProcesses::reapLimit);
    }

    void onTimer()
    {
        if (m_exited) {
            answer();
        } else if (m_timedOut || m_cancelled) {
            qCWarning(lcLocal, "process %d could not be reaped after SIGKILL", int(m_pid));
            answer();
        } else {
            m_timedOut = true;
            endGroup();
        }
    }

    void onExit()
    {
        m_waiter.join();
        m_exited = true;
        m_exitCode = exitCodeOf(m_pid);
        m_groupGone = tryReap() || m_timedOut || m_cancelled;
        m_sinceExit.start();
        m_timer.start(HostProcesses::drainWithGroup);
        check();
    }

    void check()
    {
        if (!m_exited || m_out.isOpen() || m_err.isOpen())
            return;
        answer();
        m_finished();
    }

    void answer()
    {
        if (m_answered)
            return;
        m_answered = true;
        m_timer.stop();
        m_done.complete(HostCommandResult{std::exchange(m_out.kept, {}), std::exchange(m_err.kept, {}), m_out.total,
                                          m_err.total, m_exitCode, m_timedOut, m_cancelled});
        m_finished();
    }

    const pid_t m_pid;
    Done m_done;
    std::function<void()> m_finished; ///< asks the owner to look whether this job is over
    QByteArray m_buffer;
    Capture m_out;
    Capture m_err;
    QTimer m_timer; ///< time-out, then the reaping limit, then the drain limit
    std::thread m_waiter;
    int m_exitCode = 0;
    bool m_exited = false;
    bool m_reaped = false;
    bool m_groupGone = false;
    QElapsedTimer m_sinceExit;
    bool m_timedOut = false;
    bool m_cancelled = false;
    bool m_answered = false;
};

/// What runs. Touched on the loop only.
struct HostProcesses::State {
    std::map<quint64, std::unique_ptr<HostJob>> jobs;
    quint64 nextJob = 1;
    bool closed = false;

    static void start(const std::shared_ptr<State> &self, LoopRef loop, const HostCommand &command, HostJob::Done done,
                      Completion<quint64> started);
    void sweep();
};

void HostProcesses::State::sweep()
{
    for (auto it = jobs.begin(); it != jobs.end();) {
        it->second->tryReap();
        it = it->second->isOver() ? jobs.erase(it) : std::next(it);
    }
}

void HostProcesses::State::start(const std::shared_ptr<State> &self, LoopRef loop, const HostCommand &command,
                                 HostJob::Done done, Completion<quint64> started)
{
    const auto refuse = [&](const Error &error) {
        done.complete(std::unexpected(error));
        started.complete(quint64(0));
    };
    if (self->closed)
        return refuse(Error{ErrorCode::FailedPrecondition, QStringLiteral("The local sandbox is closed.")});
    self->sweep();
    auto child = spawnHostChild(command.argv, command.env);
    if (!child)
        return refuse(child.error());
    const quint64 id = self->nextJob++;
    const std::weak_ptr<State> weak = self;
    // Queued: a job must not be deleted inside its own call.
    const auto finished = [weak, loop] {
        loop.post([weak] {
            if (const auto state = weak.lock())
                state->sweep();
        });
    };
    self->jobs.emplace(id, std::make_unique<HostJob>(std::move(*child), command.timeout, loop, std::move(done), finished));
    started.complete(id);
}

HostProcesses::HostProcesses()
    : m_loop(std::make_unique<EventLoop>(QStringLiteral("local-exec")))
    , m_state(std::make_shared<State>())
{
}

HostProcesses::~HostProcesses()
{
    // Jobs live on the loop, so they die there.
    const auto gone = std::make_shared<std::promise<void>>();
    const bool posted = m_loop->ref().post([state = m_state, gone] {
        state->closed = true;
        state->jobs.clear();
        gone->set_value();
    });
    if (posted)
        gone->get_future().wait();
}

Task<Result<HostCommandResult>> HostProcesses::run(HostCommand command, std::stop_token stop)
{
    if (stop.stop_requested())
        co_return cancelled();
    const std::shared_ptr<State> state = m_state;
    const LoopRef loop = m_loop->ref();
    HostJob::Done done;
    Completion<quint64> started;
    const bool posted = loop.post([state, loop, command, done, started] {
        State::start(state, loop, command, done, started);
    });
    if (!posted)
        co_return fail(ErrorCode::FailedPrecondition, QStringLiteral("The local sandbox is closed."));
    const quint64 id = co_await started;
    const std::weak_ptr<State> weak = state;
    const std::stop_callback onStop(stop, [weak, loop, id] {
        loop.post([weak, id] {
            const auto alive = weak.lock();
            if (!alive)
                return;
            if (const auto it = alive->jobs.find(id); it != alive->jobs.end())
                it->second->cancel();
        });
    });
    co_return co_await done;
}

void HostProcesses::endAll()
{
    m_loop->ref().post([weak = std::weak_ptr(m_state)] {
        const auto state = weak.lock();
        if (!state)
            return;
        for (const auto &[id, job] : state->jobs)
            job->end();
        state->sweep();
    });
}

Task<int> HostProcesses::livingGroups()
{
    Completion<int> count;
    m_loop->ref().post([weak = std::weak_ptr(m_state), count] {
        const auto state = weak.lock();
        if (state)
            state->sweep();
        count.complete(state ? int(state->jobs.size()) : 0);
    });
    co_return co_await count;
}

Result<QString> findHostShell()
{
    for (const QString &shell : {QStringLiteral("/bin/zsh"), QStringLiteral("/bin/bash"), QStringLiteral("/bin/sh")}) {
        const QFileInfo info(shell);
        if (info.isFile() && info.isExecutable())
            return shell;
    }
    if (const QString onPath = QStandardPaths::findExecutable(QStringLiteral("sh")); !onPath.isEmpty())
        return onPath;
    return fail(ErrorCode::Unavailable, QStringLiteral("No suitable shell executable found. Tried /bin/zsh, /bin/bash, /bin/sh, "
                                                       "and `sh` on PATH."));
}

/// Bytes at the end that begin a character without ending it.
static qsizetype cutCharacterBytes(const QByteArray &bytes)
{
    for (qsizetype back = 1; back <= std::min<qsizetype>(3, bytes.size()); ++back) {
        const uchar c = uchar(bytes.at(bytes.size() - back));
        if ((c & 0xc0) == 0x80)
            continue; // a continuation: the lead byte is further in front
        const qsizetype length = c >= 0xf0 && c < 0xf5 ? 4 : c >= 0xe0 ? 3 : c >= 0xc2 ? 2 : 1;
        return c < 0xf5 && length > back ? back : 0;
    }
    return 0;
}

QString hostOutputText(const QByteArray &kept, qint64 total)
{
    const qsizetype cut = cutCharacterBytes(kept);
    QString text = QString::fromUtf8(kept.chopped(cut));
    if (cut > 0)
        text += QChar(QChar::ReplacementCharacter);
    if (total > kept.size())
        text += QStringLiteral("\n... [output truncated after %1 of %2 bytes; remaining output discarded] ...")
                    .arg(kept.size()).arg(total);
    return text;
}

} // namespace paddock
