// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/agent/agent_services.h"
#include "core/agent/usage_ledger.h"

#include <chrono>

namespace paddock {

/// One delegated execution as it crosses from the parent's loop to the subagent loop: values and thread-safe services,
/// nothing bound to the parent's loop (runtime §1.3).
struct SubagentJob {
    std::shared_ptr<const AgentServices> services;
    std::shared_ptr<SubagentResult> record;
    ResolvedSubagent subagent;
    QString model;
    QString description;
    QString prompt;
    QStringList criteria;
    Json values = Json::object();   ///< the child's runtime values
    Json channels = Json::object(); ///< the state channels it starts with
    ThreadKey thread;
    EventSink events; ///< speaks as "subagent:<task_id>" under the span of the parent's `task` call
    QString parentAgent;
    UsageProxy usage;
    std::chrono::steady_clock::time_point submitted = std::chrono::steady_clock::now();

    std::chrono::seconds deadline() const { return std::chrono::seconds(subagent.definition.timeoutSeconds); }
};

/// Runs on the subagent loop: waits for a slot, runs, and tears down in this order: stream closed, record terminal, lease
/// released, slot given back, done (runtime §1.5). The deadline counts from submission. Cancelled through the record's
/// stop token; never throws, and returns only when nothing of it is left.
Task<> executeSubagent(std::shared_ptr<SubagentJob> job);

} // namespace paddock
