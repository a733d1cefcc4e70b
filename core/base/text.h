// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QString>
#include <QStringView>

namespace paddock {

/// Number of Unicode code points; every "chars" of the specs is this.
qsizetype codePointCount(QStringView text);
/// The first / last `n` code points.
QString firstCodePoints(const QString &text, qsizetype n);
QString lastCodePoints(const QString &text, qsizetype n);
/// Deterministic head/tail cut of runtime.md ("bound(s, cap)").
QString boundText(const QString &text, qsizetype cap);
/// `&`, `<`, `>` escaped; with `attribute` also the quotes.
QString escapeMarkup(const QString &text, bool attribute = false);
/// POSIX shell quoting as Python's shlex.quote does it.
QString shellQuote(const QString &text);
/// SHA-256 as 64 lower-case hex digits of the UTF-8 form.
QString sha256Hex(const QString &text);
QString sha256Hex(const QByteArray &bytes);
/// Strips what Python's str.strip() strips.
QString pythonStrip(const QString &text);
/// "%g" of C.
QString formatG(double value);

} // namespace paddock
