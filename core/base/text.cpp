// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/base/text.h"

#include <QCryptographicHash>

namespace paddock {

namespace {

/// Index in UTF-16 units of the n-th code point.
qsizetype unitIndex(QStringView text, qsizetype n)
{
    qsizetype i = 0;
    for (; n > 0 && i < text.size(); --n)
        i += (text.at(i).isHighSurrogate() && i + 1 < text.size() && text.at(i + 1).isLowSurrogate()) ? 2 : 1;
    return i;
}

bool isPythonSpace(QChar c)
{
    const ushort u = c.unicode();
    return (u >= 0x09 && u <= 0x0d) || (u >= 0x1c && u <= 0x20) || u == 0x85 || u == 0xa0 || u == 0x1680
        || (u >= 0x2000 && u <= 0x200a) || u == 0x2028 || u == 0x2029 || u == 0x202f || u == 0x205f || u == 0x3000;
}

} // namespace

qsizetype codePointCount(QStringView text)
{
    qsizetype pairs = 0;
    for (qsizetype i = 0; i + 1 < text.size(); ++i) {
        if (text.at(i).isHighSurrogate() && text.at(i + 1).isLowSurrogate()) {
            ++pairs;
            ++i;
        }
    }
    return text.size() - pairs;
}

QString firstCodePoints(const QString &text, qsizetype n)
{
    return n <= 0 ? QString() : text.left(unitIndex(text, n));
}

QString lastCodePoints(const QString &text, qsizetype n)
{
    if (n <= 0)
        return {};
    const qsizetype count = codePointCount(text);
    return count <= n ? text : text.mid(unitIndex(text, count - n));
}

QString boundText(const QString &text, qsizetype cap)
{
    static const QString marker = QStringLiteral("\n...\n");
    if (codePointCount(text) <= cap)
        return text;
    if (cap <= 0)
        return {};
    if (cap <= marker.size())
        return firstCodePoints(text, cap);
    const qsizetype head = cap * 2 / 3;
    const qsizetype tail = cap - head - marker.size();
    if (tail <= 0)
        return firstCodePoints(text, cap);
    return firstCodePoints(text, head) + marker + lastCodePoints(text, tail);
}

QString escapeMarkup(const QString &text, bool attribute)
{
    QString out;
    out.reserve(text.size());
    for (const QChar c : text) {
        switch (c.unicode()) {
        case '&': out += QLatin1String("&amp;"); break;
        case '<': out += QLatin1String("&lt;"); break;
        case '>': out += QLatin1String("&gt;"); break;
        case '"': out += attribute ? QLatin1String("&quot;") : QLatin1String("\""); break;
        case '\'': out += attribute ? QLatin1String("&#x27;") : QLatin1String("'"); break;
        default: out += c;
        }
    }
    return out;
}

QString shellQuote(const QString &text)
{
    if (text.isEmpty())
        return QStringLiteral("''");
    bool safe = true;
    for (const QChar c : text) {
        const ushort u = c.unicode();
        const bool word = (u >= '0' && u <= '9') || (u >= 'a' && u <= 'z') || (u >= 'A' && u <= 'Z')
            || QStringView(u"_@%+=:,./-").contains(c);
        if (!word) {
            safe = false;
            break;
        }
    }
    if (safe)
        return text;
    QString out = text;
    out.replace(QLatin1Char('\''), QLatin1String("'\"'\"'"));
    return QLatin1Char('\'') + out + QLatin1Char('\'');
}

QString sha256Hex(const QByteArray &bytes)
{
    return QString::fromLatin1(QCryptographicHash::hash(bytes, QCryptographicHash::Sha256).toHex());
}

QString sha256Hex(const QString &text)
{
    return sha256Hex(text.toUtf8());
}

QString pythonStrip(const QString &text)
{
    qsizetype from = 0;
    qsizetype to = text.size();
    while (from < to && isPythonSpace(text.at(from)))
        ++from;
    while (to > from && isPythonSpace(text.at(to - 1)))
        --to;
    return text.mid(from, to - from);
}

QString formatG(double value)
{
    return QString::asprintf("%g", value);
}

} // namespace paddock
