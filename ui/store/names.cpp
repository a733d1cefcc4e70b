// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/store/names.h"

#include <algorithm>

namespace paddock {

namespace {

constexpr int uuidHeadLength = 4;

/// A UUID or another long run of hex digits is told apart by its head; a name that a person chose stays whole.
QString shortTask(const QString &task)
{
    const bool hexOnly = std::all_of(task.cbegin(), task.cend(), [](QChar c) {
        return c == u'-' || (c >= u'0' && c <= u'9') || (c >= u'a' && c <= u'f');
    });
    return hexOnly && task.size() >= 8 ? task.left(uuidHeadLength) : task;
}

} // namespace

QString shortOwner(const QString &owner)
{
    if (owner.startsWith(u"run:"))
        return QStringLiteral("lead");
    if (owner.startsWith(u"subagent:"))
        return QStringLiteral("subagent:") + shortTask(owner.mid(9));
    return owner;
}

QString tinyOwner(const QString &owner)
{
    if (owner.startsWith(u"subagent:"))
        return shortTask(owner.mid(9));
    return shortOwner(owner);
}

AgentId agentOfOwner(const QString &owner)
{
    return owner.startsWith(u"run:") ? leadAgent() : AgentId(owner);
}

QString headOfCommand(const QString &command, int limit)
{
    const QString text = command.trimmed();
    QString line = text.section(u'\n', 0, 0).simplified();
    const bool cut = line.size() > limit || text.contains(u'\n');
    if (line.size() > limit)
        line.truncate(line.at(limit - 1).isHighSurrogate() ? limit - 1 : limit);
    return cut ? line + QChar(0x2026) : line;
}

} // namespace paddock
