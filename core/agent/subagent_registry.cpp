// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/agent/subagent_registry.h"

namespace paddock {

void SubagentRegistry::add(RecordPtr record)
{
    const std::lock_guard lock(m_mutex);
    m_records[record->taskId()] = std::move(record);
}

SubagentRegistry::RecordPtr SubagentRegistry::get(const QString &taskId) const
{
    const std::lock_guard lock(m_mutex);
    const auto it = m_records.find(taskId);
    return it == m_records.end() ? nullptr : it->second;
}

std::vector<SubagentRegistry::RecordPtr> SubagentRegistry::list() const
{
    const std::lock_guard lock(m_mutex);
    std::vector<RecordPtr> all;
    all.reserve(m_records.size());
    for (const auto &[id, record] : m_records)
        all.push_back(record);
    return all;
}

bool SubagentRegistry::requestCancel(const QString &taskOrAgentId, StopCause cause)
{
    static const QString prefix = QStringLiteral("subagent:");
    const RecordPtr record = get(taskOrAgentId.startsWith(prefix) ? taskOrAgentId.sliced(prefix.size()) : taskOrAgentId);
    if (!record)
        return false;
    record->requestStop(cause); // without our lock: what listens may come back to us
    return true;
}

void SubagentRegistry::finished(const QString &taskId)
{
    const RecordPtr record = get(taskId);
    if (record)
        record->markDone();
    const std::lock_guard lock(m_mutex);
    if (m_unwanted.erase(taskId) > 0)
        m_records.erase(taskId);
}

void SubagentRegistry::cleanup(const QString &taskId)
{
    const RecordPtr record = get(taskId);
    if (!record)
        return;
    const std::lock_guard lock(m_mutex);
    const auto now = record->snapshot();
    if (isTerminal(now.status) && now.done)
        m_records.erase(taskId);
    else
        m_unwanted.insert(taskId);
}

void SubagentRegistry::forceCleanup(const QString &taskId)
{
    const std::lock_guard lock(m_mutex);
    m_records.erase(taskId);
    m_unwanted.erase(taskId);
}

} // namespace paddock
