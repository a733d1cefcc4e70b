// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/agent/agent_services.h"

namespace paddock {

struct LeadRequest {
    RunId run;
    ThreadKey thread;
    QString task;
    QString model; ///< configured name; empty: the first
    Json values = Json::object(); ///< more runtime values: channel_user_id (only when there is one), user_role, …
    std::optional<QStringList> allowedSubagents;
    EventSink events; ///< speaks as "lead"
    std::stop_token stop;
    std::function<QString()> whyStopped; ///< who or what has asked `stop`, as a sentence; may be empty. Any thread.
};

struct LeadReport {
    QString status; ///< completed, failed, cancelled
    QString answer; ///< text of the last ai message; the question when it ended with one
    std::optional<QString> error;
    std::optional<QString> stopReason; ///< the guard that ended it, as runtime §7.1 names them
    int turns = 0;
    Usage usage;     ///< of the lead, all its subagents, and what their chains asked models for themselves
    Usage leadUsage;
};

/// Runs the lead of one run on the calling loop, to the very end: when it returns, the lead's lease is released and each
/// of its subagents is torn down. Emits agent.started and agent.finished; the run's own events are the caller's. Cancelled
/// by request.stop, which also stops the subagents and waits for them. Never throws.
Task<LeadReport> runLead(std::shared_ptr<const AgentServices> services, LeadRequest request);

} // namespace paddock
