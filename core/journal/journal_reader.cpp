// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/journal/journal_reader.h"

#include "core/event/event_codec.h"
#include "core/journal/journal.h"
#include "core/journal/journal_tables.h"
#include "core/journal/owner_lock.h"
#include "core/journal/recovery.h"
#include "core/journal/schema.h"
#include "core/journal/stored_text.h"

#include <QFile>

namespace paddock {

namespace {

constexpr int storedDepth = 256;
/// So many numbers are tried behind a damaged page of the file before the rest is given up.
constexpr int mostSkipped = 1'000'000;
constexpr const char *runColumns = "SELECT id, run, owner, thread, title, task, model, sandbox, workspace, channel_user_id, status, "
                                   "answer, error, usage, started_us, finished_us, events, last_seq FROM runs ";

Clock::Wall wall(qint64 micros)
{
    return Clock::Wall(std::chrono::microseconds(micros));
}

Result<QByteArray> storedText(const Statement &row, int column)
{
    return row.isBlob(column) ? decompressed(row.bytes(column)) : Result<QByteArray>(row.bytes(column));
}

} // namespace

QString ownersFolder(const QString &folder)
{
    return folder + QStringLiteral("/owners");
}

Result<JournalReader> JournalReader::open(const QString &folder)
{
    const QString path = Journal::fileIn(folder);
    if (!QFile::exists(path))
        return fail(ErrorCode::NotFound, QStringLiteral("There is no journal in %1 yet: nothing has been run with this data folder.").arg(folder));
    if (auto known = checkHeader(path); !known)
        return fail(known.error());
    // On a read-only medium the shared-memory file of the log cannot be made; then the file cannot change either.
    for (const auto mode : {Database::Mode::ReadOnly, Database::Mode::Immutable}) {
        auto database = Database::open(path, mode);
        if (!database)
            return fail(database.error());
        if (auto readable = checkReadable(*database); !readable) {
            const bool retry = mode == Database::Mode::ReadOnly && readable.error().code == ErrorCode::PermissionDenied;
            if (retry)
                continue;
            return fail(readable.error());
        }
        return JournalReader(std::move(*database), folder);
    }
    return fail(ErrorCode::PermissionDenied, QStringLiteral("%1 cannot be read. Check its permissions.").arg(path));
}

Result<StoredRun> JournalReader::readRun(Statement &row)
{
    StoredRun run;
    const QString owner = row.text(2);
    run.id = RunId(row.text(1));
    run.thread = row.text(3);
    run.title = row.text(4);
    run.task = row.text(5);
    run.model = row.text(6);
    run.sandbox = row.text(7);
    run.workspace = row.text(8);
    if (!row.isNull(9))
        run.channelUserId = row.text(9);
    run.status = row.text(10);
    run.answer = row.text(11);
    if (!row.isNull(12))
        run.error = row.text(12);
    if (const auto usage = parseJson(row.bytes(13)))
        run.usage = usageFromJson(*usage);
    run.started = wall(row.integer(14));
    if (!row.isNull(15))
        run.finished = wall(row.integer(15));
    run.events = row.integer(16);
    run.lastSeq = Seq(row.integer(17));
    if (run.status != u"running" || OwnerLock::isAlive(ownersFolder(m_folder), owner))
        return run;
    // Not ended and nobody there who could still end it.
    run.status = QStringLiteral("interrupted");
    const auto cut = cutOffRun(m_database, m_folder, run.id);
    if (!cut && cut.error().code == ErrorCode::DataLoss)
        return run; // its last event cannot be read; the rest perhaps
    if (!cut)
        return fail(cut.error());
    if (*cut) {
        const Event end = endOf(m_database, **cut);
        const auto &body = std::get<RunFinished>(end.body);
        run.events += 1;
        run.lastSeq = end.seq;
        run.finished = end.time;
        run.status = body.status;
        run.error = body.error;
        run.usage = body.usage;
    } else if (owner != JournalTables::importOwner()) {
        return this->run(run.id); // it ended between our two looks
    }
    return run;
}

Result<std::vector<StoredRun>> JournalReader::runs(int limit)
{
    auto rows = m_database.prepare((QByteArray(runColumns) + "WHERE hidden = 0 ORDER BY started_us DESC, id DESC LIMIT ?1").constData());
    if (!rows)
        return fail(rows.error());
    rows->bind(1, qint64(limit));
    std::vector<StoredRun> found;
    for (;;) {
        const auto more = rows->step();
        if (!more)
            return fail(more.error());
        if (!*more)
            return found;
        auto run = readRun(*rows);
        if (!run)
            return fail(run.error());
        found.push_back(std::move(*run));
    }
}

Result<StoredRun> JournalReader::run(const RunId &id)
{
    auto rows = m_database.prepare((QByteArray(runColumns) + "WHERE hidden = 0 AND run = ?1").constData());
    if (!rows)
        return fail(rows.error());
    rows->bind(1, id.value());
    const auto found = rows->step();
    if (!found)
        return fail(found.error());
    if (!*found)
        return fail(ErrorCode::NotFound, QStringLiteral("The journal has no run '%1'.").arg(id.value()));
    return readRun(*rows);
}

Result<RunId> JournalReader::resolve(const QString &prefix)
{
    if (prefix.isEmpty())
        return fail(ErrorCode::InvalidArgument, QStringLiteral("Name a run: its id, the beginning of one, or \"last\"."));
    const bool newest = prefix == u"last";
    // A range instead of LIKE: the id may hold wildcards, and the index on it is used.
    auto rows = m_database.prepare(newest ? "SELECT run FROM runs WHERE hidden = 0 ORDER BY started_us DESC, id DESC LIMIT 1"
                                          : "SELECT run FROM runs WHERE hidden = 0 AND substr(run, 1, length(?1)) = ?1 ORDER BY run = ?1 DESC LIMIT 3");
    if (!rows)
        return fail(rows.error());
    if (!newest)
        rows->bind(1, prefix);
    QStringList found;
    for (;;) {
        const auto more = rows->step();
        if (!more)
            return fail(more.error());
        if (!*more)
            break;
        found.append(rows->text(0));
    }
    if (found.isEmpty()) {
        return fail(ErrorCode::NotFound, newest ? QStringLiteral("The journal has no run yet.")
                                                : QStringLiteral("No run's id starts with '%1'. \"paddock show\" lists them.").arg(prefix));
    }
    if (found.size() > 1 && found.constFirst() != prefix)
        return fail(ErrorCode::InvalidArgument, QStringLiteral("Several runs start with '%1' (%2, …). Give more of the id.").arg(prefix, found.join(QStringLiteral(", "))));
    return RunId(found.constFirst());
}

Result<JournalReader::Row> JournalReader::rowOf(const RunId &run)
{
    auto rows = m_database.prepare("SELECT id, last_seq FROM runs WHERE run = ?1 AND hidden = 0");
    if (!rows)
        return fail(rows.error());
    rows->bind(1, run.value());
    const auto found = rows->step();
    if (!found)
        return fail(found.error());
    if (!*found)
        return fail(ErrorCode::NotFound, QStringLiteral("The journal has no run '%1'.").arg(run.value()));
    return Row{rows->integer(0), Seq(rows->integer(1))};
}

namespace {

StoredEvent damaged(Event event, const QString &type, const QString &reason)
{
    Json fields{{"was", toUtf8(type)}, {"reason", toUtf8(reason)}};
    event.body = UnknownEvent{QStringLiteral("journal.damaged"), fields};
    return {std::make_shared<const Event>(std::move(event)), std::move(fields)};
}

StoredEvent readEvent(const Statement &row, const RunId &run)
{
    Event event;
    event.seq = Seq(row.integer(0)) & largestSeq;
    event.run = run;
    event.agent = AgentId(row.text(1));
    const QString type = row.text(2);
    event.time = wall(row.integer(3));
    event.mono = std::chrono::microseconds(row.integer(4));
    event.span = SpanId(row.integer(5));
    event.parent = SpanId(row.integer(6));
    const auto text = storedText(row, 7);
    if (!text)
        return damaged(std::move(event), type, text.error().message);
    auto fields = parseJson(*text, storedDepth);
    if (!fields)
        return damaged(std::move(event), type, fields.error().message);
    auto body = eventBodyFromFields(type, *fields);
    if (!body)
        return damaged(std::move(event), type, body.error().message);
    event.body = std::move(*body);
    return {std::make_shared<const Event>(std::move(event)), std::move(*fields)};
}

} // namespace

Result<EventPage> JournalReader::events(const RunId &run, Seq after, int limit)
{
    const auto row = rowOf(run);
    if (!row)
        return fail(row.error());
    EventPage page;
    std::optional<CutOff> cutOff;
    if (auto cut = cutOffRun(m_database, m_folder, run)) // before its events: what is written meanwhile is then among them
        cutOff = std::move(*cut);
    else if (cut.error().code == ErrorCode::DataLoss)
        page.holed = true;
    else
        return fail(cut.error());
    auto rows = m_database.prepare("SELECT id, agent, type, time_us, mono_us, span, parent, fields FROM events "
                                   "WHERE id > ?1 AND id <= ?2 ORDER BY id LIMIT ?3");
    if (!rows)
        return fail(rows.error());
    const quint64 base = quint64(row->id) << seqBits;
    const auto begin = [&] {
        rows->bind(1, qint64(base | std::min(after, largestSeq))).bind(2, qint64(base | largestSeq)).bind(3, qint64(limit) + 1);
    };
    begin();
    for (int skipped = 0;;) {
        const auto step = rows->step();
        const bool isFull = int(page.events.size()) == limit;
        if (!step && step.error().code != ErrorCode::DataLoss)
            return fail(step.error());
        if (!step && !isFull) {
            page.holed = true;
            // Number by number: a number leads to one page of the file, and the next one perhaps to another.
            if (++after < row->lastSeq && ++skipped < mostSkipped) {
                rows->reset();
                begin();
                continue;
            }
        }
        const bool more = !step ? isFull : *step;
        if (more && !isFull) {
            page.events.push_back(readEvent(*rows, run));
            after = page.events.back().event->seq;
            continue;
        }
        page.more = more;
        if (more || !cutOff || after > cutOff->lastSeq)
            return page;
        page.more = isFull; // the end that recovery will write has no room on this page
        if (!isFull) {
            auto end = std::make_shared<const Event>(endOf(m_database, *cutOff));
            Json fields = eventFields(end->body);
            page.events.push_back({std::move(end), std::move(fields)});
        }
        return page;
    }
}

Error JournalReader::holesIn(const RunId &run, qint64 eventsRead)
{
    const auto stored = this->run(run);
    const QString what = stored && stored->events > eventsRead
        ? QStringLiteral("%1 of the %2 events of this run cannot be read").arg(stored->events - eventsRead).arg(stored->events)
        : QStringLiteral("Some events of this run cannot be read");
    return Error{ErrorCode::DataLoss, QStringLiteral("%1: %2 is damaged; this is the part that can be read.").arg(what, Journal::fileIn(m_folder)),
                 Json::object(), nullptr};
}

Result<MessagePtr> JournalReader::message(const QString &hash)
{
    auto rows = m_database.prepare("SELECT data FROM blobs WHERE hash = ?1");
    if (!rows)
        return fail(rows.error());
    rows->bindBlob(1, QByteArray::fromHex(hash.toLatin1()));
    const auto found = rows->step();
    if (!found)
        return fail(found.error());
    if (!*found)
        return fail(ErrorCode::NotFound, QStringLiteral("The journal does not hold this message (%1).").arg(hash.left(16)));
    const auto text = storedText(*rows, 0);
    if (!text)
        return fail(text.error());
    const auto json = parseJson(*text, storedDepth);
    if (!json)
        return fail(ErrorCode::DataLoss, QStringLiteral("A stored message is damaged: %1").arg(json.error().message));
    auto message = messageFromJson(*json);
    if (!message)
        return fail(ErrorCode::DataLoss, QStringLiteral("A stored message is damaged: %1").arg(message.error().message));
    return makeMessage(std::move(*message));
}

Result<Seq> JournalReader::lastSeq()
{
    const auto last = m_database.queryInt("SELECT max(last_seq) FROM runs");
    if (!last)
        return fail(last.error());
    return Seq(last->value_or(0));
}

Result<void> JournalReader::check()
{
    auto rows = m_database.prepare("PRAGMA quick_check(1)");
    if (!rows)
        return fail(rows.error());
    const auto row = rows->step();
    if (!row)
        return fail(row.error());
    const QString says = *row ? rows->text(0) : QString();
    if (says == u"ok")
        return {};
    return fail(ErrorCode::DataLoss, QStringLiteral("The journal in %1 is damaged: %2").arg(m_folder, says.section(u'\n', 0, 1).simplified()));
}

} // namespace paddock
