// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/base/file_kind.h"

#include <sys/stat.h>

namespace paddock {

QString specialFileKind(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFIFO: return QStringLiteral("a named pipe (FIFO)");
    case S_IFSOCK: return QStringLiteral("a socket");
    case S_IFCHR: return QStringLiteral("a character device");
    case S_IFBLK: return QStringLiteral("a block device");
    default: return {};
    }
}

} // namespace paddock
