// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/message/message.h"

#include <QSet>

#include <optional>
#include <vector>

namespace paddock {

/// What one finished model call cost and who made it (runtime §1.7).
struct UsageRecord {
    QString sourceRunId; ///< the model call's id
    QString caller;      ///< "lead", "subagent:<name>", "middleware:<name>"
    QString modelName;   ///< empty when the provider did not say
    Usage usage;         ///< total is never 0
};

/// Collects the records of one execution, each call once. Used by one thread.
class UsageCollector
{
public:
    explicit UsageCollector(QString caller) : m_caller(std::move(caller)) {}
    /// False when nothing was recorded: no usage, nothing used, or the call is known already.
    /// `caller`: another one than the execution's own; empty: its own.
    bool add(const QString &callId, const std::optional<Usage> &usage, const Json &responseMetadata, const QString &caller = {});
    const std::vector<UsageRecord> &records() const { return m_records; }

private:
    QString m_caller;
    QSet<QString> m_seen;
    std::vector<UsageRecord> m_records;
};

/// The total; nothing (not zeros) when there are no records.
std::optional<Usage> sumUsage(const std::vector<UsageRecord> &records);
Json usageRecordToJson(const UsageRecord &record);
UsageRecord usageRecordFromJson(const Json &json);

} // namespace paddock
