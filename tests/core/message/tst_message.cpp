// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/message/message.h"
#include "tests/support/test_main.h"

#include <QTest>

namespace tst_message {

using namespace paddock;

class TestMessage : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void textOfContent_data()
    {
        QTest::addColumn<QByteArray>("content");
        QTest::addColumn<QString>("text");
        QTest::newRow("string") << QByteArray("\"a\"") << QStringLiteral("a");
        QTest::newRow("null") << QByteArray("null") << QString();
        QTest::newRow("blocks") << QByteArray("[\"a\",{\"type\":\"text\",\"text\":\"b\"},{\"type\":\"image\"},\"\",{\"type\":\"text\",\"text\":\"\"},{\"text\":5},\"c\"]")
                                << QStringLiteral("a\nb\nc");
        QTest::newRow("anything else is stringified") << QByteArray("{\"x\":1}") << QStringLiteral("{\"x\":1}");
    }
    void textOfContent()
    {
        QFETCH(QByteArray, content);
        QTEST(paddock::textOfContent(*parseJson(content)), "text");
    }

    void roundTrip_data()
    {
        QTest::addColumn<QByteArray>("json");
        QTest::newRow("system") << QByteArray("{\"type\":\"system\",\"content\":\"s\",\"id\":\"1\"}");
        QTest::newRow("human with blocks") << QByteArray("{\"type\":\"human\",\"content\":[\"a\",{\"type\":\"text\",\"text\":\"b\"}],\"name\":\"n\",\"additional_kwargs\":{\"z\":1,\"a\":{}}}");
        QTest::newRow("ai") << QByteArray("{\"type\":\"ai\",\"content\":\"\",\"tool_calls\":[{\"name\":\"bash\",\"args\":{\"command\":\"ls\"},\"id\":\"c1\",\"type\":\"tool_call\"}],"
                                          "\"invalid_tool_calls\":[{\"name\":\"x\",\"args\":\"{\",\"id\":\"c2\",\"error\":null,\"type\":\"invalid_tool_call\"}],"
                                          "\"response_metadata\":{\"model_name\":\"m\"},"
                                          "\"usage_metadata\":{\"input_tokens\":3,\"output_tokens\":4,\"total_tokens\":7,\"input_token_details\":{\"cache_read\":1,\"cache_creation\":2},\"output_token_details\":{\"reasoning\":5}}}");
        QTest::newRow("tool") << QByteArray("{\"type\":\"tool\",\"content\":\"out\",\"name\":\"bash\",\"tool_call_id\":\"c1\",\"status\":\"error\",\"artifact\":[1]}");
        QTest::newRow("remove") << QByteArray("{\"type\":\"remove\",\"id\":\"1\"}");
    }
    void roundTrip()
    {
        QFETCH(QByteArray, json);
        const auto message = messageFromJson(*parseJson(json));
        QVERIFY(message);
        QCOMPARE(dumpJson(messageToJson(*message)), json);
        QCOMPARE(*messageFromJson(messageToJson(*message)), *message);
    }

    void otherSpellings()
    {
        const auto message = messageFromJson(*parseJson("{\"role\":\"assistant\",\"content\":null,\"kwargs\":{\"a\":1},\"usage\":{\"input_tokens\":1,\"output_tokens\":2},"
                                                        "\"tool_calls\":[{\"name\":\"t\"}]}"));
        QVERIFY(message);
        QCOMPARE(message->role, Role::Ai);
        QCOMPARE(message->content, Json(""));
        QCOMPARE(message->kwargs, (Json{{"a", 1}}));
        QCOMPARE(message->usage->total, 3);
        QCOMPARE(message->toolCalls.front().args, Json::object());
        QCOMPARE(messageFromJson(Json{{"type", "AIMessageChunk"}, {"content", "x"}})->role, Role::Ai);
    }

    void refusesWhatItDoesNotKnow()
    {
        for (const char *bad : {"[]", "{}", "{\"type\":\"robot\"}", "{\"type\":5}", "{\"type\":\"ai\",\"tool_calls\":[1]}", "{\"type\":\"ai\",\"tool_calls\":{}}"})
            QVERIFY2(!messageFromJson(*parseJson(bad)), bad);
    }

    void equalContentHasOneHash()
    {
        const MessagePtr a = edited(humanMessage(QStringLiteral("x")), [](Message &m) { m.id = QStringLiteral("1"); m.kwargs = Json{{"a", 1}, {"b", 2}}; });
        const MessagePtr b = edited(humanMessage(QStringLiteral("x")), [](Message &m) { m.id = QStringLiteral("2"); m.kwargs = Json{{"b", 2}, {"a", 1}}; });
        QCOMPARE(contentHash(a), contentHash(b));
        QCOMPARE(contentHash(a), contentHash(*a));
        QCOMPARE(contentHash(a).size(), 64);
        // An edit of a hashed message must not keep the old hash.
        const MessagePtr c = edited(a, [](Message &m) { m.content = Json("y"); });
        QVERIFY(contentHash(c) != contentHash(a));
        QVERIFY(contentHash(systemMessage(QStringLiteral("x"))) != contentHash(humanMessage(QStringLiteral("x"))));
    }

    void tokensAreEstimated()
    {
        QCOMPARE(estimateTokens(*humanMessage(QString())), 4);
        QCOMPARE(estimateTokens(*humanMessage(QStringLiteral("12345"))), 6);
        QCOMPARE(estimateTokens(*humanMessage(QString::fromUtf8("\xF0\x9F\x98\x80").repeated(4))), 5); // code points, not units
    }
};

} // namespace tst_message

PADDOCK_TEST(tst_message, TestMessage)
#include "tst_message.moc"
