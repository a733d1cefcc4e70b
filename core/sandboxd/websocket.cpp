// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandboxd/websocket.h"

#include <QCryptographicHash>

namespace paddock::sandboxd::websocket {

namespace {
constexpr int protocolError = 1002;
constexpr int tooBig = 1009;
constexpr int controlLimit = 125;
}

QByteArray acceptKey(const QByteArray &clientKey)
{
    return QCryptographicHash::hash(clientKey + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11", QCryptographicHash::Sha1).toBase64();
}

QByteArray frame(Opcode opcode, QByteArrayView payload)
{
    QByteArray out;
    out.reserve(payload.size() + 10);
    out.append(char(0x80 | int(opcode)));
    const auto size = quint64(payload.size());
    if (size < 126) {
        out.append(char(size));
    } else if (size < 65536) {
        out.append(char(126)).append(char(size >> 8)).append(char(size & 0xff));
    } else {
        out.append(char(127));
        for (int shift = 56; shift >= 0; shift -= 8)
            out.append(char((size >> shift) & 0xff));
    }
    return out.append(payload);
}

QByteArray closeFrame(int code, QByteArrayView reason)
{
    QByteArray payload;
    payload.append(char(code >> 8)).append(char(code & 0xff)).append(reason.first(std::min<qsizetype>(reason.size(), controlLimit - 2)));
    return frame(Opcode::Close, payload);
}

std::optional<Message> Reader::refuse(int code)
{
    m_closeCode = code;
    m_buffer.clear();
    m_fragments.clear();
    return std::nullopt;
}

std::optional<Message> Reader::next()
{
    while (!m_closeCode && m_buffer.size() >= 2) {
        const auto byte = [this](qsizetype i) { return static_cast<unsigned char>(m_buffer[i]); };
        const bool final = byte(0) & 0x80;
        const auto opcode = Opcode(byte(0) & 0x0f);
        const bool control = byte(0) & 0x08;
        // Clients must mask; nobody negotiated an extension.
        if ((byte(0) & 0x70) || !(byte(1) & 0x80) || (control && (!final || (byte(1) & 0x7f) > controlLimit)))
            return refuse(protocolError);
        quint64 size = byte(1) & 0x7f;
        qsizetype at = 2;
        if (size >= 126) {
            const int width = size == 126 ? 2 : 8;
            if (m_buffer.size() < at + width)
                return std::nullopt;
            size = 0;
            for (int i = 0; i < width; ++i)
                size = (size << 8) | byte(at + i);
            at += width;
        }
        if (size > quint64(m_limit) || qint64(size) + m_fragments.size() > m_limit)
            return refuse(tooBig);
        if (m_buffer.size() < at + 4 + qsizetype(size))
            return std::nullopt;
        QByteArray payload = m_buffer.mid(at + 4, qsizetype(size));
        for (qsizetype i = 0; i < payload.size(); ++i)
            payload[i] = char(payload[i] ^ m_buffer[at + (i & 3)]);
        m_buffer.remove(0, at + 4 + qsizetype(size));
        if (control)
            return Message{opcode, payload};
        if (opcode == Opcode::Continuation ? !m_inFragments : (m_inFragments || (opcode != Opcode::Text && opcode != Opcode::Binary)))
            return refuse(protocolError);
        if (opcode != Opcode::Continuation)
            m_fragmentOpcode = opcode;
        m_fragments += payload;
        m_inFragments = !final;
        if (final)
            return Message{m_fragmentOpcode, std::exchange(m_fragments, {})};
    }
    return std::nullopt;
}

} // namespace paddock::sandboxd::websocket
