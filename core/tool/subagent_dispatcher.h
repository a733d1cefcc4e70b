// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/task.h"
#include "core/tool/tool.h"

namespace paddock {

struct SubagentRequest {
    QString description;
    QString prompt;
    QString subagentType;
    QStringList acceptanceCriteria;
    ToolCallContext parent;
};

/// What the `task` tool needs of the subagent executor; implemented by the agent room. Called on the parent's loop;
/// resumes there.
class SubagentDispatcher
{
public:
    virtual ~SubagentDispatcher() = default;
    /// Names the parent may use, in catalogue order.
    virtual QStringList available() const = 0;
    /// Runs the subagent to its end; the outcome is the tool message of the status contract (runtime §2.6). When the
    /// parent is cancelled it cancels the subagent and waits for its teardown.
    virtual Task<Result<ToolOutcome>> dispatch(SubagentRequest request) = 0;
};

} // namespace paddock
