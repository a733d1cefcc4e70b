// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/text_edit.h"

#include "core/base/text.h"

#include <QStringList>

#include <algorithm>

namespace paddock {

namespace {

bool is(QChar c, char wanted) { return c == QLatin1Char(wanted); }
bool is(char c, char wanted) { return c == wanted; }

template<typename Text>
bool isCrlfThroughout(const Text &content)
{
    qsizetype found = 0;
    for (qsizetype i = 0; i < content.size(); ++i) {
        if (!is(content.at(i), '\n'))
            continue;
        if (i == 0 || !is(content.at(i - 1), '\r'))
            return false;
        ++found;
    }
    return found > 0;
}

template<typename Text>
void toCrlf(Text &text, const Text &lf, const Text &crlf)
{
    text.replace(crlf, lf);
    text.replace(lf, crlf);
}

template<typename Text>
std::optional<Text> replaceIn(const Text &content, Text oldText, Text newText, bool all, const Text &lf, const Text &crlf)
{
    if (oldText.isEmpty())
        return content;
    if (isCrlfThroughout(content) && (oldText.contains(lf) || newText.contains(lf))) {
        toCrlf(oldText, lf, crlf);
        toCrlf(newText, lf, crlf);
    }
    const qsizetype first = content.indexOf(oldText);
    if (first < 0)
        return std::nullopt;
    Text changed = content;
    if (all)
        changed.replace(oldText, newText);
    else
        changed.replace(first, oldText.size(), newText);
    return changed;
}

RangeText notice(const QString &text)
{
    return {text, true};
}

} // namespace

QString withUnixLineEnds(const QString &text)
{
    if (!text.contains(u'\r'))
        return text;
    return QString(text).replace(QStringLiteral("\r\n"), QStringLiteral("\n")).replace(u'\r', u'\n');
}

RangeText readRange(const QString &content, std::optional<qint64> startLine, std::optional<qint64> endLine)
{
    const qint64 start = startLine.value_or(1);
    if (startLine && start < 1)
        return notice(QStringLiteral("(start_line must be >= 1)"));
    if (endLine && *endLine < 1)
        return notice(QStringLiteral("(end_line must be >= 1)"));
    if (endLine && *endLine < start)
        return notice(QStringLiteral("(start_line > end_line \u2014 no lines in range)"));
    if (content.isEmpty())
        return notice(start > 1 ? QStringLiteral("(start_line exceeds file length)") : QStringLiteral("(empty)"));
    const QString text = withUnixLineEnds(content);
    if (!startLine && !endLine)
        return {text, false};
    QStringList lines = text.split(u'\n');
    if (text.endsWith(u'\n'))
        lines.removeLast();
    if (start > lines.size())
        return notice(QStringLiteral("(start_line exceeds file length)"));
    const qint64 end = std::min<qint64>(endLine.value_or(lines.size()), lines.size());
    return {lines.mid(start - 1, end - start + 1).join(u'\n'), false};
}

qint64 writeFileLimit(const std::optional<QString> &variable)
{
    if (!variable)
        return defaultWriteFileBytes;
    bool ok = false;
    const qint64 value = pythonStrip(*variable).toLongLong(&ok);
    return ok ? value : defaultWriteFileBytes;
}

std::optional<QString> writeSizeError(qint64 bytes, qint64 limit)
{
    if (limit <= 0 || bytes <= limit)
        return std::nullopt;
    return QStringLiteral("Error: write_file content (%1 bytes) exceeds the %2-byte single-call limit. Split the content into "
                          "smaller pieces: either (a) write the first section now, then use `str_replace` for further edits, "
                          "or (b) call write_file again with append=True carrying the next section. See SIZE POLICY in the "
                          "tool docstring or issue #3189 for the rationale.").arg(bytes).arg(limit);
}

std::optional<QString> replaceText(const QString &content, QString oldText, QString newText, bool all)
{
    return replaceIn<QString>(content, std::move(oldText), std::move(newText), all, QStringLiteral("\n"),
                              QStringLiteral("\r\n"));
}

std::optional<QByteArray> replaceBytes(const QByteArray &content, QByteArray oldText, QByteArray newText, bool all)
{
    return replaceIn<QByteArray>(content, std::move(oldText), std::move(newText), all, QByteArrayLiteral("\n"),
                                 QByteArrayLiteral("\r\n"));
}

} // namespace paddock
