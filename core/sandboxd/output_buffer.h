// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QByteArray>
#include <QString>

// Bounded memory for unbounded output (aio-api.md §2.2, §2.3, §3.3). Plain values, no threads.
namespace paddock::sandboxd {

/// Code points that `bytes` holds as UTF-8: bytes that start one.
qint64 countCodePoints(QByteArrayView bytes);
/// `text` with its middle replaced by "\n... [N characters truncated] ...\n" when it has more than `limit` code points;
/// half of the limit is kept on each side. 0 = no limit.
QString truncateMiddle(const QString &text, qint64 limit);

/// Ring of the last `capacity` bytes with absolute offsets. Grows on demand.
class ByteRing
{
public:
    explicit ByteRing(qint64 capacity) : m_capacity(capacity) {}

    void append(QByteArrayView bytes);
    qint64 begin() const { return m_end - m_size; }
    qint64 end() const { return m_end; }
    /// Copies bytes from an absolute offset within [begin, end]; returns how many.
    qint64 copy(qint64 from, char *out, qint64 size) const;
    QByteArray mid(qint64 from, qint64 size) const;
    QByteArray all() const { return mid(begin(), m_size); }
    void chop(qint64 count);
    /// How many bytes the next `append` of `incoming` bytes will drop.
    qint64 overflowBy(qint64 incoming) const { return qMax<qint64>(0, m_size + incoming - m_capacity); }

private:
    void grow(qint64 needed);

    qint64 m_capacity;
    qint64 m_size = 0;
    qint64 m_end = 0;
    QByteArray m_data;
};

/// Keeps the head and the tail of a stream and counts what fell out between them.
class HeadTailBuffer
{
public:
    HeadTailBuffer(qint64 head, qint64 tail) : m_headLimit(head), m_tail(tail) {}

    void append(QByteArrayView bytes);
    qint64 total() const { return m_total; }
    bool isEmpty() const { return m_total == 0; }
    /// The whole as text, invalid UTF-8 as U+FFFD, cut to `limit` code points as truncateMiddle does; without one
    /// trailing newline when asked for.
    QString text(qint64 limit, bool chopNewline) const;
    /// Takes `suffix` away when the stream ends with it and it was kept whole.
    void chopTail(QByteArrayView suffix);

private:
    qint64 m_headLimit;
    QByteArray m_head;
    ByteRing m_tail;
    qint64 m_droppedCodePoints = 0;
    qint64 m_total = 0;
};

/// Turns raw terminal bytes into output text bytes: CRLF to LF, bracketed-paste switches removed (§2.2).
/// Keeps what may be the start of either across calls.
class OutputFilter
{
public:
    void feed(QByteArrayView bytes, HeadTailBuffer &out);
    /// What was held back.
    void finish(HeadTailBuffer &out);

private:
    QByteArray m_pending;
};

} // namespace paddock::sandboxd
