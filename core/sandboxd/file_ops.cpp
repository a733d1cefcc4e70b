// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandboxd/file_ops.h"

#include "core/base/file_kind.h"

#include <QDir>
#include <QElapsedTimer>
#include <QRegularExpression>

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace paddock::sandboxd {

namespace {

constexpr mode_t newDirMode = 0755;
constexpr size_t blockBytes = 256 * 1024;
constexpr qint64 regexLimitMs = 2000; // §4.6
constexpr QByteArrayView byteOrderMark("\xef\xbb\xbf");

std::unexpected<FileFailure> noSudo(const char *operation, const QString &path)
{
    return failedAs("permission_denied", operation, path, QStringLiteral("sudo is not available in this sandbox"));
}

std::unexpected<FileFailure> notUtf8(const char *operation, const QString &path, QByteArrayView bytes)
{
    // The first byte that cannot be part of UTF-8.
    qsizetype at = 0;
    while (at < bytes.size()) {
        const auto c = static_cast<unsigned char>(bytes[at]);
        const qsizetype need = c < 0x80 ? 1 : c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
        if (at + need > bytes.size() || !QUtf8StringView(bytes.sliced(at, need)).isValidUtf8())
            break;
        at += need;
    }
    const unsigned value = at < bytes.size() ? static_cast<unsigned char>(bytes[at]) : 0;
    return failedAs("decode_error", operation, path,
                    QStringLiteral("Failed to %1 file: 'utf-8' codec can't decode byte 0x%2 in position %3: '%4'")
                        .arg(QLatin1String(operation), QString::number(value, 16).rightJustified(2, u'0'))
                        .arg(at)
                        .arg(path),
                    "UnicodeDecodeError");
}

std::unexpected<FileFailure> tooLarge(const char *operation, const QString &path)
{
    return failedAs("io_error", operation, path, QStringLiteral("File too large"), "OSError");
}

} // namespace

std::unexpected<FileFailure> failedWith(int error, const char *operation, const QString &path)
{
    return std::unexpected(FileFailure{wire::FileError::fromErrno(error, QString::fromLatin1(operation), path)});
}

std::unexpected<FileFailure> failedAs(const char *type, const char *operation, const QString &path, const QString &message,
                                      const char *exception)
{
    FileFailure failure;
    failure.error.path = path;
    failure.error.operation = QString::fromLatin1(operation);
    failure.error.message = message;
    failure.error.errorType = QString::fromLatin1(type);
    if (exception)
        failure.error.exceptionType = QString::fromLatin1(exception);
    return std::unexpected(failure);
}

std::unexpected<FileFailure> refusedWith(const QString &message)
{
    FileFailure failure;
    failure.status = 400;
    failure.error.message = message;
    return std::unexpected(failure);
}

QString cleanRoot(const QString &path)
{
    QString out = path;
    while (out.size() > 1 && out.endsWith(u'/'))
        out.chop(1);
    return out;
}

QString specialKindAt(const QByteArray &path)
{
    struct stat facts;
    return ::stat(path.constData(), &facts) == 0 ? specialFileKind(facts.st_mode) : QString();
}

std::unexpected<FileFailure> failedOn(int error, const char *operation, const QString &path)
{
    const QString kind = specialKindAt(path.toUtf8());
    if (kind.isEmpty())
        return failedWith(error, operation, path);
    return std::unexpected(FileFailure{wire::FileError::special(kind, QString::fromLatin1(operation), path)});
}

FileOutcome<UniqueFd> openRegular(const char *operation, const QString &path)
{
    UniqueFd fd(::open(path.toUtf8().constData(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!fd)
        return failedOn(errno, operation, path); // a socket cannot even be opened
    struct stat facts;
    if (::fstat(fd.get(), &facts) != 0)
        return failedWith(errno, operation, path);
    if (S_ISDIR(facts.st_mode))
        return failedWith(EISDIR, operation, path);
    if (!S_ISREG(facts.st_mode)) {
        return std::unexpected(FileFailure{wire::FileError::special(specialFileKind(facts.st_mode), QString::fromLatin1(operation), path)});
    }
    return fd;
}

FileOutcome<QByteArray> readAll(int fd, qint64 limit, const char *operation, const QString &path)
{
    struct stat facts;
    QByteArray out;
    if (::fstat(fd, &facts) == 0 && facts.st_size > 0) {
        if (facts.st_size > limit)
            return tooLarge(operation, path);
        out.reserve(facts.st_size + 1);
    }
    while (true) {
        const qsizetype had = out.size();
        const qsizetype room = std::max<qsizetype>(out.capacity() - had, 4096);
        out.resize(had + room);
        const ssize_t count = ::read(fd, out.data() + had, size_t(room));
        out.resize(had + std::max<ssize_t>(count, 0));
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return failedWith(errno, operation, path);
        if (count == 0)
            return out;
        if (out.size() > limit)
            return tooLarge(operation, path);
    }
}

std::optional<QString> strictText(QByteArrayView bytes)
{
    if (!QUtf8StringView(bytes).isValidUtf8())
        return std::nullopt;
    // Qt drops the mark; it is part of the file.
    if (bytes.startsWith(byteOrderMark))
        return QChar(0xfeff) + QString::fromUtf8(bytes.sliced(byteOrderMark.size()));
    return QString::fromUtf8(bytes);
}

FileOutcome<QString> readText(const char *operation, const QString &path)
{
    const auto fd = openRegular(operation, path);
    if (!fd)
        return std::unexpected(fd.error());
    const auto bytes = readAll(fd->get(), maxFileResultBytes, operation, path);
    if (!bytes)
        return std::unexpected(bytes.error());
    auto text = strictText(*bytes);
    if (!text)
        return notUtf8(operation, path, *bytes);
    return std::move(*text);
}

// ---- read ----------------------------------------------------------------------------------------------------------

namespace {

/// Lines [first, last) of a file of any size, as bytes. The last line of the range loses its newline unless the range
/// reaches the end of the file.
FileOutcome<QByteArray> readLines(int fd, qint64 first, qint64 last, const QString &path)
{
    QByteArray out;
    QByteArray block(qsizetype(blockBytes), Qt::Uninitialized);
    qint64 line = 0;
    while (line < last) {
        const ssize_t count = ::read(fd, block.data(), size_t(block.size()));
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return failedWith(errno, "read", path);
        if (count == 0)
            return out;
        for (qsizetype at = 0; at < count && line < last;) {
            const qsizetype newline = QByteArrayView(block.constData(), count).indexOf('\n', at);
            const qsizetype end = newline < 0 ? count : newline + 1;
            if (line >= first)
                out.append(block.constData() + at, end - at);
            if (out.size() > maxFileResultBytes)
                return tooLarge("read", path);
            if (newline >= 0 && ++line == last && end == count) {
                // The range may reach the very end: then the file's own last newline stays.
                char probe;
                if (::read(fd, &probe, 1) == 0)
                    return out;
            }
            at = end;
            if (line == last && out.endsWith('\n'))
                out.chop(1);
        }
    }
    return out;
}

} // namespace

FileOutcome<wire::FileReadResult> readFile(const wire::FileReadRequest &request)
{
    if (request.sudo)
        return noSudo("read", request.file);
    const auto fd = openRegular("read", request.file);
    if (!fd)
        return std::unexpected(fd.error());
    FileOutcome<QByteArray> bytes;
    if (request.startLine || request.endLine) {
        const qint64 first = request.startLine.value_or(0);
        const qint64 last = request.endLine.value_or(std::numeric_limits<qint64>::max());
        bytes = last <= first ? QByteArray() : readLines(fd->get(), first, last, request.file);
    } else {
        bytes = readAll(fd->get(), maxFileResultBytes, "read", request.file);
    }
    if (!bytes)
        return std::unexpected(bytes.error());
    auto text = strictText(*bytes);
    if (!text)
        return notUtf8("read", request.file, *bytes);
    wire::FileReadResult result;
    result.file = request.file;
    result.lineCount = bytes->count('\n') + (bytes->isEmpty() || bytes->endsWith('\n') ? 0 : 1);
    result.content = std::move(*text);
    return result;
}

// ---- write ---------------------------------------------------------------------------------------------------------

int makeParents(const QByteArray &path)
{
    for (qsizetype at = path.indexOf('/', 1); at > 0; at = path.indexOf('/', at + 1)) {
        const QByteArray parent = path.left(at);
        if (::mkdir(parent.constData(), newDirMode) != 0 && errno != EEXIST) {
            const int error = errno;
            struct stat facts;
            // A parent that exists where nothing may be made (EROFS, EACCES) is fine.
            if (::stat(parent.constData(), &facts) != 0)
                return error;
        }
    }
    return 0;
}

namespace {

struct OpenedFile {
    UniqueFd fd;
    bool made = false;
    int error = 0;
};

/// Keeps the inode, the mode and the target of a link. Knows whether the file was there before.
OpenedFile openToWrite(const QByteArray &name, int flags)
{
    OpenedFile file;
    file.fd.reset(::open(name.constData(), flags));
    if (!file.fd && errno == ENOENT) {
        file.error = makeParents(name);
        if (file.error)
            return file;
        file.fd.reset(::open(name.constData(), flags | O_CREAT | O_EXCL, newFileMode));
        file.made = bool(file.fd);
        if (!file.fd && errno == EEXIST) // somebody was faster, or it is a link to nothing yet
            file.fd.reset(::open(name.constData(), flags | O_CREAT, newFileMode));
    }
    file.error = file.fd ? 0 : errno;
    return file;
}

/// Asks for the room before anything is overwritten: a full disk must not cost what the file held.
int reserve(int fd, qint64 from, qint64 size)
{
    if (size <= 0 || ::fallocate(fd, FALLOC_FL_KEEP_SIZE, from, size) == 0)
        return 0;
    return errno == ENOSPC || errno == EDQUOT || errno == EFBIG ? errno : 0; // some file systems and all pipes cannot say
}

int writeAll(int fd, const QByteArray &bytes)
{
    for (qsizetype done = 0; done < bytes.size();) {
        const ssize_t count = ::write(fd, bytes.constData() + done, size_t(bytes.size() - done));
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return errno;
        done += count;
    }
    return 0;
}

/// The name of an open file without links; empty when it has none any more or none in UTF-8.
QString nameOfOpen(int fd, const struct stat &facts)
{
    QByteArray name(PATH_MAX, Qt::Uninitialized);
    const ssize_t size = ::readlink(("/proc/self/fd/" + QByteArray::number(fd)).constData(), name.data(), size_t(name.size()));
    name.resize(std::max<ssize_t>(size, 0));
    const bool usable = name.startsWith('/') && name.size() < PATH_MAX && facts.st_nlink > 0 && QUtf8StringView(name).isValidUtf8();
    return usable ? QString::fromUtf8(name) : QString();
}

} // namespace

int writeBytes(const QString &path, const QByteArray &bytes, bool append, QString *realPath)
{
    const QByteArray name = path.toUtf8();
    // Before opening: whoever reads from a pipe would take our closing it for the end. A character device may be written.
    struct stat before;
    if (::stat(name.constData(), &before) == 0 && !S_ISCHR(before.st_mode) && !specialFileKind(before.st_mode).isEmpty())
        return ENXIO;
    const OpenedFile file = openToWrite(name, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | (append ? O_APPEND : 0));
    if (!file.fd)
        return file.error;
    struct stat facts = {};
    const bool regular = ::fstat(file.fd.get(), &facts) == 0 && S_ISREG(facts.st_mode);
    if (realPath)
        *realPath = nameOfOpen(file.fd.get(), facts);
    int error = regular ? reserve(file.fd.get(), append ? facts.st_size : 0, bytes.size()) : 0;
    if (!error)
        error = writeAll(file.fd.get(), bytes);
    if (!error && regular && !append && facts.st_size > bytes.size() && ::ftruncate(file.fd.get(), bytes.size()) != 0)
        error = errno;
    if (error && file.made)
        ::unlink(name.constData());
    return error;
}

FileOutcome<wire::FileWriteResult> writeFile(const wire::FileWriteRequest &request)
{
    if (request.sudo)
        return noSudo("write", request.file);
    const auto bytes = request.bytes();
    if (!bytes)
        return refusedWith(bytes.error());
    QString realPath;
    if (const int error = writeBytes(request.file, *bytes, request.append, &realPath))
        return failedOn(error, "write", request.file);
    wire::FileWriteResult result{request.file, bytes->size()};
    if (!realPath.isEmpty() && realPath != QDir::cleanPath(request.file))
        result.realPath = realPath;
    return result;
}

FileOutcome<wire::FileReplaceResult> replaceInFile(const wire::FileReplaceRequest &request)
{
    if (request.sudo)
        return noSudo("replace", request.file);
    const auto fd = openRegular("replace", request.file);
    if (!fd)
        return std::unexpected(fd.error());
    auto bytes = readAll(fd->get(), maxFileResultBytes, "replace", request.file);
    if (!bytes)
        return std::unexpected(bytes.error());
    const QByteArray from = request.oldText.toUtf8();
    const qsizetype count = bytes->count(from); // overlapping ones count once below
    wire::FileReplaceResult result{request.file, 0};
    if (count == 0)
        return result;
    for (qsizetype at = bytes->indexOf(from); at >= 0; at = bytes->indexOf(from, at + from.size()))
        ++result.replacedCount;
    bytes->replace(from, request.newText.toUtf8());
    if (const int error = writeBytes(request.file, *bytes, false))
        return failedWith(error, "replace", request.file);
    return result;
}

// ---- search --------------------------------------------------------------------------------------------------------

FileOutcome<wire::FileSearchResult> searchInFile(const wire::FileSearchRequest &request)
{
    if (request.sudo)
        return noSudo("search", request.file);
    const QRegularExpression regex(request.regex);
    if (!regex.isValid())
        return refusedWith(QStringLiteral("Invalid regex: %1").arg(regex.errorString()));
    const auto text = readText("search", request.file);
    if (!text)
        return std::unexpected(text.error());
    wire::FileSearchResult result;
    result.file = request.file;
    QElapsedTimer clock;
    clock.start();
    qint64 number = 0;
    for (qsizetype from = 0; from < text->size(); ++number) {
        qsizetype end = text->indexOf(u'\n', from);
        if (end < 0)
            end = text->size();
        const QStringView line = QStringView(*text).sliced(from, end - from);
        if (regex.matchView(line).hasMatch()) {
            result.matches << line.toString();
            result.lineNumbers << number;
        }
        if (clock.elapsed() > regexLimitMs)
            return refusedWith(QStringLiteral("Invalid regex: matching took longer than 2 seconds"));
        from = end + 1;
    }
    return result;
}

} // namespace paddock::sandboxd
