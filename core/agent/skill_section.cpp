// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/agent/skill_section.h"

#include "core/base/name_search.h"
#include "core/base/run_on.h"
#include "core/base/text.h"

namespace paddock {

namespace {

constexpr qsizetype maxShownDescription = 1024; ///< characters of one skill in a prompt

QString oneLine(const QString &text)
{
    return escapeMarkup(firstCodePoints(text.simplified(), maxShownDescription));
}

Json describedSkill(const Skill &skill)
{
    Json shown{{"name", toUtf8(skill.name)},
               {"description", toUtf8(skill.description)},
               {"category", toUtf8(skill.category)},
               {"location", toUtf8(skill.containerPath)}};
    shown["allowed_tools"] = nullptr;
    if (skill.allowedTools) {
        shown["allowed_tools"] = Json::array();
        for (const QString &tool : *skill.allowedTools)
            shown["allowed_tools"].push_back(toUtf8(tool));
    }
    return shown;
}

QString describedText(const std::vector<Skill> &skills, const QString &query)
{
    std::vector<NamedText> texts;
    for (const Skill &skill : skills)
        texts.push_back({skill.name, skill.description});
    Json found = Json::array();
    for (const std::size_t index : searchNames(texts, query))
        found.push_back(describedSkill(skills[index]));
    return found.empty() ? QStringLiteral("No skills found matching: ") + pythonStrip(query) : QString::fromUtf8(dumpJsonPretty(found));
}

Task<Result<ToolOutcome>> described(SkillSourcePtr source, std::optional<QStringList> available, ToolCall call, std::stop_token stop)
{
    const auto list = co_await runOnPool([source] { return source->load(); });
    if (stop.stop_requested())
        co_return cancelled();
    if (!list)
        co_return ToolOutcome(toolMessage(call.id, call.name, QStringLiteral("Error: The skills cannot be read at the moment."), ToolStatus::Error));
    co_return ToolOutcome(toolMessage(call.id, call.name, describedText(visibleSkills(*list, available), stringOf(call.args, "query"))));
}

class DescribeSkillTool : public Tool
{
public:
    DescribeSkillTool(SkillSourcePtr source, std::optional<QStringList> available)
        : m_source(std::move(source)), m_available(std::move(available))
    {
    }

    ToolSpec spec() const override
    {
        const Json query{{"type", "string"}, {"description", "`select:name,other`, `+part words`, or a regular expression."}};
        return {QStringLiteral("describe_skill"),
                QStringLiteral("Describe skills of the <skill_index>: what each is for, which tools it uses, and where its SKILL.md is. Read "
                               "that file before you apply a skill."),
                Json{{"type", "object"}, {"properties", {{"query", query}}}, {"required", Json::array({"query"})}}};
    }
    Task<Result<ToolOutcome>> call(ToolCallContext context) override
    {
        return described(m_source, m_available, context.call, context.stop);
    }

private:
    const SkillSourcePtr m_source;
    const std::optional<QStringList> m_available;
};

} // namespace

std::vector<Skill> visibleSkills(const SkillList &list, const std::optional<QStringList> &available)
{
    std::vector<Skill> visible;
    for (const Skill &skill : list.skills) {
        if (skill.enabled && !skill.outside && isListed(available, skill.name))
            visible.push_back(skill);
    }
    return visible;
}

QString skillSection(const std::vector<Skill> &skills, bool namesOnly)
{
    if (skills.empty())
        return {};
    QString text = QStringLiteral("<skill_system>\nSkills are written procedures for kinds of work. When one fits the task, ");
    text += namesOnly ? QStringLiteral("look it up with `describe_skill`, read its SKILL.md with read_file, and follow it. Other files "
                                       "of a skill are read only when it says so.\n<skill_index>\n")
                      : QStringLiteral("read its SKILL.md with read_file before you start, and follow it. Other files of a skill are read "
                                       "only when it says so.\n<available_skills>\n");
    for (const Skill &skill : skills) {
        if (namesOnly)
            text += oneLine(skill.name) + u'\n';
        else
            text += QStringLiteral("<skill>\n<name>") + oneLine(skill.name) + QStringLiteral("</name>\n<description>")
                + oneLine(skill.description) + QStringLiteral("</description>\n<location>") + oneLine(skill.containerPath)
                + QStringLiteral("</location>\n</skill>\n");
    }
    return text + (namesOnly ? QStringLiteral("</skill_index>\n</skill_system>") : QStringLiteral("</available_skills>\n</skill_system>"));
}

QString routingHintsSection(const DeferredTools &deferred)
{
    if (deferred.preferred.isEmpty())
        return {};
    QString text = QStringLiteral("<mcp_routing_hints>\nPrefer these tools when a request is about their words:\n");
    for (const QString &name : deferred.preferred)
        text += QStringLiteral("- ") + oneLine(name) + QStringLiteral(": ") + oneLine(deferred.routing[name].keywords.join(u", ")) + u'\n';
    return text + QStringLiteral("</mcp_routing_hints>");
}

ToolPtr makeDescribeSkillTool(SkillSourcePtr source, std::optional<QStringList> available)
{
    return std::make_shared<DescribeSkillTool>(std::move(source), std::move(available));
}

} // namespace paddock
