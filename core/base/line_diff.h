// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QString>
#include <QStringView>

#include <vector>

namespace paddock {

/// A run of lines of a comparison, in order. `before`/`after` are 0-based first lines; for Added `before` is where it goes in.
struct DiffRun {
    enum class Kind { Same, Removed, Added } kind;
    int before = 0;
    int after = 0;
    int count = 0;
    friend bool operator==(const DiffRun &, const DiffRun &) = default;
};

/// Above this many edits the rest is shown as one replaced block: the cost stays bounded on files that have nothing in
/// common.
inline constexpr int diffGiveUpEdits = 2000;

/// Line differences by Myers' greedy algorithm after cutting the common head and tail. Views into the callers' text.
std::vector<DiffRun> diffLines(const std::vector<QStringView> &before, const std::vector<QStringView> &after,
                               int giveUp = diffGiveUpEdits);
/// Splits at "\n"; a final newline does not make an empty last line.
std::vector<QStringView> splitLines(QStringView text);

struct LineCounts {
    int added = 0;
    int removed = 0;
};
LineCounts countChanges(QStringView before, QStringView after);

} // namespace paddock
