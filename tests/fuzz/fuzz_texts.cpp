// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
//
// Files that people and other programs write: events, scenarios, configuration.
#include "core/config/config.h"
#include "core/event/event_codec.h"
#include "core/llm/scenario.h"
#include "core/skill/skill.h"
#include "core/skill/slash_command.h"
#include "tests/fuzz/fuzz_targets.h"

namespace paddock::fuzz {

void eventJsonl(const QByteArray &input)
{
    const auto event = decodeEvent(input);
    if (!event)
        return promise(!event.error().message.isEmpty(), "an error without words");
    const QByteArray line = encodeEvent(*event);
    promise(!line.contains('\n'), "an event is one line");
    const auto again = decodeEvent(line);
    promise(again.has_value(), "what we write we can read");
    promise(encodeEvent(*again) == line, "a second reading changes nothing");
}

void scenario(const QByteArray &input)
{
    const auto parsed = parseScenario(input, QStringLiteral("s.yaml"));
    if (!parsed)
        return promise(parsed.error().message.startsWith(u"s.yaml:"), "an error names its place");
    promise(*parsed != nullptr, "a scenario or an error");
    for (const ScenarioAgent &agent : (*parsed)->agents) {
        for (const auto &turn : agent.turns)
            promise(turn != nullptr && turn->chunk >= 0 && turn->delay.count() >= 0, "a turn within its limits");
    }
}

void config(const QByteArray &input)
{
    const auto parsed = parseConfig(input, QStringLiteral("c.yaml"), {{QStringLiteral("KEY"), QStringLiteral("value")}});
    if (!parsed)
        return promise(parsed.error().message.startsWith(u"c.yaml"), "an error names its file");
    promise(parsed->subagentRuntime.maxRunning > 0 && parsed->subagentRuntime.maxQueued >= 0, "limits that make sense");
    promise(parsed->sandbox.bashCommandTimeout > 0, "a time limit above zero");
    promise(parsed->loopDetection.windowSize > 0, "a window above zero");
}

void skill(const QByteArray &input)
{
    const auto command = parseSlashCommand(QString::fromUtf8(input));
    promise(!command || (!command->name.isEmpty() && input.startsWith('/')), "a command has a slash and a name");
    const auto parsed = parseSkill(input);
    const auto installable = checkInstallable(input);
    if (!parsed) {
        promise(!parsed.error().message.isEmpty(), "an error without words");
        return promise(!installable, "what does not load is not installed");
    }
    promise(!parsed->name.trimmed().isEmpty() && !parsed->description.trimmed().isEmpty(), "a skill has a name and a description");
    for (const SkillSecret &secret : parsed->secrets)
        promise(!secret.name.isEmpty(), "a secret has a name");
}

} // namespace paddock::fuzz
