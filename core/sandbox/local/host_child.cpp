// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/local/host_child.h"

#include <QByteArray>
#include <QFile>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

namespace paddock {

namespace {

std::unexpected<Error> cannotStart(int number)
{
    return fail(ErrorCode::Unavailable, QStringLiteral("The command could not be started: %1")
                                            .arg(QString::fromLocal8Bit(std::strerror(number))));
}

/// Pointers into `texts` with a null at the end, as exec wants them.
std::vector<char *> pointersOf(std::vector<QByteArray> &texts)
{
    std::vector<char *> pointers;
    for (QByteArray &text : texts)
        pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
}

/// posix_spawn's two parameter objects, freed together.
struct SpawnSettings {
    SpawnSettings()
    {
        posix_spawn_file_actions_init(&actions);
        posix_spawnattr_init(&attributes);
    }
    ~SpawnSettings()
    {
        posix_spawn_file_actions_destroy(&actions);
        posix_spawnattr_destroy(&attributes);
    }
    SpawnSettings(const SpawnSettings &) = delete;
    SpawnSettings &operator=(const SpawnSettings &) = delete;

    int prepare(int out, int err)
    {
        sigset_t none, all;
        sigemptyset(&none);
        sigfillset(&all);
        sigdelset(&all, SIGKILL);
        sigdelset(&all, SIGSTOP);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setsigdefault(&attributes, &all);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
        int failure = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
        failure = failure ? failure : posix_spawn_file_actions_adddup2(&actions, out, 1);
        failure = failure ? failure : posix_spawn_file_actions_adddup2(&actions, err, 2);
        return failure ? failure : posix_spawn_file_actions_addclosefrom_np(&actions, 3);
    }

    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
};

bool makePipe(UniqueFd &readEnd, UniqueFd &writeEnd)
{
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
        return false;
    readEnd.reset(ends[0]);
    // Numbers 0 to 2 would be overwritten by the child's own set-up.
    writeEnd.reset(ends[1] > 2 ? ends[1] : ::fcntl(ends[1], F_DUPFD_CLOEXEC, 3));
    if (ends[1] <= 2)
        ::close(ends[1]);
    return bool(writeEnd) && ::fcntl(readEnd.get(), F_SETFL, O_NONBLOCK) == 0;
}

/// Process group and state of /proc/<pid>/stat; false when it is gone or unreadable.
bool statOf(const char *pid, pid_t &group, char &state)
{
    QFile file(QStringLiteral("/proc/") + QLatin1String(pid) + QStringLiteral("/stat"));
    if (!file.open(QIODevice::ReadOnly))
        return false;
    const QByteArray text = file.read(1024);
    const qsizetype end = text.lastIndexOf(')'); // the name before it may hold anything
    int parent = 0, processGroup = 0;
    if (end < 0 || std::sscanf(text.constData() + end + 1, " %c %d %d", &state, &parent, &processGroup) != 3)
        return false;
    group = processGroup;
    return true;
}

} // namespace

Result<HostChild> spawnHostChild(const QStringList &argv, const QMap<QString, QString> &env)
{
    std::vector<QByteArray> arguments, variables;
    for (const QString &argument : argv) {
        if (argument.contains(QChar(0)))
            return fail(ErrorCode::InvalidArgument, QStringLiteral("The command contains a null character."));
        arguments.push_back(argument.toUtf8());
    }
    for (auto it = env.cbegin(); it != env.cend(); ++it)
        variables.push_back(it.key().toUtf8() + '=' + it.value().toUtf8());
    if (arguments.empty())
        return cannotStart(EINVAL);

    HostChild child;
    UniqueFd outWrite, errWrite;
    if (!makePipe(child.out, outWrite) || !makePipe(child.err, errWrite))
        return cannotStart(errno);
    SpawnSettings settings;
    int failure = settings.prepare(outWrite.get(), errWrite.get());
    if (failure == 0) {
        const auto argvPointers = pointersOf(arguments);
        const auto envPointers = pointersOf(variables);
        failure = ::posix_spawn(&child.pid, arguments.front().constData(), &settings.actions, &settings.attributes,
                                argvPointers.data(), envPointers.data());
    }
    if (failure != 0)
        return cannotStart(failure);
    return child;
}

void waitForExit(pid_t pid)
{
    siginfo_t info;
    while (::waitid(P_PID, id_t(pid), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) { }
}

int exitCodeOf(pid_t pid)
{
    siginfo_t info {};
    if (::waitid(P_PID, id_t(pid), &info, WEXITED | WNOWAIT | WNOHANG) != 0 || info.si_pid != pid)
        return 0;
    return info.si_code == CLD_EXITED ? info.si_status : -info.si_status;
}

void reapChild(pid_t pid)
{
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) { }
}

void killGroup(pid_t group)
{
    if (::kill(-group, SIGKILL) != 0)
        ::kill(group, SIGKILL);
}

bool groupHasOthers(pid_t group)
{
    DIR *proc = ::opendir("/proc");
    if (!proc)
        return false;
    bool found = false;
    while (const dirent *entry = found ? nullptr : ::readdir(proc)) {
        if (entry->d_name[0] < '1' || entry->d_name[0] > '9' || std::atoi(entry->d_name) == group)
            continue;
        pid_t its = 0;
        char state = 0;
        found = statOf(entry->d_name, its, state) && its == group && state != 'Z' && state != 'X';
    }
    ::closedir(proc);
    return found;
}

} // namespace paddock
