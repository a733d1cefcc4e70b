// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/backend/container_backend.h"

#include "core/base/run_on.h"
#include "core/sandbox/backend/container_pool.h"

#include <QLoggingCategory>
#include <QUrl>

Q_LOGGING_CATEGORY(lcContainerBackend, "paddock.sandbox.containers")

namespace paddock {

namespace {

using ContainerStart = Result<std::shared_ptr<SandboxInstance>>;

Task<Result<void>> engineFor(ContainerStatePtr state, std::stop_token stop)
{
    if (state->engine)
        co_return Result<void>();
    const ContainerOptions &options = state->options;
    if (!options.engineProgram.isEmpty()) {
        state->engine.emplace(containerEngineKind(options.runtime).value_or(ContainerEngineKind::Docker), options.engineProgram, options.engineTimes);
        co_return Result<void>();
    }
    const auto found = co_await ContainerEngine::find(options.runtime, stop);
    if (!found)
        co_return fail(found.error());
    if (!state->engine)
        state->engine.emplace(found->kind(), found->program(), options.engineTimes);
    co_return Result<void>();
}

void beginChores(const ContainerStatePtr &state)
{
    if (state->chores)
        return;
    state->chores = std::make_unique<TaskScope>(QStringLiteral("containers"));
    const std::weak_ptr<ContainerBackend::State> weak = state;
    using Chore = Task<> (*)(ContainerStatePtr, std::stop_token);
    for (const Chore chore : {Chore(checkContainersOften), Chore(renewOwnerships)})
        state->chores->spawn([weak, chore](std::stop_token stop) { return chore(weak.lock(), stop); });
}

Task<ContainerStart> startContainer(ContainerStatePtr state, SandboxId id, ThreadKey key, std::stop_token stop)
{
    if (const auto engine = co_await engineFor(state, stop); !engine)
        co_return fail(engine.error());
    const auto turn = state->turnOf(id);
    const AsyncMutex::Guard guard = co_await turn->lock(stop);
    if (!guard || stop.stop_requested())
        co_return cancelled();
    if (state->closed)
        co_return fail(ErrorCode::FailedPrecondition, QStringLiteral("The container backend is shut down."));
    beginChores(state);
    const auto record = co_await obtainContainer(state, id, key, stop);
    if (!record)
        co_return fail(record.error());
    (*record)->warm = false;
    (*record)->lastUse = state->options.clock->mono();
    auto instance = std::make_shared<ContainerInstance>(state, id, state->endpointOf((*record)->port));
    (*record)->handedOut = instance;
    co_return std::shared_ptr<SandboxInstance>(std::move(instance));
}

Task<ContainerStart> startOnItsLoop(ContainerStatePtr state, SandboxId id, ThreadKey key, LoopRef loop, std::stop_token stop)
{
    {
        const std::lock_guard lock(state->mutex);
        if (!state->loop.isValid())
            state->loop = loop;
        loop = state->loop;
    }
    try {
        co_return co_await runOn(loop, [state, id, key, stop] { return startContainer(state, id, key, stop); });
    } catch (const std::exception &e) {
        co_return fail(ErrorCode::Internal, QString::fromUtf8(e.what()));
    }
}

Task<> endRecord(ContainerStatePtr state, SandboxId id)
{
    const auto turn = state->turnOf(id);
    const AsyncMutex::Guard guard = co_await turn->lock();
    if (const auto record = state->find(id))
        (void)co_await destroyContainer(state, record, QStringLiteral("shutdown")); // what failed is logged
}

Task<> shutdownContainers(ContainerStatePtr state)
{
    state->closed = true;
    if (state->chores) {
        state->chores->requestStop();
        co_await state->chores->drain();
        state->chores.reset();
    }
    std::vector<Task<>> endings;
    std::vector<SandboxId> ids;
    for (const auto &[id, turn] : state->turns)
        ids.push_back(id); // also those on their way
    for (const auto &[id, record] : state->records)
        ids.push_back(id);
    for (const SandboxId &id : ids)
        endings.push_back(endRecord(state, id));
    co_await whenAll(std::move(endings));
}

Task<> shutdownFrom(ContainerStatePtr state)
{
    LoopRef loop;
    {
        const std::lock_guard lock(state->mutex);
        loop = state->loop;
    }
    if (!loop.isValid())
        co_return; // nothing was ever started
    try {
        co_await runOn(loop, [state] { return shutdownContainers(state); });
    } catch (const std::exception &e) {
        qCWarning(lcContainerBackend, "Shutting down: %s", e.what());
    }
}

} // namespace

ContainerBackend::ContainerBackend(ContainerOptions options) : m_state(std::make_shared<State>(std::move(options)))
{
}

ContainerBackend::~ContainerBackend() = default;

int ContainerBackend::sessionLimit() const
{
    return m_state->options.capacity.limit();
}

Task<Result<std::shared_ptr<SandboxInstance>>> ContainerBackend::start(SandboxId id, ThreadKey key, LoopRef loop, std::stop_token stop)
{
    return startOnItsLoop(m_state, std::move(id), std::move(key), std::move(loop), std::move(stop));
}

Task<> ContainerBackend::shutdown()
{
    return shutdownFrom(m_state);
}

} // namespace paddock
