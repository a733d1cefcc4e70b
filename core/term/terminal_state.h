// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

// Private to this room: the only header that includes libvterm.
#include "core/term/input_filter.h"
#include "core/term/row_ring.h"
#include "core/term/terminal.h"

#include <vterm.h>

#include <map>

namespace paddock {

/// Libvterm's callbacks and what they write. All under Terminal's lock.
struct Terminal::State {
    State(int columns, int rows, const TerminalLimits &limits);
    ~State();
    State(const State &) = delete;
    State &operator=(const State &) = delete;

    TermSnapshot snapshot(qint64 first, int count) const;
    void beginCollecting();
    QByteArray endCollecting();
    static VTermModifier modifiers(Qt::KeyboardModifiers modifiers, bool text);
    static VTermKey keyFromQt(int qtKey);

    int putGlyph(const VTermGlyphInfo *info, VTermPos pos);
    int scrollRect(VTermRect rect, int downward, int rightward);
    int moveRect(VTermRect to, VTermRect from);
    int erase(VTermRect rect);
    int setPen(VTermAttr attr, const VTermValue *value);
    int setProperty(VTermProp prop, const VTermValue *value);
    int resized(int rows, int cols, VTermStateFields *fields);
    void rewrap(int cols, VTermPos &pos);

    VTerm *vt = nullptr;
    VTermState *vts = nullptr;
    TerminalLimits limits;
    int columns;
    RowRing ring;
    std::vector<TermRow> savedScreen; ///< the main screen while the alternate one is shown
    bool alternate = false;
    std::vector<CellStyle> styles{CellStyle{}};
    std::map<std::array<std::uint8_t, 12>, std::uint16_t> styleIndex;
    CellStyle pen;
    std::uint16_t penIndex = 0;
    VTermPos cursor{0, 0};
    bool cursorVisible = true;
    bool reverseVideo = false;
    quint64 generation = 0;
    InputFilter filter;
    bool collecting = false; ///< bytes from libvterm are keys that a person typed; otherwise answers, dropped
    QByteArray collected;

private:
    void internPen();
    Cell &cell(TermRow &row, int column);
    void eraseCells(TermRow &row, int from, int to);
};

} // namespace paddock
