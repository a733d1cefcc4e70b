// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/error.h"
#include "core/sandbox/unique_fd.h"

#include <QByteArray>

#include <sys/stat.h>
#include <sys/types.h>

#include <vector>

namespace paddock {

// Opening files so that what was checked is what is opened (sandbox.md §1.4, style.md F13). A path is first resolved to one
// without links; then it is opened beneath a directory descriptor with no link followed at all. Whoever swaps a directory
// for a link in between gets a refusal, never a file outside. Host paths are bytes. Blocking; call from a worker thread.
// Error messages are fit for the model: they never hold a host path.

/// Symbolic links of an absolute path resolved as realpath does it, a missing tail allowed; "." and ".." are gone.
/// Link loops leave the rest unresolved. Reads the file system without holding anything.
QByteArray resolveLinks(const QByteArray &absolutePath);
/// `path` equals `base` or lies under it; both absolute, without trailing slashes.
bool isBelow(const QByteArray &path, const QByteArray &base);

/// An errno as an Error; `what` begins the sentence, e.g. "Cannot open the file".
Error errnoError(int number, const QString &what);

/// The path leads to a special file; what it is stands in the message and the details.
Error specialFileError(mode_t mode);

/// A directory on the host that a virtual root stands for. A value.
struct HostRoot {
    QByteArray path; ///< absolute
    bool readOnly = false;
};

/// Where a path ended after its links were resolved: beneath roots[root], at `relative` ("" is the root itself).
struct Located {
    size_t root = 0;
    QByteArray rootPath; ///< resolved
    QByteArray relative;
};

/// Finds the root that holds the resolved path, the longest first. PermissionDenied when none does.
Result<Located> locate(const QByteArray &absolutePath, const std::vector<HostRoot> &roots);

/// Opens a root's directory. The path of a root itself is trusted; it comes from the configuration or the person.
Result<UniqueFd> openRoot(const QByteArray &path);
/// Opens `relative` ("" is the root) beneath `root` without following any link. O_CLOEXEC is added. openat2 where the kernel
/// has it, else a walk with O_NOFOLLOW. On failure the errno is in `details.errno`.
Result<UniqueFd> openBeneath(int root, const QByteArray &relative, int flags, mode_t mode = 0);
/// Opens the directory `relative`, creating what is missing with mode 0777 less the umask.
Result<UniqueFd> makeDirsBeneath(int root, const QByteArray &relative);

/// The whole file, refusing directories and special files. ResourceExhausted above `maxBytes`.
Result<QByteArray> readAll(int fd, qint64 maxBytes);
/// Writes to a temporary file in the same directory, syncs, renames, keeping the mode of an existing file. Parents are
/// created. Where the directory refuses new names but the file can be written, it is written in place.
Result<void> writeAtomicBeneath(int root, const QByteArray &relative, const QByteArray &content);
/// O_APPEND; the file and its parents are created when missing.
Result<void> appendBeneath(int root, const QByteArray &relative, const QByteArray &content);

/// Names that start so are our temporary files; watches and listings pass over them.
inline constexpr const char *temporaryPrefix = ".paddock-tmp-";

/// For tests: pretend that the kernel has no openat2.
void setOpenat2Allowed(bool allowed);

} // namespace paddock
