// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/lease/lease_registry.h"

#include "core/base/async.h"

#include <QLoggingCategory>

#include <map>
#include <optional>
#include <set>

Q_LOGGING_CATEGORY(lcLease, "paddock.lease")

namespace paddock {

struct LeaseRegistry::State {
    struct Binding {
        SandboxId sandbox;
        ThreadKey key;
        bool releaseOnLast = true;
        Clock::Wall since{};
    };
    /// The serializer of one key; lives as long as somebody uses it.
    struct KeyLock {
        AsyncMutex lock;
        int users = 0;
    };

    std::shared_ptr<LeaseHost> host;
    std::shared_ptr<const Clock> clock;

    mutable std::mutex mutex; // guards all below; never held across a call-out
    std::map<LeaseOwner, Binding> bindings;
    std::map<SandboxId, std::set<LeaseOwner>> owners;
    std::set<SandboxId> pending; ///< a normal owner has asked for the provider's release
    std::map<ThreadKey, std::shared_ptr<KeyLock>> locks;
    int inFlight = 0;
    std::vector<Completion<void>> idleWaiters;
    std::shared_ptr<const Observer> observer;

    std::optional<Binding> bindingOf(const LeaseOwner &owner) const
    {
        const std::lock_guard guard(mutex);
        const auto it = bindings.find(owner);
        return it == bindings.end() ? std::nullopt : std::optional(it->second);
    }
    std::vector<LeaseOwner> ownersLocked(const SandboxId &sandbox) const
    {
        const auto it = owners.find(sandbox);
        return it == owners.end() ? std::vector<LeaseOwner>() : std::vector<LeaseOwner>(it->second.begin(), it->second.end());
    }
    bool hasOwners(const SandboxId &sandbox) const
    {
        const std::lock_guard guard(mutex);
        return owners.contains(sandbox);
    }
    void removeOwnerLocked(const SandboxId &sandbox, const LeaseOwner &owner)
    {
        const auto it = owners.find(sandbox);
        if (it == owners.end())
            return;
        it->second.erase(owner);
        if (it->second.empty())
            owners.erase(it);
    }
    /// True when nobody is left and a normal owner had asked for the park; clears the request.
    bool takeParkLocked(const SandboxId &sandbox) { return !owners.contains(sandbox) && pending.erase(sandbox) > 0; }

    void tell(const LeaseChange &change) const
    {
        std::shared_ptr<const Observer> target;
        {
            const std::lock_guard guard(mutex);
            target = observer;
        }
        if (target && *target)
            (*target)(change);
    }
};

namespace {

/// Counts one transition for drain().
template<typename S>
class Flight
{
public:
    explicit Flight(std::shared_ptr<S> state) : m_state(std::move(state))
    {
        const std::lock_guard guard(m_state->mutex);
        ++m_state->inFlight;
    }
    Flight(const Flight &) = delete;
    Flight &operator=(const Flight &) = delete;
    ~Flight()
    {
        std::vector<Completion<void>> waiters;
        {
            const std::lock_guard guard(m_state->mutex);
            if (--m_state->inFlight == 0)
                waiters.swap(m_state->idleWaiters);
        }
        for (const auto &waiter : waiters)
            waiter.complete();
    }

private:
    std::shared_ptr<S> m_state;
};

/// Holds a place at the serializer of one key: keeps it alive while waiting and while holding.
template<typename S>
class KeySeat
{
public:
    KeySeat(std::shared_ptr<S> state, ThreadKey key) : m_state(std::move(state)), m_key(std::move(key))
    {
        const std::lock_guard guard(m_state->mutex);
        auto &slot = m_state->locks[m_key];
        if (!slot)
            slot = std::make_shared<typename S::KeyLock>();
        ++slot->users;
        m_lock = slot;
    }
    KeySeat(const KeySeat &) = delete;
    KeySeat &operator=(const KeySeat &) = delete;
    ~KeySeat()
    {
        const std::lock_guard guard(m_state->mutex);
        if (--m_lock->users == 0)
            m_state->locks.erase(m_key);
    }
    AsyncMutex &lock() { return m_lock->lock; }

private:
    std::shared_ptr<S> m_state;
    ThreadKey m_key;
    std::shared_ptr<typename S::KeyLock> m_lock;
};

QString textOfCurrentException()
{
    try {
        throw;
    } catch (const std::exception &e) {
        return QString::fromUtf8(e.what());
    } catch (...) {
        return QStringLiteral("unknown exception");
    }
}

Task<Result<SandboxId>> hostAcquire(std::shared_ptr<LeaseHost> host, ThreadKey key, LeaseOwner owner, std::stop_token stop)
{
    try {
        co_return co_await host->acquireSandbox(key, owner, stop);
    } catch (...) {
        co_return fail(ErrorCode::Internal, textOfCurrentException());
    }
}

/// The scope's end never stops the release (sandbox.md §4.5).
Task<> hostReleaseScope(std::shared_ptr<LeaseHost> host, SandboxId sandbox, LeaseOwner owner)
{
    try {
        if (host->isAlive(sandbox))
            co_await host->releaseScope(sandbox, owner);
    } catch (...) {
        qCWarning(lcLease, "Ending the command scope of %ls on sandbox %ls failed: %ls", qUtf16Printable(owner.value()),
                  qUtf16Printable(sandbox.value()), qUtf16Printable(textOfCurrentException()));
    }
}

Task<Result<void>> hostReleaseSandbox(std::shared_ptr<LeaseHost> host, SandboxId sandbox)
{
    try {
        co_return co_await host->releaseSandbox(sandbox);
    } catch (...) {
        co_return fail(ErrorCode::Internal, textOfCurrentException());
    }
}

/// The provider's release with its facts. The result is for the caller's log only.
template<typename S>
Task<Result<void>> releaseSandbox(std::shared_ptr<S> state, SandboxId sandbox, LeaseOwner owner)
{
    const Result<void> result = co_await hostReleaseSandbox(state->host, sandbox);
    LeaseChange change{.kind = LeaseChange::Kind::SandboxReleased, .sandbox = sandbox, .owner = owner, .owners = {}, .error = {}};
    if (!result) {
        change.kind = LeaseChange::Kind::SandboxReleaseFailed;
        change.error = result.error().fullMessage();
    }
    state->tell(change);
    co_return result;
}

/// Binds; `previous` is where the owner was bound before. The caller holds the key.
template<typename S>
Task<> bindOwner(std::shared_ptr<S> state, LeaseOwner owner, SandboxId sandbox, ThreadKey key, bool releaseOnLast,
                 std::optional<SandboxId> dropped)
{
    LeaseChange acquired{.kind = LeaseChange::Kind::Acquired, .sandbox = sandbox, .owner = owner, .owners = {}, .error = {}};
    LeaseChange left{.kind = LeaseChange::Kind::Released, .sandbox = {}, .owner = owner, .owners = {}, .error = {}};
    std::optional<SandboxId> previous;
    {
        const std::lock_guard guard(state->mutex);
        if (const auto it = state->bindings.find(owner); it != state->bindings.end()) {
            if (it->second.sandbox == sandbox) {
                it->second.releaseOnLast = it->second.releaseOnLast || releaseOnLast; // never a downgrade
                co_return;
            }
            previous = it->second.sandbox;
            state->removeOwnerLocked(*previous, owner);
            left.sandbox = *previous;
            left.owners = state->ownersLocked(*previous);
            left.last = left.owners.empty();
            left.parks = left.last && state->pending.contains(*previous);
        }
        state->bindings[owner] = {sandbox, key, releaseOnLast, state->clock->wall()};
        state->owners[sandbox].insert(owner);
        acquired.owners = state->ownersLocked(sandbox);
    }
    if (previous)
        state->tell(left);
    state->tell(acquired);
    // Upstream forgets the old sandbox here; ours ends the scope there and executes a park that nobody else can.
    if (!previous)
        previous = dropped;
    if (!previous || *previous == sandbox)
        co_return;
    co_await hostReleaseScope(state->host, *previous, owner);
    bool park = false;
    {
        const std::lock_guard guard(state->mutex);
        park = state->takeParkLocked(*previous);
    }
    if (park)
        (void)co_await releaseSandbox(state, *previous, owner);
}

/// Step 1 of acquire: the id when the owner's binding is good, an error when it may not move, else what was dropped.
struct Existing {
    Result<SandboxId> id = SandboxId(); ///< empty: go on
    std::optional<SandboxId> dropped;
};

template<typename S>
Existing checkExisting(const std::shared_ptr<S> &state, const LeaseOwner &owner, const ThreadKey &key, bool releaseOnLast)
{
    const auto binding = state->bindingOf(owner);
    if (!binding)
        return {};
    if (binding->key != key)
        return {fail(ErrorCode::FailedPrecondition,
                     QStringLiteral("Sandbox lease owner '%1' cannot move between thread identities").arg(owner.value())),
                {}};
    const bool alive = state->host->isAlive(binding->sandbox);
    LeaseChange change{.kind = LeaseChange::Kind::Released, .sandbox = binding->sandbox, .owner = owner, .owners = {}, .error = {}};
    {
        const std::lock_guard guard(state->mutex);
        const auto it = state->bindings.find(owner);
        if (it == state->bindings.end())
            return {};
        if (alive) {
            it->second.releaseOnLast = it->second.releaseOnLast || releaseOnLast;
            return {it->second.sandbox, {}};
        }
        // A dead sandbox: the binding goes without asking for a park.
        state->bindings.erase(it);
        state->removeOwnerLocked(binding->sandbox, owner);
        change.owners = state->ownersLocked(binding->sandbox);
        change.last = change.owners.empty();
    }
    state->tell(change);
    return {SandboxId(), binding->sandbox};
}

/// A sandbox that arrived after the cancellation: given back when nobody else holds it (sandbox.md §4.4).
template<typename S>
Task<> rollBack(std::shared_ptr<S> state, SandboxId sandbox, LeaseOwner owner)
{
    if (state->hasOwners(sandbox))
        co_return;
    {
        const std::lock_guard guard(state->mutex);
        state->pending.erase(sandbox);
    }
    const Result<void> result = co_await releaseSandbox(state, sandbox, owner);
    if (!result)
        qCWarning(lcLease, "Cancelled sandbox acquire rollback failed during reconciliation: %ls",
                  qUtf16Printable(result.error().fullMessage()));
}

template<typename S>
Task<Result<SandboxId>> acquireOn(std::shared_ptr<S> state, LeaseOwner owner, std::optional<SandboxId> inherited, ThreadKey key,
                                  bool releaseOnLast, std::stop_token stop)
{
    const Flight<S> flight(state);
    KeySeat<S> seat(state, key);
    const AsyncMutex::Guard guard = co_await seat.lock().lock(stop);
    if (!guard || stop.stop_requested())
        co_return cancelled();

    const Existing existing = checkExisting(state, owner, key, releaseOnLast);
    if (!existing.id || !existing.id->isEmpty())
        co_return existing.id;
    if (inherited && !inherited->isEmpty() && state->host->isAlive(*inherited)) {
        co_await bindOwner(state, owner, *inherited, key, releaseOnLast, existing.dropped);
        co_return *inherited;
    }

    const Result<SandboxId> id = co_await hostAcquire(state->host, key, owner, stop);
    if (stop.stop_requested()) {
        if (id)
            co_await rollBack(state, *id, owner);
        else if (!id.error().isCancelled())
            qCWarning(lcLease, "Cancelled sandbox acquire failed during reconciliation: %ls",
                      qUtf16Printable(id.error().fullMessage()));
        co_return cancelled();
    }
    if (!id)
        co_return id;
    co_await bindOwner(state, owner, *id, key, releaseOnLast, existing.dropped);
    co_return *id;
}

template<typename S>
Task<Result<void>> retainOn(std::shared_ptr<S> state, LeaseOwner owner, SandboxId sandbox, ThreadKey key, bool releaseOnLast,
                            std::stop_token stop)
{
    const Flight<S> flight(state);
    KeySeat<S> seat(state, key);
    const AsyncMutex::Guard guard = co_await seat.lock().lock(stop);
    if (!guard || stop.stop_requested())
        co_return cancelled();
    if (const auto binding = state->bindingOf(owner); binding && binding->key != key)
        co_return fail(ErrorCode::FailedPrecondition,
                       QStringLiteral("Sandbox lease owner '%1' cannot move between thread identities").arg(owner.value()));
    co_await bindOwner(state, owner, sandbox, key, releaseOnLast, std::nullopt);
    co_return Result<void>();
}

template<typename S>
Task<> releaseOn(std::shared_ptr<S> state, LeaseOwner owner)
{
    const Flight<S> flight(state);
    const auto before = state->bindingOf(owner);
    if (!before)
        co_return;
    KeySeat<S> seat(state, before->key);
    const AsyncMutex::Guard guard = co_await seat.lock().lock();

    LeaseChange draining{.kind = LeaseChange::Kind::Draining, .sandbox = {}, .owner = owner, .owners = {}, .error = {}};
    {
        const std::lock_guard lock(state->mutex);
        const auto it = state->bindings.find(owner);
        if (it == state->bindings.end() || it->second.key != before->key)
            co_return; // released meanwhile, and perhaps bound elsewhere: not ours to end
        draining.sandbox = it->second.sandbox;
        draining.owners = state->ownersLocked(draining.sandbox);
        if (it->second.releaseOnLast)
            state->pending.insert(draining.sandbox);
        state->bindings.erase(it);
        state->removeOwnerLocked(draining.sandbox, owner);
    }
    const SandboxId sandbox = draining.sandbox;
    state->tell(draining);
    co_await hostReleaseScope(state->host, sandbox, owner);

    LeaseChange released{.kind = LeaseChange::Kind::Released, .sandbox = sandbox, .owner = owner, .owners = {}, .error = {}};
    {
        const std::lock_guard lock(state->mutex);
        released.owners = state->ownersLocked(sandbox);
        released.last = released.owners.empty();
        released.parks = state->takeParkLocked(sandbox);
    }
    state->tell(released);
    if (!released.parks)
        co_return;
    const Result<void> result = co_await releaseSandbox(state, sandbox, owner);
    if (!result)
        qCWarning(lcLease, "Releasing sandbox %ls failed: %ls", qUtf16Printable(sandbox.value()),
                  qUtf16Printable(result.error().fullMessage()));
}

} // namespace

LeaseRegistry::LeaseRegistry(std::shared_ptr<LeaseHost> host, std::shared_ptr<const Clock> clock)
    : m_state(std::make_shared<State>())
{
    m_state->host = std::move(host);
    m_state->clock = std::move(clock);
}

LeaseRegistry::~LeaseRegistry() = default;

void LeaseRegistry::setObserver(Observer observer)
{
    const std::lock_guard guard(m_state->mutex);
    m_state->observer = std::make_shared<const Observer>(std::move(observer));
}

Task<Result<SandboxId>> LeaseRegistry::acquire(LeaseOwner owner, ThreadKey key, bool releaseOnLast, std::stop_token stop)
{
    return acquireOn(m_state, std::move(owner), std::nullopt, std::move(key), releaseOnLast, std::move(stop));
}

Task<Result<void>> LeaseRegistry::retain(LeaseOwner owner, SandboxId sandbox, ThreadKey key, bool releaseOnLast, std::stop_token stop)
{
    return retainOn(m_state, std::move(owner), std::move(sandbox), std::move(key), releaseOnLast, std::move(stop));
}

Task<Result<SandboxId>> LeaseRegistry::reuseOrAcquire(LeaseOwner owner, SandboxId sandbox, ThreadKey key, bool releaseOnLast,
                                                      std::stop_token stop)
{
    return acquireOn(m_state, std::move(owner), std::move(sandbox), std::move(key), releaseOnLast, std::move(stop));
}

Task<> LeaseRegistry::release(LeaseOwner owner)
{
    return releaseOn(m_state, std::move(owner));
}

std::vector<LeaseInfo> LeaseRegistry::leases() const
{
    const std::lock_guard guard(m_state->mutex);
    std::vector<LeaseInfo> list;
    list.reserve(m_state->bindings.size());
    for (const auto &[owner, binding] : m_state->bindings)
        list.push_back({owner, binding.sandbox, binding.key, binding.releaseOnLast, binding.since});
    return list;
}

std::vector<LeaseOwner> LeaseRegistry::ownersOf(const SandboxId &sandbox) const
{
    const std::lock_guard guard(m_state->mutex);
    return m_state->ownersLocked(sandbox);
}

Task<std::vector<LeaseOwner>> LeaseRegistry::drain(std::chrono::milliseconds limit)
{
    const std::shared_ptr<State> state = m_state;
    Completion<void> idle;
    {
        const std::lock_guard guard(state->mutex);
        if (state->inFlight == 0)
            idle.complete();
        else
            state->idleWaiters.push_back(idle);
    }
    Completion<bool> done;
    idle.observe([done] { done.complete(true); });
    (void)co_await waitFor(done, {}, limit);
    std::vector<LeaseOwner> bound;
    const std::lock_guard guard(state->mutex);
    for (const auto &[owner, binding] : state->bindings)
        bound.push_back(owner);
    co_return bound;
}

} // namespace paddock
