// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QByteArray>
#include <QString>

#include <optional>

namespace paddock {

// What read_file, write_file and str_replace do to text (sandbox.md §2.6, §2.7). Pure.

inline constexpr qint64 defaultWriteFileBytes = 81920;
inline constexpr const char *writeLimitVariable = "DEERFLOW_WRITE_FILE_MAX_BYTES";

/// "\r\n" and "\r" as "\n".
QString withUnixLineEnds(const QString &text);

struct RangeText {
    QString text;
    bool isNotice = false; ///< text is one of the sentences in parentheses
};
/// The part of a file that a read asks for; lines from 1, inclusive. Without a range the text as it is.
RangeText readRange(const QString &content, std::optional<qint64> startLine, std::optional<qint64> endLine);

/// The limit of one write from the variable's value: unset or no integer gives the default, <= 0 means none.
qint64 writeFileLimit(const std::optional<QString> &variable);
/// The refusal for a content of this size; nullopt when it may be written.
std::optional<QString> writeSizeError(qint64 bytes, qint64 limit);

/// The text after a replacement; nullopt when `oldText` is not in it. An empty `oldText` changes nothing. In a file whose
/// line ends are all "\r\n", bare "\n" of both arguments stand for "\r\n".
std::optional<QString> replaceText(const QString &content, QString oldText, QString newText, bool all);
std::optional<QByteArray> replaceBytes(const QByteArray &content, QByteArray oldText, QByteArray newText, bool all);

} // namespace paddock
