// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QByteArray>

#include <functional>
#include <vector>

namespace paddock {

struct DirEntry {
    QByteArray name;
    bool isDirectory = false;
    bool isLink = false;
    bool isFile = false;
};

/// The entries of a directory, sorted by bytes (which is the order of code points). Empty when it cannot be read.
std::vector<DirEntry> readDirectory(int dirFd);

struct WalkNode {
    int dirFd = -1;       ///< the directory that holds it
    QByteArray relative;  ///< to the walk's root
    const DirEntry *entry = nullptr;
    int depth = 1;        ///< of the entry; 1 is the root's children
};

/// Visits a tree beneath a descriptor, never following a link: names in order, the other entries of a directory before its
/// sub-directories. `visit` is asked about every entry and answers whether to go on with the walk; `enter` whether to
/// descend into a directory. Directories that cannot be read are passed over. Blocking.
class TreeWalk
{
public:
    static constexpr int maxDepth = 128; ///< each level holds a descriptor

    std::function<bool(const WalkNode &)> visit;
    std::function<bool(const WalkNode &)> enter;
    /// False when a visit ended the walk.
    bool run(int rootFd) const;

private:
    bool walk(int dirFd, const QByteArray &prefix, int depth) const;
};

} // namespace paddock
