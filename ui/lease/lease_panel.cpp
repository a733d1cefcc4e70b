// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/lease/lease_panel.h"

#include "ui/lease/lease_legend.h"
#include "ui/paint/lane_view.h"

#include <QVBoxLayout>

namespace paddock {

LeasePanel::LeasePanel(Selection *selection, TimeRange *range, QWidget *parent)
    : QWidget(parent), m_selection(selection), m_lanes(new LaneView(range, this)),
      m_legend(new LeaseLegend(this))
{
    m_lanes->setSource(&m_source);
    m_lanes->setAxisVisible(false);
    m_lanes->setAccessibleName(tr("Lease lanes"));
    m_lanes->setEmptyText(tr("A lease appears here when an agent first uses its sandbox."));
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_lanes);
    setFocusProxy(m_lanes);
    connect(m_lanes, &LaneView::rowClicked, this, [this](int row) {
        const quint32 id = m_source.row(row).ids.empty() ? LaneView::nothing : m_source.row(row).ids.front();
        if (id != LaneView::nothing)
            m_lanes->select(id, false);
    });
    connect(selection, &Selection::runChanged, this, &LeasePanel::follow);
    follow(selection->run());
}

void LeasePanel::follow(RunStore *run)
{
    if (m_source.run())
        disconnect(m_source.run(), nullptr, this, nullptr);
    m_source.setRun(run);
    m_lanes->setSource(&m_source);
    if (run) {
        connect(run, &RunStore::leasesChanged, this, &LeasePanel::refresh);
        connect(run, &RunStore::factsChanged, this, &LeasePanel::refresh);
    }
    refresh();
}

void LeasePanel::refresh()
{
    m_source.rebuild();
    m_lanes->sourceChanged();
    m_lanes->setTicking(m_source.isLive());
    m_legend->setStates(m_source.shownStates());
    placeLegend();
    Q_EMIT remarkChanged(remark());
}

void LeasePanel::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    placeLegend();
}

void LeasePanel::placeLegend()
{
    // The sentence in the same header goes first; the tool tips of the bars say what the colours mean too.
    constexpr int lettersForBoth = 90;
    m_legend->setVisible(!m_legend->states().empty() && width() >= fontMetrics().averageCharWidth() * lettersForBoth);
}

QString LeasePanel::remark() const
{
    if (!m_source.run() || m_source.run()->leases().sandboxes().empty())
        return {};
    const SandboxLane &sandbox = m_source.run()->leases().sandboxes().back();
    const QString budget = sessionBudget(sandbox);
    const QString text = tr("%1 · %2").arg(shortSandbox(sandbox), leaseSentence(sandbox, m_source.run()->agents()));
    return budget.isEmpty() ? text : tr("%1 · %2").arg(text, budget);
}

} // namespace paddock
