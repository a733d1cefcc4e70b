// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/ids.h"

#include <map>
#include <memory>
#include <mutex>
#include <optional>

namespace paddock {

/// How often an ownership is renewed and how long it lasts without (sandbox.md §7.6). Never derived from the idle timeout.
struct OwnershipTimes {
    std::chrono::seconds renewal{30};
    int ttlMultiplier = 4; ///< at least 2
    std::chrono::seconds ttl() const { return renewal * ttlMultiplier; }
};

/// Who may reap which sandbox, for all that share this table. Not a lease: see core/lease. Memory only, so it knows the
/// owners of one process. Thread-safe.
class OwnershipTable
{
public:
    explicit OwnershipTable(std::chrono::seconds ttl, std::shared_ptr<const Clock> clock = Clock::system());

private:
    friend class OwnershipStore;
    struct Entry {
        QString owner;
        bool destroying = false;
        std::chrono::microseconds until{0};
    };
    const std::chrono::microseconds m_ttl;
    const std::shared_ptr<const Clock> m_clock;
    mutable std::mutex m_mutex; // guards m_entries
    std::map<SandboxId, Entry> m_entries;
};

/// One owner's view of the table (sandbox.md §7.6). A value; thread-safe.
class OwnershipStore
{
public:
    enum class Renewal { Renewed, Lapsed, Lost };
    enum class Purpose { Adopt, Destroy };

    OwnershipStore(std::shared_ptr<OwnershipTable> table, QString owner) : m_table(std::move(table)), m_owner(std::move(owner)) {}
    /// "<hostname>:<hex uuid>"
    static QString newOwnerId();

    const QString &owner() const { return m_owner; }
    /// On the way of an acquire: takes over from a peer, but never against a teardown.
    bool take(const SandboxId &id);
    /// Never takes from a peer. For destroy it marks the teardown, and renews the mark.
    bool claim(const SandboxId &id, Purpose purpose);
    Renewal renew(const SandboxId &id);
    /// Clears what is ours only.
    void release(const SandboxId &id);
    std::optional<QString> ownerOf(const SandboxId &id) const;

    /// The error of a refused take.
    static Error refusedTake(const SandboxId &id);

private:
    OwnershipTable::Entry *find(const SandboxId &id) const; // with the mutex held; an entry past its time is gone
    void put(const SandboxId &id, bool destroying);         // with the mutex held

    std::shared_ptr<OwnershipTable> m_table;
    QString m_owner;
};

} // namespace paddock
