// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QByteArray>

#include <cstdint>
#include <optional>

// The frame codec of RFC 6455, server side. Pure.
namespace paddock::sandboxd::websocket {

enum class Opcode : std::uint8_t { Continuation = 0, Text = 1, Binary = 2, Close = 8, Ping = 9, Pong = 10 };

/// The value of Sec-WebSocket-Accept.
QByteArray acceptKey(const QByteArray &clientKey);
/// One unmasked, final frame.
QByteArray frame(Opcode opcode, QByteArrayView payload);
QByteArray closeFrame(int code, QByteArrayView reason = {});

struct Message {
    Opcode opcode = Opcode::Text;
    QByteArray payload;
};

/// Cuts whole messages out of the bytes of a client; joins fragments.
class Reader
{
public:
    explicit Reader(qint64 limit) : m_limit(limit) {}
    void feed(QByteArrayView bytes) { m_buffer.append(bytes); }
    /// The next message, if there is a whole one. After a protocol error `closeCode` is set and nothing more comes.
    std::optional<Message> next();
    int closeCode() const { return m_closeCode; }

private:
    std::optional<Message> refuse(int code);

    qint64 m_limit;
    QByteArray m_buffer;
    QByteArray m_fragments;
    Opcode m_fragmentOpcode = Opcode::Text;
    bool m_inFragments = false;
    int m_closeCode = 0;
};

} // namespace paddock::sandboxd::websocket
