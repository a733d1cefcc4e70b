// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/json.h"

#include <QString>
#include <QStringList>

#include <vector>

namespace paddock {

/// A file that the person uploaded with a message.
struct UploadedFile {
    QString name; ///< bare
    qint64 size = 0;
    QStringList outline; ///< "L12: Heading" of a Markdown document
    bool moreOutline = false;
    QStringList preview; ///< first lines of a text without headings
};

/// Looks at the files that `files` ([{filename, size}]) names and that are really in the folder: bare names, no links, nothing
/// half uploaded. Reads the beginning of the first few. Blocking; for a worker thread.
std::vector<UploadedFile> lookAtUploads(const Json &files, const QString &folder);

/// `<current_uploads>` as the model sees it; what comes from outside cannot forge framework tags. Pure.
QString uploadsBlock(const std::vector<UploadedFile> &files);

/// The value of the channel uploaded_files.
Json uploadsToJson(const std::vector<UploadedFile> &files);

/// Headings of a Markdown text, code fences left out. Pure.
QStringList markdownOutline(const QString &text, qsizetype most, bool *more);

} // namespace paddock
