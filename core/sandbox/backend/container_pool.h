// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/async.h"
#include "core/base/task_scope.h"
#include "core/sandbox/backend/container_backend.h"
#include "core/sandbox/backend/pool_policy.h"

#include <QSet>

#include <atomic>

// What the files of the container backend share. Included by them only.
namespace paddock {

class ContainerInstance;

/// A container that we own. Lives on the backend's loop.
struct ContainerRecord {
    SandboxId id;
    QString name;
    std::optional<ThreadKey> key; ///< nothing: adopted, its identity is not known until it is asked for
    int port = 0;
    bool warm = false;
    std::chrono::microseconds lastUse{0};
    ReuseRequest::Capacity capacityKind = ReuseRequest::Capacity::Absent;
    int capacity = 0;
    bool foreign = false; ///< of another living process: used, never stopped
    std::weak_ptr<ContainerInstance> handedOut;
};
using ContainerRecordPtr = std::shared_ptr<ContainerRecord>;

/// Everything below belongs to the backend's loop, but for what is said otherwise.
struct ContainerBackend::State {
    explicit State(ContainerOptions given);

    const ContainerOptions options; ///< any thread
    OwnershipStore ownership;       ///< any thread
    std::mutex mutex;               // guards loop
    LoopRef loop;                   ///< set by the first start
    std::optional<ContainerEngine> engine;
    std::map<SandboxId, ContainerRecordPtr> records;
    std::map<SandboxId, std::shared_ptr<AsyncMutex>> turns; ///< one transition per sandbox at a time: our reservation
    QSet<int> ports;                                        ///< reserved by us
    std::unique_ptr<TaskScope> chores; ///< renewing and reaping; made and ended on the loop
    bool closed = false;

    QString containerName(const SandboxId &id) const { return options.prefix + u'-' + id.value(); }
    std::shared_ptr<AsyncMutex> turnOf(const SandboxId &id);
    ContainerRecordPtr find(const SandboxId &id) const;
    /// Out of the maps, with its port; the container is not touched.
    void forget(const ContainerRecordPtr &record);
    std::vector<PooledSandbox> pool() const;
    QString hostName() const; ///< DEER_FLOW_SANDBOX_HOST, as it stands in a URL
    QUrl urlOf(int port) const; ///< as it is told
    /// As it is reached: the loopback address by number, because that is what was bound, whatever "localhost" means here.
    QUrl endpointOf(int port) const;
};
using ContainerStatePtr = std::shared_ptr<ContainerBackend::State>;

/// A container as the provider holds it. Thread-safe; its work runs on the backend's loop.
class ContainerInstance final : public SandboxInstance, public std::enable_shared_from_this<ContainerInstance>
{
public:
    ContainerInstance(ContainerStatePtr state, SandboxId id, QUrl url) : m_state(std::move(state)), m_id(std::move(id)), m_url(std::move(url)) {}

    aio::Endpoint endpoint() const override { return aio::Endpoint::url(m_url); }
    bool alive() const override { return m_alive; }
    Task<bool> checkAlive(std::stop_token stop) override;
    void onDeath(std::function<void(QString)> callback) override;
    Task<Result<void>> stop() override;
    Task<Result<void>> park() override;

    /// On the loop: it is ours no more. Tells `reason` unless that is empty.
    void lose(const QString &reason);

private:
    const ContainerStatePtr m_state;
    const SandboxId m_id;
    const QUrl m_url;
    std::atomic<bool> m_alive = true;
    std::mutex m_mutex; // guards m_onDeath
    std::function<void(QString)> m_onDeath;
};

// On the backend's loop; the sandbox's turn is held by the caller.

/// Claims the teardown, stops, and keeps the claim fresh meanwhile. Ok as well when it is a peer's: then it is only
/// forgotten. An error means that it counts as running and stays known.
Task<Result<void>> destroyContainer(ContainerStatePtr state, ContainerRecordPtr record, QString reason);
/// The steps of sandbox.md §7.3 after the active map.
Task<Result<ContainerRecordPtr>> obtainContainer(ContainerStatePtr state, SandboxId id, ThreadKey key, std::stop_token stop);
/// Starts a new one and waits until it answers.
Task<Result<ContainerRecordPtr>> createContainer(ContainerStatePtr state, SandboxId id, ThreadKey key, ContainerFolders folders, std::stop_token stop);
/// Adopts the running container of that name when its server answers and its capacity is enough, or clears it away when it
/// is too small and nobody's. Nothing: there is none, or none that can be verified.
Task<Result<ContainerRecordPtr>> discoverContainer(ContainerStatePtr state, SandboxId id, ThreadKey key, std::stop_token stop);
ContainerRecordPtr recordContainer(const ContainerStatePtr &state, const SandboxId &id, const ContainerFacts &facts, int port);
Task<bool> containerAnswers(ContainerStatePtr state, ContainerRecordPtr record, std::chrono::milliseconds total, std::stop_token stop);
/// May it be handed out as it is?
ReuseDecision judgeContainer(const ContainerStatePtr &state, const ContainerRecord &record, bool leased);

// Chores, without a turn held.

/// Orphans, then the idle ones, then which of those in use still run (sandbox.md §7.4).
Task<> checkContainers(ContainerStatePtr state, std::stop_token stop);
Task<> checkContainersOften(ContainerStatePtr state, std::stop_token stop);
/// Apart from the checks: a slow engine must not let an ownership lapse.
Task<> renewOwnerships(ContainerStatePtr state, std::stop_token stop);

} // namespace paddock
