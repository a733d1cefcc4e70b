// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/middleware.h"

namespace paddock {

/// Tells a subagent the date, once, as a system message behind the task message; the coalescer moves it (runtime §4.13).
/// Needs no configuration and reads no memory.
class SubagentDateContextMiddleware : public Middleware
{
public:
    /// IANA zone name; empty or invalid: local time.
    explicit SubagentDateContextMiddleware(QString timezone = {}) : m_timezone(std::move(timezone)) {}

    QString name() const override { return QStringLiteral("SubagentDateContextMiddleware"); }
    Hooks hooks() const override { return Hook::BeforeAgent; }
    Task<Result<StateUpdate>> beforeAgent(AgentState state, RuntimePtr runtime) override;

    static MessagePtr reminder(Clock::Wall now, const QString &timezone);

private:
    const QString m_timezone;
};

} // namespace paddock
