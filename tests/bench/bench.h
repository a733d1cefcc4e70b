// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/error.h"

#include <QList>
#include <QString>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <vector>

namespace paddock::bench {

/// One line of the report: what was measured, what a peer did in the same run, and how the number that counts stands to
/// its budget (design.md §10).
struct Reading {
    QString what;
    QString ours;
    QString peer;
    double value = 0;  ///< what the budget is about
    double budget = 0;
    QString unit;      ///< of value and budget
    bool atLeast = false; ///< the budget is a lower bound

    bool within() const { return atLeast ? value >= budget : value <= budget; }
};

/// How much work: all of it, or just enough to see that it runs.
struct Scale {
    bool quick = false;
    int of(int full, int few) const { return quick ? few : full; }
};

using Readings = Result<QList<Reading>>;

Readings shellRoundTrip(const Scale &scale);
Readings leases(const Scale &scale);
Readings subagentChain(const Scale &scale);
Readings eventsToJournal(const Scale &scale);
Readings terminalBytes(const Scale &scale);

inline double median(std::vector<double> values)
{
    std::ranges::sort(values);
    return values.empty() ? 0 : values[values.size() / 2];
}

/// Seconds that `work` takes.
template<typename Work>
double secondsOf(Work work)
{
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Seconds of processor that `work` takes on this thread.
template<typename Work>
double cpuSecondsOf(Work work)
{
    const auto now = [] {
        timespec time{};
        ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return double(time.tv_sec) + double(time.tv_nsec) * 1e-9;
    };
    const double begin = now();
    work();
    return now() - begin;
}

} // namespace paddock::bench
