// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/local/local_provider.h"

#include "core/base/run_on.h"
#include "core/sandbox/sandbox_ids.h"

#include <QLoggingCategory>

#include <algorithm>

namespace paddock {

namespace {

Q_LOGGING_CATEGORY(lcLocalProvider, "paddock.sandbox.local")

std::unexpected<Error> closedError()
{
    return fail(ErrorCode::FailedPrecondition, QStringLiteral("The local sandbox provider is closed."));
}

} // namespace

LocalSandboxProvider::LocalSandboxProvider(Options options)
    : m_options(std::move(options))
    , m_processes(std::make_shared<HostProcesses>())
{
}

LocalSandboxProvider::~LocalSandboxProvider() = default;

std::list<LocalSandboxProvider::Entry>::iterator LocalSandboxProvider::findEntry(const SandboxId &id)
{
    return std::find_if(m_entries.begin(), m_entries.end(), [&](const Entry &entry) { return entry.id == id; });
}

void LocalSandboxProvider::evict()
{
    for (auto it = m_entries.end(); it != m_entries.begin() && qsizetype(m_entries.size()) > cacheSize;) {
        --it;
        if (!it->held)
            it = m_entries.erase(it);
    }
}

Task<Result<SandboxId>> LocalSandboxProvider::acquire(ThreadKey key, EventSink, std::stop_token stop)
{
    if (stop.stop_requested())
        co_return cancelled();
    const SandboxId id(localSandboxId(key));
    {
        const std::lock_guard lock(m_mutex);
        if (m_closed)
            co_return closedError();
        if (const auto it = findEntry(id); it != m_entries.end()) {
            it->held = true;
            m_entries.splice(m_entries.begin(), m_entries, it);
            co_return id;
        }
    }
    const auto paths = ThreadPaths::make(m_options.dataDir, key, m_options.workspaceOf ? m_options.workspaceOf(key) : QString());
    if (!paths)
        co_return std::unexpected(paths.error());
    const auto created = co_await runOnPool([folders = *paths] { return folders.create(); });
    if (!created)
        co_return std::unexpected(created.error());
    auto files = std::make_shared<LocalFiles>(*paths, SkillDirs::of(paths->base, key.user.value()), m_options.skillsRoot,
                                              m_options.mounts);
    for (const QString &warning : files->warnings())
        qCWarning(lcLocalProvider).noquote() << warning;
    auto sandbox = std::make_shared<LocalSandbox>(id, std::move(files), m_processes, m_options.sandbox);
    const std::lock_guard lock(m_mutex);
    if (m_closed)
        co_return closedError();
    if (const auto it = findEntry(id); it != m_entries.end()) // another call was faster
        it->held = true;
    else
        m_entries.push_front({id, std::move(sandbox), true});
    evict();
    co_return id;
}

SandboxPtr LocalSandboxProvider::get(const SandboxId &id)
{
    const std::lock_guard lock(m_mutex);
    const auto it = findEntry(id);
    if (it == m_entries.end())
        return nullptr;
    m_entries.splice(m_entries.begin(), m_entries, it);
    return it->sandbox;
}

Task<Result<void>> LocalSandboxProvider::release(SandboxId id)
{
    // Nothing to end: the entry stays for the next run and may be evicted from now on.
    const std::lock_guard lock(m_mutex);
    if (const auto it = findEntry(id); it != m_entries.end())
        it->held = false;
    evict();
    co_return Result<void>{};
}

Task<> LocalSandboxProvider::shutdown()
{
    {
        const std::lock_guard lock(m_mutex);
        m_closed = true;
        m_entries.clear();
    }
    m_processes->endAll();
    co_await m_processes->livingGroups(); // after the kills, which were posted before
}

void LocalSandboxProvider::endHostCommands()
{
    m_processes->endAll();
}

} // namespace paddock
