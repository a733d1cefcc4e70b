// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/sandbox/unique_fd.h"

#include <QByteArray>
#include <QHash>

#include <functional>
#include <map>
#include <set>
#include <vector>

struct inotify_event;

namespace paddock {

/// Watches directory trees with inotify, without following links. A path is called by its key: the root's virtual path, "/"
/// and the bytes of its names. The number of watches is bounded; what is not watched is said so. Lives on one thread.
class InotifyTree
{
public:
    /// One thing that happened; the file may be gone or changed again by now.
    struct Change {
        QByteArray key;
        bool settled = true;    ///< false: somebody still holds it open for writing
        QByteArray renamedFrom; ///< key, when it was moved within the trees
        bool isDirectory = false;
        bool gone = false;      ///< deleted or moved away
    };
    using OnChange = std::function<void(const Change &)>;
    /// An entry that is no directory: its key, the directory it is in, its name there.
    using OnFile = std::function<void(const QByteArray &key, int dirFd, const QByteArray &name)>;

    explicit InotifyTree(int maxWatches);

    bool isValid() const { return bool(m_inotify); }
    int fd() const { return m_inotify.get(); }
    /// False when the folder cannot be opened.
    bool addRoot(const QByteArray &virtualBase, const QByteArray &hostPath);
    /// Watches the directory `key` and everything below, telling every entry that is no directory.
    void scan(const QByteArray &key, const OnFile &onFile);
    void scanAll(const OnFile &onFile);
    /// Takes what the kernel has queued. False when it lost events: scanAll and compare.
    bool drain(const OnChange &onChange);
    /// Directories that could not be watched for want of watches.
    const std::set<QByteArray> &unwatched() const { return m_unwatched; }
    int watches() const { return int(m_keys.size()); }

    /// The descriptor of the root that holds a key and the path beneath it; -1 when none does.
    int rootOf(const QByteArray &key, QByteArray *relative) const;

private:
    struct Root {
        QByteArray base;
        UniqueFd fd;
    };
    void watch(const QByteArray &key, int dirFd);
    void scanDirectory(const QByteArray &key, int dirFd, const OnFile &onFile, int depth);
    void forget(const QByteArray &key);
    void take(const inotify_event &event, const OnChange &onChange);
    bool takeBuffer(const char *data, qsizetype size, const OnChange &onChange);

    const int m_maxWatches;
    UniqueFd m_inotify;
    std::vector<Root> m_roots;
    QHash<int, QByteArray> m_keys;        ///< watch to key
    std::map<QByteArray, int> m_watches;  ///< key to watch, ordered so that a subtree is a range
    std::set<QByteArray> m_unwatched;
    QHash<quint32, QByteArray> m_moves;   ///< cookie to the key it left
};

} // namespace paddock
