// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QString>

#include <chrono>
#include <memory>
#include <optional>

namespace paddock {

/// Wall and monotonic time, injectable so that tests and replays are deterministic. Thread-safe.
class Clock
{
public:
    using Wall = std::chrono::sys_time<std::chrono::microseconds>;
    virtual ~Clock() = default;
    virtual Wall wall() const = 0;
    virtual std::chrono::microseconds mono() const = 0;

    /// The process-wide real clock.
    static std::shared_ptr<const Clock> system();
};

/// "2026-12-02T04:11:22.123456Z"
QString formatWall(Clock::Wall time);
/// Accepts what formatWall writes and RFC 3339 with other fractions; nullopt otherwise.
std::optional<Clock::Wall> parseWall(const QString &text);

} // namespace paddock
