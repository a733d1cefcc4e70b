// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/sandbox/change_owner.h"
#include "core/sandbox/file_record.h"
#include "core/sandbox/inotify_tree.h"
#include "core/sandbox/workspace_watch.h"

#include <QHash>
#include <QMap>
#include <QObject>
#include <QSet>
#include <QSocketNotifier>
#include <QTimer>

#include <map>
#include <memory>

namespace paddock {

/// The working half of WorkspaceWatch; everything happens on the thread "workspace-watch".
class WatchCore : public QObject
{
public:
    using Micros = std::chrono::microseconds;
    /// Versions kept in memory for counting lines.
    static constexpr qint64 cachedVersionBytes = 32 * 1024 * 1024;

    explicit WatchCore(WorkspaceWatchOptions options);

    Result<void> start();
    void commandStarted(const QString &id, const AgentId &agent, const QString &command, Micros at);
    void commandFinished(const QString &id, Micros at);
    void toolStarted(const QString &call, const QString &path);
    void toolFinished(const QString &call);
    void toolWrote(const QString &path, const QString &sha256, qint64 size);
    void flush();
    WorkspaceWatch::Counts counts() const;

private:
    struct Pending {
        Micros seen{};          ///< the first event of this burst
        Micros due{};           ///< when to look
        QByteArray renamedFrom;
    };

    Micros now() const;
    void drain();
    void onChange(const InotifyTree::Change &change);
    void onDirectory(const InotifyTree::Change &change);
    void markSubtree(const QByteArray &from, const QByteArray &movedTo);
    void mark(const QByteArray &key, bool settled, const QByteArray &renamedFrom = {});
    bool isInTool(const QByteArray &key) const;
    bool isWithoutLinks(const QByteArray &key) const;
    void arm();
    void lookAtDue(bool all);
    void look(const QByteArray &key, const Pending &pending);
    void tellGone(const QByteArray &key, const FileRecord &was, const Pending &pending);
    void tell(const QByteArray &key, const Pending &pending, FileChanged change);
    void countLines(FileChanged &change, const std::optional<FileRecord> &was, const FileLook &look) const;
    void remember(const QByteArray &key, const FileLook &look);
    void keep(const FileLook &look);
    void snapshotFile(const QByteArray &key, int dirFd, const QByteArray &name);
    void compareAll();

    const WorkspaceWatchOptions m_options;
    std::shared_ptr<const Clock> m_clock;
    InotifyTree m_tree;
    std::unique_ptr<QSocketNotifier> m_notifier;
    QTimer m_timer;
    CommandTimes m_commands;
    std::map<QByteArray, FileRecord> m_files; ///< ordered, so that a directory is a range
    std::map<QByteArray, Pending> m_pending;
    /// Write calls under way: call to key; their files are looked at afterwards. An empty key may be any file: a link is on
    /// the way to it, and which one it was the tool tells.
    QMap<QString, QByteArray> m_toolWrites;
    QSet<QByteArray> m_kept;                  ///< hashes given to keepVersion
    VersionCache m_versions{cachedVersionBytes};
    int m_snapshotFiles = 0;
    qint64 m_snapshotBytes = 0;
    bool m_saidFull = false;
};

} // namespace paddock
