// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/trace/trace_panel.h"

#include "ui/paint/figures.h"
#include "ui/paint/lane_view.h"
#include "ui/trace/span_table_model.h"

#include <QAction>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLineEdit>
#include <QMenu>
#include <QStackedWidget>
#include <QTableView>
#include <QToolButton>

namespace paddock {

namespace {
constexpr int searchDelayMs = 100;
} // namespace

TracePanel::TracePanel(Selection *selection, TimeRange *range, QWidget *parent)
    : QWidget(parent), m_selection(selection), m_range(range), m_lanes(new LaneView(range, this)),
      m_table(new QTableView(this)), m_model(new SpanTableModel(&m_source, this)), m_stack(new QStackedWidget(this))
{
    m_lanes->setSource(&m_source);
    m_lanes->setAccessibleName(tr("Trace lanes"));
    m_lanes->setEmptyText(tr("Every model call, middleware hook and tool call of a run appears here as a bar."));
    m_table->setModel(m_model);
    m_table->setAccessibleName(tr("Trace as a table"));
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
    m_table->setShowGrid(false);
    m_table->setWordWrap(false);
    m_table->setFrameShape(QFrame::NoFrame);
    m_table->setTabKeyNavigation(false);
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setDefaultSectionSize(fontMetrics().height() * 3 / 2);
    m_table->horizontalHeader()->setSectionResizeMode(SpanTableModel::NameColumn, QHeaderView::Stretch);
    m_stack->addWidget(m_lanes);
    m_stack->addWidget(m_table);
    auto *layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_stack);
    setFocusProxy(m_lanes);
    makeTrailing();

    connect(m_lanes, &LaneView::selectionChanged, this, [this](quint32 span) {
        if (m_refreshing || !m_source.run())
            return;
        if (span != LaneView::nothing)
            m_selection->setAgent(m_source.run()->trace().laneOf(span).agent);
        Q_EMIT spanSelected(m_source.run(), span);
    });
    connect(m_lanes, &LaneView::activated, this, &TracePanel::spanActivated);
    connect(m_lanes, &LaneView::rowToggled, this, [this](int row) {
        m_source.toggle(row);
        m_lanes->sourceChanged();
    });
    connect(m_lanes, &LaneView::rowClicked, this, [this](int row) { m_selection->setAgent(m_source.agentOfRow(row)); });
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex &current) {
        if (current.isValid())
            m_lanes->select(m_model->spanAt(current.row()));
    });
    connect(range, &TimeRange::changed, this, &TracePanel::updateRemark);
    connect(selection, &Selection::runChanged, this, &TracePanel::follow);
    follow(selection->run());
}

void TracePanel::makeTrailing()
{
    m_trailing = new QWidget;
    m_search = new QLineEdit(m_trailing);
    m_search->setPlaceholderText(tr("Search spans"));
    m_search->setAccessibleName(m_search->placeholderText());
    m_search->setClearButtonEnabled(true);
    m_search->setFixedWidth(fontMetrics().averageCharWidth() * 24);
    m_kinds = new QToolButton(m_trailing);
    m_kinds->setText(tr("Show"));
    m_kinds->setAutoRaise(true);
    m_kinds->setPopupMode(QToolButton::InstantPopup);
    m_kinds->setFocusPolicy(Qt::TabFocus);
    m_kindMenu = new QMenu(m_kinds);
    const QStringList names{tr("Queued"), tr("Model calls"), tr("Tool calls"), tr("Middlewares"), tr("Waiting for a person")};
    for (int kind = 0; kind < spanKindCount; ++kind) {
        QAction *action = m_kindMenu->addAction(names.at(kind));
        action->setCheckable(true);
        action->setChecked(true);
        connect(action, &QAction::toggled, this, [this, kind](bool on) {
            m_filter.kinds[size_t(kind)] = on;
            applyFilter();
        });
    }
    m_kindMenu->addSeparator();
    QAction *changed = m_kindMenu->addAction(tr("Only what changed or failed"));
    changed->setCheckable(true);
    connect(changed, &QAction::toggled, this, [this](bool on) {
        m_filter.changedOnly = on;
        applyFilter();
    });
    m_kinds->setMenu(m_kindMenu);
    auto *layout = new QHBoxLayout(m_trailing);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_search);
    layout->addWidget(m_kinds);
    m_searchTimer.setSingleShot(true);
    m_searchTimer.setInterval(searchDelayMs);
    connect(m_search, &QLineEdit::textChanged, &m_searchTimer, qOverload<>(&QTimer::start));
    connect(m_search, &QLineEdit::returnPressed, this, [this] { step(1); });
    connect(&m_searchTimer, &QTimer::timeout, this, [this] {
        m_filter.text = m_search->text().trimmed();
        applyFilter();
    });
}

void TracePanel::follow(RunStore *run)
{
    if (m_source.run())
        disconnect(m_source.run(), nullptr, this, nullptr);
    m_source.setRun(run);
    m_lanes->setSource(&m_source);
    m_model->reload();
    if (run) {
        connect(run, &RunStore::traceChanged, this, &TracePanel::refresh);
        connect(run, &RunStore::factsChanged, this, &TracePanel::refresh);
        const bool some = run->trace().size() > 0;
        const Micros first = some ? run->trace().firstTime() : m_source.now();
        m_range->reset(first, std::max(first + 1, m_source.now()), run->facts().live);
    }
    Q_EMIT spanSelected(run, LaneView::nothing);
    refresh();
}

void TracePanel::refresh()
{
    m_source.rebuild();
    m_lanes->sourceChanged();
    RunStore *run = m_source.run();
    m_lanes->setTicking(run && run->facts().live && run->trace().openSpans() > 0);
    if (run && run->trace().size() > 0)
        m_range->setBounds(run->trace().firstTime(), std::max(run->trace().lastTime(), m_source.now()));
    if (run && !run->facts().live && m_range->isFollowing()) {
        m_range->setFollowing(false);
        m_range->fit();
    }
    if (m_stack->currentWidget() == m_table)
        m_model->update();
    updateRemark();
}

void TracePanel::setFilter(const TraceFilter &filter)
{
    m_filter = filter;
    applyFilter();
}

void TracePanel::applyFilter()
{
    m_source.setFilter(m_filter);
    m_lanes->sourceChanged();
    m_model->reload();
    m_kinds->setText(m_filter.isActive() ? tr("Show: some") : tr("Show"));
    updateRemark();
}

void TracePanel::showTable(bool on)
{
    if (on)
        m_model->update();
    m_stack->setCurrentWidget(on ? static_cast<QWidget *>(m_table) : m_lanes);
    setFocusProxy(m_stack->currentWidget());
    if (on && m_lanes->selected() != LaneView::nothing) {
        const int row = m_model->rowOf(m_lanes->selected());
        if (row >= 0)
            m_table->selectRow(row);
    }
    m_stack->currentWidget()->setFocus();
}

void TracePanel::focusSearch()
{
    m_search->setFocus(Qt::ShortcutFocusReason);
    m_search->selectAll();
}

void TracePanel::step(int by)
{
    if (!m_source.run())
        return;
    const auto count = qint64(m_source.run()->trace().size());
    qint64 at = m_lanes->selected() == LaneView::nothing ? (by > 0 ? -1 : count) : qint64(m_lanes->selected());
    for (at += by; at >= 0 && at < count; at += by) {
        if (m_source.matches(SpanIndex(at))) {
            m_lanes->select(SpanIndex(at));
            return;
        }
    }
}

void TracePanel::showCall(const AgentId &agent, const QString &call)
{
    if (!m_source.run())
        return;
    const SpanIndex span = m_source.run()->trace().spanOfCall(agent, call);
    if (span != noSpan)
        m_lanes->select(span);
}

void TracePanel::setAllUnfolded(bool unfolded)
{
    m_source.setAllUnfolded(unfolded);
    m_lanes->sourceChanged();
}

void TracePanel::updateRemark()
{
    RunStore *run = m_source.run();
    if (!run) {
        Q_EMIT remarkChanged(QString());
        return;
    }
    const auto spans = qint64(run->trace().size());
    QString text = tr("%1 spans").arg(formatCount(spans));
    if (m_filter.isActive() && m_stack->currentWidget() == m_table)
        text = tr("%1 of %2 spans").arg(formatCount(m_model->rowCount()), formatCount(spans));
    if (m_range->isFollowing())
        text = tr("%1 · following, last %2").arg(text, formatSpan(m_range->length()));
    else if (m_range->length() < (m_range->last() - m_range->first()))
        text = tr("%1 · showing %2").arg(text, formatSpan(m_range->length()));
    Q_EMIT remarkChanged(text);
}

} // namespace paddock
