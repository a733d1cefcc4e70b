// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/loop.h"
#include "core/message/message.h"

#include <QSet>

namespace paddock {

/// Collects one record per finished model call of a subagent (runtime §1.7). Lives on the subagent's loop.
class UsageCollector
{
public:
    explicit UsageCollector(QString caller) : m_caller(std::move(caller)) {}

    /// Deduplicates by `callId`; a call without usage leaves no record.
    void add(const QString &callId, const Json &usage, const Json &responseMetadata);
    void add(const MessagePtr &reply);
    /// [{source_run_id, caller, model_name, input_tokens, output_tokens, total_tokens, cache_read_tokens?}]
    const Json &records() const { return m_records; }

private:
    QString m_caller;
    QSet<QString> m_seen;
    Json m_records = Json::array();
};

/// {input_tokens, output_tokens, total_tokens} of the records, or null when there are none.
Json sumUsage(const Json &records);
Usage usageOfRecords(const Json &records);

/// The parent's side: what a run's subagents used. Lives on the parent's loop and is only touched there; others go through
/// a UsageProxy.
class UsageLedger
{
public:
    /// Records already known by source_run_id are skipped.
    void record(const Json &records);
    const Json &records() const { return m_records; }
    Usage total() const { return usageOfRecords(m_records); }

private:
    QSet<QString> m_seen;
    Json m_records = Json::array();
};

/// The way for usage from another loop to the ledger: by value, posted to the owner's loop. A report to a loop that has
/// ended is dropped and logged with its size. Copyable; any thread.
class UsageProxy
{
public:
    UsageProxy() = default;
    UsageProxy(LoopRef owner, std::weak_ptr<UsageLedger> ledger) : m_owner(std::move(owner)), m_ledger(std::move(ledger)) {}
    void report(const Json &records) const;

private:
    LoopRef m_owner;
    std::weak_ptr<UsageLedger> m_ledger;
};

} // namespace paddock
