// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/event/event_codec.h"
#include "tests/core/event/random_event.h"
#include "tests/support/test_main.h"

#include <QTest>

namespace tst_event_codec {

using namespace paddock;
using namespace paddock::test;

namespace {

Event at(EventBody body)
{
    Event event;
    event.seq = 41;
    event.time = *parseWall(QStringLiteral("2026-12-02T04:11:22.123456Z"));
    event.mono = std::chrono::microseconds(77);
    event.run = RunId(QStringLiteral("r1"));
    event.agent = leadAgent();
    event.body = std::move(body);
    return event;
}

} // namespace

class TestEventCodec : public QObject
{
    Q_OBJECT

    template<std::size_t I>
    void roundTripOf()
    {
        for (quint32 seed = 0; seed < 40; ++seed) {
            RandomFields random(seed * 100 + quint32(I));
            const Event event = random.make<I>();
            const QByteArray line = encodeEvent(event);
            QVERIFY2(!line.contains('\n'), line.constData());
            const auto back = decodeEvent(line);
            QVERIFY2(back, back ? "" : qPrintable(back.error().message));
            QCOMPARE(back->body.index(), event.body.index());
            QCOMPARE(encodeEvent(*back), line); // nothing was lost: the second writing is the first
            QCOMPARE(back->seq, event.seq);
            QCOMPARE(back->time, event.time);
            QCOMPARE(back->mono, event.mono);
            QCOMPARE(back->run, event.run);
            QCOMPARE(back->agent, event.agent);
            QCOMPARE(back->span, event.span);
            QCOMPARE(back->parent, event.parent);
        }
    }
    template<std::size_t... I>
    void roundTripAll(std::index_sequence<I...>)
    {
        (roundTripOf<I>(), ...);
    }

private Q_SLOTS:
    void everyKindSurvives() { roundTripAll(std::make_index_sequence<std::variant_size_v<EventBody>>()); }

    void theStableForm() // design.md §4, byte for byte
    {
        QCOMPARE(encodeEvent(at(LeaseReleased{QStringLiteral("s"), QStringLiteral("subagent:t"), {QStringLiteral("run:r1")}, false})),
                 QByteArray("{\"v\":1,\"seq\":41,\"t\":\"2026-12-02T04:11:22.123456Z\",\"mono_us\":77,\"run\":\"r1\",\"agent\":\"lead\",\"type\":\"lease.released\","
                            "\"sandbox\":\"s\",\"owner\":\"subagent:t\",\"owners\":[\"run:r1\"],\"last\":false}"));
    }

    void designFieldsAreThere_data()
    {
        QTest::addColumn<QString>("type");
        QTest::addColumn<QStringList>("fields");
        const auto row = [](const char *type, const char *fields) {
            QTest::newRow(type) << QString::fromLatin1(type) << QString::fromLatin1(fields).split(QLatin1Char(' '));
        };
        row("run.started", "thread task model sandbox workspace");
        row("run.finished", "status answer usage");
        row("agent.queued", "position");
        row("agent.started", "parent subagent_type model max_turns");
        row("agent.finished", "status turns usage");
        row("lease.acquired", "sandbox owner owners");
        row("lease.draining", "sandbox owner owners");
        row("lease.released", "sandbox owner owners last");
        row("sandbox.acquired", "sandbox provider backend");
        row("sandbox.released", "sandbox provider backend");
        row("sandbox.failed", "sandbox reason");
        row("shell.session_created", "scope session reason");
        row("shell.session_lost", "scope session reason");
        row("shell.session_closed", "scope session reason");
        row("shell.command_started", "scope session command_id command");
        row("shell.command_finished", "duration_ms bytes");
        row("shell.takeover_started", "scope session");
        row("shell.takeover_ended", "scope session");
        row("tool.started", "call name args");
        row("tool.finished", "status duration_ms bytes");
        row("model.request", "turn messages tools");
        row("model.delta", "text");
        row("model.response", "usage finish_reason duration_ms");
        row("model.error", "class attempt");
        row("middleware.span", "name hook turn start_us duration_us changes");
        row("file.changed", "path owner op size sha256 added removed");
        row("audit.recorded", "command call verdict rule");
        row("approval.requested", "command call verdict rule");
        row("approval.decided", "decision by reason");
        row("trust.changed", "host_bash");
        row("config.loaded", "path");
        row("log", "level text");
        row("middleware.acted", "tag name hook action changes");
    }
    void designFieldsAreThere()
    {
        QFETCH(QString, type);
        QFETCH(QStringList, fields);
        const auto body = eventBodyFromFields(type, Json::object());
        QVERIFY(body);
        QVERIFY(!std::holds_alternative<UnknownEvent>(*body));
        QCOMPARE(eventType(*body), type);
        const Json written = eventFields(*body);
        for (const QString &field : fields)
            QVERIFY2(written.contains(toUtf8(field)), qPrintable(field));
        for (const char *envelope : {"v", "seq", "t", "mono_us", "run", "agent", "span", "parent_span", "type"})
            QVERIFY2(!written.contains(envelope), envelope);
    }
    void optionalFieldsAppearWhenSet()
    {
        QVERIFY(eventFields(RunStarted{.channelUserId = QStringLiteral("u")}).contains("channel_user_id"));
        QVERIFY(!eventFields(RunStarted{}).contains("channel_user_id"));
        QVERIFY(eventFields(ModelFailed{.willRetryInMs = 5}).contains("retry_in_ms"));
        QVERIFY(eventFields(ShellCommandFinished{.exitCode = 0}).contains("exit_code"));
        QVERIFY(!eventFields(ShellCommandFinished{}).contains("exit_code"));
        const Json changes = eventFields(MiddlewareSpan{})["changes"];
        for (const char *key : {"added", "removed", "edited", "state_keys", "tokens"})
            QVERIFY(changes.contains(key));
    }

    void unknownEventsSurvive() // style.md D: the file is from next year
    {
        const QByteArray line = "{\"v\":1,\"seq\":9,\"t\":\"2026-12-02T04:11:22.000001Z\",\"mono_us\":5,\"run\":\"r\",\"agent\":\"lead\",\"span\":3,\"type\":\"future.kind\","
                                "\"parent\":\"x\",\"list\":[1,{\"deep\":null}],\"z\":1.0,\"a\":\"\xF0\x9F\x98\x80\"}";
        const auto event = decodeEvent(line);
        QVERIFY(event);
        QCOMPARE(eventType(event->body), QStringLiteral("future.kind"));
        QCOMPARE(encodeEvent(*event), line);
    }
    void unknownFieldsSurviveBesideTheBody()
    {
        const QByteArray line = "{\"v\":1,\"seq\":9,\"t\":\"2026-12-02T04:11:22.000001Z\",\"mono_us\":5,\"run\":\"r\",\"agent\":\"lead\",\"type\":\"log\","
                                "\"level\":\"info\",\"text\":\"t\",\"by_person\":false,\"colour\":\"red\"}";
        const auto event = decodeEvent(line);
        QVERIFY(event);
        QCOMPARE(encodeEvent(*event, fieldsOfLine(*parseJson(line))), line);
    }

    void refuses_data()
    {
        QTest::addColumn<QByteArray>("line");
        QTest::newRow("empty") << QByteArray();
        QTest::newRow("no object") << QByteArray("[1]");
        QTest::newRow("no version") << QByteArray("{\"seq\":1,\"t\":\"2026-12-02T04:11:22Z\",\"type\":\"log\"}");
        QTest::newRow("next version") << QByteArray("{\"v\":2,\"seq\":1,\"t\":\"2026-12-02T04:11:22Z\",\"type\":\"log\"}");
        QTest::newRow("no type") << QByteArray("{\"v\":1,\"seq\":1,\"t\":\"2026-12-02T04:11:22Z\"}");
        QTest::newRow("type is a number") << QByteArray("{\"v\":1,\"seq\":1,\"t\":\"2026-12-02T04:11:22Z\",\"type\":5}");
        QTest::newRow("bad time") << QByteArray("{\"v\":1,\"seq\":1,\"t\":\"noon\",\"type\":\"log\"}");
        QTest::newRow("cut") << QByteArray("{\"v\":1,\"seq\":1,");
        QTest::newRow("too deep") << QByteArray("{\"v\":1,\"t\":\"2026-12-02T04:11:22Z\",\"type\":\"x\",\"a\":") + QByteArray(500, '[') + QByteArray(500, ']') + "}";
    }
    void refuses()
    {
        QFETCH(QByteArray, line);
        const auto event = decodeEvent(line);
        QVERIFY(!event);
        QVERIFY(!event.error().message.isEmpty());
    }

    void wrongTypesTakeDefaults()
    {
        const auto event = decodeEvent("{\"v\":1,\"seq\":-5,\"t\":\"2026-12-02T04:11:22Z\",\"run\":7,\"agent\":[],\"type\":\"lease.released\","
                                       "\"sandbox\":5,\"owners\":\"x\",\"last\":\"yes\"}");
        QVERIFY(event);
        QCOMPARE(event->seq, Seq(0));
        QVERIFY(event->run.isEmpty());
        const auto &released = std::get<LeaseReleased>(event->body);
        QVERIFY(released.sandbox.isEmpty());
        QVERIFY(!released.last);
        const auto queued = decodeEvent("{\"v\":1,\"t\":\"2026-12-02T04:11:22Z\",\"type\":\"agent.queued\",\"position\":99999999999999}");
        QCOMPARE(std::get<AgentQueued>(queued->body).position, std::numeric_limits<int>::max());
    }

    void damagedLinesNeverThrow()
    {
        RandomFields random(3);
        const QByteArray good = encodeEvent(random.make<19>());
        for (qsizetype i = 0; i < good.size(); ++i) {
            for (const char c : {'\0', '\xff', '{', '"', '9'}) {
                QByteArray bad = good;
                bad[i] = c;
                (void)decodeEvent(bad);
            }
            (void)decodeEvent(good.left(i));
        }
    }
};

} // namespace tst_event_codec

PADDOCK_TEST(tst_event_codec, TestEventCodec)
#include "tst_event_codec.moc"
