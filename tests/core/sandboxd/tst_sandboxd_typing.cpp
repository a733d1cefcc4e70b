// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// A person types into a shell of the real server, alone and in turns with commands that are sent.
#include "tests/core/sandboxd/shell_fixture.h"
#include "tests/support/test_main.h"

#include <QTest>

namespace tst_sandboxd_typing {

using namespace paddock;

class TestSandboxdTyping : public test::ShellFixture
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QVERIFY2(startServer(), qPrintable(m_server.error)); }
    void init() { openSession(); }
    void cleanupTestCase()
    {
        m_http.reset();
        QCOMPARE(m_server.commandLines().filter(QStringLiteral("sleep 7")), QStringList());
        QCOMPARE(m_server.stop(), 0);
    }

    void typedCommands();
    void typedAheadOfACommand_data();
    void typedAheadOfACommand();
    void killedCommandsInputIsDropped();
    void typedAndSentCommandsTakeTurns();
};

void TestSandboxdTyping::typedCommands()
{
    const auto console = [this] { return Json(memberOf(viewData(), "console")); };
    QCOMPARE(type(QStringLiteral("echo $((6*7))")), QStringLiteral("completed"));
    QTRY_VERIFY(console().size() == 1 && stringOf(console()[0], "output") == u"42");
    QCOMPARE(stringOf(console()[0], "command"), QStringLiteral("echo $((6*7))"));
    // A construct over several lines.
    type(QStringLiteral("for i in 1 2"));
    type(QStringLiteral("do echo n$i; done"));
    QTRY_VERIFY(console().size() == 2 && stringOf(console()[1], "output") == u"n1\nn2");
    // Input for a running command, and an interrupt.
    exec(QStringLiteral("read x; echo got:$x"), {{"async_mode", true}});
    QCOMPARE(type(QStringLiteral("hi")), QStringLiteral("running"));
    waitDone();
    QCOMPARE(stringOf(console()[2], "output"), QStringLiteral("got:hi"));
    type(QStringLiteral("sleep 79"));
    QTRY_VERIFY(status() == u"running");
    QTRY_VERIFY(!m_server.commandLines().filter(QStringLiteral("sleep 79")).isEmpty()); // an interrupt before it may be lost
    post("/v1/shell/write", {{"id", toJson(m_id)}, {"input", "\u0003"}, {"press_enter", false}});
    waitDone();
    QCOMPARE(exec(QStringLiteral("echo after $?")).output, QStringLiteral("after 130"));
}

void TestSandboxdTyping::typedAheadOfACommand_data()
{
    QTest::addColumn<QString>("first");
    QTest::addColumn<bool>("sent");
    QTest::newRow("whole line after a typed command") << QStringLiteral("echo ahead-$((1+1))\n") << false;
    QTest::newRow("whole line after a sent command") << QStringLiteral("echo ahead-$((1+1))\n") << true;
    QTest::newRow("half a line after a typed command") << QStringLiteral("echo ahead-$((1+") << false;
    QTest::newRow("half a line after a sent command") << QStringLiteral("echo ahead-$((1+") << true;
}

void TestSandboxdTyping::typedAheadOfACommand()
{
    QFETCH(QString, first);
    QFETCH(bool, sent);
    exec(QStringLiteral("rm -f /tmp/gate_x; mkfifo /tmp/gate_x"));
    const QString slow = QStringLiteral("cat < /tmp/gate_x"); // reads nothing of the terminal
    if (sent)
        exec(slow, {{"async_mode", true}});
    else
        type(slow, true);
    QTRY_COMPARE(status(), QStringLiteral("running"));
    QCOMPARE(type(first, false), QStringLiteral("running"));
    post("/v1/shell/sessions/create", {{"id", "opener"}});
    post("/v1/shell/exec", {{"id", "opener"}, {"command", ": > /tmp/gate_x"}}); // opened and closed: the command ends
    if (!first.endsWith(u'\n')) {
        QTRY_COMPARE(status(), QStringLiteral("completed"));
        type(QStringLiteral("1))"), true);
    }
    QTRY_VERIFY(view().contains(u"ahead-2"));
}

void TestSandboxdTyping::killedCommandsInputIsDropped()
{
    exec(QStringLiteral("sleep 74"), {{"async_mode", true}});
    post("/v1/shell/write", {{"id", toJson(m_id)}, {"input", "touch /tmp/must_not_be_y"}, {"press_enter", true}});
    post("/v1/shell/kill", {{"id", toJson(m_id)}});
    waitDone();
    QCOMPARE(exec(QStringLiteral("test -e /tmp/must_not_be_y; echo $?")).output, QStringLiteral("1"));
    QCOMPARE(exec(QStringLiteral("read -t 0; echo $?")).output, QStringLiteral("1")); // nothing is left for the next either
}

void TestSandboxdTyping::typedAndSentCommandsTakeTurns()
{
    // Half a line is being typed: the command goes first, nothing of the line runs.
    post("/v1/shell/write", {{"id", toJson(m_id)}, {"input", "touch /tmp/must_not_be_x"}, {"press_enter", false}});
    for (int i = 0; i < 20; ++i)
        QCOMPARE(exec(QStringLiteral("echo turn")).output, QStringLiteral("turn"));
    QCOMPARE(exec(QStringLiteral("test -e /tmp/must_not_be_x; echo $?")).output, QStringLiteral("1"));
}

} // namespace tst_sandboxd_typing

PADDOCK_TEST(tst_sandboxd_typing, TestSandboxdTyping)
#include "tst_sandboxd_typing.moc"
