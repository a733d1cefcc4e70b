// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/backend/runtime_dir.h"

#include "core/base/ids.h"

#include <QDir>
#include <QFile>

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace paddock {

namespace {

QString lockName()
{
    return QStringLiteral("/lock");
}

Error systemError(const QString &what, const QString &path)
{
    return {ErrorCode::Io, QStringLiteral("%1 %2: %3").arg(what, path, QString::fromLocal8Bit(std::strerror(errno))), Json::object(), nullptr};
}

QString defaultRoot()
{
    const QString runtime = qEnvironmentVariable("XDG_RUNTIME_DIR");
    struct stat info {};
    // Only a folder that is ours and closed to others; some systems set it to /tmp.
    if (!runtime.isEmpty() && ::stat(QFile::encodeName(runtime).constData(), &info) == 0 && info.st_uid == ::getuid()
        && (info.st_mode & 0077) == 0)
        return runtime + QStringLiteral("/paddock");
    return QDir::tempPath() + QStringLiteral("/paddock-%1").arg(::getuid());
}

/// A folder of ours that nobody else can enter, also when somebody was there first.
Result<void> makePrivate(const QString &path)
{
    const QByteArray name = QFile::encodeName(path);
    if (::mkdir(name.constData(), 0700) != 0 && errno != EEXIST)
        return fail(systemError(QStringLiteral("Cannot create the runtime folder"), path));
    struct stat info {};
    if (::lstat(name.constData(), &info) != 0)
        return fail(systemError(QStringLiteral("Cannot use the runtime folder"), path));
    if (!S_ISDIR(info.st_mode) || info.st_uid != ::getuid() || (info.st_mode & 0077) != 0)
        return fail(ErrorCode::PermissionDenied,
                    QStringLiteral("The runtime folder %1 is not a private folder of this user. Remove it, or set XDG_RUNTIME_DIR.").arg(path));
    return {};
}

UniqueFd lockOf(const QString &dir, bool create)
{
    UniqueFd fd(::open(QFile::encodeName(dir + lockName()).constData(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | (create ? O_CREAT : 0), 0600));
    if (fd && ::flock(fd.get(), LOCK_EX | LOCK_NB) == 0)
        return fd;
    return {};
}

/// Folders whose process is gone: nobody holds their lock.
void sweep(const QString &root)
{
    const QStringList entries = QDir(root).entryList({QStringLiteral("p-*")}, QDir::Dirs | QDir::NoDotAndDotDot);
    for (const QString &entry : entries) {
        const QString dir = root + QLatin1Char('/') + entry;
        if (const UniqueFd lock = lockOf(dir, false))
            QDir(dir).removeRecursively();
    }
}

} // namespace

Result<std::shared_ptr<RuntimeDir>> RuntimeDir::make(const QString &root)
{
    const QString base = root.isEmpty() ? defaultRoot() : root;
    if (const auto ok = makePrivate(base); !ok)
        return fail(ok.error());
    sweep(base);
    const QString path = base + QStringLiteral("/p-") + newShortId();
    if (const auto ok = makePrivate(path); !ok)
        return fail(ok.error());
    UniqueFd lock = lockOf(path, true);
    if (!lock)
        return fail(systemError(QStringLiteral("Cannot lock the runtime folder"), path));
    return std::shared_ptr<RuntimeDir>(new RuntimeDir(path, std::move(lock)));
}

RuntimeDir::~RuntimeDir()
{
    QDir(m_path).removeRecursively();
}

Result<ListeningSocket> ListeningSocket::make(const QString &dir, const QString &name)
{
    const QString path = dir + QLatin1Char('/') + name.left(16) + QLatin1Char('-') + newShortId().left(6) + QStringLiteral(".sock");
    const QByteArray file = QFile::encodeName(path);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (size_t(file.size()) >= sizeof(address.sun_path))
        return fail(ErrorCode::InvalidArgument,
                    QStringLiteral("The runtime folder %1 has too long a name for a socket. Set XDG_RUNTIME_DIR to a shorter one.").arg(dir));
    std::memcpy(address.sun_path, file.constData(), size_t(file.size()));
    UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    // The folder is closed to others, so there is no moment in which a wider mode would matter.
    if (!fd || ::bind(fd.get(), reinterpret_cast<const sockaddr *>(&address), sizeof address) != 0
        || ::chmod(file.constData(), 0600) != 0 || ::listen(fd.get(), 128) != 0)
        return fail(systemError(QStringLiteral("Cannot listen on"), path));
    return ListeningSocket(path, std::move(fd));
}

void ListeningSocket::remove()
{
    if (!m_path.isEmpty())
        QFile::remove(std::exchange(m_path, QString()));
    m_fd.reset();
}

} // namespace paddock
