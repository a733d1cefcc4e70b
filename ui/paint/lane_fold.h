// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QtTypes>

#include <span>
#include <vector>

namespace paddock {

/// A rectangle to draw: one span, or neighbours too narrow to tell apart.
struct LaneItem {
    double x0 = 0;
    double x1 = 0;
    quint32 first = 0; ///< position in the track, not the span's id
    quint32 count = 1;
};

/// Below this width spans fold into one (style.md A10: then no zoom level costs more than pixels).
inline constexpr double foldWidth = 3.0;
/// No frame draws more rectangles than this.
inline constexpr size_t itemsPerFrame = 50'000;

/// The part of a track (starts and ends ascending, not overlapping, in microseconds) between `from` and `to` as
/// rectangles, `scale` pixels a microsecond, x = 0 at `from`. Ends in the future count as `now`. Costs a binary search
/// per rectangle, whatever the number of spans. Appends to `out`.
void foldTrack(std::span<const qint64> starts, std::span<const qint64> ends, qint64 from, qint64 to, double scale,
               qint64 now, std::vector<LaneItem> &out);

/// Position in the track of the span at `time`, or the nearest within `slack`; -1 when there is none.
qsizetype spanAt(std::span<const qint64> starts, std::span<const qint64> ends, qint64 time, qint64 slack);

} // namespace paddock
