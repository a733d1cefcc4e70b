// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/backend/container_pool.h"

#include "core/base/run_on.h"

#include <QLoggingCategory>
#include <QUrl>

Q_LOGGING_CATEGORY(lcContainers, "paddock.sandbox.containers")

namespace paddock {

ContainerBackend::State::State(ContainerOptions given)
    : options(std::move(given)),
      ownership(options.ownershipTable ? options.ownershipTable : std::make_shared<OwnershipTable>(options.ownership.ttl(), options.clock),
                OwnershipStore::newOwnerId())
{
}

std::shared_ptr<AsyncMutex> ContainerBackend::State::turnOf(const SandboxId &id)
{
    auto &slot = turns[id];
    if (!slot)
        slot = std::make_shared<AsyncMutex>();
    return slot;
}

ContainerRecordPtr ContainerBackend::State::find(const SandboxId &id) const
{
    const auto it = records.find(id);
    return it == records.end() ? nullptr : it->second;
}

void ContainerBackend::State::forget(const ContainerRecordPtr &record)
{
    ports.remove(record->port);
    if (find(record->id) == record)
        records.erase(record->id);
}

std::vector<PooledSandbox> ContainerBackend::State::pool() const
{
    std::vector<PooledSandbox> all;
    const auto now = options.clock->mono();
    for (const auto &[id, record] : records) {
        const auto turn = turns.find(id);
        const bool busy = turn != turns.end() && turn->second->isLocked();
        // One that is handed out is leased: the provider parks it when the last lease goes.
        all.push_back({id, std::chrono::duration_cast<std::chrono::seconds>(now - record->lastUse), record->warm, !record->warm || busy});
    }
    return all;
}

QString ContainerBackend::State::hostName() const
{
    const QString host = options.hostEnvironment.value(QStringLiteral("DEER_FLOW_SANDBOX_HOST")).trimmed();
    if (host.isEmpty())
        return QStringLiteral("localhost");
    return host.contains(u':') && !host.startsWith(u'[') ? u'[' + host + u']' : host;
}

QUrl ContainerBackend::State::urlOf(int port) const
{
    return QUrl(QStringLiteral("http://%1:%2").arg(hostName()).arg(port));
}

QUrl ContainerBackend::State::endpointOf(int port) const
{
    QUrl url = urlOf(port);
    if (url.host() == u"localhost")
        url.setHost(QStringLiteral("127.0.0.1"));
    return url;
}

namespace {

/// Until told to end: a teardown that takes longer than the time to live must not look abandoned.
Task<> keepTeardownClaim(ContainerStatePtr state, SandboxId id, std::stop_token ended)
{
    while (co_await sleepFor(state->options.ownership.renewal, ended))
        state->ownership.claim(id, OwnershipStore::Purpose::Destroy);
}

ContainerRecordPtr recordOf(const ContainerStatePtr &state, const SandboxId &id, const ContainerInstance *instance)
{
    ContainerRecordPtr record = state->find(id);
    return record && record->handedOut.lock().get() == instance ? record : nullptr;
}

void keepWarm(const ContainerStatePtr &state, ContainerRecord &record)
{
    record.handedOut.reset();
    record.warm = true;
    record.lastUse = state->options.clock->mono();
}

Task<Result<void>> endInstance(ContainerStatePtr state, SandboxId id, std::shared_ptr<ContainerInstance> self)
{
    const auto turn = state->turnOf(id);
    const AsyncMutex::Guard guard = co_await turn->lock();
    const ContainerRecordPtr record = recordOf(state, id, self.get());
    self->lose({});
    if (!record)
        co_return Result<void>();
    const Result<void> ended = co_await destroyContainer(state, record, QStringLiteral("it was ended"));
    if (!ended)
        keepWarm(state, *record); // it counts as running: the checks try again
    co_return Result<void>(ended);
}

Task<Result<void>> parkInstance(ContainerStatePtr state, SandboxId id, std::shared_ptr<ContainerInstance> self)
{
    if (state->closed)
        co_return co_await endInstance(state, id, self);
    const auto turn = state->turnOf(id);
    const AsyncMutex::Guard guard = co_await turn->lock();
    const ContainerRecordPtr record = recordOf(state, id, self.get());
    self->lose({});
    if (!record)
        co_return Result<void>();
    if (record->foreign) { // its owner keeps it
        state->ownership.release(id);
        state->forget(record);
        co_return Result<void>();
    }
    keepWarm(state, *record);
    co_return Result<void>();
}

Task<bool> askAlive(ContainerStatePtr state, SandboxId id, std::shared_ptr<ContainerInstance> self, std::stop_token stop)
{
    const auto turn = state->turnOf(id);
    const AsyncMutex::Guard guard = co_await turn->lock(stop);
    const ContainerRecordPtr record = recordOf(state, id, self.get());
    if (!guard || !record)
        co_return self->alive();
    const auto running = co_await state->engine->isRunning(record->name, stop);
    if (!running || *running) {
        if (!running && !running.error().isCancelled())
            qCWarning(lcContainers, "Sandbox %ls counts as alive: %ls", qUtf16Printable(id.value()), qUtf16Printable(running.error().message));
        co_return true;
    }
    state->ownership.release(id);
    state->forget(record);
    self->lose({});
    co_return false;
}

template<typename T, typename Fn>
Task<Result<T>> onBackendLoop(ContainerStatePtr state, Fn fn)
{
    LoopRef loop;
    {
        const std::lock_guard lock(state->mutex);
        loop = state->loop;
    }
    try {
        co_return co_await runOn(loop, std::move(fn));
    } catch (const std::exception &e) {
        co_return fail(ErrorCode::Internal, QString::fromUtf8(e.what()));
    }
}

Task<bool> aliveOr(Task<Result<bool>> asked, bool otherwise)
{
    const Result<bool> answer = co_await asked;
    co_return answer ? *answer : otherwise;
}

Task<Result<bool>> askAliveResult(ContainerStatePtr state, SandboxId id, std::shared_ptr<ContainerInstance> self, std::stop_token stop)
{
    co_return co_await askAlive(std::move(state), std::move(id), std::move(self), std::move(stop));
}

} // namespace

Task<Result<void>> destroyContainer(ContainerStatePtr state, ContainerRecordPtr record, QString reason)
{
    const SandboxId id = record->id;
    if (state->find(id) != record)
        co_return Result<void>();
    const auto instance = record->handedOut.lock();
    if (instance)
        instance->lose({});
    if (record->foreign || !state->ownership.claim(id, OwnershipStore::Purpose::Destroy)) {
        qCInfo(lcContainers, "Container %ls is left to its owner", qUtf16Printable(record->name));
        state->ownership.release(id);
        state->forget(record);
        co_return Result<void>();
    }
    qCInfo(lcContainers, "Stopping container %ls: %ls", qUtf16Printable(record->name), qUtf16Printable(reason));
    std::stop_source ended;
    Task<> keeping = keepTeardownClaim(state, id, ended.get_token());
    const Result<void> stopped = co_await state->engine->stop(record->name);
    ended.request_stop();
    co_await keeping;
    state->ownership.release(id);
    if (!stopped) {
        state->ownership.claim(id, OwnershipStore::Purpose::Adopt);
        qCWarning(lcContainers, "Container %ls may still run: %ls", qUtf16Printable(record->name), qUtf16Printable(stopped.error().message));
        co_return fail(stopped.error());
    }
    state->forget(record);
    co_return Result<void>();
}

Task<bool> ContainerInstance::checkAlive(std::stop_token stop)
{
    return aliveOr(onBackendLoop<bool>(m_state, [state = m_state, id = m_id, self = shared_from_this(), stop] { return askAliveResult(state, id, self, stop); }), m_alive);
}

void ContainerInstance::onDeath(std::function<void(QString)> callback)
{
    const std::lock_guard lock(m_mutex);
    m_onDeath = std::move(callback);
}

Task<Result<void>> ContainerInstance::stop()
{
    return onBackendLoop<void>(m_state, [state = m_state, id = m_id, self = shared_from_this()] { return endInstance(state, id, self); });
}

Task<Result<void>> ContainerInstance::park()
{
    return onBackendLoop<void>(m_state, [state = m_state, id = m_id, self = shared_from_this()] { return parkInstance(state, id, self); });
}

void ContainerInstance::lose(const QString &reason)
{
    m_alive = false;
    std::function<void(QString)> tell;
    {
        const std::lock_guard lock(m_mutex);
        tell = std::exchange(m_onDeath, nullptr);
    }
    if (tell && !reason.isEmpty())
        tell(reason);
}

} // namespace paddock
