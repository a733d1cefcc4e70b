// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/backend/supervised_process.h"

#include "core/base/json.h"

#include <QLoggingCategory>
#include <QProcessEnvironment>

#include <array>
#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

Q_LOGGING_CATEGORY(lcSupervisor, "paddock.sandbox.supervisor")

namespace paddock {

namespace {

constexpr qsizetype maxInfoBytes = 4096;

void makePipe(UniqueFd &read, UniqueFd &write)
{
    int fds[2] = {-1, -1};
    if (::pipe2(fds, O_CLOEXEC) == 0) {
        read.reset(fds[0]);
        write.reset(fds[1]);
    }
}

/// Appends what is there without blocking; false at the end of the pipe.
bool readInto(int fd, QByteArray &buffer, qsizetype max)
{
    std::array<char, 1024> chunk;
    const ssize_t n = ::read(fd, chunk.data(), chunk.size());
    if (n > 0 && buffer.size() < max)
        buffer.append(chunk.data(), n);
    return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

/// Between fork and exec: async-signal-safe calls only.
void setLimit(int resource, qint64 value)
{
    if (value <= 0)
        return;
    rlimit limit{};
    if (::getrlimit(__rlimit_resource_t(resource), &limit) != 0)
        return;
    const auto wanted = rlim_t(value);
    limit.rlim_cur = limit.rlim_max == RLIM_INFINITY || wanted < limit.rlim_max ? wanted : limit.rlim_max;
    limit.rlim_max = limit.rlim_cur;
    ::setrlimit(__rlimit_resource_t(resource), &limit);
}

} // namespace

SupervisedProcess::SupervisedProcess()
{
    makePipe(m_readyRead, m_readyWrite);
    makePipe(m_infoRead, m_infoWrite);
    makePipe(m_parentRead, m_parentWrite);
}

SupervisedProcess::~SupervisedProcess()
{
    if (running()) {
        kill();
        m_process.disconnect(this);
        m_process.waitForFinished(1000); // killed: it only has to be reaped
    }
    m_ready.complete(fail(ErrorCode::Unavailable, QStringLiteral("The sandbox was ended.")));
    m_gone.complete(true);
}

void SupervisedProcess::launch(Launch launch)
{
    QProcessEnvironment environment;
    for (auto it = launch.environment.cbegin(); it != launch.environment.cend(); ++it)
        environment.insert(it.key(), it.value());
    m_process.setProcessEnvironment(environment);
    m_process.setProgram(launch.program);
    m_process.setArguments(launch.arguments);
    m_process.setStandardInputFile(QProcess::nullDevice());
    m_process.setStandardOutputFile(QProcess::nullDevice());
    const std::array<int, 4> inherited{launch.listenFd.get(), m_readyWrite.get(), m_infoWrite.get(), m_parentRead.get()};
    m_process.setChildProcessModifier([inherited, files = launch.openFiles, bytes = launch.fileBytes] {
        for (const int fd : inherited)
            ::fcntl(fd, F_SETFD, 0);
        ::setsid(); // Ctrl-C in our terminal is ours to handle; the sandbox is drained, not interrupted
        const rlimit noCore{0, 0};
        ::setrlimit(RLIMIT_CORE, &noCore);
        setLimit(RLIMIT_NOFILE, files);
        setLimit(RLIMIT_FSIZE, bytes);
    });
    connect(&m_process, &QProcess::readyReadStandardError, this, &SupervisedProcess::readStderr);
    connect(&m_process, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error != QProcess::FailedToStart)
            return;
        m_ready.complete(fail(ErrorCode::Unavailable, QStringLiteral("bubblewrap could not be started: %1").arg(m_process.errorString())));
        m_bubblewrapEnded = true;
        checkGone();
    });
    connect(&m_process, &QProcess::finished, this, [this] {
        readStderr();
        if (m_infoNotifier && m_infoNotifier->isEnabled())
            readInfo(); // the namespace may outlive bubblewrap by a moment: know it before judging
        m_ready.complete(fail(ErrorCode::Unavailable, stderrText()));
        m_bubblewrapEnded = true;
        checkGone();
    });
    m_launched = true;
    m_process.start();
    // Our copies of the child's ends: without closing them the pipes would never end.
    m_readyWrite.reset();
    m_infoWrite.reset();
    m_parentRead.reset();
    for (const UniqueFd *fd : {&m_readyRead, &m_infoRead})
        ::fcntl(fd->get(), F_SETFL, O_NONBLOCK);
    m_readyNotifier = std::make_unique<QSocketNotifier>(m_readyRead.get(), QSocketNotifier::Read);
    connect(m_readyNotifier.get(), &QSocketNotifier::activated, this, &SupervisedProcess::readReady);
    m_infoNotifier = std::make_unique<QSocketNotifier>(m_infoRead.get(), QSocketNotifier::Read);
    connect(m_infoNotifier.get(), &QSocketNotifier::activated, this, &SupervisedProcess::readInfo);
}

void SupervisedProcess::readReady()
{
    QByteArray line;
    const bool open = readInto(m_readyRead.get(), line, maxInfoBytes);
    if (line.contains('\n'))
        m_ready.complete(Result<void>());
    if (!open || m_ready.isComplete())
        m_readyNotifier->setEnabled(false);
}

void SupervisedProcess::readInfo()
{
    const bool open = readInto(m_infoRead.get(), m_info, maxInfoBytes);
    const auto info = parseJson(m_info);
    if (info && info->is_object()) {
        m_infoNotifier->setEnabled(false);
        watchFirstProcess(int(intOf(*info, "child-pid")));
    } else if (!open) {
        m_infoNotifier->setEnabled(false);
    }
}

void SupervisedProcess::readStderr()
{
    m_stderr += m_process.readAllStandardError();
    if (m_stderr.size() > maxStderrBytes)
        m_stderr = m_stderr.last(maxStderrBytes);
}

void SupervisedProcess::watchFirstProcess(int pid)
{
    if (pid <= 0)
        return;
    m_firstPidFd.reset(int(::syscall(SYS_pidfd_open, pid, 0)));
    if (!m_firstPidFd)
        return;
    m_pidNotifier = std::make_unique<QSocketNotifier>(m_firstPidFd.get(), QSocketNotifier::Read);
    connect(m_pidNotifier.get(), &QSocketNotifier::activated, this, [this] {
        // The first process of a pid namespace ends only after everything else in it is gone.
        m_pidNotifier->setEnabled(false);
        m_pidNotifier.release()->deleteLater();
        m_firstPidFd.reset();
        checkGone();
    });
}

void SupervisedProcess::checkGone()
{
    if (m_bubblewrapEnded && !m_firstPidFd)
        m_gone.complete(true);
}

void SupervisedProcess::kill()
{
    if (m_firstPidFd)
        ::syscall(SYS_pidfd_send_signal, m_firstPidFd.get(), SIGKILL, nullptr, 0);
    if (m_process.state() != QProcess::NotRunning)
        m_process.kill();
}

} // namespace paddock
