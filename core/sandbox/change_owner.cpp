// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/change_owner.h"

#include <algorithm>

namespace paddock {

void CommandTimes::started(const QString &commandId, const AgentId &agent, const QString &command, Micros at)
{
    m_intervals.push_back({commandId, agent, command, at, std::nullopt});
}

void CommandTimes::finished(const QString &commandId, Micros at)
{
    for (Interval &interval : m_intervals) {
        if (interval.id == commandId && !interval.end)
            interval.end = at;
    }
}

void CommandTimes::forgetBefore(Micros now)
{
    std::erase_if(m_intervals, [&](const Interval &interval) { return interval.end && *interval.end + memory < now; });
}

std::optional<AgentId> CommandTimes::ownerOf(const QString &virtualPath, Micros seen) const
{
    const auto ranAt = [&](Micros slack) {
        std::vector<const Interval *> running;
        for (const Interval &interval : m_intervals) {
            if (interval.start <= seen && (!interval.end || *interval.end + slack >= seen))
                running.push_back(&interval);
        }
        return running;
    };
    const auto onlyAgent = [](const std::vector<const Interval *> &intervals) -> std::optional<AgentId> {
        if (intervals.empty())
            return std::nullopt;
        const AgentId first = intervals.front()->agent;
        const bool same = std::all_of(intervals.begin(), intervals.end(), [&](const Interval *i) { return i->agent == first; });
        return same ? std::optional(first) : std::nullopt;
    };
    std::vector<const Interval *> running = ranAt(Micros(0));
    if (running.empty())
        running = ranAt(lateReading);
    if (const auto agent = onlyAgent(running))
        return agent;
    const QString name = virtualPath.mid(virtualPath.lastIndexOf(u'/') + 1);
    std::erase_if(running, [&](const Interval *interval) { return name.isEmpty() || !interval->command.contains(name); });
    return onlyAgent(running);
}

} // namespace paddock
