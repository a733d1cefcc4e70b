// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/async.h"
#include "core/base/ids.h"

#include <QString>

#include <map>
#include <memory>
#include <mutex>

namespace paddock {

/// One mutex per (sandbox, path), held by file tools while they change a file (sandbox.md §9.4). Dropped when nobody uses
/// it. Thread-safe; shared by the tools of a process.
class FileLocks : public std::enable_shared_from_this<FileLocks>
{
    struct Entry {
        AsyncMutex mutex;
    };

public:
    /// Holds the lock of one file until it dies. False when the wait was stopped.
    class Guard
    {
    public:
        Guard() = default;
        Guard(std::shared_ptr<Entry> entry, AsyncMutex::Guard guard) : m_entry(std::move(entry)), m_guard(std::move(guard)) {}
        Guard(Guard &&) = default;
        Guard &operator=(Guard &&) = delete; // would drop the entry before unlocking it
        explicit operator bool() const { return bool(m_guard); }

    private:
        std::shared_ptr<Entry> m_entry; // outlives m_guard: members die in reverse order
        AsyncMutex::Guard m_guard;
    };

    /// `path` as Sandbox::lockPath gives it.
    static Task<Guard> lock(std::shared_ptr<FileLocks> locks, SandboxId sandbox, QString path, std::stop_token stop);
    static QString keyOf(const SandboxId &sandbox, const QString &path);
    /// Entries in use, for tests.
    qsizetype count() const;

private:
    std::shared_ptr<Entry> entryOf(const QString &key);

    mutable std::mutex m_mutex; // guards m_entries
    std::map<QString, std::weak_ptr<Entry>> m_entries;
};

} // namespace paddock
