// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/ids.h"

#include <chrono>
#include <optional>
#include <vector>

// Which sandboxes a reaper may end (sandbox.md §4.6, §7.3, §7.4). Pure; for backends that keep released sandboxes warm.
namespace paddock {

struct PooledSandbox {
    SandboxId id;
    std::chrono::seconds idle{0}; ///< since its last use
    bool warm = false;            ///< released; otherwise active
    bool leased = false;          ///< somebody of this process holds it
};

/// Idle for strictly longer than the timeout and held by nobody: the active ones first, then the warm ones. 0 turns it off.
std::vector<SandboxId> idleExpired(const std::vector<PooledSandbox> &pool, std::chrono::seconds idleTimeout);

/// What to end before one more is created, given the soft limit on active and warm ones together: the warm one that is idle
/// longest, never an active one.
std::optional<SandboxId> evictionFor(const std::vector<PooledSandbox> &pool, int replicas);

} // namespace paddock
