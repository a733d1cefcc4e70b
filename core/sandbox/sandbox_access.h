// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/sandbox/sandbox.h"

#include <memory>

namespace paddock {

/// Leases over a provider, with their events. One per provider object; made by the composition root, shared by all runs.
class SandboxLeases
{
public:
    explicit SandboxLeases(std::shared_ptr<SandboxProvider> provider);
    ~SandboxLeases();

    const std::shared_ptr<SandboxProvider> &provider() const;
    LeaseRegistry &registry();
    /// Remembers who speaks for an owner, so that lease events carry its run and agent. Forgotten at release.
    void announce(const LeaseOwner &owner, EventSink events);
    /// For an owner that ended without ever holding a lease.
    void forget(const LeaseOwner &owner);
    /// Faults of one thread's scenario: provider.* are injected here, the others are handed to the provider. Null ends them.
    void setFaults(const ThreadKey &key, std::shared_ptr<FaultPlan> faults);

private:
    struct State;
    std::shared_ptr<State> m_state;
};

/// One execution's way to its thread's sandbox: acquires lazily, holds at most one lease, releases once. Lives with the
/// execution; its methods are called on the execution's loop.
class SandboxAccess
{
public:
    SandboxAccess(std::shared_ptr<SandboxLeases> leases, LeaseOwner owner, ThreadKey key, EventSink events,
                  SandboxId inherited = {});

    /// The sandbox, acquiring the lease at the first call (sandbox.md §4.3). Concurrent calls of one turn share it.
    Task<Result<SandboxPtr>> ensure(std::stop_token stop);
    /// The sandbox if this execution holds it already; no I/O.
    SandboxPtr current() const;
    SandboxId currentId() const;
    /// Shielded and idempotent; afterwards ensure() fails with FailedPrecondition.
    Task<> release();

    const LeaseOwner &owner() const { return m_owner; }
    ScopeId scope() const { return ScopeId(m_owner.value()); }
    const ThreadKey &key() const { return m_key; }

private:
    std::shared_ptr<SandboxLeases> m_leases;
    LeaseOwner m_owner;
    ThreadKey m_key;
    EventSink m_events;
    SandboxId m_inherited;
    struct Shared;
    std::shared_ptr<Shared> m_shared;
};

} // namespace paddock
