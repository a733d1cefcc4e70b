// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "ui/paint/time_range.h"
#include "ui/store/selection.h"
#include "ui/trace/trace_source.h"

#include <QTimer>
#include <QWidget>

class QLineEdit;
class QMenu;
class QStackedWidget;
class QTableView;
class QToolButton;

namespace paddock {

class LaneView;
class SpanTableModel;

/// The waterfall: lanes, search, filter, table twin. Follows the selected run; a chosen span goes to the inspector by
/// signal. Owner: the centre page; GUI thread. The range is shared with the leases.
class TracePanel : public QWidget
{
    Q_OBJECT
public:
    TracePanel(Selection *selection, TimeRange *range, QWidget *parent = nullptr);

    /// Search box and filters, for the header of the centre.
    QWidget *trailing() const { return m_trailing; }
    LaneView *lanes() const { return m_lanes; }
    QTableView *table() const { return m_table; }
    SpanTableModel *tableModel() const { return m_model; }
    TraceSource *source() { return &m_source; }
    void setFilter(const TraceFilter &filter);
    void showTable(bool on);
    void focusSearch();
    /// The next or previous span that passes the filter.
    void step(int by);
    void showCall(const AgentId &agent, const QString &call);
    void setAllUnfolded(bool unfolded);

Q_SIGNALS:
    void spanSelected(paddock::RunStore *run, quint32 span);
    void spanActivated(quint32 span);
    void remarkChanged(const QString &remark);

private:
    void makeTrailing();
    void follow(RunStore *run);
    void refresh();
    void applyFilter();
    void updateRemark();

    Selection *m_selection;
    TimeRange *m_range;
    TraceSource m_source;
    LaneView *m_lanes;
    QTableView *m_table;
    SpanTableModel *m_model;
    QStackedWidget *m_stack;
    QWidget *m_trailing = nullptr;
    QLineEdit *m_search = nullptr;
    QToolButton *m_kinds = nullptr;
    QMenu *m_kindMenu = nullptr;
    QTimer m_searchTimer;
    TraceFilter m_filter;
    bool m_refreshing = false;
};

} // namespace paddock
