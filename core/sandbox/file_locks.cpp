// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/file_locks.h"

namespace paddock {

QString FileLocks::keyOf(const SandboxId &sandbox, const QString &path)
{
    return sandbox.value() + QChar(0) + path; // neither part can hold a zero
}

std::shared_ptr<FileLocks::Entry> FileLocks::entryOf(const QString &key)
{
    const std::lock_guard lock(m_mutex);
    if (auto known = m_entries[key].lock())
        return known;
    // The last holder drops the name; a new entry may have taken it meanwhile, then it stays.
    const std::weak_ptr<FileLocks> weak = weak_from_this();
    std::shared_ptr<Entry> entry(new Entry, [weak, key](Entry *dead) {
        delete dead;
        if (const auto self = weak.lock()) {
            const std::lock_guard guard(self->m_mutex);
            if (const auto it = self->m_entries.find(key); it != self->m_entries.end() && it->second.expired())
                self->m_entries.erase(it);
        }
    });
    m_entries[key] = entry;
    return entry;
}

Task<FileLocks::Guard> FileLocks::lock(std::shared_ptr<FileLocks> locks, SandboxId sandbox, QString path,
                                       std::stop_token stop)
{
    std::shared_ptr<Entry> entry = locks->entryOf(keyOf(sandbox, path));
    AsyncMutex::Guard guard = co_await entry->mutex.lock(stop);
    co_return Guard(std::move(entry), std::move(guard));
}

qsizetype FileLocks::count() const
{
    const std::lock_guard lock(m_mutex);
    return qsizetype(m_entries.size());
}

} // namespace paddock
