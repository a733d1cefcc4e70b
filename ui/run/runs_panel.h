// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "ui/run/run_tree_model.h"
#include "ui/store/selection.h"

#include <QTimer>
#include <QWidget>

class QLineEdit;
class QTreeView;

namespace paddock {

/// Runs and their agents with a filter box. Choosing a row changes the selection; a run of the journal that is not
/// loaded yet asks for it. Owner: its dock; GUI thread.
class RunsPanel : public QWidget
{
    Q_OBJECT
public:
    RunsPanel(StoreHub *hub, Selection *selection, QWidget *parent = nullptr);

    /// Ticks the clocks only while somebody looks.
    void setVisibleToUser(bool visible);
    void focusFilter();
    RunTreeModel *model() const { return m_model; }
    QTreeView *view() const { return m_view; }
    /// "3 live · 41 kept"
    QString remark() const;

Q_SIGNALS:
    void runWanted(const paddock::RunId &run);
    void remarkChanged(const QString &remark);
    void contextMenuWanted(const QPoint &globalPos);

private:
    void choose(const QModelIndex &index);
    void showSelection();
    void updateTimer();

    StoreHub *m_hub;
    Selection *m_selection;
    RunTreeModel *m_model;
    RunFilterModel *m_filter;
    QLineEdit *m_edit;
    QTreeView *m_view;
    QTimer m_tick;
    bool m_visible = true;
    bool m_updating = false;
};

} // namespace paddock
