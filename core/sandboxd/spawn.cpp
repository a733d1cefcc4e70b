// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandboxd/spawn.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <csignal>
#include <cstring>
#include <vector>

namespace paddock::sandboxd {

namespace {

constexpr size_t maxRememberedExits = 256;

std::vector<char *> pointers(const QList<QByteArray> &list)
{
    std::vector<char *> out;
    out.reserve(size_t(list.size()) + 1);
    for (const QByteArray &item : list)
        out.push_back(const_cast<char *>(item.constData()));
    out.push_back(nullptr);
    return out;
}

/// The three standard descriptors, in an order that never overwrites a source still needed: the sources are all above 2
/// because the server keeps 0 to 2 occupied.
void addDescriptors(posix_spawn_file_actions_t *actions, const SpawnRequest &request)
{
    const int sources[3] = {request.standardInput, request.standardOutput, request.standardError};
    for (int target = 0; target < 3; ++target) {
        if (sources[target] >= 0)
            posix_spawn_file_actions_adddup2(actions, sources[target], target);
        else if (!request.terminal.isEmpty())
            // A session leader without a controlling terminal gets it by opening one.
            posix_spawn_file_actions_addopen(actions, target, request.terminal.constData(), O_RDWR, 0);
        else
            posix_spawn_file_actions_addopen(actions, target, "/dev/null", target == 0 ? O_RDONLY : O_WRONLY, 0);
    }
    posix_spawn_file_actions_addclosefrom_np(actions, 3);
    if (!request.workingDir.isEmpty())
        posix_spawn_file_actions_addchdir_np(actions, request.workingDir.constData());
}

} // namespace

Result<pid_t> spawnProcess(const SpawnRequest &request)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    addDescriptors(&actions, request);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, short(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
                                                | (request.newSession ? POSIX_SPAWN_SETSID : POSIX_SPAWN_SETPGROUP)));
    const auto argv = pointers(request.argv);
    const auto environment = pointers(request.environment);
    const QByteArray &file = request.file.isEmpty() ? request.argv.first() : request.file;
    pid_t pid = -1;
    const int error = ::posix_spawn(&pid, file.constData(), &actions, &attributes, argv.data(), environment.data());
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (error) {
        return fail(ErrorCode::Io,
                    QStringLiteral("Cannot start %1: %2").arg(QString::fromUtf8(file), QString::fromLocal8Bit(std::strerror(error))),
                    Json{{"errno", error}});
    }
    return pid;
}

void ChildReaper::reap()
{
    while (true) {
        int status = 0;
        const pid_t pid = ::waitpid(-1, &status, WNOHANG);
        if (pid <= 0)
            return;
        const auto found = m_waiting.find(pid);
        if (found == m_waiting.end()) {
            if (m_ended.size() >= maxRememberedExits)
                m_ended.clear();
            m_ended[pid] = status;
            continue;
        }
        const Callback callback = std::move(found->second);
        m_waiting.erase(found);
        callback(status);
    }
}

void ChildReaper::expect(pid_t pid, Callback callback)
{
    if (const auto found = m_ended.find(pid); found != m_ended.end()) {
        const int status = found->second;
        m_ended.erase(found);
        m_reactor.post([callback = std::move(callback), status] { callback(status); });
        return;
    }
    m_waiting[pid] = std::move(callback);
}

} // namespace paddock::sandboxd
