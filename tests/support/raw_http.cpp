// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "tests/support/raw_http.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace paddock::test {

using Clock = std::chrono::steady_clock;

bool RawHttp::connect()
{
    close();
    const QByteArray address = m_address.toUtf8();
    if (address.startsWith("unix:")) {
        sockaddr_un target{};
        target.sun_family = AF_UNIX;
        std::strncpy(target.sun_path, address.constData() + 5, sizeof target.sun_path - 1);
        m_fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (::connect(m_fd, reinterpret_cast<sockaddr *>(&target), sizeof target) != 0)
            close();
    } else {
        const qsizetype colon = address.lastIndexOf(':');
        sockaddr_in target{};
        target.sin_family = AF_INET;
        target.sin_port = htons(address.mid(colon + 1).toUShort());
        ::inet_pton(AF_INET, address.left(colon).constData(), &target.sin_addr);
        m_fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (::connect(m_fd, reinterpret_cast<sockaddr *>(&target), sizeof target) != 0)
            close();
    }
    return m_fd >= 0;
}

void RawHttp::close()
{
    if (m_fd >= 0)
        ::close(m_fd);
    m_fd = -1;
    m_buffer.clear();
}

bool RawHttp::send(const QByteArray &bytes)
{
    for (qsizetype done = 0; done < bytes.size();) {
        const ssize_t count = ::send(m_fd, bytes.constData() + done, size_t(bytes.size() - done), MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        done += count;
    }
    return true;
}

bool RawHttp::fill(Clock::time_point deadline)
{
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd entry{m_fd, POLLIN, 0};
    if (m_fd < 0 || left < 0)
        return false;
    if (const int ready = ::poll(&entry, 1, int(left)); ready <= 0)
        return ready < 0 && errno == EINTR; // a signal: the caller asks again
    char block[65536];
    const ssize_t count = ::recv(m_fd, block, sizeof block, 0);
    if (count <= 0)
        return false;
    m_buffer.append(block, count);
    return true;
}

bool RawHttp::hasInput() const
{
    pollfd entry{m_fd, POLLIN, 0};
    return !m_buffer.isEmpty() || (m_fd >= 0 && ::poll(&entry, 1, 0) > 0);
}

RawReply RawHttp::readHead()
{
    RawReply reply;
    const auto deadline = Clock::now() + m_limit;
    while (!m_buffer.contains("\r\n\r\n")) {
        if (!fill(deadline))
            return reply;
    }
    const qsizetype end = m_buffer.indexOf("\r\n\r\n");
    const auto lines = m_buffer.left(end).split('\n');
    m_buffer.remove(0, end + 4);
    for (const QByteArray &line : lines.mid(1)) {
        const qsizetype colon = line.indexOf(':');
        reply.headers.insert(line.left(colon).trimmed().toLower(), line.mid(colon + 1).trimmed());
    }
    reply.status = lines.first().split(' ').value(1).toInt();
    if (reply.status == 100)
        return readHead();
    return reply;
}

QByteArray RawHttp::takeChunks(QByteArray &raw, bool *ended)
{
    QByteArray out;
    while (true) {
        const qsizetype line = raw.indexOf("\r\n");
        if (line < 0)
            return out;
        const qsizetype size = raw.left(line).split(';').first().trimmed().toLongLong(nullptr, 16);
        if (raw.size() < line + 2 + size + 2)
            return out;
        out += raw.mid(line + 2, size);
        raw.remove(0, line + 2 + size + 2);
        if (size == 0) {
            if (ended)
                *ended = true;
            return out;
        }
    }
}

RawReply RawHttp::readReply()
{
    RawReply reply = readHead();
    if (reply.status == 0 || reply.status == 101)
        return reply;
    const auto deadline = Clock::now() + m_limit;
    const auto incomplete = [&] {
        reply.status = 0;
        close();
        return reply;
    };
    if (reply.headers.value("transfer-encoding").toLower().contains("chunked")) {
        bool ended = false;
        while (true) {
            reply.body += takeChunks(m_buffer, &ended);
            if (ended)
                break;
            if (!fill(deadline))
                return incomplete();
        }
    } else {
        const qint64 length = reply.headers.value("content-length", "0").toLongLong();
        while (m_buffer.size() < length) {
            if (!fill(deadline))
                return incomplete();
        }
        reply.body = m_buffer.left(length);
        m_buffer.remove(0, length);
    }
    if (reply.headers.value("connection").toLower() == "close")
        close();
    return reply;
}

QByteArray RawHttp::readSome(std::chrono::milliseconds limit)
{
    if (m_buffer.isEmpty())
        fill(Clock::now() + limit);
    return std::exchange(m_buffer, {});
}

RawReply RawHttp::request(const QByteArray &method, const QByteArray &target, const QByteArray &body, const Headers &headers, bool chunked)
{
    const auto begin = Clock::now();
    if (m_fd < 0 && !connect())
        return {};
    QByteArray head = method + ' ' + target + " HTTP/1.1\r\nHost: localhost\r\n";
    bool typed = false, sized = false;
    for (const auto &[name, value] : headers) {
        head += name + ": " + value + "\r\n";
        typed = typed || name.toLower() == "content-type";
        sized = sized || name.toLower() == "content-length";
    }
    const bool hasBody = method != "GET" && method != "DELETE";
    if (!typed && hasBody)
        head += "Content-Type: application/json\r\n";
    QByteArray sent = body;
    if (chunked) {
        head += "Transfer-Encoding: chunked\r\n";
        sent.clear();
        constexpr qsizetype piece = 7; // small, so that chunk borders fall everywhere
        for (qsizetype at = 0; at < body.size(); at += piece) {
            const QByteArray part = body.mid(at, piece);
            sent += QByteArray::number(part.size(), 16) + "\r\n" + part + "\r\n";
        }
        sent += "0\r\n\r\n";
    } else if (!sized && (hasBody || !body.isEmpty())) {
        head += "Content-Length: " + QByteArray::number(body.size()) + "\r\n";
    }
    // A refusal may come before everything was sent: what is there is read in any case.
    send(head + "\r\n" + sent);
    RawReply reply = readReply();
    reply.elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin);
    return reply;
}

// ---- WebSocket -----------------------------------------------------------------------------------------------------

RawWebSocket::RawWebSocket(const QString &address, const QByteArray &target, const RawHttp::Headers &headers) : m_http(address)
{
    if (!m_http.connect())
        return;
    QByteArray head = "GET " + target + " HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n";
    for (const auto &[name, value] : headers)
        head += name + ": " + value + "\r\n";
    m_http.send(head + "\r\n");
    const RawReply reply = m_http.readHead();
    m_status = reply.status;
    if (m_status == 101 && reply.headers.value("sec-websocket-accept") != "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
        m_status = 0;
}

void RawWebSocket::sendFrame(int opcode, const QByteArray &payload, bool final)
{
    QByteArray frame(1, char((final ? 0x80 : 0) | opcode));
    if (payload.size() < 126) {
        frame.append(char(0x80 | payload.size()));
    } else if (payload.size() < 65536) {
        frame.append(char(0x80 | 126)).append(char(payload.size() >> 8)).append(char(payload.size() & 0xff));
    } else {
        frame.append(char(0x80 | 127));
        for (int shift = 56; shift >= 0; shift -= 8)
            frame.append(char((quint64(payload.size()) >> shift) & 0xff));
    }
    const char mask[4] = {0x12, 0x34, 0x56, 0x78};
    frame.append(mask, 4);
    for (qsizetype i = 0; i < payload.size(); ++i)
        frame.append(char(payload[i] ^ mask[i & 3]));
    m_http.send(frame);
}

std::optional<QByteArray> RawWebSocket::next(std::chrono::milliseconds limit)
{
    const auto deadline = Clock::now() + limit;
    while (true) {
        while (m_buffer.size() >= 2) {
            const auto byte = [this](qsizetype i) { return quint64(static_cast<unsigned char>(m_buffer[i])); };
            const int opcode = int(byte(0) & 0x0f);
            quint64 size = byte(1) & 0x7f;
            qsizetype at = 2;
            const int width = size == 126 ? 2 : size == 127 ? 8 : 0;
            if (m_buffer.size() < at + width)
                break;
            if (width > 0)
                size = 0;
            for (int i = 0; i < width; ++i)
                size = (size << 8) | byte(at + i);
            at += width;
            if (m_buffer.size() < at + qsizetype(size))
                break;
            const QByteArray payload = m_buffer.mid(at, qsizetype(size));
            m_buffer.remove(0, at + qsizetype(size));
            if (opcode == 1)
                return payload;
            if (opcode == 8) {
                m_closeCode = payload.size() >= 2 ? (static_cast<unsigned char>(payload[0]) << 8) | static_cast<unsigned char>(payload[1]) : 1005;
                return std::nullopt;
            }
        }
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
        if (left.count() <= 0 || m_closeCode)
            return std::nullopt;
        const QByteArray more = m_http.readSome(left);
        if (more.isEmpty())
            return std::nullopt;
        m_buffer += more;
    }
}

} // namespace paddock::test
