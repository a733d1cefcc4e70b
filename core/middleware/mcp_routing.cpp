// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/mcp_routing.h"

#include "core/middleware/user_text.h"

namespace paddock {

QStringList McpRoutingMiddleware::routed(const DeferredOptions &options, const MessageList &messages)
{
    const qsizetype last = lastUserMessage(messages);
    if (last < 0 || options.tools.catalogHash.isEmpty())
        return {};
    return routedTools(options.tools.routing, originalText(*messages.at(last)), options.autoPromoteTopK);
}

Task<Result<StateUpdate>> McpRoutingMiddleware::beforeModel(AgentState state, RuntimePtr runtime)
{
    StateUpdate update;
    const QStringList known = promotedNames(state, m_options.tools.catalogHash);
    QStringList fresh;
    for (const QString &name : routed(m_options, state.messages)) {
        if (!known.contains(name))
            fresh.append(name);
    }
    if (fresh.isEmpty())
        co_return update;
    update.channels["promoted"] = Json{{"catalog_hash", toUtf8(m_options.tools.catalogHash)}, {"names", namesToJson(fresh)}};
    if (m_options.claims)
        recordPromotion(*runtime, *m_options.claims, QStringLiteral("routing_hint"), fresh);
    co_return update;
}

} // namespace paddock
