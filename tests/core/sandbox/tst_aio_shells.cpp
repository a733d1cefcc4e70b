// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// Rendering of command output, the events of commands, stopping, faults of scenarios, refused connections.
#include "core/sandbox/aio/aio_sandbox.h"
#include "core/sandbox/aio/shell_text.h"
#include "tests/support/fake_aio.h"
#include "tests/support/spin.h"
#include "tests/support/test_main.h"

#include <QTest>

#include <algorithm>

namespace tst_aio_shells {

using namespace paddock;
using namespace paddock::aio;
using namespace paddock::test;

namespace {

/// The type and the word that tells most of each event.
QStringList told(const std::shared_ptr<EventQueue> &queue)
{
    QStringList out;
    for (const auto &event : queue->drain()) {
        QString line = eventType(event->body);
        if (const auto *created = std::get_if<ShellSessionCreated>(&event->body))
            line += QLatin1Char(' ') + created->reason;
        if (const auto *lost = std::get_if<ShellSessionLost>(&event->body))
            line += QLatin1Char(' ') + lost->reason;
        if (const auto *closed = std::get_if<ShellSessionClosed>(&event->body))
            line += QLatin1Char(' ') + closed->reason;
        if (const auto *finished = std::get_if<ShellCommandFinished>(&event->body))
            line += QLatin1Char(' ') + finished->status + (finished->retried ? QStringLiteral(" retried") : QString());
        out << line;
    }
    return out;
}

struct Bench {
    FakeAio fake;
    std::shared_ptr<EventBus> bus = std::make_shared<EventBus>();
    std::shared_ptr<EventQueue> queue = bus->subscribe();
    std::shared_ptr<AioSandbox> sandbox;

    explicit Bench(ShellOptions options = {})
        : sandbox(std::make_shared<AioSandbox>(SandboxId(QStringLiteral("x")), AioClient(LoopRef::current(), Endpoint::url(fake.url())), options))
    {
    }
    CommandRequest command(const QString &text) const
    {
        CommandRequest request;
        request.command = text;
        request.scope = ScopeId(QStringLiteral("subagent:a"));
        request.events = EventSink(bus, RunId(QStringLiteral("r")), AgentId(QStringLiteral("subagent:a")));
        return request;
    }
};

FaultPlan::Rule rule(FaultPlan::Action action, int nth)
{
    return {FaultPlan::Point::ShellExec, QStringLiteral("subagent:*"), nth, action, QStringLiteral("told to fail"), std::chrono::milliseconds(1)};
}

} // namespace

class TestAioShells : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void cleansOutput_data();
    void cleansOutput();
    void tellsCommandsAndSessions();
    void stopEndsTheCommandAndTheSession();
    void actsOutFaults();
    void repeatsWhatWasRefused();
    void notesGoToTheNextResult();
    void masksSecretsInEvents();
    void countsOccasions();
};

void TestAioShells::cleansOutput_data()
{
    QTest::addColumn<QString>("raw");
    QTest::addColumn<QString>("clean");
    QTest::newRow("plain") << QStringLiteral("a\nb\tc") << QStringLiteral("a\nb\tc");
    QTest::newRow("colour") << QStringLiteral("\u001b[1;31mred\u001b[0m") << QStringLiteral("red");
    QTest::newRow("title") << QStringLiteral("\u001b]0;title\u0007x") << QStringLiteral("x");
    QTest::newRow("clipboard with ST") << QStringLiteral("\u001b]52;c;aGk=\u001b\\x") << QStringLiteral("x");
    QTest::newRow("C1") << QStringLiteral("\u009b31mred\u009d0;t\u009cx") << QStringLiteral("redx");
    QTest::newRow("unended title keeps the text") << QStringLiteral("\u001b]0;oops\nnext") << QStringLiteral("0;oops\nnext");
    QTest::newRow("unended colour") << QStringLiteral("a\u001b[31") << QStringLiteral("a31");
    QTest::newRow("crlf") << QStringLiteral("a\r\nb") << QStringLiteral("a\nb");
    QTest::newRow("progress") << QStringLiteral("1%\r50%\r100%\ndone") << QStringLiteral("100%\ndone");
    QTest::newRow("cursor went back") << QStringLiteral("50%\r") << QStringLiteral("50%");
    QTest::newRow("other controls stay") << QStringLiteral("a\u000bb\u000cc\u0085d") << QStringLiteral("a\u000bb\u000cc\u0085d");
}

void TestAioShells::cleansOutput()
{
    QFETCH(QString, raw);
    QFETCH(QString, clean);
    QCOMPARE(cleanOutput(raw), clean);
}

void TestAioShells::tellsCommandsAndSessions()
{
    Bench bench;
    bench.fake.useEchoModel();
    QCOMPARE((*spin(bench.sandbox->execute(bench.command(QStringLiteral("one")), {})))->text, QStringLiteral("one"));
    QVERIFY(spin(bench.sandbox->releaseCommandScope(ScopeId(QStringLiteral("subagent:a")))));
    QCOMPARE(told(bench.queue), QStringList({QStringLiteral("shell.session_created first_use"), QStringLiteral("shell.command_started"),
                                             QStringLiteral("shell.command_finished completed"), QStringLiteral("shell.session_closed lease_released")}));
}

/// Interrupt, bounded wait, then the session goes: nothing of a stopped command is left, and it is not run again.
void TestAioShells::stopEndsTheCommandAndTheSession()
{
    Bench bench;
    bench.fake.useEchoModel();
    (void)spin(bench.sandbox->execute(bench.command(QStringLiteral("warm")), {}));
    bench.fake.clearRequests();
    bool killed = false;
    bench.fake.setHandler([&](const FakeRequest &request) -> std::optional<FakeReply> {
        if (request.path() == "/v1/shell/exec")
            return std::nullopt;
        killed = killed || request.path() == "/v1/shell/kill";
        return FakeReply::data({{"status", "terminated"}});
    });
    std::stop_source stop;
    const auto pending = begin(bench.sandbox->execute(bench.command(QStringLiteral("sleep 1000")), stop.get_token()));
    QVERIFY(spinUntil([&] { return bench.fake.hasHeld(); }));
    stop.request_stop();
    QVERIFY(spinUntil([&] { return killed; }));
    QVERIFY(!pending.done()); // drained, not dropped
    bench.fake.answerHeld(FakeReply::data({{"session_id", "s"}, {"command", "x"}, {"status", "terminated"}, {"output", ""}}));
    QVERIFY(spinUntil([&] { return pending.done(); }));
    QVERIFY(!pending.value() && pending.value().error().isCancelled());
    QStringList paths;
    for (const FakeRequest &request : bench.fake.requests())
        paths << QString::fromLatin1(request.method + ' ' + request.path().left(18));
    QCOMPARE(paths, QStringList({QStringLiteral("POST /v1/shell/exec"), QStringLiteral("POST /v1/shell/kill"), QStringLiteral("DELETE /v1/shell/sessions")}));
    QVERIFY(bench.sandbox->sessionOf(ScopeId(QStringLiteral("subagent:a"))).isEmpty());
}

void TestAioShells::actsOutFaults()
{
    Bench bench;
    bench.fake.useEchoModel();
    bench.sandbox->setFaults(std::make_shared<FaultPlan>(std::vector{rule(FaultPlan::Action::ErrorObservation, 2), rule(FaultPlan::Action::Fail, 4)}));
    const auto run = [&](const char *text) { return *spin(bench.sandbox->execute(bench.command(QString::fromLatin1(text)), {})); };
    QCOMPARE(run("one")->text, QStringLiteral("one"));
    bench.queue->drain();
    const auto second = run("two"); // occasions 2 and 3: the second attempt is good
    QVERIFY(second && second->sessionRecreated);
    QCOMPARE(second->text, recreatedNotice() + QStringLiteral("\ntwo"));
    QCOMPARE(told(bench.queue), QStringList({QStringLiteral("shell.command_started"), QStringLiteral("shell.command_finished failed"),
                                             QStringLiteral("shell.session_lost error_observation"), QStringLiteral("shell.session_closed abandoned"),
                                             QStringLiteral("shell.session_created error_observation"), QStringLiteral("shell.command_started"),
                                             QStringLiteral("shell.command_finished completed retried")}));
    const auto third = run("three");
    QVERIFY(!third);
    QCOMPARE(third.error().message, QStringLiteral("told to fail"));
    QCOMPARE(run("four")->text, QStringLiteral("four"));
}

/// Nothing was delivered, so it may be sent again; it runs once (bug-06).
void TestAioShells::repeatsWhatWasRefused()
{
    Bench late;
    late.fake.useEchoModel();
    late.fake.refuseFor(40);
    const auto result = spin(late.sandbox->execute(late.command(QStringLiteral("once")), {}));
    QVERIFY(result && *result);
    const int executed = int(std::count_if(late.fake.requests().begin(), late.fake.requests().end(),
                                           [](const FakeRequest &r) { return r.path() == "/v1/shell/exec"; }));
    QCOMPARE(executed, 1);
}

void TestAioShells::notesGoToTheNextResult()
{
    Bench bench;
    bench.fake.useEchoModel();
    (void)spin(bench.sandbox->execute(bench.command(QStringLiteral("warm")), {}));
    bench.sandbox->noteForNextResult(ScopeId(QStringLiteral("subagent:a")), QStringLiteral("[sandbox] a person typed here"));
    QCOMPARE((*spin(bench.sandbox->execute(bench.command(QStringLiteral("a")), {})))->text, QStringLiteral("[sandbox] a person typed here\na"));
    QCOMPARE((*spin(bench.sandbox->execute(bench.command(QStringLiteral("b")), {})))->text, QStringLiteral("b"));
}

void TestAioShells::masksSecretsInEvents()
{
    Bench bench;
    bench.fake.useEchoModel();
    CommandRequest request = bench.command(QStringLiteral("use s3cr3t-value"));
    request.env.insert(QStringLiteral("TOKEN"), QStringLiteral("s3cr3t-value"));
    QVERIFY(*spin(bench.sandbox->execute(request, {})));
    for (const auto &event : bench.queue->drain()) {
        if (const auto *started = std::get_if<ShellCommandStarted>(&event->body))
            QCOMPARE(started->command, QStringLiteral("use [redacted]"));
    }
}

void TestAioShells::countsOccasions()
{
    const std::vector<FaultPlan::Rule> rules{
        {FaultPlan::Point::ShellExec, QStringLiteral("lead"), 2, FaultPlan::Action::Fail, {}, std::chrono::milliseconds(0)},
        {FaultPlan::Point::ShellExec, QString(), 3, FaultPlan::Action::Latency, {}, std::chrono::milliseconds(0)}};
    FaultPlan plan(rules);
    const QString lead = QStringLiteral("run:1"), child = QStringLiteral("subagent:a");
    QVERIFY(!plan.next(FaultPlan::Point::ShellExec, lead));
    QVERIFY(!plan.next(FaultPlan::Point::ShellExec, child));
    QCOMPARE(int(plan.next(FaultPlan::Point::ShellExec, lead)->action), int(FaultPlan::Action::Fail)); // its second, and the third of all
    QVERIFY(!plan.next(FaultPlan::Point::ShellExec, lead));
    QVERIFY(!plan.next(FaultPlan::Point::BashExec, lead));
}

} // namespace tst_aio_shells

PADDOCK_TEST(tst_aio_shells, TestAioShells)
#include "tst_aio_shells.moc"
