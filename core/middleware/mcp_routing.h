// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/deferred_options.h"
#include "core/middleware/middleware.h"

namespace paddock {

/// Promotes deferred tools whose words stand in what the person asks (runtime §4.5), before the filter looks. On its
/// chain's loop.
class McpRoutingMiddleware : public Middleware
{
public:
    explicit McpRoutingMiddleware(DeferredOptions options) : m_options(std::move(options)) {}

    QString name() const override { return QStringLiteral("McpRoutingMiddleware"); }
    Hooks hooks() const override { return Hook::BeforeModel; }
    Task<Result<StateUpdate>> beforeModel(AgentState state, RuntimePtr runtime) override;

    /// What would be promoted for these messages, promoted already or not.
    static QStringList routed(const DeferredOptions &options, const MessageList &messages);

private:
    const DeferredOptions m_options;
};

} // namespace paddock
