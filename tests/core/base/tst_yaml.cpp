// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/base/yaml.h"
#include "tests/support/test_main.h"

#include <QTest>

namespace tst_yaml {

using namespace paddock;

class TestYaml : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void values_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QByteArray>("json");
        QTest::newRow("scalars") << QByteArray("[1, -2, 1.5, .5, 1e3, true, False, null, ~, text, '12', \"true\", 0x1F, 0o17]")
                                 << QByteArray(R"([1,-2,1.5,0.5,1000.0,true,false,null,null,"text","12","true",31,15])");
        QTest::newRow("not yes") << QByteArray("[yes, no, on, 1_000, 012]") << QByteArray(R"(["yes","no","on","1_000",12])");
        QTest::newRow("beyond 64 bits") << QByteArray("[123456789012345678901234567890]") << QByteArray(R"(["123456789012345678901234567890"])");
        QTest::newRow("order") << QByteArray("b: 1\na: 2\n") << QByteArray(R"({"b":1,"a":2})");
        QTest::newRow("block text") << QByteArray("a: |\n  12\n") << QByteArray(R"({"a":"12\n"})");
        QTest::newRow("folded text") << QByteArray("a: >\n  x\n  y\n") << QByteArray(R"({"a":"x y\n"})");
        QTest::newRow("tagged text") << QByteArray("a: !!str 12") << QByteArray(R"({"a":"12"})");
        QTest::newRow("anchor") << QByteArray("a: &x [1]\nb: *x\n") << QByteArray(R"({"a":[1],"b":[1]})");
        QTest::newRow("empty") << QByteArray("") << QByteArray("null");
        QTest::newRow("comment only") << QByteArray("# nothing\n") << QByteArray("null");
        QTest::newRow("brackets in text") << QByteArray("a: |\n  ") + QByteArray(2000, '[') << "{\"a\":\"" + QByteArray(2000, '[') + "\"}";
        QTest::newRow("astral") << QByteArray("a: \xF0\x9F\x98\x80") << QByteArray("{\"a\":\"\xF0\x9F\x98\x80\"}");
    }
    void values()
    {
        QFETCH(QByteArray, text);
        const auto node = parseYaml(text, QStringLiteral("t.yaml"));
        QVERIFY2(node, node ? "" : qPrintable(node.error().message));
        QTEST(dumpJson(node->toJson()), "json");
    }

    void refuses_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QString>("start");
        QTest::addColumn<QString>("part");
        QTest::newRow("duplicate key") << QByteArray("a: 1\nb: 2\na: 3\n") << QStringLiteral("t.yaml:3:1: ") << QStringLiteral("'a' appears twice");
        QTest::newRow("duplicate key, nested") << QByteArray("x:\n  - {k: 1, k: 2}\n") << QStringLiteral("t.yaml:2:12: ") << QStringLiteral("twice");
        QTest::newRow("syntax") << QByteArray("a: [1, 2\nb: 3\n") << QStringLiteral("t.yaml:") << QStringLiteral("not valid YAML");
        QTest::newRow("tab") << QByteArray("a:\n\tb: 1\n") << QStringLiteral("t.yaml:2:") << QString();
        QTest::newRow("unknown anchor") << QByteArray("a: *nope") << QStringLiteral("t.yaml:1:") << QString();
        QTest::newRow("two documents") << QByteArray("a: 1\n---\nb: 2\n") << QStringLiteral("t.yaml:2:1: ") << QStringLiteral("a second document");
        QTest::newRow("stray bracket") << QByteArray("a: 1\n]\n") << QStringLiteral("t.yaml:2:1: ") << QStringLiteral("illegal flow end");
        QTest::newRow("stray comma") << QByteArray(", a") << QStringLiteral("t.yaml:1:1: ") << QStringLiteral("belongs to nothing");
        QTest::newRow("key that is a list") << QByteArray("? [a]\n: 1\n") << QStringLiteral("t.yaml:1:") << QStringLiteral("key");
        QTest::newRow("Latin-1") << QByteArray("a: \xc3\xa4\nb: \xe4\n") << QStringLiteral("t.yaml:2:4: ") << QStringLiteral("the byte \\xe4 is not UTF-8 text");
        QTest::newRow("columns are characters") << QByteArray("\xc3\xa4: \xf0\x9f\x98\x80\xff") << QStringLiteral("t.yaml:1:5: ") << QStringLiteral("\\xff");
        QTest::newRow("cut character") << QByteArray("a: \xe2\x82") << QStringLiteral("t.yaml:1:4: ") << QStringLiteral("\\xe2");
        QTest::newRow("overlong") << QByteArray("a: \xc0\xaf") << QStringLiteral("t.yaml:1:4: ") << QStringLiteral("\\xc0");
        QTest::newRow("surrogate") << QByteArray("a: \xed\xa0\x80") << QStringLiteral("t.yaml:1:4: ") << QStringLiteral("\\xed");
        QTest::newRow("itself") << QByteArray("&a [*a]") << QStringLiteral("t.yaml:") << QStringLiteral("deeper");
        QTest::newRow("deep flow") << QByteArray(100, '[') + QByteArray(100, ']') << QStringLiteral("t.yaml:") << QStringLiteral("deeper");
        QTest::newRow("very deep flow") << QByteArray(1'000'000, '[') << QStringLiteral("t.yaml:") << QStringLiteral("nested too deeply");
        QTest::newRow("very deep maps") << QByteArray("{a: ").repeated(100'000) << QStringLiteral("t.yaml:") << QString();
        QTest::newRow("very deep block") << QByteArray("- ").repeated(100'000) + "1" << QStringLiteral("t.yaml:") << QString();
    }
    void refuses()
    {
        QFETCH(QByteArray, text);
        QFETCH(QString, start);
        QFETCH(QString, part);
        const auto node = parseYaml(text, QStringLiteral("t.yaml"));
        QVERIFY(!node);
        QVERIFY2(node.error().message.startsWith(start), qPrintable(node.error().message));
        QVERIFY2(node.error().message.contains(part), qPrintable(node.error().message));
    }

    void marksPointAtTheValue()
    {
        const auto node = parseYaml("first: 1\nsecond:\n  inner: text\n", QStringLiteral("t.yaml"));
        QVERIFY(node);
        const YamlNode *second = node->find(u"second");
        QVERIFY(second);
        const YamlNode *inner = second->find(u"inner");
        QVERIFY(inner);
        QCOMPARE(inner->place(), QStringLiteral("line 3, column 10"));
        QCOMPARE(node->entries.at(1).line, 2);
        QCOMPARE(second->find(u"absent"), nullptr);
    }

    void quotedIsKnown()
    {
        const auto node = parseYaml("a: '1'\nb: 1\nc: \"x\"\nd: |\n  t\n", QStringLiteral("t.yaml"));
        QVERIFY(node);
        QVERIFY(node->find(u"a")->quoted);
        QVERIFY(!node->find(u"b")->quoted);
        QVERIFY(node->find(u"c")->quoted);
        QVERIFY(node->find(u"d")->quoted);
    }

    void aliasesCannotExplode() // ten levels of ten: ten billion values from 500 bytes
    {
        QByteArray text = "l0: &l0 [x,x,x,x,x,x,x,x,x,x]\n";
        for (int level = 1; level < 10; ++level) {
            const QByteArray below = "*l" + QByteArray::number(level - 1);
            text += "l" + QByteArray::number(level) + ": &l" + QByteArray::number(level) + " [" + below;
            for (int i = 1; i < 10; ++i)
                text += "," + below;
            text += "]\n";
        }
        const auto node = parseYaml(text, QStringLiteral("bomb.yaml"));
        QVERIFY(!node);
        QVERIFY(node.error().message.contains(u"more than 200000 values"));
    }

    void sizeIsBounded()
    {
        const auto node = parseYaml(QByteArray(5 * 1024 * 1024, ' '), QStringLiteral("big.yaml"));
        QVERIFY(!node);
        QCOMPARE(node.error().code, ErrorCode::ResourceExhausted);
    }

    void anyBytesEndInAnAnswer()
    {
        // A cheap stand-in for the fuzz target: damage a document at every byte.
        const QByteArray good = "a: &x {b: [1, '2', \"3\"], c: |\n    t\n  }\nd: *x\n? k\n: v\n";
        for (qsizetype i = 0; i < good.size(); ++i) {
            for (const char c : {'\0', '\xff', '{', '*', '\n', '\t', '"'}) {
                QByteArray bad = good;
                bad[i] = c;
                const auto node = parseYaml(bad, QStringLiteral("x"));
                if (!node)
                    QVERIFY(!node.error().message.isEmpty());
            }
            (void)parseYaml(good.left(i), QStringLiteral("x"));
        }
    }
};

} // namespace tst_yaml

PADDOCK_TEST(tst_yaml, TestYaml)
#include "tst_yaml.moc"
