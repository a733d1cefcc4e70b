// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/workspace/folder_listing.h"

#include "ui/text/hex_text.h"

#include <QCoreApplication>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

namespace paddock {

namespace {

constexpr qsizetype sampleBytes = 4096;
constexpr int mostSorted = 200'000; ///< names looked at to find the first ones; beyond it the order of the disk decides
constexpr char16_t oddByte = 0xdc00;

class Words
{
    Q_DECLARE_TR_FUNCTIONS(FolderListing)
};

int sequenceLength(unsigned char lead)
{
    return lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

bool isOddByte(const QString &name, qsizetype at)
{
    const char16_t unit = name[at].unicode();
    return unit >= oddByte + 0x80 && unit <= oddByte + 0xff && (at == 0 || !name[at - 1].isHighSurrogate());
}

QString sentence(int error)
{
    if (error == ELOOP)
        return Words::tr("it is a link, and links are not followed");
    return QString::fromLocal8Bit(std::strerror(error));
}

/// Why a file without content of its own is not opened.
QString kindSentence(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFIFO: return Words::tr("it is a named pipe");
    case S_IFSOCK: return Words::tr("it is a socket");
    case S_IFCHR: case S_IFBLK: return Words::tr("it is a device");
    case S_IFDIR: return Words::tr("it is a folder");
    default: return Words::tr("it is not a plain file");
    }
}

/// What only a look at the entry itself tells.
void complete(FolderItem &item, int folder)
{
    const QByteArray name = bytesFromName(item.name);
    struct stat info = {};
    if (::fstatat(folder, name.constData(), &info, AT_SYMLINK_NOFOLLOW) != 0)
        return;
    item.isLink = S_ISLNK(info.st_mode);
    item.size = S_ISREG(info.st_mode) ? info.st_size : 0;
    item.modified = QDateTime::fromSecsSinceEpoch(info.st_mtim.tv_sec);
    if (item.isLink) {
        QByteArray target(4096, Qt::Uninitialized);
        const ssize_t length = ::readlinkat(folder, name.constData(), target.data(), size_t(target.size()));
        item.linkTarget = visibleName(nameFromBytes(target.left(std::max<ssize_t>(0, length))));
    }
}

} // namespace

QString nameFromBytes(const QByteArray &bytes)
{
    QString name;
    for (qsizetype at = 0; at < bytes.size();) {
        const int length = sequenceLength(static_cast<unsigned char>(bytes[at]));
        const QByteArrayView part = QByteArrayView(bytes).sliced(at, std::min<qsizetype>(length, bytes.size() - at));
        if (part.isValidUtf8()) {
            name += QString::fromUtf8(part);
            at += part.size();
        } else {
            name += QChar(char16_t(oddByte + static_cast<unsigned char>(bytes[at++])));
        }
    }
    return name;
}

QByteArray bytesFromName(const QString &name)
{
    QByteArray bytes;
    qsizetype from = 0;
    for (qsizetype at = 0; at < name.size(); ++at) {
        if (!isOddByte(name, at))
            continue;
        bytes += QStringView(name).sliced(from, at - from).toUtf8();
        bytes += char(name[at].unicode() - oddByte);
        from = at + 1;
    }
    return bytes + QStringView(name).sliced(from).toUtf8();
}

QString visibleName(const QString &name)
{
    QString shown;
    for (qsizetype at = 0; at < name.size(); ++at) {
        const QChar c = name[at];
        if (isOddByte(name, at))
            shown += QStringLiteral("\\x%1").arg(c.unicode() - oddByte, 2, 16, QLatin1Char('0'));
        else if (c.unicode() < 0x20 || (c.unicode() >= 0x7f && c.unicode() < 0xa0) || c.category() == QChar::Other_Format)
            shown += QChar(u'\u2423'); // a newline in a name must not make two rows of one file, nor an override turn it round
        else
            shown += c;
    }
    return shown;
}

FolderListing listFolder(const QString &path)
{
    FolderListing listing;
    const int fd = ::open(bytesFromName(path).constData(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const std::unique_ptr<DIR, int (*)(DIR *)> folder(fd < 0 ? nullptr : ::fdopendir(fd), ::closedir);
    if (!folder) {
        listing.problem = sentence(errno);
        return listing;
    }
    while (const dirent *entry = ::readdir(folder.get())) {
        const QByteArray name(entry->d_name);
        if (name == "." || name == "..")
            continue;
        if (int(listing.items.size()) >= mostSorted) {
            ++listing.left;
            continue;
        }
        FolderItem item;
        item.name = nameFromBytes(name);
        struct stat info = {};
        item.isFolder = entry->d_type == DT_DIR
            || (entry->d_type == DT_UNKNOWN && ::fstatat(fd, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(info.st_mode));
        listing.items.push_back(std::move(item));
    }
    std::sort(listing.items.begin(), listing.items.end(), [](const FolderItem &a, const FolderItem &b) {
        if (a.isFolder != b.isFolder)
            return a.isFolder;
        return a.name.localeAwareCompare(b.name) < 0;
    });
    if (int(listing.items.size()) > mostFolderItems) {
        listing.left += int(listing.items.size()) - mostFolderItems;
        listing.items.resize(mostFolderItems);
    }
    for (FolderItem &item : listing.items)
        complete(item, fd);
    return listing;
}

FileContent readForView(const QString &path)
{
    FileContent content;
    const int fd = ::open(bytesFromName(path).constData(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        const int error = errno;
        struct stat named = {};
        const bool isSpecial = ::lstat(bytesFromName(path).constData(), &named) == 0 && error == ENXIO; // a socket cannot be opened
        content.problem = isSpecial ? kindSentence(named.st_mode) : sentence(error);
        return content;
    }
    struct stat info = {};
    if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        content.problem = kindSentence(info.st_mode);
        ::close(fd);
        return content;
    }
    content.size = info.st_size;
    content.bytes.resize(std::min<qint64>(mostShownBytes, content.size + 1));
    qint64 got = 0;
    while (got < content.bytes.size()) {
        const ssize_t n = ::read(fd, content.bytes.data() + got, size_t(content.bytes.size() - got));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        got += n;
    }
    ::close(fd);
    content.bytes.truncate(got);
    content.cut = got < content.size;
    content.binary = looksBinary(content.bytes.left(sampleBytes));
    return content;
}

} // namespace paddock
