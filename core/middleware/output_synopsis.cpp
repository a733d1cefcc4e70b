// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/output_synopsis.h"

#include "core/base/text.h"
#include "core/middleware/output_text.h"

#include <QRegularExpression>
#include <QSet>

#include <algorithm>

namespace paddock::output_synopsis {

namespace {

constexpr qsizetype synopsisMaxBytes = 5'000'000; ///< of UTF-8; larger texts are only sampled
constexpr double bytesPerMegabyte = 1024.0 * 1024.0;
constexpr qsizetype excerptChars = 420;
constexpr qsizetype binaryProbeChars = 1000;
constexpr double binaryControlShare = 0.05;
constexpr qsizetype textHeaders = 16;
constexpr qsizetype headerChars = 160;
constexpr qsizetype codeImports = 12;
constexpr qsizetype codeSymbols = 24;
constexpr qsizetype importChars = 160;
constexpr qsizetype symbolChars = 180;
constexpr qsizetype codeSignUnits = 1024; ///< behind the start of a line
constexpr qsizetype synopsisLineChars = 1000; ///< more than any honest line has; bounds keys of megabytes

QRegularExpression synopsisPattern(const char *pattern)
{
    return QRegularExpression(QString::fromLatin1(pattern), QRegularExpression::UseUnicodePropertiesOption);
}

QString unknownSample(const QString &text)
{
    if (codePointCount(text) <= 2 * excerptChars)
        return text;
    return firstCodePoints(text, excerptChars) + QStringLiteral("\n...\n") + lastCodePoints(text, excerptChars);
}

OutputSynopsis oversized(const QString &text, qsizetype bytes)
{
    return {QStringLiteral("unknown"), QStringLiteral("Oversized output"),
            {QStringLiteral("The output has %1 characters (%2 MB). Parsing skipped due to size limit.")
                 .arg(QString::number(codePointCount(text)), QString::number(double(bytes) / bytesPerMegabyte, 'f', 1))},
            {}, {}, unknownSample(text)};
}

bool looksBinary(const QString &text)
{
    if (text.contains(QChar(0)))
        return true;
    const QStringView probe = QStringView(text).first(output_text::unitOffset(text, binaryProbeChars));
    const auto controls = std::count_if(probe.begin(), probe.end(), [](QChar c) {
        return c.unicode() < 0x20 && c != u'\n' && c != u'\r' && c != u'\t';
    });
    return double(controls) > binaryControlShare * double(std::max<qsizetype>(1, codePointCount(probe)));
}

OutputSynopsis binary(const QString &text)
{
    return {QStringLiteral("unknown"), QStringLiteral("Binary-like output"),
            {QStringLiteral("The output has %1 characters and includes non-text control bytes.").arg(codePointCount(text))},
            {}, {}, unknownSample(text)};
}

bool mayBeginCode(QStringView line)
{
    static constexpr QLatin1StringView words[] = {
        QLatin1StringView("from"), QLatin1StringView("import"), QLatin1StringView("class"), QLatin1StringView("def"),
        QLatin1StringView("async"), QLatin1StringView("function"), QLatin1StringView("export"), QLatin1StringView("package"),
        QLatin1StringView("use"), QLatin1StringView("pub"), QLatin1StringView("fn")}; // "pub" begins "public" as well
    return std::any_of(std::begin(words), std::end(words), [line](QLatin1StringView word) { return line.startsWith(word); });
}

OutputSynopsis code(const QString &text)
{
    static const QRegularExpression import = synopsisPattern(R"(^(?:from\s+(\S+)\s+import|import\s+(\S+)))");
    static const QRegularExpression symbol =
        synopsisPattern(R"(^(class|def|async\s+def|function|export\s+function|pub\s+fn|fn)\s+([A-Za-z_]\w*))");
    const QList<QStringView> lines = output_text::lines(text);
    QStringList imports;
    QStringList symbols;
    for (const QStringView line : lines) {
        const QString trimmed = pythonStrip(line.toString());
        if (const auto match = import.match(trimmed); match.hasMatch()) {
            if (imports.size() < codeImports)
                imports.append(output_text::oneLine(match.hasCaptured(1) ? match.capturedView(1) : match.capturedView(2), importChars));
        } else if (const auto named = symbol.match(trimmed); named.hasMatch() && symbols.size() < codeSymbols) {
            symbols.append(output_text::oneLine(QString(named.captured(1) + u' ' + named.captured(2)), symbolChars));
        }
    }
    QStringList structure{QStringLiteral("line count: %1").arg(lines.size())};
    if (!imports.isEmpty())
        structure.append(QStringLiteral("imports: ") + imports.join(QLatin1String(", ")));
    return {QStringLiteral("code"), QStringLiteral("Code-like output"),
            {QStringLiteral("Code-like text with %1 lines.").arg(lines.size())}, structure, symbols, {}};
}

QStringList sectionHeaders(const QList<QStringView> &lines)
{
    static const QRegularExpression header = synopsisPattern(R"(^(?:#{1,6}\s+|[A-Z0-9][A-Z0-9\s:_-]{6,}$))");
    QStringList headers;
    QSet<QString> seen;
    for (const QStringView line : lines) {
        if (headers.size() >= textHeaders)
            break;
        const QString trimmed = pythonStrip(line.toString());
        if (trimmed.isEmpty() || !header.match(trimmed).hasMatch())
            continue;
        const QString shown = output_text::oneLine(trimmed, headerChars);
        if (seen.contains(shown))
            continue;
        seen.insert(shown);
        headers.append(shown);
    }
    return headers;
}

OutputSynopsis plainText(const QString &text, const QString &tool, bool withExcerpts)
{
    const QList<QStringView> lines = output_text::lines(text);
    const QStringList headers = sectionHeaders(lines);
    const qsizetype chars = codePointCount(text);
    QStringList summary;
    summary.append(QStringLiteral("Text output") + (tool.isEmpty() ? QString() : QStringLiteral(" from ") + tool)
                   + QStringLiteral(" with %1 characters, %2 words, and %3 lines.")
                         .arg(chars)
                         .arg(output_text::wordCount(text))
                         .arg(lines.size()));
    summary.append(QStringLiteral("Detected section headers: ")
                   + (headers.isEmpty() ? QStringLiteral("none detected") : headers.join(QLatin1String(" | "))) + u'.');
    if (withExcerpts) {
        const QString opening = output_text::oneLine(firstCodePoints(text, excerptChars), excerptChars);
        summary.append(QStringLiteral("Opening excerpt: ") + (opening.isEmpty() ? QStringLiteral("(empty)") : opening));
        if (chars > excerptChars) {
            const qsizetype from = std::max(excerptChars, chars - excerptChars);
            const QString closing = output_text::oneLine(QStringView(text).sliced(output_text::unitOffset(text, from)), excerptChars);
            if (!closing.isEmpty())
                summary.append(QStringLiteral("Closing excerpt: ") + closing);
        }
    }
    return {QStringLiteral("text"), QStringLiteral("Text output"), summary, {}, {}, {}};
}

OutputSynopsis detected(const QString &text, const QString &tool)
{
    if (text.isEmpty())
        return {QStringLiteral("unknown"), QStringLiteral("Empty output"), {QStringLiteral("The tool returned an empty string.")}, {}, {}, {}};
    if (const qsizetype bytes = text.toUtf8().size(); bytes > synopsisMaxBytes)
        return oversized(text, bytes);
    if (looksBinary(text))
        return binary(text);
    const QString trimmed = pythonStrip(text);
    if (auto found = json(trimmed))
        return *found;
    if (auto found = xml(trimmed))
        return *found;
    for (const QChar delimiter : {QLatin1Char('\t'), QLatin1Char(',')}) {
        if (!text.contains(delimiter))
            continue;
        if (auto found = table(text, delimiter))
            return *found;
    }
    if (auto found = yaml(text))
        return *found;
    return looksLikeCode(text) ? code(text) : plainText(text, tool, true);
}

void boundLines(QStringList &lines)
{
    for (QString &line : lines)
        line = output_text::clipped(line, synopsisLineChars);
}

OutputSynopsis bounded(OutputSynopsis synopsis)
{
    // Headers of a text are bounded one by one and may together be longer than one line of the others.
    if (synopsis.kind != u"text")
        boundLines(synopsis.summary);
    boundLines(synopsis.structure);
    boundLines(synopsis.notable);
    return synopsis;
}

QString headAndTail(const QString &text, qsizetype headChars, qsizetype tailChars)
{
    if (headChars <= 0 && tailChars <= 0)
        return {};
    if (output_text::unitOffset(text, headChars + tailChars) >= text.size())
        return text;
    QStringList parts;
    if (headChars > 0) {
        QString head = firstCodePoints(text, headChars);
        if (const qsizetype cut = head.lastIndexOf(u'\n'); cut > 0)
            head.truncate(cut);
        parts.append(head);
    }
    if (tailChars > 0) {
        QString tail = lastCodePoints(text, tailChars);
        if (const qsizetype cut = tail.indexOf(u'\n'); cut >= 0 && cut < tail.size() - 1)
            tail = tail.sliced(cut + 1);
        parts.append(tail);
    }
    return parts.join(QLatin1String("\n...\n"));
}

void appendSection(QStringList &out, const QString &title, const QStringList &items)
{
    if (items.isEmpty())
        return;
    out << QString() << title;
    for (const QString &item : items)
        out << QStringLiteral("- ") + item;
}

} // namespace

bool looksLikeCode(const QString &text)
{
    static const QRegularExpression sign = synopsisPattern(
        R"(^(?:(?:from\s+\S+\s+import|import\s+\S+)|(?:class|def|async\s+def|function|export\s+function)\s+[A-Za-z_]\w*)"
        R"(|package\s+[A-Za-z_][\w.]*|use\s+[A-Za-z_][\w:]*\s*;|(?:pub\s+)?fn\s+[A-Za-z_]\w*\s*\(|public\s+class\s+[A-Za-z_]\w*))");
    // Looked for at the first word of each line only and not far from it: a search of the whole rest, line by line, would
    // take time with the square of the length.
    for (qsizetype line = 0; line >= 0 && line < text.size();) {
        qsizetype at = line;
        while (at < text.size() && text.at(at) != u'\n' && output_text::isSpace(text.at(at)))
            ++at;
        const QStringView near = QStringView(text).sliced(at, std::min(codeSignUnits, text.size() - at));
        if (mayBeginCode(near) && sign.matchView(near).hasMatch())
            return true;
        const qsizetype end = text.indexOf(u'\n', at);
        line = end < 0 ? text.size() : end + 1;
    }
    return false;
}

OutputSynopsis of(const QString &text, const QString &tool)
{
    return bounded(detected(text, tool));
}

QString preview(const QString &text, const QString &tool, const QString &path, qsizetype headChars, qsizetype tailChars,
                qint64 missing)
{
    const qsizetype head = std::max<qsizetype>(0, headChars);
    const qsizetype tail = std::max<qsizetype>(0, tailChars);
    const qsizetype chars = codePointCount(text);
    OutputSynopsis synopsis = of(text, tool);
    if (synopsis.kind == u"text" && head + tail > 0 && chars > head + tail)
        synopsis = plainText(text, tool, false); // the sample shows the same
    QStringList out;
    out << (missing > 0 ? QStringLiteral("[Shortened ") : QStringLiteral("[Full ")) + tool + QStringLiteral(" output saved to ") + path
            + QStringLiteral(" (%1 chars, ~%2 tokens).]").arg(chars).arg(chars / 4);
    if (missing > 0)
        out << QStringLiteral("[%1 chars of its middle were not kept and cannot be read anywhere; to have all of it, run the command "
                              "with its output in a file.]").arg(missing);
    out << QStringLiteral("[Preview kind: ") + synopsis.kind
            + QStringLiteral(". This is a structured synopsis, not a raw head/tail truncation.]");
    appendSection(out, synopsis.title + u':', synopsis.summary);
    appendSection(out, QStringLiteral("Structure:"), synopsis.structure);
    appendSection(out, QStringLiteral("Notable items:"), synopsis.notable);
    const QString sample = synopsis.sample.isEmpty() ? headAndTail(text, head, tail) : synopsis.sample;
    if (!sample.isEmpty())
        out << QString() << QStringLiteral("Raw sample (head + tail, clipped to head_chars / tail_chars):") << sample;
    appendSection(out, QStringLiteral("Access:"),
                  {QStringLiteral("Use read_file on ") + path
                   + QStringLiteral(" with start_line and end_line to inspect the raw output.")});
    return out.join(u'\n');
}

} // namespace paddock::output_synopsis
