// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/middleware.h"
#include "core/middleware/termination.h"

namespace paddock {

/// An answer that the provider's safety filter cut runs no tools, for their arguments may be cut too, and says why
/// (runtime §4.10).
class SafetyFinishReasonMiddleware : public Middleware
{
public:
    explicit SafetyFinishReasonMiddleware(std::vector<TerminationDetector> detectors = safetyDetectors())
        : m_detectors(std::move(detectors))
    {
    }

    QString name() const override { return QStringLiteral("SafetyFinishReasonMiddleware"); }
    Hooks hooks() const override { return Hook::AfterModel; }
    Task<Result<StateUpdate>> afterModel(AgentState state, RuntimePtr runtime) override;

    /// Null when the answer stays as it is: no signal, or text without calls.
    MessagePtr suppressed(const MessagePtr &ai) const;

private:
    const std::vector<TerminationDetector> m_detectors;
};

} // namespace paddock
