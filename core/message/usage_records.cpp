// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/message/usage_records.h"

namespace paddock {

bool UsageCollector::add(const QString &callId, const std::optional<Usage> &usage, const Json &responseMetadata, const QString &caller)
{
    if (!usage || m_seen.contains(callId))
        return false;
    UsageRecord record{callId, caller.isEmpty() ? m_caller : caller, stringOf(responseMetadata, "model_name", stringOf(responseMetadata, "model")), *usage};
    if (record.usage.total <= 0)
        record.usage.total = record.usage.input + record.usage.output;
    if (record.usage.total <= 0)
        return false;
    m_seen.insert(callId);
    m_records.push_back(std::move(record));
    return true;
}

std::optional<Usage> sumUsage(const std::vector<UsageRecord> &records)
{
    if (records.empty())
        return std::nullopt;
    Usage sum;
    for (const UsageRecord &record : records)
        sum += record.usage;
    return sum;
}

Json usageRecordToJson(const UsageRecord &record)
{
    Json json{{"source_run_id", toUtf8(record.sourceRunId)},
              {"caller", toUtf8(record.caller)},
              {"model_name", record.modelName.isEmpty() ? Json(nullptr) : toJson(record.modelName)},
              {"input_tokens", record.usage.input},
              {"output_tokens", record.usage.output},
              {"total_tokens", record.usage.total}};
    if (record.usage.cacheRead > 0)
        json["cache_read_tokens"] = record.usage.cacheRead;
    return json;
}

UsageRecord usageRecordFromJson(const Json &json)
{
    UsageRecord record{stringOf(json, "source_run_id"), stringOf(json, "caller"), stringOf(json, "model_name"), {}};
    record.usage.input = intOf(json, "input_tokens");
    record.usage.output = intOf(json, "output_tokens");
    record.usage.total = intOf(json, "total_tokens");
    record.usage.cacheRead = intOf(json, "cache_read_tokens");
    return record;
}

} // namespace paddock
