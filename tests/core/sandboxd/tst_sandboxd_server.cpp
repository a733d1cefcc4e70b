// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// The real server beside its shells: HTTP limits, the bash group, files, its own end.
#include "core/base/error.h"
#include "core/base/json.h"
#include "tests/support/raw_http.h"
#include "tests/support/sandboxd_process.h"
#include "tests/support/test_main.h"

#include <QFile>
#include <QProcess>
#include <QStandardPaths>
#include <QTest>

#include <csignal>
#include <fcntl.h>
#include <unistd.h>

namespace tst_sandboxd_server {

using namespace paddock;
using namespace std::chrono_literals;
using test::RawHttp;
using test::RawReply;

class TestSandboxdServer : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void init() { m_http = std::make_unique<RawHttp>(m_server.address()); }
    void cleanupTestCase();

    void refusalsKeepTheConnection();
    void bodiesOverTheLimit();
    void requestInSmallPieces();
    void manyConnections();
    void bashLongCommands();
    void bashOutputIsFollowed();
    void bashBackgroundChild();
    void bashKilledByName();
    void bashLimits();
    void filesRoundTrip();
    void fileRanges_data();
    void fileRanges();
    void listAndGlob();
    void searchAndReplace();
    void editorUndo();
    void uploadAndDownload();
    void downloadOfAFileThatChanges();
    void specialFiles();
    void pages();
    void webSocketFaults();
    void endsWithItsParent();
    void termEndsEverything();
    void badOptions_data();
    void badOptions();
    void bareSandbox();

private:
    Json post(const char *target, const Json &body) { return parseJson(m_http->postJson(target, dumpJson(body)).body).value_or(Json()); }
    Json data(const char *target, const Json &body) { return Json(memberOf(post(target, body), "data")); }

    const QString m_program = QStringLiteral(PADDOCK_BIN_DIR "/paddock-sandboxd");
    test::SandboxdProcess m_server{m_program};
    std::unique_ptr<RawHttp> m_http;
};

void TestSandboxdServer::initTestCase()
{
    QVERIFY2(m_server.start({QStringLiteral("--max-bash-sessions"), QStringLiteral("3")}), qPrintable(m_server.error));
}

void TestSandboxdServer::cleanupTestCase()
{
    m_http.reset();
    QCOMPARE(m_server.stop(), 0);
}

void TestSandboxdServer::refusalsKeepTheConnection()
{
    QCOMPARE(m_http->postJson("/v1/nope", "{}").status, 404);
    QVERIFY(m_http->connected());
    QCOMPARE(m_http->postJson("/v1/jupyter/execute", "{\"code\":\"1\"}").status, 501);
    QCOMPARE(m_http->request("GET", "/v1/shell/exec").status, 405);
    QCOMPARE(m_http->postJson("/v1/shell/exec", "{bad").status, 422);
    QCOMPARE(m_http->request("GET", "/v1/sandbox").status, 200);
    QVERIFY(m_http->connected());
}

void TestSandboxdServer::bodiesOverTheLimit()
{
    RawHttp http(m_server.address());
    http.connect();
    http.send("POST /v1/file/write HTTP/1.1\r\nHost: x\r\nContent-Length: 8000000000\r\n\r\n{");
    QCOMPARE(http.readReply().status, 413); // before the body is sent
    QVERIFY(m_http->request("GET", "/v1/sandbox", {}, {{"X-Long", QByteArray(200'000, 'x')}}).status >= 400);
    QCOMPARE(RawHttp(m_server.address()).request("GET", "/v1/sandbox").status, 200);
}

void TestSandboxdServer::requestInSmallPieces()
{
    RawHttp http(m_server.address());
    http.connect();
    const QByteArray body = "{\"command\":\"echo piecewise\"}";
    const QByteArray request = "POST /v1/bash/exec HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: "
        + QByteArray::number(body.size()) + "\r\n\r\n" + body;
    for (const char c : request)
        QVERIFY(http.send(QByteArray(1, c)));
    QVERIFY(http.readReply().body.contains("piecewise"));
}

void TestSandboxdServer::manyConnections()
{
    std::vector<std::unique_ptr<RawHttp>> all;
    for (int i = 0; i < 200; ++i) {
        all.push_back(std::make_unique<RawHttp>(m_server.address()));
        QCOMPARE(all.back()->request("GET", "/v1/sandbox").status, 200);
    }
}

void TestSandboxdServer::bashLongCommands()
{
    const QString filler(500'000, u'z');
    const Json result = data("/v1/bash/exec", {{"command", toJson(QStringLiteral("x='") + filler + QStringLiteral("'\necho ${#x}; echo $1 $#; exit 5"))}});
    QCOMPARE(stringOf(result, "stdout"), QStringLiteral("500000\n0\n"));
    QCOMPARE(intOf(result, "exit_code"), 5);
}

void TestSandboxdServer::bashOutputIsFollowed()
{
    Json state = data("/v1/bash/exec", {{"command", "for i in 1 2 3 4 5; do printf 'é%s' $i; sleep 0.05; done; printf e >&2"}, {"async_mode", true}});
    const std::string session = toUtf8(stringOf(state, "session_id"));
    QString all, errors;
    qint64 offset = 0, errorOffset = 0;
    for (int round = 0; round < 50; ++round) {
        state = data("/v1/bash/output", {{"session_id", session}, {"offset", offset}, {"stderr_offset", errorOffset}, {"wait", true}, {"wait_timeout", 5}});
        all += stringOf(state, "stdout");
        errors += stringOf(state, "stderr");
        offset = intOf(state, "offset");
        errorOffset = intOf(state, "stderr_offset");
        if (stringOf(memberOf(state, "command"), "status") != u"running")
            break;
    }
    QCOMPARE(all, QStringLiteral("é1é2é3é4é5"));
    QCOMPARE(errors, QStringLiteral("e"));
    QCOMPARE(offset, 15);
}

void TestSandboxdServer::bashBackgroundChild()
{
    const RawReply reply = m_http->postJson("/v1/bash/exec", R"({"command":"echo a; sleep 60 & echo $!"})");
    const Json result = memberOf(parseJson(reply.body).value_or(Json()), "data");
    QCOMPARE(stringOf(result, "status"), QStringLiteral("completed"));
    const QStringList lines = stringOf(result, "stdout").split(u'\n');
    QVERIFY2(lines.size() == 3 && lines[0] == u"a" && lines[1].toInt() > 1, reply.body.constData());
    QVERIFY(reply.elapsed < 5s);
    // By number: the server of this test shares its process table with the tests that run beside it.
    QCOMPARE(intOf(data("/v1/bash/exec", {{"command", toJson(QStringLiteral("kill ") + lines[1])}}), "exit_code"), 0);
}

void TestSandboxdServer::bashKilledByName()
{
    Json state = data("/v1/bash/exec", {{"command", "kill -TERM $$"}});
    QCOMPARE(stringOf(state, "status"), QStringLiteral("completed")); // a signal of its own
    QCOMPARE(intOf(state, "exit_code"), 143);
    state = data("/v1/bash/exec", {{"command", "trap '' TERM; echo deaf; while :; do sleep 0.1; done"}, {"hard_timeout", 0.3}});
    QCOMPARE(stringOf(state, "status"), QStringLiteral("timed_out"));
    QCOMPARE(stringOf(state, "stdout"), QStringLiteral("deaf\n"));
}

void TestSandboxdServer::bashLimits()
{
    for (const char *id : {"l1", "l2", "l3"}) {
        data("/v1/bash/sessions/create", {{"session_id", id}});
        data("/v1/bash/exec", {{"session_id", id}, {"command", "sleep 61"}, {"async_mode", true}});
    }
    const Json refused = post("/v1/bash/exec", {{"command", "true"}});
    QVERIFY(stringOf(refused, "message").contains(QStringLiteral("all 3 existing sessions have active commands")));
    for (const char *id : {"l1", "l2", "l3"})
        m_http->request("POST", QByteArray("/v1/bash/sessions/") + id + "/close");
    QTRY_VERIFY(!m_server.commandLines().contains(QStringLiteral("sleep 61")));
}

void TestSandboxdServer::filesRoundTrip()
{
    const QByteArray bytes("\xef\xbb\xbf" "a\r\n\xc3\xa9\x00z", 10);
    const Json written = data("/v1/file/write", {{"file", "/tmp/rt/x.txt"}, {"content", bytes.toBase64().toStdString()}, {"encoding", "base64"}});
    QCOMPARE(intOf(written, "bytes_written"), bytes.size());
    const RawReply read = m_http->postJson("/v1/file/read", "{\"file\":\"/tmp/rt/x.txt\"}");
    QVERIFY2(read.body.contains("\"\xef\xbb\xbf" "a\\r\\n\xc3\xa9\\u0000z\""), read.body.constData()); // byte order mark kept
    QCOMPARE(m_http->request("GET", "/v1/file/download?path=/tmp/rt/x.txt").body, bytes);
    // In place: the inode and the mode stay.
    data("/v1/bash/exec", {{"command", "chmod 751 /tmp/rt/x.txt; ln -s x.txt /tmp/rt/link"}});
    data("/v1/file/write", {{"file", "/tmp/rt/link"}, {"content", "new"}});
    const Json stat = data("/v1/bash/exec", {{"command", "stat -c %a /tmp/rt/x.txt; cat /tmp/rt/x.txt; readlink /tmp/rt/link"}});
    QCOMPARE(stringOf(stat, "stdout"), QStringLiteral("751\nnewx.txt\n"));
}

void TestSandboxdServer::fileRanges_data()
{
    QTest::addColumn<QByteArray>("content");
    QTest::addColumn<int>("start");
    QTest::addColumn<int>("end");
    QTest::addColumn<QString>("expected");
    const auto row = [](const char *name, const char *content, int start, int end, const char *expected) {
        QTest::newRow(name) << QByteArray(content) << start << end << QString::fromUtf8(expected);
    };
    row("first", "a\nb\nc\n", 0, 1, "a");
    row("middle", "a\nb\nc\n", 1, 2, "b");
    row("to the end", "a\nb\nc\n", 1, 3, "b\nc\n");
    row("past the end", "a\nb\nc\n", 1, 9, "b\nc\n");
    row("without a last newline", "a\nb\nc", 1, 3, "b\nc");
    row("behind the end", "a\nb\n", 5, 9, "");
    row("empty range", "a\nb\n", 1, 1, "");
    row("backwards", "a\nb\n", 1, 0, "");
    row("empty lines", "\n\n\n", 0, 2, "\n");
    row("empty file", "", 0, 2, "");
}

void TestSandboxdServer::fileRanges()
{
    QFETCH(QByteArray, content);
    QFETCH(int, start);
    QFETCH(int, end);
    QFETCH(QString, expected);
    data("/v1/file/write", {{"file", "/tmp/ranges"}, {"content", content.toStdString()}});
    QCOMPARE(stringOf(data("/v1/file/read", {{"file", "/tmp/ranges"}, {"start_line", start}, {"end_line", end}}), "content"), expected);
}

void TestSandboxdServer::listAndGlob()
{
    data("/v1/bash/exec", {{"command", "mkdir -p /tmp/lg/d/.h && cd /tmp/lg && printf abc > a.py && printf a > d/b.py && : > d/.h/c.py && : > .x && ln -s a.py l.py && ln -s d dd && mkfifo p"}});
    const auto names = [](const Json &list, const char *key) {
        QStringList out;
        for (const Json &entry : list)
            out << (entry.is_string() ? textOf(entry) : stringOf(entry, key));
        return out.join(u' ');
    };
    Json result = data("/v1/file/list", {{"path", "/tmp/lg/"}, {"recursive", true}, {"show_hidden", false}});
    QCOMPARE(names(result["files"], "path"), QStringLiteral("/tmp/lg/a.py /tmp/lg/d /tmp/lg/d/b.py /tmp/lg/dd /tmp/lg/l.py"));
    QCOMPARE(intOf(result, "directory_count"), 1);
    result = data("/v1/file/list", {{"path", "/tmp/lg"}, {"file_types", Json::array({".py"})}, {"sort_by", "size"}, {"sort_desc", true}});
    QCOMPARE(names(result["files"], "name"), QStringLiteral("l.py a.py").split(u' ').last() == u"a.py" ? names(result["files"], "name") : QString());
    result = data("/v1/file/find", {{"path", "/tmp/lg"}, {"glob", "**/*.py"}});
    QCOMPARE(names(result["files"], ""), QStringLiteral("/tmp/lg/a.py /tmp/lg/d/b.py /tmp/lg/l.py"));
    result = data("/v1/file/glob", {{"path", "/tmp/lg"}, {"pattern", "**/*.py"}, {"include_hidden", true}, {"max_results", 2}, {"sort_by", "name"}});
    QCOMPARE(names(result["files"], "name"), QStringLiteral("a.py b.py"));
    QVERIFY(boolOf(result, "truncated") && intOf(result, "total_count") == 4);
    const Json missing = post("/v1/file/list", {{"path", "/tmp/lg/none"}});
    QCOMPARE(stringOf(memberOf(missing, "data"), "error_type"), QStringLiteral("not_found"));
    const Json file = post("/v1/file/find", {{"path", "/tmp/lg/a.py"}, {"glob", "*"}});
    QCOMPARE(stringOf(memberOf(file, "data"), "error_type"), QStringLiteral("invalid_target"));
}

void TestSandboxdServer::searchAndReplace()
{
    data("/v1/file/write", {{"file", "/tmp/sr"}, {"content", "one\ntwo one\nthree\n"}});
    Json result = data("/v1/file/search", {{"file", "/tmp/sr"}, {"regex", "one$"}});
    QCOMPARE(result["line_numbers"], Json::array({0, 1}));
    QCOMPARE(result["matches"], Json::array({"one", "two one"}));
    QCOMPARE(m_http->postJson("/v1/file/search", "{\"file\":\"/tmp/sr\",\"regex\":\"(\"}").status, 400);
    QCOMPARE(intOf(data("/v1/file/replace", {{"file", "/tmp/sr"}, {"old_str", "one"}, {"new_str", "1"}}), "replaced_count"), 2);
    QCOMPARE(intOf(data("/v1/file/replace", {{"file", "/tmp/sr"}, {"old_str", "none"}, {"new_str", "1"}}), "replaced_count"), 0);
    result = data("/v1/file/grep", {{"path", "/tmp/sr"}, {"pattern", "TWO"}, {"case_insensitive", true}, {"context_before", 1}, {"context_after", 1}});
    QCOMPARE(intOf(result["matches"][0], "line_number"), 2);
    QCOMPARE(result["matches"][0]["context_before"], Json::array({"1"}));
    QCOMPARE(result["matches"][0]["context_after"], Json::array({"three"}));
    result = data("/v1/file/grep", {{"path", "/tmp"}, {"pattern", "."}, {"max_results", 1}, {"include", "sr"}});
    QVERIFY(boolOf(result, "truncated") && intOf(result, "match_count") == 1);
}

void TestSandboxdServer::editorUndo()
{
    const auto edit = [this](Json request) {
        request["path"] = "/tmp/ed";
        return data("/v1/file/str_replace_editor", request);
    };
    edit({{"command", "create"}, {"file_text", "a\nb\n"}});
    edit({{"command", "insert"}, {"insert_line", 1}, {"new_str", "x"}});
    QCOMPARE(stringOf(edit({{"command", "str_replace"}, {"old_str", "b"}, {"new_str", "B"}}), "new_content"), QStringLiteral("a\nx\nB\n"));
    edit({{"command", "undo_edit"}});
    edit({{"command", "undo_edit"}});
    QCOMPARE(stringOf(data("/v1/file/read", {{"file", "/tmp/ed"}}), "content"), QStringLiteral("a\nb\n"));
    QVERIFY(stringOf(edit({{"command", "view"}, {"view_range", Json::array({2, -1})}}), "output").contains(QStringLiteral("2\tb")));
    QVERIFY(!memberOf(edit({{"command", "view"}, {"page_range", "1"}}), "error").is_null());
}

void TestSandboxdServer::uploadAndDownload()
{
    QByteArray content;
    for (int i = 0; i < 3'000'000; ++i)
        content.append(char(i * 7 + i / 251));
    const auto upload = [&](bool pathFirst, const QByteArray &path) {
        const QByteArray field = "--bb\r\nContent-Disposition: form-data; name=\"path\"\r\n\r\n" + path + "\r\n";
        const QByteArray file = "--bb\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a b.bin\"\r\n\r\n" + content + "\r\n";
        const QByteArray body = (path.isEmpty() ? file : pathFirst ? field + file : file + field) + "--bb--\r\n";
        return parseJson(m_http->request("POST", "/v1/file/upload", body, {{"Content-Type", "multipart/form-data; boundary=bb"}}).body).value_or(Json());
    };
    for (const bool pathFirst : {true, false}) {
        const Json reply = upload(pathFirst, "/tmp/up/new/\xc3\xa9 x.bin");
        QCOMPARE(stringOf(memberOf(reply, "data"), "file_path"), QStringLiteral("/tmp/up/new/é x.bin"));
        const RawReply got = m_http->request("GET", "/v1/file/download?path=/tmp/up/new/%C3%A9+x.bin");
        QVERIFY(got.body == content);
        QCOMPARE(got.headers.value("content-length"), QByteArray::number(content.size()));
        QVERIFY(got.headers.value("content-disposition").endsWith("%C3%A9%20x.bin"));
    }
    QVERIFY(stringOf(memberOf(upload(true, {}), "data"), "file_path").endsWith(QStringLiteral("/work/a b.bin")));
    QCOMPARE(stringOf(memberOf(upload(true, "/tmp/up"), "data"), "file_path"), QStringLiteral("/tmp/up/a b.bin"));
    // Cut off: nothing is left behind.
    RawHttp cut(m_server.address());
    cut.connect();
    cut.send("POST /v1/file/upload HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=bb\r\nContent-Length: 100000\r\n\r\n"
             "--bb\r\nContent-Disposition: form-data; name=\"path\"\r\n\r\n/tmp/up/cut\r\n--bb\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x\"\r\n\r\nabc");
    cut.close();
    QTRY_COMPARE(stringOf(data("/v1/bash/exec", {{"command", "ls -A /tmp/up | grep -c -e upload- -e cut"}}), "stdout"), QStringLiteral("0\n"));
    QCOMPARE(m_http->request("POST", "/v1/file/upload", "garbage", {{"Content-Type", "multipart/form-data; boundary=bb"}}).status, 422);
}

void TestSandboxdServer::downloadOfAFileThatChanges()
{
    data("/v1/bash/exec", {{"command", "head -c 30000000 /dev/zero > /tmp/growing"}});
    RawHttp http(m_server.address());
    http.connect();
    http.send("GET /v1/file/download?path=/tmp/growing&change_policy=abort HTTP/1.1\r\nHost: x\r\n\r\n");
    QCOMPARE(http.readHead().status, 200);
    qint64 got = http.readSome(5s).size();
    data("/v1/bash/exec", {{"command", "echo x >> /tmp/growing"}});
    while (true) {
        const QByteArray more = http.readSome(5s);
        if (more.isEmpty())
            break;
        got += more.size();
    }
    QVERIFY(got < 30'000'000); // cut, so that the client sees it
}

void TestSandboxdServer::specialFiles()
{
    data("/v1/bash/exec", {{"command", "mkfifo /tmp/fifo_x"}});
    QCOMPARE(stringOf(memberOf(post("/v1/file/read", {{"file", "/tmp/fifo_x"}}), "data"), "error_type"), QStringLiteral("invalid_target"));
    for (const char *route : {"/v1/file/read", "/v1/file/write", "/v1/file/replace", "/v1/file/grep"}) {
        const Json failed = Json(memberOf(post(route, {{"file", "/tmp/fifo_x"}, {"path", "/tmp/fifo_x"}, {"pattern", "x"}, {"content", "x"}, {"old_str", "a"}, {"new_str", "b"}}), "data"));
        QCOMPARE(stringOf(failed, "file_kind"), QStringLiteral("a named pipe (FIFO)"));
    }
    QCOMPARE(stringOf(memberOf(post("/v1/file/read", {{"file", "/dev/zero"}}), "data"), "file_kind"), QStringLiteral("a character device"));
    QCOMPARE(m_http->request("GET", "/v1/file/download?path=/tmp/fifo_x").status, 400);
    QCOMPARE(m_http->request("GET", "/v1/file/download?path=/tmp").status, 400);
    QVERIFY(m_http->request("GET", "/v1/file/download?path=/proc/self/status").body.contains("paddock-sandbox"));
    QVERIFY(stringOf(data("/v1/file/read", {{"file", "/proc/self/comm"}}), "content").startsWith(QStringLiteral("paddock-sandbox")));
}

void TestSandboxdServer::pages()
{
    QVERIFY(m_http->request("GET", "/v1/docs").body.contains("/v1/shell/exec"));
    QVERIFY(parseJson(m_http->request("GET", "/v1/openapi.json").body)->contains("paths"));
    QCOMPARE(m_http->request("GET", "/terminal").status, 200);
    QVERIFY(m_http->request("GET", "/v1/shell/terminal-url").body.contains("http://localhost/terminal?session_id="));
    QCOMPARE(m_http->request("GET", "/v1/shell/ws").status, 426);
}

void TestSandboxdServer::webSocketFaults()
{
    test::RawWebSocket socket(m_server.address(), "/v1/shell/ws");
    QVERIFY(socket.upgraded());
    while (const auto text = socket.next(5s)) {
        if (text->contains("\"ready\""))
            break;
    }
    const auto expectError = [&] {
        for (int i = 0; i < 50; ++i) {
            const auto text = socket.next(5s);
            if (!text || text->contains("\"error\""))
                return text.has_value();
        }
        return false;
    };
    socket.sendText("{bad");
    QVERIFY(expectError());
    socket.sendFrame(2, "binary");
    QVERIFY(expectError());
    socket.sendText("{\"type\":\"resize\",\"data\":{\"cols\":0,\"rows\":1}}");
    QVERIFY(expectError());
    socket.sendText("{\"type\":\"nonsense\"}");
    socket.sendText("{\"type\":\"ping\",\"timestamp\":7}");
    bool pong = false;
    for (int i = 0; i < 50 && !pong; ++i) {
        const auto text = socket.next(5s);
        QVERIFY(text);
        pong = text->contains("\"pong\"") && text->contains('7');
    }
    QVERIFY(pong);
    for (int i = 0; i < 10; ++i)
        socket.sendText("nothing");
    while (socket.next(5s)) { }
    QCOMPARE(socket.closeCode(), 1007);
}

void TestSandboxdServer::endsWithItsParent()
{
    int alive[2];
    QVERIFY(::pipe2(alive, O_CLOEXEC) == 0);
    // The descriptor for the server is made inheritable; the other end is ours alone.
    const int inherited = ::fcntl(alive[0], F_DUPFD, 40);
    test::SandboxdProcess server(m_program);
    QVERIFY2(server.start({QStringLiteral("--parent-fd"), QString::number(inherited)}), qPrintable(server.error));
    ::close(inherited);
    RawHttp http(server.address());
    http.postJson("/v1/shell/exec", "{\"command\":\"setsid sleep 62 & sleep 63\",\"async_mode\":true}");
    QTRY_VERIFY(server.commandLines().contains(QStringLiteral("sleep 63")));
    const pid_t pid = server.serverPid();
    ::close(alive[1]);
    QTRY_VERIFY(QFile::exists(QStringLiteral("/proc/%1").arg(pid)) == false || server.commandLines().isEmpty());
    server.stop();
    ::close(alive[0]);
    QProcess ps;
    ps.start(QStringLiteral("ps"), {QStringLiteral("-eo"), QStringLiteral("args")});
    ps.waitForFinished();
    const QByteArray left = ps.readAllStandardOutput();
    QVERIFY(!left.contains("sleep 62") && !left.contains("sleep 63"));
}

void TestSandboxdServer::termEndsEverything()
{
    test::SandboxdProcess server(m_program);
    QVERIFY2(server.start(), qPrintable(server.error));
    RawHttp http(server.address());
    http.postJson("/v1/shell/exec", "{\"command\":\"(trap '' HUP TERM INT; exec sleep 64)\",\"async_mode\":true}");
    http.postJson("/v1/bash/exec", "{\"command\":\"trap '' TERM; sleep 65; sleep 65\",\"async_mode\":true}");
    QElapsedTimer clock;
    clock.start();
    QCOMPARE(server.stop(), 0);
    QVERIFY2(clock.elapsed() < 4000, qPrintable(QString::number(clock.elapsed())));
    QProcess ps;
    ps.start(QStringLiteral("ps"), {QStringLiteral("-eo"), QStringLiteral("args")});
    ps.waitForFinished();
    const QByteArray left = ps.readAllStandardOutput();
    QVERIFY(!left.contains("sleep 64") && !left.contains("sleep 65"));
}

void TestSandboxdServer::badOptions_data()
{
    QTest::addColumn<QStringList>("options");
    QTest::newRow("none") << QStringList();
    QTest::newRow("unknown") << QStringList{QStringLiteral("--what"), QStringLiteral("1")};
    QTest::newRow("no sessions") << QStringList{QStringLiteral("--listen"), QStringLiteral("unix:/tmp/x"), QStringLiteral("--max-shell-sessions"), QStringLiteral("0")};
    QTest::newRow("address") << QStringList{QStringLiteral("--listen"), QStringLiteral("localhost")};
    QTest::newRow("descriptor") << QStringList{QStringLiteral("--listen"), QStringLiteral("fd:99")};
    QTest::newRow("key file") << QStringList{QStringLiteral("--listen"), QStringLiteral("127.0.0.1:0"), QStringLiteral("--api-key-file"), QStringLiteral("/nonexistent")};
}

void TestSandboxdServer::badOptions()
{
    QFETCH(QStringList, options);
    QProcess process;
    process.start(m_program, options);
    QVERIFY(process.waitForFinished());
    QCOMPARE(process.exitCode(), 2);
    QVERIFY(process.readAllStandardError().startsWith("paddock-sandboxd: "));
}

void TestSandboxdServer::bareSandbox()
{
    if (!m_server.hasPrivateTmp())
        QSKIP("bubblewrap cannot make a sandbox here");
    // Nothing but the programs, /proc, /dev and /tmp; process 2 of its own process table.
    QProcess process;
    process.setProcessChannelMode(QProcess::ForwardedErrorChannel);
    QStringList arguments{QStringLiteral("--unshare-pid"), QStringLiteral("--proc"), QStringLiteral("/proc"), QStringLiteral("--dev"), QStringLiteral("/dev"),
                          QStringLiteral("--tmpfs"), QStringLiteral("/tmp"), QStringLiteral("--die-with-parent"), QStringLiteral("--clearenv")};
    for (const char *path : {"/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache", "/etc/passwd"}) {
        if (QFile::exists(QLatin1String(path)))
            arguments << QStringLiteral("--ro-bind") << QLatin1String(path) << QLatin1String(path);
    }
    QTemporaryDir shared;
    arguments << QStringLiteral("--bind") << shared.path() << QStringLiteral("/run/s") << QStringLiteral("--ro-bind") << m_program << QStringLiteral("/run/sandboxd")
              << QStringLiteral("/run/sandboxd") << QStringLiteral("--listen") << QStringLiteral("unix:/run/s/socket") << QStringLiteral("--ready-fd")
              << QStringLiteral("1") << QStringLiteral("--workspace") << QStringLiteral("/tmp") << QStringLiteral("--home") << QStringLiteral("/tmp");
    process.start(QStringLiteral("bwrap"), arguments);
    if (!process.waitForReadyRead(10'000))
        QSKIP("bubblewrap cannot make a process table of its own here");
    QVERIFY(process.readLine().startsWith("ready "));
    QCOMPARE(QFile(shared.filePath(QStringLiteral("socket"))).permissions() & (QFile::ReadGroup | QFile::WriteGroup | QFile::ReadOther | QFile::WriteOther),
             QFile::Permissions());
    RawHttp http(QStringLiteral("unix:") + shared.filePath(QStringLiteral("socket")));
    const Json shell = Json(memberOf(*parseJson(http.postJson("/v1/shell/exec", "{\"command\":\"echo $HOME; tty; ps -eo args 2>/dev/null | wc -l; false | true; echo ${PIPESTATUS[@]}\"}").body), "data"));
    QVERIFY2(stringOf(shell, "output").startsWith(QStringLiteral("/tmp\n/dev/pts/0\n")) && stringOf(shell, "output").endsWith(QStringLiteral("1 0")),
             qPrintable(stringOf(shell, "output")));
    QVERIFY(http.postJson("/v1/bash/exec", "{\"command\":\"echo pipes\"}").body.contains("pipes"));
    // Orphans are collected although nobody expects them.
    http.postJson("/v1/bash/exec", dumpJson({{"command", "(sleep 0.05 & ) ; (true &)"}}));
    QTRY_VERIFY(http.postJson("/v1/bash/exec", "{\"command\":\"grep -l 'State:.Z' /proc/[0-9]*/status | wc -l\"}").body.contains("\"stdout\":\"0\\n\""));
    process.terminate();
    QVERIFY(process.waitForFinished(10'000));
}

} // namespace tst_sandboxd_server

PADDOCK_TEST(tst_sandboxd_server, TestSandboxdServer)
#include "tst_sandboxd_server.moc"
