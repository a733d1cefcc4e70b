// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QByteArray>
#include <QHash>
#include <QString>

#include <functional>
#include <list>
#include <optional>

namespace paddock {

class InotifyTree;

/// What is known of one file of a watched folder. A value.
struct FileRecord {
    bool isLink = false;
    bool isSensitive = false;
    qint64 size = 0;
    qint64 mtimeNs = 0;
    quint64 inode = 0;
    QByteArray hash; ///< hex; of a link's target for links; empty when not hashed

    /// Content equal as far as can be told: by hash when both have one, else by size and time.
    bool isSameContent(const FileRecord &other) const;
};

/// The path of a key for people and models: bytes that are not UTF-8 are shown as "\xNN".
QString displayPath(const QByteArray &key);

/// How much of a file is read for its record.
enum class ReadDepth { StatOnly, Content };
struct FileLook {
    FileRecord record;
    QByteArray content;     ///< when `hasText`
    bool hasText = false;   ///< a text file small enough to keep
};
/// Looks at one file beneath its root without following links; nullopt when there is none (or a directory or special file).
std::optional<FileLook> lookAt(const InotifyTree &tree, const QByteArray &key, ReadDepth depth);
/// The same where its directory is open already.
std::optional<FileLook> lookIn(int dirFd, const QByteArray &name, const QByteArray &key, ReadDepth depth);

/// Recently seen versions by hash, for counting lines. Bounded by bytes; the oldest go first. Not thread-safe.
class VersionCache
{
public:
    explicit VersionCache(qint64 maxBytes) : m_maxBytes(maxBytes) {}
    void put(const QByteArray &hash, const QByteArray &content);
    std::optional<QByteArray> get(const QByteArray &hash) const;
    bool contains(const QByteArray &hash) const { return m_byHash.contains(hash); }

private:
    const qint64 m_maxBytes;
    qint64 m_bytes = 0;
    std::list<std::pair<QByteArray, QByteArray>> m_order; ///< newest first
    QHash<QByteArray, std::list<std::pair<QByteArray, QByteArray>>::iterator> m_byHash;
};

} // namespace paddock
