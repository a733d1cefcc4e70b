// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/term/terminal.h"

#include "core/term/terminal_state.h"

#include <algorithm>

namespace paddock {

QString TermRow::text(int from, int to) const
{
    QString out;
    const int end = to < 0 ? int(cells.size()) : std::min(to, int(cells.size()));
    for (int c = std::max(0, from); c < end; ++c) {
        const Cell &cell = cells[std::size_t(c)];
        if (cell.width == 0)
            continue;
        if (cell.combining > 0)
            out += combined[std::size_t(cell.combining - 1)];
        else
            out += cell.ch == 0 ? QStringLiteral(" ") : QString::fromUcs4(&cell.ch, 1);
    }
    return out;
}

Terminal::Terminal(int columns, int rows, TerminalLimits limits)
    : m_state(std::make_unique<State>(std::clamp(columns, 1, limits.maxColumns), std::clamp(rows, 1, limits.maxRows), limits))
{
}

Terminal::~Terminal() = default;

void Terminal::feed(const QByteArray &bytes)
{
    const std::lock_guard lock(m_mutex);
    m_state->collecting = false;
    const QByteArray harmless = m_state->filter.take(bytes);
    vterm_input_write(m_state->vt, harmless.constData(), size_t(harmless.size()));
    ++m_state->generation;
}

void Terminal::resize(int columns, int rows)
{
    const std::lock_guard lock(m_mutex);
    const TerminalLimits &limits = m_state->limits;
    columns = std::clamp(columns, 1, limits.maxColumns);
    rows = std::clamp(rows, 1, limits.maxRows);
    if (columns == m_state->columns && rows == m_state->ring.screenRows())
        return;
    vterm_set_size(m_state->vt, rows, columns);
    ++m_state->generation;
}

void Terminal::reset()
{
    const std::lock_guard lock(m_mutex);
    m_state = std::make_unique<State>(m_state->columns, m_state->ring.screenRows(), m_state->limits);
}

TermSnapshot Terminal::snapshot(qint64 first, int count) const
{
    const std::lock_guard lock(m_mutex);
    return m_state->snapshot(first, count);
}

TermSnapshot Terminal::screen() const
{
    const std::lock_guard lock(m_mutex);
    return m_state->snapshot(m_state->ring.screenTop(), m_state->ring.screenRows());
}

quint64 Terminal::generation() const
{
    const std::lock_guard lock(m_mutex);
    return m_state->generation;
}

qint64 Terminal::endRow() const
{
    const std::lock_guard lock(m_mutex);
    return m_state->ring.end();
}

int Terminal::screenRows() const
{
    const std::lock_guard lock(m_mutex);
    return m_state->ring.screenRows();
}

int Terminal::columns() const
{
    const std::lock_guard lock(m_mutex);
    return m_state->columns;
}

QString Terminal::textBetween(qint64 fromRow, int fromColumn, qint64 toRow, int toColumn) const
{
    const std::lock_guard lock(m_mutex);
    const RowRing &ring = m_state->ring;
    if (std::pair(fromRow, fromColumn) > std::pair(toRow, toColumn)) {
        std::swap(fromRow, toRow);
        std::swap(fromColumn, toColumn);
    }
    if (fromRow < ring.oldest()) {
        fromRow = ring.oldest();
        fromColumn = 0;
    }
    QString out;
    for (qint64 r = fromRow; r <= toRow && r < ring.end(); ++r) {
        const TermRow &row = ring.row(r);
        QString text = row.text(r == fromRow ? fromColumn : 0, r == toRow ? toColumn : -1);
        if (!row.wrapped || r == toRow) {
            while (text.endsWith(QLatin1Char(' ')) && r != toRow)
                text.chop(1);
        }
        out += text;
        if (r != toRow && !row.wrapped)
            out += QLatin1Char('\n');
    }
    return out;
}

std::optional<Terminal::Match> Terminal::find(const QString &needle, qint64 from, bool up, bool caseSensitive) const
{
    if (needle.isEmpty())
        return std::nullopt;
    const std::lock_guard lock(m_mutex);
    const RowRing &ring = m_state->ring;
    const auto sensitivity = caseSensitive ? Qt::CaseSensitive : Qt::CaseInsensitive;
    for (qint64 r = std::clamp(from, ring.oldest(), ring.end() - 1); r >= ring.oldest() && r < ring.end(); r += up ? -1 : 1) {
        const qsizetype at = ring.row(r).text().indexOf(needle, 0, sensitivity);
        if (at >= 0)
            return Match{r, int(at), int(needle.size())};
    }
    return std::nullopt;
}

QByteArray Terminal::encodeText(const QString &text, Qt::KeyboardModifiers modifiers)
{
    const std::lock_guard lock(m_mutex);
    m_state->beginCollecting();
    for (const char32_t c : text.toUcs4())
        vterm_keyboard_unichar(m_state->vt, c, State::modifiers(modifiers, true));
    return m_state->endCollecting();
}

QByteArray Terminal::encodeKey(int qtKey, Qt::KeyboardModifiers modifiers)
{
    const VTermKey key = State::keyFromQt(qtKey);
    if (key == VTERM_KEY_NONE)
        return {};
    const std::lock_guard lock(m_mutex);
    m_state->beginCollecting();
    vterm_keyboard_key(m_state->vt, key, State::modifiers(modifiers, false));
    return m_state->endCollecting();
}

QByteArray Terminal::encodePaste(const QString &text)
{
    const std::lock_guard lock(m_mutex);
    m_state->beginCollecting();
    vterm_keyboard_start_paste(m_state->vt);
    QByteArray bytes = m_state->endCollecting();
    QString clean = text;
    clean.remove(QChar(0x1b)); // an escape in pasted text could end the bracket and run what follows
    bytes += clean.replace(QLatin1Char('\n'), QLatin1Char('\r')).toUtf8();
    m_state->beginCollecting();
    vterm_keyboard_end_paste(m_state->vt);
    return bytes + m_state->endCollecting();
}

} // namespace paddock
