// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/output_budget.h"

#include "core/base/ids.h"
#include "core/base/text.h"
#include "core/middleware/output_text.h"

#include <algorithm>

namespace paddock::output_budget {

namespace {

constexpr qsizetype fileIdDigits = 12;
constexpr qsizetype fileStemChars = 60; ///< at most 240 bytes together with the id: a file name has 255

bool isMeasuredBlock(const Json &block)
{
    return block.is_string() || (block.is_object() && memberOf(block, "text").is_string());
}

const std::string &blockBytes(const Json &block)
{
    return (block.is_string() ? block : memberOf(block, "text")).get_ref<const std::string &>();
}

qint64 thresholdOf(const OutputBudgetOptions &options, const QString &tool)
{
    return options.toolOverrides.value(tool, options.externalizeMinChars);
}

QString omissionMarker(qsizetype chars, const QString &tool)
{
    return QStringLiteral("\n\n[... %1 chars omitted from ").arg(chars) + tool
        + QStringLiteral(" output. Persistent storage unavailable. Consider narrowing the query or using more specific "
                         "parameters.]\n\n");
}

} // namespace

std::optional<QString> measuredText(const Json &content)
{
    if (content.is_string())
        return textOf(content);
    if (!content.is_array() || content.empty() || !std::all_of(content.begin(), content.end(), isMeasuredBlock))
        return std::nullopt;
    QStringList parts;
    for (const Json &block : content)
        parts.append(QString::fromStdString(blockBytes(block)));
    return parts.join(u'\n');
}

bool mayExceed(const OutputBudgetOptions &options, const QString &tool, const Json &content)
{
    if (!options.enabled || options.exemptTools.contains(tool))
        return false;
    const qint64 threshold = thresholdOf(options, tool);
    if (threshold <= 0 && options.fallbackMaxChars <= 0)
        return false;
    std::size_t bytes = 0; // never less than the code points
    if (content.is_string()) {
        bytes = content.get_ref<const std::string &>().size();
    } else if (content.is_array() && std::all_of(content.begin(), content.end(), isMeasuredBlock)) {
        for (const Json &block : content)
            bytes += blockBytes(block).size() + 1;
    }
    const qint64 least = threshold <= 0 ? options.fallbackMaxChars
        : options.fallbackMaxChars <= 0 ? threshold
                                        : std::min(threshold, options.fallbackMaxChars);
    return qint64(bytes) > least;
}

Action decide(const OutputBudgetOptions &options, const QString &tool, qsizetype chars, bool canStore)
{
    if (!options.enabled || options.exemptTools.contains(tool))
        return Action::Keep;
    const qint64 threshold = thresholdOf(options, tool);
    if (canStore && threshold > 0 && chars > threshold)
        return Action::Externalize;
    return options.fallbackMaxChars > 0 && chars > options.fallbackMaxChars ? Action::Truncate : Action::Keep;
}

qsizetype snapEnd(const QString &text, qsizetype position)
{
    const qsizetype unit = output_text::unitOffset(text, position);
    if (position <= 0 || unit >= text.size())
        return position;
    const qsizetype from = output_text::unitOffset(text, position / 2);
    const qsizetype found = QStringView(text).sliced(from, unit - from).lastIndexOf(u'\n');
    return found < 0 ? position : codePointCount(QStringView(text).first(from + found + 1));
}

qsizetype snapStart(const QString &text, qsizetype position)
{
    const qsizetype unit = output_text::unitOffset(text, position);
    if (position <= 0 || unit >= text.size())
        return position;
    const QStringView rest = QStringView(text).sliced(unit);
    const qsizetype reach = output_text::unitOffset(rest, codePointCount(rest) / 2);
    const qsizetype found = rest.first(reach).indexOf(u'\n');
    return found < 0 ? position : position + codePointCount(rest.first(found + 1));
}

QString fallback(const QString &text, const QString &tool, qint64 maxChars, qint64 headChars, qint64 tailChars)
{
    const qsizetype total = codePointCount(text);
    if (maxChars <= 0 || total <= maxChars)
        return text;
    const qsizetype overhead = codePointCount(omissionMarker(total, tool)); // no shorter than the real one
    if (overhead >= maxChars)
        return firstCodePoints(text, maxChars);
    const qsizetype budget = maxChars - overhead;
    const qsizetype head = std::min<qsizetype>(std::max<qint64>(0, headChars), budget);
    const qsizetype tail = std::min<qsizetype>(std::max<qint64>(0, tailChars), budget - head);
    const qsizetype headEnd = snapEnd(text, std::min(head, total));
    const qsizetype tailStart = snapStart(text, std::max(headEnd, total - tail));
    return firstCodePoints(text, headEnd) + omissionMarker(tailStart - headEnd, tool)
        + text.sliced(output_text::unitOffset(text, tailStart));
}

QString fileName(const QString &tool)
{
    QString stem = tool.sliced(tool.lastIndexOf(u'/') + 1);
    const bool log = tool == u"bash" || tool == u"bash_tool" || tool == u"web_fetch";
    stem.remove(QLatin1String(".."));
    for (QChar &c : stem) {
        if (c == u'\\' || c.unicode() < 0x20 || c.unicode() == 0x7f) // a NUL would end the name for the system
            c = u'_';
    }
    stem = firstCodePoints(stem, fileStemChars);
    if (stem.isEmpty())
        stem = QStringLiteral("unknown");
    const QString id = newUuid().remove(u'-').first(fileIdDigits);
    return stem + u'-' + id + (log ? QStringLiteral(".log") : QStringLiteral(".txt"));
}

bool isValidSubdir(const QString &name)
{
    return !name.isEmpty() && name != u"." && name != u".." && !name.contains(u'/') && !name.contains(u'\\')
        && !name.contains(QChar(0));
}

} // namespace paddock::output_budget
