// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
//
// Events until the journal has acknowledged them, beside the same events as JSON lines in a file that is synced as often.
#include "core/event/event_codec.h"
#include "core/journal/journal.h"
#include "tests/bench/bench.h"

#include <QFile>
#include <QTemporaryDir>

#include <unistd.h>

namespace paddock::bench {
namespace {

constexpr int groupSize = 5000; ///< of the peer; the journal chooses its own

EventBody bodyOf(int i)
{
    if (i % 4 == 0)
        return ToolFinished{QStringLiteral("call_%1").arg(i), QStringLiteral("bash"), QStringLiteral("success"), 12, 400,
                            QStringLiteral("src/main.cpp:12: a line that a search has found"), {}};
    MiddlewareSpan span;
    span.name = QStringLiteral("loop_detection");
    span.hook = QStringLiteral("after_model");
    span.turn = i / 100;
    span.index = i % 20;
    span.startUs = 1000LL * i;
    span.durationUs = 3;
    return span;
}

Result<double> ours(const QString &folder, int count)
{
    JournalOptions options;
    options.folder = folder;
    options.mostHeld = count + groupSize;
    auto journal = Journal::open(options);
    if (!journal)
        return fail(journal.error());
    const auto bus = std::make_shared<EventBus>(Clock::system(), (*journal)->nextSeq());
    (*journal)->attach(bus);
    Result<void> saved;
    const double seconds = secondsOf([&] {
        for (int i = 0; i < count; ++i)
            bus->append(RunId(QStringLiteral("bench")), leadAgent(), bodyOf(i), SpanId(i + 1));
        saved = (*journal)->flushBlocking(bus->lastSeq(), std::chrono::minutes(2));
    });
    if (!saved)
        return fail(saved.error());
    if ((*journal)->committedSeq() < bus->lastSeq())
        return fail(ErrorCode::DataLoss, QStringLiteral("an acknowledged event is not stored"));
    return seconds;
}

Result<double> peers(const QString &folder, int count)
{
    QFile file(folder + QStringLiteral("/events.jsonl"));
    if (!file.open(QIODevice::WriteOnly | QIODevice::Unbuffered))
        return fail(ErrorCode::Io, file.errorString());
    bool good = true;
    const double seconds = secondsOf([&] {
        QByteArray group;
        for (int i = 1; i <= count; ++i) {
            Event event;
            event.seq = Seq(i);
            event.time = Clock::system()->wall();
            event.run = RunId(QStringLiteral("bench"));
            event.agent = leadAgent();
            event.span = SpanId(i);
            event.body = bodyOf(i - 1);
            group += encodeEvent(event) + '\n';
            if (i % groupSize == 0 || i == count) {
                good = good && file.write(group) == group.size() && ::fsync(file.handle()) == 0;
                group.clear();
            }
        }
    });
    if (!good)
        return fail(ErrorCode::Io, file.errorString());
    return seconds;
}

QString perSecond(double rate)
{
    return QStringLiteral("%1 events/s").arg(rate, 0, 'f', 0);
}

} // namespace

Readings eventsToJournal(const Scale &scale)
{
    const int count = scale.of(400'000, 500);
    std::vector<double> mine;
    std::vector<double> peer;
    for (int round = 0; round < scale.of(3, 1); ++round) {
        const QTemporaryDir folder;
        const auto own = ours(folder.path(), count);
        const auto other = own ? peers(folder.path(), count) : own;
        if (!other)
            return fail(other.error());
        mine.push_back(count / *own);
        peer.push_back(count / *other);
    }
    return QList<Reading>{{QStringLiteral("events to the journal, from append to acknowledged"), perSecond(median(mine)),
                           QStringLiteral("JSON lines in a synced file ") + perSecond(median(peer)), median(mine), 200'000,
                           QStringLiteral("events/s"), true}};
}

} // namespace paddock::bench
