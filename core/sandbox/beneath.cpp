// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/beneath.h"

#include "core/base/file_kind.h"
#include "core/base/ids.h"
#include "core/sandbox/sandbox.h"

#include <QList>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>

namespace paddock {

namespace {

constexpr int maxLinks = 40; // as the kernel
std::atomic<bool> openat2Works{true};

QByteArray join(const QByteArray &dir, const QByteArray &name)
{
    return dir.endsWith('/') ? dir + name : dir + '/' + name;
}

/// The last component and what stands before it.
std::pair<QByteArray, QByteArray> splitLast(const QByteArray &relative)
{
    const qsizetype cut = relative.lastIndexOf('/');
    return cut < 0 ? std::pair{QByteArray(), relative} : std::pair{relative.left(cut), relative.mid(cut + 1)};
}

std::unexpected<Error> errnoFail(int number, const QString &what)
{
    return std::unexpected(errnoError(number, what));
}

const QString &cannotOpen()
{
    static const QString text = QStringLiteral("Cannot open the file");
    return text;
}

/// Component by component; each step is opened by name in the directory before, links refused.
int walkOpen(int root, const QByteArray &relative, int flags, mode_t mode)
{
    const QList<QByteArray> parts = relative.split('/');
    UniqueFd held;
    int at = root;
    for (qsizetype i = 0; i < parts.size(); ++i) {
        const bool last = i + 1 == parts.size();
        if (parts.at(i).isEmpty() || parts.at(i) == "." || parts.at(i) == "..") {
            errno = EINVAL;
            return -1;
        }
        const int stepFlags = last ? flags | O_NOFOLLOW : O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
        const int fd = ::openat(at, parts.at(i).constData(), stepFlags, last ? mode : 0);
        if (fd < 0)
            return -1;
        // O_PATH with O_NOFOLLOW opens a link itself instead of failing.
        struct stat info {};
        if (last && (flags & O_PATH) && ::fstat(fd, &info) == 0 && S_ISLNK(info.st_mode)) {
            ::close(fd);
            errno = ELOOP;
            return -1;
        }
        if (last)
            return fd;
        held.reset(fd);
        at = held.get();
    }
    errno = EINVAL;
    return -1;
}

int openNoLinks(int root, const QByteArray &relative, int flags, mode_t mode)
{
    if (openat2Works.load(std::memory_order_relaxed)) {
        struct open_how how {};
        how.flags = quint64(unsigned(flags));
        how.mode = (flags & (O_CREAT | O_TMPFILE)) ? mode : 0;
        how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
        const long fd = ::syscall(SYS_openat2, root, relative.constData(), &how, sizeof how);
        if (fd >= 0)
            return int(fd);
        if (errno != ENOSYS && errno != EPERM) // EPERM: a seccomp filter that does not know the call
            return -1;
        if (errno == ENOSYS)
            openat2Works = false;
    }
    return walkOpen(root, relative, flags, mode);
}

bool writeFully(int fd, const QByteArray &content)
{
    qsizetype done = 0;
    while (done < content.size()) {
        const ssize_t n = ::write(fd, content.constData() + done, size_t(content.size() - done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        done += n;
    }
    return true;
}

Error withReason(ErrorCode code, const QString &message, const char *reason)
{
    return Error{code, message, Json{{fileErrorReasonKey, reason}}, nullptr};
}

Result<void> writeInPlace(int dir, const QByteArray &name, const QByteArray &content)
{
    UniqueFd file(::openat(dir, name.constData(), O_WRONLY | O_TRUNC | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    if (!file || !writeFully(file.get(), content))
        return errnoFail(errno, QStringLiteral("Cannot write the file"));
    return {};
}

/// What is there now: nothing (mode 0), or a regular file that may be written.
Result<mode_t> existingMode(int dir, const QByteArray &name)
{
    struct stat info {};
    if (::fstatat(dir, name.constData(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno == ENOENT)
            return mode_t(0);
        return errnoFail(errno, QStringLiteral("Cannot write the file"));
    }
    if (S_ISDIR(info.st_mode))
        return fail(withReason(ErrorCode::InvalidArgument, QStringLiteral("The path is a directory."), reasonIsDirectory));
    if (S_ISLNK(info.st_mode))
        return errnoFail(ELOOP, QStringLiteral("Cannot write the file"));
    if (!S_ISREG(info.st_mode))
        return fail(specialFileError(info.st_mode));
    if (::faccessat(dir, name.constData(), W_OK, AT_EACCESS) != 0)
        return errnoFail(errno, QStringLiteral("Cannot write the file"));
    return info.st_mode & mode_t(07777);
}

} // namespace

QByteArray resolveLinks(const QByteArray &absolutePath)
{
    QList<QByteArray> todo = absolutePath.split('/');
    QByteArray done = "/";
    int links = 0;
    while (!todo.isEmpty()) {
        const QByteArray part = todo.takeFirst();
        if (part.isEmpty() || part == ".")
            continue;
        if (part == "..") {
            const qsizetype cut = done.lastIndexOf('/');
            done = cut <= 0 ? QByteArray("/") : done.left(cut);
            continue;
        }
        const QByteArray next = join(done, part);
        char target[PATH_MAX];
        const ssize_t length = ::readlink(next.constData(), target, sizeof target);
        if (length <= 0 || ++links > maxLinks) {
            done = next;
            continue;
        }
        const QByteArray text(target, length);
        if (text.startsWith('/'))
            done = "/";
        todo = text.split('/') + todo;
    }
    return done;
}

bool isBelow(const QByteArray &path, const QByteArray &base)
{
    if (base == "/")
        return path.startsWith('/');
    return path.startsWith(base) && (path.size() == base.size() || path.at(base.size()) == '/');
}

Error errnoError(int number, const QString &what)
{
    ErrorCode code = ErrorCode::Io;
    const char *reason = nullptr;
    switch (number) {
    case ENOENT: code = ErrorCode::NotFound; break;
    case EACCES: case EPERM: case EROFS: case ELOOP: case EXDEV: code = ErrorCode::PermissionDenied; break;
    case EEXIST: code = ErrorCode::AlreadyExists; break;
    case EISDIR: code = ErrorCode::InvalidArgument; reason = reasonIsDirectory; break;
    case ENOTDIR: code = ErrorCode::NotFound; reason = reasonNotDirectory; break;
    case ENOSPC: case EDQUOT: case EMFILE: case ENFILE: case EFBIG: code = ErrorCode::ResourceExhausted; break;
    case ENAMETOOLONG: case EINVAL: code = ErrorCode::InvalidArgument; break;
    default: break;
    }
    Json details{{"errno", number}};
    if (reason)
        details[fileErrorReasonKey] = reason;
    return Error{code, QStringLiteral("%1: %2").arg(what, QString::fromLocal8Bit(std::strerror(number))), details, nullptr};
}

Error specialFileError(mode_t mode)
{
    const QString kind = specialFileKind(mode);
    if (kind.isEmpty())
        return Error{ErrorCode::InvalidArgument, QStringLiteral("The path is not a regular file."), Json::object(), nullptr};
    return Error{ErrorCode::InvalidArgument, QStringLiteral("The path is %1, not a regular file.").arg(kind),
                 Json{{fileErrorKindKey, toUtf8(kind)}}, nullptr};
}

Result<Located> locate(const QByteArray &absolutePath, const std::vector<HostRoot> &roots)
{
    const QByteArray resolved = resolveLinks(absolutePath);
    Located best;
    bool found = false;
    for (size_t i = 0; i < roots.size(); ++i) {
        const QByteArray base = resolveLinks(roots[i].path);
        if (!isBelow(resolved, base) || (found && base.size() <= best.rootPath.size()))
            continue;
        const qsizetype skip = base == "/" ? 1 : base.size() + 1;
        best = {i, base, resolved.mid(skip)};
        found = true;
    }
    if (!found)
        return fail(ErrorCode::PermissionDenied, QStringLiteral("Access denied: path traversal detected"));
    return best;
}

Result<UniqueFd> openRoot(const QByteArray &path)
{
    UniqueFd fd(::open(path.constData(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!fd)
        return errnoFail(errno, QStringLiteral("Cannot open the folder"));
    return fd;
}

Result<UniqueFd> openBeneath(int root, const QByteArray &relative, int flags, mode_t mode)
{
    if (relative.contains('\0'))
        return fail(ErrorCode::InvalidArgument, QStringLiteral("The path contains a null character."));
    flags |= O_CLOEXEC;
    if (relative.isEmpty()) {
        UniqueFd self(::openat(root, ".", flags & ~O_CREAT));
        return self ? Result<UniqueFd>(std::move(self)) : errnoFail(errno, cannotOpen());
    }
    UniqueFd fd(openNoLinks(root, relative, flags, mode));
    return fd ? Result<UniqueFd>(std::move(fd)) : errnoFail(errno, cannotOpen());
}

Result<UniqueFd> makeDirsBeneath(int root, const QByteArray &relative)
{
    UniqueFd at(::openat(root, ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!at)
        return errnoFail(errno, QStringLiteral("Cannot open the folder"));
    for (const QByteArray &part : relative.split('/')) {
        if (part.isEmpty())
            continue;
        if (part == "." || part == "..")
            return errnoFail(EINVAL, QStringLiteral("Cannot create the folder"));
        if (::mkdirat(at.get(), part.constData(), 0777) != 0 && errno != EEXIST)
            return errnoFail(errno, QStringLiteral("Cannot create the folder"));
        UniqueFd next(::openat(at.get(), part.constData(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (!next)
            return errnoFail(errno, QStringLiteral("Cannot open the folder"));
        at = std::move(next);
    }
    return at;
}

Result<QByteArray> readAll(int fd, qint64 maxBytes)
{
    struct stat info {};
    if (::fstat(fd, &info) != 0)
        return errnoFail(errno, QStringLiteral("Cannot read the file"));
    if (S_ISDIR(info.st_mode))
        return fail(withReason(ErrorCode::InvalidArgument, QStringLiteral("The path is a directory."), reasonIsDirectory));
    if (!S_ISREG(info.st_mode))
        return fail(specialFileError(info.st_mode));
    const auto tooLarge = [&] {
        return fail(ErrorCode::ResourceExhausted,
                    QStringLiteral("File exceeds maximum download size of %1 bytes").arg(maxBytes));
    };
    if (info.st_size > maxBytes)
        return tooLarge();
    QByteArray content;
    content.reserve(qsizetype(info.st_size) + 1);
    constexpr qsizetype chunk = 256 * 1024;
    while (true) {
        const qsizetype before = content.size();
        content.resize(before + chunk);
        const ssize_t n = ::read(fd, content.data() + before, size_t(chunk));
        content.resize(before + std::max<ssize_t>(n, 0));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errnoFail(errno, QStringLiteral("Cannot read the file"));
        if (n == 0)
            return content;
        if (content.size() > maxBytes) // it grew while we read
            return tooLarge();
    }
}

Result<void> writeAtomicBeneath(int root, const QByteArray &relative, const QByteArray &content)
{
    const auto [parent, name] = splitLast(relative);
    if (name.isEmpty())
        return fail(withReason(ErrorCode::InvalidArgument, QStringLiteral("The path is a directory."), reasonIsDirectory));
    const auto dir = makeDirsBeneath(root, parent);
    if (!dir)
        return std::unexpected(dir.error());
    const auto mode = existingMode(dir->get(), name);
    if (!mode)
        return std::unexpected(mode.error());
    const QByteArray temporary = temporaryPrefix + newShortId().toLatin1();
    UniqueFd file(::openat(dir->get(), temporary.constData(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
    if (!file) {
        if (*mode != 0 && (errno == EACCES || errno == EPERM || errno == EROFS))
            return writeInPlace(dir->get(), name, content);
        return errnoFail(errno, QStringLiteral("Cannot write the file"));
    }
    int failure = 0;
    if ((*mode != 0 && ::fchmod(file.get(), *mode) != 0) || !writeFully(file.get(), content) || ::fsync(file.get()) != 0
        || ::renameat(dir->get(), temporary.constData(), dir->get(), name.constData()) != 0)
        failure = errno;
    if (failure == 0)
        return {};
    ::unlinkat(dir->get(), temporary.constData(), 0);
    return errnoFail(failure, QStringLiteral("Cannot write the file"));
}

Result<void> appendBeneath(int root, const QByteArray &relative, const QByteArray &content)
{
    const auto [parent, name] = splitLast(relative);
    if (name.isEmpty())
        return fail(withReason(ErrorCode::InvalidArgument, QStringLiteral("The path is a directory."), reasonIsDirectory));
    const auto dir = makeDirsBeneath(root, parent);
    if (!dir)
        return std::unexpected(dir.error());
    if (const auto mode = existingMode(dir->get(), name); !mode) // before opening: a pipe's reader would see it end
        return std::unexpected(mode.error());
    UniqueFd file(::openat(dir->get(), name.constData(),
                           O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0666));
    if (!file)
        return errnoFail(errno, QStringLiteral("Cannot write the file"));
    struct stat info {};
    if (::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode))
        return fail(specialFileError(info.st_mode));
    if (!writeFully(file.get(), content))
        return errnoFail(errno, QStringLiteral("Cannot write the file"));
    return {};
}

void setOpenat2Allowed(bool allowed)
{
    openat2Works = allowed;
}

} // namespace paddock
