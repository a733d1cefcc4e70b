// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/json.h"

#include <QElapsedTimer>
#include <QHash>
#include <QObject>
#include <QTcpServer>
#include <QUrl>

#include <deque>
#include <functional>
#include <optional>
#include <vector>

class QTcpSocket;

namespace paddock::test {

using HeaderList = std::vector<std::pair<QByteArray, QByteArray>>;

/// One request as it came in.
struct FakeRequest {
    int connection = 0;
    QByteArray method;
    QByteArray target; ///< as sent
    HeaderList headers;
    QByteArray body;
    qint64 atMs = 0;

    Json json() const; ///< null when the body is none
    QByteArray path() const { return target.left(target.indexOf('?') < 0 ? target.size() : target.indexOf('?')); }
    QByteArray header(const QByteArray &name) const;
};

/// What to answer, well-formed or not (aio-api.md §9).
struct FakeReply {
    int status = 200;
    HeaderList headers; ///< Content-Type application/json unless given
    QByteArray body;
    bool chunked = false;
    int chunkBytes = 4096;
    bool omitLastChunk = false;
    std::optional<qint64> declaredLength; ///< a Content-Length that is not the body's
    qint64 generateMiB = 0;     ///< a body of that size, made while it is sent
    bool generateJson = false;  ///< … as one JSON string in an envelope
    /// "", refuse, accept_never_answer, rst_before_headers, rst_mid_body, half_close_after_body, close_after
    QString fault;

    static FakeReply json(const Json &value, int status = 200);
    static FakeReply data(const Json &data);
    static FakeReply text(const QByteArray &body, int status, const QByteArray &type);
};

/// An AIO server of raw bytes in this process, on the thread that made it. Answers from a script in order (the last entry
/// stays), or from a handler. Everything is recorded.
class FakeAio : public QObject
{
    Q_OBJECT
public:
    /// Empty: hold the request until answerHeld().
    using Handler = std::function<std::optional<FakeReply>(const FakeRequest &)>;

    FakeAio();
    ~FakeAio() override;

    QUrl url(const QString &prefix = {}) const;
    void setScript(std::vector<FakeReply> replies);
    void setHandler(Handler handler);
    /// Sessions and an "echo shell": the output of a command is the command.
    void useEchoModel();
    /// Refuses connections for that long, then listens again on the same port.
    void refuseFor(int milliseconds);
    void answerHeld(const FakeReply &reply);
    bool hasHeld() const { return !m_held.empty(); }

    const std::vector<FakeRequest> &requests() const { return m_requests; }
    void clearRequests() { m_requests.clear(); }
    int maxInFlight() const { return m_maxInFlight; }
    int maxInFlightPerSession() const { return m_maxPerSession; }
    /// The peer closed a connection while its reply was still being sent.
    bool closedEarly() const { return m_closedEarly; }
    /// Replies of the echo model wait this long, so that overlaps can happen.
    void setEchoDelay(int milliseconds) { m_echoDelay = milliseconds; }

private:
    struct Connection;
    void accept();
    void readFrom(Connection *connection);
    void dispatch(Connection *connection, FakeRequest request);
    void send(Connection *connection, const FakeReply &reply);
    void sendGenerated(Connection *connection, const FakeReply &reply);
    void reset(Connection *connection);
    FakeReply echo(const FakeRequest &request);
    void finished(const FakeRequest &request);
    void applyRefuse();

    QTcpServer m_server;
    quint16 m_port = 0;
    std::deque<FakeReply> m_script;
    Handler m_handler;
    std::vector<FakeRequest> m_requests;
    struct Held {
        Connection *connection;
        FakeRequest request;
    };
    std::deque<Held> m_held;
    QHash<QTcpSocket *, Connection *> m_connections;
    QElapsedTimer m_clock;
    int m_nextConnection = 1;
    int m_inFlight = 0;
    int m_maxInFlight = 0;
    int m_maxPerSession = 0;
    QHash<QString, int> m_perSession;
    int m_echoDelay = -1;
    bool m_closedEarly = false;
};

} // namespace paddock::test
