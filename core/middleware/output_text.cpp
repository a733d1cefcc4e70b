// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/output_text.h"

#include "core/base/text.h"

#include <algorithm>

namespace paddock::output_text {

namespace {

constexpr qsizetype ellipsisChars = 3;

bool isLineEnd(QChar c)
{
    const ushort u = c.unicode();
    return (u >= 0x0a && u <= 0x0d) || (u >= 0x1c && u <= 0x1e) || u == 0x85 || u == 0x2028 || u == 0x2029;
}

} // namespace

bool isSpace(QChar c)
{
    const ushort u = c.unicode();
    return (u >= 0x09 && u <= 0x0d) || (u >= 0x1c && u <= 0x20) || u == 0x85 || u == 0xa0 || u == 0x1680
        || (u >= 0x2000 && u <= 0x200a) || u == 0x2028 || u == 0x2029 || u == 0x202f || u == 0x205f || u == 0x3000;
}

qsizetype unitOffset(QStringView text, qsizetype points)
{
    qsizetype i = 0;
    for (; points > 0 && i < text.size(); --points)
        i += text.at(i).isHighSurrogate() && i + 1 < text.size() && text.at(i + 1).isLowSurrogate() ? 2 : 1;
    return i;
}

QString clipped(const QString &text, qsizetype limit)
{
    if (limit <= 0)
        return {};
    if (unitOffset(text, limit) >= text.size())
        return text;
    return firstCodePoints(text, std::max<qsizetype>(0, limit - ellipsisChars)) + QStringLiteral("...");
}

QString oneLine(QStringView text, qsizetype limit)
{
    QString line;
    bool gap = false;
    for (const QChar c : text) {
        if (isSpace(c)) {
            gap = !line.isEmpty();
            continue;
        }
        if (gap)
            line += QLatin1Char(' ');
        gap = false;
        line += c;
    }
    return clipped(line, limit);
}

qsizetype wordCount(QStringView text)
{
    qsizetype words = 0;
    bool inside = false;
    for (const QChar c : text) {
        const bool space = isSpace(c);
        if (!space && !inside)
            ++words;
        inside = !space;
    }
    return words;
}

QList<QStringView> lines(QStringView text, qsizetype limit)
{
    QList<QStringView> out;
    qsizetype from = 0;
    for (qsizetype i = 0; i < text.size(); ++i) {
        if (!isLineEnd(text.at(i)))
            continue;
        if (limit >= 0 && out.size() >= limit)
            return out;
        out.append(text.sliced(from, i - from));
        if (text.at(i) == u'\r' && i + 1 < text.size() && text.at(i + 1) == u'\n')
            ++i;
        from = i + 1;
    }
    if (from < text.size() && (limit < 0 || out.size() < limit))
        out.append(text.sliced(from));
    return out;
}

} // namespace paddock::output_text
