// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/sandboxd/unique_fd.h"
#include "core/wire/file_api.h"
#include "core/wire/file_query_api.h"

#include <expected>

#include <sys/types.h>

// The file group's work (aio-api.md §4). Blocking calls on paths as the sandbox sees them; any thread, no state.
namespace paddock::sandboxd {

struct FileFailure {
    wire::FileError error;
    int status = 200; ///< other than 200: `error.message` goes out as a plain refusal
};
template<typename T>
using FileOutcome = std::expected<T, FileFailure>;

inline constexpr qint64 maxFileResultBytes = qint64(32) * 1024 * 1024; // §4.3
inline constexpr mode_t newFileMode = 0644;

std::unexpected<FileFailure> failedWith(int error, const char *operation, const QString &path);
/// A failure without errno, e.g. "decode_error".
std::unexpected<FileFailure> failedAs(const char *type, const char *operation, const QString &path, const QString &message,
                                      const char *exception = nullptr);
/// The words for what a path leads to, when it is a pipe, a socket or a device; else empty.
QString specialKindAt(const QByteArray &path);
/// As failedWith, but for a special file it says what it is.
std::unexpected<FileFailure> failedOn(int error, const char *operation, const QString &path);
/// HTTP 400 with this message.
std::unexpected<FileFailure> refusedWith(const QString &message);

FileOutcome<wire::FileReadResult> readFile(const wire::FileReadRequest &request);
FileOutcome<wire::FileWriteResult> writeFile(const wire::FileWriteRequest &request);
FileOutcome<wire::FileReplaceResult> replaceInFile(const wire::FileReplaceRequest &request);
FileOutcome<wire::FileSearchResult> searchInFile(const wire::FileSearchRequest &request);
FileOutcome<wire::FileFindResult> findFiles(const wire::FileFindRequest &request);
FileOutcome<wire::FileListResult> listFiles(const wire::FileListRequest &request);
FileOutcome<wire::FileGlobResult> globFiles(const wire::FileGlobRequest &request);
FileOutcome<wire::FileGrepResult> grepFiles(const wire::FileGrepRequest &request);

// Parts that several of them use.
/// Opens a regular file for reading, never blocking on a pipe. errno is in the failure.
FileOutcome<UniqueFd> openRegular(const char *operation, const QString &path);
/// All bytes; fails above `limit`.
FileOutcome<QByteArray> readAll(int fd, qint64 limit, const char *operation, const QString &path);
/// Text of UTF-8 bytes with a byte order mark kept; nullopt when they are not UTF-8.
std::optional<QString> strictText(QByteArrayView bytes);
FileOutcome<QString> readText(const char *operation, const QString &path);
/// Creates missing parents (0755), writes in place. Returns an errno or 0; ENXIO for pipes, sockets and block devices.
/// `realPath` becomes where links of the path led, by the open file itself; empty when the kernel does not say.
int writeBytes(const QString &path, const QByteArray &bytes, bool append, QString *realPath = nullptr);
int makeParents(const QByteArray &path);
/// Without trailing slashes.
QString cleanRoot(const QString &path);

} // namespace paddock::sandboxd
