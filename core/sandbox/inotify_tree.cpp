// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/inotify_tree.h"

#include "core/sandbox/beneath.h"
#include "core/sandbox/local/tree_walk.h"
#include "core/sandbox/workspace_rules.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/inotify.h>

namespace paddock {

namespace {

constexpr quint32 watchedEvents = IN_CREATE | IN_CLOSE_WRITE | IN_MODIFY | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO;
constexpr size_t readBytes = 64 * 1024;

/// First key that is not below `key`: "/" is followed by "0" in ASCII.
QByteArray endOfSubtree(const QByteArray &key)
{
    return key + '0';
}

} // namespace

InotifyTree::InotifyTree(int maxWatches)
    : m_maxWatches(maxWatches)
    , m_inotify(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC))
{
}

bool InotifyTree::addRoot(const QByteArray &virtualBase, const QByteArray &hostPath)
{
    auto fd = openRoot(hostPath);
    if (!fd)
        return false;
    m_roots.push_back({virtualBase, std::move(*fd)});
    return true;
}

int InotifyTree::rootOf(const QByteArray &key, QByteArray *relative) const
{
    for (const Root &root : m_roots) {
        if (!isBelow(key, root.base))
            continue;
        if (relative)
            *relative = key.mid(root.base.size() + 1);
        return root.fd.get();
    }
    return -1;
}

void InotifyTree::watch(const QByteArray &key, int dirFd)
{
    if (m_watches.contains(key))
        return;
    int id = -1;
    if (int(m_keys.size()) < m_maxWatches) {
        // Through the descriptor: the directory that was opened is the one that is watched.
        const QByteArray path = "/proc/self/fd/" + QByteArray::number(dirFd);
        id = ::inotify_add_watch(m_inotify.get(), path.constData(), watchedEvents | IN_ONLYDIR | IN_EXCL_UNLINK);
        if (id < 0 && errno == EACCES)
            return; // nobody of ours can look into it, now or at the end
    }
    if (id < 0) {
        m_unwatched.insert(key);
        return;
    }
    m_unwatched.erase(key);
    // One directory has one watch; under a second name (a bind mount) the first one stays.
    if (!m_keys.contains(id)) {
        m_keys.insert(id, key);
        m_watches.emplace(key, id);
    }
}

void InotifyTree::scan(const QByteArray &key, const OnFile &onFile)
{
    QByteArray relative;
    const int root = rootOf(key, &relative);
    if (root < 0)
        return;
    const auto dir = openBeneath(root, relative, O_PATH | O_DIRECTORY);
    if (dir)
        scanDirectory(key, dir->get(), onFile, 1);
}

void InotifyTree::scanAll(const OnFile &onFile)
{
    for (const Root &root : m_roots)
        scan(root.base, onFile);
}

void InotifyTree::scanDirectory(const QByteArray &key, int dirFd, const OnFile &onFile, int depth)
{
    watch(key, dirFd); // before reading, so that nothing falls between
    for (const DirEntry &entry : readDirectory(dirFd)) {
        const QByteArray child = key + '/' + entry.name;
        if (!entry.isDirectory) {
            onFile(child, dirFd, entry.name);
            continue;
        }
        if (isSkippedDirectory(entry.name) || depth >= TreeWalk::maxDepth)
            continue;
        const UniqueFd next(::openat(dirFd, entry.name.constData(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (next)
            scanDirectory(child, next.get(), onFile, depth + 1);
    }
}

void InotifyTree::forget(const QByteArray &key)
{
    const auto drop = [this](std::map<QByteArray, int>::iterator it) {
        ::inotify_rm_watch(m_inotify.get(), it->second);
        m_keys.remove(it->second);
        return m_watches.erase(it);
    };
    if (const auto it = m_watches.find(key); it != m_watches.end())
        drop(it);
    const QByteArray end = endOfSubtree(key);
    for (auto it = m_watches.lower_bound(key + '/'); it != m_watches.end() && it->first < end;)
        it = drop(it);
    m_unwatched.erase(key);
    m_unwatched.erase(m_unwatched.lower_bound(key + '/'), m_unwatched.lower_bound(end));
}

bool InotifyTree::drain(const OnChange &onChange)
{
    bool complete = true;
    alignas(inotify_event) std::array<char, readBytes> buffer;
    while (true) {
        const ssize_t n = ::read(m_inotify.get(), buffer.data(), buffer.size());
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        complete = takeBuffer(buffer.data(), n, onChange) && complete;
    }
    m_moves.clear(); // the other half of a move comes right behind the first, or never
    return complete;
}

bool InotifyTree::takeBuffer(const char *data, qsizetype size, const OnChange &onChange)
{
    bool complete = true;
    for (qsizetype at = 0; at + qsizetype(sizeof(inotify_event)) <= size;) {
        inotify_event event;
        std::memcpy(&event, data + at, sizeof event);
        if (event.mask & IN_Q_OVERFLOW)
            complete = false;
        else if (event.mask & IN_IGNORED)
            m_keys.remove(event.wd);
        else
            take(*reinterpret_cast<const inotify_event *>(data + at), onChange);
        at += qsizetype(sizeof(inotify_event)) + event.len;
    }
    return complete;
}

void InotifyTree::take(const inotify_event &event, const OnChange &onChange)
{
    const auto dir = m_keys.constFind(event.wd);
    if (dir == m_keys.cend() || event.len == 0)
        return;
    const QByteArray name(event.name);
    Change change;
    change.key = *dir + '/' + name;
    change.isDirectory = event.mask & IN_ISDIR;
    if (change.isDirectory && isSkippedDirectory(name))
        return;
    change.gone = event.mask & (IN_DELETE | IN_MOVED_FROM);
    change.settled = !(event.mask & (IN_MODIFY | IN_CREATE));
    if (event.mask & IN_MOVED_FROM)
        m_moves.insert(event.cookie, change.key);
    if (event.mask & IN_MOVED_TO)
        change.renamedFrom = m_moves.take(event.cookie);
    if (change.isDirectory && change.gone)
        forget(change.key);
    if (change.isDirectory && (event.mask & (IN_CREATE | IN_MOVED_TO)))
        change.settled = true;
    onChange(change);
}

} // namespace paddock
