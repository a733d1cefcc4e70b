// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/error.h"
#include "core/sandboxd/reactor.h"

#include <QByteArray>
#include <QList>

#include <sys/types.h>

#include <functional>
#include <unordered_map>

namespace paddock::sandboxd {

/// How a child process starts. Nothing of the server leaks into it: descriptors above 2 are closed, signals are reset.
struct SpawnRequest {
    QList<QByteArray> argv;        ///< argv[0] is the absolute path too unless `file` is given
    QByteArray file;               ///< path of the program; empty: argv[0]
    QList<QByteArray> environment; ///< "NAME=value"
    QByteArray workingDir;
    int standardInput = -1;  ///< -1: /dev/null
    int standardOutput = -1;
    int standardError = -1;
    /// Path of a terminal that becomes the controlling terminal and, where the above are -1, the descriptors 0 to 2.
    QByteArray terminal;
    bool newSession = false; ///< setsid; otherwise a process group of its own
};

/// posix_spawn (no code of ours between fork and exec). The error holds errno in details["errno"].
Result<pid_t> spawnProcess(const SpawnRequest &request);

/// Collects every child that ends, adopted orphans included (the server is a subreaper and may be process 1), and
/// tells whoever waits for it. Owner: SandboxServer; reactor's thread. Needs SIGCHLD blocked in all threads.
class ChildReaper
{
public:
    using Callback = std::function<void(int waitStatus)>;
    explicit ChildReaper(Reactor &reactor) : m_reactor(reactor) {}

    /// To be called on SIGCHLD.
    void reap();
    /// The callback runs on the reactor, once, also when the child has already ended.
    void expect(pid_t pid, Callback callback);

private:
    Reactor &m_reactor;
    std::unordered_map<pid_t, Callback> m_waiting;
    std::unordered_map<pid_t, int> m_ended; ///< reaped before anybody asked
};

} // namespace paddock::sandboxd
