// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/loop.h"
#include "core/message/usage_records.h"

namespace paddock {

Json usageRecordsToJson(const std::vector<UsageRecord> &records);
std::vector<UsageRecord> usageRecordsFromJson(const Json &records);

/// The parent's side: what a run's subagents used (runtime §1.7). Lives on the parent's loop and is only touched there;
/// others go through a UsageProxy.
class UsageLedger
{
public:
    /// Records already known by their call id are skipped.
    void record(const std::vector<UsageRecord> &records);
    const std::vector<UsageRecord> &records() const { return m_records; }
    Usage total() const { return sumUsage(m_records).value_or(Usage{}); }

private:
    QSet<QString> m_seen;
    std::vector<UsageRecord> m_records;
};

/// The way for usage from another loop to the ledger: by value, posted to the owner's loop. A report to a loop that has
/// ended is dropped and logged with its size. Copyable; any thread.
class UsageProxy
{
public:
    UsageProxy() = default;
    UsageProxy(LoopRef owner, std::weak_ptr<UsageLedger> ledger) : m_owner(std::move(owner)), m_ledger(std::move(ledger)) {}
    void report(const std::vector<UsageRecord> &records) const;

private:
    LoopRef m_owner;
    std::weak_ptr<UsageLedger> m_ledger;
};

} // namespace paddock
