// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QByteArray>
#include <QHash>
#include <QList>
#include <QString>

#include <chrono>
#include <optional>

namespace paddock::test {

struct RawReply {
    int status = 0; ///< 0: no whole reply came
    QHash<QByteArray, QByteArray> headers; ///< lower-case names
    QByteArray body;
    std::chrono::milliseconds elapsed{};
};

/// A blocking HTTP/1.1 client on one connection, byte for byte under the test's control. Any thread, one at a time.
/// An address is "unix:PATH" or "127.0.0.1:PORT".
class RawHttp
{
public:
    explicit RawHttp(QString address) : m_address(std::move(address)) {}
    ~RawHttp() { close(); }
    RawHttp(const RawHttp &) = delete;
    RawHttp &operator=(const RawHttp &) = delete;

    using Headers = QList<std::pair<QByteArray, QByteArray>>;
    /// Sends one request and reads its reply; connects when needed. `chunked` sends the body in chunks.
    RawReply request(const QByteArray &method, const QByteArray &target, const QByteArray &body = {}, const Headers &headers = {},
                     bool chunked = false);
    RawReply postJson(const QByteArray &target, const QByteArray &json) { return request("POST", target, json); }

    bool connect();
    void close();
    bool connected() const { return m_fd >= 0; }
    bool send(const QByteArray &bytes);
    /// Reads one reply (head and body).
    RawReply readReply();
    /// Reads the head only; what came behind it waits for readSome.
    RawReply readHead();
    /// The next raw bytes; empty at the end or when the limit passed.
    QByteArray readSome(std::chrono::milliseconds limit);
    /// Whether something can be read now.
    bool hasInput() const;
    void setTimeout(std::chrono::milliseconds limit) { m_limit = limit; }
    /// Takes the chunk framing off what readSome gave; keeps what is incomplete.
    static QByteArray takeChunks(QByteArray &raw, bool *ended = nullptr);

private:
    bool fill(std::chrono::steady_clock::time_point deadline);

    QString m_address;
    int m_fd = -1;
    QByteArray m_buffer;
    std::chrono::milliseconds m_limit{60'000};
};

/// A WebSocket client on top: text frames only.
class RawWebSocket
{
public:
    RawWebSocket(const QString &address, const QByteArray &target, const RawHttp::Headers &headers = {});

    int status() const { return m_status; }
    bool upgraded() const { return m_status == 101; }
    void sendText(const QByteArray &text) { sendFrame(1, text); }
    void sendFrame(int opcode, const QByteArray &payload, bool final = true);
    /// The next text frame; nullopt when the limit passed or the socket was closed.
    std::optional<QByteArray> next(std::chrono::milliseconds limit);
    /// The code of the peer's close frame; 0: none came.
    int closeCode() const { return m_closeCode; }

private:
    RawHttp m_http;
    QByteArray m_buffer;
    int m_status = 0;
    int m_closeCode = 0;
};

} // namespace paddock::test
