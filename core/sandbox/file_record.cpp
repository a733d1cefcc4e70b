// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/file_record.h"

#include "core/base/text.h"
#include "core/sandbox/beneath.h"
#include "core/sandbox/inotify_tree.h"
#include "core/sandbox/workspace_rules.h"

#include <QStringDecoder>

#include <climits>
#include <fcntl.h>
#include <sys/stat.h>

namespace paddock {

namespace {

qint64 nanoseconds(const struct timespec &time)
{
    return qint64(time.tv_sec) * 1000000000 + time.tv_nsec;
}

QByteArray linkTarget(int dirFd, const QByteArray &name)
{
    char target[PATH_MAX];
    const ssize_t length = ::readlinkat(dirFd, name.constData(), target, sizeof target);
    return length < 0 ? QByteArray() : QByteArray(target, length);
}

/// Hash and, for small text, the content. A file that cannot be read keeps what stat said.
void readContent(int dirFd, const QByteArray &name, FileLook &look)
{
    if (look.record.size > maxHashedFileBytes)
        return;
    const UniqueFd file(::openat(dirFd, name.constData(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!file)
        return;
    auto content = readAll(file.get(), maxHashedFileBytes);
    if (!content)
        return;
    look.record.size = content->size(); // it may have grown since the stat
    look.record.hash = sha256Hex(*content).toLatin1();
    look.hasText = content->size() <= maxVersionBytes && !isBinaryContent(QString::fromUtf8(name), *content);
    if (look.hasText)
        look.content = std::move(*content);
}

} // namespace

bool FileRecord::isSameContent(const FileRecord &other) const
{
    if (isLink != other.isLink)
        return false;
    if (!hash.isEmpty() && !other.hash.isEmpty())
        return hash == other.hash;
    return size == other.size && mtimeNs == other.mtimeNs;
}

QString displayPath(const QByteArray &key)
{
    QStringDecoder whole(QStringDecoder::Utf8, QStringDecoder::Flag::Stateless | QStringDecoder::Flag::ConvertInitialBom);
    QString out = whole(key);
    if (!whole.hasError())
        return out;
    out.clear();
    for (qsizetype at = 0; at < key.size();) {
        const uchar lead = uchar(key.at(at));
        const qsizetype length = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
        const QByteArray piece = key.mid(at, length);
        QStringDecoder decoder(QStringDecoder::Utf8, QStringDecoder::Flag::Stateless | QStringDecoder::Flag::ConvertInitialBom);
        const QString text = decoder(piece);
        if (piece.size() == length && !decoder.hasError()) {
            out += text;
            at += length;
        } else {
            out += QStringLiteral("\\x%1").arg(int(lead), 2, 16, QLatin1Char('0'));
            ++at;
        }
    }
    return out;
}

std::optional<FileLook> lookAt(const InotifyTree &tree, const QByteArray &key, ReadDepth depth)
{
    QByteArray relative;
    const int root = tree.rootOf(key, &relative);
    if (root < 0 || relative.isEmpty())
        return std::nullopt;
    const qsizetype cut = relative.lastIndexOf('/');
    const auto dir = openBeneath(root, cut < 0 ? QByteArray() : relative.left(cut), O_PATH | O_DIRECTORY);
    if (!dir)
        return std::nullopt;
    return lookIn(dir->get(), relative.mid(cut + 1), key, depth);
}

std::optional<FileLook> lookIn(int dirFd, const QByteArray &name, const QByteArray &key, ReadDepth depth)
{
    struct stat info {};
    if (::fstatat(dirFd, name.constData(), &info, AT_SYMLINK_NOFOLLOW) != 0)
        return std::nullopt;
    FileLook look;
    FileRecord &record = look.record;
    record.isLink = S_ISLNK(info.st_mode);
    if (!record.isLink && !S_ISREG(info.st_mode))
        return std::nullopt;
    record.size = info.st_size;
    record.mtimeNs = nanoseconds(info.st_mtim);
    record.inode = info.st_ino;
    record.isSensitive = isSensitivePath(displayPath(key));
    if (record.isLink)
        record.hash = "link:" + linkTarget(dirFd, name);
    else if (depth == ReadDepth::Content && !record.isSensitive)
        readContent(dirFd, name, look);
    return look;
}

void VersionCache::put(const QByteArray &hash, const QByteArray &content)
{
    if (m_byHash.contains(hash) || content.size() > m_maxBytes)
        return;
    m_order.emplace_front(hash, content);
    m_byHash.insert(hash, m_order.begin());
    m_bytes += content.size();
    while (m_bytes > m_maxBytes) {
        m_bytes -= m_order.back().second.size();
        m_byHash.remove(m_order.back().first);
        m_order.pop_back();
    }
}

std::optional<QByteArray> VersionCache::get(const QByteArray &hash) const
{
    const auto it = m_byHash.constFind(hash);
    if (it == m_byHash.cend())
        return std::nullopt;
    return (*it)->second;
}

} // namespace paddock
