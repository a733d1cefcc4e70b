// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/sandboxd/http_server.h"
#include "core/sandboxd/shell_session.h"

namespace paddock::sandboxd {

inline constexpr qint64 replayBytes = 256 * 1024; ///< scrollback that a new observer gets first

/// A reader's place in a session's ring. A reader that fell behind the ring goes on near its end, after a mark.
class RingReader
{
public:
    RingReader(const ByteRing &ring, qint64 replay);
    /// Copies what is next; 0 when there is nothing.
    qint64 read(const ByteRing &ring, char *out, qint64 size);
    qint64 behind(const ByteRing &ring) const { return ring.end() - m_at; }

private:
    qint64 m_at = 0;
    QByteArray m_mark;
};

/// Answers GET /v1/paddock/shell/stream: raw terminal bytes for as long as the session and the reader last.
void streamSession(const ExchangePtr &exchange, const std::shared_ptr<ShellSession> &session);

} // namespace paddock::sandboxd
