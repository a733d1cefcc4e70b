// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandboxd/shell_stream.h"

#include <algorithm>
#include <cstring>

namespace paddock::sandboxd {

namespace {
constexpr qint64 resumeBytes = 64 * 1024; // where a reader that fell behind goes on
}

RingReader::RingReader(const ByteRing &ring, qint64 replay)
{
    m_at = std::max(ring.begin(), ring.end() - replay);
    if (m_at > ring.begin() || ring.begin() > 0) {
        // Never begin inside a line: it may be inside an escape sequence or a character.
        const qsizetype newline = ring.mid(m_at, replay).indexOf('\n');
        if (newline >= 0)
            m_at += newline + 1;
    }
}

qint64 RingReader::read(const ByteRing &ring, char *out, qint64 size)
{
    if (m_at < ring.begin()) {
        const qint64 lost = m_at;
        *this = RingReader(ring, resumeBytes);
        m_mark = "\r\n\x1b[0m\x1b[7m[" + QByteArray::number(m_at - lost) + " bytes skipped]\x1b[0m\r\n";
    }
    if (!m_mark.isEmpty()) {
        const qint64 count = std::min<qint64>(size, m_mark.size());
        std::memcpy(out, m_mark.constData(), size_t(count));
        m_mark.remove(0, count);
        return count;
    }
    const qint64 count = ring.copy(m_at, out, size);
    m_at += count;
    return count;
}

void streamSession(const ExchangePtr &exchange, const std::shared_ptr<ShellSession> &session)
{
    struct Stream {
        RingReader reader;
        bool over = false;
    };
    auto stream = std::make_shared<Stream>(RingReader(session->ring(), replayBytes));
    const std::weak_ptr<HttpExchange> weak = exchange;
    const auto wake = [weak] {
        if (const auto alive = weak.lock())
            alive->wake();
    };
    const auto id = session->observe({wake, [stream, wake](bool) {
                                          stream->over = true;
                                          wake();
                                      }});
    exchange->onFinished = [session, id] { session->stopObserving(id); };
    HttpReply reply;
    reply.contentType = "application/octet-stream";
    reply.headers.append(std::pair<QByteArray, QByteArray>("Cache-Control", "no-store"));
    reply.source = [session, stream](char *buffer, qint64 size) {
        const qint64 count = stream->reader.read(session->ring(), buffer, size);
        return count == 0 && stream->over ? HttpReply::endOfBody : count;
    };
    exchange->reply(std::move(reply));
}

} // namespace paddock::sandboxd
