// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/sandboxd/file_ops.h"

#include <sys/stat.h>

#include <functional>
#include <vector>

namespace paddock::sandboxd {

/// One directory entry met on a walk.
struct WalkEntry {
    QByteArray path; ///< absolute, as given by the file system
    QString name;
    int depth = 1;   ///< 1 = directly below the root
    bool isDirectory = false; ///< a real directory, not a link to one
    bool isLink = false;
};

/// Reads a directory tree in bytewise order of names, depth first, without following links. `visit` returns whether to
/// descend (directories only). Directories that cannot be read are skipped; the root's failure is reported.
/// Returns 0 or the root's errno. Stops when `visit` sets `*stop`.
int walkTree(const QByteArray &root, const std::function<bool(const WalkEntry &, bool *stop)> &visit);

/// Whether a link leads to a regular file.
bool leadsToFile(const QByteArray &path);
/// ISO time of a stat's modification.
QString modifiedTime(const struct stat &facts);

} // namespace paddock::sandboxd
