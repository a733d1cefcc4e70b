// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/wire/envelope.h"

#include <QByteArray>
#include <QString>

namespace paddock::aio {

/// Incremental parser of one HTTP/1.1 reply; foreign bytes, so a pure state machine with limits. Interim (1xx) replies are
/// skipped. Framing: no body for 204, 304 and HEAD; chunked; Content-Length; else until the peer closes. Any thread, one at
/// a time.
class HttpParser
{
public:
    struct Limits {
        qsizetype headBytes = 64 * 1024; ///< status line and headers together
        qint64 bodyBytes = 64LL * 1024 * 1024;
    };
    enum class State { Head, Body, Done, Failed };

    explicit HttpParser(Limits limits, bool bodyless = false) : m_limits(limits), m_bodyless(bodyless) {}

    /// Takes bytes as they come. Bytes after the end of the reply are not consumed: see hasExtra().
    void feed(QByteArrayView bytes);
    /// The peer closed: ends a body without length, fails everything else that is not whole.
    void end();

    State state() const { return m_state; }
    bool headDone() const { return m_state == State::Body || m_state == State::Done; }
    bool anyByte() const { return m_anyByte; }
    /// The connection may carry another request.
    bool keepAlive() const { return m_state == State::Done && m_keepAlive && !m_extra; }
    bool tooLarge() const { return m_tooLarge; }
    const QString &error() const { return m_error; }
    int status() const { return m_reply.status; }
    const wire::Headers &headers() const { return m_reply.headers; }
    QByteArray header(QByteArrayView name) const;
    /// The body bytes so far, which then belong to the caller (streaming); the limit counts what was taken too.
    QByteArray takeBody();
    wire::RawReply takeReply();

private:
    enum class Framing { None, Length, Chunked, UntilClose };
    enum class Chunk { Size, Data, DataEnd, Trailer };

    bool parseHead();
    bool parseStatusLine(QByteArrayView line);
    bool chooseFraming();
    bool takeLine(QByteArray &line);
    bool stepChunked();
    bool appendBody(QByteArrayView bytes);
    void fail(const QString &why);

    const Limits m_limits;
    const bool m_bodyless;
    State m_state = State::Head;
    Framing m_framing = Framing::None;
    Chunk m_chunk = Chunk::Size;
    QByteArray m_pending; ///< not yet understood
    wire::RawReply m_reply;
    qint64 m_left = 0;    ///< of the body (Length) or of the chunk
    qint64 m_bodyTotal = 0;
    qsizetype m_trailerBytes = 0;
    bool m_keepAlive = true;
    bool m_anyByte = false;
    bool m_extra = false;
    bool m_tooLarge = false;
    QString m_error;
};

} // namespace paddock::aio
