// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QList>
#include <QString>
#include <QStringView>

namespace paddock::output_text {

// Text by code points, as the tool-output rules count it (middleware-base, conventions). Pure; any thread. A lone surrogate
// counts as one code point; a pair is never cut.

/// The white space of trimming and blank tests.
bool isSpace(QChar c);
/// Index in UTF-16 units of the n-th code point; the size of `text` beyond its end.
qsizetype unitOffset(QStringView text, qsizetype points);
/// At most `limit` code points; a longer text ends in "...", which counts.
QString clipped(const QString &text, qsizetype limit);
/// Runs of white space become one space, the ends are trimmed, then clipped.
QString oneLine(QStringView text, qsizetype limit);
/// Runs of other characters than white space.
qsizetype wordCount(QStringView text);
/// Splits at every line terminator of the conventions; no empty last line for a trailing one. Views into `text`. With
/// `limit` ≥ 0 the first lines only.
QList<QStringView> lines(QStringView text, qsizetype limit = -1);

} // namespace paddock::output_text
