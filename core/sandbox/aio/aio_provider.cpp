// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/aio/aio_provider.h"

#include "core/base/async.h"
#include "core/sandbox/sandbox_ids.h"

#include <QLoggingCategory>

#include <atomic>
#include <map>

Q_LOGGING_CATEGORY(lcProvider, "paddock.sandbox.provider")

namespace paddock {

namespace {

/// A sandbox that is handed out, or was and is dead by now.
struct Active {
    ThreadKey key;
    std::shared_ptr<SandboxInstance> instance;
    std::shared_ptr<aio::AioSandbox> sandbox;
    std::shared_ptr<std::atomic<bool>> deathTold; ///< once, whoever notices first
};

} // namespace

struct AioProvider::State {
    std::shared_ptr<SandboxBackend> backend;
    aio::ShellOptions shellOptions;
    LoopRef loop;

    mutable std::mutex mutex; // guards all below
    std::map<SandboxId, Active> active;
    std::map<SandboxId, std::shared_ptr<AsyncMutex>> turns; ///< one transition per sandbox at a time
    std::map<ThreadKey, std::shared_ptr<FaultPlan>> faults;
    std::map<SandboxId, aio::ScopeNotes> notes; ///< of sandboxes that are gone and not replaced yet
    bool closed = false;

    std::shared_ptr<AsyncMutex> turnOf(const SandboxId &id)
    {
        const std::lock_guard lock(mutex);
        auto &slot = turns[id];
        if (!slot)
            slot = std::make_shared<AsyncMutex>();
        return slot;
    }
    std::optional<Active> find(const SandboxId &id) const
    {
        const std::lock_guard lock(mutex);
        const auto it = active.find(id);
        return it == active.end() ? std::nullopt : std::optional(it->second);
    }
    std::optional<Active> take(const SandboxId &id)
    {
        const std::lock_guard lock(mutex);
        const auto it = active.find(id);
        if (it == active.end())
            return std::nullopt;
        Active entry = std::move(it->second);
        active.erase(it);
        return entry;
    }
    void keepNotes(const SandboxId &id, aio::ScopeNotes scopes)
    {
        const std::lock_guard lock(mutex);
        if (scopes.empty())
            notes.erase(id);
        else
            notes[id] = std::move(scopes);
    }
    bool isClosed() const
    {
        const std::lock_guard lock(mutex);
        return closed;
    }
};

namespace {

/// Commands that nobody drained get this long before their server goes.
constexpr std::chrono::seconds closeGrace{10};

Task<> closeInto(std::shared_ptr<aio::AioSandbox> sandbox, Completion<bool> closed)
{
    co_await sandbox->close();
    closed.complete(true);
}

enum class Ending { Park, Stop };

Task<Result<void>> endSandbox(Active entry, Ending ending)
{
    const Completion<bool> closed;
    Task<> closing = closeInto(entry.sandbox, closed);
    const bool drained = (co_await waitFor(closed, {}, closeGrace)).has_value();
    if (drained && ending == Ending::Park && entry.instance->alive() && !entry.sandbox->quarantined()) {
        co_await closing;
        co_return co_await entry.instance->park();
    }
    const Result<void> stopped = co_await entry.instance->stop(); // calls that are still open fail now
    co_await closing;
    co_return Result<void>(stopped);
}

template<typename S>
Task<Result<SandboxId>> acquireOn(std::shared_ptr<S> state, ThreadKey key, EventSink events, std::stop_token stop)
{
    const SandboxId id(deterministicSandboxId(key.user.value(), key.thread.value()));
    const std::shared_ptr<AsyncMutex> turn = state->turnOf(id);
    const AsyncMutex::Guard guard = co_await turn->lock(stop);
    if (!guard || stop.stop_requested())
        co_return cancelled();
    if (state->isClosed())
        co_return fail(ErrorCode::FailedPrecondition, QStringLiteral("The sandbox provider is shut down."));
    if (const auto known = state->find(id)) {
        if (known->key != key)
            co_return fail(sandboxIdCollision(id, known->key, key));
        if (!known->sandbox->quarantined() && !known->sandbox->isLost() && co_await known->instance->checkAlive(stop))
            co_return SandboxId(id);
        if (known->sandbox->isLost() && !known->deathTold->exchange(true))
            events.emitEvent(SandboxFailed{id.value(), QStringLiteral("Nobody answers in the sandbox any more; it is started anew."), QStringLiteral("command")});
        state->keepNotes(id, known->sandbox->notesForSuccessor());
        if (auto dead = state->take(id)) // clean up what is left of it before another one takes its place
            (void)co_await endSandbox(std::move(*dead), Ending::Stop);
    }
    auto instance = co_await state->backend->start(id, key, state->loop, stop);
    if (!instance)
        co_return fail(instance.error());
    auto sandbox = std::make_shared<aio::AioSandbox>(
        id, aio::AioClient(state->loop, (*instance)->endpoint(), (*instance)->clientOptions()), state->shellOptions);
    const auto deathTold = std::make_shared<std::atomic<bool>>(false);
    (*instance)->onDeath([id, events, deathTold](QString reason) {
        if (!deathTold->exchange(true))
            events.emitEvent(SandboxFailed{id.value(), std::move(reason), QStringLiteral("command")});
    });
    const std::lock_guard lock(state->mutex);
    if (const auto notes = state->notes.extract(id))
        sandbox->inherit(notes.mapped());
    if (const auto plan = state->faults.find(key); plan != state->faults.end())
        sandbox->setFaults(plan->second);
    state->active[id] = {key, std::move(*instance), std::move(sandbox), deathTold};
    co_return id;
}

template<typename S>
Task<Result<void>> releaseOn(std::shared_ptr<S> state, SandboxId id)
{
    const std::shared_ptr<AsyncMutex> turn = state->turnOf(id);
    const AsyncMutex::Guard guard = co_await turn->lock();
    auto entry = state->take(id);
    state->keepNotes(id, {}); // nobody who had a shell there is left
    if (!entry)
        co_return Result<void>(); // an untracked id: nothing to do (§4.5)
    co_return co_await endSandbox(std::move(*entry), state->isClosed() ? Ending::Stop : Ending::Park);
}

Task<> dropResult(Task<Result<void>> task)
{
    const Result<void> result = co_await task;
    if (!result)
        qCWarning(lcProvider, "Ending a sandbox failed: %ls", qUtf16Printable(result.error().fullMessage()));
}

template<typename S>
Task<> shutdownOn(std::shared_ptr<S> state)
{
    std::vector<SandboxId> ids;
    {
        const std::lock_guard lock(state->mutex);
        state->closed = true;
        for (const auto &[id, turn] : state->turns)
            ids.push_back(id); // also those whose start is on its way
    }
    std::vector<Task<>> endings;
    for (const SandboxId &id : ids)
        endings.push_back(dropResult(releaseOn(state, id)));
    co_await whenAll(std::move(endings));
    co_await state->backend->shutdown();
}

} // namespace

AioProvider::AioProvider(std::shared_ptr<SandboxBackend> backend, aio::ShellOptions shellOptions)
    : m_loop(std::make_unique<EventLoop>(QStringLiteral("sandbox-io"))), m_state(std::make_shared<State>())
{
    m_state->backend = std::move(backend);
    m_state->shellOptions = shellOptions;
    m_state->loop = m_loop->ref();
}

AioProvider::~AioProvider()
{
    {
        const std::lock_guard lock(m_state->mutex);
        if (!m_state->active.empty())
            qCCritical(lcProvider, "%zu sandboxes are still running: shutdown() was not awaited", m_state->active.size());
    }
    m_state.reset();
    m_loop.reset(); // ends what the closing objects have posted to it
}

Task<Result<SandboxId>> AioProvider::acquire(ThreadKey key, EventSink events, std::stop_token stop)
{
    return acquireOn(m_state, std::move(key), std::move(events), std::move(stop));
}

SandboxPtr AioProvider::get(const SandboxId &id)
{
    const std::lock_guard lock(m_state->mutex);
    const auto it = m_state->active.find(id);
    const bool usable = it != m_state->active.end() && it->second.instance->alive() && !it->second.sandbox->isLost();
    return usable ? it->second.sandbox : nullptr;
}

Task<Result<void>> AioProvider::release(SandboxId id)
{
    return releaseOn(m_state, std::move(id));
}

Task<> AioProvider::shutdown()
{
    return shutdownOn(m_state);
}

QString AioProvider::backendName() const
{
    return m_state->backend->name();
}

int AioProvider::sessionLimit() const
{
    return m_state->backend->sessionLimit();
}

void AioProvider::setFaults(const ThreadKey &key, std::shared_ptr<FaultPlan> faults)
{
    const std::lock_guard lock(m_state->mutex);
    if (faults)
        m_state->faults[key] = faults;
    else
        m_state->faults.erase(key);
    for (const auto &[id, entry] : m_state->active) {
        if (entry.key == key)
            entry.sandbox->setFaults(faults);
    }
}

} // namespace paddock
