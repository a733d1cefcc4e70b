// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/backend/supervised_process.h"

#include "core/base/json.h"

#include <QFile>
#include <QLoggingCategory>
#include <QProcessEnvironment>

#include <array>
#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

Q_LOGGING_CATEGORY(lcSupervisor, "paddock.sandbox.supervisor")

namespace paddock {

namespace {

constexpr qsizetype maxInfoBytes = 4096;
constexpr int reapLimitMs = 3000;

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

/// NUL-separated arguments in anonymous memory, to be read from its start.
UniqueFd memoryOf(const QStringList &arguments)
{
    QByteArray bytes;
    for (const QString &argument : arguments)
        bytes += QFile::encodeName(argument) + '\0';
    UniqueFd fd(::memfd_create("bwrap-args", MFD_CLOEXEC));
    for (qsizetype at = 0; fd && at < bytes.size();) {
        const ssize_t n = ::write(fd.get(), bytes.constData() + at, size_t(bytes.size() - at));
        if (n <= 0)
            return {};
        at += n;
    }
    if (fd)
        ::lseek(fd.get(), 0, SEEK_SET);
    return fd;
}

/// Between vfork and exec: only calls that are async-signal-safe and leave the parent's memory alone.
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
    makePipe(m_guardRead, m_guardWrite);
}

SupervisedProcess::~SupervisedProcess()
{
    if (running()) {
        kill();
        m_process.disconnect(this);
        m_process.waitForFinished(reapLimitMs); // all is killed: the guard only has to reap it
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
    m_process.setProgram(launch.guard);
    const UniqueFd options = memoryOf(launch.options);
    if (!options) {
        m_launched = true;
        failToStart(ErrorCode::ResourceExhausted, QStringLiteral("No memory for the sandbox's options."));
        return;
    }
    m_process.setArguments(QStringList{QStringLiteral("guard"), QStringLiteral("--parent-fd"), QString::number(m_guardRead.get()),
                                       QStringLiteral("--confine"), QStringLiteral("--"), launch.program, QStringLiteral("--args"), QString::number(options.get())}
                           + launch.command);
    m_process.setStandardInputFile(QProcess::nullDevice());
    m_process.setStandardOutputFile(QProcess::nullDevice());
    // The writing ends stay here: none of them may be inherited, or its closing would go unnoticed.
    const std::array<int, 6> inherited{options.get(),     launch.listenFd.get(), m_readyWrite.get(),
                                       m_infoWrite.get(), m_parentRead.get(),    m_guardRead.get()};
    // vfork: a forked child waits for a word of its parent first, for ever when the parent is killed before it.
    m_process.setUnixProcessParameters(QProcess::UnixProcessFlag::UseVFork);
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
        failToStart(ErrorCode::Unavailable, QStringLiteral("The sandbox's guard could not be started: %1").arg(m_process.errorString()));
    });
    connect(&m_process, &QProcess::finished, this, &SupervisedProcess::guardEnded);
    m_launched = true;
    m_process.start();
    // Our copies of the child's ends: without closing them the pipes would never end.
    m_readyWrite.reset();
    m_infoWrite.reset();
    m_parentRead.reset();
    m_guardRead.reset();
    for (const UniqueFd *fd : {&m_readyRead, &m_infoRead})
        ::fcntl(fd->get(), F_SETFL, O_NONBLOCK);
    m_readyNotifier = std::make_unique<QSocketNotifier>(m_readyRead.get(), QSocketNotifier::Read);
    connect(m_readyNotifier.get(), &QSocketNotifier::activated, this, &SupervisedProcess::readReady);
    m_infoNotifier = std::make_unique<QSocketNotifier>(m_infoRead.get(), QSocketNotifier::Read);
    connect(m_infoNotifier.get(), &QSocketNotifier::activated, this, &SupervisedProcess::readInfo);
}

void SupervisedProcess::failToStart(ErrorCode code, const QString &why)
{
    m_ready.complete(fail(code, why));
    m_guardEnded = true;
    checkGone();
}

void SupervisedProcess::guardEnded()
{
    readStderr();
    if (m_process.exitStatus() == QProcess::NormalExit) {
        // It ends after everything else. What bubblewrap told may not be read yet, and the number may mean another by now.
        m_infoNotifier->setEnabled(false);
        m_pidNotifier.reset();
        m_firstPidFd.reset();
    } else {
        // Somebody killed it, and bubblewrap dies with it. The namespace may outlive both by a moment, or for ever when it was
        // not told to go on yet: know it before judging, and end it.
        if (m_infoNotifier && m_infoNotifier->isEnabled())
            readInfo();
        kill();
    }
    m_ready.complete(fail(ErrorCode::Unavailable, stderrText()));
    m_guardEnded = true;
    checkGone();
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
    if (m_guardEnded && !m_firstPidFd)
        m_gone.complete(true);
}

void SupervisedProcess::kill()
{
    // Never SIGKILL to the guard: it is who knows what there is besides, and it ends when that is gone.
    m_guardWrite.reset();
    if (m_firstPidFd)
        ::syscall(SYS_pidfd_send_signal, m_firstPidFd.get(), SIGKILL, nullptr, 0);
}

} // namespace paddock
