// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/skill/skill_store.h"
#include "core/tool/deferred_tools.h"

namespace paddock {

/// The skills of a list that an agent with this allowlist may see, in the order of the list.
std::vector<Skill> visibleSkills(const SkillList &list, const std::optional<QStringList> &available);

/// `<skill_system>` of a prompt (runtime §3): each skill with description and place, or with `namesOnly` the
/// `<skill_index>` that `describe_skill` explains. Everything from disk is escaped. Empty when there is no skill. Pure.
QString skillSection(const std::vector<Skill> &skills, bool namesOnly);
/// `<mcp_routing_hints>`: which deferred tool suits which words; empty when there is none. Pure.
QString routingHintsSection(const DeferredTools &deferred);

/// The `describe_skill` tool: searches the visible skills as `tool_search` searches tools.
ToolPtr makeDescribeSkillTool(SkillSourcePtr source, std::optional<QStringList> available);

} // namespace paddock
