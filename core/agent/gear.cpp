// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/agent/gear.h"

#include "core/agent/skill_section.h"
#include "core/agent/subagent_prompt.h"
#include "core/base/run_on.h"

namespace paddock {

QString Gear::promptTail() const
{
    QString tail;
    for (const QString &section : {skillSection, deferredToolsSection(deferredTools), routingHints}) {
        if (!section.isEmpty())
            tail += QStringLiteral("\n\n") + section;
    }
    return tail;
}

Task<Result<Gear>> gearFor(std::shared_ptr<const AgentServices> services, std::vector<ToolPtr> tools, QString model,
                           std::optional<QStringList> skills, EventSink events)
{
    auto set = deferTools(std::move(tools), services->toolSearch);
    if (!set)
        co_return fail(set.error());
    Gear gear;
    gear.tools = std::move(set->tools);
    gear.deferredTools = QStringList(set->deferred.names.cbegin(), set->deferred.names.cend());
    gear.routingHints = routingHintsSection(set->deferred);
    gear.chain.deferred = std::move(set->deferred);
    gear.chain.skills = skills;
    gear.chain.vision = services->seesImages && services->seesImages(model);
    if (!services->skills)
        co_return gear;
    const auto list = co_await runOnPool([source = services->skills] { return source->load(); });
    if (!list) {
        events.emitEvent(LogRecorded{QStringLiteral("warning"), QStringLiteral("The skills cannot be read: ") + list.error().fullMessage(), false});
        co_return gear;
    }
    const std::vector<Skill> visible = visibleSkills(*list, skills);
    gear.skillSection = skillSection(visible, services->deferSkills);
    if (services->deferSkills && !visible.empty())
        gear.tools.push_back(makeDescribeSkillTool(services->skills, skills));
    co_return gear;
}

} // namespace paddock
