// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/run/stored_runs.h"

#include "core/base/pool.h"
#include "core/journal/journal_export.h"
#include "core/run/log_limit.h"

#include <QDir>

namespace paddock {

namespace {
constexpr int eventsPerPage = 2000;

/// What could not be read is told where the reader looks for it: as the last event.
std::shared_ptr<const Event> unreadable(const RunId &run, const Error &error, const std::shared_ptr<const Event> &last)
{
    auto event = last ? std::make_shared<Event>(*last) : std::make_shared<Event>();
    event->seq = 0;
    event->run = run;
    event->agent = leadAgent();
    event->span = event->parent = 0;
    event->body = LogRecorded{QStringLiteral("error"), error.fullMessage(), false};
    return event;
}

} // namespace

RunSummary summaryOf(const StoredRun &run)
{
    RunSummary s;
    s.id = run.id;
    s.thread = run.thread;
    s.title = run.title;
    s.task = run.task;
    s.status = run.status;
    s.model = run.model;
    s.workspace = run.workspace;
    s.started = run.started;
    s.finished = run.finished;
    s.usage = run.usage;
    s.events = run.events;
    return s;
}

void listStored(const QString &folder, LoopRef owner, std::function<void(std::vector<RunSummary>)> done)
{
    runInPool([folder, owner, done = std::move(done)] {
        std::vector<RunSummary> list;
        if (auto reader = JournalReader::open(folder)) {
            if (auto runs = reader->runs()) {
                for (const StoredRun &run : *runs)
                    list.push_back(summaryOf(run));
            }
        }
        owner.post([done, list = std::move(list)] { done(list); });
    });
}

void loadStored(const QString &folder, const RunId &run, LoopRef owner,
                std::function<void(std::vector<std::shared_ptr<const Event>>, bool)> batch)
{
    runInPool([folder, run, owner, batch = std::move(batch)] {
        auto reader = JournalReader::open(folder);
        Seq after = 0;
        bool more = reader.has_value();
        std::shared_ptr<const Event> newest;
        std::optional<Error> problem;
        qint64 eventsRead = 0;
        bool holed = false;
        if (!reader && reader.error().code != ErrorCode::NotFound)
            problem = reader.error();
        while (more) {
            auto page = reader->events(run, after, eventsPerPage);
            if (!page) {
                if (page.error().code != ErrorCode::NotFound) // an unknown run has no events
                    problem = Error{page.error().code, QStringLiteral("The rest of this run cannot be read: %1").arg(page.error().fullMessage()),
                                    Json::object(), nullptr};
                break;
            }
            more = page->more;
            holed = holed || page->holed;
            eventsRead += qint64(page->events.size());
            std::vector<std::shared_ptr<const Event>> events;
            for (const StoredEvent &stored : page->events) {
                after = stored.event->seq;
                events.push_back(stored.event);
            }
            if (!events.empty())
                newest = events.back();
            owner.post([batch, events = std::move(events)] { batch(events, false); });
        }
        if (holed && !problem)
            problem = reader->holesIn(run, eventsRead);
        if (problem)
            owner.post([batch, event = unreadable(run, *problem, newest)] { batch({event}, false); });
        owner.post([batch] { batch({}, true); });
    });
}

void messageStored(const QString &folder, const QString &hash, LoopRef owner, std::function<void(MessagePtr)> done)
{
    runInPool([folder, hash, owner, done = std::move(done)] {
        MessagePtr message;
        if (auto reader = JournalReader::open(folder)) {
            if (auto found = reader->message(hash))
                message = *found;
        }
        owner.post([done, message] { done(message); });
    });
}

void exportStored(const QString &folder, const RunId &run, const QString &format, const QString &path, LoopRef owner,
                  std::function<void(QString)> done)
{
    runInPool([=] {
        QString problem;
        auto reader = JournalReader::open(folder);
        if (!reader)
            problem = reader.error().fullMessage();
        else if (auto written = exportRun(*reader, run, format, path); !written)
            problem = written.error().fullMessage();
        owner.post([done, problem] { done(problem); });
    });
}

Result<RunId> resolveStored(const QString &folder, const QString &prefix)
{
    auto reader = JournalReader::open(folder);
    if (!reader)
        return fail(reader.error());
    return reader->resolve(prefix);
}

std::pair<QString, QString> placeOfStored(const QString &folder, const RunId &run)
{
    if (auto reader = JournalReader::open(folder)) {
        if (auto stored = reader->run(run))
            return {stored->thread, stored->workspace};
    }
    return {};
}

bool areLogsGone(const QString &folder, const RunId &run)
{
    const QString thread = placeOfStored(folder, run).first;
    return !thread.isEmpty() && QDir(shellLogFolder(folder, {})).exists() && !QDir(shellLogFolder(folder, thread)).exists();
}

} // namespace paddock
