// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/event/event_codec.h"
#include "core/journal/journal_export.h"

#include <QFile>
#include <QFileInfo>
#include <QSaveFile>

#include <unistd.h>

namespace paddock {

namespace {

/// Pieces of about this size reach the sink.
constexpr qsizetype pieceSize = 64 * 1024;

Result<void> writeTo(QIODevice &device, const QByteArray &piece, const QString &path)
{
    if (device.write(piece) != piece.size())
        return fail(ErrorCode::Io, QStringLiteral("Writing %1 stopped: %2.").arg(path, device.errorString()));
    return {};
}

using Exporter = Result<void> (*)(JournalReader &, const RunId &, const ExportSink &);

Exporter exporterOf(const QString &format)
{
    if (format == u"jsonl")
        return exportJsonl;
    if (format == u"markdown")
        return exportMarkdown;
    if (format == u"otlp")
        return exportOtlp;
    return nullptr;
}

} // namespace

Result<void> exportJsonl(JournalReader &reader, const RunId &run, const ExportSink &sink)
{
    Seq after = 0;
    qint64 eventsRead = 0;
    bool holed = false;
    QByteArray piece;
    for (;;) {
        const auto page = reader.events(run, after);
        if (!page)
            return fail(page.error());
        eventsRead += qint64(page->events.size());
        holed = holed || page->holed;
        for (const StoredEvent &stored : page->events) {
            piece += encodeEvent(*stored.event, stored.fields);
            piece += '\n';
            after = stored.event->seq;
            if (piece.size() >= pieceSize) {
                if (auto written = sink(piece); !written)
                    return written;
                piece.clear();
            }
        }
        if (page->more)
            continue;
        if (auto written = piece.isEmpty() ? Result<void>() : sink(piece); !written || !holed)
            return written;
        return fail(reader.holesIn(run, eventsRead));
    }
}

Result<void> exportRun(JournalReader &reader, const RunId &run, const QString &format, const QString &path)
{
    const Exporter exporter = exporterOf(format);
    if (!exporter)
        return fail(ErrorCode::InvalidArgument, QStringLiteral("The format '%1' is not known; choose jsonl, markdown or otlp.").arg(format));
    if (path.isEmpty()) {
        // The descriptor itself: opening it anew by a name would cut what stands before, and needs rights of its own.
        const QString shown = QStringLiteral("standard output");
        QFile out;
        if (!out.open(STDOUT_FILENO, QIODevice::WriteOnly | QIODevice::Unbuffered))
            return fail(ErrorCode::Io, QStringLiteral("%1 cannot be written: %2.").arg(shown, out.errorString()));
        return exporter(reader, run, [&](const QByteArray &piece) { return writeTo(out, piece, shown); });
    }
    const QFileInfo target(path);
    if (target.exists() && !target.isFile()) { // a pipe or a terminal
        QFile file(path);
        if (!file.open(QIODevice::WriteOnly))
            return fail(ErrorCode::Io, QStringLiteral("%1 cannot be written: %2.").arg(path, file.errorString()));
        auto done = exporter(reader, run, [&](const QByteArray &piece) { return writeTo(file, piece, path); });
        if (done && !file.flush())
            return fail(ErrorCode::Io, QStringLiteral("Writing %1 stopped: %2.").arg(path, file.errorString()));
        return done;
    }
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly))
        return fail(ErrorCode::Io, QStringLiteral("%1 cannot be written: %2.").arg(path, file.errorString()));
    auto done = exporter(reader, run, [&](const QByteArray &piece) { return writeTo(file, piece, path); });
    const bool isPartial = !done && done.error().code == ErrorCode::DataLoss && file.pos() > 0; // what could be read is worth keeping
    if (!done && !isPartial)
        return done;
    if (!file.commit())
        return fail(ErrorCode::Io, QStringLiteral("Writing %1 stopped: %2.").arg(path, file.errorString()));
    return done;
}

} // namespace paddock
