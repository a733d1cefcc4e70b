// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QList>
#include <QString>

// Glob patterns of the file group (aio-api.md §4.7). Pure.
namespace paddock::sandboxd {

/// One name against `*`, `?` and `[...]` ("!" or "^" negates). With `dots` false a leading dot must be matched explicitly.
bool matchesName(QStringView pattern, QStringView name, bool dots);

/// A path pattern walked name by name, so that only directories that can lead to a match are read.
class GlobPattern
{
public:
    /// `dots`: wildcards also match a leading dot.
    explicit GlobPattern(const QString &pattern, bool dots = false);

    /// Positions in the pattern that a walk has reached; empty: nothing below can match.
    using States = QList<int>;
    States start() const;
    /// After entering a name.
    States next(const States &states, const QString &name) const;
    bool accepts(const States &states) const { return states.contains(int(m_segments.size())); }
    /// Whether anything deeper can match.
    bool goesOn(const States &states) const;
    /// The whole relative path at once.
    bool matches(const QString &relativePath) const;

private:
    void add(States &states, int position) const;

    QStringList m_segments;
    bool m_dots;
};

} // namespace paddock::sandboxd
