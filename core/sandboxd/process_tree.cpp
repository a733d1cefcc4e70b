// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandboxd/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <unordered_set>

namespace paddock::sandboxd {

namespace {

struct DirCloser {
    void operator()(DIR *dir) const { ::closedir(dir); }
};

/// Reads a small file of /proc; returns the length or -1.
ssize_t readSmall(const char *path, char *buffer, size_t size)
{
    const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    const ssize_t count = ::read(fd, buffer, size - 1);
    ::close(fd);
    if (count >= 0)
        buffer[count] = '\0';
    return count;
}

bool readFacts(pid_t pid, ProcessFacts *facts)
{
    char path[64], text[1024];
    std::snprintf(path, sizeof path, "/proc/%d/stat", int(pid));
    if (readSmall(path, text, sizeof text) <= 0)
        return false;
    // The name in parentheses may hold anything: the fields start behind the last ')'.
    const char *rest = std::strrchr(text, ')');
    if (!rest)
        return false;
    int parent = 0, group = 0, session = 0;
    unsigned long long startedAt = 0;
    // proc_pid_stat(5): fields 3 to 6, and 22.
    constexpr const char *format = " %c %d %d %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu";
    if (std::sscanf(rest + 1, format, &facts->state, &parent, &group, &session, &startedAt) != 5)
        return false;
    facts->pid = pid;
    facts->parent = parent;
    facts->group = group;
    facts->session = session;
    facts->startedAt = startedAt;
    return true;
}

} // namespace

std::vector<ProcessFacts> allProcesses()
{
    std::vector<ProcessFacts> out;
    const std::unique_ptr<DIR, DirCloser> dir(::opendir("/proc"));
    if (!dir)
        return out;
    while (const dirent *entry = ::readdir(dir.get())) {
        char *end = nullptr;
        const long pid = std::strtol(entry->d_name, &end, 10);
        ProcessFacts facts;
        if (pid > 0 && *end == '\0' && readFacts(pid_t(pid), &facts))
            out.push_back(facts);
    }
    return out;
}

std::uint64_t ticksSinceBoot()
{
    timespec now{};
    ::clock_gettime(CLOCK_BOOTTIME, &now);
    static const auto perSecond = std::uint64_t(::sysconf(_SC_CLK_TCK));
    return std::uint64_t(now.tv_sec) * perSecond + std::uint64_t(now.tv_nsec) * perSecond / 1'000'000'000;
}

std::vector<pid_t> processesOfSession(pid_t session)
{
    std::vector<pid_t> out;
    for (const ProcessFacts &facts : allProcesses()) {
        if (facts.session == session && facts.state != 'Z' && facts.state != 'X')
            out.push_back(facts.pid);
    }
    return out;
}

std::vector<pid_t> descendantsOf(pid_t root)
{
    const auto all = allProcesses();
    std::vector<pid_t> out;
    std::unordered_set<pid_t> level{root};
    while (!level.empty()) {
        std::unordered_set<pid_t> next;
        for (const ProcessFacts &facts : all) {
            if (level.contains(facts.parent) && facts.pid != root) {
                next.insert(facts.pid);
                if (facts.state != 'Z' && facts.state != 'X')
                    out.push_back(facts.pid);
            }
        }
        level = std::move(next);
    }
    return out;
}

bool groupAlive(pid_t group)
{
    if (::kill(-group, 0) != 0 && errno == ESRCH)
        return false;
    for (const ProcessFacts &facts : allProcesses()) {
        if (facts.group == group && facts.state != 'Z' && facts.state != 'X')
            return true;
    }
    return false;
}

bool stdinIsSocket(pid_t pid)
{
    char path[64], target[64];
    std::snprintf(path, sizeof path, "/proc/%d/fd/0", int(pid));
    const ssize_t length = ::readlink(path, target, sizeof target);
    return length > 7 && std::strncmp(target, "socket:", 7) == 0;
}

} // namespace paddock::sandboxd
