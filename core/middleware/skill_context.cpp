// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/skill_context.h"

#include "core/base/text.h"
#include "core/message/state.h"
#include "core/middleware/message_edits.h"

#include <QHash>

namespace paddock {

namespace {

constexpr qsizetype maxShownSkillText = 500;

/// The normalized path of the skill file that a call reads; empty when it reads something else.
QString skillFileOf(const ToolCall &call, const QString &root)
{
    QString path;
    for (const char *key : {"path", "file_path", "filepath"}) {
        if (path.isEmpty())
            path = stringOf(call.args, key);
    }
    if (path.isEmpty())
        return {};
    path = normalizedPath(path);
    return path.startsWith(root + u'/') && path.endsWith(QLatin1String("/SKILL.md")) ? path : QString();
}

QString folderName(const QString &file)
{
    const QString folder = file.left(file.lastIndexOf(u'/'));
    return folder.mid(folder.lastIndexOf(u'/') + 1);
}

/// The channel without what changes although nothing was read again.
Json withoutPlaces(const Json &entries)
{
    Json out = Json::array();
    for (Json entry : entries) {
        if (entry.is_object())
            entry.erase("loaded_at");
        out.push_back(std::move(entry));
    }
    return out;
}

QString shownText(const Json &entry, const char *key)
{
    return escapedLine(firstCodePoints(stringOf(entry, key), maxShownSkillText));
}

} // namespace

Json extractSkills(const MessageList &messages, const QString &skillsRoot, const QStringList &readTools)
{
    const QString root = normalizedPath(skillsRoot);
    QHash<QString, QString> files; // by call id
    Json entries = Json::array();
    qsizetype index = -1;
    for (const MessagePtr &message : messages) {
        ++index;
        if (message->role == Role::Ai) {
            for (const ToolCall &call : message->toolCalls) {
                if (call.id.isEmpty() || !readTools.contains(call.name))
                    continue;
                if (const QString file = skillFileOf(call, root); !file.isEmpty())
                    files.insert(call.id, file);
            }
            continue;
        }
        if (message->role != Role::Tool || message->status == ToolStatus::Error)
            continue;
        const QString file = files.value(message->toolCallId);
        const Json &said = memberOf(message->kwargs, "skill_context_entry");
        if (file.isEmpty() || stringOf(said, "path") != file)
            continue;
        entries.push_back(Json{{"name", toUtf8(folderName(file))},
                               {"path", toUtf8(file)},
                               {"description", toUtf8(stringOf(said, "description"))},
                               {"loaded_at", index}});
    }
    return entries;
}

Json changedSkills(const MessageList &messages, const Json &channel, const QString &skillsRoot, const QStringList &readTools)
{
    Json entries = extractSkills(messages, skillsRoot, readTools);
    if (entries.empty())
        return entries;
    const auto after = reduceChannel(QStringLiteral("skill_context"), channel, entries);
    if (after && channel.is_array() && withoutPlaces(*after) == withoutPlaces(channel))
        return Json::array();
    return entries;
}

QString renderSkills(const Json &entries)
{
    if (!entries.is_array() || entries.empty())
        return {};
    QStringList lines{QStringLiteral("## Skills in use (their files were read earlier; re-read a file before applying what it says)")};
    for (const Json &entry : entries) {
        const QString description = shownText(entry, "description");
        lines.append(QStringLiteral("- ") + shownText(entry, "name")
                     + (description.isEmpty() ? QString() : QStringLiteral(": ") + description) + QStringLiteral(" -> ")
                     + shownText(entry, "path"));
    }
    return lines.join(u'\n');
}

} // namespace paddock
