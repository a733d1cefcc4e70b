// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

namespace paddock::sandboxd {

/// `paddock-sandboxd guard --parent-fd N [--confine] -- COMMAND…`: runs a command outside of any sandbox and leaves nothing of it behind,
/// however whoever started it ends. N is the reading end of a pipe whose other end only the starter holds. When that closes,
/// or on SIGTERM, SIGINT or SIGHUP, the command is killed; when the command ends, so is what it left; and the guard itself
/// ends last. Daemons do not escape: orphans below it become its children.
///
/// Bubblewrap's --die-with-parent is no replacement: between the making of its namespace and the word to go on, only the outer
/// process has that bond, and the inner one waits for ever for the word.
///
/// With --confine the command is a bubblewrap and gets the filter of system calls (syscall_filter.h) as its --seccomp, no key of
/// our session, and the kernel's preference when memory runs out. Without the filter it is not started.
///
/// `arguments`: what follows "guard", ended by a null pointer. Returns the exit code: the command's, 128 + N for a signal.
int runGuard(char **arguments);

/// How readily the kernel ends what is in a sandbox when memory runs out, of 1000; all else at the desktop is around 0 to 200.
inline constexpr int sandboxOomScore = 500;

} // namespace paddock::sandboxd
