// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QString>

#include <array>
#include <cstdint>
#include <vector>

namespace paddock {

/// A colour as the terminal knows it; the painter turns it into one of its theme.
struct TermColor {
    enum class Kind : std::uint8_t { Default, Indexed, Rgb } kind = Kind::Default;
    std::uint8_t index = 0;
    std::uint8_t r = 0, g = 0, b = 0;
    friend bool operator==(const TermColor &, const TermColor &) = default;
};

struct CellStyle {
    TermColor foreground;
    TermColor background;
    bool bold = false;
    bool italic = false;
    bool underline = false;
    bool strike = false;
    bool reverse = false;
    bool conceal = false;
    friend bool operator==(const CellStyle &, const CellStyle &) = default;
};

/// One cell of the grid. `ch` 0 is blank; `width` 0 is the right half of a wide character.
struct Cell {
    char32_t ch = 0;
    std::uint16_t style = 0; ///< index into the style table of the terminal
    std::uint8_t width = 1;
    std::uint8_t combining = 0; ///< 1-based index into the row's list of combined characters
};

/// One row; trailing blank cells may be missing.
struct TermRow {
    std::vector<Cell> cells;
    std::vector<QString> combined; ///< base character with its combining ones, for cells that say so
    bool wrapped = false;          ///< continues on the next row

    QString text(int from = 0, int to = -1) const;
};

/// What a painter needs of a stretch of rows, taken under the terminal's lock and then its own. A value.
struct TermSnapshot {
    qint64 firstRow = 0;  ///< absolute number of rows.front()
    std::vector<TermRow> rows;
    std::vector<CellStyle> styles;
    qint64 oldestRow = 0; ///< absolute number of the oldest row kept
    qint64 endRow = 0;    ///< absolute number after the last row
    int columns = 80;
    int screenRows = 24;
    qint64 cursorRow = 0; ///< absolute
    int cursorColumn = 0;
    bool cursorVisible = true;
    bool reverseVideo = false;
    quint64 generation = 0;
};

} // namespace paddock
