// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandboxd/guard.h"

#include "core/sandboxd/process_tree.h"
#include "core/sandboxd/syscall_filter.h"
#include "core/sandboxd/unique_fd.h"

#include <fcntl.h>
#include <linux/keyctl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace paddock::sandboxd {

namespace {

constexpr int usageError = 2;
constexpr int cannotStart = 127; // what a shell says
constexpr int signalBase = 128;
constexpr int oldKernelDescriptors = 1024;

sigset_t watchedSignals()
{
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : {SIGCHLD, SIGTERM, SIGINT, SIGHUP})
        sigaddset(&set, signal);
    return set;
}

/// What the command line of the guard says.
struct GuardOrder {
    int parentFd = -1;
    bool confine = false;
    char **command = nullptr; ///< null: the line makes no sense
};

GuardOrder orderOf(char **arguments)
{
    GuardOrder order;
    if (!arguments[0] || std::strcmp(arguments[0], "--parent-fd") != 0 || !arguments[1])
        return order;
    char *end = nullptr;
    order.parentFd = int(std::strtol(arguments[1], &end, 10));
    char **rest = arguments + 2;
    order.confine = *rest && std::strcmp(*rest, "--confine") == 0;
    if (order.confine)
        ++rest;
    if (*end == '\0' && order.parentFd > STDERR_FILENO && *rest && std::strcmp(*rest, "--") == 0 && rest[1])
        order.command = rest + 1;
    return order;
}

/// The value in force before, when it was lower and could be raised.
std::optional<int> raiseOomScore(int score)
{
    std::optional<int> before;
    if (std::FILE *file = std::fopen("/proc/self/oom_score_adj", "r+e")) {
        int old = 0;
        if (std::fscanf(file, "%d", &old) == 1 && old < score) {
            std::rewind(file);
            if (std::fprintf(file, "%d", score) > 0)
                before = old;
        }
        if (std::fclose(file) != 0)
            before.reset();
    }
    return before;
}

void setOomScore(int score)
{
    if (std::FILE *file = std::fopen("/proc/self/oom_score_adj", "we")) {
        std::fprintf(file, "%d", score);
        std::fclose(file);
    }
}

/// The command inherits every descriptor that its starter meant for it, and none of ours.
int startCommand(char **command, pid_t *pid)
{
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    const int error = ::posix_spawnp(pid, command[0], nullptr, &attributes, command, environ);
    posix_spawnattr_destroy(&attributes);
    return error;
}

void closeRange(int first, int last)
{
    if (first > last || ::close_range(unsigned(first), unsigned(last), 0) == 0)
        return;
    for (int fd = first; fd <= std::min(last, oldKernelDescriptors); ++fd)
        ::close(fd);
}

/// The pipes and sockets of the command are its own: whoever reads them must see their end when it ends.
void closeAllBut(int one, int other)
{
    closeRange(STDERR_FILENO + 1, std::min(one, other) - 1);
    closeRange(std::min(one, other) + 1, std::max(one, other) - 1);
    closeRange(std::max(one, other) + 1, std::numeric_limits<int>::max());
}

bool closedAtItsOtherEnd(int pipe)
{
    char bytes[64];
    const ssize_t count = ::read(pipe, bytes, sizeof bytes);
    return count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN);
}

/// Reaps whoever ended, adopted orphans too. The command's wait status if it was among them.
std::optional<int> reap(pid_t command)
{
    std::optional<int> ended;
    int status = 0;
    while (const pid_t pid = ::waitpid(-1, &status, WNOHANG)) {
        if (pid < 0)
            break;
        if (pid == command)
            ended = status;
    }
    return ended;
}

/// The command's wait status, or nothing when it must be ended.
std::optional<int> waitForEnd(int parentFd, int signals, pid_t command)
{
    pollfd fds[] = {{parentFd, POLLIN, 0}, {signals, POLLIN, 0}};
    for (;;) {
        if (::poll(fds, std::size(fds), -1) < 0) {
            if (errno == EINTR)
                continue;
            return std::nullopt;
        }
        bool told = false;
        signalfd_siginfo info;
        while (::read(signals, &info, sizeof info) == ssize_t(sizeof info))
            told = told || info.ssi_signo != unsigned(SIGCHLD);
        if (const auto ended = reap(command))
            return ended;
        if (told || (fds[0].revents && closedAtItsOtherEnd(parentFd)))
            return std::nullopt;
    }
}

/// Only direct children: nobody else reaps those, so that a number cannot be somebody else's by now.
void killChildren()
{
    // A process in a user namespace may be hidden in /proc from us, but not in the list of our children.
    if (std::FILE *list = std::fopen("/proc/thread-self/children", "re")) {
        int pid = 0;
        while (std::fscanf(list, "%d", &pid) == 1)
            ::kill(pid, SIGKILL);
        std::fclose(list);
        return;
    }
    const pid_t self = ::getpid(); // a kernel without that list
    for (const ProcessFacts &facts : allProcesses()) {
        if (facts.parent == self)
            ::kill(facts.pid, SIGKILL);
    }
}

/// A process becomes ours at the latest when its parent is gone, which is when the wait returns: so every round ends one
/// generation, and when there is no child, there is nobody.
void endEverything()
{
    for (;;) {
        killChildren();
        if (::waitpid(-1, nullptr, 0) < 0 && errno == ECHILD)
            return;
        while (::waitpid(-1, nullptr, WNOHANG) > 0) { }
    }
}

/// The command is a bubblewrap: it takes the filter as one option more.
int startConfined(char **command, pid_t *pid)
{
    const auto filter = filterProgram();
    if (!filter || ::fcntl(filter->get(), F_SETFD, 0) != 0) {
        std::fprintf(stderr, "%s\n", filter ? "The filter of system calls cannot be handed on" : filter.error().c_str());
        return ENOSYS;
    }
    // The keys of the session on the host: a session of our own, which is empty. The filter closes the calls as well.
    ::syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr);
    std::string option = "--seccomp", number = std::to_string(filter->get());
    std::vector<char *> whole{command[0], option.data(), number.data()};
    for (char **argument = command + 1; *argument; ++argument)
        whole.push_back(*argument);
    whole.push_back(nullptr);
    const auto before = raiseOomScore(sandboxOomScore); // inherited; inside it cannot be lowered
    const int error = startCommand(whole.data(), pid);
    if (before)
        setOomScore(*before);
    return error;
}

int exitCodeOf(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : signalBase + WTERMSIG(status);
}

} // namespace

int runGuard(char **arguments)
{
    const GuardOrder order = orderOf(arguments);
    const int parentFd = order.parentFd;
    if (!order.command || ::fcntl(parentFd, F_SETFD, FD_CLOEXEC) != 0) {
        std::fputs("Usage: paddock-sandboxd guard --parent-fd N [--confine] -- COMMAND...\n", stderr);
        return usageError;
    }
    ::prctl(PR_SET_NAME, "sandbox-guard"); // "pkill paddock" must not mean us: we are what tidies up after it
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    ::setsid(); // no terminal's signals; fails where that is so already
    ::signal(SIGPIPE, SIG_IGN);
    const sigset_t watched = watchedSignals();
    ::sigprocmask(SIG_BLOCK, &watched, nullptr);
    const UniqueFd signals(::signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK));
    pid_t pid = -1;
    const int error = !signals ? errno : order.confine ? startConfined(order.command, &pid) : startCommand(order.command, &pid);
    if (error != 0) {
        std::fprintf(stderr, "cannot start %s: %s\n", order.command[0], std::strerror(error));
        return cannotStart;
    }
    closeAllBut(parentFd, signals.get());
    const auto status = waitForEnd(parentFd, signals.get(), pid);
    endEverything();
    return status ? exitCodeOf(*status) : signalBase + SIGKILL;
}

} // namespace paddock::sandboxd
