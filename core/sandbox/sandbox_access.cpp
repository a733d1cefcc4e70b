// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/sandbox_access.h"

#include "core/base/async.h"

#include <QElapsedTimer>

#include <map>

namespace paddock {

namespace {

QStringList namesOf(const std::vector<LeaseOwner> &owners)
{
    QStringList names;
    names.reserve(qsizetype(owners.size()));
    for (const LeaseOwner &owner : owners)
        names << owner.value();
    return names;
}

/// Who speaks for which owner, and which sandbox objects were already told as acquired. Thread-safe.
class Desk
{
public:
    explicit Desk(std::shared_ptr<SandboxProvider> provider) : m_provider(std::move(provider)) {}

    const std::shared_ptr<SandboxProvider> &provider() const { return m_provider; }

    void announce(const LeaseOwner &owner, EventSink sink)
    {
        const std::lock_guard lock(m_mutex);
        m_sinks[owner] = {std::move(sink), false};
    }
    EventSink sinkOf(const LeaseOwner &owner) const
    {
        const std::lock_guard lock(m_mutex);
        const auto it = m_sinks.find(owner);
        return it == m_sinks.end() ? EventSink() : it->second.sink;
    }
    void markLeaving(const LeaseOwner &owner)
    {
        const std::lock_guard lock(m_mutex);
        if (const auto it = m_sinks.find(owner); it != m_sinks.end())
            it->second.leaving = true;
    }
    /// Unless the owner was announced again meanwhile.
    void forget(const LeaseOwner &owner)
    {
        const std::lock_guard lock(m_mutex);
        if (const auto it = m_sinks.find(owner); it != m_sinks.end() && it->second.leaving)
            m_sinks.erase(it);
    }
    void setFaults(const ThreadKey &key, std::shared_ptr<FaultPlan> faults)
    {
        const std::lock_guard lock(m_mutex);
        if (faults)
            m_faults[key] = std::move(faults);
        else
            m_faults.erase(key);
    }
    std::optional<FaultPlan::Rule> fault(const ThreadKey &key, FaultPlan::Point point, const QString &scope) const
    {
        std::shared_ptr<FaultPlan> plan;
        {
            const std::lock_guard lock(m_mutex);
            const auto it = m_faults.find(key);
            if (it == m_faults.end())
                return std::nullopt;
            plan = it->second;
        }
        return plan->next(point, scope);
    }
    /// True when this object was not told before (a dead sandbox comes back under the same id).
    bool isNew(const SandboxId &id, const ThreadKey &key, const SandboxPtr &sandbox)
    {
        const std::lock_guard lock(m_mutex);
        Known &known = m_known[id];
        known.key = key;
        if (sandbox && known.object.lock() == sandbox)
            return false;
        known.object = sandbox;
        return true;
    }
    std::optional<ThreadKey> keyOf(const SandboxId &id) const
    {
        const std::lock_guard lock(m_mutex);
        const auto it = m_known.find(id);
        return it == m_known.end() ? std::nullopt : std::optional(it->second.key);
    }
    void gone(const SandboxId &id)
    {
        const std::lock_guard lock(m_mutex);
        m_known.erase(id);
    }

private:
    struct Speaker {
        EventSink sink;
        bool leaving = false;
    };
    struct Known {
        ThreadKey key;
        std::weak_ptr<Sandbox> object;
    };
    const std::shared_ptr<SandboxProvider> m_provider;
    mutable std::mutex m_mutex; // guards all below
    std::map<LeaseOwner, Speaker> m_sinks;
    std::map<ThreadKey, std::shared_ptr<FaultPlan>> m_faults;
    std::map<SandboxId, Known> m_known;
};

/// A fault of the plan, acted out: a pause, or a failure with the plan's words.
Task<Result<void>> actOut(std::optional<FaultPlan::Rule> rule, std::stop_token stop)
{
    if (!rule)
        co_return Result<void>();
    if (rule->action == FaultPlan::Action::Latency) {
        if (!co_await sleepFor(rule->delay, stop))
            co_return cancelled();
        co_return Result<void>();
    }
    if (rule->action == FaultPlan::Action::Fail)
        co_return fail(ErrorCode::Unavailable, rule->message);
    co_return Result<void>(); // session faults do not apply to a provider
}

class ProviderHost : public LeaseHost
{
public:
    explicit ProviderHost(std::shared_ptr<Desk> desk) : m_desk(std::move(desk)) {}

    Task<Result<SandboxId>> acquireSandbox(ThreadKey key, LeaseOwner owner, std::stop_token stop) override
    {
        return acquire(m_desk, std::move(key), std::move(owner), std::move(stop));
    }
    bool isAlive(const SandboxId &sandbox) override { return m_desk->provider()->get(sandbox) != nullptr; }
    Task<> releaseScope(SandboxId sandbox, LeaseOwner owner) override
    {
        return endScope(m_desk->provider()->get(sandbox), std::move(owner));
    }
    Task<Result<void>> releaseSandbox(SandboxId sandbox) override { return release(m_desk, std::move(sandbox)); }

private:
    static Task<Result<SandboxId>> acquire(std::shared_ptr<Desk> desk, ThreadKey key, LeaseOwner owner, std::stop_token stop)
    {
        QElapsedTimer timer;
        timer.start();
        const EventSink sink = desk->sinkOf(owner);
        const std::shared_ptr<SandboxProvider> provider = desk->provider();
        Result<SandboxId> id = SandboxId();
        const Result<void> go = co_await actOut(desk->fault(key, FaultPlan::Point::ProviderAcquire, owner.value()), stop);
        if (go)
            id = co_await provider->acquire(key, sink, stop);
        else
            id = fail(go.error());
        if (!id) {
            if (!id.error().isCancelled())
                sink.emitEvent(SandboxFailed{{}, id.error().fullMessage(), QStringLiteral("acquire")});
            co_return id;
        }
        if (desk->isNew(*id, key, provider->get(*id)))
            sink.emitEvent(SandboxAcquired{id->value(), provider->providerName(), provider->backendName(),
                                           QStringLiteral("created"), provider->sessionLimit(), timer.elapsed()});
        co_return id;
    }
    static Task<> endScope(SandboxPtr sandbox, LeaseOwner owner)
    {
        if (sandbox)
            co_await sandbox->releaseCommandScope(ScopeId(owner.value()));
    }
    static Task<Result<void>> release(std::shared_ptr<Desk> desk, SandboxId sandbox)
    {
        const ThreadKey key = desk->keyOf(sandbox).value_or(ThreadKey());
        const Result<void> go = co_await actOut(desk->fault(key, FaultPlan::Point::ProviderRelease, {}), {});
        if (!go)
            co_return go;
        const Result<void> released = co_await desk->provider()->release(sandbox);
        if (released)
            desk->gone(sandbox);
        co_return released;
    }

    std::shared_ptr<Desk> m_desk;
};

void tellChange(Desk &desk, const LeaseChange &change)
{
    const EventSink sink = desk.sinkOf(change.owner);
    const QString sandbox = change.sandbox.value();
    const QString owner = change.owner.value();
    switch (change.kind) {
    case LeaseChange::Kind::Acquired:
        sink.emitEvent(LeaseAcquired{sandbox, owner, namesOf(change.owners)});
        break;
    case LeaseChange::Kind::Draining:
        desk.markLeaving(change.owner);
        sink.emitEvent(LeaseDraining{sandbox, owner, namesOf(change.owners)});
        break;
    case LeaseChange::Kind::Released:
        sink.emitEvent(LeaseReleased{sandbox, owner, namesOf(change.owners), change.last});
        if (!change.parks)
            desk.forget(change.owner);
        break;
    case LeaseChange::Kind::SandboxReleased:
        sink.emitEvent(SandboxReleased{sandbox, desk.provider()->providerName(), desk.provider()->backendName()});
        desk.forget(change.owner);
        break;
    case LeaseChange::Kind::SandboxReleaseFailed:
        sink.emitEvent(SandboxFailed{sandbox, change.error, QStringLiteral("release")});
        desk.forget(change.owner);
        break;
    }
}

} // namespace

struct SandboxLeases::State {
    explicit State(std::shared_ptr<SandboxProvider> provider)
        : desk(std::make_shared<Desk>(std::move(provider))), registry(std::make_shared<ProviderHost>(desk))
    {
        registry.setObserver([desk = desk](const LeaseChange &change) { tellChange(*desk, change); });
    }
    std::shared_ptr<Desk> desk;
    LeaseRegistry registry;
};

SandboxLeases::SandboxLeases(std::shared_ptr<SandboxProvider> provider) : m_state(std::make_shared<State>(std::move(provider))) {}

SandboxLeases::~SandboxLeases() = default;

const std::shared_ptr<SandboxProvider> &SandboxLeases::provider() const
{
    return m_state->desk->provider();
}

LeaseRegistry &SandboxLeases::registry()
{
    return m_state->registry;
}

void SandboxLeases::announce(const LeaseOwner &owner, EventSink events)
{
    m_state->desk->announce(owner, std::move(events));
}

void SandboxLeases::forget(const LeaseOwner &owner)
{
    m_state->desk->markLeaving(owner);
    m_state->desk->forget(owner);
}

void SandboxLeases::setFaults(const ThreadKey &key, std::shared_ptr<FaultPlan> faults)
{
    m_state->desk->setFaults(key, faults);
    provider()->setFaults(key, std::move(faults));
}

/// Shared by the access object and the coroutines it started, which may outlive it.
struct SandboxAccess::Shared {
    std::shared_ptr<SandboxLeases> leases;
    LeaseOwner owner;
    ThreadKey key;
    SandboxId inherited;
    static constexpr int acquireTries = 2;
    AsyncMutex turn; ///< one acquisition or release at a time

    mutable std::mutex mutex; // guards all below
    SandboxId held;
    bool closed = false;

    SandboxPtr current() const
    {
        const std::lock_guard lock(mutex);
        return held.isEmpty() ? nullptr : leases->provider()->get(held);
    }

    static Task<Result<SandboxPtr>> ensure(std::shared_ptr<Shared> self, std::stop_token stop)
    {
        if (const SandboxPtr sandbox = self->currentIfOpen(); sandbox && !sandbox->isSuspect())
            co_return sandbox;
        const AsyncMutex::Guard guard = co_await self->turn.lock(stop);
        if (!guard || stop.stop_requested())
            co_return cancelled();
        if (self->isClosed())
            co_return fail(ErrorCode::FailedPrecondition, QStringLiteral("The sandbox lease of this execution was already released"));
        if (const SandboxPtr sandbox = self->current()) { // maybe a sibling call acquired it while this one waited
            if (!sandbox->isSuspect() || co_await sandbox->isThere(stop))
                co_return sandbox;
        }
        for (int attempt = 0; attempt < acquireTries; ++attempt) {
            const Result<SandboxId> id = co_await self->leases->registry().reuseOrAcquire(self->owner, self->inherited, self->key, true, stop);
            if (!id)
                co_return fail(id.error());
            self->hold(*id);
            const SandboxPtr sandbox = self->leases->provider()->get(*id);
            if (!sandbox)
                co_return fail(ErrorCode::NotFound, QStringLiteral("Sandbox not found after acquisition (sandbox_id=%1)").arg(id->value()));
            if (!sandbox->isSuspect() || co_await sandbox->isThere(stop)) // one that others left behind may be gone
                co_return sandbox;
        }
        co_return fail(ErrorCode::Unavailable, QStringLiteral("The sandbox does not answer, and neither does the one that took its place"));
    }
    static Task<> release(std::shared_ptr<Shared> self)
    {
        self->close(); // from now on nobody starts an acquisition; one that runs is waited for
        const AsyncMutex::Guard guard = co_await self->turn.lock();
        co_await self->leases->registry().release(self->owner);
        self->leases->forget(self->owner);
        self->hold({});
    }

private:
    SandboxPtr currentIfOpen() const { return isClosed() ? nullptr : current(); }
    bool isClosed() const
    {
        const std::lock_guard lock(mutex);
        return closed;
    }
    void close()
    {
        const std::lock_guard lock(mutex);
        closed = true;
    }
    void hold(const SandboxId &id)
    {
        const std::lock_guard lock(mutex);
        held = id;
    }
};

SandboxAccess::SandboxAccess(std::shared_ptr<SandboxLeases> leases, LeaseOwner owner, ThreadKey key, EventSink events,
                             SandboxId inherited)
    : m_leases(std::move(leases)), m_owner(std::move(owner)), m_key(std::move(key)), m_events(std::move(events)),
      m_inherited(std::move(inherited)), m_shared(std::make_shared<Shared>())
{
    m_shared->leases = m_leases;
    m_shared->owner = m_owner;
    m_shared->key = m_key;
    m_shared->inherited = m_inherited;
    m_leases->announce(m_owner, m_events);
}

Task<Result<SandboxPtr>> SandboxAccess::ensure(std::stop_token stop)
{
    return Shared::ensure(m_shared, std::move(stop));
}

SandboxPtr SandboxAccess::current() const
{
    return m_shared->current();
}

SandboxId SandboxAccess::currentId() const
{
    const std::lock_guard lock(m_shared->mutex);
    return m_shared->held;
}

Task<> SandboxAccess::release()
{
    return Shared::release(m_shared);
}

} // namespace paddock
