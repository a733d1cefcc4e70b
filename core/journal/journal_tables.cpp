// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/journal/journal_tables.h"

#include "core/base/text.h"
#include "core/event/event_codec.h"
#include "core/journal/stored_text.h"

#include <algorithm>

namespace paddock {

namespace {

constexpr qsizetype mostRememberedBlobs = 200000;
constexpr qsizetype titleLength = 80;

/// The first line of the task, short enough for a list.
QString titleOf(const QString &task)
{
    const QString line = pythonStrip(task).section(QLatin1Char('\n'), 0, 0);
    return codePointCount(line) <= titleLength ? line : firstCodePoints(line, titleLength - 1) + QChar(0x2026);
}

/// One that was cut out of the task says less than what stands there.
bool isBetterTitle(const MiddlewareActed &act)
{
    return act.tag == u"title" && stringOf(act.changes, "source") == u"model" && !stringOf(act.changes, "title").isEmpty();
}

void bindStored(Statement &statement, int index, const QByteArray &text)
{
    if (const auto frame = compressed(text))
        statement.bindBlob(index, *frame);
    else
        statement.bindText(index, text);
}

} // namespace

Result<JournalTables> JournalTables::prepare(Database &database, QString owner)
{
    JournalTables tables(database, std::move(owner));
    const std::pair<std::optional<Statement> *, const char *> wanted[] = {
        {&tables.m_insertEvent, "INSERT OR IGNORE INTO events (id, agent, type, time_us, mono_us, span, parent, fields) "
                                "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"},
        {&tables.m_insertBlob, "INSERT OR IGNORE INTO blobs (hash, data) VALUES (?1, ?2)"},
        {&tables.m_insertRun, "INSERT INTO runs (run, hidden, owner, started_us) VALUES (?1, ?2, ?3, ?4)"},
        {&tables.m_findRun, "SELECT id, last_seq FROM runs WHERE run = ?1"},
        {&tables.m_startRun, "UPDATE runs SET thread = ?2, title = ?3, task = ?4, model = ?5, sandbox = ?6, workspace = ?7, "
                             "channel_user_id = ?8, started_us = ?9 WHERE id = ?1"},
        {&tables.m_titleRun, "UPDATE runs SET title = ?2 WHERE id = ?1"},
        {&tables.m_finishRun, "UPDATE runs SET status = ?2, answer = ?3, error = ?4, usage = ?5, finished_us = ?6 WHERE id = ?1"},
        {&tables.m_countRun, "UPDATE runs SET events = events + ?2, last_seq = max(last_seq, ?3) WHERE id = ?1"},
    };
    for (const auto &[slot, sql] : wanted) {
        auto statement = database.prepare(sql);
        if (!statement)
            return fail(statement.error());
        *slot = std::move(*statement);
    }
    return tables;
}

Result<JournalTables::RunRow *> JournalTables::runRow(const Event &event)
{
    const auto known = m_runs.find(event.run.value());
    if (known != m_runs.end())
        return &*known;
    const bool hidden = event.run.isEmpty(); // what the process itself reports, e.g. its configuration
    const QString key = hidden ? QStringLiteral("process:") + m_owner : event.run.value();
    RunRow row;
    m_findRun->bind(1, key);
    const auto found = m_findRun->step();
    if (found && *found) {
        row.id = m_findRun->integer(0);
        row.lastSeq = Seq(m_findRun->integer(1));
    }
    m_findRun->reset();
    if (!found)
        return fail(found.error());
    if (row.id == 0) {
        m_insertRun->bind(1, key).bind(2, qint64(hidden)).bind(3, m_owner).bind(4, qint64(event.time.time_since_epoch().count()));
        if (auto inserted = m_insertRun->run(); !inserted)
            return fail(inserted.error());
        row.id = m_database->lastInsertId();
    }
    return &*m_runs.insert(event.run.value(), row);
}

Result<void> JournalTables::runStarted(qint64 id, const Event &event, const RunStarted &body)
{
    m_startRun->bind(1, id).bind(2, body.thread).bind(3, titleOf(body.task)).bind(4, body.task).bind(5, body.model);
    m_startRun->bind(6, body.sandbox).bind(7, body.workspace);
    if (body.channelUserId)
        m_startRun->bind(8, *body.channelUserId);
    m_startRun->bind(9, qint64(event.time.time_since_epoch().count()));
    return m_startRun->run();
}

Result<void> JournalTables::runFinished(qint64 id, const Event &event, const RunFinished &body)
{
    m_finishRun->bind(1, id).bind(2, body.status).bind(3, body.answer);
    if (body.error)
        m_finishRun->bind(4, *body.error);
    m_finishRun->bindText(5, dumpJson(usageToJson(body.usage)));
    m_finishRun->bind(6, qint64(event.time.time_since_epoch().count()));
    return m_finishRun->run();
}

Result<void> JournalTables::addEvent(const Event &event, const Json &fields)
{
    if (event.seq == 0 || event.seq > largestSeq)
        return fail(ErrorCode::InvalidArgument, QStringLiteral("The sequence number %1 of an event is out of range").arg(event.seq));
    const auto row = runRow(event);
    if (!row)
        return fail(row.error());
    m_insertEvent->bind(1, qint64((quint64((*row)->id) << seqBits) | event.seq));
    m_insertEvent->bind(2, event.agent.value()).bind(3, eventType(event.body));
    m_insertEvent->bind(4, qint64(event.time.time_since_epoch().count())).bind(5, qint64(event.mono.count()));
    m_insertEvent->bind(6, qint64(event.span)).bind(7, qint64(event.parent));
    bindStored(*m_insertEvent, 8, dumpJson(fields));
    if (auto inserted = m_insertEvent->run(); !inserted)
        return inserted;
    if (m_database->changes() == 0)
        return {};
    ++(*row)->added;
    (*row)->lastSeq = std::max((*row)->lastSeq, event.seq);
    if (const auto *started = std::get_if<RunStarted>(&event.body))
        return runStarted((*row)->id, event, *started);
    if (const auto *finished = std::get_if<RunFinished>(&event.body))
        return runFinished((*row)->id, event, *finished);
    if (const auto *acted = std::get_if<MiddlewareActed>(&event.body); acted && isBetterTitle(*acted)) {
        m_titleRun->bind(1, (*row)->id).bind(2, titleOf(stringOf(acted->changes, "title")));
        return m_titleRun->run();
    }
    if (const auto *reply = std::get_if<ModelResponded>(&event.body); reply && reply->message)
        return addMessage(contentHash(reply->message), *reply->message);
    return {};
}

Result<void> JournalTables::addMessage(const QString &hash, const Message &message)
{
    if (m_blobs.contains(hash))
        return {};
    m_insertBlob->bindBlob(1, QByteArray::fromHex(hash.toLatin1()));
    bindStored(*m_insertBlob, 2, dumpJson(messageToStoredJson(message)));
    if (auto inserted = m_insertBlob->run(); !inserted)
        return inserted;
    if (m_blobs.size() >= mostRememberedBlobs)
        m_blobs.clear();
    m_blobs.insert(hash);
    return {};
}

Result<void> JournalTables::updateRuns()
{
    for (RunRow &row : m_runs) {
        if (row.added == 0)
            continue;
        m_countRun->bind(1, row.id).bind(2, row.added).bind(3, qint64(row.lastSeq));
        if (auto updated = m_countRun->run(); !updated)
            return updated;
        row.added = 0;
    }
    return {};
}

void JournalTables::forget()
{
    m_runs.clear();
    m_blobs.clear();
}

} // namespace paddock
