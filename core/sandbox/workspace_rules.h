// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QByteArray>
#include <QString>
#include <QStringList>

namespace paddock {

// What is recorded of a changed file (runtime §7.4). Pure.

inline constexpr qint64 maxVersionBytes = 1024 * 1024;      ///< text files up to this size keep their content
inline constexpr qint64 maxHashedFileBytes = 16 * 1024 * 1024; ///< larger ones are recorded without a hash
inline constexpr qsizetype binarySampleBytes = 4096;

/// A name on the path says that the content is nobody's business: no hash, no content, no diff.
bool isSensitivePath(const QString &path);
/// Directories that are neither watched nor recorded; compared as bytes, like every name here.
bool isSkippedDirectory(const QByteArray &name);
/// By extension, a NUL, or a sample that is not UTF-8.
bool isBinaryContent(const QString &path, const QByteArray &content);

struct LineChange {
    int added = 0;
    int removed = 0;
};
/// Added and removed lines between two versions. Exact while the difference is moderate, else by counting equal lines.
LineChange countLineChanges(const QByteArray &before, const QByteArray &after);
/// The same from a unified diff; its first two lines are the header.
LineChange countDiffLines(const QStringList &diff);

} // namespace paddock
