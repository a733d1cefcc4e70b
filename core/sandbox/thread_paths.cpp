// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/thread_paths.h"

#include "core/sandbox/sandbox_ids.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>

#include <cerrno>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

namespace paddock {

namespace {

/// A container under another uid must be able to write, whatever our umask says (sandbox.md §1.1).
Result<void> makeOpenFolder(const QString &path)
{
    if (!QDir().mkpath(path) && !QFileInfo(path).isDir())
        return fail(ErrorCode::Io, QStringLiteral("Cannot create the folder %1: %2")
                                       .arg(path, QString::fromLocal8Bit(std::strerror(errno))));
    const QByteArray name = QFile::encodeName(path);
    struct stat info {};
    if (::stat(name.constData(), &info) == 0 && (info.st_mode & 0777) == 0777)
        return {};
    if (::chmod(name.constData(), 0777) != 0 && ::access(name.constData(), W_OK | X_OK) != 0)
        return fail(ErrorCode::PermissionDenied, QStringLiteral("The folder %1 cannot be written.").arg(path));
    return {};
}

Result<void> checkForeign(const QString &path)
{
    const QFileInfo info(path);
    if (!info.exists())
        return fail(ErrorCode::NotFound, QStringLiteral("The workspace folder %1 does not exist.").arg(path));
    if (!info.isDir())
        return fail(ErrorCode::InvalidArgument, QStringLiteral("The workspace %1 is not a folder.").arg(path));
    if (::access(QFile::encodeName(path).constData(), R_OK | X_OK) != 0)
        return fail(ErrorCode::PermissionDenied,
                    QStringLiteral("The workspace folder %1 cannot be read. Check its permissions.").arg(path));
    return {};
}

} // namespace

Result<ThreadPaths> ThreadPaths::make(const QString &base, const ThreadKey &key, const QString &workspaceOverride)
{
    if (const auto ok = checkThreadId(key.thread.value()); !ok)
        return std::unexpected(ok.error());
    if (!key.user.isEmpty()) {
        if (const auto ok = checkUserId(key.user.value()); !ok)
            return std::unexpected(ok.error());
    }
    if (base.isEmpty())
        return fail(ErrorCode::InvalidArgument, QStringLiteral("No data folder is configured."));
    ThreadPaths paths;
    paths.base = QDir::cleanPath(QDir(base).absolutePath());
    // Callers without a user id keep the older layout.
    const QString owner = key.user.isEmpty() ? paths.base : paths.base + QStringLiteral("/users/") + key.user.value();
    paths.thread = owner + QStringLiteral("/threads/") + key.thread.value();
    paths.uploads = paths.thread + QStringLiteral("/user-data/uploads");
    paths.outputs = paths.thread + QStringLiteral("/user-data/outputs");
    paths.workspace = paths.thread + QStringLiteral("/user-data/workspace");
    if (!workspaceOverride.isEmpty()) {
        paths.workspace = QDir::cleanPath(QDir(workspaceOverride).absolutePath());
        paths.workspaceIsForeign = true;
    }
    return paths;
}

QString ThreadPaths::acp() const
{
    return thread + QStringLiteral("/acp-workspace");
}

Result<void> ThreadPaths::create() const
{
    if (workspaceIsForeign) {
        if (const auto ok = checkForeign(workspace); !ok)
            return ok;
    } else if (const auto ok = makeOpenFolder(workspace); !ok) {
        return ok;
    }
    for (const QString &folder : {uploads, outputs, acp()}) {
        if (const auto ok = makeOpenFolder(folder); !ok)
            return ok;
    }
    return {};
}

} // namespace paddock
