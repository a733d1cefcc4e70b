// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/agent/agent_services.h"
#include "core/agent/usage_ledger.h"

namespace paddock {

/// Takes the `task` calls of one parent to the subagent loop (runtime §1.2 to §1.7, §2). One per run of a lead; lives on
/// the lead's loop. A call that is refused creates nothing: no slot, no lease, no event. What comes back is one tool
/// message of the status contract; nothing else of the child's messages.
class SubagentExecutor : public SubagentDispatcher
{
public:
    struct Parent {
        ThreadKey thread;
        std::shared_ptr<UsageLedger> usage; ///< of the run; on the parent's loop
        std::optional<QStringList> allowed; ///< allowed_subagents; null: all
    };

    SubagentExecutor(std::shared_ptr<const AgentServices> services, Parent parent);

    QStringList available() const override;
    Task<Result<ToolOutcome>> dispatch(SubagentRequest request) override;

    struct State;

private:
    std::shared_ptr<const State> m_state;
};

/// The tool message for a report: text, kwargs and status; never fails (an unknown status is told as a failure).
MessagePtr reportMessage(const struct SubagentReport &report, const QString &callId);

} // namespace paddock
