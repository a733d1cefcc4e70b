// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/ids.h"
#include "core/base/task.h"

#include <functional>
#include <memory>
#include <vector>

namespace paddock {

/// Transitions of one key are strictly ordered; different keys never wait for each other (sandbox.md §4.2).
struct ThreadKey {
    UserId user;
    ThreadId thread;
    friend bool operator==(const ThreadKey &, const ThreadKey &) = default;
    friend auto operator<=>(const ThreadKey &, const ThreadKey &) = default;
};

/// What the registry needs from a sandbox provider. The registry knows no provider type; the sandbox room implements
/// this. Every method may be called from any loop and must finish even when the caller is cancelled.
class LeaseHost
{
public:
    virtual ~LeaseHost() = default;
    /// `owner` is who asks; it is for telling, not for deciding.
    virtual Task<Result<SandboxId>> acquireSandbox(ThreadKey key, LeaseOwner owner, std::stop_token stop) = 0;
    /// In-memory look-up, no I/O.
    virtual bool isAlive(const SandboxId &sandbox) = 0;
    virtual Task<> releaseScope(SandboxId sandbox, LeaseOwner owner) = 0;
    virtual Task<Result<void>> releaseSandbox(SandboxId sandbox) = 0;
};

/// One fact about leases, told in order per key.
struct LeaseChange {
    enum class Kind {
        Acquired,
        Draining,        ///< the owner leaves: its scope is being ended; it is still in `owners`
        Released,        ///< the owner is out of `owners`
        SandboxReleased, ///< the provider's release came back; exactly once per release, also after a rolled-back acquire
        SandboxReleaseFailed,
    } kind;
    SandboxId sandbox;
    LeaseOwner owner;
    std::vector<LeaseOwner> owners; ///< the set after the change, sorted
    bool last = false;              ///< Released: nobody holds the sandbox any more
    bool parks = false;             ///< Released: the provider's release follows
    QString error;                  ///< SandboxReleaseFailed
};

struct LeaseInfo {
    LeaseOwner owner;
    SandboxId sandbox;
    ThreadKey key;
    bool releaseOnLast = true;
    Clock::Wall since{};
};

/// Who in this process still uses which sandbox (sandbox.md §4). The provider's release runs only when the last normal
/// owner left; a release, once begun, runs to its end whatever is cancelled, and the canceller waits for it.
/// Thread-safe: callable from every loop. Owner: the composition root; outlives all runs.
class LeaseRegistry
{
public:
    using Observer = std::function<void(const LeaseChange &)>;

    explicit LeaseRegistry(std::shared_ptr<LeaseHost> host, std::shared_ptr<const Clock> clock = Clock::system());
    ~LeaseRegistry();

    /// Called for every change, on the thread where it happens, without locks held.
    void setObserver(Observer observer);

    /// sandbox.md §4.2 "acquire": idempotent per owner.
    Task<Result<SandboxId>> acquire(LeaseOwner owner, ThreadKey key, bool releaseOnLast, std::stop_token stop);
    /// Binds without a provider call (an inherited id).
    Task<Result<void>> retain(LeaseOwner owner, SandboxId sandbox, ThreadKey key, bool releaseOnLast, std::stop_token stop);
    /// Binds `sandbox` when it is alive, else acquires.
    Task<Result<SandboxId>> reuseOrAcquire(LeaseOwner owner, SandboxId sandbox, ThreadKey key, bool releaseOnLast,
                                           std::stop_token stop);
    /// Shielded: not cancellable once begun, and no error leaves it (failures are told to the observer). Idempotent.
    Task<> release(LeaseOwner owner);

    std::vector<LeaseInfo> leases() const;
    std::vector<LeaseOwner> ownersOf(const SandboxId &sandbox) const;
    /// Waits until no transition is in flight, at most `limit`; returns the owners still bound.
    Task<std::vector<LeaseOwner>> drain(std::chrono::milliseconds limit);

private:
    struct State;
    std::shared_ptr<State> m_state;
};

} // namespace paddock
