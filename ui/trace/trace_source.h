// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "ui/paint/lane_source.h"
#include "ui/store/run_store.h"

#include <QPointer>
#include <QSet>

#include <array>
#include <vector>

namespace paddock {

/// Which spans stand out; the others are dimmed in the lanes and left out of the table.
struct TraceFilter {
    QString text;
    std::array<bool, spanKindCount> kinds{true, true, true, true, true};
    bool changedOnly = false;

    bool isActive() const;
};

/// The lanes of a run as rows: per agent the main lane, below it the middlewares in the order of the chain. Until the
/// agent is unfolded, a middleware shows only the spans that changed something, and none has a row that never did. GUI thread; owned by the trace panel.
class TraceSource : public LaneSource
{
public:
    void setRun(RunStore *run);
    RunStore *run() const { return m_run; }
    /// Call when the store changed; cheap, depends on lanes and not on spans.
    void rebuild();
    void setFilter(const TraceFilter &filter);
    const TraceFilter &filter() const { return m_filter; }
    bool matches(SpanIndex span) const;
    void toggle(int row);
    bool isUnfolded(const AgentId &agent) const { return m_unfolded.contains(agent); }
    void setAllUnfolded(bool unfolded);
    AgentId agentOfRow(int row) const;
    /// First row of the agent; -1 when it has none.
    int rowOfAgent(const AgentId &agent) const;

    int rowCount() const override { return int(m_rows.size()); }
    LaneRow row(int row) const override;
    bool isThin(int row) const override { return m_rows[size_t(row)].thin; }
    LaneHeading heading(int row) const override;
    BarLook look(quint32 id) const override;
    BarLook foldedLook(int row, quint32 firstId, quint32 count) const override;
    QString describe(quint32 id) const override;
    qint64 now() const override;

private:
    struct Row {
        quint32 lane = 0;
        quint32 track = 0;
        bool main = false;
        bool first = false; ///< of its lane
        bool all = true;    ///< false: only what changed or failed
        bool thin = false;
    };
    const std::vector<LaneTrack> &tracksOf(const Row &row) const;

    QPointer<RunStore> m_run;
    std::vector<Row> m_rows;
    QSet<AgentId> m_unfolded;
    TraceFilter m_filter;
    mutable std::vector<signed char> m_labelMatches; ///< by label id: -1 unknown, 0 no, 1 yes
};

/// "model", "tool", …
QString spanKindWord(SpanKind kind);
/// "2 messages edited, 1 added", "nothing"
QString changeSentence(const MiddlewareSpan &span);

} // namespace paddock
