// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/middleware.h"
#include "core/middleware/skill_options.h"

namespace paddock {

/// Which tools the active skills leave to the model (runtime §4.3).
struct SkillPolicy {
    QString source;                       ///< slash, skill_context, passive
    QStringList paths;                    ///< of the active skills
    std::optional<QStringList> allowed;   ///< sorted; null: no restriction

    bool allows(const QString &tool) const;
};

/// Restricts schemas and calls to `allowed-tools` of the active skills; the skill of a slash command rules alone. What
/// cannot be resolved allows nothing but the tools that are always there. On its chain's loop; the disk is read on the pool.
class SkillToolPolicyMiddleware : public Middleware
{
public:
    explicit SkillToolPolicyMiddleware(SkillOptions options);

    QString name() const override { return QStringLiteral("SkillToolPolicyMiddleware"); }
    Hooks hooks() const override { return Hook::WrapModelCall | Hook::WrapToolCall; }
    Task<Result<ModelResponse>> wrapModelCall(ModelCall call, ModelNext next) override;
    Task<Result<ToolOutcome>> wrapToolCall(ToolCallRequest request, ToolNext next) override;

    /// Which skills are active; `allowed` is left open.
    static SkillPolicy activeIn(const Json &values, const AgentState &state, const QString &ownerToken);
    /// The union over the skills that declare tools; null when none does. `list` is null when it cannot be read. Pure.
    static std::optional<QStringList> allowedBy(const SkillList *list, const QStringList &paths, const std::optional<QStringList> &available);

    struct State;

private:
    const std::shared_ptr<const State> m_state;
};

} // namespace paddock
