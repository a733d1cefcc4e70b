// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/config/config.h"
#include "core/config/section_reader.h"

namespace paddock {

namespace {

constexpr qint64 anyNumber = 1'000'000;

/// A folder of the sandbox that is Paddock's to fill: "/a/b", nothing climbing, not one of the agents' own folders.
bool isContainerFolder(const QString &path)
{
    if (!path.startsWith(u'/') || path.size() < 2 || path.endsWith(u'/') || path.contains(QChar(0)))
        return false;
    for (const QString &part : path.mid(1).split(u'/')) {
        if (part.isEmpty() || part == u"." || part == u"..")
            return false;
    }
    for (const QString &taken : {QStringLiteral("/mnt/user-data"), QStringLiteral("/mnt/acp-workspace")}) {
        if (path == taken || path.startsWith(taken + u'/') || taken.startsWith(path + u'/'))
            return false;
    }
    return true;
}

} // namespace

Result<SkillsConfig> skillsFromJson(const Json &value)
{
    SkillsConfig c;
    SectionReader reader(QStringLiteral("skills"), value);
    reader.string("path", c.path);
    if (reader.string("container_path", c.containerPath) && !isContainerFolder(c.containerPath))
        reader.complain("container_path", QStringLiteral("must be an absolute folder of its own inside the sandbox, like /mnt/skills"));
    reader.boolean("deferred_discovery", c.deferredDiscovery);
    return reader.finish(c);
}

Result<ToolSearchConfig> toolSearchFromJson(const Json &value)
{
    ToolSearchConfig c;
    SectionReader reader(QStringLiteral("tool_search"), value);
    reader.boolean("enabled", c.enabled);
    reader.integer("auto_promote_top_k", c.autoPromoteTopK, -anyNumber, anyNumber);
    return reader.finish(c);
}

} // namespace paddock
