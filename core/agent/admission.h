// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/async.h"
#include "core/base/error.h"

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

namespace paddock {

struct AdmissionOptions {
    int maxRunning = 3;
    int maxQueued = 64;
    bool reject = false; ///< admission_policy "reject": never queue
    std::chrono::seconds queueTimeout{300};
    friend bool operator==(const AdmissionOptions &, const AdmissionOptions &) = default;
};

/// Who may run now, and who waits, first come first served (runtime §1.4). One per process; thread-safe. Waiting owns no
/// thread; giving a slot back is one locked step, so nothing can interrupt it.
class AdmissionQueue
{
public:
    struct Waiter {
        Completion<bool> granted;
    };
    using WaiterPtr = std::shared_ptr<Waiter>;
    struct Entry {
        WaiterPtr waiter; ///< null: the slot is taken already
        int position = 0; ///< 1-based place in the queue
    };
    struct Snapshot {
        int running = 0;
        int queued = 0;
    };

    explicit AdmissionQueue(AdmissionOptions options = {});

    /// Takes a slot, or a place in the queue, or fails: "Subagent execution capacity is full (<R> running, <Q> queued)".
    Result<Entry> enter();
    /// Gives up a place. False when the slot was granted in the same instant: the caller holds it and must leave().
    bool withdraw(const WaiterPtr &waiter);
    /// Gives the slot to the first waiter, or back.
    void leave();

    Snapshot snapshot() const;
    AdmissionOptions options() const;
    /// "Timed out after <N>s waiting for a subagent execution slot".
    Error timedOut() const;
    /// Nothing for an equal configuration; an error for another one while anything runs or waits.
    Result<void> reconfigure(const AdmissionOptions &options);

private:
    mutable std::mutex m_mutex; // guards all below
    AdmissionOptions m_options;
    int m_running = 0;
    std::deque<WaiterPtr> m_waiters; ///< living ones only
};

/// Waits for a slot on the calling loop. On success the caller holds it and must leave(). `onQueued` gets the place when
/// it has to wait. Stop ends the wait with Cancelled, the queue's limit with timedOut().
Task<Result<void>> takeSlot(std::shared_ptr<AdmissionQueue> queue, std::function<void(int)> onQueued, std::stop_token stop);

} // namespace paddock
