// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/journal/recovery.h"

#include "core/event/event_codec.h"
#include "core/journal/journal_reader.h"
#include "core/journal/journal_tables.h"
#include "core/journal/owner_lock.h"

#include <QDir>
#include <QSet>

namespace paddock {

namespace {

constexpr const char *unfinished = "SELECT run, last_seq, coalesce(last.time_us, started_us), coalesce(last.mono_us, 0), owner "
                                   "FROM runs LEFT JOIN events AS last ON last.id = (runs.id << 40 | last_seq) "
                                   "WHERE status = 'running' AND hidden = 0 AND ";

CutOff cutOffFrom(const Statement &row)
{
    return {RunId(row.text(0)), Seq(row.integer(1)), Clock::Wall(std::chrono::microseconds(row.integer(2))),
            std::chrono::microseconds(row.integer(3))};
}

Result<std::vector<CutOff>> unfinishedOf(Database &database, const QString &owner)
{
    auto rows = database.prepare((QByteArray(unfinished) + "owner = ?1").constData());
    if (!rows)
        return fail(rows.error());
    rows->bind(1, owner);
    std::vector<CutOff> found;
    for (;;) {
        const auto more = rows->step();
        if (!more)
            return fail(more.error());
        if (!*more)
            return found;
        found.push_back(cutOffFrom(*rows));
    }
}

/// The run and its owner when it has no end.
Result<std::optional<std::pair<CutOff, QString>>> unfinishedRun(Database &database, const RunId &run)
{
    auto rows = database.prepare((QByteArray(unfinished) + "run = ?1").constData());
    if (!rows)
        return fail(rows.error());
    rows->bind(1, run.value());
    const auto found = rows->step();
    if (!found)
        return fail(found.error());
    if (!*found)
        return std::optional<std::pair<CutOff, QString>>();
    return std::optional(std::pair(cutOffFrom(*rows), rows->text(4)));
}

Result<void> finishRunsOf(Database &database, const QString &owner)
{
    auto transaction = Transaction::begin(database);
    if (!transaction)
        return fail(transaction.error());
    const auto runs = unfinishedOf(database, owner);
    if (!runs)
        return fail(runs.error());
    auto tables = JournalTables::prepare(database, owner);
    if (!tables)
        return fail(tables.error());
    for (const CutOff &run : *runs) {
        const Event event = endOf(run);
        if (auto added = tables->addEvent(event, eventFields(event.body)); !added)
            return added;
    }
    if (auto updated = tables->updateRuns(); !updated)
        return updated;
    return transaction->commit();
}

} // namespace

Event endOf(const CutOff &run)
{
    Event event;
    event.seq = run.lastSeq + 1;
    event.time = run.lastTime;
    event.mono = run.lastMono;
    event.run = run.run;
    event.agent = leadAgent();
    event.body = RunFinished{QStringLiteral("interrupted"), {}, QStringLiteral("Paddock ended before the run did."), {}};
    return event;
}

Result<std::optional<CutOff>> cutOffRun(Database &database, const QString &folder, const RunId &run)
{
    // Twice: its process may have written the end and gone between the first look and the look for the process.
    for (int look = 0; look < 2; ++look) {
        const auto found = unfinishedRun(database, run);
        if (!found)
            return fail(found.error());
        if (!*found || (*found)->second == JournalTables::importOwner() || OwnerLock::isAlive(ownersFolder(folder), (*found)->second))
            return std::optional<CutOff>();
        if (look == 1)
            return std::optional((*found)->first);
    }
    return std::optional<CutOff>();
}

Result<void> markInterrupted(Database &database, const QString &folder, const QString &self)
{
    const QString owners = ownersFolder(folder);
    const QStringList files = QDir(owners).entryList(QDir::Files);
    QSet<QString> names(files.begin(), files.end()); // also those who left no run behind
    {
        auto rows = database.prepare("SELECT DISTINCT owner FROM runs WHERE status = 'running' AND hidden = 0");
        if (!rows)
            return fail(rows.error());
        for (;;) {
            const auto more = rows->step();
            if (!more)
                return fail(more.error());
            if (!*more)
                break;
            names.insert(rows->text(0));
        }
    }
    names.remove(self);
    names.remove(JournalTables::importOwner());
    for (const QString &name : std::as_const(names)) {
        OwnerLock adopted = OwnerLock::tryAdopt(owners, name);
        if (!adopted.isHeld())
            continue;
        if (auto finished = finishRunsOf(database, name); !finished)
            return finished;
    }
    return {};
}

} // namespace paddock
