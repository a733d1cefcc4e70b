// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/sandboxd/unique_fd.h"

#include <expected>
#include <string>

// What the kernel refuses to everything in a sandbox, whoever asks. A list of what is closed, not of what is open: compilers,
// interpreters, debuggers and package managers work; ways to more privileges, to the host or around its limits do not.
namespace paddock::sandboxd {

/// The filter as a program for bubblewrap's --seccomp, in anonymous memory, to be read from its start. The error is a sentence.
///
/// Bubblewrap loads it into its own first process inside, too, and that is why the server does not load it itself: that process
/// has the same user as the commands, so any of them could trace it and make calls through it that it may not make itself.
std::expected<UniqueFd, std::string> filterProgram();

/// Loads the filter into this process, for good, and makes a call that it refuses. Whether the kernel takes and obeys it.
std::expected<void, std::string> tryFilter();

} // namespace paddock::sandboxd
