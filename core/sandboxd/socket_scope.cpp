// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandboxd/socket_scope.h"

#include "core/sandboxd/unique_fd.h"

#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace paddock::sandboxd {

namespace {

/// As of the sixth version; the kernel's header may be older.
struct ScopedRules {
    std::uint64_t files = 0;
    std::uint64_t network = 0;
    std::uint64_t scoped = 0;
};

constexpr std::uint64_t abstractSockets = 1; // LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
constexpr long versionWithScopes = 6;

} // namespace

bool scopeAbstractSockets()
{
    if (::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION) < versionWithScopes)
        return false;
    const ScopedRules rules{0, 0, abstractSockets};
    const UniqueFd set(int(::syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0)));
    return set && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::syscall(SYS_landlock_restrict_self, set.get(), 0) == 0;
}

} // namespace paddock::sandboxd
