// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// Persistent shells of the real server with real bash: everything that users do to a shell, and exact results after it.
#include "tests/core/sandboxd/shell_fixture.h"
#include "tests/support/sanitizer.h"
#include "tests/support/test_main.h"

#include <QTest>

#include <thread>

namespace tst_sandboxd_shell {

using namespace paddock;
using namespace std::chrono_literals;
using test::Done;
using test::RawHttp;

class TestSandboxdShell : public test::ShellFixture
{
    Q_OBJECT

    /// The sleeps of our commands that still run, but for the job that outlives a shell which ended by itself: that is left alone.
    QString sleepers() const
    {
        QStringList left = m_server.commandLines().filter(QStringLiteral("sleep 7"));
        left.removeAll(QStringLiteral("sleep 72"));
        return left.join(u'\n');
    }

private Q_SLOTS:
    void initTestCase();
    void init();
    void cleanupTestCase();

    void exactResults_data();
    void exactResults();
    void stateBetweenCommands_data();
    void stateBetweenCommands();
    void theShellEnds_data();
    void theShellEnds();
    void interrupts_data();
    void interrupts();
    void wrapperIsInvisible();
    void tenThousandCommands();
    void twoHundredMegabytes();
    void wholeOutputOnRequest();
    void bigCommands();
    void backgroundJobKeepsTheTerminal();
    void killedShell();
    void noChangeVerdictIsSticky();
    void updateDrainsAWaitingExec();
    void queueLimit();
    void deleteWhileStarting();
    void idIsFreeAfterDelete();
    void parallelSessions();
    void disconnectDoesNotStopTheCommand();
    void rawStream();
    void resize();
};

void TestSandboxdShell::initTestCase()
{
    QVERIFY2(startServer(), qPrintable(m_server.error));
}

void TestSandboxdShell::init()
{
    openSession();
}

void TestSandboxdShell::cleanupTestCase()
{
    m_http.reset();
    QTRY_COMPARE(sleepers(), QString());
    QCOMPARE(m_server.stop(), 0);
}

void TestSandboxdShell::exactResults_data()
{
    QTest::addColumn<QString>("command");
    QTest::addColumn<QString>("output");
    QTest::addColumn<int>("code");
    const auto row = [](const char *name, const char *command, const char *output, int code) {
        QTest::newRow(name) << QString::fromUtf8(command) << QString::fromUtf8(output) << code;
    };
    row("nothing", "", "", 0);
    row("comment", "# just this", "", 0);
    row("no trailing newline", "printf x", "x", 0);
    row("one newline goes", "printf 'x\\n\\n'", "x\n", 0);
    row("trailing blanks stay", "printf 'a  \\n\\tb \\v\\f\\n'", "a  \n\tb \v\f", 0);
    row("stderr is merged", "echo a; echo b >&2; echo c", "a\nb\nc", 0);
    row("failing", "exec 9<&-; (exit 42)", "", 42);
    row("heredoc", "cat <<'E'\na'b\"c $x\nE\nfalse || echo two # tail", "a'b\"c $x\ntwo", 0);
    row("unclosed double quote", "echo \"open", "bash: unexpected EOF while looking for matching `\"'", 2);
    row("unclosed single quote", "echo 'open", "bash: unexpected EOF while looking for matching `''", 2);
    row("dangling and", "echo a &&", "bash: syntax error: unexpected end of file", 2);
    row("dangling pipe", "echo a |", "bash: syntax error: unexpected end of file", 2);
    row("open loop", "for x in a b", "bash: syntax error: unexpected end of file", 2);
    row("first lines run before the error", "echo one\necho \"open", "one\nbash: unexpected EOF while looking for matching `\"'", 2);
    row("stray bracket", "echo a )", "bash: syntax error near unexpected token `)'", 2);
    row("not found", "nosuchprogram_x", "bash: nosuchprogram_x: command not found", 127);
    row("history characters", "echo \"hi!\" !$ !!", "hi! !$ !!", 0);
    row("quotes and backslashes", "printf '%s' 'a\\b' \"c\\\\d\" $'e\\tf'", "a\\bc\\de\tf", 0);
    row("unset with message", "echo ${nope_x?gone}", "bash: nope_x: gone", 1);
    row("nounset", "set -u; echo $nope_x; echo after", "bash: nope_x: unbound variable", 1);
    row("division by zero", "echo $((1/0))", "bash: 1/0: division by 0 (error token is \"0\")", 1);
    row("readonly", "readonly RO=1; RO=2", "bash: RO: readonly variable", 1);
    row("closed stdin", "exec 0<&-; echo still", "still", 0);
    row("stdin from nothing", "exec </dev/null; read x; echo $?", "1", 0);
    row("is a terminal", "test -t 0 && test -t 1 && test -t 2 && echo yes", "yes", 0);
    row("subshell exit", "(exit 7); echo $?", "7", 0);
    row("aliases of an earlier line", "alias hi_x='echo aliased'\nhi_x", "aliased", 0);
    row("declare is global", "declare gv_x=1; f_x() { echo $gv_x; }; f_x", "1", 0);
    row("unicode", "echo 'é€😀'", "é€😀", 0);
    row("carriage return", "printf 'a\\rb'", "a\rb", 0);
    row("colour stays", "printf '\\033[31mred\\033[0m'", "\x1b[31mred\x1b[0m", 0);
    row("case", "case b in a) echo A;; b) echo B;; esac", "B", 0);
    row("set -e inside a subshell", "(set -e; false; echo no); echo $?", "1", 0);
    row("functions", "f_y() {\n  echo \"$1\"\n}\nf_y 'a b'", "a b", 0);
    row("last of a pipe", "echo a | cat | (exit 5)", "", 5);
    row("shell variable", "echo $0 ${#BASH_SOURCE[@]}", "bash 0", 0);
}

void TestSandboxdShell::exactResults()
{
    QFETCH(QString, command);
    QFETCH(QString, output);
    QFETCH(int, code);
    const Done done = exec(command);
    QCOMPARE(done.status, QStringLiteral("completed"));
    if (done.output.contains(QStringLiteral("division")))
        QVERIFY(done.output.startsWith(QStringLiteral("bash: 1/0"))); // blanks differ between versions
    else
        QCOMPARE(done.output, output);
    QCOMPARE(done.code, Json(code));
    const Done next = exec(QStringLiteral("echo next"));
    QCOMPARE(next.output, QStringLiteral("next"));
}

void TestSandboxdShell::stateBetweenCommands_data()
{
    QTest::addColumn<QString>("first");
    QTest::addColumn<QString>("second");
    QTest::addColumn<QString>("output");
    const auto row = [](const char *name, const char *first, const char *second, const char *output) {
        QTest::newRow(name) << QString::fromUtf8(first) << QString::fromUtf8(second) << QString::fromUtf8(output);
    };
    row("exit status", "(exit 9)", "echo $?", "9");
    row("exit status zero", "true", "echo $?", "0");
    row("pipe status", "false | true | (exit 3)", "echo ${PIPESTATUS[@]} $?", "1 0 3 3");
    row("pipe status, last good", "false | true", "echo ${PIPESTATUS[@]}", "1 0");
    row("last argument", "true foo bar", "echo $_", "bar");
    row("last argument after a failure", "ls /nope_x 2>/dev/null", "echo $_", "/nope_x");
    row("odd separators", "IFS=1; false | true", "echo \"${PIPESTATUS[@]}\"; unset IFS", "1 0");
    row("directory", "cd /usr", "pwd", "/usr");
    row("variables", "A=1; export B=2", "echo $A$B; env | grep '^B='", "12\nB=2");
    row("prompts", "PS1='weird> '; PROMPT_COMMAND='echo noise'", "echo fine", "fine");
    row("prompt array", "PROMPT_COMMAND=(false 'echo x')", "echo fine", "fine");
    row("trap on errors stays, fires once", "trap 'echo E' ERR", "false", "E");
    row("trap list", "trap 'echo bye_x' USR1", "trap", "trap -- 'echo bye_x' SIGUSR1");
    row("tracing", "set -x", "echo a", "++ echo a\na");
    row("output elsewhere", "exec >/tmp/elsewhere_x; echo hidden", "exec >/dev/tty; cat /tmp/elsewhere_x", "hidden");
    row("input is the terminal again", "exec 0<&-", "test -t 0 && echo yes", "yes");
    row("set -e and a good command", "set -e", "true; echo on", "on");
    row("set -e and a status that did not end it", "set -e; ! true", "echo $?", "1");
    row("noclobber, posix, allexport", "set -C; set -o posix; set -a", "echo fine", "fine");
    row("functions of builtins", "printf() { :; }; read() { :; }; eval() { :; }; cd() { :; }", "echo fine", "fine");
    row("aliases of builtins", "shopt -s expand_aliases; alias builtin_x=false; alias echo='echo aliased'", "echo fine", "aliased fine");
    row("job", "sleep 71 & disown; echo -n", "kill $! && echo killed", "killed");
}

void TestSandboxdShell::stateBetweenCommands()
{
    QFETCH(QString, first);
    QFETCH(QString, second);
    QFETCH(QString, output);
    QCOMPARE(exec(first).status, QStringLiteral("completed"));
    const Done done = exec(second);
    QCOMPARE(done.status, QStringLiteral("completed"));
    QCOMPARE(done.output, output);
}

void TestSandboxdShell::theShellEnds_data()
{
    QTest::addColumn<QString>("command");
    QTest::newRow("exit") << QStringLiteral("echo x; exit 0");
    QTest::newRow("set -e") << QStringLiteral("echo x; set -e; false");
    QTest::newRow("exec") << QStringLiteral("echo x; exec false");
    QTest::newRow("kill -9") << QStringLiteral("echo x; kill -9 $$");
    QTest::newRow("with a job that holds the terminal") << QStringLiteral("echo x; (trap '' HUP; exec sleep 72) & exit");
}

void TestSandboxdShell::theShellEnds()
{
    QFETCH(QString, command);
    const Done done = exec(command);
    QCOMPARE(done.http, 200);
    QCOMPARE(done.status, QStringLiteral("terminated"));
    QVERIFY2(done.output.startsWith(u'x') || done.output.contains(QStringLiteral("\nx")), qPrintable(done.output));
    QVERIFY(done.code.is_null());
    const Done next = exec(QStringLiteral("echo after"));
    QCOMPARE(next.http, 404);
    QCOMPARE(next.message, QStringLiteral("Session not found"));
}

void TestSandboxdShell::interrupts_data()
{
    QTest::addColumn<QString>("command");
    QTest::addColumn<bool>("hard"); // by hard_timeout, else by /kill
    for (const bool hard : {false, true}) {
        const auto row = [hard](const char *name, const char *command) {
            QTest::newRow(qPrintable(QStringLiteral("%1, %2").arg(QLatin1String(name), hard ? QStringLiteral("limit") : QStringLiteral("kill"))))
                << QString::fromLatin1(command) << hard;
        };
        row("program", "sleep 73; echo not_reached");
        row("loop of programs", "while :; do sleep 74; done");
        row("loop of builtins", "while :; do :; done");
        row("pipeline", "sleep 75 | sleep 76");
        row("deaf program", "(trap '' INT TERM; while :; do sleep 0.1; done)");
        row("builtin that reads", "read x");
        row("substitution", "x=$(sleep 78; sleep 78); echo not_reached");
        row("deaf substitution", "x=$(trap '' INT TERM; while :; do sleep 0.1; done)");
        row("substitution in a loop", "while :; do x=$(sleep 79); done");
        row("wait", "sleep 77 & wait; kill %1");
    }
}

void TestSandboxdShell::interrupts()
{
    QFETCH(QString, command);
    QFETCH(bool, hard);
    if (hard) {
        const Done done = exec(command, {{"hard_timeout", 0.2}});
        QCOMPARE(done.status, QStringLiteral("hard_timeout"));
        QVERIFY(done.code.is_null());
        QVERIFY(!done.output.contains(QStringLiteral("not_reached")));
    } else {
        exec(command, {{"async_mode", true}});
        const Json killed = memberOf(post("/v1/shell/kill", {{"id", toJson(m_id)}}), "data");
        QCOMPARE(stringOf(killed, "status"), QStringLiteral("terminated"));
        QVERIFY(memberOf(killed, "exit_code").is_null() && killed.contains("returncode"));
        QVERIFY(!view().contains(QStringLiteral("\nnot_reached")));
    }
    const Done alive = exec(QStringLiteral("echo alive"));
    QVERIFY2(alive.output == u"alive", qPrintable(QStringLiteral("%1 %2 %3 %4").arg(alive.http).arg(alive.status, QString::fromStdString(alive.code.dump()), view())));
    exec(QStringLiteral("kill -9 $(jobs -p) 2>/dev/null; wait"));
    QTRY_COMPARE(sleepers(), QString());
}

void TestSandboxdShell::wrapperIsInvisible()
{
    exec(QStringLiteral("echo one"));
    exec(QStringLiteral("printf two"));
    exec(QStringLiteral("cat <<E\nthree\nE"));
    const QString screen = view();
    QVERIFY2(!screen.contains(QStringLiteral("__pd")) && !screen.contains(QStringLiteral("eval")), qPrintable(screen));
    QVERIFY(screen.contains(QStringLiteral("echo one\r\none\r\n"))); // like typed
    const Json console = memberOf(memberOf(post("/v1/shell/view", {{"id", toJson(m_id)}}), "data"), "console");
    QCOMPARE(console.size(), std::size_t(3));
    QVERIFY(!stringOf(console[1], "ps1").isEmpty() && !stringOf(console[1], "ps1").contains(u'\n'));
    QCOMPARE(stringOf(console[1], "output"), QStringLiteral("two"));
    // Nothing of the channel is open in a command.
    QCOMPARE(exec(QStringLiteral("ls -l /proc/self/fd | grep -c socket")).output, QStringLiteral("0"));
    QCOMPARE(exec(QStringLiteral("env | grep -c -e __pd -e PADDOCK")).output, QStringLiteral("0"));
    QCOMPARE(exec(QStringLiteral("history | wc -l")).output.trimmed(), QStringLiteral("0"));
}

void TestSandboxdShell::tenThousandCommands()
{
    exec(QStringLiteral("n=0"));
    for (int i = 1; i <= 10'000; ++i) {
        const Done done = exec(i % 500 == 0 ? QStringLiteral("((++n)); echo $n") : QStringLiteral("((++n))"));
        QCOMPARE(done.status, QStringLiteral("completed"));
        if (i % 500 == 0)
            QCOMPARE(done.output, QString::number(i));
        else
            QVERIFY(done.output.isEmpty());
    }
    QVERIFY(exec(QStringLiteral("ls /proc/$$/fd | wc -l")).output.toInt() < 10);
}

void TestSandboxdShell::twoHundredMegabytes()
{
    const auto memory = [this] {
        QFile status(QStringLiteral("/proc/%1/statm").arg(m_server.serverPid()));
        return status.open(QIODevice::ReadOnly) ? status.readAll().split(' ').value(1).toLongLong() * 4096 : 0;
    };
    const Done done = exec(QStringLiteral("echo begin; head -c 200000000 /dev/zero | tr '\\0' x; echo end; (exit 3)"));
    QCOMPARE(done.status, QStringLiteral("completed"));
    QCOMPARE(done.code, Json(3));
    QVERIFY(done.output.startsWith(QStringLiteral("begin\nxxx")) && done.output.endsWith(QStringLiteral("xxxend")));
    QVERIFY(done.output.contains(QStringLiteral("[%1 characters truncated]").arg(200'000'009 - 30'000)));
    if (!underSanitizer)
        QVERIFY2(memory() < 100 * 1024 * 1024, qPrintable(QString::number(memory())));
}

void TestSandboxdShell::wholeOutputOnRequest()
{
    const Done done = exec(QStringLiteral("head -c 5000000 /dev/zero | tr '\\0' a"), {{"truncate", false}});
    QCOMPARE(done.output.size(), 5'000'000);
}

void TestSandboxdShell::bigCommands()
{
    const QString big(1'000'000, u'y');
    const Done done = exec(QStringLiteral("x='") + big + QStringLiteral("'; echo ${#x}"));
    QCOMPARE(done.output, QStringLiteral("1000000"));
    QString lines;
    for (int i = 0; i < 2000; ++i)
        lines += QStringLiteral("echo line%1\n").arg(i);
    QVERIFY(exec(lines).output.endsWith(QStringLiteral("line1999")));
}

void TestSandboxdShell::backgroundJobKeepsTheTerminal()
{
    const Done done = exec(QStringLiteral("(while :; do echo tick; sleep 0.05; done) & echo started"));
    QCOMPARE(done.status, QStringLiteral("completed"));
    QVERIFY(done.output.contains(QStringLiteral("started")));
    QCOMPARE(exec(QStringLiteral("(exit 4)")).code, Json(4));
    exec(QStringLiteral("kill %1; wait"));
    QCOMPARE(exec(QStringLiteral("echo quiet")).output, QStringLiteral("quiet"));
}

void TestSandboxdShell::killedShell()
{
    const QString shell = exec(QStringLiteral("echo $$")).output;
    const QString first = std::exchange(m_id, QStringLiteral("other"));
    post("/v1/shell/sessions/create", {{"id", "other"}});
    std::thread blocked([&] {
        RawHttp http(m_server.address());
        const auto reply = http.postJson("/v1/shell/exec", dumpJson({{"id", toJson(first)}, {"command", "sleep 78"}}));
        const Json body = parseJson(reply.body).value_or(Json());
        QCOMPARE(stringOf(memberOf(body, "data"), "status"), QStringLiteral("terminated"));
    });
    // The other session sees the first one's processes, as one sandbox has one process table.
    for (int i = 0; i < 200 && exec(QStringLiteral("pgrep -x -s %1 sleep").arg(shell)).output.isEmpty(); ++i)
        QTest::qWait(10);
    exec(QStringLiteral("kill -9 ") + shell);
    blocked.join();
    exec(QStringLiteral("pkill -x -s %1 sleep").arg(shell));
}

void TestSandboxdShell::noChangeVerdictIsSticky()
{
    const auto status = [this] { return stringOf(memberOf(post("/v1/shell/view", {{"id", toJson(m_id)}}), "data"), "status"); };
    const Done done = exec(QStringLiteral("echo p; read x; echo $x; read y"), {{"no_change_timeout", 1}});
    QCOMPARE(done.status, QStringLiteral("no_change_timeout"));
    QCOMPARE(done.output, QStringLiteral("p\n"));
    QCOMPARE(status(), QStringLiteral("no_change_timeout"));
    post("/v1/shell/write", {{"id", toJson(m_id)}, {"input", "more"}, {"press_enter", true}});
    QTRY_COMPARE(status(), QStringLiteral("running"));
    post("/v1/shell/write", {{"id", toJson(m_id)}, {"input", "end"}, {"press_enter", true}});
    QTRY_COMPARE(status(), QStringLiteral("completed"));
}

void TestSandboxdShell::updateDrainsAWaitingExec()
{
    std::thread waiting([id = m_id, address = m_server.address()] {
        RawHttp http(address);
        const auto reply = http.postJson("/v1/shell/exec", dumpJson({{"id", toJson(id)}, {"command", "sleep 70"}, {"no_change_timeout", 600}}));
        QVERIFY2(reply.body.contains("\"no_change_timeout\""), (QByteArray::number(reply.status) + ' ' + reply.body).constData());
    });
    QTRY_VERIFY(stringOf(memberOf(post("/v1/shell/view", {{"id", toJson(m_id)}}), "data"), "status") == u"running");
    post("/v1/shell/sessions/update", {{"id", toJson(m_id)}, {"no_change_timeout", 1}});
    waiting.join();
    post("/v1/shell/kill", {{"id", toJson(m_id)}});
}

void TestSandboxdShell::queueLimit()
{
    exec(QStringLiteral("sleep 70"), {{"async_mode", true}});
    std::vector<std::unique_ptr<RawHttp>> waiting;
    const QByteArray body = dumpJson({{"id", toJson(m_id)}, {"command", "true"}, {"no_change_timeout", 600}});
    for (int i = 0; i < 20; ++i) {
        waiting.push_back(std::make_unique<RawHttp>(m_server.address()));
        waiting.back()->connect();
        waiting.back()->send("POST /v1/shell/exec HTTP/1.1\r\nHost: x\r\nContent-Length: " + QByteArray::number(body.size()) + "\r\n\r\n" + body);
    }
    // Sixteen wait, the others are refused at once: the last four replies come before anything ended.
    QTRY_COMPARE(std::count_if(waiting.begin(), waiting.end(), [](const auto &http) { return http->hasInput(); }), 4);
    m_http->request("DELETE", "/v1/shell/sessions/" + m_id.toUtf8());
    QMap<int, int> replies;
    for (auto &http : waiting)
        ++replies[http->readReply().status];
    QCOMPARE(replies.value(404), 16); // never started
    QCOMPARE(replies.value(409), 4);
}

void TestSandboxdShell::deleteWhileStarting()
{
    for (int i = 0; i < 10; ++i) {
        RawHttp creating(m_server.address());
        creating.connect();
        const QByteArray body = dumpJson({{"id", "racing"}});
        creating.send("POST /v1/shell/sessions/create HTTP/1.1\r\nHost: x\r\nContent-Length: " + QByteArray::number(body.size()) + "\r\n\r\n" + body);
        const auto deleted = m_http->request("DELETE", "/v1/shell/sessions/racing");
        const auto created = creating.readReply();
        // Either order is fine; what matters is that nothing is left when the DELETE found it.
        QVERIFY(created.status == 200 || created.status == 409);
        if (deleted.status == 404)
            QCOMPARE(m_http->request("DELETE", "/v1/shell/sessions/racing").status, 200);
        QVERIFY(!m_http->request("GET", "/v1/shell/sessions").body.contains("racing"));
    }
}

void TestSandboxdShell::idIsFreeAfterDelete()
{
    exec(QStringLiteral("A=1; sleep 70 & (trap '' HUP; sleep 70) & echo"));
    std::thread deleting([id = m_id, address = m_server.address()] { RawHttp(address).request("DELETE", "/v1/shell/sessions/" + id.toUtf8()); });
    QTRY_COMPARE(exec(QStringLiteral("true")).http, 404);
    int status = 0;
    post("/v1/shell/sessions/create", {{"id", toJson(m_id)}}, &status); // waits for the old processes
    QCOMPARE(status, 200);
    deleting.join();
    QCOMPARE(exec(QStringLiteral("echo [$A]")).output, QStringLiteral("[]"));
    QVERIFY(!m_server.commandLines().contains(QStringLiteral("sleep 70")));
}

void TestSandboxdShell::parallelSessions()
{
    std::vector<std::thread> threads;
    std::atomic<int> wrong = 0;
    for (int t = 0; t < 10; ++t) {
        threads.emplace_back([t, &wrong, address = m_server.address()] {
            RawHttp http(address);
            const std::string id = "par" + std::to_string(t);
            http.postJson("/v1/shell/exec", dumpJson({{"id", id}, {"command", "x"}}));
            http.postJson("/v1/shell/sessions/create", dumpJson({{"id", id}}));
            for (int i = 0; i < 20; ++i) {
                const std::string text = id + "-" + std::to_string(i);
                const auto reply = http.postJson("/v1/shell/exec", dumpJson({{"id", id}, {"command", "M=" + text + "; echo $M"}}));
                const Json body = parseJson(reply.body).value_or(Json());
                wrong += toUtf8(stringOf(memberOf(body, "data"), "output")) != text;
            }
        });
    }
    for (std::thread &thread : threads)
        thread.join();
    QCOMPARE(wrong.load(), 0);
}

void TestSandboxdShell::disconnectDoesNotStopTheCommand()
{
    {
        RawHttp http(m_server.address());
        http.connect();
        const QByteArray body = dumpJson({{"id", toJson(m_id)}, {"command", "sleep 0.3; touch /tmp/went_on_x"}});
        http.send("POST /v1/shell/exec HTTP/1.1\r\nHost: x\r\nContent-Length: " + QByteArray::number(body.size()) + "\r\n\r\n" + body);
        QTRY_VERIFY(stringOf(memberOf(post("/v1/shell/view", {{"id", toJson(m_id)}}), "data"), "status") == u"running");
    }
    waitDone();
    QCOMPARE(exec(QStringLiteral("test -e /tmp/went_on_x; echo $?; rm -f /tmp/went_on_x")).output, QStringLiteral("0"));
}

void TestSandboxdShell::rawStream()
{
    exec(QStringLiteral("echo before"));
    RawHttp first(m_server.address()), second(m_server.address());
    for (RawHttp *http : {&first, &second}) {
        http->connect();
        http->send("GET /v1/paddock/shell/stream?id=" + m_id.toUtf8() + " HTTP/1.1\r\nHost: x\r\n\r\n");
        QCOMPARE(http->readHead().status, 200);
    }
    exec(QStringLiteral("echo during; printf 'x\\033[31my'"));
    m_http->request("DELETE", "/v1/shell/sessions/" + m_id.toUtf8());
    for (RawHttp *http : {&first, &second}) {
        QByteArray raw, bytes;
        bool ended = false;
        while (!ended) {
            const QByteArray more = http->readSome(5s);
            QVERIFY(!more.isEmpty());
            raw += more;
            bytes += RawHttp::takeChunks(raw, &ended);
        }
        QVERIFY(bytes.contains("before\r\n"));
        QVERIFY(bytes.contains("during\r\nx\x1b[31my"));
    }
    QCOMPARE(m_http->request("GET", "/v1/paddock/shell/stream?id=none").status, 404);
}

void TestSandboxdShell::resize()
{
    QCOMPARE(exec(QStringLiteral("stty size")).output, QStringLiteral("40 120"));
    post("/v1/paddock/shell/resize", {{"id", toJson(m_id)}, {"cols", 77}, {"rows", 33}});
    QCOMPARE(exec(QStringLiteral("stty size")).output, QStringLiteral("33 77"));
    int status = 0;
    post("/v1/paddock/shell/resize", {{"id", toJson(m_id)}, {"cols", 0}, {"rows", 33}}, &status);
    QCOMPARE(status, 422);
}

} // namespace tst_sandboxd_shell

PADDOCK_TEST(tst_sandboxd_shell, TestSandboxdShell)
#include "tst_sandboxd_shell.moc"
