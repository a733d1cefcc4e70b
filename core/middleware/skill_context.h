// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/message/message_list.h"

#include <QStringList>

namespace paddock {

// Which skill files an agent has read (runtime §4.11): references for the channel `skill_context`, never their text. Pure
// functions; any thread.

/// The tools whose calls may read a skill file, where the configuration names none.
inline QStringList defaultSkillReadTools()
{
    return {QStringLiteral("read_file"), QStringLiteral("read"), QStringLiteral("view"), QStringLiteral("cat")};
}

/// One entry {name, path, description, loaded_at} for each read of a SKILL.md below `skillsRoot` whose result says so itself.
Json extractSkills(const MessageList &messages, const QString &skillsRoot, const QStringList &readTools);
/// What the channel has to learn; empty when it would hold the same.
Json changedSkills(const MessageList &messages, const Json &channel, const QString &skillsRoot, const QStringList &readTools);
/// What the model sees; empty for no entries.
QString renderSkills(const Json &entries);

} // namespace paddock
