// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/event/event.h"
#include "core/journal/database.h"

#include <memory>
#include <optional>
#include <vector>

namespace paddock {

/// One run as the list shows it.
struct StoredRun {
    RunId id;
    QString thread;
    QString title;
    QString task;
    QString model;
    QString sandbox;
    QString workspace;
    std::optional<QString> channelUserId;
    QString status; ///< running (its process lives), completed, failed, cancelled, interrupted
    QString answer;
    std::optional<QString> error;
    Clock::Wall started{};
    std::optional<Clock::Wall> finished;
    Usage usage;
    qint64 events = 0;
    Seq lastSeq = 0;
};

/// An event with its fields as they are stored: what a newer version wrote survives.
struct StoredEvent {
    std::shared_ptr<const Event> event;
    Json fields;
};

struct EventPage {
    std::vector<StoredEvent> events;
    bool more = false; ///< ask again with the last seq
    bool holed = false; ///< events that belong here or behind here are on damaged pages
};

/// Reads a journal through a connection of its own: beside the writer, from any process. Used by one thread at a time;
/// meant for pool threads, every function blocks. A reader never changes the journal; the end that recovery will write to a
/// run whose process is gone is shown and counted as if it were there (recovery.h).
class JournalReader
{
public:
    /// NotFound when there is no journal in the folder; else the errors of Journal::open.
    static Result<JournalReader> open(const QString &folder);

    /// Newest first.
    Result<std::vector<StoredRun>> runs(int limit = 1000);
    Result<StoredRun> run(const RunId &id);
    /// The only run whose id starts with `prefix`, or the newest for "last". NotFound or InvalidArgument (several) else.
    Result<RunId> resolve(const QString &prefix);
    /// Events with larger numbers, ascending. An unreadable row becomes a "journal.damaged" event, not an error; what is on
    /// damaged pages is left out, and the page says so.
    Result<EventPage> events(const RunId &run, Seq after = 0, int limit = 2000);
    /// What to say of a run when of its events only so many could be read.
    Error holesIn(const RunId &run, qint64 eventsRead);
    /// NotFound when it was never stored.
    Result<MessagePtr> message(const QString &hash);
    /// The largest number stored; 0 for an empty journal.
    Result<Seq> lastSeq();
    /// Looks at every page of the file; DataLoss with the first fault that SQLite names. Takes time with the file's size.
    Result<void> check();

private:
    JournalReader(Database database, QString folder) : m_database(std::move(database)), m_folder(std::move(folder)) {}
    Result<StoredRun> readRun(Statement &row);
    struct Row {
        qint64 id = 0;
        Seq lastSeq = 0;
    };
    Result<Row> rowOf(const RunId &run);
    Database m_database;
    QString m_folder;
};

/// Where the locks of running processes are.
QString ownersFolder(const QString &folder);

} // namespace paddock
