// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/lease/lease_source.h"

#include "ui/paint/figures.h"
#include "ui/store/agent_names.h"

#include <QCoreApplication>

#include <algorithm>

namespace paddock {

namespace {

class LeaseWords
{
    Q_DECLARE_TR_FUNCTIONS(LeaseWords)
};

QString namesOf(const QStringList &owners, const AgentTree &agents)
{
    constexpr qsizetype mostNames = 6;
    QStringList names;
    for (const QString &owner : owners)
        names += agentName(agents, owner);
    if (names.size() <= mostNames)
        return names.join(QStringLiteral(", "));
    return LeaseWords::tr("%1 and %2 more").arg(names.mid(0, mostNames).join(QStringLiteral(", "))).arg(names.size() - mostNames);
}

} // namespace

QString leaseStateWord(LeaseState state)
{
    switch (state) {
    case LeaseState::Acquiring: return LeaseWords::tr("acquiring");
    case LeaseState::Held: return LeaseWords::tr("held");
    case LeaseState::Draining: return LeaseWords::tr("draining");
    case LeaseState::Released: return LeaseWords::tr("released");
    case LeaseState::Failed: return LeaseWords::tr("failed");
    }
    return {};
}

QString shortSandbox(const SandboxLane &sandbox)
{
    constexpr qsizetype mostLetters = 16;
    constexpr qsizetype fewDigits = 8;
    const bool digits = std::all_of(sandbox.id.cbegin(), sandbox.id.cend(), [](QChar c) {
        return c == u'-' || (c >= u'0' && c <= u'9') || (c >= u'a' && c <= u'f');
    });
    if (sandbox.id.size() <= (digits ? fewDigits : mostLetters))
        return sandbox.id;
    const QString kind = sandbox.backend.isEmpty() ? sandbox.provider : sandbox.backend;
    return kind.isEmpty() ? sandbox.id.left(mostLetters) : kind + u'-' + sandbox.id.right(4);
}

QString leaseSentence(const SandboxLane &sandbox, const AgentTree &agents)
{
    const QStringList draining = sandbox.draining();
    switch (sandbox.reason()) {
    case AliveBecause::Held:
        if (sandbox.owners.isEmpty())
            return LeaseWords::tr("alive, held by nobody yet");
        if (!draining.isEmpty())
            return LeaseWords::tr("alive because %n owner(s) hold it: %1; %2 is leaving", nullptr, int(sandbox.owners.size()))
                .arg(namesOf(sandbox.owners, agents), namesOf(draining, agents));
        return LeaseWords::tr("alive because %n owner(s) hold it: %1", nullptr, int(sandbox.owners.size())).arg(namesOf(sandbox.owners, agents));
    case AliveBecause::Draining:
        return LeaseWords::tr("alive until what %1 had running has ended").arg(namesOf(draining, agents));
    case AliveBecause::BeingReleased:
        return LeaseWords::tr("nobody holds it any more; it is being released");
    case AliveBecause::Ended:
        return LeaseWords::tr("released after %1, when its last owner had left").arg(formatSpan(sandbox.until - sandbox.from));
    case AliveBecause::Failed:
        return LeaseWords::tr("failed: %1").arg(headOfCommand(sandbox.failure, 160));
    }
    return {};
}

QString sessionBudget(const SandboxLane &sandbox)
{
    if (sandbox.sessionLimit <= 0)
        return {};
    if (sandbox.until != openEnd)
        return LeaseWords::tr("at most %1 of %2 sessions at once").arg(sandbox.sessionsMost).arg(sandbox.sessionLimit);
    return LeaseWords::tr("sessions %1 of %2").arg(sandbox.sessions.size()).arg(sandbox.sessionLimit);
}

void LeaseSource::setRun(RunStore *run)
{
    m_run = run;
    rebuild();
}

void LeaseSource::addPiece(LeaseState state, qint64 from, qint64 to)
{
    Row &row = m_rows.back();
    if (!row.ends.empty() && row.ends.back() > from)
        from = row.ends.back();
    if (to <= from)
        return;
    row.starts.push_back(from);
    row.ends.push_back(to);
    row.ids.push_back(quint32(m_pieces.size()));
    m_pieces.push_back({m_rows.size() - 1, state, from, to});
}

void LeaseSource::rebuild()
{
    m_rows.clear();
    m_pieces.clear();
    if (!m_run)
        return;
    const auto &sandboxes = m_run->leases().sandboxes();
    for (size_t i = 0; i < sandboxes.size(); ++i) {
        const SandboxLane &sandbox = sandboxes[i];
        m_rows.push_back({i, {}, sandbox.state, {}, {}, {}});
        if (sandbox.requestedAt >= 0)
            addPiece(LeaseState::Acquiring, sandbox.requestedAt, sandbox.from);
        addPiece(sandbox.state == LeaseState::Failed ? LeaseState::Failed : LeaseState::Held, sandbox.from, sandbox.until);
        QStringList owners;
        for (const LeasePeriod &period : sandbox.periods) {
            if (!owners.contains(period.owner))
                owners.append(period.owner);
        }
        for (const QString &owner : std::as_const(owners)) {
            m_rows.push_back({i, owner, LeaseState::Held, {}, {}, {}});
            for (const LeasePeriod &period : sandbox.periods) {
                if (period.owner != owner)
                    continue;
                m_rows.back().state = period.state;
                if (period.requestedAt >= 0)
                    addPiece(LeaseState::Acquiring, period.requestedAt, period.acquiredAt);
                addPiece(LeaseState::Held, period.acquiredAt, period.drainingAt >= 0 ? period.drainingAt : period.releasedAt);
                if (period.drainingAt >= 0)
                    addPiece(LeaseState::Draining, period.drainingAt, period.releasedAt);
            }
        }
    }
}

bool LeaseSource::isLive() const
{
    if (!m_run || !m_run->facts().live)
        return false;
    const auto &sandboxes = m_run->leases().sandboxes();
    return std::any_of(sandboxes.begin(), sandboxes.end(), [](const SandboxLane &lane) { return lane.until == openEnd; });
}

LaneRow LeaseSource::row(int row) const
{
    const Row &place = m_rows[size_t(row)];
    return {place.starts, place.ends, place.ids};
}

LaneHeading LeaseSource::heading(int row) const
{
    const Row &place = m_rows[size_t(row)];
    const SandboxLane &sandbox = sandboxOf(place);
    LaneHeading heading;
    heading.firstOfGroup = place.owner.isEmpty() && row > 0;
    if (place.owner.isEmpty()) {
        heading.title = shortSandbox(sandbox);
        heading.strong = true;
        heading.detail = sandbox.state == LeaseState::Held && sandbox.until == openEnd ? QString() : leaseStateWord(sandbox.state);
    } else {
        heading.title = agentName(m_run->agents(), place.owner);
        heading.fullTitle = agentNameAndId(m_run->agents(), place.owner);
        heading.indent = 1;
        heading.detail = place.state == LeaseState::Held ? QString() : leaseStateWord(place.state);
    }
    heading.detailTint = place.state == LeaseState::Released ? Tint::Ok
        : place.state == LeaseState::Failed                  ? Tint::Error
        : place.state == LeaseState::Draining                ? Tint::Warn
                                                             : Tint::Dim;
    return heading;
}

BarLook LeaseSource::lookOf(LeaseState state)
{
    BarLook look;
    look.label = leaseStateWord(state);
    look.striped = true;
    switch (state) {
    case LeaseState::Acquiring: look.fill = Tint::Queued; break;
    case LeaseState::Held: case LeaseState::Released:
        look.fill = Tint::Lease;
        look.striped = false;
        look.label.clear();
        break;
    case LeaseState::Draining: look.fill = Tint::Waiting; break;
    case LeaseState::Failed: look.fill = Tint::Error; break;
    }
    return look;
}

std::vector<LeaseState> LeaseSource::shownStates() const
{
    std::vector<LeaseState> states;
    for (const LeaseState state : {LeaseState::Acquiring, LeaseState::Held, LeaseState::Draining, LeaseState::Failed}) {
        const bool shown = std::any_of(m_pieces.begin(), m_pieces.end(), [&](const Piece &piece) {
            return piece.state == state && (!m_rows[piece.row].owner.isEmpty() || state == LeaseState::Failed);
        });
        if (shown)
            states.push_back(state);
    }
    return states;
}

BarLook LeaseSource::look(quint32 id) const
{
    const Piece &piece = m_pieces[id];
    const bool own = m_rows[piece.row].owner.isEmpty();
    BarLook look = lookOf(piece.state);
    look.open = piece.to == openEnd;
    if (own && piece.state == LeaseState::Held)
        look.fill = Tint::LeaseOver; // the sandbox's own life stands behind those who hold it
    if (own && piece.state == LeaseState::Held) {
        const SandboxLane &sandbox = sandboxOf(m_rows[piece.row]);
        look.label = sandbox.source.isEmpty() ? sandbox.backend : LeaseWords::tr("%1 · %2").arg(sandbox.backend, sandbox.source);
    }
    return look;
}

std::optional<LaneBackdrop> LeaseSource::backdrop(int row) const
{
    const Row &place = m_rows[size_t(row)];
    if (place.owner.isEmpty())
        return std::nullopt;
    const SandboxLane &sandbox = sandboxOf(place);
    return LaneBackdrop{sandbox.from, sandbox.until, Tint::LeaseOver};
}

QString LeaseSource::describe(quint32 id) const
{
    const Piece &piece = m_pieces[id];
    const Row &row = m_rows[piece.row];
    const SandboxLane &sandbox = sandboxOf(row);
    const qint64 end = piece.to == openEnd ? now() : piece.to;
    if (row.owner.isEmpty())
        return LeaseWords::tr("Sandbox %1: %2. %3").arg(sandbox.id, leaseSentence(sandbox, m_run->agents()), sessionBudget(sandbox)).trimmed();
    const QString text = LeaseWords::tr("%1 on %2: %3 for %4").arg(agentNameAndId(m_run->agents(), row.owner), sandbox.id,
                                                                   leaseStateWord(piece.state), formatSpan(end - piece.from));
    return piece.state == LeaseState::Draining ? text + u'\n' + LeaseWords::tr("It wants the sandbox no more; what it has running is being ended.") : text;
}

qint64 LeaseSource::now() const
{
    if (!m_run)
        return 0;
    return m_run->facts().live ? Clock::system()->mono().count() : m_run->lastTime();
}

} // namespace paddock
