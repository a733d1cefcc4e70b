// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/deferred_tool_promotion_audit.h"

#include <algorithm>

namespace paddock {

namespace {

using OptionsPtr = std::shared_ptr<const DeferredOptions>;

DeferredOptions withClaims(DeferredOptions options)
{
    if (!options.claims)
        options.claims = std::make_shared<PromotionClaims>();
    return options;
}

/// The names in a search's result, if it is one of our catalogue and a list of strings.
QStringList namesFound(const ToolOutcome &outcome, const QString &catalogHash)
{
    const auto *command = std::get_if<Command>(&outcome);
    if (!command)
        return {};
    const Json &promoted = memberOf(command->update.channels, "promoted");
    const Json &list = memberOf(promoted, "names");
    if (!list.is_array() || stringOf(promoted, "catalog_hash") != catalogHash)
        return {};
    QStringList names;
    for (const Json &name : list) {
        if (!name.is_string())
            return {};
        names.append(textOf(name));
    }
    return names;
}

Task<Result<ToolOutcome>> observed(OptionsPtr options, QStringList before, ToolCallRequest request, ToolNext next)
{
    const RuntimePtr runtime = request.context.runtime;
    Result<ToolOutcome> outcome = co_await next(std::move(request));
    if (!outcome)
        co_return outcome;
    QStringList names;
    for (const QString &name : namesFound(*outcome, options->tools.catalogHash)) {
        if (options->tools.names.contains(name) && !before.contains(name))
            names.append(name);
    }
    recordPromotion(*runtime, *options->claims, QStringLiteral("tool_search"), names);
    co_return outcome;
}

} // namespace

DeferredToolPromotionAuditMiddleware::DeferredToolPromotionAuditMiddleware(DeferredOptions options)
    : m_options(std::make_shared<const DeferredOptions>(withClaims(std::move(options))))
{
}

Task<Result<ToolOutcome>> DeferredToolPromotionAuditMiddleware::wrapToolCall(ToolCallRequest request, ToolNext next)
{
    if (request.context.call.name != toolSearchName || m_options->tools.catalogHash.isEmpty())
        return next(std::move(request));
    QStringList before = promotedNames(request.context.state, m_options->tools.catalogHash);
    return observed(m_options, std::move(before), std::move(request), std::move(next));
}

} // namespace paddock
