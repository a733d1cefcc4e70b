// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/event/event_codec.h"
#include "core/journal/journal.h"
#include "core/journal/journal_reader.h"

#include <QTemporaryDir>
#include <QTest>

namespace paddock::test {

/// Long enough that only a hang reaches it.
constexpr std::chrono::seconds patience{30};

inline EventBody someEvent(int n)
{
    return AgentQueued{n};
}

inline RunStarted started(const QString &task)
{
    return RunStarted{.thread = QStringLiteral("t1"), .task = task, .model = QStringLiteral("scripted"), .sandbox = QStringLiteral("embedded"),
                      .workspace = QStringLiteral("/w"), .channelUserId = QStringLiteral("u1")};
}

inline ModelResponded reply(const Usage &usage)
{
    ModelResponded body;
    body.usage = usage;
    return body;
}

/// A journal with a bus in a folder of its own.
struct Setup {
    explicit Setup(QString dataFolder, JournalOptions options = {}) : folder(std::move(dataFolder))
    {
        options.folder = folder;
        options.retry = std::chrono::milliseconds(1);
        options.retryMax = std::chrono::milliseconds(5);
        auto opened = Journal::open(std::move(options));
        if (!opened) {
            error = opened.error();
            return;
        }
        journal = std::move(*opened);
        bus = std::make_shared<EventBus>(Clock::system(), journal->nextSeq());
        journal->attach(bus);
    }
    Seq append(const QString &run, EventBody body) const { return bus->append(RunId(run), leadAgent(), std::move(body)); }
    Result<void> flush() const { return journal->flushBlocking(bus->lastSeq(), patience); }

    QString folder;
    std::unique_ptr<Journal> journal;
    std::shared_ptr<EventBus> bus;
    std::optional<Error> error;
};

inline std::vector<StoredEvent> allEvents(JournalReader &reader, const QString &run, int page = 3)
{
    std::vector<StoredEvent> all;
    for (Seq after = 0;;) {
        auto got = reader.events(RunId(run), after, page);
        if (!got) {
            qWarning("%ls", qUtf16Printable(got.error().message));
            return all;
        }
        for (StoredEvent &event : got->events) {
            after = event.event->seq;
            all.push_back(std::move(event));
        }
        if (!got->more)
            return all;
    }
}

} // namespace paddock::test
