// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/agent/subagent_result.h"
#include "core/base/ids.h"

#include <map>
#include <memory>
#include <set>

namespace paddock {

/// The executions of this process by task id (runtime §1.6). Thread-safe. Owner: the composition root.
class SubagentRegistry
{
public:
    using RecordPtr = std::shared_ptr<SubagentResult>;

    void add(RecordPtr record);
    RecordPtr get(const QString &taskId) const;
    std::vector<RecordPtr> list() const;

    /// Asks one execution to stop, by task id or agent id "subagent:<task_id>". False when there is none.
    bool requestCancel(const QString &taskOrAgentId, StopCause cause = StopCause::User);
    /// The teardown of an execution is over.
    void finished(const QString &taskId);
    /// Removes the record when it is terminal and done; otherwise as soon as it is done.
    void cleanup(const QString &taskId);
    /// Last resort, whatever its state.
    void forceCleanup(const QString &taskId);

private:
    mutable std::mutex m_mutex; // guards both below
    std::map<QString, RecordPtr> m_records;
    std::set<QString> m_unwanted; ///< to be removed when done
};

} // namespace paddock
