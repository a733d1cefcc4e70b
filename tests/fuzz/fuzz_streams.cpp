// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
//
// Parsers that are fed as bytes come: however a stream is cut, it must mean the same.
#include "core/sandbox/aio/http_parser.h"
#include "core/sandboxd/multipart.h"
#include "core/sandboxd/shell_protocol.h"
#include "core/sandboxd/websocket.h"
#include "core/term/terminal.h"
#include "tests/fuzz/fuzz_targets.h"

#include <QStringList>

namespace paddock::fuzz {
namespace {

using namespace sandboxd;

struct Upload {
    bool good = true;
    bool complete = false;
    QByteArray log; ///< parts and their bytes, in order
};

Upload upload(const QByteArray &input, bool whole)
{
    Upload out;
    int depth = 0;
    MultipartReader reader("b", {[&](const MultipartReader::Part &part) {
                                     promise(++depth == 1, "a part begins when the last one has ended");
                                     out.log += "\n<" + part.name.toUtf8() + '|' + part.fileName.value_or(QString()).toUtf8() + '>';
                                 },
                                 [&](QByteArrayView bytes) {
                                     promise(depth == 1, "bytes belong to a part");
                                     out.log += bytes;
                                 },
                                 [&] {
                                     promise(--depth == 0, "what ends has begun");
                                     out.log += "</>";
                                 }});
    const auto feed = [&](const QByteArray &bytes) { out.good = out.good && reader.feed(bytes); };
    if (whole)
        feed(input);
    else
        inPieces(input, feed);
    out.complete = reader.complete();
    return out;
}

QByteArrayList framesOf(const QByteArray &input, bool whole)
{
    websocket::Reader reader(1 << 16);
    QByteArrayList out;
    const auto feed = [&](const QByteArray &bytes) {
        reader.feed(bytes);
        while (const auto message = reader.next())
            out << QByteArray::number(int(message->opcode)) + ':' + message->payload;
    };
    if (whole)
        feed(input);
    else
        inPieces(input, feed);
    out << "closed " + QByteArray::number(reader.closeCode());
    return out;
}

/// nullopt: the channel was given up.
std::optional<QByteArrayList> recordsOf(const QByteArray &input, bool whole)
{
    RecordReader reader;
    std::optional<QByteArrayList> out = QByteArrayList();
    const auto feed = [&](const QByteArray &bytes) {
        const auto records = out ? reader.feed(bytes) : std::nullopt;
        if (!records)
            return out.reset();
        for (const ShellRecord &record : *records) {
            promise(record.exitCode() >= 0 && record.exitCode() <= 255, "an exit code of a process");
            const QByteArray pipes = record.state().pipeStatus;
            promise(std::ranges::all_of(pipes, [](char c) { return (c >= '0' && c <= '9') || c == ' '; }), "only numbers go back into a shell");
            *out << QByteArray::number(int(record.kind)) + '/' + QByteArray::number(qulonglong(record.sequence)) + '/' + record.directory + '/'
                    + record.text;
        }
    };
    if (whole)
        feed(input);
    else
        inPieces(input, feed);
    return out;
}

QStringList screenOf(const QByteArray &input, bool whole)
{
    Terminal terminal(24, 6, {.scrollback = 40, .maxColumns = 80, .maxRows = 40});
    if (whole)
        terminal.feed(input);
    else
        inPieces(input, [&](const QByteArray &bytes) { terminal.feed(bytes); });
    const TermSnapshot all = terminal.snapshot(0, 100);
    promise(all.columns == 24 && all.screenRows == 6, "no program changes the size");
    promise(all.endRow - all.oldestRow <= 46 && all.cursorRow >= all.oldestRow && all.cursorRow < all.endRow, "rows within their limits");
    promise(all.cursorColumn >= 0 && all.cursorColumn <= all.columns, "the cursor is on the screen");
    QStringList out{QStringLiteral("%1 %2 %3").arg(all.endRow).arg(all.cursorRow).arg(all.cursorColumn)};
    for (const TermRow &row : all.rows) {
        promise(row.cells.size() <= std::size_t(all.columns), "a row is as wide as the screen");
        for (const Cell &cell : row.cells) {
            promise(cell.style < all.styles.size(), "a cell's style is known");
            promise(cell.combining <= row.combined.size(), "combined characters are kept");
        }
        out << row.text();
    }
    return out;
}

/// Whether an accent finds its letter at the right margin is libvterm's business and follows the cuts.
bool isPlain(const QByteArray &input)
{
    const QList<uint> characters = QString::fromUtf8(input).toUcs4();
    return std::ranges::none_of(characters, [](uint c) {
        return QChar::isMark(c) || QChar::category(c) == QChar::Other_Format;
    });
}

} // namespace

void httpReply(const QByteArray &input)
{
    const auto parse = [&](bool whole) {
        aio::HttpParser parser({.headBytes = 4096, .bodyBytes = 4096});
        if (whole)
            parser.feed(input);
        else
            inPieces(input, [&](const QByteArray &bytes) { parser.feed(bytes); });
        return parser;
    };
    aio::HttpParser whole = parse(true);
    aio::HttpParser pieces = parse(false);
    promise(whole.state() == pieces.state(), "a reply means the same in any pieces");
    for (aio::HttpParser *parser : {&whole, &pieces})
        parser->end();
    promise(whole.state() == aio::HttpParser::State::Done || whole.state() == aio::HttpParser::State::Failed, "the end ends it");
    promise(whole.state() == pieces.state(), "and so it does at the end");
    if (whole.state() == aio::HttpParser::State::Failed)
        return promise(!whole.error().isEmpty(), "an error without words");
    const wire::RawReply one = whole.takeReply();
    const wire::RawReply other = pieces.takeReply();
    promise(one.status == other.status && one.headers == other.headers && one.body == other.body, "the same reply");
    promise((one.status == 101 || one.status >= 200) && one.status <= 999 && one.body.size() <= 4096, "a final reply within its limits");
}

void multipart(const QByteArray &input)
{
    const Upload whole = upload(input, true);
    const Upload pieces = upload(input, false);
    promise(whole.good == pieces.good && whole.complete == pieces.complete, "an upload means the same in any pieces");
    if (whole.good)
        promise(whole.log == pieces.log, "the same parts");
    (void)multipartBoundary(input.left(200));
}

void websocket(const QByteArray &input)
{
    promise(framesOf(input, true) == framesOf(input, false), "frames mean the same in any pieces");
}

void shellRecords(const QByteArray &input)
{
    promise(recordsOf(input, true) == recordsOf(input, false), "records mean the same in any pieces");
    const QByteArray word = shellWord(input);
    promise(!word.contains('\n') && word.startsWith("$'") && word.endsWith('\''), "a word is one line");
    (void)completeness(input);
}

void terminal(const QByteArray &input)
{
    const QStringList whole = screenOf(input, true);
    const QStringList pieces = screenOf(input, false);
    promise(!isPlain(input) || whole == pieces, "output looks the same in any pieces");
}

} // namespace paddock::fuzz
