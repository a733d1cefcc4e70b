// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/backend/ownership.h"

#include <QSysInfo>
#include <QUuid>

namespace paddock {

OwnershipTable::OwnershipTable(std::chrono::seconds ttl, std::shared_ptr<const Clock> clock) : m_ttl(ttl), m_clock(std::move(clock))
{
}

QString OwnershipStore::newOwnerId()
{
    return QSysInfo::machineHostName() + u':' + QUuid::createUuid().toString(QUuid::Id128);
}

OwnershipTable::Entry *OwnershipStore::find(const SandboxId &id) const
{
    const auto it = m_table->m_entries.find(id);
    if (it == m_table->m_entries.end())
        return nullptr;
    if (m_table->m_clock->mono() < it->second.until)
        return &it->second;
    m_table->m_entries.erase(it);
    return nullptr;
}

void OwnershipStore::put(const SandboxId &id, bool destroying)
{
    m_table->m_entries[id] = {m_owner, destroying, m_table->m_clock->mono() + m_table->m_ttl};
}

bool OwnershipStore::take(const SandboxId &id)
{
    const std::lock_guard lock(m_table->m_mutex);
    if (const auto *entry = find(id); entry && entry->destroying)
        return false;
    put(id, false);
    return true;
}

bool OwnershipStore::claim(const SandboxId &id, Purpose purpose)
{
    const std::lock_guard lock(m_table->m_mutex);
    const bool destroy = purpose == Purpose::Destroy;
    if (const auto *entry = find(id); entry && (entry->owner != m_owner || (entry->destroying && !destroy)))
        return false;
    put(id, destroy);
    return true;
}

OwnershipStore::Renewal OwnershipStore::renew(const SandboxId &id)
{
    const std::lock_guard lock(m_table->m_mutex);
    const auto *entry = find(id);
    if (!entry)
        return Renewal::Lapsed;
    if (entry->owner != m_owner || entry->destroying)
        return Renewal::Lost;
    put(id, false);
    return Renewal::Renewed;
}

void OwnershipStore::release(const SandboxId &id)
{
    const std::lock_guard lock(m_table->m_mutex);
    if (const auto *entry = find(id); entry && entry->owner == m_owner)
        m_table->m_entries.erase(id);
}

std::optional<QString> OwnershipStore::ownerOf(const SandboxId &id) const
{
    const std::lock_guard lock(m_table->m_mutex);
    const auto *entry = find(id);
    return entry ? std::optional(entry->owner) : std::nullopt;
}

Error OwnershipStore::refusedTake(const SandboxId &id)
{
    return Error{ErrorCode::FailedPrecondition, QStringLiteral("sandbox %1 is being destroyed by another instance").arg(id.value()), Json::object(), nullptr};
}

} // namespace paddock
