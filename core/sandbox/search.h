// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/error.h"
#include "core/sandbox/sandbox.h"

#include <QRegularExpression>
#include <QString>

#include <optional>

namespace paddock {

// The rules of glob and grep that every backend shares (sandbox.md §2.8, §2.9). Pure.

inline constexpr int globDefaultResults = 200;
inline constexpr int globMaxResults = 1000;
inline constexpr int grepDefaultResults = 100;
inline constexpr int grepMaxResults = 500;
inline constexpr qint64 grepMaxFileBytes = 1000000;
inline constexpr qint64 grepSniffBytes = 8192;   ///< a NUL in there makes a file binary
inline constexpr qsizetype grepMaxLineChars = 2000; ///< with the line end
inline constexpr qsizetype grepShownLineChars = 200;

/// What a call may return: the request and the tool's own configuration, each clamped; the smaller one.
int effectiveMaxResults(int requested, std::optional<int> configured, int defaultResults, int hardCap);

/// A name that listings and searches pass over.
bool isIgnoredName(const QString &name);
/// The patterns behind isIgnoredName: names, some with one "*".
QStringList ignoredNamePatterns();
/// Any segment of a path, "/" or "\" separated, is such a name.
bool isIgnoredPath(const QString &path);

/// One path segment against `*`, `?`, `[..]`, case-sensitive.
bool segmentMatches(const QString &pattern, const QString &segment);
/// A glob pattern against a path relative to the root: from the right, `**` as a whole segment also spans directories.
bool pathMatches(const QString &pattern, const QString &relative);

/// One line of a match as it is shown.
QString shownLine(const QString &line);

/// The expression of a grep, with a limit on its work. InvalidArgument with PCRE's text when it does not compile.
Result<QRegularExpression> grepExpression(const QString &pattern, bool literal, bool caseSensitive);
/// Appends the matches of one file's content to `result` until it holds maxResults; false when it is full.
bool grepContent(const QByteArray &content, const QRegularExpression &expression, const QString &path, int maxResults,
                 GrepResult &result);

QString formatGlob(const QString &root, const QStringList &paths, bool truncated);
QString formatGrep(const QString &root, const std::vector<GrepMatch> &matches, bool truncated);

/// Order of code points, which for UTF-16 is not the order of its units.
bool codePointLess(const QString &a, const QString &b);

} // namespace paddock
