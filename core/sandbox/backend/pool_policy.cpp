// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/backend/pool_policy.h"

namespace paddock {

std::vector<SandboxId> idleExpired(const std::vector<PooledSandbox> &pool, std::chrono::seconds idleTimeout)
{
    std::vector<SandboxId> expired;
    if (idleTimeout.count() <= 0)
        return expired;
    for (const bool warm : {false, true}) {
        for (const PooledSandbox &entry : pool) {
            if (entry.warm == warm && !entry.leased && entry.idle > idleTimeout)
                expired.push_back(entry.id);
        }
    }
    return expired;
}

std::optional<SandboxId> evictionFor(const std::vector<PooledSandbox> &pool, int replicas)
{
    if (int(pool.size()) < replicas)
        return std::nullopt;
    const PooledSandbox *oldest = nullptr;
    for (const PooledSandbox &entry : pool) {
        if (entry.warm && !entry.leased && (!oldest || entry.idle > oldest->idle))
            oldest = &entry;
    }
    return oldest ? std::optional(oldest->id) : std::nullopt;
}

} // namespace paddock
