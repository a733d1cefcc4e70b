// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/local/tree_walk.h"

#include "core/sandbox/unique_fd.h"

#include <algorithm>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

namespace paddock {

std::vector<DirEntry> readDirectory(int dirFd)
{
    std::vector<DirEntry> entries;
    const int own = ::openat(dirFd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); // fdopendir takes it over
    DIR *dir = own < 0 ? nullptr : ::fdopendir(own);
    if (!dir) {
        if (own >= 0)
            ::close(own);
        return entries;
    }
    while (const dirent *found = ::readdir(dir)) {
        if (std::strcmp(found->d_name, ".") == 0 || std::strcmp(found->d_name, "..") == 0)
            continue;
        DirEntry entry{found->d_name, found->d_type == DT_DIR, found->d_type == DT_LNK, found->d_type == DT_REG};
        struct stat info {};
        if (found->d_type == DT_UNKNOWN && ::fstatat(own, found->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0) {
            entry.isDirectory = S_ISDIR(info.st_mode);
            entry.isLink = S_ISLNK(info.st_mode);
            entry.isFile = S_ISREG(info.st_mode);
        }
        entries.push_back(std::move(entry));
    }
    ::closedir(dir);
    std::sort(entries.begin(), entries.end(), [](const DirEntry &a, const DirEntry &b) { return a.name < b.name; });
    return entries;
}

bool TreeWalk::run(int rootFd) const
{
    return walk(rootFd, {}, 1);
}

bool TreeWalk::walk(int dirFd, const QByteArray &prefix, int depth) const
{
    const std::vector<DirEntry> entries = readDirectory(dirFd);
    const auto relativeOf = [&](const DirEntry &entry) { return prefix.isEmpty() ? entry.name : prefix + '/' + entry.name; };
    for (const DirEntry &entry : entries) {
        if (!entry.isDirectory && !visit({dirFd, relativeOf(entry), &entry, depth}))
            return false;
    }
    for (const DirEntry &entry : entries) {
        if (!entry.isDirectory)
            continue;
        const WalkNode node{dirFd, relativeOf(entry), &entry, depth};
        if (!visit(node))
            return false;
        if (depth >= maxDepth || !enter(node))
            continue;
        const UniqueFd child(::openat(dirFd, entry.name.constData(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (child && !walk(child.get(), node.relative, depth + 1))
            return false;
    }
    return true;
}

} // namespace paddock
