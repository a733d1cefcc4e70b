// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/aio/http_parser.h"

#include <algorithm>

namespace paddock::aio {

namespace {

constexpr qsizetype maxChunkLine = 1024; // size and extensions

bool hasToken(const QByteArray &list, QByteArrayView token)
{
    const auto parts = list.split(',');
    return std::any_of(parts.begin(), parts.end(), [&](const QByteArray &part) {
        return part.trimmed().compare(token, Qt::CaseInsensitive) == 0;
    });
}

} // namespace

void HttpParser::fail(const QString &why)
{
    m_state = State::Failed;
    m_error = why;
    m_pending.clear();
}

QByteArray HttpParser::header(QByteArrayView name) const
{
    for (const auto &[key, value] : m_reply.headers) {
        if (key.compare(name, Qt::CaseInsensitive) == 0)
            return value;
    }
    return {};
}

QByteArray HttpParser::takeBody()
{
    return std::exchange(m_reply.body, QByteArray());
}

wire::RawReply HttpParser::takeReply()
{
    return std::exchange(m_reply, wire::RawReply());
}

void HttpParser::feed(QByteArrayView bytes)
{
    if (bytes.isEmpty())
        return;
    m_anyByte = true;
    if (m_state == State::Done)
        m_extra = true;
    if (m_state == State::Done || m_state == State::Failed)
        return;
    if (m_state == State::Body && m_pending.isEmpty() && (m_framing == Framing::Length || m_framing == Framing::UntilClose)) {
        // The common big case: body bytes go straight to the body.
        const qint64 take = m_framing == Framing::Length ? std::min<qint64>(m_left, bytes.size()) : bytes.size();
        if (!appendBody(bytes.first(take)))
            return;
        if (m_framing == Framing::Length && (m_left -= take) == 0) {
            m_state = State::Done;
            m_extra = take < bytes.size();
        }
        return;
    }
    m_pending.append(bytes);
    while (m_state == State::Head && parseHead()) { } // interim replies go by
    if (m_state != State::Body)
        return;
    if (m_framing == Framing::Chunked) {
        while (m_state == State::Body && stepChunked()) { }
        return;
    }
    const QByteArray rest = std::exchange(m_pending, QByteArray());
    m_anyByte = true;
    feed(rest);
}

bool HttpParser::parseHead()
{
    qsizetype end = m_pending.indexOf("\r\n\r\n");
    qsizetype after = end + 4;
    if (const qsizetype bare = m_pending.indexOf("\n\n"); bare >= 0 && (end < 0 || bare < end)) {
        end = bare;
        after = bare + 2;
    }
    if (end < 0 ? m_pending.size() > m_limits.headBytes : end > m_limits.headBytes) {
        fail(QStringLiteral("the reply's headers are larger than %1 bytes").arg(m_limits.headBytes));
        return false;
    }
    if (end < 0)
        return false;
    const QByteArray head = m_pending.first(end);
    m_pending.remove(0, after);
    m_reply.headers.clear();
    bool first = true;
    for (QByteArray line : head.split('\n')) {
        if (line.endsWith('\r'))
            line.chop(1);
        if (std::exchange(first, false)) {
            if (!parseStatusLine(line))
                return false;
            continue;
        }
        const qsizetype colon = line.indexOf(':');
        if (colon <= 0 || line.startsWith(' ') || line.startsWith('\t')) {
            fail(QStringLiteral("the reply has a malformed header line"));
            return false;
        }
        m_reply.headers.emplace_back(line.first(colon).trimmed(), line.sliced(colon + 1).trimmed());
    }
    if (m_reply.status >= 100 && m_reply.status < 200 && m_reply.status != 101)
        return true; // interim: the real head follows
    return chooseFraming();
}

bool HttpParser::parseStatusLine(QByteArrayView line)
{
    const QByteArray text = line.toByteArray();
    bool ok = false;
    const int status = text.mid(9, 3).toInt(&ok);
    if (!text.startsWith("HTTP/1.") || text.size() < 12 || !ok || status < 100) {
        fail(QStringLiteral("the reply is not HTTP/1.1"));
        return false;
    }
    m_keepAlive = !text.startsWith("HTTP/1.0");
    m_reply.status = status;
    return true;
}

bool HttpParser::chooseFraming()
{
    const QByteArray connection = header("connection");
    if (hasToken(connection, "close"))
        m_keepAlive = false;
    else if (hasToken(connection, "keep-alive"))
        m_keepAlive = true;

    std::optional<qint64> length;
    for (const auto &[key, value] : m_reply.headers) {
        if (key.compare("content-length", Qt::CaseInsensitive) != 0)
            continue;
        bool ok = false;
        const qint64 n = value.toLongLong(&ok);
        if (!ok || n < 0 || (length && *length != n)) {
            fail(QStringLiteral("the reply has a malformed Content-Length"));
            return false;
        }
        length = n;
    }
    const QByteArray encoding = header("transfer-encoding");
    m_state = State::Body;
    if (m_bodyless || m_reply.status == 204 || m_reply.status == 304) {
        m_state = State::Done;
        m_extra = !m_pending.isEmpty();
    } else if (!encoding.isEmpty()) {
        if (!hasToken(encoding, "chunked")) {
            fail(QStringLiteral("the reply has an unknown transfer encoding"));
            return false;
        }
        m_framing = Framing::Chunked;
        if (length)
            m_keepAlive = false; // two answers about where it ends: do not trust the connection any further
    } else if (length) {
        m_framing = Framing::Length;
        m_left = *length;
        if (*length > m_limits.bodyBytes) {
            m_tooLarge = true;
            fail(QStringLiteral("body too large: %1 bytes, the limit is %2").arg(*length).arg(m_limits.bodyBytes));
            return false;
        }
        m_reply.body.reserve(*length);
        if (m_left == 0) {
            m_state = State::Done;
            m_extra = !m_pending.isEmpty();
        }
    } else {
        m_framing = Framing::UntilClose;
        m_keepAlive = false;
    }
    return false; // leave the head loop
}

bool HttpParser::takeLine(QByteArray &line)
{
    const qsizetype end = m_pending.indexOf('\n');
    if (end < 0) {
        if (m_pending.size() > maxChunkLine)
            fail(QStringLiteral("the reply has a malformed chunk"));
        return false;
    }
    line = m_pending.first(end);
    m_pending.remove(0, end + 1);
    if (line.endsWith('\r'))
        line.chop(1);
    return true;
}

/// One step of the chunked coding; false when more bytes are needed or the reply is over.
bool HttpParser::stepChunked()
{
    QByteArray line;
    switch (m_chunk) {
    case Chunk::Size: {
        if (!takeLine(line))
            return false;
        bool ok = false;
        const QByteArray digits = line.first(line.indexOf(';') < 0 ? line.size() : line.indexOf(';')).trimmed();
        m_left = digits.toLongLong(&ok, 16);
        if (!ok || digits.isEmpty() || m_left < 0 || digits.startsWith('+') || digits.startsWith('-')) {
            fail(QStringLiteral("the reply has a malformed chunk"));
            return false;
        }
        m_chunk = m_left == 0 ? Chunk::Trailer : Chunk::Data;
        return true;
    }
    case Chunk::Data: {
        const qint64 take = std::min<qint64>(m_left, m_pending.size());
        if (!appendBody(QByteArrayView(m_pending).first(take)))
            return false;
        m_pending.remove(0, take);
        m_left -= take;
        if (m_left > 0)
            return false;
        m_chunk = Chunk::DataEnd;
        return true;
    }
    case Chunk::DataEnd:
        if (!takeLine(line))
            return false;
        if (!line.isEmpty()) {
            fail(QStringLiteral("the reply has a malformed chunk"));
            return false;
        }
        m_chunk = Chunk::Size;
        return true;
    case Chunk::Trailer:
        if (!takeLine(line))
            return false;
        m_trailerBytes += line.size();
        if (m_trailerBytes > m_limits.headBytes) {
            fail(QStringLiteral("the reply's trailers are too large"));
            return false;
        }
        if (!line.isEmpty())
            return true;
        m_state = State::Done;
        m_extra = !m_pending.isEmpty();
        return false;
    }
    return false;
}

bool HttpParser::appendBody(QByteArrayView bytes)
{
    m_bodyTotal += bytes.size();
    if (m_bodyTotal > m_limits.bodyBytes) {
        m_tooLarge = true;
        m_reply.body.clear();
        fail(QStringLiteral("body too large: more than %1 bytes").arg(m_limits.bodyBytes));
        return false;
    }
    m_reply.body.append(bytes);
    return true;
}

void HttpParser::end()
{
    if (m_state == State::Done || m_state == State::Failed)
        return;
    if (m_state == State::Body && m_framing == Framing::UntilClose)
        m_state = State::Done;
    else
        fail(QStringLiteral("the reply ended early"));
}

} // namespace paddock::aio
