// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/error.h"
#include "core/sandbox/unique_fd.h"

#include <QMap>
#include <QString>
#include <QStringList>

#include <sys/types.h>

namespace paddock {

// The system calls around one child of a host command. No state; errors are sentences without host paths.

struct HostChild {
    pid_t pid = -1; ///< leader of its own session and process group
    UniqueFd out;   ///< non-blocking read ends
    UniqueFd err;
};

/// stdin from /dev/null, stdout and stderr on two pipes, a new session, nothing else inherited, signals reset.
Result<HostChild> spawnHostChild(const QStringList &argv, const QMap<QString, QString> &env);
/// Blocks until the child ended, without reaping it.
void waitForExit(pid_t pid);
/// Of an ended child that is not reaped yet; negative: minus the signal.
int exitCodeOf(pid_t pid);
void reapChild(pid_t pid);
/// SIGKILL to the group, else to the child alone.
void killGroup(pid_t group);
/// A living process other than the leader is in the group.
bool groupHasOthers(pid_t group);

} // namespace paddock
