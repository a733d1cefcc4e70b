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

struct CutOff {
    RunId run;
    Seq lastSeq = 0;
    qint64 lastMono = 0;
};

Result<std::vector<CutOff>> unfinishedOf(Database &database, const QString &owner)
{
    auto rows = database.prepare("SELECT run, last_seq, coalesce((SELECT mono_us FROM events WHERE events.id = (runs.id << 40 | last_seq)), 0) "
                                 "FROM runs WHERE owner = ?1 AND status = 'running' AND hidden = 0");
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
        found.push_back({RunId(rows->text(0)), Seq(rows->integer(1)), rows->integer(2)});
    }
}

Result<void> finishRunsOf(Database &database, const QString &owner, const Clock &clock)
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
        Event event;
        event.seq = run.lastSeq + 1;
        event.time = clock.wall();
        event.mono = std::chrono::microseconds(run.lastMono); // the clock of the dead process is gone
        event.run = run.run;
        event.agent = leadAgent();
        event.body = RunFinished{QStringLiteral("interrupted"), {}, QStringLiteral("Paddock ended before the run did."), {}};
        if (auto added = tables->addEvent(event, eventFields(event.body)); !added)
            return added;
    }
    if (auto updated = tables->updateRuns(); !updated)
        return updated;
    return transaction->commit();
}

} // namespace

Result<void> markInterrupted(Database &database, const QString &folder, const Clock &clock, const QString &self)
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
        if (auto finished = finishRunsOf(database, name, clock); !finished)
            return finished;
    }
    return {};
}

} // namespace paddock
