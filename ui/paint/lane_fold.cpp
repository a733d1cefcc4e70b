// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/paint/lane_fold.h"

#include <algorithm>
#include <limits>

namespace paddock {

namespace {
constexpr qint64 maxNarrow = qint64(1) << 53; // what a double holds exactly, and far from the ends of the type
}

void foldTrack(std::span<const qint64> starts, std::span<const qint64> ends, qint64 from, qint64 to, double scale,
               qint64 now, std::vector<LaneItem> &out)
{
    if (starts.empty() || to <= from || scale <= 0)
        return;
    constexpr qint64 never = std::numeric_limits<qint64>::max(); // the end of a span that is still open
    const auto narrow = qint64(std::min(foldWidth / scale, double(maxNarrow)));
    const auto reachOf = [&](size_t span) { return std::min(ends[span], never - narrow) + narrow; };
    const auto x = [&](qint64 time) { return double(std::min(time, now) - from) * scale; };
    const auto n = starts.size();
    size_t i = size_t(std::lower_bound(ends.begin(), ends.end(), from) - ends.begin());
    while (i < n && starts[i] < to && out.size() < itemsPerFrame) {
        if (std::min(ends[i], now) - starts[i] >= narrow) {
            out.push_back({x(starts[i]), x(ends[i]), quint32(i), 1});
            ++i;
            continue;
        }
        // Jump from gap to gap: a span that ends within `narrow` of what is folded already joins it.
        const size_t first = i;
        qint64 reach = reachOf(i);
        size_t next = i + 1;
        for (;;) {
            next = size_t(std::lower_bound(ends.begin() + qsizetype(next), ends.end(), reach) - ends.begin());
            if (next >= n)
                break;
            const qint64 before = ends[next - 1];
            if (ends[next] - before >= narrow || starts[next] >= to)
                break;
            reach = reachOf(next);
            ++next;
        }
        out.push_back({x(starts[first]), std::max(x(ends[next - 1]), x(starts[first]) + 1), quint32(first),
                       quint32(next - first)});
        i = next;
    }
}

qsizetype spanAt(std::span<const qint64> starts, std::span<const qint64> ends, qint64 time, qint64 slack)
{
    const auto after = std::upper_bound(starts.begin(), starts.end(), time);
    const qsizetype next = after - starts.begin();
    const qsizetype previous = next - 1;
    if (previous >= 0 && time <= ends[size_t(previous)])
        return previous;
    const bool nextNear = next < qsizetype(starts.size()) && starts[size_t(next)] - time <= slack;
    const bool previousNear = previous >= 0 && time - ends[size_t(previous)] <= slack;
    if (nextNear && previousNear)
        return starts[size_t(next)] - time < time - ends[size_t(previous)] ? next : previous;
    if (nextNear)
        return next;
    return previousNear ? previous : -1;
}

} // namespace paddock
