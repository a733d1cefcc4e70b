// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/journal/recovery.h"

#include "core/base/text.h"
#include "core/event/event_codec.h"
#include "core/journal/journal_reader.h"
#include "core/journal/journal_tables.h"
#include "core/journal/owner_lock.h"
#include "core/journal/stored_text.h"

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
            std::chrono::microseconds(row.integer(3)), Json()};
}

constexpr qsizetype longestNotedError = 400;
constexpr int storedReplyDepth = 256;

/// Of the replies that can be read: what was spent must not look like nothing.
Usage usageOfReplies(Database &database, const RunId &run)
{
    Usage sum;
    auto rows = database.prepare("SELECT e.fields FROM runs JOIN events AS e ON e.id > (runs.id << 40) AND e.id < ((runs.id + 1) << 40) "
                                 "WHERE runs.run = ?1 AND e.type = ?2");
    if (!rows)
        return sum;
    rows->bind(1, run.value()).bind(2, eventType(ModelResponded{}));
    for (;;) {
        const auto more = rows->step();
        if (!more || !*more)
            return sum;
        const auto text = rows->isBlob(0) ? decompressed(rows->bytes(0)) : Result<QByteArray>(rows->bytes(0));
        const auto fields = text ? parseJson(*text, storedReplyDepth) : fail(text.error());
        if (fields)
            sum += usageFromJson(memberOf(*fields, "usage"));
    }
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

Result<void> finishRunsOf(Database &database, const QString &owner, const QByteArray &note)
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
    for (CutOff run : *runs) {
        run.known = notedEnd(note, run.run);
        const Event event = endOf(database, run);
        if (auto added = tables->addEvent(event, eventFields(event.body)); !added)
            return added;
    }
    if (auto updated = tables->updateRuns(); !updated)
        return updated;
    return transaction->commit();
}

} // namespace

QByteArray noteOfEnds(const std::vector<std::shared_ptr<const Event>> &finished)
{
    QByteArray note;
    for (const auto &event : finished) {
        const auto *end = std::get_if<RunFinished>(&event->body);
        if (!end)
            continue;
        Json line{{"run", toUtf8(event->run.value())}, {"status", toUtf8(end->status)}, {"usage", usageToJson(end->usage)}};
        if (end->error)
            line["error"] = toUtf8(boundText(*end->error, longestNotedError));
        const QByteArray words = dumpJson(line) + '\n';
        if (note.size() + words.size() <= OwnerLock::noteRoom)
            note += words;
    }
    return note;
}

Json notedEnd(const QByteArray &note, const RunId &run)
{
    for (const QByteArray &words : note.split('\n')) {
        if (words.isEmpty())
            continue;
        auto line = parseJson(words);
        if (line && stringOf(*line, "run") == run.value() && !stringOf(*line, "status").isEmpty())
            return std::move(*line);
    }
    return Json();
}

Event endOf(Database &database, const CutOff &run)
{
    Event event;
    event.seq = run.lastSeq + 1;
    event.time = run.lastTime;
    event.mono = run.lastMono;
    event.run = run.run;
    event.agent = leadAgent();
    RunFinished end{QStringLiteral("interrupted"), {}, QStringLiteral("Paddock ended before the run did."), {}};
    if (run.known.is_object()) {
        end.status = stringOf(run.known, "status");
        const QString error = stringOf(run.known, "error");
        end.error = QStringLiteral("The end of this run could not be saved.") + (error.isEmpty() ? QString() : QLatin1Char(' ') + error);
        end.usage = usageFromJson(memberOf(run.known, "usage"));
    } else {
        end.usage = usageOfReplies(database, run.run);
    }
    event.body = std::move(end);
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
        if (look == 1) {
            CutOff cut = (*found)->first;
            cut.known = notedEnd(OwnerLock::noteOf(ownersFolder(folder), (*found)->second), run);
            return std::optional(std::move(cut));
        }
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
        if (auto finished = finishRunsOf(database, name, OwnerLock::noteOf(owners, name)); !finished) {
            adopted.leave(); // what it noted is still needed
            return finished;
        }
    }
    return {};
}

} // namespace paddock
