// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/term/cell.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace paddock {

/// The rows of a terminal: a screen of fixed height at the end of a bounded scrollback. Scrolling up moves an index.
/// Rows have absolute numbers that never change while they are kept. Private to this room; not thread-safe.
class RowRing
{
public:
    RowRing(int screenRows, int scrollback) : m_screenRows(screenRows), m_capacity(std::size_t(screenRows + scrollback))
    {
        m_rows.resize(std::size_t(screenRows));
    }

    qint64 oldest() const { return m_first; }
    qint64 end() const { return m_first + qint64(m_rows.size()); }
    qint64 screenTop() const { return end() - m_screenRows; }
    int screenRows() const { return m_screenRows; }

    TermRow &row(qint64 absolute) { return m_rows[slot(absolute)]; }
    const TermRow &row(qint64 absolute) const { return m_rows[slot(absolute)]; }
    TermRow &screenRow(int row) { return m_rows[slot(screenTop() + row)]; }

    /// Adds a blank row at the end; the oldest one goes when the ring is full.
    void scrollUp()
    {
        TermRow &leaving = row(screenTop());
        while (!leaving.cells.empty() && leaving.cells.back().ch == 0 && leaving.cells.back().style == 0)
            leaving.cells.pop_back();
        leaving.cells.shrink_to_fit();
        if (m_rows.size() < m_capacity) {
            m_rows.emplace_back();
        } else {
            m_rows[m_head] = TermRow();
            m_head = (m_head + 1) % m_capacity;
            ++m_first;
        }
    }

    /// Changes the height of the screen: taller takes rows back from the scrollback, shorter gives them to it.
    void setScreenRows(int rows, int scrollback)
    {
        linearise();
        while (int(m_rows.size()) < rows)
            m_rows.emplace_back();
        m_screenRows = rows;
        m_capacity = std::size_t(rows + scrollback);
        if (m_rows.size() > m_capacity) {
            const std::size_t surplus = m_rows.size() - m_capacity;
            m_rows.erase(m_rows.begin(), m_rows.begin() + std::ptrdiff_t(surplus));
            m_first += qint64(surplus);
        }
    }

    /// All rows in order, and back again with the screen at their end (at least a screen of them): for wrapping anew.
    std::vector<TermRow> takeAll()
    {
        linearise();
        return std::exchange(m_rows, {});
    }
    void replaceAll(std::vector<TermRow> rows)
    {
        m_rows = std::move(rows);
        m_head = 0;
        if (m_rows.size() > m_capacity) {
            const std::size_t surplus = m_rows.size() - m_capacity;
            m_rows.erase(m_rows.begin(), m_rows.begin() + std::ptrdiff_t(surplus));
            m_first += qint64(surplus);
        }
    }

    void clearScrollback()
    {
        linearise();
        const std::size_t above = m_rows.size() - std::size_t(m_screenRows);
        m_rows.erase(m_rows.begin(), m_rows.begin() + std::ptrdiff_t(above));
        m_first += qint64(above);
    }

    /// Drops blank rows below `lastUsed` (absolute) when the screen shrinks.
    void dropEndRows(int count)
    {
        linearise();
        m_rows.resize(m_rows.size() - std::min(std::size_t(count), m_rows.size()));
    }

private:
    std::size_t slot(qint64 absolute) const { return (m_head + std::size_t(absolute - m_first)) % std::max<std::size_t>(1, m_rows.size()); }
    void linearise()
    {
        if (m_head == 0)
            return;
        std::rotate(m_rows.begin(), m_rows.begin() + std::ptrdiff_t(m_head), m_rows.end());
        m_head = 0;
    }

    int m_screenRows;
    std::size_t m_capacity;
    std::vector<TermRow> m_rows;
    std::size_t m_head = 0; ///< slot of the oldest row; 0 until the ring is full
    qint64 m_first = 0;
};

} // namespace paddock
