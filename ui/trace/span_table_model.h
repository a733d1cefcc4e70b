// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "ui/trace/trace_source.h"

#include <QAbstractTableModel>

namespace paddock {

/// The table twin of the lanes: every span that passes the filter as a row, in order of arrival; what a screen reader or
/// a copy to a spreadsheet wants. Filtering is one pass that yields row numbers (style.md A9). GUI thread.
class SpanTableModel : public QAbstractTableModel
{
    Q_OBJECT
public:
    enum Column { AgentColumn, TurnColumn, KindColumn, NameColumn, StartColumn, DurationColumn, ResultColumn, ColumnCount };

    explicit SpanTableModel(const TraceSource *source, QObject *parent = nullptr);

    /// Another run or another filter: everything anew.
    void reload();
    /// The store grew or closed spans: new rows are added, open ones refreshed.
    void update();
    SpanIndex spanAt(int row) const { return m_rows[size_t(row)]; }
    int rowOf(SpanIndex span) const;

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    const TraceSource *m_source;
    std::vector<SpanIndex> m_rows;
    SpanIndex m_seen = 0;
    std::vector<int> m_open; ///< rows whose spans were open when last looked at
};

} // namespace paddock
