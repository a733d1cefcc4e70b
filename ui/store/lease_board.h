// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "ui/store/names.h"

#include <QSet>
#include <QStringList>

#include <vector>

namespace paddock {

enum class LeaseState { Acquiring, Held, Draining, Released, Failed };

/// One owner's hold on one sandbox, from acquire to release.
struct LeasePeriod {
    QString owner;
    LeaseState state = LeaseState::Held;
    Micros requestedAt = -1; ///< known for the owner whose acquire made the sandbox
    Micros acquiredAt = 0;
    Micros drainingAt = -1;
    Micros releasedAt = openEnd;
};

/// Why a sandbox is (still) there, as data; the panel makes the sentence.
enum class AliveBecause { Held, Draining, BeingReleased, Ended, Failed };

/// One sandbox and everybody who held it.
struct SandboxLane {
    QString id;
    QString provider;
    QString backend;
    QString source;
    LeaseState state = LeaseState::Held;
    Micros requestedAt = -1;
    Micros from = 0;
    Micros until = openEnd;
    int sessionLimit = 0;
    QSet<QString> sessions; ///< open shell sessions
    int sessionsMost = 0;   ///< the most at once
    QStringList owners;     ///< who holds it now
    std::vector<LeasePeriod> periods;
    bool lastReleased = false;
    QString failure;

    AliveBecause reason() const;
    /// Owners in the state `draining`.
    QStringList draining() const;
};

/// The sandboxes of one run and their leases. Part of RunStore; GUI thread.
class LeaseBoard
{
public:
    bool apply(const Event &event);
    const std::vector<SandboxLane> &sandboxes() const { return m_sandboxes; }
    int sessionsUsed() const;
    int sessionLimit() const;

private:
    SandboxLane &lane(const QString &sandbox, Micros now);
    LeasePeriod *openPeriod(SandboxLane &lane, const QString &owner);
    SandboxLane *laneOfScope(const QString &scope);
    bool applySandbox(const Event &event);
    bool applyLease(const Event &event);
    bool applySession(const Event &event);
    void acquired(SandboxLane &lane, const LeaseAcquired &lease, Micros now);

    std::vector<SandboxLane> m_sandboxes;
};

} // namespace paddock
