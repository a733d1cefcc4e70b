// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/base/error.h"
#include "core/base/json.h"
#include "tests/support/test_main.h"

#include <QElapsedTimer>
#include <QTest>

#include <limits>

namespace tst_json {

using namespace paddock;

class TestJson : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void parses_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QByteArray>("dumped");
        QTest::newRow("order kept") << QByteArray("{\"b\":1,\"a\":2}") << QByteArray("{\"b\":1,\"a\":2}");
        QTest::newRow("last of a repeated key") << QByteArray("{\"a\":1,\"b\":2,\"a\":3}") << QByteArray("{\"a\":3,\"b\":2}");
        QTest::newRow("float stays float") << QByteArray("[1.0,1]") << QByteArray("[1.0,1]");
        QTest::newRow("largest signed") << QByteArray("[-9223372036854775808]") << QByteArray("[-9223372036854775808]");
        QTest::newRow("largest unsigned") << QByteArray("[18446744073709551615]") << QByteArray("[18446744073709551615]");
        QTest::newRow("beyond 64 bits is text") << QByteArray("[123456789012345678901234567890]") << QByteArray("[\"123456789012345678901234567890\"]");
        QTest::newRow("not escaped") << QByteArray("[\"\xC3\xA9\xF0\x9F\x98\x80\"]") << QByteArray("[\"\xC3\xA9\xF0\x9F\x98\x80\"]");
        QTest::newRow("escapes") << QByteArray("[\"\\ud83d\\ude00\\u0000\"]") << QByteArray("[\"\xF0\x9F\x98\x80\\u0000\"]");
        QTest::newRow("scalar") << QByteArray(" true ") << QByteArray("true");
        QTest::newRow("empty containers") << QByteArray("{\"a\":{},\"b\":[]}") << QByteArray("{\"a\":{},\"b\":[]}");
    }
    void parses()
    {
        QFETCH(QByteArray, text);
        const auto json = parseJson(text);
        QVERIFY2(json, json ? "" : qPrintable(json.error().message));
        QTEST(dumpJson(*json), "dumped");
    }

    void refuses_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::newRow("empty") << QByteArray();
        QTest::newRow("trailing bytes") << QByteArray("{} x");
        QTest::newRow("two values") << QByteArray("1 2");
        QTest::newRow("NaN") << QByteArray("[NaN]");
        QTest::newRow("infinity") << QByteArray("[Infinity]");
        QTest::newRow("overflow") << QByteArray("[1e999]");
        QTest::newRow("invalid UTF-8") << QByteArray("[\"\xff\"]");
        QTest::newRow("cut UTF-8") << QByteArray("[\"\xC3\"]");
        QTest::newRow("lone surrogate") << QByteArray("[\"\\ud800\"]");
        QTest::newRow("control character") << QByteArray("[\"\n\"]");
        QTest::newRow("comment") << QByteArray("[1] // x");
        QTest::newRow("unterminated") << QByteArray("{\"a\":[1,2");
        QTest::newRow("nul byte") << QByteArray("[1]\0", 4);
    }
    void refuses()
    {
        QFETCH(QByteArray, text);
        const auto json = parseJson(text);
        QVERIFY(!json);
        QCOMPARE(json.error().code, ErrorCode::InvalidArgument);
        QVERIFY(json.error().details.contains("offset"));
    }

    void depthIsBounded()
    {
        const auto nested = [](int depth) { return QByteArray(depth, '[') + QByteArray(depth, ']'); };
        QVERIFY(parseJson(nested(64)));
        const auto deep = parseJson(nested(65));
        QVERIFY(!deep);
        QVERIFY(deep.error().message.contains(u"64 levels"));
        QVERIFY(!parseJson(QByteArray(10'000'000, '[')));
        QVERIFY(parseJson(nested(500), 500));
    }

    void manyKeysDoNotTakeTheSquare()
    {
        // 200,000 keys by linear search would be 2e10 comparisons: this ends only when they are indexed.
        QByteArray text = "{";
        for (int i = 0; i < 200000; ++i)
            text += (i ? ",\"k" : "\"k") + QByteArray::number(i) + "\":0";
        const auto json = parseJson(text + "}");
        QVERIFY(json);
        QCOMPARE(json->size(), std::size_t(200000));
    }

    void pythonDump_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QByteArray>("python");
        QTest::newRow("sorted, spaced") << QByteArray("{\"b\":[1,2],\"a\":{\"d\":null,\"c\":true}}") << QByteArray("{\"a\": {\"c\": true, \"d\": null}, \"b\": [1, 2]}");
        QTest::newRow("escaped") << QByteArray("\"\xC3\xA9\xF0\x9F\x98\x80\\u007f\\n\\u0001\\\"\\\\/\"") << QByteArray("\"\\u00e9\\ud83d\\ude00\\u007f\\n\\u0001\\\"\\\\/\"");
        QTest::newRow("floats") << QByteArray("[1.0,0.1,1e16,1e15,1e-5,0.0001,-2.5e-7,1e22,123456.789]")
                                << QByteArray("[1.0, 0.1, 1e+16, 1000000000000000.0, 1e-05, 0.0001, -2.5e-07, 1e+22, 123456.789]");
        QTest::newRow("empty") << QByteArray("{\"a\":[],\"b\":{}}") << QByteArray("{\"a\": [], \"b\": {}}");
    }
    void pythonDump()
    {
        QFETCH(QByteArray, text);
        const auto json = parseJson(text);
        QVERIFY(json);
        QTEST(dumpJsonPythonSorted(*json), "python");
    }

    void dumpNeverThrows()
    {
        QCOMPARE(dumpJson(Json(std::string("\xff\xfe"))), QByteArray("\"\xEF\xBF\xBD\xEF\xBF\xBD\""));
        QCOMPARE(dumpJson(Json(std::numeric_limits<double>::quiet_NaN())), QByteArray("null"));
        QCOMPARE(dumpJsonPythonSorted(Json(std::numeric_limits<double>::infinity())), QByteArray("Infinity"));
    }

    void lenientReaders()
    {
        const Json object{{"s", "text"}, {"i", 5}, {"u", std::numeric_limits<quint64>::max()}, {"f", 2.5}, {"b", true}, {"n", nullptr}};
        QCOMPARE(stringOf(object, "s"), QStringLiteral("text"));
        QCOMPARE(stringOf(object, "i", QStringLiteral("d")), QStringLiteral("d"));
        QCOMPARE(intOf(object, "i"), 5);
        QCOMPARE(intOf(object, "u", -1), -1);
        QCOMPARE(intOf(object, "f", -1), -1);
        QCOMPARE(intOf(object, "b", -1), -1); // a bool is not a number
        QCOMPARE(doubleOf(object, "f"), 2.5);
        QCOMPARE(doubleOf(object, "i"), 5.0);
        QVERIFY(boolOf(object, "b"));
        QVERIFY(!boolOf(object, "i"));
        QVERIFY(!optionalString(object, "n"));
        QVERIFY(memberOf(object, "absent").is_null());
        QVERIFY(memberOf(Json(3), "x").is_null());
        QCOMPARE(intOf(Json("text"), "x", 9), 9);
    }
};

} // namespace tst_json

PADDOCK_TEST(tst_json, TestJson)
#include "tst_json.moc"
