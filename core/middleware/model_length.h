// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/middleware.h"

namespace paddock {

/// An answer that hit the output limit is marked as such; calls in it are not run, for their arguments may be cut, and one
/// without any text says so (runtime §5.8, the newer rule).
class ModelLengthMiddleware : public Middleware
{
public:
    QString name() const override { return QStringLiteral("ModelLengthMiddleware"); }
    Hooks hooks() const override { return Hook::AfterModel; }
    Task<Result<StateUpdate>> afterModel(AgentState state, RuntimePtr runtime) override;
};

/// Other guards leave such an answer alone.
bool isCutByLength(const Message &ai);

} // namespace paddock
