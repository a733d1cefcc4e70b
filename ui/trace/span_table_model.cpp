// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/trace/span_table_model.h"

#include "ui/paint/figures.h"
#include "ui/store/agent_names.h"

#include <algorithm>

namespace paddock {

SpanTableModel::SpanTableModel(const TraceSource *source, QObject *parent) : QAbstractTableModel(parent), m_source(source) {}

void SpanTableModel::reload()
{
    beginResetModel();
    m_rows.clear();
    m_open.clear();
    m_seen = 0;
    if (m_source->run()) {
        const TraceLanes &trace = m_source->run()->trace();
        for (; m_seen < trace.size(); ++m_seen) {
            if (!m_source->matches(m_seen))
                continue;
            if (trace.flags(m_seen) & SpanOpen)
                m_open.push_back(int(m_rows.size()));
            m_rows.push_back(m_seen);
        }
    }
    endResetModel();
}

void SpanTableModel::update()
{
    if (!m_source->run())
        return;
    const TraceLanes &trace = m_source->run()->trace();
    std::vector<SpanIndex> fresh;
    for (; m_seen < trace.size(); ++m_seen) {
        if (m_source->matches(m_seen))
            fresh.push_back(m_seen);
    }
    if (!fresh.empty()) {
        const int first = int(m_rows.size());
        beginInsertRows({}, first, first + int(fresh.size()) - 1);
        m_rows.insert(m_rows.end(), fresh.begin(), fresh.end());
        endInsertRows();
        for (int row = first; row < int(m_rows.size()); ++row) {
            if (trace.flags(m_rows[size_t(row)]) & SpanOpen)
                m_open.push_back(row);
        }
    }
    for (const int row : m_open)
        Q_EMIT dataChanged(index(row, 0), index(row, ColumnCount - 1));
    std::erase_if(m_open, [&](int row) { return !(trace.flags(m_rows[size_t(row)]) & SpanOpen); });
}

int SpanTableModel::rowOf(SpanIndex span) const
{
    const auto place = std::lower_bound(m_rows.begin(), m_rows.end(), span);
    return place != m_rows.end() && *place == span ? int(place - m_rows.begin()) : -1;
}

int SpanTableModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : int(m_rows.size());
}

int SpanTableModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant SpanTableModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid() || !m_source->run())
        return {};
    if (role == Qt::TextAlignmentRole
        && (index.column() == TurnColumn || index.column() == StartColumn || index.column() == DurationColumn))
        return int(Qt::AlignRight | Qt::AlignVCenter);
    if (role != Qt::DisplayRole)
        return {};
    const TraceLanes &trace = m_source->run()->trace();
    const SpanIndex span = m_rows[size_t(index.row())];
    const quint8 flags = trace.flags(span);
    switch (index.column()) {
    case AgentColumn: return agentName(m_source->run()->agents(), trace.laneOf(span).agent.value());
    case TurnColumn: return trace.turn(span);
    case KindColumn: return spanKindWord(trace.kind(span));
    case NameColumn: {
        const QString &lane = trace.laneOf(span).name;
        return lane.isEmpty() ? trace.label(span) : tr("%1 · %2").arg(lane, trace.label(span));
    }
    case StartColumn: return formatSpan(trace.start(span) - trace.firstTime());
    case DurationColumn: return flags & SpanOpen ? QString() : formatSpan(trace.end(span) - trace.start(span));
    case ResultColumn:
        if (flags & SpanOpen)
            return tr("running");
        if (flags & SpanFailed)
            return tr("failed");
        if (flags & SpanCancelled)
            return tr("cancelled");
        return flags & SpanChanged ? tr("changed") : QString();
    default: return {};
    }
}

QVariant SpanTableModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case AgentColumn: return tr("Agent");
    case TurnColumn: return tr("Turn");
    case KindColumn: return tr("Kind");
    case NameColumn: return tr("Name");
    case StartColumn: return tr("Start");
    case DurationColumn: return tr("Duration");
    case ResultColumn: return tr("Result");
    default: return {};
    }
}

} // namespace paddock
