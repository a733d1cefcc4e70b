// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QString>

#include <optional>

namespace paddock {

/// file.changed; the path is virtual
struct FileChanged {
    QString path;
    QString owner;       ///< agent id, "you", or "unknown"
    QString certainty;   ///< "tool" (written by a tool), "probably" (during the owner's command), "unknown"
    QString op;          ///< created, modified, deleted, renamed
    QString renamedFrom; ///< with renamed
    qint64 size = 0;
    QString sha256;      ///< empty when not hashed (deleted, sensitive, too large)
    QString beforeSha256;
    int addedLines = 0;
    int removedLines = 0;
    QString call;        ///< tool call that did it, when known
    std::optional<QString> via{}; ///< the name that was written to, when it led to `path` through a link
};

} // namespace paddock
