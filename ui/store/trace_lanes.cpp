// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/store/trace_lanes.h"

#include <algorithm>

namespace paddock {

namespace {

QString callKey(const AgentId &agent, const QString &call)
{
    return agent.value() + u'\n' + call;
}

QString toolLabel(const ToolStarted &tool)
{
    for (const char *key : {"command", "path", "file_path", "pattern"}) {
        const QString text = stringOf(tool.args, key);
        if (!text.isEmpty())
            return tool.name + u' ' + headOfCommand(text, 60);
    }
    return tool.name;
}

/// Puts a span where it overlaps nothing; beyond the cap on tracks it is shown shortened, so that the order which the
/// searches rely on holds. The true times stay in the arrays.
void place(std::vector<LaneTrack> &tracks, Micros start, Micros end, SpanIndex span)
{
    auto track = std::find_if(tracks.begin(), tracks.end(), [start](const LaneTrack &t) { return t.ends.back() <= start; });
    if (track == tracks.end()) {
        if (tracks.size() < TraceLanes::maxTracks) {
            tracks.emplace_back();
            track = std::prev(tracks.end());
        } else {
            track = std::min_element(tracks.begin(), tracks.end(),
                                     [](const LaneTrack &a, const LaneTrack &b) { return a.ends.back() < b.ends.back(); });
            start = std::max(start, track->ends.back() == openEnd ? track->starts.back() : track->ends.back());
            end = std::max(start, end);
        }
    }
    track->starts.push_back(start);
    track->ends.push_back(end);
    track->spans.push_back(span);
}

} // namespace

AgentLanes &TraceLanes::agentLanes(const AgentId &agent)
{
    const auto found = m_agentIndex.constFind(agent);
    if (found != m_agentIndex.constEnd())
        return m_agents[size_t(*found)];
    m_agentIndex.insert(agent, int(m_agents.size()));
    TraceLane lane;
    lane.agent = agent;
    m_lanes.push_back(std::move(lane));
    m_agents.push_back({agent, 0, quint32(m_lanes.size() - 1), {}});
    return m_agents.back();
}

quint32 TraceLanes::hookLane(const MiddlewareSpan &span, const AgentId &agent)
{
    const QString key = callKey(agent, span.name);
    const auto found = m_hookLaneIndex.constFind(key);
    if (found != m_hookLaneIndex.constEnd())
        return *found;
    AgentLanes &lanes = agentLanes(agent);
    const auto index = quint32(m_lanes.size());
    TraceLane lane;
    lane.agent = agent;
    lane.name = span.name;
    lane.chainIndex = span.index;
    m_lanes.push_back(std::move(lane));
    const auto place = std::upper_bound(lanes.hookLanes.begin(), lanes.hookLanes.end(), span.index,
                                        [this](int chain, quint32 other) { return chain < m_lanes[other].chainIndex; });
    lanes.hookLanes.insert(place, index);
    m_hookLaneIndex.insert(key, index);
    return index;
}

quint32 TraceLanes::intern(const QString &label)
{
    const auto found = m_labelIndex.constFind(label);
    if (found != m_labelIndex.constEnd())
        return *found;
    const auto index = quint32(m_labels.size());
    m_labels.push_back(label);
    m_labelIndex.insert(label, index);
    return index;
}

SpanIndex TraceLanes::append(quint32 lane, SpanKind kind, quint8 flags, const QString &label, Micros start, Micros end,
                             int turn)
{
    const auto span = SpanIndex(m_start.size());
    m_kind.push_back(kind);
    m_flags.push_back(flags);
    m_start.push_back(start);
    m_end.push_back(end);
    m_turn.push_back(turn);
    m_label.push_back(intern(label));
    m_lane.push_back(lane);
    TraceLane &owner = m_lanes[lane];
    ++owner.spans;
    if (flags & (SpanChanged | SpanFailed))
        ++owner.changes;
    if (end != openEnd)
        owner.total += end - start;
    place(owner.tracks, start, end, span);
    if (!owner.name.isEmpty() && (flags & (SpanChanged | SpanFailed)))
        place(owner.changed, start, end, span);
    m_first = std::min(m_first, start);
    m_last = std::max(m_last, end == openEnd ? start : end);
    if (flags & SpanOpen)
        ++m_open;
    ++m_revision;
    return span;
}

SpanIndex TraceLanes::open(const Event &event, SpanKind kind, const QString &label, int turn)
{
    AgentLanes &lanes = agentLanes(event.agent);
    lanes.turn = std::max(lanes.turn, turn);
    const SpanIndex span = append(lanes.mainLane, kind, SpanOpen, label, event.mono.count(), openEnd, turn);
    m_openByAgent[event.agent].push_back(span);
    return span;
}

void TraceLanes::close(SpanIndex span, Micros end, quint8 flags)
{
    if (!(m_flags[span] & SpanOpen))
        return;
    end = std::max(end, m_start[span]);
    m_flags[span] = quint8((m_flags[span] & ~SpanOpen) | flags);
    m_end[span] = end;
    TraceLane &lane = m_lanes[m_lane[span]];
    lane.total += end - m_start[span];
    if (flags & SpanFailed)
        ++lane.changes;
    for (LaneTrack &track : lane.tracks) {
        // An open span is the last of its track, unless the cap on tracks put others behind it.
        const auto place = std::find(track.spans.rbegin(), track.spans.rend(), span);
        if (place == track.spans.rend())
            continue;
        track.ends[size_t(track.spans.rend() - place) - 1] = end;
        break;
    }
    std::erase(m_openByAgent[lane.agent], span);
    m_last = std::max(m_last, end);
    --m_open;
    ++m_revision;
}

void TraceLanes::closeAll(const AgentId &agent, Micros end, quint8 flags)
{
    const std::vector<SpanIndex> open = m_openByAgent.value(agent);
    for (const SpanIndex span : open)
        close(span, end, flags);
    m_openModel.remove(agent);
    m_openQueue.remove(agent);
}

void TraceLanes::startTool(const EventPtr &event, const ToolStarted &tool)
{
    const QString key = callKey(event->agent, tool.call);
    if (tool.name == u"task") {
        // Children that are waited for together are one bar with a count; each child has a lane of its own.
        for (const SpanIndex span : m_openByAgent.value(event->agent)) {
            if (m_groupPending.value(span) == 0)
                continue;
            ++m_groupPending[span];
            m_counts[span] = m_counts.value(span, 1) + 1;
            m_callSpans.insert(key, span);
            ++m_revision;
            return;
        }
    }
    const SpanIndex span = open(*event, SpanKind::Tool, toolLabel(tool), tool.turn);
    m_details.insert(span, {event, nullptr});
    m_callSpans.insert(key, span);
    if (tool.name == u"task")
        m_groupPending.insert(span, 1);
}

bool TraceLanes::finishTool(const EventPtr &event, const ToolFinished &tool)
{
    const SpanIndex span = spanOfCall(event->agent, tool.call);
    if (span == noSpan)
        return false;
    quint8 flags = 0;
    const QString status = m_tasks.statusOf(event->agent, tool);
    if (status == u"error")
        flags = SpanFailed;
    else if (status == u"cancelled")
        flags = SpanCancelled;
    if (const int pending = m_groupPending.value(span); pending > 1) {
        m_groupPending[span] = pending - 1;
        m_flags[span] = quint8(m_flags[span] | flags);
        return true;
    }
    m_groupPending.remove(span);
    m_details[span].second = event;
    close(span, event->mono.count(), flags);
    return true;
}

bool TraceLanes::closeModel(const EventPtr &event, quint8 flags)
{
    const auto span = m_openModel.constFind(event->agent);
    if (span == m_openModel.constEnd())
        return false;
    m_details[*span].second = event;
    close(*span, event->mono.count(), flags);
    m_openModel.erase(span);
    return true;
}

void TraceLanes::addHook(const EventPtr &event, const MiddlewareSpan &hook)
{
    quint8 flags = 0;
    if (hook.error)
        flags |= SpanFailed;
    const bool changed = hook.added || hook.removed || hook.edited || !hook.stateKeys.isEmpty();
    if (changed)
        flags |= SpanChanged;
    const quint32 lane = hookLane(hook, event->agent);
    m_lanes[lane].tokens += hook.tokens;
    const SpanIndex span = append(lane, SpanKind::Hook, flags, hook.hook, hook.startUs,
                                  hook.startUs + std::max<qint64>(0, hook.durationUs), hook.turn);
    if (changed || hook.error)
        m_details.insert(span, {event, nullptr});
}

SpanIndex TraceLanes::spanOfCall(const AgentId &agent, const QString &call) const
{
    return m_callSpans.value(callKey(agent, call), noSpan);
}

bool TraceLanes::apply(const EventPtr &event)
{
    m_tasks.note(*event);
    const Micros now = event->mono.count();
    const auto visitor = [&](const auto &body) {
        using T = std::decay_t<decltype(body)>;
        if constexpr (std::is_same_v<T, AgentQueued>) {
            if (!m_openQueue.contains(event->agent))
                m_openQueue.insert(event->agent, open(*event, SpanKind::Queued, QStringLiteral("queued"), 0));
        } else if constexpr (std::is_same_v<T, AgentStarted>) {
            agentLanes(event->agent);
            if (m_openQueue.contains(event->agent))
                close(m_openQueue.take(event->agent), now, 0);
        } else if constexpr (std::is_same_v<T, AgentFinished>) {
            closeAll(event->agent, now, body.status == u"failed" ? SpanFailed : SpanCancelled);
        } else if constexpr (std::is_same_v<T, RunFinished>) {
            for (const AgentLanes &lanes : m_agents)
                closeAll(lanes.agent, now, SpanCancelled);
        } else if constexpr (std::is_same_v<T, ModelRequested>) {
            closeModel(event, SpanCancelled);
            const SpanIndex span = open(*event, SpanKind::Model, QStringLiteral("model"), body.turn);
            m_details.insert(span, {event, nullptr});
            m_openModel.insert(event->agent, span);
        } else if constexpr (std::is_same_v<T, ModelResponded>) {
            return closeModel(event, 0);
        } else if constexpr (std::is_same_v<T, ModelFailed>) {
            return closeModel(event, body.willRetryInMs ? SpanRetried | SpanFailed : SpanFailed);
        } else if constexpr (std::is_same_v<T, ToolStarted>) {
            startTool(event, body);
        } else if constexpr (std::is_same_v<T, ToolFinished>) {
            return finishTool(event, body);
        } else if constexpr (std::is_same_v<T, MiddlewareSpan>) {
            addHook(event, body);
        } else if constexpr (std::is_same_v<T, ApprovalRequested>) {
            const SpanIndex span = open(*event, SpanKind::Waiting, QStringLiteral("waiting"), 0);
            m_details.insert(span, {event, nullptr});
            m_openApproval.insert(body.approval, span);
        } else if constexpr (std::is_same_v<T, ApprovalDecided>) {
            const auto span = m_openApproval.constFind(body.approval);
            if (span == m_openApproval.constEnd())
                return false;
            close(*span, now, 0);
            m_openApproval.erase(span);
        } else {
            return false;
        }
        return true;
    };
    return std::visit(visitor, event->body);
}

} // namespace paddock
