// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/watch_core.h"

#include "core/sandbox/beneath.h"
#include "core/sandbox/virtual_paths.h"
#include "core/sandbox/workspace_rules.h"

#include <QLoggingCategory>

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>

namespace paddock {

namespace {

Q_LOGGING_CATEGORY(lcWatch, "paddock.sandbox.watch")

QByteArray nameOf(const QByteArray &key)
{
    return key.mid(key.lastIndexOf('/') + 1);
}

bool isTemporary(const QByteArray &key)
{
    return nameOf(key).startsWith(temporaryPrefix);
}

} // namespace

WatchCore::WatchCore(WorkspaceWatchOptions options)
    : m_options(std::move(options))
    , m_clock(Clock::system())
    , m_tree(m_options.maxWatches)
{
    m_timer.setSingleShot(true);
    connect(&m_timer, &QTimer::timeout, this, [this] {
        drain();
        lookAtDue(false);
    });
}

WatchCore::Micros WatchCore::now() const
{
    return m_options.events.bus() ? m_options.events.bus()->clock().mono() : m_clock->mono();
}

Result<void> WatchCore::start()
{
    if (!m_tree.isValid())
        return fail(ErrorCode::ResourceExhausted,
                    QStringLiteral("Changes of files cannot be watched: the system gives no more inotify instances. Raise "
                                   "fs.inotify.max_user_instances."));
    QStringList missing;
    const std::pair<QStringView, QString> roots[] = {{virtualWorkspace, m_options.paths.workspace},
                                                     {virtualOutputs, m_options.paths.outputs},
                                                     {virtualUploads, m_options.paths.uploads}};
    for (const auto &[virtualBase, host] : roots) {
        if (!m_tree.addRoot(virtualBase.toUtf8(), host.toUtf8()))
            missing << virtualBase.toString();
    }
    m_notifier = std::make_unique<QSocketNotifier>(m_tree.fd(), QSocketNotifier::Read);
    connect(m_notifier.get(), &QSocketNotifier::activated, this, &WatchCore::drain);
    m_tree.scanAll([this](const QByteArray &key, int dirFd, const QByteArray &name) { snapshotFile(key, dirFd, name); });
    if (!missing.isEmpty())
        return fail(ErrorCode::NotFound,
                    QStringLiteral("These folders cannot be watched: %1.").arg(missing.join(QStringLiteral(", "))));
    if (!m_tree.unwatched().empty())
        return fail(ErrorCode::ResourceExhausted,
                    QStringLiteral("%1 folders are not watched while the run goes on; they are compared at its end.")
                        .arg(m_tree.unwatched().size()));
    return {};
}

void WatchCore::snapshotFile(const QByteArray &key, int dirFd, const QByteArray &name)
{
    if (isTemporary(key) || int(m_files.size()) >= m_options.maxFiles)
        return;
    const bool read = m_snapshotFiles < m_options.maxSnapshotFiles && m_snapshotBytes < m_options.maxSnapshotBytes;
    const auto look = lookIn(dirFd, name, key, read ? ReadDepth::Content : ReadDepth::StatOnly);
    if (!look)
        return;
    if (read) {
        ++m_snapshotFiles;
        m_snapshotBytes += look->record.size;
    }
    remember(key, *look);
}

void WatchCore::keep(const FileLook &look)
{
    if (!look.hasText)
        return;
    m_versions.put(look.record.hash, look.content);
    if (!m_options.keepVersion || m_kept.contains(look.record.hash))
        return;
    m_kept.insert(look.record.hash);
    m_options.keepVersion(QString::fromLatin1(look.record.hash), look.content);
}

void WatchCore::remember(const QByteArray &key, const FileLook &look)
{
    keep(look);
    if (int(m_files.size()) >= m_options.maxFiles && !m_files.contains(key)) {
        if (!std::exchange(m_saidFull, true))
            qCWarning(lcWatch, "more than %d files: changes of further ones are told as new files", m_options.maxFiles);
        return;
    }
    m_files[key] = look.record;
}

void WatchCore::commandStarted(const QString &id, const AgentId &agent, const QString &command, Micros at)
{
    drain();
    m_commands.started(id, agent, command, at);
}

void WatchCore::commandFinished(const QString &id, Micros at)
{
    drain();
    m_commands.finished(id, at);
    m_commands.forgetBefore(now());
}

void WatchCore::toolStarted(const QString &call, const QString &path)
{
    const QByteArray key = normalizeVirtualPath(path).toUtf8();
    m_toolWrites.insert(call, isWithoutLinks(key) ? key : QByteArray());
}

void WatchCore::toolFinished(const QString &call)
{
    if (m_toolWrites.remove(call) > 0)
        arm();
}

void WatchCore::toolWrote(const QString &path, const QString &sha256, qint64 size)
{
    // From now on the tool's version is the known one: what differs from it later was somebody else.
    const QByteArray key = normalizeVirtualPath(path).toUtf8();
    if (m_tree.rootOf(key, nullptr) < 0)
        return;
    if (sha256.isEmpty()) {
        if (const auto seen = lookAt(m_tree, key, ReadDepth::StatOnly))
            m_files[key] = seen->record;
        return;
    }
    FileRecord &record = m_files[key];
    record = FileRecord();
    record.size = size;
    record.hash = sha256.toLatin1();
    mark(key, true); // for its content
}

void WatchCore::drain()
{
    if (!m_tree.isValid())
        return;
    if (!m_tree.drain([this](const InotifyTree::Change &change) { onChange(change); }))
        compareAll();
}

void WatchCore::onChange(const InotifyTree::Change &change)
{
    if (change.isDirectory)
        onDirectory(change);
    else if (!isTemporary(change.key))
        mark(change.key, change.settled, isTemporary(change.renamedFrom) ? QByteArray() : change.renamedFrom);
}

void WatchCore::onDirectory(const InotifyTree::Change &change)
{
    if (change.gone) {
        markSubtree(change.key, {});
        return;
    }
    if (!change.renamedFrom.isEmpty())
        markSubtree(change.renamedFrom, change.key);
    m_tree.scan(change.key, [this](const QByteArray &key, int, const QByteArray &) {
        if (!isTemporary(key))
            mark(key, true);
    });
}

void WatchCore::markSubtree(const QByteArray &from, const QByteArray &movedTo)
{
    const QByteArray prefix = from + '/';
    for (auto it = m_files.lower_bound(prefix); it != m_files.end() && it->first.startsWith(prefix); ++it) {
        mark(it->first, true);
        if (!movedTo.isEmpty())
            mark(movedTo + it->first.mid(from.size()), true, it->first);
    }
}

void WatchCore::mark(const QByteArray &key, bool settled, const QByteArray &renamedFrom)
{
    const Micros at = now();
    const Micros due = at + Micros(settled ? m_options.coalesce : m_options.openWriters);
    const auto [it, isNew] = m_pending.try_emplace(key, Pending{at, due, renamedFrom});
    if (!isNew) {
        it->second.due = std::min(it->second.due, due);
        if (!renamedFrom.isEmpty())
            it->second.renamedFrom = renamedFrom;
    }
    if (!m_timer.isActive() || settled)
        arm();
}

bool WatchCore::isInTool(const QByteArray &key) const
{
    const auto isThis = [&](const QByteArray &written) { return written.isEmpty() || written == key; };
    return std::any_of(m_toolWrites.cbegin(), m_toolWrites.cend(), isThis);
}

/// What will be written under this name is the file of this name, as far as can be seen before.
bool WatchCore::isWithoutLinks(const QByteArray &key) const
{
    QByteArray relative;
    const int root = m_tree.rootOf(key, &relative);
    if (root < 0)
        return false;
    const auto fd = openBeneath(root, relative, O_PATH | O_NOFOLLOW);
    if (!fd)
        return intOf(fd.error().details, "errno") == ENOENT;
    struct stat facts;
    return ::fstat(fd->get(), &facts) == 0 && !S_ISLNK(facts.st_mode);
}

void WatchCore::arm()
{
    if (m_timer.isActive() && m_timer.remainingTime() <= m_options.coalesce.count())
        return;
    std::optional<Micros> first; // of those that do not wait for a tool, whose end calls us again
    for (const auto &[key, pending] : m_pending) {
        if ((!first || pending.due < *first) && !isInTool(key))
            first = pending.due;
    }
    if (first)
        m_timer.start(std::max(std::chrono::ceil<std::chrono::milliseconds>(*first - now()), std::chrono::milliseconds(1)));
}

void WatchCore::lookAtDue(bool all)
{
    const Micros at = now();
    std::map<QByteArray, Pending> due;
    bool waiting = false;
    for (auto it = m_pending.begin(); it != m_pending.end();) {
        const bool inTool = !all && isInTool(it->first);
        if (inTool || (!all && it->second.due > at)) {
            waiting = waiting || !inTool; // a tool's end arms the timer itself
            ++it;
            continue;
        }
        due.insert(m_pending.extract(it++));
    }
    // New names before old ones that left: a rename must find the old record.
    for (const auto &[key, pending] : due) {
        if (!pending.renamedFrom.isEmpty())
            look(key, pending);
    }
    for (const auto &[key, pending] : due) {
        if (pending.renamedFrom.isEmpty())
            look(key, pending);
    }
    if (waiting)
        arm();
}

void WatchCore::look(const QByteArray &key, const Pending &pending)
{
    const auto known = m_files.find(key);
    const std::optional<FileRecord> was = known == m_files.end() ? std::nullopt : std::optional(known->second);
    const auto seen = lookAt(m_tree, key, ReadDepth::Content);
    if (!seen) {
        if (was)
            tellGone(key, *was, pending);
        return;
    }
    FileChanged change;
    change.size = seen->record.size;
    change.sha256 = seen->record.isLink ? QString() : QString::fromLatin1(seen->record.hash);
    const auto from = pending.renamedFrom.isEmpty() ? m_files.end() : m_files.find(pending.renamedFrom);
    const bool isSameFile = from != m_files.end()
        && (from->second.inode == seen->record.inode || (from->second.inode == 0 && from->second.hash == seen->record.hash));
    if (isSameFile && !lookAt(m_tree, from->first, ReadDepth::StatOnly)) {
        change.op = QStringLiteral("renamed");
        change.renamedFrom = displayPath(from->first);
        change.beforeSha256 = from->second.isLink ? QString() : QString::fromLatin1(from->second.hash);
        countLines(change, from->second, *seen);
        m_files.erase(from);
    } else if (was) {
        if (was->isSameContent(seen->record)) {
            remember(key, *seen);
            return;
        }
        change.op = QStringLiteral("modified");
        change.beforeSha256 = was->isLink ? QString() : QString::fromLatin1(was->hash);
        countLines(change, was, *seen);
    } else {
        change.op = QStringLiteral("created");
        countLines(change, std::nullopt, *seen);
    }
    remember(key, *seen);
    tell(key, pending, change);
}

void WatchCore::countLines(FileChanged &change, const std::optional<FileRecord> &was, const FileLook &look) const
{
    if (!look.hasText)
        return;
    QByteArray before;
    if (was) {
        if (was->isLink || was->hash.isEmpty())
            return;
        auto version = m_versions.get(was->hash);
        if (!version && m_options.loadVersion)
            version = m_options.loadVersion(QString::fromLatin1(was->hash));
        if (!version)
            return;
        before = *version;
    }
    const LineChange lines = countLineChanges(before, look.content);
    change.addedLines = lines.added;
    change.removedLines = lines.removed;
}

void WatchCore::tellGone(const QByteArray &key, const FileRecord &was, const Pending &pending)
{
    FileChanged change;
    change.op = QStringLiteral("deleted");
    change.size = 0;
    change.beforeSha256 = was.isLink ? QString() : QString::fromLatin1(was.hash);
    if (const auto version = m_versions.get(was.hash))
        change.removedLines = countLineChanges(*version, {}).removed;
    m_files.erase(key);
    tell(key, pending, change);
}

void WatchCore::tell(const QByteArray &key, const Pending &pending, FileChanged change)
{
    change.path = displayPath(key);
    const auto owner = m_commands.ownerOf(change.path, pending.seen);
    change.owner = owner ? owner->value() : QStringLiteral("unknown");
    change.certainty = owner ? QStringLiteral("probably") : QStringLiteral("unknown");
    (owner ? m_options.events.withAgent(*owner) : m_options.events).emitEvent(change);
}

/// The kernel lost events, or some folders have no watch: whatever differs from its record is looked at.
void WatchCore::compareAll()
{
    QSet<QByteArray> found;
    m_tree.scanAll([&](const QByteArray &key, int dirFd, const QByteArray &name) {
        if (isTemporary(key))
            return;
        found.insert(key);
        const auto known = m_files.find(key);
        const auto seen = lookIn(dirFd, name, key, ReadDepth::StatOnly);
        if (seen && (known == m_files.end() || known->second.size != seen->record.size
                     || known->second.mtimeNs != seen->record.mtimeNs || known->second.isLink != seen->record.isLink))
            mark(key, true);
    });
    for (const auto &[key, record] : m_files) {
        if (!found.contains(key))
            mark(key, true);
    }
}

void WatchCore::flush()
{
    drain();
    if (!m_tree.unwatched().empty())
        compareAll();
    lookAtDue(true);
}

WorkspaceWatch::Counts WatchCore::counts() const
{
    return {int(m_files.size()), m_tree.watches(), int(m_tree.unwatched().size())};
}

} // namespace paddock
