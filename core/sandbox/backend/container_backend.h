// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/sandbox/backend/container_engine.h"
#include "core/sandbox/backend/ownership.h"
#include "core/sandbox/backend/sandbox_backend.h"

#include <functional>
#include <map>

namespace paddock {

/// What the container of a thread shows of the host, and where its lock file is.
struct ContainerFolders {
    std::vector<ContainerMount> mounts;
    QString lockFile; ///< "{thread}/<sandbox id>.lock"; empty: no other process is expected
};

struct ContainerOptions {
    QString runtime = QStringLiteral("auto"); ///< sandbox.runtime
    QString engineProgram;                    ///< instead of the program in PATH; needs a runtime that is not auto
    EngineTimes engineTimes;

    QString image; ///< must be given: the registry it comes from is the person's choice
    QString prefix = QStringLiteral("deer-flow-sandbox");
    int basePort = 8080;
    int replicas = 3;                      ///< soft limit on active and warm ones together
    std::chrono::seconds idleTimeout{600}; ///< 0: never
    std::chrono::milliseconds checkInterval{60000};
    std::chrono::milliseconds readyTimeout{60000};   ///< after a start
    std::chrono::milliseconds readyPause{1000};
    std::chrono::milliseconds adoptTimeout{5000};    ///< of one that runs already
    OwnershipTimes ownership;
    std::shared_ptr<OwnershipTable> ownershipTable; ///< null: one of our own

    SessionCapacity capacity;                ///< what is required, and what is given to the container
    QMap<QString, QString> environment;      ///< sandbox.environment; values may be secrets
    QMap<QString, QString> hostEnvironment;  ///< ours: DEER_FLOW_SANDBOX_*
    std::vector<ContainerMount> mounts;      ///< sandbox.mounts; they come first
    /// The folders of a thread, created and checked. Called on the backend's loop.
    std::function<Result<ContainerFolders>(const ThreadKey &key, const SandboxId &id)> folders;
    std::shared_ptr<const Clock> clock = Clock::system();
};

/// One container of the AIO image per sandbox (sandbox.md §7.3 to §7.6). A released container stays warm and is handed out
/// again; warm ones end after the idle timeout, when room is needed, and at shutdown. Containers that an earlier process
/// left are found by their name and adopted; those of another living process are left alone. A container that was started
/// for fewer shell sessions than are needed is replaced, or the acquire fails when somebody else may still use it.
class ContainerBackend final : public SandboxBackend
{
public:
    explicit ContainerBackend(ContainerOptions options);
    ~ContainerBackend() override;

    QString name() const override { return QStringLiteral("container"); }
    int sessionLimit() const override;
    Task<Result<std::shared_ptr<SandboxInstance>>> start(SandboxId id, ThreadKey key, LoopRef loop, std::stop_token stop) override;
    Task<> shutdown() override;

    struct State;

private:
    std::shared_ptr<State> m_state;
};

} // namespace paddock
