// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "tests/support/sandboxd_process.h"

#include <QDir>
#include <QFile>
#include <QHash>
#include <QStandardPaths>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <vector>

namespace paddock::test {

namespace {

constexpr int readyLimitMs = 20'000;
constexpr int socketFd = 30;
constexpr int readyFd = 31;

int waitFor(pid_t pid, int limitMs)
{
    for (int waited = 0; waited <= limitMs; waited += 5) {
        int status = 0;
        if (::waitpid(pid, &status, WNOHANG) == pid)
            return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        ::usleep(5000);
    }
    return -1;
}

/// Starts a program; stderr into `log`, sockets at fixed numbers. Only async-signal-safe calls in the child.
pid_t launch(const QStringList &command, int socket, int ready, const QByteArray &log)
{
    QList<QByteArray> words;
    for (const QString &word : command)
        words << word.toLocal8Bit();
    std::vector<char *> argv;
    for (const QByteArray &word : words)
        argv.push_back(const_cast<char *>(word.constData()));
    argv.push_back(nullptr);
    const pid_t pid = ::fork();
    if (pid != 0)
        return pid;
    const int errors = ::open(log.constData(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    const int none = ::open("/dev/null", O_RDWR);
    ::dup2(none, 0);
    ::dup2(none, 1);
    ::dup2(errors, 2);
    if (socket >= 0)
        ::dup2(socket, socketFd);
    if (ready >= 0)
        ::dup2(ready, readyFd);
    ::execvp(argv[0], argv.data());
    ::_exit(127);
}

struct ProcessEntry {
    pid_t parent = 0;
    char state = '?';
    QString commandLine;
};

QHash<pid_t, ProcessEntry> processTable()
{
    QHash<pid_t, ProcessEntry> out;
    for (const QString &name : QDir(QStringLiteral("/proc")).entryList(QDir::Dirs | QDir::NoDotAndDotDot)) {
        bool ok = false;
        const int pid = name.toInt(&ok);
        QFile stat(QStringLiteral("/proc/%1/stat").arg(pid)), line(QStringLiteral("/proc/%1/cmdline").arg(pid));
        if (!ok || !stat.open(QIODevice::ReadOnly))
            continue;
        const QByteArray text = stat.readAll();
        const auto fields = text.mid(text.lastIndexOf(')') + 2).split(' ');
        QByteArray words = line.open(QIODevice::ReadOnly) ? line.readAll() : QByteArray();
        words.replace('\0', ' ');
        out.insert(pid, {fields.value(1).toInt(), fields.value(0).isEmpty() ? '?' : fields.value(0).at(0), QString::fromLocal8Bit(words.trimmed())});
    }
    return out;
}

} // namespace

bool SandboxdProcess::canUsePrivateTmp()
{
    static const bool usable = [] {
        if (QStandardPaths::findExecutable(QStringLiteral("bwrap")).isEmpty())
            return false;
        const pid_t pid = launch({QStringLiteral("bwrap"), QStringLiteral("--dev-bind"), QStringLiteral("/"), QStringLiteral("/"),
                                  QStringLiteral("--tmpfs"), QStringLiteral("/tmp"), QStringLiteral("true")}, -1, -1, "/dev/null");
        return waitFor(pid, 5000) == 0;
    }();
    return usable;
}

bool SandboxdProcess::start(const QStringList &options, bool privateTmp)
{
    m_socketPath = m_directory.filePath(QStringLiteral("s"));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, m_socketPath.toLocal8Bit().constData(), sizeof address.sun_path - 1);
    const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int ready[2];
    if (::bind(listener, reinterpret_cast<sockaddr *>(&address), sizeof address) != 0 || ::listen(listener, 128) != 0
        || ::pipe2(ready, O_CLOEXEC) != 0) {
        error = QString::fromLocal8Bit(std::strerror(errno));
        ::close(listener);
        return false;
    }
    m_privateTmp = privateTmp && canUsePrivateTmp();
    const QString work = m_privateTmp ? QStringLiteral("/tmp/work") : m_directory.filePath(QStringLiteral("work"));
    QStringList command;
    QString program = m_program;
    if (m_privateTmp) {
        program = QStringLiteral("/tmp/.program/paddock-sandboxd");
        command << QStringLiteral("bwrap") << QStringLiteral("--dev-bind") << QStringLiteral("/") << QStringLiteral("/")
                << QStringLiteral("--tmpfs") << QStringLiteral("/tmp") << QStringLiteral("--dir") << work
                << QStringLiteral("--ro-bind") << m_program << program << QStringLiteral("--chdir") << work
                << QStringLiteral("--die-with-parent");
    } else {
        QDir().mkpath(work);
    }
    command << program << QStringLiteral("--listen") << QStringLiteral("fd:%1").arg(socketFd) << QStringLiteral("--ready-fd")
            << QString::number(readyFd) << QStringLiteral("--workspace") << work << QStringLiteral("--home") << work << options;
    m_pid = launch(command, listener, ready[1], m_directory.filePath(QStringLiteral("log")).toLocal8Bit());
    ::close(listener);
    ::close(ready[1]);
    pollfd entry{ready[0], POLLIN, 0};
    char line[256];
    const bool good = ::poll(&entry, 1, readyLimitMs) > 0 && ::read(ready[0], line, sizeof line) > 0;
    ::close(ready[0]);
    if (!good) {
        error = QStringLiteral("the server did not become ready: ") + QString::fromUtf8(log());
        stop();
    }
    return good;
}

int SandboxdProcess::stop()
{
    if (m_pid <= 0)
        return -1;
    const pid_t server = serverPid();
    ::kill(server, SIGTERM);
    int status = waitFor(m_pid, 10'000);
    if (status < 0) {
        ::kill(m_pid, SIGKILL);
        ::waitpid(m_pid, nullptr, 0);
    }
    m_pid = -1;
    return status;
}

bool SandboxdProcess::alive() const
{
    return m_pid > 0 && ::kill(serverPid(), 0) == 0;
}

pid_t SandboxdProcess::serverPid() const
{
    if (!m_privateTmp || m_pid <= 0)
        return m_pid;
    // bubblewrap without a pid namespace waits above the program.
    const auto table = processTable();
    pid_t at = m_pid;
    while (!table.value(at).commandLine.contains(QStringLiteral("/tmp/.program/paddock-sandboxd --listen"))
           || table.value(at).commandLine.startsWith(QStringLiteral("bwrap"))) {
        pid_t next = -1;
        for (auto it = table.cbegin(); it != table.cend(); ++it) {
            if (it->parent == at && it->state != 'Z')
                next = it.key();
        }
        if (next < 0)
            return m_pid;
        at = next;
    }
    return at;
}

QStringList SandboxdProcess::commandLines() const
{
    const auto table = processTable();
    QStringList out;
    QList<pid_t> level{serverPid()};
    while (!level.isEmpty()) {
        QList<pid_t> next;
        for (auto it = table.cbegin(); it != table.cend(); ++it) {
            if (level.contains(it->parent)) {
                next << it.key();
                if (it->state != 'Z')
                    out << it->commandLine;
            }
        }
        level = next;
    }
    return out;
}

QByteArray SandboxdProcess::log() const
{
    QFile file(m_directory.filePath(QStringLiteral("log")));
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

} // namespace paddock::test
