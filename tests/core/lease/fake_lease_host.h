// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/async.h"
#include "core/lease/lease_registry.h"

#include <QCoreApplication>
#include <QStringList>

#include <atomic>
#include <deque>
#include <map>
#include <set>
#include <stdexcept>

namespace paddock::test {

/// Runs everything that is posted to the calling thread's loop until it is quiet.
inline void settle(int rounds = 12)
{
    for (int i = 0; i < rounds; ++i)
        QCoreApplication::sendPostedEvents();
}

/// A provider that fails and blocks on demand. One thread.
class FakeLeaseHost : public LeaseHost
{
public:
    struct Call {
        QString what; ///< acquire, scope, release
        Completion<Result<void>> gate;
    };

    bool holdAcquire = false;
    bool holdScope = false;
    bool holdRelease = false;
    bool scopeThrows = false;
    bool acquireThrows = false;
    QStringList journal;
    std::map<ThreadKey, SandboxId> cache;
    std::set<SandboxId> alive;
    std::deque<Call> held;
    int made = 0;

    void makeAlive(const SandboxId &id) { alive.insert(id); }
    void kill(const SandboxId &id)
    {
        alive.erase(id);
        std::erase_if(cache, [&](const auto &entry) { return entry.second == id; });
    }
    /// Lets the oldest held call go on, or fail.
    bool finishOne(std::optional<QString> error, std::size_t index = 0)
    {
        if (index >= held.size())
            return false;
        const Call call = held[index];
        held.erase(held.begin() + std::ptrdiff_t(index));
        return error ? call.gate.complete(fail(ErrorCode::Unavailable, *error)) : call.gate.complete(Result<void>());
    }

    Task<Result<SandboxId>> acquireSandbox(ThreadKey key, LeaseOwner, std::stop_token) override
    {
        if (acquireThrows)
            throw std::runtime_error("thrown");
        if (holdAcquire) {
            const Completion<Result<void>> gate;
            held.push_back({QStringLiteral("acquire"), gate});
            const Result<void> go = co_await gate;
            if (!go)
                co_return fail(go.error());
        }
        auto &slot = cache[key];
        if (slot.isEmpty() || !alive.contains(slot)) {
            slot = SandboxId(QStringLiteral("sbx-%1").arg(++made));
            alive.insert(slot);
        }
        journal << QStringLiteral("acquire ") + slot.value();
        co_return SandboxId(slot); // a copy: QCoro moves from lvalues (core/base/task.h)
    }
    bool isAlive(const SandboxId &sandbox) override { return alive.contains(sandbox); }
    Task<> releaseScope(SandboxId sandbox, LeaseOwner owner) override
    {
        journal << QStringLiteral("scope %1 %2").arg(sandbox.value(), owner.value());
        if (scopeThrows)
            throw std::runtime_error("scope");
        if (holdScope) {
            const Completion<Result<void>> gate;
            held.push_back({QStringLiteral("scope"), gate});
            (void)co_await gate;
        }
    }
    Task<Result<void>> releaseSandbox(SandboxId sandbox) override
    {
        journal << QStringLiteral("release ") + sandbox.value();
        if (holdRelease) {
            const Completion<Result<void>> gate;
            held.push_back({QStringLiteral("release"), gate});
            co_return co_await gate;
        }
        co_return Result<void>();
    }
};

/// Every call hops through the loop; counts calls of one key that overlap. Any thread.
class ThreadedLeaseHost : public LeaseHost
{
public:
    std::atomic<int> overlaps = 0;
    std::atomic<int> releasedWhileOwned = 0;

    Task<Result<SandboxId>> acquireSandbox(ThreadKey key, LeaseOwner, std::stop_token) override
    {
        const SandboxId id(key.thread.value());
        enter(id);
        co_await hop();
        leave(id);
        co_return id;
    }
    bool isAlive(const SandboxId &) override { return true; }
    Task<> releaseScope(SandboxId sandbox, LeaseOwner) override
    {
        enter(sandbox);
        co_await hop();
        leave(sandbox);
    }
    Task<Result<void>> releaseSandbox(SandboxId sandbox) override
    {
        enter(sandbox);
        co_await hop();
        leave(sandbox);
        co_return Result<void>();
    }

private:
    static Task<> hop()
    {
        const Completion<void> turn;
        LoopRef::current().post([turn] { turn.complete(); });
        co_await turn;
    }
    void enter(const SandboxId &id)
    {
        const std::lock_guard lock(m_mutex);
        if (++m_inside[id] > 1)
            ++overlaps;
    }
    void leave(const SandboxId &id)
    {
        const std::lock_guard lock(m_mutex);
        --m_inside[id];
    }
    std::mutex m_mutex; // guards m_inside
    std::map<SandboxId, int> m_inside;
};

} // namespace paddock::test
