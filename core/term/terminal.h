// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/term/cell.h"

#include <QByteArray>
#include <QString>
#include <Qt>

#include <memory>
#include <mutex>
#include <optional>

namespace paddock {

/// Limits of one terminal; settings of its maker.
struct TerminalLimits {
    int scrollback = 10000; ///< rows kept above the screen
    int maxColumns = 1000;
    int maxRows = 500;
};

/// A terminal's state from bytes: libvterm's state layer writes into our ring of rows, scrolling moves an index
/// (design.md §6). Hostile input is harmless by construction: no query is ever answered, titles, clipboard and links are
/// ignored, sizes asked for by the program are not followed. Thread-safe: one thread feeds, others take snapshots.
class Terminal
{
public:
    explicit Terminal(int columns = 80, int rows = 24, TerminalLimits limits = {});
    ~Terminal();
    Terminal(const Terminal &) = delete;
    Terminal &operator=(const Terminal &) = delete;

    void feed(const QByteArray &bytes);
    /// Clamped to the limits. Broken lines are broken anew at another width (but not those of a full-screen program, which
    /// redraws); rows get new numbers then.
    void resize(int columns, int rows);
    /// Drops everything.
    void reset();

    /// Rows [first, first + count), clamped to what is kept.
    TermSnapshot snapshot(qint64 first, int count) const;
    /// The rows of the screen itself.
    TermSnapshot screen() const;
    quint64 generation() const; ///< changes with every visible change
    qint64 endRow() const;
    int screenRows() const;
    int columns() const;

    /// Text between two places, inclusive of the first and exclusive of the last column; wrapped rows are joined.
    QString textBetween(qint64 fromRow, int fromColumn, qint64 toRow, int toColumn) const;
    struct Match {
        qint64 row;
        int column;
        int length; ///< in cells
    };
    /// The next row (down or up) that holds `needle`, starting at `from` inclusive; plain text, no regex.
    std::optional<Match> find(const QString &needle, qint64 from, bool up, bool caseSensitive) const;

    /// Bytes for what a person typed, by the modes the program has set.
    QByteArray encodeText(const QString &text, Qt::KeyboardModifiers modifiers);
    QByteArray encodeKey(int qtKey, Qt::KeyboardModifiers modifiers);
    QByteArray encodePaste(const QString &text);

    struct State; ///< private to this room (terminal_state.h)

private:
    mutable std::mutex m_mutex; // guards all of m_state
    std::unique_ptr<State> m_state;
};

} // namespace paddock
