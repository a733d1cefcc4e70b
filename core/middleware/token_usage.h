// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/middleware.h"

namespace paddock {

/// Says on each answer what its tokens were spent on, and adds what subagents used to the answer that sent them, each report
/// once (runtime §5.4).
class TokenUsageMiddleware : public Middleware
{
public:
    QString name() const override { return QStringLiteral("TokenUsageMiddleware"); }
    Hooks hooks() const override { return Hook::AfterModel; }
    Task<Result<StateUpdate>> afterModel(AgentState state, RuntimePtr runtime) override;
};

} // namespace paddock
