// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/sandbox/aio/aio_sandbox.h"
#include "core/sandbox/backend/sandbox_backend.h"

namespace paddock {

/// AIO sandboxes over one backend (sandbox.md §7.1 to §7.3). Owns the loop "sandbox-io" on which the sockets and processes of
/// its sandboxes live; its methods may be called from any loop. A released sandbox is the backend's again, which ends it or
/// keeps it warm. Owner: the composition root; shutdown() must have come back before the destructor runs.
class AioProvider final : public SandboxProvider
{
public:
    AioProvider(std::shared_ptr<SandboxBackend> backend, aio::ShellOptions shellOptions = {});
    ~AioProvider() override;

    Task<Result<SandboxId>> acquire(ThreadKey key, EventSink events, std::stop_token stop) override;
    SandboxPtr get(const SandboxId &id) override;
    Task<Result<void>> release(SandboxId id) override;
    Task<> shutdown() override;
    QString providerName() const override { return QStringLiteral("aio"); }
    QString backendName() const override;
    int sessionLimit() const override;
    void setFaults(const ThreadKey &key, std::shared_ptr<FaultPlan> faults) override;

private:
    struct State;
    std::unique_ptr<EventLoop> m_loop;
    std::shared_ptr<State> m_state;
};

} // namespace paddock
