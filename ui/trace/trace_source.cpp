// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/trace/trace_source.h"

#include "ui/paint/figures.h"
#include "ui/store/agent_names.h"

#include <QCoreApplication>

#include <algorithm>

namespace paddock {

namespace {

class TraceWords
{
    Q_DECLARE_TR_FUNCTIONS(TraceWords)
};

Tint fillOf(SpanKind kind)
{
    switch (kind) {
    case SpanKind::Queued: return Tint::Queued;
    case SpanKind::Model: return Tint::Model;
    case SpanKind::Tool: return Tint::Tool;
    case SpanKind::Hook: return Tint::Hook;
    case SpanKind::Waiting: return Tint::Waiting;
    }
    return Tint::Queued;
}

} // namespace

bool TraceFilter::isActive() const
{
    return changedOnly || !text.isEmpty() || !std::all_of(kinds.begin(), kinds.end(), [](bool on) { return on; });
}

QString spanKindWord(SpanKind kind)
{
    switch (kind) {
    case SpanKind::Queued: return TraceWords::tr("queued");
    case SpanKind::Model: return TraceWords::tr("model call");
    case SpanKind::Tool: return TraceWords::tr("tool call");
    case SpanKind::Hook: return TraceWords::tr("middleware");
    case SpanKind::Waiting: return TraceWords::tr("waiting for you");
    }
    return {};
}

QString changeSentence(const MiddlewareSpan &span)
{
    QStringList parts;
    if (span.added)
        parts += TraceWords::tr("%n message(s) added", nullptr, span.added);
    if (span.removed)
        parts += TraceWords::tr("%n message(s) removed", nullptr, span.removed);
    if (span.edited)
        parts += TraceWords::tr("%n message(s) edited", nullptr, span.edited);
    if (!span.stateKeys.isEmpty())
        parts += TraceWords::tr("state: %1").arg(span.stateKeys.join(QStringLiteral(", ")));
    if (parts.isEmpty())
        return TraceWords::tr("nothing");
    const QString text = parts.join(QStringLiteral(" · "));
    return span.persistent ? text : TraceWords::tr("%1 (in this request only)").arg(text);
}

void TraceSource::setRun(RunStore *run)
{
    m_run = run;
    m_unfolded.clear();
    m_labelMatches.clear();
    rebuild();
}

void TraceSource::rebuild()
{
    m_rows.clear();
    if (!m_run)
        return;
    const TraceLanes &trace = m_run->trace();
    constexpr size_t mostFullTracks = 3;
    const auto addLane = [&](quint32 lane, bool main, bool unfolded) {
        Row row;
        row.lane = lane;
        row.main = main;
        row.all = unfolded;
        const size_t tracks = std::max<size_t>(1, tracksOf(row).size());
        for (size_t track = 0; track < tracks; ++track) {
            row.track = quint32(track);
            row.first = track == 0;
            row.thin = track > 0 && (!main || tracks > mostFullTracks);
            m_rows.push_back(row);
        }
    };
    for (const AgentLanes &agent : trace.agents()) {
        addLane(agent.mainLane, true, true);
        const bool all = m_unfolded.contains(agent.agent);
        for (const quint32 lane : agent.hookLanes) {
            if (all || trace.lanes()[lane].changes > 0)
                addLane(lane, false, all);
        }
    }
    if (m_labelMatches.size() < trace.labelCount())
        m_labelMatches.resize(trace.labelCount(), -1);
}

const std::vector<LaneTrack> &TraceSource::tracksOf(const Row &row) const
{
    const TraceLane &lane = m_run->trace().lanes()[row.lane];
    return row.all ? lane.tracks : lane.changed;
}

void TraceSource::setFilter(const TraceFilter &filter)
{
    m_filter = filter;
    std::fill(m_labelMatches.begin(), m_labelMatches.end(), -1);
}

bool TraceSource::matches(SpanIndex span) const
{
    const TraceLanes &trace = m_run->trace();
    if (!m_filter.kinds[size_t(trace.kind(span))])
        return false;
    if (m_filter.changedOnly && !(trace.flags(span) & (SpanChanged | SpanFailed)))
        return false;
    if (m_filter.text.isEmpty())
        return true;
    const TraceLane &lane = trace.laneOf(span);
    if (lane.name.contains(m_filter.text, Qt::CaseInsensitive))
        return true;
    const quint32 label = trace.labelId(span);
    if (label >= m_labelMatches.size())
        m_labelMatches.resize(trace.labelCount(), -1);
    // A million spans share few labels: each is searched once per filter.
    if (m_labelMatches[label] < 0)
        m_labelMatches[label] = trace.labelText(label).contains(m_filter.text, Qt::CaseInsensitive);
    return m_labelMatches[label] == 1;
}

void TraceSource::toggle(int row)
{
    const AgentId agent = agentOfRow(row);
    if (agent.isEmpty())
        return;
    if (!m_unfolded.remove(agent))
        m_unfolded.insert(agent);
    rebuild();
}

void TraceSource::setAllUnfolded(bool unfolded)
{
    m_unfolded.clear();
    if (unfolded && m_run) {
        for (const AgentLanes &agent : m_run->trace().agents())
            m_unfolded.insert(agent.agent);
    }
    rebuild();
}

AgentId TraceSource::agentOfRow(int row) const
{
    if (!m_run || row < 0 || row >= rowCount())
        return {};
    return m_run->trace().lanes()[m_rows[size_t(row)].lane].agent;
}

int TraceSource::rowOfAgent(const AgentId &agent) const
{
    for (int i = 0; i < rowCount(); ++i) {
        if (m_rows[size_t(i)].main && agentOfRow(i) == agent)
            return i;
    }
    return -1;
}

LaneRow TraceSource::row(int row) const
{
    const Row &place = m_rows[size_t(row)];
    const std::vector<LaneTrack> &tracks = tracksOf(place);
    if (place.track >= tracks.size())
        return {};
    const LaneTrack &track = tracks[place.track];
    return {track.starts, track.ends, track.spans};
}

LaneHeading TraceSource::heading(int row) const
{
    const Row &place = m_rows[size_t(row)];
    const TraceLanes &trace = m_run->trace();
    const TraceLane &lane = trace.lanes()[place.lane];
    LaneHeading heading;
    if (!place.first)
        return heading;
    if (place.main) {
        const auto agent = std::find_if(trace.agents().begin(), trace.agents().end(),
                                        [&](const AgentLanes &a) { return a.agent == lane.agent; });
        heading.title = agentName(m_run->agents(), lane.agent.value());
        heading.fullTitle = agentNameAndId(m_run->agents(), lane.agent.value());
        heading.detail = agent->turn > 0 ? TraceWords::tr("turn %1").arg(agent->turn) : QString();
        heading.strong = true;
        heading.firstOfGroup = row > 0;
        heading.expandable = !agent->hookLanes.empty();
        heading.expanded = m_unfolded.contains(lane.agent);
    } else {
        heading.title = lane.name;
        const int shown = place.all ? lane.spans : lane.changes;
        heading.detail = shown > 1 ? QStringLiteral("× %1").arg(shown) : QString();
        heading.indent = 2;
    }
    return heading;
}

BarLook TraceSource::look(quint32 id) const
{
    const TraceLanes &trace = m_run->trace();
    const quint8 flags = trace.flags(id);
    BarLook look;
    look.fill = flags & SpanFailed ? Tint::Error : fillOf(trace.kind(id));
    look.striped = flags & (SpanFailed | SpanCancelled);
    look.open = flags & SpanOpen;
    look.dim = m_filter.isActive() && !matches(id);
    const int count = trace.count(id);
    switch (trace.kind(id)) {
    case SpanKind::Model:
        look.label = look.open ? TraceWords::tr("model …")
                               : TraceWords::tr("model %1").arg(formatSpan(trace.end(id) - trace.start(id)));
        break;
    case SpanKind::Queued: look.label = TraceWords::tr("queued"); break;
    case SpanKind::Waiting: look.label = TraceWords::tr("waiting for you"); break;
    case SpanKind::Hook: look.label = trace.label(id); break;
    case SpanKind::Tool:
        look.label = count > 1 ? TraceWords::tr("%1 × %2").arg(trace.label(id)).arg(count) : trace.label(id);
        if (count > 1 && look.open)
            look.label = TraceWords::tr("%1 · waiting").arg(look.label);
        else if (flags & SpanFailed)
            look.label += QStringLiteral(" ✗");
        break;
    }
    return look;
}

BarLook TraceSource::foldedLook(int row, quint32 firstId, quint32 count) const
{
    BarLook look = this->look(firstId);
    look.label = count > 1 ? QString::number(count) : QString();
    look.striped = false;
    const LaneRow lane = this->row(row);
    const auto first = std::lower_bound(lane.ids.begin(), lane.ids.end(), firstId);
    // What failed or matches the filter must not vanish in a fold; looking at a few thousand is enough to be fast.
    constexpr ptrdiff_t mostLooked = 2000;
    const auto end = first + std::min({ptrdiff_t(count), mostLooked, lane.ids.end() - first});
    const TraceLanes &trace = m_run->trace();
    for (auto it = first; it < end; ++it) {
        if (trace.flags(*it) & SpanFailed)
            look.fill = Tint::Error;
        if (look.dim && matches(*it))
            look.dim = false;
    }
    return look;
}

QString TraceSource::describe(quint32 id) const
{
    const TraceLanes &trace = m_run->trace();
    const TraceLane &lane = trace.laneOf(id);
    const Micros end = trace.end(id) == openEnd ? now() : trace.end(id);
    QStringList parts;
    parts += TraceWords::tr("%1, turn %2").arg(agentNameAndId(m_run->agents(), lane.agent.value())).arg(trace.turn(id));
    parts += lane.name.isEmpty() ? trace.label(id) : TraceWords::tr("%1, %2").arg(lane.name, trace.label(id));
    parts += trace.flags(id) & SpanOpen ? TraceWords::tr("%1 so far").arg(formatSpan(end - trace.start(id)))
                                        : formatSpan(end - trace.start(id));
    if (trace.flags(id) & SpanFailed)
        parts += TraceWords::tr("failed");
    if (trace.flags(id) & SpanCancelled)
        parts += TraceWords::tr("cancelled");
    if (const EventPtr event = trace.opened(id)) {
        if (const auto *hook = std::get_if<MiddlewareSpan>(&event->body))
            parts += TraceWords::tr("changed: %1").arg(changeSentence(*hook));
    }
    return parts.join(QStringLiteral("\n"));
}

qint64 TraceSource::now() const
{
    if (!m_run)
        return 0;
    return m_run->facts().live ? Clock::system()->mono().count() : m_run->lastTime();
}

} // namespace paddock
