// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/ids.h"

#include <QString>

#include <chrono>
#include <optional>
#include <vector>

namespace paddock {

/// When which agent's command ran, to guess who made a change that no tool reported (style.md C3). Pure; times are those of
/// the monotonic clock. Not thread-safe.
class CommandTimes
{
public:
    using Micros = std::chrono::microseconds;
    /// A change is read a little after it was made, maybe after its command ended.
    static constexpr Micros lateReading{50000};
    /// Ended commands are remembered so long.
    static constexpr Micros memory{10000000};

    void started(const QString &commandId, const AgentId &agent, const QString &command, Micros at);
    void finished(const QString &commandId, Micros at);
    void forgetBefore(Micros now);

    /// The one agent whose command ran at `seen`; when several did, the one whose command names the file; else nobody.
    std::optional<AgentId> ownerOf(const QString &virtualPath, Micros seen) const;

private:
    struct Interval {
        QString id;
        AgentId agent;
        QString command;
        Micros start{};
        std::optional<Micros> end;
    };
    std::vector<Interval> m_intervals;
};

} // namespace paddock
