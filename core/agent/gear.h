// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/agent/agent_services.h"

namespace paddock {

/// What one execution works with: its tools with those that the framework adds, what its chain is built for, and what its
/// prompt says of them. A value.
struct Gear {
    std::vector<ToolPtr> tools;
    ChainRequest chain;
    QString skillSection;      ///< `<skill_system>`, or empty
    QStringList deferredTools; ///< names
    QString routingHints;      ///< `<mcp_routing_hints>`, or empty

    /// The three as they stand at the end of a prompt, each after a blank line.
    QString promptTail() const;
};

/// `tools` are past every filter by name. Reads the skills on the pool; skills that cannot be read are none, with a warning.
Task<Result<Gear>> gearFor(std::shared_ptr<const AgentServices> services, std::vector<ToolPtr> tools, QString model,
                           std::optional<QStringList> skills, EventSink events);

} // namespace paddock
