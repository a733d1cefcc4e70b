// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/store/file_log.h"

namespace paddock {

const FileEntry *FileLog::find(const QString &path) const
{
    const int index = m_index.value(path, -1);
    return index < 0 ? nullptr : &m_files[size_t(index)];
}

bool FileLog::apply(const Event &event)
{
    const auto *change = std::get_if<FileChanged>(&event.body);
    if (!change)
        return false;
    int index = -1;
    if (change->op == u"renamed" && !change->renamedFrom.isEmpty()) {
        // The history goes with the file. A file that the new name hid is over, which its own deletion event says.
        index = m_index.value(change->renamedFrom, -1);
        if (index >= 0) {
            m_index.remove(change->renamedFrom);
            m_files[size_t(index)].path = change->path;
            m_index.insert(change->path, index);
        }
    }
    if (index < 0)
        index = m_index.value(change->path, -1);
    if (index < 0) {
        index = int(m_files.size());
        m_index.insert(change->path, index);
        m_files.emplace_back();
        m_files.back().path = change->path;
        m_files.back().createdInRun = change->op == u"created";
    }
    FileEntry &file = m_files[size_t(index)];
    file.exists = change->op != u"deleted";
    file.added += change->addedLines;
    file.removed += change->removedLines;
    file.revision = ++m_revision;
    FileVersion version;
    version.seq = event.seq;
    version.at = event.mono.count();
    version.wall = event.time;
    version.who = change->owner;
    version.certainty = change->certainty;
    version.op = change->op;
    version.sha256 = change->sha256;
    version.beforeSha256 = change->beforeSha256;
    version.size = change->size;
    version.added = change->addedLines;
    version.removed = change->removedLines;
    version.call = change->call;
    file.versions.push_back(std::move(version));
    return true;
}

} // namespace paddock
