// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/ids.h"
#include "core/base/text.h"
#include "tests/support/test_main.h"

#include <QRegularExpression>
#include <QSet>
#include <QTest>

namespace tst_text {

using namespace paddock;

class TestText : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void codePoints()
    {
        const QString smile = QString::fromUtf8("\xF0\x9F\x98\x80");
        const QString text = QStringLiteral("a") + smile + QStringLiteral("b") + smile;
        QCOMPARE(codePointCount(text), 4);
        QCOMPARE(firstCodePoints(text, 2), QStringLiteral("a") + smile);
        QCOMPARE(lastCodePoints(text, 2), QStringLiteral("b") + smile);
        QCOMPARE(firstCodePoints(text, 0), QString());
        QCOMPARE(firstCodePoints(text, 99), text);
        QCOMPARE(lastCodePoints(text, 99), text);
        QCOMPARE(firstCodePoints(text, -1), QString());
        const QString lone = QString(QChar(0xd83d)) + QStringLiteral("x"); // half a pair counts as one
        QCOMPARE(codePointCount(lone), 2);
        QCOMPARE(lastCodePoints(lone, 1), QStringLiteral("x"));
    }

    void bound_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<int>("cap");
        QTest::addColumn<QString>("expected");
        const QString smile = QString::fromUtf8("\xF0\x9F\x98\x80");
        QTest::newRow("fits") << QStringLiteral("abc") << 3 << QStringLiteral("abc");
        QTest::newRow("zero") << QStringLiteral("abc") << 0 << QString();
        QTest::newRow("negative") << QStringLiteral("abc") << -5 << QString();
        QTest::newRow("not above the marker") << QStringLiteral("abcdefghij") << 5 << QStringLiteral("abcde");
        QTest::newRow("no tail") << QStringLiteral("abcdefghij") << 6 << QStringLiteral("abcdef");
        QTest::newRow("head and tail") << QString(20, QLatin1Char('a')) + QString(20, QLatin1Char('b')) << 30
                                       << QString(20, QLatin1Char('a')) + QStringLiteral("\n...\n") + QString(5, QLatin1Char('b'));
        QTest::newRow("astral") << smile.repeated(40) << 30 << smile.repeated(20) + QStringLiteral("\n...\n") + smile.repeated(5);
    }
    void bound()
    {
        QFETCH(QString, text);
        QFETCH(int, cap);
        QTEST(boundText(text, cap), "expected");
        QVERIFY(codePointCount(boundText(text, cap)) <= std::max(0, cap) || codePointCount(text) <= cap);
    }

    void shellQuoting_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("quoted");
        QTest::newRow("empty") << QString() << QStringLiteral("''");
        QTest::newRow("safe") << QStringLiteral("a-b_c.d/e:f=g@h%i+j,k") << QStringLiteral("a-b_c.d/e:f=g@h%i+j,k");
        QTest::newRow("space") << QStringLiteral("a b") << QStringLiteral("'a b'");
        QTest::newRow("quote") << QStringLiteral("it's") << QStringLiteral("'it'\"'\"'s'");
        QTest::newRow("newline") << QStringLiteral("a\nb") << QStringLiteral("'a\nb'");
        QTest::newRow("non-ASCII is quoted") << QStringLiteral("\u00e9") << QStringLiteral("'\u00e9'");
        QTest::newRow("dollar") << QStringLiteral("$(rm)") << QStringLiteral("'$(rm)'");
    }
    void shellQuoting()
    {
        QFETCH(QString, text);
        QTEST(shellQuote(text), "quoted");
    }

    void markup()
    {
        QCOMPARE(escapeMarkup(QStringLiteral("<a href='x'>\"&\"</a>")), QStringLiteral("&lt;a href='x'&gt;\"&amp;\"&lt;/a&gt;"));
        QCOMPARE(escapeMarkup(QStringLiteral("'\""), true), QStringLiteral("&#x27;&quot;"));
    }

    void strip()
    {
        QCOMPARE(pythonStrip(QStringLiteral("\u001c\u0085\u3000 a b \u2028\t")), QStringLiteral("a b"));
        QCOMPARE(pythonStrip(QStringLiteral(" \n")), QString());
        QCOMPARE(pythonStrip(QStringLiteral("\u200bx")), QStringLiteral("\u200bx")); // no white space in Python
    }

    void hashes()
    {
        QCOMPARE(sha256Hex(QString()), QStringLiteral("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"));
        QCOMPARE(sha256Hex(QStringLiteral("\u00e9")), sha256Hex(QByteArray("\xC3\xA9")));
    }

    void numbers()
    {
        QCOMPARE(formatG(1), QStringLiteral("1"));
        QCOMPARE(formatG(0.1), QStringLiteral("0.1"));
        QCOMPARE(formatG(1e20), QStringLiteral("1e+20"));
    }

    void wallTime_data()
    {
        QTest::addColumn<qint64>("micros");
        QTest::addColumn<QString>("text");
        QTest::newRow("epoch") << qint64(0) << QStringLiteral("1970-01-01T00:00:00.000000Z");
        QTest::newRow("before") << qint64(-1) << QStringLiteral("1969-12-31T23:59:59.999999Z");
        QTest::newRow("design") << qint64(1796184682123456) << QStringLiteral("2026-12-02T04:11:22.123456Z");
        QTest::newRow("leap day") << qint64(1709164800000001) << QStringLiteral("2024-02-29T00:00:00.000001Z");
    }
    void wallTime()
    {
        QFETCH(qint64, micros);
        QFETCH(QString, text);
        const Clock::Wall time{std::chrono::microseconds(micros)};
        QCOMPARE(formatWall(time), text);
        QCOMPARE(parseWall(text), std::optional(time));
    }

    void wallTimeReadsOtherForms()
    {
        const auto at = [](const char *text) { return parseWall(QString::fromLatin1(text)); };
        QCOMPARE(at("1970-01-01T00:00:01Z"), std::optional(Clock::Wall(std::chrono::seconds(1))));
        QCOMPARE(at("1970-01-01T00:00:00.5Z"), std::optional(Clock::Wall(std::chrono::milliseconds(500))));
        QCOMPARE(at("1970-01-01T01:00:00.123456789+01:00"), std::optional(Clock::Wall(std::chrono::microseconds(123456))));
        for (const char *bad : {"", "yesterday", "1970-01-01T00:00:00.Z", "1970-13-01T00:00:00Z"})
            QVERIFY2(!at(bad), bad);
    }

    void ids()
    {
        static const QRegularExpression uuid(QStringLiteral("^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$"));
        static const QRegularExpression shortId(QStringLiteral("^[0-9a-f]{12}$"));
        QSet<QString> seen;
        for (int i = 0; i < 1000; ++i) {
            QVERIFY(uuid.match(newUuid()).hasMatch());
            const QString id = newShortId();
            QVERIFY(shortId.match(id).hasMatch());
            seen.insert(id);
        }
        QCOMPARE(seen.size(), 1000);
        QCOMPARE(subagentOwner(QStringLiteral("t")).value(), QStringLiteral("subagent:t"));
        QCOMPARE(runOwner(RunId(QStringLiteral("r"))).value(), QStringLiteral("run:r"));
    }

    void errorsNameTheirCauses()
    {
        Error inner{ErrorCode::Io, QStringLiteral("the disk is full"), Json::object(), nullptr};
        const Error outer{ErrorCode::Unavailable, QStringLiteral("cannot save"), Json::object(), std::make_shared<const Error>(inner)};
        QCOMPARE(outer.fullMessage(), QStringLiteral("cannot save: the disk is full"));
        QVERIFY(cancelled().error().isCancelled());
        QCOMPARE(errorCodeName(ErrorCode::DataLoss), QStringLiteral("data_loss"));
    }
};

} // namespace tst_text

PADDOCK_TEST(tst_text, TestText)
#include "tst_text.moc"
