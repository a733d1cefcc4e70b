// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/tool/tool.h"

#include <QMap>
#include <QSet>
#include <QStringList>

namespace paddock {

/// A hint that a tool should be taken for texts with these words (runtime §4.5). Words are trimmed and never empty.
struct RoutingHint {
    int priority = 0;
    QStringList keywords;
};
using RoutingIndex = QMap<QString, RoutingHint>; ///< by tool name

/// The tools of one agent build whose schemas are kept back until they are asked for (runtime §4.6). A value.
struct DeferredTools {
    QSet<QString> names;
    QString catalogHash;  ///< promotions of another catalogue do not count; empty: nothing is deferred
    RoutingIndex routing; ///< of the deferred tools that asked to be preferred
    QStringList preferred; ///< names in `routing`, highest priority first
};

struct ToolSet {
    std::vector<ToolPtr> tools;
    DeferredTools deferred;
};

/// The tools as an agent gets them: with `enabled`, those of MCP servers are deferred and `tool_search` joins. Call it
/// when all filters by name and permission are done, so that the catalogue holds nothing that this agent may not use. Fails
/// rather than hand out an MCP tool that should have been deferred.
Result<ToolSet> deferTools(std::vector<ToolPtr> tools, bool enabled);

/// {name: {priority, keywords}} of any origin; entries without a usable word are left out. Pure.
RoutingIndex routingIndexFrom(const Json &index);
/// The first `topK` (clamped to 1..5) tools of the index whose words appear in `text`. Pure.
QStringList routedTools(const RoutingIndex &index, const QString &text, int topK);

/// First 16 hex digits of the SHA-256 of the canonical JSON of names and schemas.
QString catalogHashOf(const std::vector<ToolSpec> &specs);
/// A tool's schema as `tool_search` shows it: {name, description, parameters}.
Json schemaOf(const ToolSpec &spec);

inline constexpr QStringView toolSearchName = u"tool_search";

} // namespace paddock
