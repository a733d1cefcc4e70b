// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/sandbox/local/local_sandbox.h"
#include "core/sandbox/sandbox.h"

#include <list>
#include <mutex>

namespace paddock {

/// Local sandboxes, one per (user, thread) (sandbox.md §3.1). Thread-safe. A bounded cache, touched by acquire and get; an
/// entry that is acquired and not yet released is never evicted. Made and destroyed on one thread.
class LocalSandboxProvider : public SandboxProvider
{
public:
    static constexpr qsizetype cacheSize = 256;

    struct Options {
        QString dataDir; ///< {base}
        QString skillsRoot = QStringLiteral("/mnt/skills");
        std::vector<MountSpec> mounts;
        /// The folder a person named for this thread; empty or null function: the thread's own.
        std::function<QString(const ThreadKey &)> workspaceOf;
        LocalSandbox::Options sandbox;
    };

    explicit LocalSandboxProvider(Options options);
    ~LocalSandboxProvider() override;

    Task<Result<SandboxId>> acquire(ThreadKey key, EventSink events, std::stop_token stop) override;
    SandboxPtr get(const SandboxId &id) override;
    Task<Result<void>> release(SandboxId id) override;
    Task<> shutdown() override;
    QString providerName() const override { return QStringLiteral("local"); }
    QString backendName() const override { return QStringLiteral("host"); }
    int sessionLimit() const override { return 0; }

    /// Turning trust off: kills what commands left running on the host.
    void endHostCommands();

private:
    struct Entry {
        SandboxId id;
        SandboxPtr sandbox;
        bool held = false;
    };
    std::list<Entry>::iterator findEntry(const SandboxId &id); ///< with m_mutex held
    void evict();                                              ///< with m_mutex held

    const Options m_options;
    const std::shared_ptr<HostProcesses> m_processes;
    std::mutex m_mutex; // guards both below
    std::list<Entry> m_entries; ///< most recently used first
    bool m_closed = false;
};

} // namespace paddock
