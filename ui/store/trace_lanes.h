// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "ui/store/task_calls.h"

#include <QHash>
#include <QStringList>

#include <vector>

namespace paddock {

enum class SpanKind : quint8 { Queued, Model, Tool, Hook, Waiting };
inline constexpr int spanKindCount = 5;

enum SpanFlag : quint8 {
    SpanOpen = 1,
    SpanFailed = 2,
    SpanChanged = 4,   ///< a hook that edited messages or state
    SpanRetried = 8,
    SpanCancelled = 16,
};

/// Index into the span arrays of a run.
using SpanIndex = quint32;
inline constexpr SpanIndex noSpan = 0xffffffffu;

/// Spans of one lane that do not overlap, sorted by start (and so by end): what a binary search needs.
struct LaneTrack {
    std::vector<Micros> starts;
    std::vector<Micros> ends;
    std::vector<SpanIndex> spans;
};

/// One row group: the main lane of an agent (empty name) or one of its middlewares.
struct TraceLane {
    AgentId agent;
    QString name;
    int chainIndex = -1;
    int spans = 0;
    int changes = 0;      ///< spans that changed something or failed
    Micros total = 0;     ///< summed duration of finished spans
    qint64 tokens = 0;    ///< estimated tokens added or removed
    std::vector<LaneTrack> tracks;
    std::vector<LaneTrack> changed; ///< of a middleware: only the spans that changed something or failed
};

/// The lanes of one agent: the main one and its middlewares by place in the chain.
struct AgentLanes {
    AgentId agent;
    int turn = 0;
    quint32 mainLane = 0;
    std::vector<quint32> hookLanes;
};

/// What ran when in one run: structure of arrays, append-only except for the ends of open spans. Cheap spans cost about
/// 60 bytes; only those that changed something keep their event. Part of RunStore; GUI thread.
class TraceLanes
{
public:
    /// Parallel work of one lane beyond this many tracks is drawn in the last one.
    static constexpr size_t maxTracks = 64;

    bool apply(const EventPtr &event);

    size_t size() const { return m_start.size(); }
    SpanKind kind(SpanIndex span) const { return m_kind[span]; }
    quint8 flags(SpanIndex span) const { return m_flags[span]; }
    Micros start(SpanIndex span) const { return m_start[span]; }
    Micros end(SpanIndex span) const { return m_end[span]; }
    int turn(SpanIndex span) const { return m_turn[span]; }
    quint32 labelId(SpanIndex span) const { return m_label[span]; }
    const QString &label(SpanIndex span) const { return m_labels[m_label[span]]; }
    const QString &labelText(quint32 id) const { return m_labels[id]; }
    size_t labelCount() const { return m_labels.size(); }
    const TraceLane &laneOf(SpanIndex span) const { return m_lanes[m_lane[span]]; }
    quint32 laneIndex(SpanIndex span) const { return m_lane[span]; }
    /// Members of a grouped span (parallel `task` calls); 1 for every other.
    int count(SpanIndex span) const { return m_counts.value(span, 1); }
    /// The event that opened (or is) the span and the one that closed it; null when not kept.
    EventPtr opened(SpanIndex span) const { return m_details.value(span).first; }
    EventPtr closed(SpanIndex span) const { return m_details.value(span).second; }

    const std::vector<TraceLane> &lanes() const { return m_lanes; }
    const std::vector<AgentLanes> &agents() const { return m_agents; }
    Micros firstTime() const { return m_first; }
    Micros lastTime() const { return m_last; }
    int openSpans() const { return m_open; }
    /// Spans that a call of this id opened, e.g. to jump from the conversation; noSpan when unknown.
    SpanIndex spanOfCall(const AgentId &agent, const QString &call) const;
    /// The newest span whose structure changed; grows with each append or close.
    quint64 revision() const { return m_revision; }

private:
    AgentLanes &agentLanes(const AgentId &agent);
    quint32 hookLane(const MiddlewareSpan &span, const AgentId &agent);
    quint32 intern(const QString &label);
    SpanIndex append(quint32 lane, SpanKind kind, quint8 flags, const QString &label, Micros start, Micros end, int turn);
    SpanIndex open(const Event &event, SpanKind kind, const QString &label, int turn);
    void close(SpanIndex span, Micros end, quint8 flags);
    void closeAll(const AgentId &agent, Micros end, quint8 flags);
    void startTool(const EventPtr &event, const ToolStarted &tool);
    bool finishTool(const EventPtr &event, const ToolFinished &tool);
    void addHook(const EventPtr &event, const MiddlewareSpan &hook);
    bool closeModel(const EventPtr &event, quint8 flags);

    std::vector<SpanKind> m_kind;
    std::vector<quint8> m_flags;
    std::vector<Micros> m_start;
    std::vector<Micros> m_end;
    std::vector<qint32> m_turn;
    std::vector<quint32> m_label;
    std::vector<quint32> m_lane;
    QHash<SpanIndex, std::pair<EventPtr, EventPtr>> m_details;
    QHash<SpanIndex, int> m_counts;
    std::vector<QString> m_labels;
    QHash<QString, quint32> m_labelIndex;
    std::vector<TraceLane> m_lanes;
    std::vector<AgentLanes> m_agents;
    QHash<AgentId, int> m_agentIndex;
    QHash<QString, quint32> m_hookLaneIndex;       ///< by agent and middleware
    QHash<AgentId, std::vector<SpanIndex>> m_openByAgent;
    QHash<AgentId, SpanIndex> m_openModel;
    QHash<AgentId, SpanIndex> m_openQueue;
    QHash<QString, SpanIndex> m_openApproval;
    QHash<QString, SpanIndex> m_callSpans;         ///< by agent and call id
    TaskCalls m_tasks;
    QHash<SpanIndex, int> m_groupPending;
    Micros m_first = openEnd;
    Micros m_last = 0;
    int m_open = 0;
    quint64 m_revision = 0;
};

} // namespace paddock
