// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/path_map.h"

#include "core/sandbox/beneath.h"
#include "core/sandbox/shell_quoting.h"

#include <QDir>
#include <QFileInfo>

#include <algorithm>
#include <cerrno>

namespace paddock {

namespace {

QString withoutTrailingSlash(QString path)
{
    while (path.size() > 1 && path.endsWith(u'/'))
        path.chop(1);
    return path;
}

QString resolvedText(const QString &path)
{
    return path.startsWith(u'/') ? QString::fromUtf8(resolveLinks(path.toUtf8())) : path;
}

std::vector<MaskSource> sourcesOf(const std::vector<PathMapping> &mappings)
{
    std::vector<MaskSource> sources;
    for (const PathMapping &mapping : mappings)
        sources.push_back({mapping.localPath, mapping.containerPath});
    return sources;
}

QRegularExpression textPattern(const std::vector<PathMapping> &mappings, QStringView boundary)
{
    QStringList alternatives;
    for (const PathMapping &mapping : mappings)
        alternatives << QRegularExpression::escape(mapping.containerPath);
    QRegularExpression pattern(QStringLiteral("(") + alternatives.join(u'|') + QStringLiteral(")") + boundary.toString()
                                   + QStringLiteral("((?:/[^\\s\"';&|<>()]*)?)"),
                               QRegularExpression::UseUnicodePropertiesOption);
    pattern.optimize();
    return pattern;
}

/// The tail of a mapped path climbs above its mapping.
bool climbsOut(QStringView tail)
{
    int depth = 0;
    for (const QStringView segment : tail.split(u'/', Qt::SkipEmptyParts)) {
        if (segment == u".")
            continue;
        depth += segment == u".." ? -1 : 1;
        if (depth < 0)
            return true;
    }
    return false;
}

} // namespace

PathMap::PathMap(std::vector<PathMapping> mappings)
    : m_mappings(std::move(mappings))
{
    for (PathMapping &mapping : m_mappings) {
        mapping.containerPath = withoutTrailingSlash(mapping.containerPath);
        mapping.localPath = withoutTrailingSlash(mapping.localPath);
    }
    std::stable_sort(m_mappings.begin(), m_mappings.end(), [](const PathMapping &a, const PathMapping &b) {
        return a.containerPath.size() > b.containerPath.size();
    });
    for (const PathMapping &mapping : m_mappings)
        m_resolvedRoots.push_back(resolvedText(mapping.localPath));
    m_masker = HostPathMasker(sourcesOf(m_mappings));
    if (m_mappings.empty())
        return;
    m_commandPattern = textPattern(m_mappings, u"(?=/|\\z|[\\s\"';&|<>()])");
    m_contentPattern = textPattern(m_mappings, u"(?=/|\\z|[^\\w./-])");
}

const PathMapping *PathMap::find(QStringView containerPath) const
{
    for (const PathMapping &mapping : m_mappings) {
        if (isUnder(containerPath, mapping.containerPath))
            return &mapping;
    }
    return nullptr;
}

Result<QString> PathMap::resolve(const QString &containerPath) const
{
    const PathMapping *mapping = find(containerPath);
    if (!mapping)
        return containerPath;
    const QString &root = m_resolvedRoots.at(size_t(mapping - m_mappings.data()));
    const qsizetype skip = mapping->containerPath == u"/" ? 0 : mapping->containerPath.size();
    const QString resolved = resolvedText(root + u'/' + containerPath.mid(skip));
    if (isUnder(resolved, root))
        return resolved;
    return fail(ErrorCode::PermissionDenied, QStringLiteral("Access denied: path escapes mounted directory"),
                Json{{"errno", EACCES}, {"path", toUtf8(containerPath)}});
}

QString PathMap::reverse(const QString &hostPath) const
{
    const QString spelled = withoutTrailingSlash(QString(hostPath).replace(u'\\', u'/'));
    const QString resolved = resolvedText(spelled);
    const PathMapping *best = nullptr;
    QString rest;
    qsizetype bestSize = -1;
    for (size_t i = 0; i < m_mappings.size(); ++i) {
        for (const auto &[path, root] : {std::pair{resolved, m_resolvedRoots.at(i)}, {spelled, m_mappings.at(i).localPath}}) {
            if (!isUnder(path, root) || root.size() <= bestSize)
                continue;
            best = &m_mappings.at(i);
            bestSize = root.size();
            rest = path.mid(root == u"/" ? 0 : root.size());
        }
    }
    if (!best)
        return hostPath;
    while (rest.startsWith(u'/'))
        rest.remove(0, 1);
    if (rest.isEmpty())
        return best->containerPath;
    return best->containerPath == u"/" ? u'/' + rest : best->containerPath + u'/' + rest;
}

bool PathMap::isReadOnly(const QString &containerPath) const
{
    const PathMapping *mapping = find(containerPath);
    if (mapping && mapping->readOnly)
        return true;
    const auto resolved = resolve(containerPath);
    if (!resolved)
        return true; // it leaves its mapping: nothing there may be written
    const PathMapping *specific = nullptr;
    qsizetype size = -1;
    for (size_t i = 0; i < m_mappings.size(); ++i) {
        const QString &root = m_resolvedRoots.at(i);
        if (isUnder(*resolved, root) && root.size() > size) {
            specific = &m_mappings.at(i);
            size = root.size();
        }
    }
    return specific && specific->readOnly;
}

/// `spell` writes a host folder for the place where it is put.
template<typename Spell>
QString PathMap::mapText(const QString &text, const QRegularExpression &pattern, Spell spell) const
{
    if (m_mappings.empty() || text.isEmpty())
        return text;
    QString out;
    qsizetype copied = 0;
    auto matches = pattern.globalMatch(text);
    while (matches.hasNext()) {
        const QRegularExpressionMatch match = matches.next();
        const PathMapping *mapping = find(match.captured(1));
        if (!mapping || climbsOut(match.capturedView(2)))
            continue;
        out += QStringView(text).mid(copied, match.capturedStart() - copied);
        out += spell(QString(mapping->localPath).replace(u'\\', u'/'), match.capturedStart()) + match.captured(2);
        copied = match.capturedEnd();
    }
    return copied == 0 ? text : out + text.mid(copied);
}

QString PathMap::mapCommand(const QString &command) const
{
    const std::vector<ShellQuoting> quoting = shellQuotingOf(command);
    return mapText(command, m_commandPattern, [&](const QString &host, qsizetype at) {
        return quotedFor(host, quoting[size_t(at)]);
    });
}

QString PathMap::mapContent(const QString &content) const
{
    return mapText(content, m_contentPattern, [](const QString &host, qsizetype) { return host; });
}

SkillDirs SkillDirs::of(const QString &base, const QString &user)
{
    const QString own = user.isEmpty() ? base + QStringLiteral("/skills_view")
                                       : base + QStringLiteral("/users/%1/skills_view").arg(user);
    return {base + QStringLiteral("/skills_view/public"), own + QStringLiteral("/custom"), own + QStringLiteral("/legacy"),
            own + QStringLiteral("/integrations")};
}

std::vector<PathMapping> threadMappings(const ThreadPaths &paths, const SkillDirs &skills, const QString &skillsRoot,
                                        const std::vector<MountSpec> &mounts, QStringList *warnings)
{
    const auto warn = [warnings](const QString &text) {
        if (warnings)
            *warnings << text;
    };
    QStringList reserved{virtualAcp.toString(), virtualRoot.toString()};
    for (const char16_t *category : {u"/public", u"/custom", u"/integrations", u"/legacy"})
        reserved << skillsRoot + QString::fromUtf16(category);
    std::vector<PathMapping> mappings;
    mappings.push_back({skillsRoot + QStringLiteral("/public"), skills.publicDir, true});
    for (const MountSpec &mount : mounts) {
        const QString container = withoutTrailingSlash(mount.containerPath);
        if (!mount.hostPath.startsWith(u'/'))
            warn(QStringLiteral("The mount %1 is skipped: its host path '%2' is not absolute.").arg(container, mount.hostPath));
        else if (!container.startsWith(u'/'))
            warn(QStringLiteral("A mount is skipped: its container path '%1' is not absolute.").arg(container));
        else if (std::any_of(reserved.cbegin(), reserved.cend(), [&](const QString &r) { return isUnder(container, r); }))
            warn(QStringLiteral("The mount %1 is skipped: that path is reserved.").arg(container));
        else if (!QFileInfo::exists(mount.hostPath))
            warn(QStringLiteral("The mount %1 is skipped: '%2' does not exist here. If Paddock runs in a container itself, "
                                "mount that folder into it as well.").arg(container, mount.hostPath));
        else
            mappings.push_back({container, mount.hostPath, mount.readOnly});
    }
    if (!paths.workspaceIsForeign)
        mappings.push_back({virtualRoot.toString(), paths.thread + QStringLiteral("/user-data"), false});
    mappings.push_back({virtualWorkspace.toString(), paths.workspace, false});
    mappings.push_back({virtualUploads.toString(), paths.uploads, false});
    mappings.push_back({virtualOutputs.toString(), paths.outputs, false});
    mappings.push_back({virtualAcp.toString(), paths.acp(), false});
    mappings.push_back({skillsRoot + QStringLiteral("/custom"), skills.custom, true});
    mappings.push_back({skillsRoot + QStringLiteral("/legacy"), skills.legacy, true});
    mappings.push_back({skillsRoot + QStringLiteral("/integrations"), skills.integrations, true});
    return mappings;
}

std::vector<MaskSource> threadMaskSources(const ThreadPaths &paths, const SkillDirs &skills, const QString &skillsRoot)
{
    std::vector<MaskSource> sources{
        {skills.publicDir, skillsRoot + QStringLiteral("/public")}, {skills.custom, skillsRoot + QStringLiteral("/custom")},
        {skills.legacy, skillsRoot + QStringLiteral("/legacy")},    {skills.integrations, skillsRoot + QStringLiteral("/integrations")},
        {paths.acp(), virtualAcp.toString()},        {paths.workspace, virtualWorkspace.toString()},
        {paths.uploads, virtualUploads.toString()},  {paths.outputs, virtualOutputs.toString()},
        {paths.thread + QStringLiteral("/user-data"), virtualRoot.toString()},
    };
    return sources;
}

} // namespace paddock
