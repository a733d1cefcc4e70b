// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/event/event.h"
#include "core/journal/database.h"

#include <QHash>
#include <QSet>

namespace paddock {

/// Sequence numbers and run rows share the 63 bits of an event's key.
constexpr int seqBits = 40;
constexpr Seq largestSeq = (Seq(1) << seqBits) - 1;

/// Writes rows inside the caller's transaction, with prepared statements. Lives on the writer thread; the database must
/// outlive it. After a failed transaction call `forget()`: what it remembers of rows may not be there.
class JournalTables
{
public:
    static Result<JournalTables> prepare(Database &database, QString owner);

    /// The fields are given apart, so that an import keeps what this version does not know. Rows that are there already
    /// (a replayed event) are left alone.
    Result<void> addEvent(const Event &event, const Json &fields);
    /// A message under its content hash; content is stored once.
    Result<void> addMessage(const QString &hash, const Message &message);
    /// Writes the counters of the runs touched since the last call; before each commit.
    Result<void> updateRuns();
    void forget();
    /// Events of an imported run belong to no process.
    static QString importOwner() { return QStringLiteral("import"); }

private:
    struct RunRow {
        qint64 id = 0;
        qint64 added = 0;
        Seq lastSeq = 0;
    };
    JournalTables(Database &database, QString owner) : m_database(&database), m_owner(std::move(owner)) {}
    Result<RunRow *> runRow(const Event &event);
    Result<void> runStarted(qint64 id, const Event &event, const RunStarted &body);
    Result<void> runFinished(qint64 id, const Event &event, const RunFinished &body);

    Database *m_database;
    QString m_owner;
    QHash<QString, RunRow> m_runs; ///< by run id; the empty id has a hidden row per owner
    QSet<QString> m_blobs;         ///< hashes known to be stored
    std::optional<Statement> m_insertEvent;
    std::optional<Statement> m_insertBlob;
    std::optional<Statement> m_insertRun;
    std::optional<Statement> m_findRun;
    std::optional<Statement> m_startRun;
    std::optional<Statement> m_titleRun;
    std::optional<Statement> m_finishRun;
    std::optional<Statement> m_countRun;
};

} // namespace paddock
