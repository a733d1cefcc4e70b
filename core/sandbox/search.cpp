// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/search.h"

#include "core/base/text.h"

#include <QStringList>

#include <algorithm>
#include <array>

namespace paddock {

namespace {

constexpr auto ignoredPatterns = std::to_array<QStringView>({
    u".git", u".svn", u".hg", u".bzr", u"node_modules", u"__pycache__", u".venv", u"venv", u".env", u"env", u".tox",
    u".nox", u".eggs", u"*.egg-info", u"site-packages", u"dist", u"build", u".next", u".nuxt", u".output", u".turbo",
    u"target", u"out", u".idea", u".vscode", u"*.swp", u"*.swo", u"*~", u".project", u".classpath", u".settings",
    u".DS_Store", u"Thumbs.db", u"desktop.ini", u"*.lnk", u"*.log", u"*.tmp", u"*.temp", u".upload-*.part", u"*.bak",
    u"*.cache", u".cache", u"logs", u".coverage", u"coverage", u".nyc_output", u"htmlcov", u".pytest_cache",
    u".mypy_cache", u".ruff_cache", u".paddock-tmp-*"});

constexpr int matchLimit = 1000000; ///< PCRE2 steps for one line of at most grepMaxLineChars

int clampResults(int value, int defaultResults, int hardCap)
{
    return value <= 0 ? defaultResults : std::min(value, hardCap);
}

/// Does `c` belong to the class that starts after '[' at `i`? Moves `i` behind the ']'; nullopt when there is none.
std::optional<bool> matchClass(const QList<uint> &pattern, qsizetype &i, uint c)
{
    qsizetype at = i;
    const bool negated = at < pattern.size() && pattern.at(at) == '!';
    if (negated)
        ++at;
    bool found = false;
    for (bool first = true; at < pattern.size(); first = false) {
        if (pattern.at(at) == ']' && !first) {
            i = at + 1;
            return found != negated;
        }
        const uint low = pattern.at(at++);
        uint high = low;
        if (at + 1 < pattern.size() && pattern.at(at) == '-' && pattern.at(at + 1) != ']') {
            high = pattern.at(at + 1);
            at += 2;
        }
        found = found || (c >= low && c <= high);
    }
    return std::nullopt;
}

/// fnmatch without special treatment of dots; linear in the product of the sizes.
bool fnmatchUcs4(const QList<uint> &pattern, const QList<uint> &text)
{
    qsizetype p = 0, t = 0, starPattern = -1, starText = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern.at(p) == '*') {
            starPattern = ++p;
            starText = t;
            continue;
        }
        bool matched = false;
        qsizetype next = p + 1;
        if (p < pattern.size()) {
            if (pattern.at(p) == '?') {
                matched = true;
            } else if (pattern.at(p) == '[') {
                const auto inClass = matchClass(pattern, next, text.at(t));
                matched = inClass.value_or(text.at(t) == '[');
            } else {
                matched = pattern.at(p) == text.at(t);
            }
        }
        if (matched) {
            p = next;
            ++t;
        } else if (starPattern >= 0) {
            p = starPattern;
            t = ++starText;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern.at(p) == '*')
        ++p;
    return p == pattern.size();
}

QStringList segmentsOf(const QString &path)
{
    QStringList segments = path.split(u'/', Qt::SkipEmptyParts);
    segments.removeAll(QStringLiteral("."));
    return segments;
}

bool matchesFromRight(const QStringList &pattern, const QStringList &path)
{
    if (pattern.isEmpty() || pattern.size() > path.size())
        return false;
    const qsizetype offset = path.size() - pattern.size();
    for (qsizetype i = 0; i < pattern.size(); ++i) {
        if (!segmentMatches(pattern.at(i), path.at(offset + i)))
            return false;
    }
    return true;
}

/// The whole path, "**" as zero or more segments. Table of suffixes, so many stars cost no more than their product.
bool matchesSpanning(const QStringList &pattern, const QStringList &path)
{
    std::vector<char> row(size_t(path.size()) + 1, 0); // does pattern[i..] match path[j..]
    row.back() = 1;
    for (qsizetype i = pattern.size() - 1; i >= 0; --i) {
        std::vector<char> next(row.size(), 0);
        const bool spans = pattern.at(i) == u"**";
        for (qsizetype j = path.size(); j >= 0; --j) {
            if (spans)
                next[size_t(j)] = row[size_t(j)] || (j < path.size() && next[size_t(j) + 1]);
            else
                next[size_t(j)] = j < path.size() && row[size_t(j) + 1] && segmentMatches(pattern.at(i), path.at(j));
        }
        row = std::move(next);
    }
    return row.front() != 0;
}

} // namespace

int effectiveMaxResults(int requested, std::optional<int> configured, int defaultResults, int hardCap)
{
    return std::min(clampResults(requested, defaultResults, hardCap),
                    clampResults(configured.value_or(defaultResults), defaultResults, hardCap));
}

QStringList ignoredNamePatterns()
{
    QStringList out;
    for (const QStringView pattern : ignoredPatterns)
        out << pattern.toString();
    return out;
}

bool isIgnoredName(const QString &name)
{
    return std::any_of(ignoredPatterns.begin(), ignoredPatterns.end(), [&](QStringView pattern) {
        const qsizetype star = pattern.indexOf(u'*');
        if (star < 0)
            return name == pattern;
        return name.size() >= pattern.size() - 1 && name.startsWith(pattern.left(star)) && name.endsWith(pattern.mid(star + 1));
    });
}

bool isIgnoredPath(const QString &path)
{
    const QStringList segments = QString(path).replace(u'\\', u'/').split(u'/', Qt::SkipEmptyParts);
    return std::any_of(segments.cbegin(), segments.cend(), isIgnoredName);
}

bool segmentMatches(const QString &pattern, const QString &segment)
{
    return fnmatchUcs4(pattern.toUcs4(), segment.toUcs4());
}

bool pathMatches(const QString &pattern, const QString &relative)
{
    if (pattern.startsWith(u'/'))
        return false; // it names a path from "/", and a relative path is none
    const QStringList wanted = segmentsOf(pattern);
    const QStringList path = segmentsOf(relative);
    if (wanted.isEmpty())
        return false;
    if (matchesFromRight(wanted, path))
        return true;
    if (wanted.size() > 1 && wanted.first() == u"**" && matchesFromRight(wanted.mid(1), path))
        return true;
    return wanted.contains(QStringLiteral("**")) && matchesSpanning(QStringList{QStringLiteral("**")} + wanted, path);
}

QString shownLine(const QString &line)
{
    QString text = line;
    while (text.endsWith(u'\n') || text.endsWith(u'\r'))
        text.chop(1);
    if (codePointCount(text) <= grepShownLineChars)
        return text;
    return firstCodePoints(text, grepShownLineChars - 3) + QStringLiteral("...");
}

Result<QRegularExpression> grepExpression(const QString &pattern, bool literal, bool caseSensitive)
{
    const QRegularExpression::PatternOptions options =
        caseSensitive ? QRegularExpression::NoPatternOption : QRegularExpression::CaseInsensitiveOption;
    const QString body = literal ? QRegularExpression::escape(pattern) : pattern;
    const QRegularExpression plain(body, options);
    if (!plain.isValid())
        return fail(ErrorCode::InvalidArgument, plain.errorString());
    const QRegularExpression limited(QStringLiteral("(*LIMIT_MATCH=%1)").arg(matchLimit) + body, options);
    return limited.isValid() ? limited : plain;
}

bool grepContent(const QByteArray &content, const QRegularExpression &expression, const QString &path, int maxResults,
                 GrepResult &result)
{
    if (QByteArrayView(content).first(std::min<qsizetype>(content.size(), grepSniffBytes)).contains('\0'))
        return true;
    qsizetype start = 0;
    for (int number = 1; start < content.size(); ++number) {
        const qsizetype newline = content.indexOf('\n', start);
        const qsizetype end = newline < 0 ? content.size() : newline + 1;
        const QByteArrayView bytes = QByteArrayView(content).sliced(start, end - start);
        start = end;
        if (bytes.size() > grepMaxLineChars * 4) // no character takes more than four bytes
            continue;
        const QString line = QString::fromUtf8(bytes);
        if (codePointCount(line) > grepMaxLineChars)
            continue;
        const QString shown = shownLine(line);
        QString searched = line;
        while (searched.endsWith(u'\n') || searched.endsWith(u'\r'))
            searched.chop(1);
        if (!expression.match(searched).hasMatch())
            continue;
        result.matches.push_back({path, number, shown});
        if (qsizetype(result.matches.size()) >= maxResults) {
            result.truncated = true;
            return false;
        }
    }
    return true;
}

QString formatGlob(const QString &root, const QStringList &paths, bool truncated)
{
    if (paths.isEmpty())
        return QStringLiteral("No files matched under ") + root;
    QStringList lines{QStringLiteral("Found %1 paths under ").arg(paths.size()) + root};
    if (truncated)
        lines.first() += QStringLiteral(" (showing first %1)").arg(paths.size());
    for (qsizetype i = 0; i < paths.size(); ++i)
        lines << QStringLiteral("%1. ").arg(i + 1) + paths.at(i);
    if (truncated)
        lines << QStringLiteral("Results truncated. Narrow the path or pattern to see fewer matches.");
    return lines.join(u'\n');
}

QString formatGrep(const QString &root, const std::vector<GrepMatch> &matches, bool truncated)
{
    if (matches.empty())
        return QStringLiteral("No matches found under ") + root;
    QStringList lines{QStringLiteral("Found %1 matches under ").arg(matches.size()) + root};
    if (truncated)
        lines.first() += QStringLiteral(" (showing first %1)").arg(matches.size());
    for (const GrepMatch &match : matches)
        lines << match.path + QStringLiteral(":%1: ").arg(match.line) + match.text;
    if (truncated)
        lines << QStringLiteral("Results truncated. Narrow the path or add a glob filter.");
    return lines.join(u'\n');
}

bool codePointLess(const QString &a, const QString &b)
{
    return a.toUtf8() < b.toUtf8(); // UTF-8 keeps the order of code points
}

} // namespace paddock
