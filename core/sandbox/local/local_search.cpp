// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// Listings and searches of LocalFiles.
#include "core/sandbox/local/local_files.h"

#include "core/sandbox/local/tree_walk.h"
#include "core/sandbox/search.h"
#include "core/sandbox/virtual_paths.h"

#include <QFileInfo>
#include <QFile>

#include <algorithm>
#include <cerrno>
#include <fcntl.h>

namespace paddock {

namespace {

QString withoutTrailingSlash(QString path)
{
    while (path.size() > 1 && path.endsWith(u'/'))
        path.chop(1);
    return path;
}

QString nameOf(const QByteArray &bytes)
{
    return QString::fromUtf8(bytes);
}

/// A directory link, seen without following it further than one look.
bool linksToDirectory(int dirFd, const QByteArray &name)
{
    struct stat info {};
    return ::fstatat(dirFd, name.constData(), &info, 0) == 0 && S_ISDIR(info.st_mode);
}

} // namespace

/// The tree at a path; for a path that exists only as the parent of mappings, the trees of those.
Result<std::vector<LocalFiles::Tree>> LocalFiles::treesOf(const QString &path) const
{
    const QString root = withoutTrailingSlash(path);
    std::vector<Tree> trees;
    QByteArray host;
    auto dir = openForRead(path, O_PATH | O_DIRECTORY, &host);
    if (dir) {
        trees.push_back({std::move(*dir), host, root, {}});
        return trees;
    }
    if (dir.error().code == ErrorCode::PermissionDenied || m_map.find(root))
        return std::unexpected(dir.error());
    for (const PathMapping &mapping : m_map.mappings()) {
        if (!isUnder(mapping.containerPath, root))
            continue;
        const QByteArray local = resolveLinks(mapping.localPath.toUtf8());
        if (auto opened = openRoot(local))
            trees.push_back({std::move(*opened), local, mapping.containerPath, mapping.containerPath.mid(root.size() + 1) + u'/'});
    }
    if (trees.empty())
        return std::unexpected(dir.error());
    std::sort(trees.begin(), trees.end(), [](const Tree &a, const Tree &b) { return a.virtualPath < b.virtualPath; });
    return trees;
}

/// A mapping whose container path is a direct child of the listed path is listed though the host folder does not hold it.
void LocalFiles::addMappedChildren(const QString &path, QStringList &entries) const
{
    for (const PathMapping &mapping : m_map.mappings()) {
        if (mapping.containerPath == path || !isUnder(mapping.containerPath, path))
            continue;
        const QString child = mapping.containerPath.mid(path.size() + 1);
        const QString entry = path + u'/' + child + u'/';
        if (!child.contains(u'/') && !entries.contains(entry) && QFileInfo(mapping.localPath).isDir())
            entries << entry;
    }
}

QStringList LocalFiles::listTree(const Tree &tree, int depth, const std::stop_token &stop) const
{
    QStringList entries;
    TreeWalk walk;
    walk.enter = [depth](const WalkNode &node) { return node.depth < depth && !isIgnoredName(nameOf(node.entry->name)); };
    walk.visit = [&](const WalkNode &node) {
        if (isIgnoredName(nameOf(node.entry->name)))
            return !stop.stop_requested();
        QByteArray relative = node.relative;
        bool directory = node.entry->isDirectory;
        if (node.entry->isLink) {
            // Shown as what it points to, when that stays inside.
            const QByteArray target = resolveLinks(tree.hostPath + '/' + node.relative);
            if (!isBelow(target, tree.hostPath) || target == tree.hostPath || !QFile::exists(nameOf(target)))
                return true;
            relative = target.mid(tree.hostPath.size() + 1);
            directory = linksToDirectory(node.dirFd, node.entry->name);
        }
        entries << tree.virtualPath + u'/' + nameOf(relative) + (directory ? QStringLiteral("/") : QString());
        return !stop.stop_requested();
    };
    walk.run(tree.dir.get());
    return entries;
}

Result<QStringList> LocalFiles::listDir(const QString &path, int depth, std::stop_token stop) const
{
    const QString root = withoutTrailingSlash(path);
    const auto trees = treesOf(path);
    if (!trees)
        return std::unexpected(trees.error());
    QStringList entries;
    const bool real = trees->size() == 1 && trees->front().prefix.isEmpty();
    for (const Tree &tree : *trees) {
        if (real)
            entries += listTree(tree, depth, stop);
        else if (depth > 1)
            entries += listTree(tree, depth - 1, stop);
    }
    if (stop.stop_requested())
        return cancelled();
    addMappedChildren(root, entries);
    entries.removeDuplicates();
    std::sort(entries.begin(), entries.end(), codePointLess);
    return entries;
}

Result<GlobResult> LocalFiles::glob(const QString &path, const QString &pattern, bool includeDirs, int maxResults,
                                    std::stop_token stop) const
{
    const auto trees = treesOf(path);
    if (!trees)
        return std::unexpected(trees.error());
    GlobResult result;
    for (const Tree &tree : *trees) {
        TreeWalk walk;
        walk.enter = [](const WalkNode &node) { return !isIgnoredName(nameOf(node.entry->name)); };
        walk.visit = [&](const WalkNode &node) {
            if (stop.stop_requested())
                return false;
            const bool directory = node.entry->isDirectory
                || (node.entry->isLink && linksToDirectory(node.dirFd, node.entry->name));
            if (isIgnoredName(nameOf(node.entry->name)) || (directory && !includeDirs)
                || !pathMatches(pattern, tree.prefix + nameOf(node.relative)))
                return true;
            result.paths << tree.virtualPath + u'/' + nameOf(node.relative);
            result.truncated = result.paths.size() >= maxResults;
            return !result.truncated;
        };
        if (!walk.run(tree.dir.get()))
            break;
    }
    if (stop.stop_requested())
        return cancelled();
    return result;
}

Result<void> LocalFiles::grepTree(const Tree &tree, const GrepQuery &query, const QRegularExpression &expression,
                                  const std::stop_token &stop, GrepResult &result)
{
    TreeWalk walk;
    walk.enter = [](const WalkNode &node) { return !isIgnoredName(nameOf(node.entry->name)); };
    walk.visit = [&](const WalkNode &node) {
        if (stop.stop_requested())
            return false;
        if (!node.entry->isFile || isIgnoredName(nameOf(node.entry->name)))
            return true;
        if (!query.glob.isEmpty() && !pathMatches(query.glob, tree.prefix + nameOf(node.relative)))
            return true;
        const UniqueFd file(::openat(node.dirFd, node.entry->name.constData(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
        if (!file)
            return true;
        const auto content = readAll(file.get(), grepMaxFileBytes);
        return !content || grepContent(*content, expression, tree.virtualPath + u'/' + nameOf(node.relative),
                                       query.maxResults, result);
    };
    walk.run(tree.dir.get());
    if (stop.stop_requested())
        return cancelled();
    return {};
}

Result<GrepResult> LocalFiles::grep(const GrepQuery &query, std::stop_token stop) const
{
    const auto expression = grepExpression(query.pattern, query.literal, query.caseSensitive);
    if (!expression)
        return std::unexpected(expression.error());
    GrepResult result;
    const auto trees = treesOf(query.path);
    if (trees) {
        for (const Tree &tree : *trees) {
            if (const auto ok = grepTree(tree, query, *expression, stop, result); !ok)
                return std::unexpected(ok.error());
            if (result.truncated)
                break;
        }
    } else if (intOf(trees.error().details, "errno") == ENOTDIR) {
        const auto file = openForRead(query.path, O_RDONLY | O_NONBLOCK);
        if (!file)
            return std::unexpected(file.error());
        const QString name = query.path.mid(query.path.lastIndexOf(u'/') + 1);
        const auto content = readAll(file->get(), grepMaxFileBytes);
        if (!content && content.error().details.contains(fileErrorKindKey))
            return std::unexpected(content.error());
        if (content && (query.glob.isEmpty() || pathMatches(query.glob, name)))
            grepContent(*content, *expression, query.path, query.maxResults, result);
    } else {
        return std::unexpected(trees.error());
    }
    for (GrepMatch &match : result.matches)
        match.text = m_masker.mask(match.text);
    return result;
}

} // namespace paddock
