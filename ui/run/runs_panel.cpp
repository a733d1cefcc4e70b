// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/run/runs_panel.h"

#include "ui/run/run_tree_delegate.h"

#include <QLineEdit>
#include <QTreeView>
#include <QVBoxLayout>

namespace paddock {

RunsPanel::RunsPanel(StoreHub *hub, Selection *selection, QWidget *parent)
    : QWidget(parent), m_hub(hub), m_selection(selection), m_model(new RunTreeModel(hub, this)),
      m_filter(new RunFilterModel(this)), m_edit(new QLineEdit(this)), m_view(new QTreeView(this))
{
    m_filter->setSourceModel(m_model);
    m_edit->setPlaceholderText(tr("Filter runs and agents"));
    m_edit->setAccessibleName(m_edit->placeholderText());
    m_edit->setClearButtonEnabled(true);
    m_view->setModel(m_filter);
    m_view->setItemDelegate(new RunTreeDelegate(m_view));
    m_view->setHeaderHidden(true);
    m_view->setRootIsDecorated(false);
    m_view->setIndentation(0);
    m_view->setUniformRowHeights(true);
    m_view->setFrameShape(QFrame::NoFrame);
    m_view->setExpandsOnDoubleClick(false);
    m_view->setMouseTracking(true);
    m_view->setContextMenuPolicy(Qt::CustomContextMenu);
    m_view->setAccessibleName(tr("Runs and agents"));
    m_view->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_view, 1);
    layout->addWidget(m_edit);
    setFocusProxy(m_view);

    m_tick.setInterval(1000);
    connect(&m_tick, &QTimer::timeout, m_model, &RunTreeModel::tick);
    connect(m_edit, &QLineEdit::textChanged, this, [this](const QString &text) {
        m_filter->setWords(text);
        m_view->expandAll();
    });
    connect(m_view->selectionModel(), &QItemSelectionModel::currentChanged, this, &RunsPanel::choose);
    connect(m_view, &QTreeView::customContextMenuRequested, this,
            [this](const QPoint &at) { Q_EMIT contextMenuWanted(m_view->viewport()->mapToGlobal(at)); });
    connect(m_filter, &QAbstractItemModel::rowsInserted, this, [this](const QModelIndex &parent) {
        if (parent.isValid())
            m_view->expand(parent);
    });
    connect(m_filter, &QAbstractItemModel::modelReset, this, [this] { m_view->expandAll(); });
    const auto refresh = [this] {
        showSelection();
        updateTimer();
        Q_EMIT remarkChanged(remark());
    };
    connect(hub, &StoreHub::drained, this, refresh);
    connect(hub, &StoreHub::reset, this, refresh);
    connect(hub, &StoreHub::runAdded, this, refresh);
    connect(selection, &Selection::runChanged, this, refresh);
    connect(selection, &Selection::agentChanged, this, refresh);
    m_view->expandAll();
}

void RunsPanel::setVisibleToUser(bool visible)
{
    m_visible = visible;
    updateTimer();
}

void RunsPanel::updateTimer()
{
    const bool wanted = m_visible && m_model->hasLiveRuns();
    if (wanted && !m_tick.isActive())
        m_tick.start();
    else if (!wanted)
        m_tick.stop();
}

void RunsPanel::focusFilter()
{
    m_edit->setFocus(Qt::ShortcutFocusReason);
    m_edit->selectAll();
}

QString RunsPanel::remark() const
{
    return tr("%1 live · %2 kept").arg(m_hub->liveRuns()).arg(m_hub->count());
}

void RunsPanel::choose(const QModelIndex &index)
{
    if (m_updating || !index.isValid())
        return;
    const RunId run(index.data(RunTreeModel::RunIdRole).toString());
    const AgentId agent(index.data(RunTreeModel::AgentIdRole).toString());
    if (run.isEmpty())
        return;
    if (RunStore *store = m_hub->find(run))
        m_selection->set(store, agent.isEmpty() ? leadAgent() : agent);
    else
        Q_EMIT runWanted(run);
}

void RunsPanel::showSelection()
{
    if (!m_selection->run())
        return;
    const QModelIndex current = m_view->currentIndex();
    const bool sameRun = current.data(RunTreeModel::RunIdRole).toString() == m_selection->run()->id().value();
    const QString agent = current.data(RunTreeModel::AgentIdRole).toString();
    // The row of the run itself stands for its lead agent.
    if (sameRun && (agent == m_selection->agent().value() || (agent.isEmpty() && m_selection->agent() == leadAgent())))
        return;
    const QModelIndex wanted = m_filter->mapFromSource(m_model->indexOf(m_selection->run()->id(), m_selection->agent()));
    if (!wanted.isValid())
        return;
    m_updating = true;
    m_view->setCurrentIndex(wanted);
    m_updating = false;
}

} // namespace paddock
