// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QString>

namespace paddock {

// Cutting tool output to its cap (sandbox.md §2.3). Pure; sizes are code points. max 0 turns a cut off. `Classic` is the form
// of the reference; `ByLine` keeps what matters at the ends.
enum class Truncation { Classic, ByLine };

inline constexpr qsizetype defaultBashOutputChars = 20000;
inline constexpr qsizetype defaultLsOutputChars = 20000;
inline constexpr qsizetype defaultReadFileChars = 50000;
inline constexpr qsizetype writeErrorChars = 2000;

/// Middle cut. ByLine keeps a trailing exit code line whole and treats caps below 32 as 32. What the sandbox server had cut
/// from the middle already is counted in.
QString truncateBash(const QString &text, qsizetype max, Truncation form = Truncation::Classic);
/// How many characters of a command's output are missing behind the marks that truncateBash and the sandbox server leave.
qsizetype missingFromBash(const QString &text);
/// Head cut. ByLine ends after a whole line and says how to go on; `firstLine` is the number of the text's first line.
QString truncateReadFile(const QString &text, qsizetype max, Truncation form = Truncation::Classic, qsizetype firstLine = 1);
QString truncateLs(const QString &text, qsizetype max);
QString truncateWriteError(const QString &text, qsizetype max = writeErrorChars);

} // namespace paddock
