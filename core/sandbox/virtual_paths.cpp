// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/virtual_paths.h"

#include "core/sandbox/beneath.h"
#include "core/sandbox/shell_quoting.h"

#include <QRegularExpression>

#include <algorithm>

namespace paddock {

namespace {

struct Mapping {
    QString virtualBase;
    QString host;
};

/// The parent of a host path in the path's own separator style; empty when it has none.
QString parentOf(QString path)
{
    while (path.size() > 1 && (path.endsWith(u'/') || path.endsWith(u'\\')))
        path.chop(1);
    const qsizetype cut = std::max(path.lastIndexOf(u'/'), path.lastIndexOf(u'\\'));
    if (cut < 0)
        return {};
    return cut == 0 ? path.left(1) : path.left(cut);
}

/// Longest virtual base first.
std::vector<Mapping> mappingsOf(const ThreadDirs &thread)
{
    std::vector<Mapping> mappings;
    QStringList parents;
    const auto add = [&](QStringView base, const QString &host) {
        if (host.isEmpty())
            return;
        mappings.push_back({base.toString(), host});
        parents << parentOf(host);
    };
    add(virtualWorkspace, thread.workspace);
    add(virtualUploads, thread.uploads);
    add(virtualOutputs, thread.outputs);
    if (!parents.isEmpty() && !parents.first().isEmpty()
        && std::all_of(parents.cbegin(), parents.cend(), [&](const QString &p) { return p == parents.first(); }))
        mappings.push_back({virtualRoot.toString(), parents.first()});
    std::stable_sort(mappings.begin(), mappings.end(),
                     [](const Mapping &a, const Mapping &b) { return a.virtualBase.size() > b.virtualBase.size(); });
    return mappings;
}

QString joinHost(const QString &host, QStringView rest)
{
    const QChar separator = host.contains(u'\\') && !host.contains(u'/') ? u'\\' : u'/';
    const bool trailing = rest.endsWith(u'/');
    while (rest.startsWith(u'/'))
        rest = rest.mid(1);
    while (rest.endsWith(u'/'))
        rest.chop(1);
    QString base = host;
    while (base.size() > 1 && base.endsWith(separator))
        base.chop(1);
    QString tail = rest.toString();
    if (separator == u'\\')
        tail.replace(u'/', u'\\');
    QString joined = base;
    if (!tail.isEmpty()) {
        if (!joined.endsWith(separator))
            joined += separator;
        joined += tail;
    }
    if (trailing && !joined.endsWith(separator))
        joined += separator;
    return joined;
}

std::unexpected<Error> traversal()
{
    return fail(ErrorCode::PermissionDenied, QStringLiteral("Access denied: path traversal detected"));
}

} // namespace

bool isUnder(QStringView path, QStringView base)
{
    while (base.size() > 1 && base.endsWith(u'/'))
        base.chop(1);
    if (base == u"/")
        return path.startsWith(u'/');
    return path.startsWith(base) && (path.size() == base.size() || path.at(base.size()) == u'/');
}

QString normalizeVirtualPath(const QString &path)
{
    QStringList kept;
    for (const QStringView segment : QStringView(path).split(u'/', Qt::SkipEmptyParts)) {
        if (segment == u".")
            continue;
        if (segment == u"..") {
            if (!kept.isEmpty())
                kept.removeLast();
            continue;
        }
        kept << segment.toString();
    }
    return u'/' + kept.join(u'/');
}

bool hasParentSegment(QStringView path)
{
    qsizetype start = 0;
    for (qsizetype i = 0; i <= path.size(); ++i) {
        if (i < path.size() && path.at(i) != u'/' && path.at(i) != u'\\')
            continue;
        if (path.mid(start, i - start) == u"..")
            return true;
        start = i + 1;
    }
    return false;
}

QString replaceVirtualPath(const QString &path, const std::optional<ThreadDirs> &thread)
{
    if (!thread)
        return path;
    for (const Mapping &mapping : mappingsOf(*thread)) {
        if (isUnder(path, mapping.virtualBase))
            return joinHost(mapping.host, QStringView(path).mid(mapping.virtualBase.size()));
    }
    return path;
}

QString replaceVirtualPathsInCommand(const QString &command, const std::optional<ThreadDirs> &thread)
{
    if (!thread || !command.contains(virtualRoot))
        return command;
    static const QRegularExpression pattern(
        QStringLiteral("/mnt/user-data(?=/|\\z|[^\\w./-])(/[^\\s\"';&|<>()]*)?"),
        QRegularExpression::UseUnicodePropertiesOption);
    const std::vector<Mapping> mappings = mappingsOf(*thread);
    const std::vector<ShellQuoting> quoting = shellQuotingOf(command);
    QString out;
    qsizetype copied = 0;
    auto matches = pattern.globalMatch(command);
    while (matches.hasNext()) {
        const QRegularExpressionMatch match = matches.next();
        const auto mapping = std::find_if(mappings.begin(), mappings.end(), [&](const Mapping &m) {
            return isUnder(match.capturedView(), m.virtualBase);
        });
        if (mapping == mappings.end())
            continue;
        // Only the folder is quoted: what follows it is the command's own text and may hold patterns.
        const QString base = joinHost(mapping->host, {}).replace(u'\\', u'/');
        const QString path = joinHost(mapping->host, match.capturedView().mid(mapping->virtualBase.size())).replace(u'\\', u'/');
        out += QStringView(command).mid(copied, match.capturedStart() - copied);
        out += quotedFor(base, quoting[size_t(match.capturedStart())]) + path.mid(base.size());
        copied = match.capturedEnd();
    }
    return out + command.mid(copied);
}

Result<void> validateLocalToolPath(const QString &path, const std::optional<ThreadDirs> &thread, bool readOnly,
                                   const QString &skillsRoot, const std::vector<MountRule> &mounts)
{
    if (!thread)
        return fail(ErrorCode::FailedPrecondition, QStringLiteral("Thread data not available for local sandbox"));
    if (hasParentSegment(path))
        return traversal();
    const auto denied = [](const QString &what) { return fail(ErrorCode::PermissionDenied, what); };
    if (isUnder(path, skillsRoot)) {
        if (readOnly)
            return {};
        return denied(QStringLiteral("Write access to skills path is not allowed: %1").arg(path));
    }
    if (isUnder(path, virtualAcp)) {
        if (readOnly)
            return {};
        return denied(QStringLiteral("Write access to ACP workspace is not allowed: %1").arg(path));
    }
    if (path.startsWith(virtualRoot) && path.size() > virtualRoot.size() && path.at(virtualRoot.size()) == u'/')
        return {};
    const MountRule *mount = nullptr; // the longest container path wins
    for (const MountRule &candidate : mounts) {
        if (isUnder(path, candidate.containerPath)
            && (!mount || candidate.containerPath.size() > mount->containerPath.size()))
            mount = &candidate;
    }
    if (!mount)
        return denied(QStringLiteral("Only paths under /mnt/user-data/, %1/, /mnt/acp-workspace/, or configured mount "
                                     "paths are allowed").arg(skillsRoot));
    if (mount->readOnly && !readOnly)
        return denied(QStringLiteral("Write access to read-only mount is not allowed: %1").arg(path));
    return {};
}

Result<QString> resolveUserDataPath(const QString &path, const ThreadDirs &thread)
{
    if (thread.isEmpty())
        return fail(ErrorCode::FailedPrecondition, QStringLiteral("No allowed local sandbox directories configured"));
    if (path.contains(QChar(0)))
        return fail(ErrorCode::InvalidArgument, QStringLiteral("The path contains a null character."));
    const QByteArray host = replaceVirtualPath(path, thread).toUtf8();
    if (!host.startsWith('/'))
        return traversal();
    const QByteArray resolved = resolveLinks(host);
    for (const QString &dir : {thread.workspace, thread.uploads, thread.outputs}) {
        if (!dir.isEmpty() && isBelow(resolved, resolveLinks(dir.toUtf8())))
            return QString::fromUtf8(resolved);
    }
    return traversal();
}

std::optional<QString> skillNameOf(const QString &path, const QString &skillsRoot)
{
    if (!isUnder(path, skillsRoot))
        return std::nullopt;
    QStringList segments = path.mid(skillsRoot.size()).split(u'/', Qt::SkipEmptyParts);
    segments.removeAll(QStringLiteral("."));
    if (segments.isEmpty())
        return std::nullopt;
    static const QStringList categories{QStringLiteral("public"), QStringLiteral("custom"), QStringLiteral("legacy")};
    qsizetype index = 0;
    if (categories.contains(segments.first()))
        index = 1;
    else if (segments.first() == u"integrations")
        index = 2;
    if (index >= segments.size())
        return std::nullopt;
    return segments.at(index);
}

QString disabledSkillText(const QString &name)
{
    return QStringLiteral("Error: Skill '%1' is disabled. Access to its files is blocked. Enable the skill in settings "
                          "before using it.").arg(name);
}

} // namespace paddock
