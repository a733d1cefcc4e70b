// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/agent/usage_ledger.h"

#include <QLoggingCategory>

Q_LOGGING_CATEGORY(lcUsage, "paddock.agent.usage")

namespace paddock {

namespace {

/// The record of a call, or null when there was nothing to count.
Json recordOf(const QString &callId, const QString &caller, const Json &usage, const Json &metadata)
{
    if (!usage.is_object())
        return nullptr;
    const qint64 input = intOf(usage, "input_tokens");
    const qint64 output = intOf(usage, "output_tokens");
    qint64 total = intOf(usage, "total_tokens");
    if (total <= 0)
        total = input + output;
    if (total <= 0)
        return nullptr;
    const auto model = optionalString(metadata, "model_name");
    const auto other = optionalString(metadata, "model");
    Json record{{"source_run_id", toUtf8(callId)}, {"caller", toUtf8(caller)}};
    record["model_name"] = model ? toJson(*model) : other ? toJson(*other) : Json(nullptr);
    record["input_tokens"] = input;
    record["output_tokens"] = output;
    record["total_tokens"] = total;
    const qint64 cached = intOf(memberOf(usage, "input_token_details"), "cache_read");
    if (cached > 0)
        record["cache_read_tokens"] = cached;
    return record;
}

} // namespace

void UsageCollector::add(const QString &callId, const Json &usage, const Json &responseMetadata)
{
    if (m_seen.contains(callId))
        return;
    Json record = recordOf(callId, m_caller, usage, responseMetadata);
    if (record.is_null())
        return;
    m_seen.insert(callId);
    m_records.push_back(std::move(record));
}

void UsageCollector::add(const MessagePtr &reply)
{
    add(reply->id, reply->usage ? usageToJson(*reply->usage) : Json(nullptr), reply->responseMetadata);
}

Usage usageOfRecords(const Json &records)
{
    Usage sum;
    for (const Json &record : records) {
        sum.input += intOf(record, "input_tokens");
        sum.output += intOf(record, "output_tokens");
        sum.total += intOf(record, "total_tokens");
        sum.cacheRead += intOf(record, "cache_read_tokens");
    }
    return sum;
}

Json sumUsage(const Json &records)
{
    if (!records.is_array() || records.empty())
        return nullptr;
    const Usage sum = usageOfRecords(records);
    return Json{{"input_tokens", sum.input}, {"output_tokens", sum.output}, {"total_tokens", sum.total}};
}

void UsageLedger::record(const Json &records)
{
    for (const Json &record : records) {
        const QString id = stringOf(record, "source_run_id");
        if (m_seen.contains(id))
            continue;
        m_seen.insert(id);
        m_records.push_back(record);
    }
}

void UsageProxy::report(const Json &records) const
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
