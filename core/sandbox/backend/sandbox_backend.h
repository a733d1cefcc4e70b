// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/error.h"
#include "core/base/loop.h"
#include "core/lease/lease_registry.h"
#include "core/sandbox/aio/aio_client.h"

#include <functional>
#include <memory>

namespace paddock {

/// One running sandbox server that a backend has started. Thread-safe.
class SandboxInstance
{
public:
    virtual ~SandboxInstance() = default;
    virtual aio::Endpoint endpoint() const = 0;
    virtual aio::AioOptions clientOptions() const { return {}; }
    /// Memory only, no I/O.
    virtual bool alive() const = 0;
    /// Asks what it takes before it is handed out once more. Unknown counts as alive.
    virtual Task<bool> checkAlive(std::stop_token) { co_return alive(); }
    /// Called once when it ends without being asked to, on the backend's loop, with a sentence. Set right after start.
    virtual void onDeath(std::function<void(QString reason)> callback) = 0;
    /// Ends it and everything in it; finished when nothing of it is left. Idempotent.
    virtual Task<Result<void>> stop() = 0;
    /// Nobody uses it any more: the backend may keep it for the next start of the same sandbox, or ends it.
    virtual Task<Result<void>> park() { return stop(); }
};

/// How an AIO sandbox comes to run: embedded here; containers and provisioners elsewhere.
class SandboxBackend
{
public:
    virtual ~SandboxBackend() = default;
    virtual QString name() const = 0;
    virtual int sessionLimit() const = 0;
    /// Ready when it returns. Processes and sockets live on `loop`. Stop ends a start that is on its way and cleans up.
    virtual Task<Result<std::shared_ptr<SandboxInstance>>> start(SandboxId id, ThreadKey key, LoopRef loop, std::stop_token stop) = 0;
    /// Ends what it keeps of parked sandboxes; no start is on its way any more. Idempotent.
    virtual Task<> shutdown() { co_return; }
};

} // namespace paddock
