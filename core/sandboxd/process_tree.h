// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

// What /proc says about processes: who belongs to a session, a group, below us. Pure reads; any thread.
namespace paddock::sandboxd {

struct ProcessFacts {
    pid_t pid = 0;
    char state = '?';
    pid_t parent = 0;
    pid_t group = 0;
    pid_t session = 0;
    std::uint64_t startedAt = 0; ///< clock ticks since boot
};

/// All processes that can be seen. Zombies included.
std::vector<ProcessFacts> allProcesses();
/// The clock of ProcessFacts::startedAt.
std::uint64_t ticksSinceBoot();
/// Living (not zombie) members.
std::vector<pid_t> processesOfSession(pid_t session);
/// Living descendants of a process, adopted ones included, nearest first.
std::vector<pid_t> descendantsOf(pid_t root);
/// Whether a process group has a member that is not a zombie.
bool groupAlive(pid_t group);
/// Whether descriptor 0 of the process is a socket; false when it is not or cannot be seen.
bool stdinIsSocket(pid_t pid);

} // namespace paddock::sandboxd
