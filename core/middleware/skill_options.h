// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/message/state.h"
#include "core/skill/skill_store.h"

namespace paddock {

/// What SkillActivation and SkillToolPolicy of one chain share (runtime §4.1, §4.3).
struct SkillOptions {
    SkillSourcePtr source;                ///< null: no skills, both members only pass on
    std::optional<QStringList> available; ///< the agent's allowlist; null: all
    QString containerRoot = QStringLiteral("/mnt/skills");
    /// Says that a slash command was typed in this chain's own run: what else stands in the run context is not believed.
    /// Fresh for each build of a chain; the two members refuse to work without one.
    QString ownerToken;
};

/// At least 24 random bytes, URL-safe.
QString newOwnerToken();

// The private keys of a run context that belong to skills (runtime §6.2).
inline constexpr const char *slashSourceKey = "__slash_skill_secret_source";
inline constexpr const char *slashRunKey = "__slash_skill_activation_run";
inline constexpr const char *activeSecretsKey = "__active_skill_secrets";
inline constexpr const char *secretsAuditKey = "__skill_secrets_binding_audit";
inline constexpr const char *policyDecisionKey = "__skill_tool_policy_decision";

/// The container path of the skill that a slash command of this chain named; empty for none and for a forged entry.
QString slashSkillPath(const Json &values, const QString &ownerToken);
/// The normalized paths of the channel skill_context, in order, each once.
QStringList loadedSkillPaths(const AgentState &state);
/// The skill at a path, when it is switched on and this agent may use it; nullptr otherwise.
const Skill *usableSkillAt(const SkillList &list, const QString &path, const std::optional<QStringList> &available);

} // namespace paddock
