// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/truncate.h"

#include "core/base/text.h"

#include <QRegularExpression>

#include <algorithm>

namespace paddock {

namespace {

constexpr qsizetype smallestLineCap = 32;

const QString &bashMarker()
{
    static const QString marker = QStringLiteral("\n... [middle truncated: %1 chars skipped] ...\n");
    return marker;
}

/// The marks of earlier cuts in a command's output: what is missing behind them, and their own characters.
struct CutMarks {
    qsizetype missing = 0;
    qsizetype characters = 0;
    qsizetype gap() const { return missing - characters; }
};

CutMarks marksIn(const QString &text)
{
    static const QRegularExpression mark(
        QStringLiteral("\\n\\.\\.\\. \\[(?:middle truncated: (\\d{1,15}) chars skipped|(\\d{1,15}) characters truncated)\\] \\.\\.\\.\\n"));
    CutMarks marks;
    for (auto each = mark.globalMatch(text); each.hasNext();) {
        const QRegularExpressionMatch match = each.next();
        marks.missing += (match.hasCaptured(1) ? match.capturedView(1) : match.capturedView(2)).toLongLong();
        marks.characters += match.capturedLength();
    }
    return marks;
}

/// The marker has one place for a number (%1); it is measured with the total in that place.
QString cutMiddle(const QString &text, qsizetype max, const QString &marker)
{
    const qsizetype total = codePointCount(text);
    if (max == 0 || total <= max)
        return text;
    const qsizetype kept = max - marker.arg(total).size();
    if (kept <= 0)
        return firstCodePoints(text, max);
    const qsizetype head = kept / 2;
    const QString first = firstCodePoints(text, head);
    const QString last = lastCodePoints(text, kept - head);
    const qsizetype before = marksIn(text).gap() - marksIn(first).gap() - marksIn(last).gap(); // behind marks that go now
    return first + marker.arg(total - kept + std::max<qsizetype>(0, before)) + last;
}

QString cutHead(const QString &text, qsizetype max, const QString &marker)
{
    const qsizetype total = codePointCount(text);
    if (max == 0 || total <= max)
        return text;
    const qsizetype kept = max - marker.arg(total).arg(total).size();
    if (kept <= 0)
        return firstCodePoints(text, max);
    return firstCodePoints(text, kept) + marker.arg(kept).arg(total);
}

} // namespace

qsizetype missingFromBash(const QString &text)
{
    return marksIn(text).missing;
}

QString truncateBash(const QString &text, qsizetype max, Truncation form)
{
    const QString &marker = bashMarker();
    if (form == Truncation::Classic || max <= 0)
        return cutMiddle(text, max, marker);
    const qsizetype cap = std::max(max, smallestLineCap);
    if (codePointCount(text) <= cap)
        return text;
    static const QRegularExpression exitLine(
        QStringLiteral("(?:\\n|\\A)(?:Exit Code: -?\\d+|Command exited with code -?\\d+)\\s*\\z"));
    const QRegularExpressionMatch match = exitLine.match(text);
    if (!match.hasMatch())
        return cutMiddle(text, cap, marker);
    const QString tail = text.mid(match.capturedStart());
    const qsizetype room = cap - codePointCount(tail);
    if (room <= 0)
        return lastCodePoints(text, cap);
    return cutMiddle(text.left(match.capturedStart()), room, marker) + tail;
}

QString truncateReadFile(const QString &text, qsizetype max, Truncation form, qsizetype firstLine)
{
    const QString classic = QStringLiteral("\n... [truncated: showing first %1 of %2 chars. Use start_line/end_line to read a "
                                           "specific range] ...");
    const qsizetype total = codePointCount(text);
    if (form == Truncation::Classic || max <= 0 || total <= max)
        return cutHead(text, max, classic);
    const QString marker = QStringLiteral("\n... [truncated: showing first %1 of %2 lines (%3 of %4 chars). Continue with "
                                          "start_line=%5] ...");
    const qsizetype lines = text.count(u'\n') + (text.endsWith(u'\n') ? 0 : 1);
    const qsizetype room = max - marker.arg(lines).arg(lines).arg(total).arg(total).arg(firstLine + lines).size();
    const QString head = firstCodePoints(text, room);
    const qsizetype end = head.lastIndexOf(u'\n');
    if (end <= 0)
        return cutHead(text, max, classic); // not even one whole line fits
    const qsizetype shown = QStringView(head).left(end).count(u'\n') + 1;
    const QString kept = head.left(end);
    return kept + marker.arg(shown).arg(lines).arg(codePointCount(kept)).arg(total).arg(firstLine + shown);
}

QString truncateLs(const QString &text, qsizetype max)
{
    return cutHead(text, max, QStringLiteral("\n... [truncated: showing first %1 of %2 chars. Use a more specific path to see "
                                             "fewer results] ..."));
}

QString truncateWriteError(const QString &text, qsizetype max)
{
    return cutMiddle(text, max, QStringLiteral("\n... [write_file error truncated: %1 chars skipped] ...\n"));
}

} // namespace paddock
