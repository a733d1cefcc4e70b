// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/workspace/folder_listing.h"

#include "ui/text/hex_text.h"

#include <QDir>
#include <QDirIterator>
#include <QFile>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace paddock {

namespace {
constexpr qsizetype sampleBytes = 4096;

QString visibleName(QString name)
{
    for (QChar &c : name) {
        if (c.unicode() < 0x20 || c.unicode() == 0x7f)
            c = QChar(u'\u2423'); // a newline in a name must not make two rows of one file
    }
    return name;
}
} // namespace

FolderListing listFolder(const QString &path)
{
    FolderListing listing;
    const QFileInfo folder(path);
    if (!folder.isDir() || !folder.isReadable()) {
        listing.problem = QString::fromLocal8Bit(std::strerror(folder.exists() ? EACCES : ENOENT));
        return listing;
    }
    QDirIterator it(path, QDir::AllEntries | QDir::Hidden | QDir::System | QDir::NoDotAndDotDot);
    while (it.hasNext()) {
        const QFileInfo info = it.nextFileInfo();
        if (int(listing.items.size()) >= mostFolderItems) {
            ++listing.left;
            continue;
        }
        FolderItem item;
        item.name = info.fileName();
        item.isLink = info.isSymLink();
        item.linkTarget = item.isLink ? visibleName(info.symLinkTarget()) : QString();
        item.isFolder = info.isDir() && !item.isLink;
        item.size = item.isFolder ? 0 : info.size();
        item.modified = info.lastModified();
        listing.items.push_back(std::move(item));
    }
    std::sort(listing.items.begin(), listing.items.end(), [](const FolderItem &a, const FolderItem &b) {
        if (a.isFolder != b.isFolder)
            return a.isFolder;
        return a.name.localeAwareCompare(b.name) < 0;
    });
    return listing;
}

FileContent readForView(const QString &path)
{
    FileContent content;
    const int fd = ::open(QFile::encodeName(path).constData(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        content.problem = QString::fromLocal8Bit(std::strerror(errno));
        return content;
    }
    struct stat info = {};
    if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        content.problem = QStringLiteral("not a plain file");
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
