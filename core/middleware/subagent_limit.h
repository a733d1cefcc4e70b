// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/middleware.h"

#include <limits>

namespace paddock {

/// How much a lead may delegate (runtime §5.6). The prompt names the same numbers.
struct DelegationLimits {
    int perResponse = 3;
    int perRun = 6;

    static constexpr int ceiling = 64;    ///< per response, whatever is configured
    static constexpr int runCeiling = 50;
    static constexpr int unlimited = std::numeric_limits<int>::max();
    /// What is asked for, within 1 to what may run at once, and within 1 to 50.
    static DelegationLimits within(int perResponse, int perRun, int maxRunning);
};

/// Drops `task` calls beyond what one response and one run may delegate. Other calls and the order stay.
class SubagentLimitMiddleware : public Middleware
{
public:
    explicit SubagentLimitMiddleware(DelegationLimits limits) : m_limits(limits) {}

    QString name() const override { return QStringLiteral("SubagentLimitMiddleware"); }
    Hooks hooks() const override { return Hook::AfterModel; }
    Task<Result<StateUpdate>> afterModel(AgentState state, RuntimePtr runtime) override;

private:
    const DelegationLimits m_limits;
};

} // namespace paddock
