// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/sandbox/aio/aio_client.h"
#include "core/sandbox/sandbox.h"

// File operations of an AIO sandbox through /v1/file/* (sandbox.md §2.5 to §2.10). Free coroutines on values: any loop.
// The container enforces access; paths are sent as they are. Trees are walked one directory a call, in code point order and
// without ignored names, so that a result limit cuts at the same place every time and a huge ignored folder costs nothing.
namespace paddock::aio {

Task<Result<QString>> readFile(AioClient client, QString path, std::stop_token stop);
/// Under /mnt/user-data only, at most `maxBytes` and 100 MiB.
Task<Result<QByteArray>> readBytes(AioClient client, QString path, qint64 maxBytes, std::stop_token stop);
Task<Result<FileWritten>> writeFile(AioClient client, QString path, QString content, bool append, std::stop_token stop);
Task<Result<FileWritten>> writeBytes(AioClient client, QString path, QByteArray content, std::stop_token stop);
Task<Result<QStringList>> listDir(AioClient client, QString path, int depth, std::stop_token stop);
Task<Result<GlobResult>> glob(AioClient client, QString path, QString pattern, bool includeDirs, int maxResults, std::stop_token stop);
Task<Result<GrepResult>> grep(AioClient client, GrepQuery query, std::stop_token stop);

/// PermissionDenied unless the path is /mnt/user-data or below, without ".." segments.
Result<void> checkDownloadPath(const QString &path);

} // namespace paddock::aio
