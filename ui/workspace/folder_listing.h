// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QDateTime>
#include <QString>

#include <vector>

namespace paddock {

/// File names are bytes. What is not UTF-8 in one becomes lone surrogates, so that a path made of such names still opens
/// its file; people see visibleName().
QString nameFromBytes(const QByteArray &bytes);
QByteArray bytesFromName(const QString &name);
/// Odd bytes and control characters as something that can be read, on one line.
QString visibleName(const QString &name);

/// One entry of a host folder.
struct FolderItem {
    QString name; ///< see nameFromBytes
    bool isFolder = false;
    bool isLink = false;
    QString linkTarget; ///< as people see it
    qint64 size = 0;
    QDateTime modified;
};

struct FolderListing {
    std::vector<FolderItem> items; ///< folders first, then by name
    int left = 0;                  ///< entries over the limit
    QString problem;               ///< a sentence when the folder could not be read
};

inline constexpr int mostFolderItems = 5000;

/// Lists one folder; links are not followed. Blocking: for a pool thread.
FolderListing listFolder(const QString &path);

/// What a viewer needs of a file. Blocking: for a pool thread.
struct FileContent {
    QByteArray bytes;
    qint64 size = 0;
    bool cut = false;
    bool binary = false;
    QString problem;
};
inline constexpr qint64 mostShownBytes = 4 * 1024 * 1024;
/// Never follows a link and never opens what is not a plain file.
FileContent readForView(const QString &path);

} // namespace paddock
