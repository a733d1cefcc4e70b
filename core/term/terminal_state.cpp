// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/term/terminal_state.h"

#include <algorithm>

namespace paddock {

namespace {

constexpr std::size_t maxStyles = 4096;       ///< a program that uses more gets the default style
constexpr std::size_t maxCombinedPerRow = 255;

Terminal::State *self(void *user)
{
    return static_cast<Terminal::State *>(user);
}

const VTermStateCallbacks callbacks = {
    .putglyph = [](VTermGlyphInfo *info, VTermPos pos, void *user) { return self(user)->putGlyph(info, pos); },
    .movecursor = [](VTermPos pos, VTermPos, int, void *user) {
        self(user)->cursor = pos;
        return 1;
    },
    .scrollrect = [](VTermRect rect, int down, int right, void *user) { return self(user)->scrollRect(rect, down, right); },
    .moverect = [](VTermRect to, VTermRect from, void *user) { return self(user)->moveRect(to, from); },
    .erase = [](VTermRect rect, int, void *user) { return self(user)->erase(rect); },
    .initpen = [](void *user) {
        self(user)->pen = CellStyle{};
        self(user)->penIndex = 0;
        return 1;
    },
    .setpenattr = [](VTermAttr attr, VTermValue *value, void *user) { return self(user)->setPen(attr, value); },
    .settermprop = [](VTermProp prop, VTermValue *value, void *user) { return self(user)->setProperty(prop, value); },
    .bell = [](void *) { return 1; },
    .resize = [](int rows, int cols, VTermStateFields *fields, void *user) { return self(user)->resized(rows, cols, fields); },
    .setlineinfo = [](int, const VTermLineInfo *, const VTermLineInfo *, void *) { return 1; }, // double sizes are not drawn
    .sb_clear = [](void *user) {
        self(user)->ring.clearScrollback();
        return 1;
    },
};

TermColor toColor(const VTermColor &color, bool foreground)
{
    if (foreground ? VTERM_COLOR_IS_DEFAULT_FG(&color) : VTERM_COLOR_IS_DEFAULT_BG(&color))
        return {};
    if (VTERM_COLOR_IS_INDEXED(&color))
        return {TermColor::Kind::Indexed, color.indexed.idx, 0, 0, 0};
    return {TermColor::Kind::Rgb, 0, color.rgb.red, color.rgb.green, color.rgb.blue};
}

/// Writes one logical line as rows of the given width.
class RowWrapper
{
public:
    RowWrapper(std::vector<TermRow> &rows, int columns) : m_rows(rows), m_columns(columns) { m_rows.emplace_back(); }

    std::size_t row() const { return m_rows.size() - 1; }
    int column() const { return int(m_rows.back().cells.size()); }
    void breakLine()
    {
        m_rows.back().wrapped = true;
        m_rows.emplace_back();
    }
    void add(const TermRow &from, std::size_t at)
    {
        Cell cell = from.cells[at];
        if (column() + std::max<int>(1, cell.width) > m_columns) // a wide character is not cut in two
            breakLine();
        if (cell.combining > 0) {
            auto &combined = m_rows.back().combined;
            const bool room = combined.size() < maxCombinedPerRow;
            if (room)
                combined.push_back(from.combined[std::size_t(cell.combining - 1)]);
            cell.combining = room ? std::uint8_t(combined.size()) : std::uint8_t(0);
        }
        m_rows.back().cells.push_back(cell);
    }

private:
    std::vector<TermRow> &m_rows;
    int m_columns;
};

} // namespace

Terminal::State::State(int columnCount, int rows, const TerminalLimits &l)
    : limits(l), columns(columnCount), ring(rows, l.scrollback)
{
    vt = vterm_new(rows, columnCount);
    vterm_set_utf8(vt, 1);
    vterm_output_set_callback(vt, [](const char *bytes, size_t length, void *user) {
        if (self(user)->collecting)
            self(user)->collected.append(bytes, qsizetype(length));
    }, this);
    vts = vterm_obtain_state(vt);
    vterm_state_set_callbacks(vts, &callbacks, this);
    vterm_state_reset(vts, 1);
}

Terminal::State::~State()
{
    vterm_free(vt);
}

void Terminal::State::beginCollecting()
{
    collecting = true;
    collected.clear();
}

QByteArray Terminal::State::endCollecting()
{
    collecting = false;
    return std::exchange(collected, {});
}

Cell &Terminal::State::cell(TermRow &row, int column)
{
    if (int(row.cells.size()) <= column)
        row.cells.resize(std::size_t(column) + 1);
    return row.cells[std::size_t(column)];
}

int Terminal::State::putGlyph(const VTermGlyphInfo *info, VTermPos pos)
{
    if (pos.row < 0 || pos.row >= ring.screenRows() || pos.col < 0 || pos.col >= columns)
        return 1;
    TermRow &row = ring.screenRow(pos.row);
    if (pos.col == 0 && pos.row > 0) // libvterm notes a wrapped line only in its own table
        ring.screenRow(pos.row - 1).wrapped = vterm_state_get_lineinfo(vts, pos.row)->continuation != 0;
    const int width = std::min<int>(info->width, columns - pos.col);
    Cell &c = cell(row, pos.col);
    c = Cell{char32_t(info->chars[0]), penIndex, std::uint8_t(std::max(1, width)), 0};
    if (info->chars[0] != 0 && info->chars[1] != 0 && row.combined.size() < maxCombinedPerRow) {
        QString text;
        for (int i = 0; info->chars[i] != 0; ++i) {
            const char32_t ch = char32_t(info->chars[i]);
            text += QString::fromUcs4(&ch, 1);
        }
        row.combined.push_back(std::move(text));
        c.combining = std::uint8_t(row.combined.size());
    }
    for (int i = 1; i < width; ++i)
        cell(row, pos.col + i) = Cell{0, penIndex, 0, 0};
    return 1;
}

void Terminal::State::eraseCells(TermRow &row, int from, int to)
{
    if (penIndex == 0 && to >= int(row.cells.size())) {
        if (from < int(row.cells.size()))
            row.cells.resize(std::size_t(from));
        if (from == 0)
            row.combined.clear();
        return;
    }
    // Erased cells keep the background of the pen only.
    CellStyle blank;
    blank.background = pen.background;
    std::uint16_t style = 0;
    if (!(blank == CellStyle{})) {
        std::swap(blank, pen);
        internPen();
        style = penIndex;
        std::swap(blank, pen);
        internPen();
    }
    for (int c = from; c < to; ++c)
        cell(row, c) = Cell{0, style, 1, 0};
}

int Terminal::State::erase(VTermRect rect)
{
    for (int r = std::max(0, rect.start_row); r < std::min(rect.end_row, ring.screenRows()); ++r)
        eraseCells(ring.screenRow(r), std::max(0, rect.start_col), std::min(rect.end_col, columns));
    return 1;
}

int Terminal::State::scrollRect(VTermRect rect, int downward, int rightward)
{
    const int rows = ring.screenRows();
    const bool fullWidth = rect.start_col == 0 && rect.end_col >= columns;
    if (rightward != 0 || !fullWidth)
        return 0; // libvterm falls back to moverect and erase
    const int height = rect.end_row - rect.start_row;
    if (downward > 0) {
        const int lines = std::min(downward, height);
        if (rect.start_row == 0 && rect.end_row == rows && !alternate) {
            for (int i = 0; i < lines; ++i)
                ring.scrollUp();
        } else {
            for (int r = rect.start_row; r < rect.end_row - lines; ++r)
                std::swap(ring.screenRow(r), ring.screenRow(r + lines));
            for (int r = rect.end_row - lines; r < rect.end_row; ++r)
                ring.screenRow(r) = TermRow();
        }
        if (pen.background.kind != TermColor::Kind::Default)
            erase({rect.end_row - lines, rect.end_row, 0, columns});
    } else if (downward < 0) {
        const int lines = std::min(-downward, height);
        for (int r = rect.end_row - 1; r >= rect.start_row + lines; --r)
            std::swap(ring.screenRow(r), ring.screenRow(r - lines));
        for (int r = rect.start_row; r < rect.start_row + lines; ++r)
            ring.screenRow(r) = TermRow();
        if (pen.background.kind != TermColor::Kind::Default)
            erase({rect.start_row, rect.start_row + lines, 0, columns});
    }
    return 1;
}

int Terminal::State::moveRect(VTermRect to, VTermRect from)
{
    const int height = std::min(to.end_row - to.start_row, from.end_row - from.start_row);
    const int width = std::min(to.end_col - to.start_col, from.end_col - from.start_col);
    const bool upward = to.start_row <= from.start_row;
    for (int i = 0; i < height; ++i) {
        const int offset = upward ? i : height - 1 - i;
        TermRow &target = ring.screenRow(to.start_row + offset);
        const TermRow source = ring.screenRow(from.start_row + offset); // a copy: both may be one row
        for (int c = 0; c < width; ++c) {
            const std::size_t s = std::size_t(from.start_col + c);
            Cell copy = s < source.cells.size() ? source.cells[s] : Cell{};
            if (copy.combining > 0) {
                if (target.combined.size() < maxCombinedPerRow) {
                    target.combined.push_back(source.combined[std::size_t(copy.combining - 1)]);
                    copy.combining = std::uint8_t(target.combined.size());
                } else {
                    copy.combining = 0;
                }
            }
            cell(target, to.start_col + c) = copy;
        }
    }
    return 1;
}

void Terminal::State::internPen()
{
    if (pen == CellStyle{}) {
        penIndex = 0;
        return;
    }
    const auto flags = std::uint8_t(pen.bold | pen.italic << 1 | pen.underline << 2 | pen.strike << 3 | pen.reverse << 4 | pen.conceal << 5);
    const std::array<std::uint8_t, 12> key{flags, std::uint8_t(pen.foreground.kind), pen.foreground.index, pen.foreground.r,
                                           pen.foreground.g, pen.foreground.b, std::uint8_t(pen.background.kind), pen.background.index,
                                           pen.background.r, pen.background.g, pen.background.b, 0};
    const auto found = styleIndex.find(key);
    if (found != styleIndex.end()) {
        penIndex = found->second;
    } else if (styles.size() < maxStyles) {
        penIndex = std::uint16_t(styles.size());
        styles.push_back(pen);
        styleIndex.emplace(key, penIndex);
    } else {
        penIndex = 0;
    }
}

int Terminal::State::setPen(VTermAttr attr, const VTermValue *value)
{
    switch (attr) {
    case VTERM_ATTR_BOLD: pen.bold = value->boolean; break;
    case VTERM_ATTR_UNDERLINE: pen.underline = value->number != 0; break;
    case VTERM_ATTR_ITALIC: pen.italic = value->boolean; break;
    case VTERM_ATTR_REVERSE: pen.reverse = value->boolean; break;
    case VTERM_ATTR_CONCEAL: pen.conceal = value->boolean; break;
    case VTERM_ATTR_STRIKE: pen.strike = value->boolean; break;
    case VTERM_ATTR_FOREGROUND: pen.foreground = toColor(value->color, true); break;
    case VTERM_ATTR_BACKGROUND: pen.background = toColor(value->color, false); break;
    default: return 1;
    }
    internPen();
    return 1;
}

int Terminal::State::setProperty(VTermProp prop, const VTermValue *value)
{
    switch (prop) {
    case VTERM_PROP_CURSORVISIBLE: cursorVisible = value->boolean; return 1;
    case VTERM_PROP_REVERSE: reverseVideo = value->boolean; return 1;
    case VTERM_PROP_ALTSCREEN:
        if (bool(value->boolean) == alternate)
            return 1;
        alternate = value->boolean;
        if (alternate) {
            savedScreen.clear();
            for (int r = 0; r < ring.screenRows(); ++r)
                savedScreen.push_back(std::exchange(ring.screenRow(r), TermRow()));
        } else {
            for (int r = 0; r < ring.screenRows(); ++r)
                ring.screenRow(r) = r < int(savedScreen.size()) ? std::move(savedScreen[std::size_t(r)]) : TermRow();
            savedScreen.clear();
        }
        return 1;
    default: return 1; // titles, icons, mouse and focus reports: accepted and ignored
    }
}

/// Lines that were broken at the old width are broken at the new one; the cursor stays on its character. What stood on
/// the screen stays there as far as it fits.
void Terminal::State::rewrap(int cols, VTermPos &pos)
{
    const auto screen = std::size_t(ring.screenRows());
    std::vector<TermRow> old = ring.takeAll();
    const std::size_t oldTop = old.size() - screen;
    const std::size_t cursorRow = oldTop + std::size_t(std::clamp(pos.row, 0, int(screen) - 1));
    std::size_t used = old.size();
    while (used > cursorRow + 1 && old[used - 1].cells.empty())
        --used; // blank rows below the cursor are made anew
    std::vector<TermRow> fresh;
    std::size_t top = 0, newCursorRow = 0;
    int newCursorCol = pos.col;
    for (std::size_t r = 0; r < used;) {
        RowWrapper wrapper(fresh, cols);
        for (bool more = true; more && r < used; ++r) {
            if (r == oldTop)
                top = wrapper.row();
            const TermRow &row = old[r];
            for (std::size_t c = 0; c < row.cells.size(); ++c) {
                const bool here = r == cursorRow && int(c) == pos.col;
                wrapper.add(row, c);
                if (here) {
                    newCursorRow = wrapper.row();
                    newCursorCol = wrapper.column() - 1;
                }
            }
            if (r == cursorRow && std::size_t(pos.col) >= row.cells.size()) {
                const int behind = wrapper.column() + pos.col - int(row.cells.size());
                if (behind >= cols)
                    wrapper.breakLine();
                newCursorRow = wrapper.row();
                newCursorCol = behind < cols ? behind : std::min(cols - 1, behind - cols);
            }
            more = row.wrapped && int(row.cells.size()) + 1 >= columns; // a row that was shortened since is no broken line
        }
    }
    const std::size_t below = fresh.size() - std::min(top, fresh.size());
    if (below < screen)
        fresh.resize(fresh.size() + screen - below);
    const std::size_t newTop = fresh.size() - screen;
    pos.row = newCursorRow < newTop ? 0 : int(newCursorRow - newTop);
    pos.col = newCursorCol;
    ring.replaceAll(std::move(fresh));
}

int Terminal::State::resized(int rows, int cols, VTermStateFields *fields)
{
    if (cols != columns && !alternate)
        rewrap(cols, fields->pos);
    const int before = ring.screenRows();
    if (rows < before) {
        // Blank rows below the cursor go first; only then rows move into the scrollback.
        const int blank = std::min(before - rows, std::max(0, before - 1 - fields->pos.row));
        ring.dropEndRows(blank);
        ring.setScreenRows(rows, limits.scrollback);
        fields->pos.row -= before - rows - blank;
    } else if (rows > before) {
        const qint64 above = ring.screenTop() - ring.oldest();
        ring.setScreenRows(rows, limits.scrollback);
        fields->pos.row += int(std::min<qint64>(above, rows - before));
    }
    columns = cols;
    fields->pos.row = std::clamp(fields->pos.row, 0, rows - 1);
    fields->pos.col = std::clamp(fields->pos.col, 0, cols - 1);
    cursor = fields->pos;
    return 1;
}

TermSnapshot Terminal::State::snapshot(qint64 first, int count) const
{
    TermSnapshot s;
    s.oldestRow = ring.oldest();
    s.endRow = ring.end();
    s.firstRow = std::clamp(first, ring.oldest(), ring.end());
    const qint64 last = std::min(ring.end(), s.firstRow + std::max(0, count));
    s.rows.reserve(std::size_t(last - s.firstRow));
    for (qint64 r = s.firstRow; r < last; ++r)
        s.rows.push_back(ring.row(r));
    s.styles = styles;
    s.columns = columns;
    s.screenRows = ring.screenRows();
    s.cursorRow = ring.screenTop() + cursor.row;
    s.cursorColumn = cursor.col;
    s.cursorVisible = cursorVisible;
    s.reverseVideo = reverseVideo;
    s.generation = generation;
    return s;
}

VTermModifier Terminal::State::modifiers(Qt::KeyboardModifiers m, bool text)
{
    int out = VTERM_MOD_NONE;
    if (m.testFlag(Qt::ShiftModifier) && !text)
        out |= VTERM_MOD_SHIFT;
    if (m.testFlag(Qt::AltModifier))
        out |= VTERM_MOD_ALT;
    if (m.testFlag(Qt::ControlModifier))
        out |= VTERM_MOD_CTRL;
    return VTermModifier(out);
}

VTermKey Terminal::State::keyFromQt(int qtKey)
{
    switch (qtKey) {
    case Qt::Key_Return:
    case Qt::Key_Enter: return VTERM_KEY_ENTER;
    case Qt::Key_Tab: return VTERM_KEY_TAB;
    case Qt::Key_Backspace: return VTERM_KEY_BACKSPACE;
    case Qt::Key_Escape: return VTERM_KEY_ESCAPE;
    case Qt::Key_Up: return VTERM_KEY_UP;
    case Qt::Key_Down: return VTERM_KEY_DOWN;
    case Qt::Key_Left: return VTERM_KEY_LEFT;
    case Qt::Key_Right: return VTERM_KEY_RIGHT;
    case Qt::Key_Insert: return VTERM_KEY_INS;
    case Qt::Key_Delete: return VTERM_KEY_DEL;
    case Qt::Key_Home: return VTERM_KEY_HOME;
    case Qt::Key_End: return VTERM_KEY_END;
    case Qt::Key_PageUp: return VTERM_KEY_PAGEUP;
    case Qt::Key_PageDown: return VTERM_KEY_PAGEDOWN;
    default: break;
    }
    if (qtKey >= Qt::Key_F1 && qtKey <= Qt::Key_F12)
        return VTermKey(VTERM_KEY_FUNCTION(qtKey - Qt::Key_F1 + 1));
    return VTERM_KEY_NONE;
}

} // namespace paddock
