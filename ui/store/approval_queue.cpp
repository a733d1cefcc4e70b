// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/store/approval_queue.h"

#include <algorithm>

namespace paddock {

int ApprovalQueue::waiting() const
{
    return int(std::count_if(m_entries.begin(), m_entries.end(),
                             [](const ApprovalEntry &entry) { return entry.decision.isEmpty(); }));
}

bool ApprovalQueue::apply(const Event &event)
{
    if (const auto *asked = std::get_if<ApprovalRequested>(&event.body)) {
        ApprovalEntry entry;
        entry.id = asked->approval;
        entry.run = event.run;
        entry.agent = event.agent;
        entry.call = asked->call;
        entry.command = asked->command;
        entry.verdict = asked->verdict;
        entry.rule = asked->rule;
        entry.askedAt = event.mono.count();
        entry.askedWall = event.time;
        m_entries.push_back(std::move(entry));
        return true;
    }
    if (const auto *decided = std::get_if<ApprovalDecided>(&event.body)) {
        for (ApprovalEntry &entry : m_entries) {
            if (entry.id != decided->approval)
                continue;
            entry.decision = decided->decision;
            entry.by = decided->by;
            entry.reason = decided->reason;
            return true;
        }
        return false;
    }
    if (std::holds_alternative<RunFinished>(event.body)) {
        // What still waited when the run ended waits no longer.
        bool changed = false;
        for (ApprovalEntry &entry : m_entries) {
            if (entry.decision.isEmpty()) {
                entry.decision = QStringLiteral("cancelled");
                changed = true;
            }
        }
        return changed;
    }
    return false;
}

} // namespace paddock
