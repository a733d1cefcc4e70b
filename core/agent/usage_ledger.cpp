// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/agent/usage_ledger.h"

#include <QLoggingCategory>

Q_LOGGING_CATEGORY(lcUsage, "paddock.agent.usage")

namespace paddock {

Json usageRecordsToJson(const std::vector<UsageRecord> &records)
{
    Json list = Json::array();
    for (const UsageRecord &record : records)
        list.push_back(usageRecordToJson(record));
    return list;
}

std::vector<UsageRecord> usageRecordsFromJson(const Json &records)
{
    std::vector<UsageRecord> list;
    for (const Json &record : records)
        list.push_back(usageRecordFromJson(record));
    return list;
}

void UsageLedger::record(const std::vector<UsageRecord> &records)
{
    for (const UsageRecord &record : records) {
        if (m_seen.contains(record.sourceRunId))
            continue;
        m_seen.insert(record.sourceRunId);
        m_records.push_back(record);
    }
}

void UsageProxy::report(const std::vector<UsageRecord> &records) const
{
    if (records.empty())
        return;
    const bool posted = m_owner.post([ledger = m_ledger, records] {
        if (const auto alive = ledger.lock())
            alive->record(records);
    });
    if (!posted)
        qCWarning(lcUsage, "%zu usage records were lost: the run's loop has ended", records.size());
}

} // namespace paddock
