// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/journal/owner_lock.h"

#include "core/base/ids.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace paddock {

namespace {

QString pathOf(const QString &folder, const QString &name)
{
    return folder + QLatin1Char('/') + name;
}

/// True when `path` still names the open file: somebody may have removed it between opening and locking.
bool stillNamed(int fd, const QByteArray &path)
{
    struct stat open {};
    struct stat named {};
    return fstat(fd, &open) == 0 && stat(path.constData(), &named) == 0 && open.st_ino == named.st_ino
        && open.st_dev == named.st_dev;
}

/// Owner names come from the file: only what we make ourselves may become a path.
bool isPlainName(const QString &name)
{
    return !name.isEmpty() && !name.contains(QLatin1Char('/')) && !name.startsWith(QLatin1Char('.'));
}

} // namespace

OwnerLock &OwnerLock::operator=(OwnerLock &&other) noexcept
{
    if (this != &other) {
        release();
        m_fd = std::exchange(other.m_fd, -1);
        m_path = std::move(other.m_path);
        m_name = std::move(other.m_name);
        m_noted = other.m_noted;
    }
    return *this;
}

OwnerLock::~OwnerLock()
{
    release();
}

Result<OwnerLock> OwnerLock::create(const QString &folder)
{
    if (!QDir().mkpath(folder))
        return fail(ErrorCode::PermissionDenied,
                    QStringLiteral("The folder %1 cannot be made. Check the permissions above it, or choose another data folder.").arg(folder));
    static constexpr int attempts = 16;
    for (int i = 0; i < attempts; ++i) {
        OwnerLock lock;
        lock.m_name = newUuid();
        lock.m_path = pathOf(folder, lock.m_name);
        const QByteArray path = QFile::encodeName(lock.m_path);
        lock.m_fd = ::open(path.constData(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (lock.m_fd < 0) {
            return fail(ErrorCode::PermissionDenied,
                        QStringLiteral("No file can be made in %1 (%2). Check its permissions and the room on its disk, or choose another data folder.")
                            .arg(folder, QString::fromLocal8Bit(std::strerror(errno))));
        }
        if (flock(lock.m_fd, LOCK_EX | LOCK_NB) == 0 && stillNamed(lock.m_fd, path)) {
            const QByteArray room(noteRoom, '\0');
            (void)::pwrite(lock.m_fd, room.constData(), size_t(room.size()), 0); // without it there are no notes
            return lock;
        }
    }
    return fail(ErrorCode::Unavailable, QStringLiteral("No lock could be taken in %1; does its file system know file locks?").arg(folder));
}

OwnerLock OwnerLock::tryAdopt(const QString &folder, const QString &name)
{
    OwnerLock lock;
    if (!isPlainName(name))
        return lock;
    lock.m_name = name;
    lock.m_path = pathOf(folder, name);
    const QByteArray path = QFile::encodeName(lock.m_path);
    // Made again when it is gone: whoever locks it first cleans up.
    lock.m_fd = ::open(path.constData(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (lock.m_fd < 0)
        return lock;
    if (flock(lock.m_fd, LOCK_EX | LOCK_NB) != 0 || !stillNamed(lock.m_fd, path)) {
        ::close(std::exchange(lock.m_fd, -1));
    }
    return lock;
}

bool OwnerLock::isAlive(const QString &folder, const QString &name)
{
    if (!isPlainName(name))
        return false;
    const int fd = ::open(QFile::encodeName(pathOf(folder, name)).constData(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return false;
    // A shared lock for a moment; an owner that is just starting retries nothing, since it made the file exclusively.
    const bool alive = flock(fd, LOCK_SH | LOCK_NB) != 0;
    ::close(fd);
    return alive;
}

bool OwnerLock::note(const QByteArray &words)
{
    struct stat info {};
    if (m_fd < 0 || words.size() > noteRoom || fstat(m_fd, &info) != 0 || info.st_size < noteRoom)
        return false;
    const QByteArray whole = words.leftJustified(noteRoom, '\0');
    if (::pwrite(m_fd, whole.constData(), size_t(whole.size()), 0) != whole.size())
        return false;
    m_noted = !words.isEmpty();
    return true;
}

QByteArray OwnerLock::noteOf(const QString &folder, const QString &name)
{
    QFile file(pathOf(folder, name));
    if (!isPlainName(name) || !QFileInfo(file.fileName()).isFile() || !file.open(QIODevice::ReadOnly))
        return {};
    const QByteArray words = file.read(noteRoom);
    const qsizetype end = words.indexOf('\0');
    return end < 0 ? words : words.first(end);
}

void OwnerLock::leave()
{
    if (m_fd >= 0)
        ::close(std::exchange(m_fd, -1));
}

void OwnerLock::release()
{
    if (m_fd < 0)
        return;
    if (m_noted) {
        leave();
        return;
    }
    ::unlink(QFile::encodeName(m_path).constData()); // before unlocking: nobody adopts a name that is going away
    ::close(std::exchange(m_fd, -1));
}

} // namespace paddock
