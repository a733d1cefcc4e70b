// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// The HTTP client of the AIO sandbox: parser, framing, reuse, cancelling; a command is never sent twice.
#include "core/sandbox/aio/aio_client.h"
#include "core/sandbox/aio/http_client.h"
#include "core/sandbox/aio/http_parser.h"
#include "tests/support/fake_aio.h"
#include "tests/support/spin.h"
#include "tests/support/test_main.h"

#include <QLocalServer>
#include <QLocalSocket>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>

namespace tst_aio_http {

using namespace paddock;
using namespace paddock::aio;
using namespace paddock::test;

namespace {

HttpRequest request(const QByteArray &method, const QByteArray &target, const QByteArray &body = {})
{
    HttpRequest r;
    r.method = method;
    r.target = target;
    r.body = body;
    r.timeout = std::chrono::seconds(20);
    return r;
}

} // namespace

class TestAioHttp : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void parses_data();
    void parses();
    void limitsWhatItKeeps();
    void speaksOverAUnixSocket();
    void neverSendsACommandTwice();
    void reusesConnections();
    void manyRequestsAtOnce();
    void stopClosesTheSocket();
    void closeEndsWhatRuns();
    void answersAfterItsLoopHasEnded();
    void followsRedirectsOfAGetOnly();
};

void TestAioHttp::parses_data()
{
    QTest::addColumn<QByteArray>("wire");
    QTest::addColumn<bool>("closes");
    QTest::addColumn<int>("status"); // 0: refused
    QTest::addColumn<QByteArray>("body");
    QTest::addColumn<bool>("keepAlive");
    QTest::newRow("length") << QByteArray("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok") << false << 200 << QByteArray("ok") << true;
    QTest::newRow("empty body") << QByteArray("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") << false << 200 << QByteArray() << true;
    QTest::newRow("no content") << QByteArray("HTTP/1.1 204 \r\n\r\n") << false << 204 << QByteArray() << true;
    QTest::newRow("bare newlines") << QByteArray("HTTP/1.1 200 OK\nContent-Length: 2\n\nok") << false << 200 << QByteArray("ok") << true;
    QTest::newRow("until close") << QByteArray("HTTP/1.1 200 OK\r\n\r\nabc") << true << 200 << QByteArray("abc") << false;
    QTest::newRow("connection close") << QByteArray("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\na") << false << 200
                                      << QByteArray("a") << false;
    QTest::newRow("http 1.0") << QByteArray("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na") << false << 200 << QByteArray("a") << false;
    QTest::newRow("chunked") << QByteArray("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n1\r\nd\r\n0\r\nT: 1\r\n\r\n")
                             << false << 200 << QByteArray("abcd") << true;
    QTest::newRow("chunked and length") << QByteArray("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 9\r\n\r\n1\r\na\r\n0\r\n\r\n")
                                        << false << 200 << QByteArray("a") << false;
    QTest::newRow("continue first") << QByteArray("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na") << false << 200
                                    << QByteArray("a") << true;
    QTest::newRow("second reply ignored") << QByteArray("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\naHTTP/1.1 500 X\r\n\r\n") << false << 200
                                          << QByteArray("a") << false;
    QTest::newRow("same length twice") << QByteArray("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na") << false << 200
                                       << QByteArray("a") << true;
    QTest::newRow("two lengths") << QByteArray("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab") << false << 0 << QByteArray() << false;
    QTest::newRow("negative length") << QByteArray("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n") << false << 0 << QByteArray() << false;
    QTest::newRow("short body") << QByteArray("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab") << true << 0 << QByteArray() << false;
    QTest::newRow("no last chunk") << QByteArray("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n") << true << 0 << QByteArray() << false;
    QTest::newRow("bad chunk size") << QByteArray("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\na\r\n") << false << 0 << QByteArray() << false;
    QTest::newRow("bad chunk end") << QByteArray("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n") << false << 0 << QByteArray() << false;
    QTest::newRow("unknown coding") << QByteArray("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n") << false << 0 << QByteArray() << false;
    QTest::newRow("no http") << QByteArray("SSH-2.0-OpenSSH\r\n\r\n") << false << 0 << QByteArray() << false;
    QTest::newRow("header without colon") << QByteArray("HTTP/1.1 200 OK\r\nnonsense\r\n\r\n") << false << 0 << QByteArray() << false;
    QTest::newRow("closed in the head") << QByteArray("HTTP/1.1 200 OK\r\nConte") << true << 0 << QByteArray() << false;
}

/// Whole, and a byte at a time: the result is the same.
void TestAioHttp::parses()
{
    QFETCH(QByteArray, wire);
    QFETCH(bool, closes);
    QFETCH(int, status);
    QFETCH(QByteArray, body);
    QFETCH(bool, keepAlive);
    for (const qsizetype step : {wire.size(), qsizetype(1), qsizetype(3)}) {
        HttpParser parser(HttpParser::Limits{});
        for (qsizetype at = 0; at < wire.size(); at += step)
            parser.feed(wire.mid(at, step));
        if (closes)
            parser.end();
        QCOMPARE(parser.state() == HttpParser::State::Done, status != 0);
        QCOMPARE(parser.keepAlive(), keepAlive);
        if (status == 0) {
            QVERIFY(!parser.error().isEmpty());
            continue;
        }
        const auto reply = parser.takeReply();
        QCOMPARE(reply.status, status);
        QCOMPARE(reply.body, body);
    }
}

void TestAioHttp::limitsWhatItKeeps()
{
    HttpParser::Limits limits;
    limits.bodyBytes = 10;
    limits.headBytes = 100;
    HttpParser announced(limits);
    announced.feed(QByteArray("HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n"));
    QVERIFY(announced.tooLarge());
    HttpParser endless(limits);
    endless.feed(QByteArray("HTTP/1.1 200 OK\r\n\r\n"));
    for (int i = 0; i < 4; ++i)
        endless.feed(QByteArray("abc"));
    QVERIFY(endless.tooLarge());
    HttpParser chunks(limits);
    chunks.feed(QByteArray("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nB\r\nabcdefghijk\r\n"));
    QVERIFY(chunks.tooLarge());
    HttpParser head(limits);
    for (int i = 0; i < 200 && head.state() != HttpParser::State::Failed; ++i)
        head.feed(QByteArray("a"));
    QCOMPARE(head.state(), HttpParser::State::Failed);
}

void TestAioHttp::speaksOverAUnixSocket()
{
    QTemporaryDir dir;
    QLocalServer server;
    QVERIFY(server.listen(dir.filePath(QStringLiteral("s"))));
    QByteArray seen;
    connect(&server, &QLocalServer::newConnection, this, [&] {
        QLocalSocket *socket = server.nextPendingConnection();
        connect(socket, &QLocalSocket::readyRead, socket, [&seen, socket] {
            seen += socket->readAll();
            if (seen.endsWith("{}"))
                socket->write("HTTP/1.1 200 OK\r\nContent-Length: 16\r\n\r\n{\"success\":true}");
        });
    });
    const AioClient client(LoopRef::current(), Endpoint::unixSocket(server.fullServerName()));
    const auto reply = spin(client.postForEnvelope("/v1/shell/sessions/create", Json::object(), std::chrono::seconds(10), {}));
    QVERIFY(reply && *reply);
    QVERIFY(seen.startsWith("POST /v1/shell/sessions/create HTTP/1.1\r\n"));
    const AioClient nobody(LoopRef::current(), Endpoint::unixSocket(dir.filePath(QStringLiteral("none"))));
    const auto refused = spin(nobody.context(std::chrono::seconds(10), {}));
    QVERIFY(refused && !*refused && refused->error().definitelyNotExecuted());
    QVERIFY(!refused->error().message.contains(dir.path())); // host paths are not for models
}

void TestAioHttp::neverSendsACommandTwice()
{
    FakeAio fake;
    FakeReply fault = FakeReply::data(nullptr);
    fault.fault = QStringLiteral("rst_before_headers");
    fake.setScript({fault});
    const AioClient client(LoopRef::current(), Endpoint::url(fake.url()));
    const auto reply = spin(client.postForEnvelope("/v1/shell/exec", Json{{"command", "x"}}, std::chrono::seconds(10), {}));
    QVERIFY(reply && !*reply);
    QCOMPARE(int(reply->error().transport), int(wire::TransportKind::Reset));
    QCOMPARE(fake.requests().size(), 1u);
}

void TestAioHttp::reusesConnections()
{
    FakeAio fake;
    fake.setScript({FakeReply::data(nullptr)});
    const AioClient client(LoopRef::current(), Endpoint::url(fake.url()));
    for (int i = 0; i < 5; ++i)
        QVERIFY(*spin(client.postForEnvelope("/v1/x", Json::object(), std::chrono::seconds(10), {})));
    QCOMPARE(fake.requests().back().connection, 1);
}

/// More than the six connections of other clients (style.md F11): nobody waits for anybody.
void TestAioHttp::manyRequestsAtOnce()
{
    constexpr int many = 40;
    FakeAio fake;
    fake.setHandler([](const FakeRequest &) { return std::optional<FakeReply>(); });
    const AioClient client(LoopRef::current(), Endpoint::url(fake.url()));
    std::vector<Pending<wire::Decoded<wire::Envelope>>> pending;
    for (int i = 0; i < many; ++i)
        pending.push_back(begin(client.postForEnvelope("/v1/x", Json::object(), std::chrono::seconds(30), {})));
    QVERIFY(spinUntil([&] { return int(fake.requests().size()) == many; }));
    for (int i = 0; i < many; ++i)
        fake.answerHeld(FakeReply::data(nullptr));
    QVERIFY(spinUntil([&] { return std::all_of(pending.begin(), pending.end(), [](const auto &p) { return p.done(); }); }));
    for (const auto &one : pending)
        QVERIFY(one.value().has_value());
}

void TestAioHttp::stopClosesTheSocket()
{
    FakeAio fake;
    fake.setHandler([](const FakeRequest &) { return std::optional<FakeReply>(); });
    const AioClient client(LoopRef::current(), Endpoint::url(fake.url()));
    std::stop_source stop;
    const auto pending = begin(client.postForEnvelope("/v1/x", Json::object(), std::chrono::seconds(30), stop.get_token()));
    QVERIFY(spinUntil([&] { return fake.hasHeld(); }));
    stop.request_stop();
    QVERIFY(spinUntil([&] { return pending.done(); }));
    QCOMPARE(int(pending.value().error().transport), int(wire::TransportKind::Cancelled));
    QVERIFY(spinUntil([&] { return !fake.hasHeld(); })); // the server saw the connection go
}

void TestAioHttp::closeEndsWhatRuns()
{
    FakeAio fake;
    fake.setHandler([](const FakeRequest &) { return std::optional<FakeReply>(); });
    const AioClient client(LoopRef::current(), Endpoint::url(fake.url()));
    const auto pending = begin(client.postForEnvelope("/v1/x", Json::object(), std::chrono::seconds(30), {}));
    QVERIFY(spinUntil([&] { return fake.hasHeld(); }));
    QVERIFY(spin(client.close()));
    QVERIFY(spinUntil([&] { return pending.done(); }));
    QVERIFY(!pending.value());
    const auto after = spin(client.postForEnvelope("/v1/x", Json::object(), std::chrono::seconds(30), {}));
    QVERIFY(after && !*after);
    QCOMPARE(fake.requests().size(), 1u);
}

void TestAioHttp::answersAfterItsLoopHasEnded()
{
    FakeAio fake;
    auto loop = std::make_unique<EventLoop>(QStringLiteral("short"));
    const auto client = std::make_unique<AioClient>(loop->ref(), Endpoint::url(fake.url()));
    loop.reset();
    const auto reply = spin(client->postForEnvelope("/v1/x", Json::object(), std::chrono::seconds(30), {}));
    QVERIFY(reply && !*reply);
}

void TestAioHttp::followsRedirectsOfAGetOnly()
{
    FakeAio fake;
    fake.setHandler([&](const FakeRequest &seen) {
        if (seen.path() == "/new")
            return std::optional(FakeReply::text("there", 200, "text/plain"));
        FakeReply away = FakeReply::text({}, 307, "text/plain");
        away.headers.emplace_back("Location", seen.path() == "/far" ? "http://example.invalid/new" : "/new");
        return std::optional(away);
    });
    const HttpClient client(LoopRef::current(), Endpoint::url(fake.url()));
    QCOMPARE((*spin(client.send(request("GET", "/old"), {})))->body, QByteArray("there"));
    QCOMPARE((*spin(client.send(request("GET", "/far"), {})))->status, 307);
    QCOMPARE((*spin(client.send(request("POST", "/old", "{}"), {})))->status, 307);
}

} // namespace tst_aio_http

PADDOCK_TEST(tst_aio_http, TestAioHttp)
#include "tst_aio_http.moc"
