// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
//
// Acquire and release of a lease whose sandbox somebody else holds too, beside a map behind a mutex.
#include "core/lease/lease_registry.h"
#include "tests/bench/bench.h"

#include <QCoroTask>

#include <map>
#include <mutex>
#include <thread>

namespace paddock::bench {
namespace {

/// A provider that answers at once, so that only the registry is measured.
class InstantHost : public LeaseHost
{
public:
    Task<Result<SandboxId>> acquireSandbox(ThreadKey key, LeaseOwner, std::stop_token) override { co_return SandboxId(key.thread.value()); }
    bool isAlive(const SandboxId &) override { return true; }
    Task<> releaseScope(SandboxId, LeaseOwner) override { co_return; }
    Task<Result<void>> releaseSandbox(SandboxId) override { co_return Result<void>(); }
};

struct Who {
    ThreadKey key;
    LeaseOwner holder; ///< keeps the sandbox for the whole time
    LeaseOwner owner;  ///< comes and goes
};

Who whoOf(int thread)
{
    const QString name = QStringLiteral("t%1").arg(thread);
    return {{UserId(QStringLiteral("u")), ThreadId(name)}, runOwner(RunId(name)), subagentOwner(name)};
}

Task<> comeAndGo(LeaseRegistry *registry, Who who, int count)
{
    for (int i = 0; i < count; ++i) {
        (void)co_await registry->acquire(who.owner, who.key, true, {});
        co_await registry->release(who.owner);
    }
}

/// What everybody would write first.
class GuardedMap
{
public:
    void comeAndGo(const Who &who, int count)
    {
        for (int i = 0; i < count; ++i) {
            {
                const std::lock_guard lock(m_mutex);
                m_leases.insert_or_assign(who.owner, LeaseInfo{who.owner, SandboxId(who.key.thread.value()), who.key, true, {}});
            }
            const std::lock_guard lock(m_mutex);
            m_leases.erase(who.owner);
        }
    }

private:
    std::mutex m_mutex; // guards m_leases
    std::map<LeaseOwner, LeaseInfo> m_leases;
};

double onThreads(int threads, const std::function<void(int)> &work)
{
    return secondsOf([&] {
        std::vector<std::jthread> running;
        for (int i = 0; i < threads; ++i)
            running.emplace_back([&work, i] { work(i); });
    });
}

QString nanoseconds(double seconds)
{
    return QStringLiteral("%1 ns").arg(seconds * 1e9, 0, 'f', 0);
}

} // namespace

Readings leases(const Scale &scale)
{
    constexpr int threads = 64;
    const int alone = scale.of(50'000, 20);
    const int each = scale.of(4'000, 3);
    LeaseRegistry registry(std::make_shared<InstantHost>());
    GuardedMap map;
    for (int i = 0; i < threads; ++i) {
        const Who who = whoOf(i);
        if (const auto held = QCoro::waitFor(registry.acquire(who.holder, who.key, true, {})); !held)
            return fail(held.error());
    }
    std::vector<double> single, singlePeer, many, manyPeer;
    for (int round = 0; round < scale.of(7, 1); ++round) {
        single.push_back(secondsOf([&] { QCoro::waitFor(comeAndGo(&registry, whoOf(0), alone)); }) / alone);
        singlePeer.push_back(secondsOf([&] { map.comeAndGo(whoOf(0), alone); }) / alone);
        const double pairs = double(threads) * each;
        many.push_back(onThreads(threads, [&](int i) { QCoro::waitFor(comeAndGo(&registry, whoOf(i), each)); }) / pairs);
        manyPeer.push_back(onThreads(threads, [&](int i) { map.comeAndGo(whoOf(i), each); }) / pairs);
    }
    return QList<Reading>{
        {QStringLiteral("lease acquire and release, nobody else"), nanoseconds(median(single)),
         QStringLiteral("a map behind a mutex ") + nanoseconds(median(singlePeer)), median(single) * 1e6, 1, QStringLiteral("us")},
        {QStringLiteral("lease acquire and release, 64 threads"), nanoseconds(median(many)),
         QStringLiteral("a map behind a mutex ") + nanoseconds(median(manyPeer)), median(many) / median(manyPeer), 2,
         QStringLiteral("x the map")},
    };
}

} // namespace paddock::bench
