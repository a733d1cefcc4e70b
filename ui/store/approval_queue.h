// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "ui/store/names.h"

#include <vector>

namespace paddock {

struct ApprovalEntry {
    QString id;
    RunId run;
    AgentId agent;
    QString call;
    QString command;
    QString verdict; ///< audit class
    QString rule;
    Micros askedAt = 0;
    Clock::Wall askedWall{};
    QString decision; ///< empty while it waits
    QString by;
    QString reason;
};

/// What waits, or waited, for a person in one run, oldest first. Part of RunStore; GUI thread.
class ApprovalQueue
{
public:
    bool apply(const Event &event);
    const std::vector<ApprovalEntry> &entries() const { return m_entries; }
    int waiting() const;

private:
    std::vector<ApprovalEntry> m_entries;
};

} // namespace paddock
