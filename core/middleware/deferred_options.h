// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/audit_record.h"
#include "core/tool/deferred_tools.h"

namespace paddock {

/// What the three members for deferred tools share (runtime §4.2, §4.5, §4.6).
struct DeferredOptions {
    DeferredTools tools;
    int autoPromoteTopK = 3; ///< tool_search.auto_promote_top_k
    /// Fresh for each build of a chain; null only before that.
    std::shared_ptr<PromotionClaims> claims;
};

/// The names that the state promoted from this catalogue.
QStringList promotedNames(const AgentState &state, const QString &catalogHash);

} // namespace paddock
