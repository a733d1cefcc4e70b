// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/event/event_codec.h"
#include "core/journal/database.h"
#include "core/journal/journal_import.h"
#include "core/journal/journal_tables.h"

#include <map>

namespace paddock {

namespace {

constexpr qint64 longestLine = 64 * 1024 * 1024;
constexpr std::size_t mostEvents = 5'000'000;
constexpr int lineDepth = 256;

struct Parsed {
    Event event;
    Json fields;
};

Error atLine(qint64 line, Error error)
{
    error.message = QStringLiteral("Line %1: %2").arg(line).arg(error.message);
    error.details["line"] = line;
    return error;
}

Result<std::vector<Parsed>> parse(QIODevice &input)
{
    std::vector<Parsed> events;
    std::map<RunId, Seq> last;
    for (qint64 line = 1; !input.atEnd(); ++line) {
        const QByteArray text = input.readLine(longestLine);
        if (text.isEmpty())
            return fail(ErrorCode::Io, QStringLiteral("Reading stopped at line %1: %2").arg(line).arg(input.errorString()));
        if (text.size() >= longestLine - 1)
            return fail(ErrorCode::ResourceExhausted, QStringLiteral("Line %1 is longer than %2 bytes").arg(line).arg(longestLine));
        if (text.trimmed().isEmpty())
            continue;
        auto event = decodeEvent(text);
        if (!event)
            return fail(atLine(line, event.error()));
        if (event->run.isEmpty())
            continue; // what a process reported about itself belongs to no run
        Seq &previous = last[event->run];
        if (event->seq <= previous || event->seq > largestSeq / 2)
            return fail(ErrorCode::InvalidArgument,
                        QStringLiteral("Line %1: the sequence number %2 does not follow %3").arg(line).arg(event->seq).arg(previous));
        previous = event->seq;
        if (events.size() >= mostEvents)
            return fail(ErrorCode::ResourceExhausted, QStringLiteral("The file holds more than %1 events").arg(mostEvents));
        auto json = parseJson(text, lineDepth);
        events.push_back({std::move(*event), json ? fieldsOfLine(std::move(*json)) : Json::object()});
    }
    if (events.empty())
        return fail(ErrorCode::InvalidArgument, QStringLiteral("The file holds no event of a run"));
    return events;
}

Result<void> refuseKnown(Database &database, const std::vector<RunId> &runs)
{
    auto find = database.prepare("SELECT 1 FROM runs WHERE run = ?1");
    if (!find)
        return fail(find.error());
    for (const RunId &run : runs) {
        find->bind(1, run.value());
        const auto found = find->step();
        if (!found)
            return fail(found.error());
        if (*found)
            return fail(ErrorCode::AlreadyExists, QStringLiteral("The journal already has the run '%1'; nothing was imported.").arg(run.value()));
        find->reset();
    }
    return {};
}

} // namespace

Result<ImportResult> importJsonl(Journal &journal, QIODevice &input)
{
    const auto events = parse(input);
    if (!events)
        return fail(events.error());
    ImportResult result;
    result.events = qint64(events->size());
    for (const Parsed &parsed : *events) {
        if (std::find(result.runs.begin(), result.runs.end(), parsed.event.run) == result.runs.end())
            result.runs.push_back(parsed.event.run);
    }
    auto stored = journal.performBlocking([&](Database &database) -> Result<void> {
        if (auto fresh = refuseKnown(database, result.runs); !fresh)
            return fresh;
        auto tables = JournalTables::prepare(database, JournalTables::importOwner());
        if (!tables)
            return fail(tables.error());
        for (const Parsed &parsed : *events) {
            if (auto added = tables->addEvent(parsed.event, parsed.fields); !added)
                return added;
        }
        return tables->updateRuns();
    });
    if (!stored)
        return fail(stored.error());
    return result;
}

} // namespace paddock
