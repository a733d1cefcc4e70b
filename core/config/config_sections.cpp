// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/config/config.h"
#include "core/config/section_reader.h"

namespace paddock {

Result<LoopDetectionConfig> loopDetectionFromJson(const Json &value)
{
    LoopDetectionConfig c;
    SectionReader reader(QStringLiteral("loop_detection"), value);
    reader.boolean("enabled", c.enabled);
    reader.integer("warn_threshold", c.warnThreshold, 1, 1000000);
    reader.integer("hard_limit", c.hardLimit, 1, 1000000);
    reader.integer("window_size", c.windowSize, 1, 1000000);
    reader.integer("max_tracked_threads", c.maxTrackedThreads, 1, 1000000);
    reader.integer("tool_freq_warn", c.toolFreqWarn, 1, 1000000);
    reader.integer("tool_freq_hard_limit", c.toolFreqHardLimit, 1, 1000000);
    const Json &overrides = reader.take("tool_freq_overrides");
    if (overrides.is_object()) {
        for (auto it = overrides.begin(); it != overrides.end(); ++it) {
            const QString tool = QString::fromStdString(it.key());
            std::pair<int, int> limits{c.toolFreqWarn, c.toolFreqHardLimit};
            SectionReader inner(QStringLiteral("loop_detection.tool_freq_overrides.%1").arg(tool), it.value());
            inner.integer("warn", limits.first, 1, 1000000);
            inner.integer("hard_limit", limits.second, 1, 1000000);
            reader.adopt(inner);
            if (limits.second < limits.first)
                reader.complain("tool_freq_overrides", QStringLiteral("%1: hard_limit %2 must be at least warn %3")
                                                           .arg(tool).arg(limits.second).arg(limits.first));
            c.toolFreqOverrides.insert(tool, limits);
        }
    } else if (!overrides.is_null()) {
        reader.complain("tool_freq_overrides", QStringLiteral("must be a mapping of tool names"));
    }
    if (c.hardLimit < c.warnThreshold)
        reader.complain("hard_limit", QStringLiteral("%1 must be at least warn_threshold %2").arg(c.hardLimit).arg(c.warnThreshold));
    if (c.toolFreqHardLimit < c.toolFreqWarn)
        reader.complain("tool_freq_hard_limit", QStringLiteral("%1 must be at least tool_freq_warn %2")
                                                    .arg(c.toolFreqHardLimit).arg(c.toolFreqWarn));
    return reader.finish(c);
}

Result<SubagentRuntimeConfig> subagentRuntimeFromJson(const Json &value)
{
    SubagentRuntimeConfig c;
    SectionReader reader(QStringLiteral("subagent_runtime"), value);
    reader.integer("max_running", c.maxRunning, 1, 64);
    reader.integer("max_queued", c.maxQueued, 0, 10000);
    reader.oneOf("admission_policy", c.admissionPolicy, {QStringLiteral("queue"), QStringLiteral("reject")});
    reader.integer("queue_timeout_seconds", c.queueTimeoutSeconds, 1, 86400);
    return reader.finish(c);
}

Result<SubagentsConfig> subagentsFromJson(const Json &value)
{
    SubagentsConfig c;
    SectionReader reader(QStringLiteral("subagents"), value);
    reader.integer("timeout_seconds", c.timeoutSeconds, 1, 86400);
    int turns = 0;
    if (reader.integer("max_turns", turns, 1, 100000))
        c.maxTurns = turns;
    reader.integer("max_total_per_run", c.maxTotalPerRun, 1, 50);
    reader.integer("max_concurrent", c.maxConcurrent, 1, 64);
    for (const char *key : {"agents", "custom_agents", "token_budget", "enabled"})
        reader.take(key);
    if (auto budget = checkSubagentBudget(QStringLiteral("subagents.token_budget"), memberOf(value, "token_budget")); !budget)
        return fail(budget.error());
    const Json &overrides = memberOf(value, "agents");
    if (overrides.is_object()) {
        for (auto it = overrides.begin(); it != overrides.end(); ++it) {
            const QString section = QStringLiteral("subagents.agents.%1.token_budget").arg(QString::fromStdString(it.key()));
            if (auto budget = checkSubagentBudget(section, memberOf(it.value(), "token_budget")); !budget)
                return fail(budget.error());
        }
    }
    return reader.finish(c);
}

Result<TerminalLogsConfig> terminalLogsFromJson(const Json &value)
{
    constexpr qint64 most = 1LL << 50;
    TerminalLogsConfig c;
    SectionReader reader(QStringLiteral("terminal_logs"), value);
    reader.integer("max_total_bytes", c.maxTotalBytes, 0, most);
    return reader.finish(c);
}

} // namespace paddock
