// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandboxd/output_buffer.h"

#include "core/base/text.h"

#include <algorithm>
#include <cstring>

namespace paddock::sandboxd {

namespace {

constexpr qint64 firstRingSize = 4096;
constexpr QByteArrayView pasteOn("\x1b[?2004h");
constexpr QByteArrayView pasteOff("\x1b[?2004l");

bool isContinuation(char c)
{
    return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

QString marker(qint64 characters)
{
    return QStringLiteral("\n... [%1 characters truncated] ...\n").arg(characters);
}

/// Length of an unfinished UTF-8 sequence at the end.
qsizetype brokenTail(QByteArrayView bytes)
{
    for (qsizetype back = 1; back <= 4 && back <= bytes.size(); ++back) {
        const auto c = static_cast<unsigned char>(bytes[bytes.size() - back]);
        if ((c & 0xc0) == 0x80)
            continue;
        const qsizetype need = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;
        return need > back ? back : 0;
    }
    return 0;
}

} // namespace

qint64 countCodePoints(QByteArrayView bytes)
{
    qint64 count = 0;
    for (const char c : bytes)
        count += !isContinuation(c);
    return count;
}

QString truncateMiddle(const QString &text, qint64 limit)
{
    if (limit <= 0 || text.size() <= limit)
        return text;
    const qint64 count = codePointCount(text);
    if (count <= limit)
        return text;
    const qint64 half = limit / 2;
    return firstCodePoints(text, half) + marker(count - 2 * half) + lastCodePoints(text, half);
}

// ---- ByteRing ------------------------------------------------------------------------------------------------------

void ByteRing::grow(qint64 needed)
{
    const qint64 current = m_data.size();
    if (needed <= current || current == m_capacity)
        return;
    qint64 size = std::max(current, firstRingSize);
    while (size < needed)
        size *= 2;
    const QByteArray kept = all();
    m_data.resize(std::min(size, m_capacity));
    // The place of a byte is its absolute offset modulo the size of the store.
    for (qint64 done = 0; done < kept.size();) {
        const qint64 at = (m_end - kept.size() + done) % m_data.size();
        const qint64 count = std::min<qint64>(kept.size() - done, m_data.size() - at);
        std::memcpy(m_data.data() + at, kept.constData() + done, size_t(count));
        done += count;
    }
}

void ByteRing::append(QByteArrayView bytes)
{
    if (m_capacity <= 0) {
        m_end += bytes.size();
        return;
    }
    grow(std::min(m_size + bytes.size(), m_capacity));
    if (bytes.size() > m_capacity) {
        m_end += bytes.size() - m_capacity;
        bytes = bytes.last(m_capacity);
    }
    char *store = m_data.data();
    for (qint64 done = 0; done < bytes.size();) {
        const qint64 at = m_end % m_data.size();
        const qint64 count = std::min<qint64>(bytes.size() - done, m_data.size() - at);
        std::memcpy(store + at, bytes.data() + done, size_t(count));
        done += count;
        m_end += count;
    }
    m_size = std::min(m_size + bytes.size(), m_capacity);
}

qint64 ByteRing::copy(qint64 from, char *out, qint64 size) const
{
    from = std::clamp(from, begin(), m_end);
    const qint64 total = std::min(size, m_end - from);
    for (qint64 done = 0; done < total;) {
        const qint64 at = (from + done) % m_data.size();
        const qint64 count = std::min<qint64>(total - done, m_data.size() - at);
        std::memcpy(out + done, m_data.constData() + at, size_t(count));
        done += count;
    }
    return total;
}

QByteArray ByteRing::mid(qint64 from, qint64 size) const
{
    from = std::clamp(from, begin(), m_end);
    QByteArray out(std::min(size, m_end - from), Qt::Uninitialized);
    copy(from, out.data(), out.size());
    return out;
}

void ByteRing::chop(qint64 count)
{
    count = std::min(count, m_size);
    m_size -= count;
    m_end -= count;
}

// ---- HeadTailBuffer ------------------------------------------------------------------------------------------------

void HeadTailBuffer::append(QByteArrayView bytes)
{
    m_total += bytes.size();
    if (m_head.size() < m_headLimit) {
        const qsizetype count = std::min<qsizetype>(bytes.size(), m_headLimit - m_head.size());
        m_head.append(bytes.first(count));
        bytes = bytes.sliced(count);
    }
    if (bytes.isEmpty())
        return;
    const qint64 lost = m_tail.overflowBy(bytes.size());
    if (lost > 0) {
        const qint64 fromRing = std::min(lost, m_tail.end() - m_tail.begin());
        m_droppedCodePoints += countCodePoints(m_tail.mid(m_tail.begin(), fromRing));
        if (lost > fromRing) {
            m_droppedCodePoints += countCodePoints(bytes.first(lost - fromRing));
            bytes = bytes.sliced(lost - fromRing);
        }
    }
    m_tail.append(bytes);
}

QString HeadTailBuffer::text(qint64 limit, bool chopNewline) const
{
    QByteArray tail = m_tail.all();
    const bool cut = m_tail.begin() > 0 || m_droppedCodePoints > 0;
    if (!cut) {
        QByteArray whole = tail.isEmpty() ? m_head : m_head + tail;
        if (chopNewline && whole.endsWith('\n'))
            whole.chop(1);
        return truncateMiddle(QString::fromUtf8(whole), limit);
    }
    // A code point split by the cut counts as dropped.
    const qsizetype broken = brokenTail(m_head);
    qint64 dropped = m_droppedCodePoints + (broken > 0 ? 1 : 0);
    qsizetype skip = 0;
    while (skip < tail.size() && skip < 4 && isContinuation(tail.at(skip)))
        ++skip;
    if (chopNewline && tail.endsWith('\n'))
        tail.chop(1);
    QString first = QString::fromUtf8(QByteArrayView(m_head).chopped(broken));
    QString last = QString::fromUtf8(QByteArrayView(tail).sliced(std::min(skip, tail.size())));
    if (limit > 0) {
        const qint64 half = limit / 2;
        const qint64 firstCount = codePointCount(first);
        const qint64 lastCount = codePointCount(last);
        dropped += std::max<qint64>(0, firstCount - half) + std::max<qint64>(0, lastCount - half);
        first = firstCodePoints(first, half);
        last = lastCodePoints(last, half);
    }
    return first + marker(dropped) + last;
}

void HeadTailBuffer::chopTail(QByteArrayView suffix)
{
    const qint64 inTail = m_tail.end() - m_tail.begin();
    if (inTail >= suffix.size()) {
        if (m_tail.mid(m_tail.end() - suffix.size(), suffix.size()) == suffix) {
            m_tail.chop(suffix.size());
            m_total -= suffix.size();
        }
    } else if (inTail == 0 && m_head.endsWith(suffix)) {
        m_head.chop(suffix.size());
        m_total -= suffix.size();
    }
}

// ---- OutputFilter --------------------------------------------------------------------------------------------------

void OutputFilter::feed(QByteArrayView bytes, HeadTailBuffer &out)
{
    QByteArray joined;
    if (!m_pending.isEmpty()) {
        joined = m_pending + QByteArray(bytes.data(), bytes.size());
        m_pending.clear();
        bytes = joined;
    }
    const bool escapes = std::memchr(bytes.data(), '\x1b', size_t(bytes.size())) != nullptr;
    qsizetype from = 0;
    for (qsizetype at = 0; at < bytes.size();) {
        if (!escapes) {
            const void *found = std::memchr(bytes.data() + at, '\r', size_t(bytes.size() - at));
            if (!found)
                break;
            at = static_cast<const char *>(found) - bytes.data();
        }
        const char c = bytes[at];
        const QByteArrayView rest = bytes.sliced(at);
        if (c == '\r' && rest.size() == 1) {
            out.append(bytes.sliced(from, at - from));
            m_pending = QByteArray(1, '\r');
            return;
        }
        if (c == '\r' && rest[1] == '\n') {
            out.append(bytes.sliced(from, at - from));
            from = ++at;
            ++at;
            continue;
        }
        if (c == '\x1b') {
            if (rest.startsWith(pasteOn) || rest.startsWith(pasteOff)) {
                out.append(bytes.sliced(from, at - from));
                at += pasteOn.size();
                from = at;
                continue;
            }
            if (rest.size() < pasteOn.size() && (pasteOn.startsWith(rest))) {
                out.append(bytes.sliced(from, at - from));
                m_pending = QByteArray(rest.data(), rest.size());
                return;
            }
        }
        ++at;
    }
    out.append(bytes.sliced(from));
}

void OutputFilter::finish(HeadTailBuffer &out)
{
    out.append(m_pending);
    m_pending.clear();
}

} // namespace paddock::sandboxd
