// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/store/lease_board.h"

#include <algorithm>

namespace paddock {

AliveBecause SandboxLane::reason() const
{
    if (state == LeaseState::Failed)
        return AliveBecause::Failed;
    if (until != openEnd)
        return AliveBecause::Ended;
    const qsizetype leaving = draining().size();
    if (owners.isEmpty() && lastReleased)
        return AliveBecause::BeingReleased;
    return leaving && leaving >= owners.size() ? AliveBecause::Draining : AliveBecause::Held;
}

QStringList SandboxLane::draining() const
{
    QStringList result;
    for (const LeasePeriod &period : periods) {
        if (period.state == LeaseState::Draining)
            result.append(period.owner);
    }
    return result;
}

SandboxLane &LeaseBoard::lane(const QString &sandbox, Micros now)
{
    // A released sandbox that comes back (warm pool) is another life and another lane.
    for (auto it = m_sandboxes.rbegin(); it != m_sandboxes.rend(); ++it) {
        if (it->id == sandbox)
            return *it;
    }
    SandboxLane fresh;
    fresh.id = sandbox;
    fresh.from = now;
    m_sandboxes.push_back(std::move(fresh));
    return m_sandboxes.back();
}

LeasePeriod *LeaseBoard::openPeriod(SandboxLane &lane, const QString &owner)
{
    for (auto it = lane.periods.rbegin(); it != lane.periods.rend(); ++it) {
        if (it->owner == owner && it->releasedAt == openEnd)
            return &*it;
    }
    return nullptr;
}

SandboxLane *LeaseBoard::laneOfScope(const QString &scope)
{
    SandboxLane *latest = nullptr;
    for (SandboxLane &lane : m_sandboxes) {
        if (openPeriod(lane, scope))
            return &lane;
        latest = &lane;
    }
    return latest;
}

void LeaseBoard::acquired(SandboxLane &lane, const LeaseAcquired &lease, Micros now)
{
    lane.owners = lease.owners;
    lane.lastReleased = false;
    if (openPeriod(lane, lease.owner))
        return; // acquiring twice is one hold
    LeasePeriod period;
    period.owner = lease.owner;
    period.acquiredAt = now;
    if (lane.periods.empty())
        period.requestedAt = lane.requestedAt;
    lane.periods.push_back(std::move(period));
}

int LeaseBoard::sessionsUsed() const
{
    qsizetype sum = 0;
    for (const SandboxLane &lane : m_sandboxes)
        sum += lane.sessions.size();
    return int(sum);
}

int LeaseBoard::sessionLimit() const
{
    int most = 0;
    for (const SandboxLane &lane : m_sandboxes)
        most = std::max(most, lane.sessionLimit);
    return most;
}

bool LeaseBoard::apply(const Event &event)
{
    return applySandbox(event) || applyLease(event) || applySession(event);
}

bool LeaseBoard::applySandbox(const Event &event)
{
    const Micros now = event.mono.count();
    const auto visitor = [&](const auto &body) {
        using T = std::decay_t<decltype(body)>;
        if constexpr (std::is_same_v<T, SandboxAcquired>) {
            SandboxLane *sandbox = &lane(body.sandbox, now);
            if (sandbox->until != openEnd) {
                m_sandboxes.push_back({});
                sandbox = &m_sandboxes.back();
                sandbox->id = body.sandbox;
                sandbox->from = now;
            }
            sandbox->provider = body.provider;
            sandbox->backend = body.backend;
            sandbox->source = body.source;
            sandbox->sessionLimit = body.sessionLimit;
            sandbox->requestedAt = now - body.durationMs * 1000;
            sandbox->from = std::min(sandbox->from, now);
            if (!sandbox->periods.empty())
                sandbox->periods.front().requestedAt = sandbox->requestedAt;
        } else if constexpr (std::is_same_v<T, SandboxReleased>) {
            SandboxLane &sandbox = lane(body.sandbox, now);
            sandbox.state = LeaseState::Released;
            sandbox.until = now;
            sandbox.sessions.clear();
        } else if constexpr (std::is_same_v<T, SandboxFailed>) {
            SandboxLane &sandbox = lane(body.sandbox, now);
            sandbox.state = LeaseState::Failed;
            sandbox.failure = body.reason;
            if (body.during != u"command")
                sandbox.until = now;
        } else {
            return false;
        }
        return true;
    };
    return std::visit(visitor, event.body);
}

bool LeaseBoard::applyLease(const Event &event)
{
    const Micros now = event.mono.count();
    const auto visitor = [&](const auto &body) {
        using T = std::decay_t<decltype(body)>;
        if constexpr (std::is_same_v<T, LeaseAcquired>) {
            acquired(lane(body.sandbox, now), body, now);
        } else if constexpr (std::is_same_v<T, LeaseDraining>) {
            SandboxLane &sandbox = lane(body.sandbox, now);
            if (LeasePeriod *period = openPeriod(sandbox, body.owner)) {
                period->state = LeaseState::Draining;
                period->drainingAt = now;
            }
        } else if constexpr (std::is_same_v<T, LeaseReleased>) {
            SandboxLane &sandbox = lane(body.sandbox, now);
            sandbox.owners = body.owners;
            sandbox.lastReleased = body.last;
            if (LeasePeriod *period = openPeriod(sandbox, body.owner)) {
                period->state = LeaseState::Released;
                period->releasedAt = now;
            }
        } else {
            return false;
        }
        return true;
    };
    return std::visit(visitor, event.body);
}

bool LeaseBoard::applySession(const Event &event)
{
    const auto visitor = [&](const auto &body) {
        using T = std::decay_t<decltype(body)>;
        if constexpr (std::is_same_v<T, ShellSessionCreated>) {
            SandboxLane *sandbox = laneOfScope(body.scope);
            if (!sandbox)
                return false;
            sandbox->sessions.insert(body.session);
            sandbox->sessionsMost = std::max(sandbox->sessionsMost, int(sandbox->sessions.size()));
        } else if constexpr (std::is_same_v<T, ShellSessionLost> || std::is_same_v<T, ShellSessionClosed>) {
            bool found = false;
            for (SandboxLane &sandbox : m_sandboxes)
                found = sandbox.sessions.remove(body.session) || found;
            return found;
        } else {
            return false;
        }
        return true;
    };
    return std::visit(visitor, event.body);
}

} // namespace paddock
