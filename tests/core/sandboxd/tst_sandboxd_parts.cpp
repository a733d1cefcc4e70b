// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// The pure parts of the server: buffers, globs, multipart, WebSocket frames, routes.
#include "core/base/text.h"
#include "core/sandboxd/bash_command.h"
#include "core/sandboxd/glob_pattern.h"
#include "core/sandboxd/multipart.h"
#include "core/sandboxd/output_buffer.h"
#include "core/sandboxd/router.h"
#include "core/sandboxd/shell_stream.h"
#include "core/sandboxd/websocket.h"
#include "tests/support/test_main.h"

#include <QRandomGenerator>
#include <QTest>

namespace tst_sandboxd_parts {

using namespace paddock;
using namespace paddock::sandboxd;

class TestSandboxdParts : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void ringKeepsTheEnd();
    void headAndTail();
    void headAndTailInAnyPieces();
    void filterInAnyPieces();
    void streamLogSlices();
    void slowReaderSkips();
    void globs_data();
    void globs();
    void multipartInAnyPieces();
    void multipartFaults();
    void frames();
    void frameFaults();
    void routes();
    void queries();
};

void TestSandboxdParts::ringKeepsTheEnd()
{
    QRandomGenerator random(3);
    ByteRing ring(1000);
    QByteArray all;
    for (int i = 0; i < 400; ++i) {
        QByteArray bytes;
        for (int n = random.bounded(0, i % 50 == 0 ? 3000 : 90); n > 0; --n)
            bytes.append(char(random.bounded(256)));
        ring.append(bytes);
        all += bytes;
        QCOMPARE(ring.end(), all.size());
        QCOMPARE(ring.all(), all.right(1000));
        const qint64 from = ring.begin() + random.bounded(int(ring.end() - ring.begin() + 1));
        QCOMPARE(ring.mid(from, 50), all.mid(from, 50));
    }
}

void TestSandboxdParts::headAndTail()
{
    HeadTailBuffer buffer(20, 20);
    buffer.append("short\n");
    QCOMPARE(buffer.text(0, true), QStringLiteral("short"));
    QCOMPARE(buffer.text(0, false), QStringLiteral("short\n"));
    HeadTailBuffer big(20, 20);
    big.append(QByteArray(100, 'a') + "\n");
    QCOMPARE(big.text(0, true), QString(20, u'a') + QStringLiteral("\n... [61 characters truncated] ...\n") + QString(19, u'a'));
    QCOMPARE(truncateMiddle(QString(40000, u'a'), 30000).size(), 30000 + QStringLiteral("\n... [10000 characters truncated] ...\n").size());
}

void TestSandboxdParts::headAndTailInAnyPieces()
{
    // The number of characters told as cut off is exact whatever the pieces and wherever code points fall.
    QRandomGenerator random(5);
    const QString alphabet = QStringLiteral("aé€\U0001F600\n");
    for (int round = 0; round < 200; ++round) {
        QString text;
        for (int n = random.bounded(400); n > 0; --n) {
            static const QStringList letters{QStringLiteral("a"), QStringLiteral("é"), QStringLiteral("€"), QStringLiteral("\U0001F600"), QStringLiteral("\n")};
            text += letters.at(random.bounded(5));
        }
        const QByteArray bytes = text.toUtf8();
        HeadTailBuffer buffer(50, 50);
        for (qsizetype at = 0; at < bytes.size();) {
            const qsizetype count = qMin<qsizetype>(random.bounded(1, 40), bytes.size() - at);
            buffer.append(QByteArrayView(bytes).sliced(at, count));
            at += count;
        }
        const QString got = buffer.text(0, false);
        QVERIFY(!got.contains(QChar::ReplacementCharacter));
        static const QRegularExpression marker(QStringLiteral("\\n\\.\\.\\. \\[(\\d+) characters truncated\\] \\.\\.\\.\\n"));
        const auto match = marker.match(got);
        if (!match.hasMatch()) {
            QCOMPARE(got, text);
            continue;
        }
        const QString head = got.left(match.capturedStart()), tail = got.mid(match.capturedEnd());
        QVERIFY(text.startsWith(head) && text.endsWith(tail));
        QCOMPARE(match.captured(1).toLongLong(), codePointCount(text) - codePointCount(head) - codePointCount(tail));
    }
}

void TestSandboxdParts::filterInAnyPieces()
{
    const QByteArray raw = "a\r\nb\r\r\nc\rd\x1b[?2004hx\x1b[?2004l\x1b[31mred\x1b[0m\x1b[?25h\r";
    const QByteArray expected = "a\nb\r\nc\rdx\x1b[31mred\x1b[0m\x1b[?25h\r";
    for (qsizetype piece = 1; piece <= raw.size(); ++piece) {
        HeadTailBuffer out(1000, 1000);
        OutputFilter filter;
        for (qsizetype at = 0; at < raw.size(); at += piece)
            filter.feed(QByteArrayView(raw).sliced(at, qMin(piece, raw.size() - at)), out);
        filter.finish(out);
        QCOMPARE(out.text(0, false).toUtf8(), expected);
    }
}

void TestSandboxdParts::streamLogSlices()
{
    StreamLog log;
    log.append("a\xe2\x82");
    auto slice = log.from(0, false);
    QCOMPARE(slice.text, QStringLiteral("a"));
    QCOMPARE(slice.offset, 1); // the cut character waits
    log.append("\xac!");
    slice = log.from(slice.offset, false);
    QCOMPARE(slice.text, QStringLiteral("€!"));
    QCOMPARE(log.from(99, false).offset, 99);
    StreamLog big;
    for (int i = 0; i < 40; ++i)
        big.append(QByteArray(1024 * 1024, 'x'));
    const QString text = big.text(1000);
    QVERIFY(text.startsWith(QString(500, u'x')) && text.endsWith(QString(500, u'x')));
    QVERIFY(text.contains(QStringLiteral("[%1 characters truncated]").arg(40 * 1024 * 1024 - 1000)));
    QCOMPARE(big.from(0, true).text.size(), 1024 * 1024);
}

void TestSandboxdParts::slowReaderSkips()
{
    ByteRing ring(1024 * 1024);
    ring.append("hello\r\n");
    RingReader reader(ring, replayBytes);
    QByteArray buffer(1 << 20, Qt::Uninitialized);
    QCOMPARE(buffer.left(reader.read(ring, buffer.data(), buffer.size())), QByteArray("hello\r\n"));
    QCOMPARE(reader.read(ring, buffer.data(), buffer.size()), 0);
    for (int i = 0; i < 40'000; ++i)
        ring.append("0123456789012345678901234567890123456789\r\n");
    QByteArray got;
    while (const qint64 count = reader.read(ring, buffer.data(), buffer.size()))
        got += buffer.left(count);
    QVERIFY(got.contains("bytes skipped]"));
    QVERIFY(got.size() < 100'000 && got.endsWith("6789\r\n"));
}

void TestSandboxdParts::globs_data()
{
    QTest::addColumn<QString>("pattern");
    QTest::addColumn<QString>("path");
    QTest::addColumn<bool>("expected");
    const auto row = [](const char *pattern, const char *path, bool expected) {
        QTest::newRow(qPrintable(QStringLiteral("%1 ~ %2").arg(QLatin1String(pattern), QString::fromUtf8(path))))
            << QString::fromUtf8(pattern) << QString::fromUtf8(path) << expected;
    };
    row("**/*.py", "a.py", true);
    row("**/*.py", "s/t/b.py", true);
    row("**/*.py", ".h/c.py", false);
    row("**/*.py", "s/.c.py", false);
    row("*.py", "s/a.py", false);
    row("*", ".a", false);
    row(".*", ".a", true);
    row("**", "a/b/c", true);
    row("a/**/b", "a/b", true);
    row("a/**/b", "a/x/y/b", true);
    row("a?c", "aéc", true);
    row("a?c", "a\xF0\x9F\x98\x80" "c", true);
    row("[a-c]x", "bx", true);
    row("[!a-c]x", "bx", false);
    row("[]]x", "]x", true);
    row("[x", "[x", true);
    row("a*b*c", "aXXbYYc", true);
    row("a*b*c", "aXXbYY", false);
    row("src/*.c", "src/a.c", true);
    row("", "a", false);
}

void TestSandboxdParts::globs()
{
    QFETCH(QString, pattern);
    QFETCH(QString, path);
    QFETCH(bool, expected);
    QCOMPARE(GlobPattern(pattern).matches(path), expected);
}

void TestSandboxdParts::multipartInAnyPieces()
{
    QByteArray content;
    for (int c = 0; c < 256; ++c)
        content.append(char(c));
    content += "\r\n--BOUN D\r\n-\r\n--BOUN";
    const QByteArray body = "preamble\r\n--BOUND\r\nContent-Disposition: form-data; name=\"path\"\r\n\r\n/tmp/a b\r\n--BOUND\r\n"
                            "Content-Disposition: form-data; name=\"file\"; filename=\"q\\\"x.bin\"\r\nContent-Type: a/b\r\n\r\n" + content
        + "\r\n--BOUND\r\nContent-Disposition: form-data; name=\"empty\"\r\n\r\n\r\n--BOUND--\r\nepilogue";
    for (qsizetype piece : {1, 2, 3, 7, 50, 1000}) {
        QStringList names;
        QByteArrayList bodies;
        MultipartReader reader("BOUND", {[&](const MultipartReader::Part &part) {
                                             names << part.name + u'/' + part.fileName.value_or(QStringLiteral("-"));
                                             bodies << QByteArray();
                                         },
                                         [&](QByteArrayView bytes) { bodies.last().append(bytes); }, [] {}});
        for (qsizetype at = 0; at < body.size(); at += piece)
            QVERIFY(reader.feed(QByteArrayView(body).sliced(at, qMin(piece, body.size() - at))));
        QVERIFY(reader.complete());
        QCOMPARE(names, (QStringList{QStringLiteral("path/-"), QStringLiteral("file/q\"x.bin"), QStringLiteral("empty/-")}));
        QCOMPARE(bodies[0], QByteArray("/tmp/a b"));
        QCOMPARE(bodies[1], content);
        QCOMPARE(bodies[2], QByteArray());
    }
    QCOMPARE(*multipartBoundary("multipart/form-data; charset=x; boundary=\"a b\""), QByteArray("a b"));
    QVERIFY(!multipartBoundary("application/json"));
}

void TestSandboxdParts::multipartFaults()
{
    const auto fed = [](const QByteArray &body, bool *complete) {
        MultipartReader reader("B", {[](const MultipartReader::Part &) {}, [](QByteArrayView) {}, [] {}});
        const bool good = reader.feed(body);
        *complete = reader.complete();
        return good;
    };
    bool complete = false;
    QVERIFY(!fed("--B\r\nX: y\r\n\r\nz\r\n--B--", &complete));         // a part without a name
    QVERIFY(!fed("--Bxx\r\n", &complete));                               // not a boundary line
    QVERIFY(!fed("--B\r\n" + QByteArray(20'000, 'h'), &complete));       // endless headers
    QVERIFY(fed("--B\r\nContent-Disposition: form-data; name=a\r\n\r\nz", &complete) && !complete); // cut off
}

namespace {

QByteArray masked(int first, const QByteArray &payload)
{
    QByteArray frame(1, char(first));
    if (payload.size() < 126)
        frame.append(char(0x80 | payload.size()));
    else
        frame.append(char(0x80 | 126)).append(char(payload.size() >> 8)).append(char(payload.size() & 0xff));
    frame.append("\1\2\3\4");
    for (qsizetype i = 0; i < payload.size(); ++i)
        frame.append(char(payload[i] ^ (1 + (i & 3))));
    return frame;
}

} // namespace

void TestSandboxdParts::frames()
{
    QCOMPARE(websocket::acceptKey("dGhlIHNhbXBsZSBub25jZQ=="), QByteArray("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
    const QByteArray stream = masked(0x81, "one") + masked(0x01, "tw") + masked(0x89, "ping") + masked(0x80, "o") + masked(0x81, QByteArray(300, 'x'));
    for (qsizetype piece : {1, 2, 5, 1000}) {
        websocket::Reader reader(1024);
        QByteArrayList got;
        for (qsizetype at = 0; at < stream.size(); at += piece) {
            reader.feed(QByteArrayView(stream).sliced(at, qMin(piece, stream.size() - at)));
            while (const auto message = reader.next())
                got << message->payload;
        }
        QCOMPARE(got, (QByteArrayList{"one", "ping", "two", QByteArray(300, 'x')}));
        QCOMPARE(reader.closeCode(), 0);
    }
}

void TestSandboxdParts::frameFaults()
{
    const auto code = [](const QByteArray &bytes) {
        websocket::Reader reader(200);
        reader.feed(bytes);
        while (reader.next()) { }
        return reader.closeCode();
    };
    QCOMPARE(code(QByteArray("\x81\x01x", 3)), 1002);        // not masked
    QCOMPARE(code(masked(0x80, "x")), 1002);                   // continuation of nothing
    QCOMPARE(code(masked(0x01, "x") + masked(0x81, "y")), 1002);
    QCOMPARE(code(masked(0x09, "x")), 1002);                   // a control frame in pieces
    QCOMPARE(code(masked(0xc1, "x")), 1002);                   // an extension nobody agreed on
    QCOMPARE(code(masked(0x81, QByteArray(300, 'x'))), 1009);
    QCOMPARE(code(masked(0x01, QByteArray(150, 'x')) + masked(0x80, QByteArray(150, 'x'))), 1009);
    QCOMPARE(code(QByteArray("\x81\xff\xff\xff\xff\xff\xff\xff\xff\xff", 10)), 1009);
}

void TestSandboxdParts::routes()
{
    Router router;
    router.add("GET", "/v1/shell/sessions", [](const ExchangePtr &, const QString &) {});
    router.add("GET", "/v1/shell/sessions/stats", [](const ExchangePtr &, const QString &) {});
    router.add("DELETE", "/v1/shell/sessions/{id}", [](const ExchangePtr &, const QString &) {});
    router.add("POST", "/v1/bash/sessions/{id}/close", [](const ExchangePtr &, const QString &) {});
    using Kind = Router::Match::Kind;
    QCOMPARE(router.match("DELETE", "/v1/shell/sessions/app%3Aa%20b").id, QStringLiteral("app:a b"));
    QCOMPARE(router.match("DELETE", "/v1/shell/sessions/a/b").id, QStringLiteral("a/b"));
    QCOMPARE(router.match("DELETE", "/v1/shell/sessions/a%2Fb").id, QStringLiteral("a/b"));
    QCOMPARE(router.match("POST", "/v1/bash/sessions/x/close").id, QStringLiteral("x"));
    QVERIFY(router.match("GET", "/v1/shell/sessions/stats").kind == Kind::Found);
    QVERIFY(router.match("PUT", "/v1/shell/sessions").kind == Kind::WrongMethod);
    QVERIFY(router.match("GET", "/v1/nope").kind == Kind::Unknown);
    QVERIFY(router.match("POST", "/v1/jupyter/execute").kind == Kind::NotImplemented);
    QVERIFY(router.match("GET", "/v1/jupyter/execute").kind == Kind::WrongMethod);
    QCOMPARE(router.match("POST", "/v1/mcp/a/tools/b").capability, QStringLiteral("mcp"));
    QVERIFY(router.match("DELETE", "/v1/jupyter/sessions/x").kind == Kind::NotImplemented);
    QVERIFY(router.match("POST", "/v1/file/watch/w1/wait").kind == Kind::NotImplemented);
}

void TestSandboxdParts::queries()
{
    const auto query = parseQuery("path=%2Ftmp%2Fa+b%26&x&y=1=2&bad=%zz");
    QCOMPARE(query.value("path"), QByteArray("/tmp/a b&"));
    QVERIFY(query.contains("x"));
    QCOMPARE(query.value("y"), QByteArray("1=2"));
    QCOMPARE(query.value("bad"), QByteArray("%zz"));
}

} // namespace tst_sandboxd_parts

PADDOCK_TEST(tst_sandboxd_parts, TestSandboxdParts)
#include "tst_sandboxd_parts.moc"
