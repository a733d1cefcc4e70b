// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/deferred_tool_filter.h"

namespace paddock {

namespace {

Task<Result<ToolOutcome>> answeredWith(ToolOutcome outcome)
{
    co_return outcome;
}

} // namespace

QStringList promotedNames(const AgentState &state, const QString &catalogHash)
{
    QStringList names;
    const Json &promoted = memberOf(state.channels, "promoted");
    const Json &list = memberOf(promoted, "names");
    if (catalogHash.isEmpty() || stringOf(promoted, "catalog_hash") != catalogHash || !list.is_array())
        return names;
    for (const Json &name : list) {
        if (name.is_string())
            names.append(textOf(name));
    }
    return names;
}

QSet<QString> DeferredToolFilterMiddleware::hidden(const AgentState &state) const
{
    QSet<QString> names = m_tools.names;
    for (const QString &name : promotedNames(state, m_tools.catalogHash))
        names.remove(name);
    return names;
}

Task<Result<ModelResponse>> DeferredToolFilterMiddleware::wrapModelCall(ModelCall call, ModelNext next)
{
    const QSet<QString> closed = hidden(call.state);
    if (!closed.isEmpty())
        std::erase_if(call.request.tools, [&](const ToolSpec &tool) { return closed.contains(tool.name); });
    return next(std::move(call));
}

Task<Result<ToolOutcome>> DeferredToolFilterMiddleware::wrapToolCall(ToolCallRequest request, ToolNext next)
{
    const ToolCall &call = request.context.call;
    if (!hidden(request.context.state).contains(call.name))
        return next(std::move(request));
    return answeredWith(toolMessage(call.id.isEmpty() ? QStringLiteral("missing_tool_call_id") : call.id, call.name,
                                QStringLiteral("Error: Tool '") + call.name
                                    + QStringLiteral("' is deferred and has not been promoted yet. Call tool_search first to expose and "
                                                     "promote this tool's schema, then retry."),
                                ToolStatus::Error));
}

} // namespace paddock
