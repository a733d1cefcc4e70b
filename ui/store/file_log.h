// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "ui/store/names.h"

#include <QHash>

#include <vector>

namespace paddock {

/// One change of one file.
struct FileVersion {
    Seq seq = 0;
    Micros at = 0;
    Clock::Wall wall{};
    QString who;       ///< agent id, "you" or "unknown"
    QString certainty; ///< tool, probably, unknown
    QString op;
    QString sha256;
    QString beforeSha256;
    qint64 size = 0;
    int added = 0;
    int removed = 0;
    QString call;
};

/// A file that changed during the run, under its newest name. Paths are virtual.
struct FileEntry {
    QString path;
    bool exists = true;
    bool createdInRun = false;
    int added = 0;   ///< lines, over all versions
    int removed = 0;
    quint64 revision = 0;
    std::vector<FileVersion> versions; ///< oldest first, never empty

    const FileVersion &last() const { return versions.back(); }
};

/// The files that changed in one run, in order of first change. Part of RunStore; GUI thread.
class FileLog
{
public:
    bool apply(const Event &event);
    const std::vector<FileEntry> &files() const { return m_files; }
    const FileEntry *find(const QString &path) const;
    quint64 revision() const { return m_revision; }

private:
    std::vector<FileEntry> m_files;
    QHash<QString, int> m_index;
    quint64 m_revision = 0;
};

} // namespace paddock
