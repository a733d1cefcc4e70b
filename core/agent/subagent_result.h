// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/message/message.h"

#include <mutex>
#include <optional>
#include <stop_token>
#include <vector>

namespace paddock {

enum class SubagentStatus { Pending, Running, Completed, Failed, Cancelled, TimedOut };

/// "pending", "running", "completed", "failed", "cancelled", "timed_out".
QString subagentStatusName(SubagentStatus status);
std::optional<SubagentStatus> subagentStatusFromName(const QString &name);
bool isTerminal(SubagentStatus status);

/// Who asked an execution to stop; the first asks, later ones change nothing.
enum class StopCause { None, User, Scenario, Parent, Deadline };

/// What a terminal state carries; absent members leave the record's as they are.
struct TerminalPayload {
    std::optional<QString> result;
    std::optional<QString> error;
    std::optional<QString> stopReason; ///< token_capped, turn_capped, loop_capped
    std::optional<std::vector<MessagePtr>> messages;
    std::optional<Json> usageRecords;
    bool admissionFailure = false;
};

/// The shared record of one execution (runtime §1.2): written on the subagent loop, read and cancelled from any thread.
/// A terminal state is entered once, by trySetTerminal; from then on nothing changes any more. Owner: the registry.
class SubagentResult
{
public:
    struct Snapshot {
        SubagentStatus status = SubagentStatus::Pending;
        std::optional<QString> result;
        std::optional<QString> error;
        std::optional<QString> stopReason;
        std::optional<Clock::Wall> startedAt; ///< when the slot was obtained
        std::optional<Clock::Wall> completedAt;
        std::vector<MessagePtr> messages; ///< captured steps: ai and tool messages, in order
        Json usageRecords = Json::array();
        bool admissionFailure = false;
        bool done = false; ///< the teardown is over as well
    };

    SubagentResult(QString taskId, QString callId, std::shared_ptr<const Clock> clock = Clock::system());

    const QString &taskId() const { return m_taskId; } ///< server-made; registry key and suffix of the lease owner
    const QString &callId() const { return m_callId; } ///< the provider's tool call id; may repeat across runs
    Snapshot snapshot() const;

    /// False when it is not pending any more: a late slot must not revive a cancelled task (K-2).
    bool markRunning();
    /// True for the call that set the state. A status that is not terminal is a programming error, told as an Error.
    Result<bool> trySetTerminal(SubagentStatus status, TerminalPayload payload);
    /// Ignored once terminal.
    void updateUsage(Json records);
    void updateMessages(std::vector<MessagePtr> messages);
    /// True once: guards the report to the parent.
    bool claimUsageReport();

    /// Cooperative cancel. Any thread; the callbacks of the stop token run on it, without locks held.
    void requestStop(StopCause cause);
    StopCause stopCause() const;
    std::stop_token stopToken() const { return m_stop.get_token(); }

    void markDone();
    bool isDone() const;

private:
    const QString m_taskId;
    const QString m_callId;
    const std::shared_ptr<const Clock> m_clock;
    std::stop_source m_stop;
    mutable std::mutex m_mutex; // guards all below
    Snapshot m_now;
    StopCause m_cause = StopCause::None;
    bool m_usageReported = false;
};

} // namespace paddock
