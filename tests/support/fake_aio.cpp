// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "tests/support/fake_aio.h"

#include "core/base/error.h"

#include <QHostAddress>
#include <QPointer>
#include <QTcpSocket>
#include <QTimer>

#include <algorithm>

#include <sys/socket.h>

namespace paddock::test {

Json FakeRequest::json() const
{
    const auto parsed = parseJson(body);
    return parsed ? *parsed : Json(nullptr);
}

QByteArray FakeRequest::header(const QByteArray &name) const
{
    for (const auto &[key, value] : headers) {
        if (key.compare(name, Qt::CaseInsensitive) == 0)
            return value;
    }
    return {};
}

FakeReply FakeReply::json(const Json &value, int status)
{
    FakeReply reply;
    reply.status = status;
    reply.body = dumpJson(value);
    return reply;
}

FakeReply FakeReply::data(const Json &data)
{
    return json(Json{{"success", true}, {"message", "Operation successful"}, {"data", data}, {"hint", nullptr}});
}

FakeReply FakeReply::text(const QByteArray &body, int status, const QByteArray &type)
{
    FakeReply reply;
    reply.status = status;
    reply.body = body;
    reply.headers.emplace_back("Content-Type", type);
    return reply;
}

struct FakeAio::Connection {
    int id = 0;
    QTcpSocket *socket = nullptr;
    QByteArray buffer;
    bool sending = false;
    qint64 toGenerate = 0;
    QByteArray tail;
};

FakeAio::FakeAio()
{
    m_clock.start();
    connect(&m_server, &QTcpServer::newConnection, this, &FakeAio::accept);
    m_server.listen(QHostAddress::LocalHost);
    m_port = m_server.serverPort();
}

FakeAio::~FakeAio()
{
    for (auto it = m_connections.cbegin(); it != m_connections.cend(); ++it) {
        it.key()->disconnect(this);
        it.key()->abort();
        delete it.value();
    }
}

QUrl FakeAio::url(const QString &prefix) const
{
    return QUrl(QStringLiteral("http://127.0.0.1:%1%2").arg(m_port).arg(prefix));
}

void FakeAio::setScript(std::vector<FakeReply> replies)
{
    m_script.assign(replies.begin(), replies.end());
    m_handler = nullptr;
    applyRefuse();
}

void FakeAio::setHandler(Handler handler)
{
    m_handler = std::move(handler);
}

void FakeAio::useEchoModel()
{
    m_handler = [this](const FakeRequest &request) { return std::optional(echo(request)); };
}

void FakeAio::refuseFor(int milliseconds)
{
    m_server.close();
    QTimer::singleShot(milliseconds, this, [this] { m_server.listen(QHostAddress::LocalHost, m_port); });
}

void FakeAio::answerHeld(const FakeReply &reply)
{
    if (m_held.empty())
        return;
    const Held held = m_held.front();
    m_held.pop_front();
    finished(held.request);
    send(held.connection, reply);
}

void FakeAio::accept()
{
    while (QTcpSocket *socket = m_server.nextPendingConnection()) {
        auto *connection = new Connection;
        connection->id = m_nextConnection++;
        connection->socket = socket;
        m_connections.insert(socket, connection);
        connect(socket, &QTcpSocket::readyRead, this, [this, connection] { readFrom(connection); });
        connect(socket, &QTcpSocket::disconnected, this, [this, socket] {
            if (Connection *gone = m_connections.take(socket)) {
                m_closedEarly = m_closedEarly || gone->toGenerate > 0;
                std::erase_if(m_held, [gone](const Held &h) { return h.connection == gone; });
                delete gone;
            }
            socket->deleteLater();
        });
    }
}

void FakeAio::readFrom(Connection *connection)
{
    connection->buffer += connection->socket->readAll();
    for (;;) {
        const qsizetype headEnd = connection->buffer.indexOf("\r\n\r\n");
        if (headEnd < 0)
            return;
        FakeRequest request;
        request.connection = connection->id;
        request.atMs = m_clock.elapsed();
        const QList<QByteArray> lines = connection->buffer.first(headEnd).split('\n');
        const QList<QByteArray> first = lines.first().trimmed().split(' ');
        request.method = first.value(0);
        request.target = first.value(1);
        for (const QByteArray &line : lines.mid(1)) {
            const qsizetype colon = line.indexOf(':');
            request.headers.emplace_back(line.first(std::max<qsizetype>(colon, 0)), line.sliced(colon + 1).trimmed());
        }
        const qsizetype length = request.header("content-length").toLongLong();
        if (connection->buffer.size() < headEnd + 4 + length)
            return;
        request.body = connection->buffer.sliced(headEnd + 4, length);
        connection->buffer.remove(0, headEnd + 4 + length);
        const QPointer<QTcpSocket> alive = connection->socket;
        dispatch(connection, std::move(request));
        if (!alive || !m_connections.contains(alive))
            return;
    }
}

void FakeAio::dispatch(Connection *connection, FakeRequest request)
{
    m_requests.push_back(request);
    m_maxInFlight = std::max(m_maxInFlight, ++m_inFlight);
    const QString session = request.path() == "/v1/shell/exec" ? stringOf(request.json(), "id") : QString();
    if (!session.isEmpty())
        m_maxPerSession = std::max(m_maxPerSession, ++m_perSession[session]);
    if (m_handler) {
        const auto reply = m_handler(request);
        if (!reply) {
            m_held.push_back({connection, std::move(request)});
            return;
        }
        if (m_echoDelay >= 0) {
            const QPointer<QTcpSocket> socket = connection->socket;
            QTimer::singleShot(m_echoDelay, this, [this, socket, request, reply = *reply] {
                finished(request);
                if (socket && m_connections.contains(socket))
                    send(m_connections.value(socket), reply);
            });
            return;
        }
        finished(request);
        send(connection, *reply);
        return;
    }
    FakeReply reply = FakeReply::json(Json{{"success", false}, {"message", "the script is over"}}, 500);
    if (!m_script.empty()) {
        reply = m_script.front();
        if (m_script.size() > 1)
            m_script.pop_front();
    }
    finished(request);
    send(connection, reply);
    applyRefuse();
}

/// A "refuse" that comes next must be in force before the client tries; a last one stays.
void FakeAio::applyRefuse()
{
    if (m_script.empty() || m_script.front().fault != QLatin1String("refuse"))
        return;
    if (m_script.size() == 1) {
        m_server.close();
        return;
    }
    m_script.pop_front();
    refuseFor(300);
}

void FakeAio::finished(const FakeRequest &request)
{
    --m_inFlight;
    if (request.path() == "/v1/shell/exec")
        --m_perSession[stringOf(request.json(), "id")];
}

void FakeAio::reset(Connection *connection)
{
    // Lingering off makes close() send RST instead of FIN.
    const linger hard{1, 0};
    ::setsockopt(int(connection->socket->socketDescriptor()), SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    connection->socket->abort();
}

void FakeAio::send(Connection *connection, const FakeReply &reply)
{
    if (reply.fault == QLatin1String("accept_never_answer"))
        return;
    if (reply.fault == QLatin1String("rst_before_headers")) {
        reset(connection);
        return;
    }
    QByteArray head = "HTTP/1.1 " + QByteArray::number(reply.status) + " X\r\n";
    const auto has = [&](const char *name) {
        return std::any_of(reply.headers.begin(), reply.headers.end(),
                           [&](const auto &h) { return h.first.compare(name, Qt::CaseInsensitive) == 0; });
    };
    for (const auto &[name, value] : reply.headers)
        head += name + ": " + value + "\r\n";
    if (!has("content-type"))
        head += "Content-Type: application/json\r\n";
    if (reply.generateMiB > 0) {
        connection->socket->write(head + "Connection: close\r\n\r\n");
        sendGenerated(connection, reply);
        return;
    }
    if (reply.chunked) {
        head += "Transfer-Encoding: chunked\r\n\r\n";
        for (qsizetype at = 0; at < reply.body.size(); at += reply.chunkBytes) {
            const QByteArray part = reply.body.mid(at, reply.chunkBytes);
            head += QByteArray::number(part.size(), 16) + "\r\n" + part + "\r\n";
        }
        if (!reply.omitLastChunk)
            head += "0\r\n\r\n";
    } else {
        if (!has("content-length"))
            head += "Content-Length: " + QByteArray::number(reply.declaredLength.value_or(reply.body.size())) + "\r\n";
        head += "\r\n" + reply.body;
    }
    connection->socket->write(head);
    if (reply.fault == QLatin1String("rst_mid_body")) {
        connection->socket->flush();
        // The bytes must have been taken before the reset, or the peer sees the reset only.
        QTimer::singleShot(30, connection->socket, [this, socket = connection->socket] {
            if (m_connections.contains(socket))
                reset(m_connections.value(socket));
        });
    } else if (reply.omitLastChunk || reply.fault == QLatin1String("half_close_after_body") || reply.fault == QLatin1String("close_after")) {
        connection->socket->disconnectFromHost();
    }
}

void FakeAio::sendGenerated(Connection *connection, const FakeReply &reply)
{
    connection->toGenerate = reply.generateMiB * 1024 * 1024;
    connection->tail = reply.generateJson ? QByteArray("\"}") : QByteArray();
    if (reply.generateJson)
        connection->socket->write("{\"success\":true,\"message\":\"");
    const auto more = [this, socket = connection->socket] {
        Connection *target = m_connections.value(socket);
        if (!target || socket->bytesToWrite() > 256 * 1024)
            return;
        const qint64 n = std::min<qint64>(target->toGenerate, 64 * 1024);
        target->toGenerate -= n;
        if (n > 0) {
            socket->write(QByteArray(n, 'x'));
        } else if (socket->state() == QAbstractSocket::ConnectedState) {
            socket->write(std::exchange(target->tail, QByteArray()));
            socket->disconnectFromHost();
        }
    };
    connect(connection->socket, &QTcpSocket::bytesWritten, this, more);
    more();
}

FakeReply FakeAio::echo(const FakeRequest &request)
{
    const Json body = request.json();
    const QByteArray path = request.path();
    if (path == "/v1/shell/sessions/create")
        return FakeReply::data({{"session_id", memberOf(body, "id")}, {"working_dir", "/home/gem"}});
    if (path == "/v1/shell/exec")
        return FakeReply::data({{"session_id", memberOf(body, "id")}, {"command", memberOf(body, "command")}, {"status", "completed"},
                                {"output", memberOf(body, "command")}, {"console", nullptr}, {"exit_code", 0}});
    if (path == "/v1/bash/exec")
        return FakeReply::data({{"session_id", memberOf(body, "session_id")}, {"command_id", "c1"}, {"command", memberOf(body, "command")},
                                {"status", "completed"}, {"stdout", memberOf(body, "command")}, {"stderr", nullptr}, {"exit_code", 0}});
    if (path == "/v1/bash/sessions/create")
        return FakeReply::data({{"session_id", memberOf(body, "session_id")}});
    return FakeReply::data(nullptr);
}

} // namespace paddock::test
