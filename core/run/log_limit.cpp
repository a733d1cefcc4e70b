// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/run/log_limit.h"

#include "core/base/pool.h"
#include "core/journal/journal_reader.h"

#include <QDateTime>
#include <QDeadlineTimer>
#include <QDir>
#include <QHash>
#include <QLoggingCategory>

#include <algorithm>
#include <vector>

namespace paddock {

namespace {

Q_LOGGING_CATEGORY(lcLogs, "paddock.run.logs")

/// Runs that are looked up; more than any journal has that is still used.
constexpr int maxKnownRuns = 100000;

struct ThreadLogs {
    QString folder;
    QString thread;
    qint64 bytes = 0;
    QDateTime newest; ///< write to one of its files
    QDateTime ended;
};

/// Everything in it but folders; of a link, the link.
QFileInfoList filesIn(const QString &folder)
{
    QFileInfoList files = QDir(folder).entryInfoList(QDir::AllEntries | QDir::System | QDir::Hidden | QDir::NoDotAndDotDot);
    files.removeIf([](const QFileInfo &file) { return file.isDir() && !file.isSymLink(); });
    return files;
}

std::vector<ThreadLogs> logsBelow(const QString &shells)
{
    std::vector<ThreadLogs> all;
    for (const QFileInfo &folder : QDir(shells).entryInfoList(QDir::Dirs | QDir::NoDotAndDotDot | QDir::NoSymLinks)) {
        ThreadLogs logs{folder.filePath(), folder.fileName(), 0, {}, {}};
        for (const QFileInfo &file : filesIn(logs.folder)) {
            if (file.isSymLink())
                continue;
            logs.bytes += file.size();
            const QDateTime written = file.lastModified();
            logs.newest = logs.newest.isValid() ? std::max(logs.newest, written) : written;
        }
        if (!logs.newest.isValid())
            logs.newest = folder.lastModified();
        all.push_back(std::move(logs));
    }
    return all;
}

QDateTime dateOf(Clock::Wall time)
{
    return QDateTime::fromMSecsSinceEpoch(std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count());
}

/// Only those that may go, each with the end of its run.
std::vector<ThreadLogs> endedOnes(const std::vector<ThreadLogs> &all, const std::vector<StoredRun> &runs)
{
    struct Life {
        bool live = false;
        QDateTime ended;
    };
    QHash<QString, Life> lives;
    for (const StoredRun &run : runs) {
        Life &life = lives[run.thread];
        life.live = life.live || run.status == u"running";
        const QDateTime end = dateOf(run.finished.value_or(run.started));
        life.ended = life.ended.isValid() ? std::max(life.ended, end) : end;
    }
    const QDateTime now = QDateTime::currentDateTime();
    std::vector<ThreadLogs> ended;
    for (ThreadLogs logs : all) {
        const auto life = lives.constFind(logs.thread);
        if (life != lives.cend() ? life->live : logs.newest.addDuration(strangeLogsKept) > now)
            continue;
        logs.ended = life != lives.cend() ? life->ended : logs.newest;
        ended.push_back(std::move(logs));
    }
    std::ranges::sort(ended, {}, &ThreadLogs::ended);
    return ended;
}

} // namespace

QString shellLogFolder(const QString &dataDir, const QString &thread)
{
    return dataDir + QStringLiteral("/shells/") + thread;
}

void limitTerminalLogs(const QString &dataDir, qint64 maxBytes)
{
    if (maxBytes <= 0)
        return;
    const QDeadlineTimer deadline(logPassLimit);
    // The folders first: a run is in the journal before it has one, so that none of a live run looks strange.
    const std::vector<ThreadLogs> all = logsBelow(dataDir + QStringLiteral("/shells"));
    qint64 total = 0;
    for (const ThreadLogs &logs : all)
        total += logs.bytes;
    if (total <= maxBytes)
        return;
    auto reader = JournalReader::open(dataDir);
    const auto runs = reader ? reader->runs(maxKnownRuns) : Result<std::vector<StoredRun>>(fail(reader.error()));
    if (!runs) {
        qCInfo(lcLogs, "Terminal logs stay, as the journal cannot be read: %ls", qUtf16Printable(runs.error().message));
        return;
    }
    for (const ThreadLogs &logs : endedOnes(all, *runs)) {
        if (total <= maxBytes || deadline.hasExpired())
            return;
        for (const QFileInfo &file : filesIn(logs.folder))
            QFile::remove(file.filePath());
        if (!QDir().rmdir(logs.folder))
            qCInfo(lcLogs, "The folder of the logs of thread %ls cannot be removed", qUtf16Printable(logs.thread));
        total -= logs.bytes;
    }
}

void limitTerminalLogsLater(const QString &dataDir, qint64 maxBytes)
{
    runInPool([dataDir, maxBytes] { limitTerminalLogs(dataDir, maxBytes); });
}

} // namespace paddock
