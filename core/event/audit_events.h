// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QString>

namespace paddock {

/// audit.recorded
struct AuditRecorded {
    QString call;
    QString command; ///< secrets masked
    QString verdict; ///< pass, warn, block
    QString rule;    ///< what matched, empty for pass
    QString reason;
};

/// approval.requested
struct ApprovalRequested {
    QString approval; ///< id
    QString call;
    QString command;
    QString verdict;
    QString rule;
};

/// approval.decided
struct ApprovalDecided {
    QString approval;
    QString decision; ///< allow_once, allow_always, deny
    QString by;       ///< person, rule, headless, cancelled
    QString reason;
};

} // namespace paddock
