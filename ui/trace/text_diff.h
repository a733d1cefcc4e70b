// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QString>

#include <vector>

namespace paddock {

struct DiffLine {
    enum class Kind { Same, Added, Removed, Heading, LeftOut } kind = Kind::Same;
    QString text;  ///< the line without its end; for LeftOut empty
    int count = 0; ///< LeftOut: how many lines
    bool added = false;   ///< LeftOut: of added lines
    bool removed = false; ///< LeftOut: of removed lines
};

/// A line diff for people: `context` equal lines around each change, longer stretches left out and counted; of one change
/// at most about `mostLines` lines. Pure; any thread; bounded like diffLines.
std::vector<DiffLine> diffText(const QString &before, const QString &after, int context = 3, int mostLines = 400);

/// Takes hashes ("args_sha256=45140d9c…") out of added lines and puts them under a heading at the end, so that the words
/// come first. Only where nothing was removed: else a hash may be all that differs.
std::vector<DiffLine> hashesLast(std::vector<DiffLine> lines, const QString &heading);

} // namespace paddock
