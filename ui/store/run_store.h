// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "ui/store/agent_tree.h"
#include "ui/store/approval_queue.h"
#include "ui/store/conversation.h"
#include "ui/store/file_log.h"
#include "ui/store/lease_board.h"
#include "ui/store/request_log.h"
#include "ui/store/shell_board.h"
#include "ui/store/trace_lanes.h"

#include <QObject>

#include <optional>
#include <span>

namespace paddock {

/// What is known of a run as a whole.
struct RunFacts {
    RunId id;
    QString thread;
    QString title; ///< the task's first line until something better is known
    QString task;
    QString status; ///< running, completed, failed, cancelled, interrupted
    QString model;
    QString sandbox;
    QString workspace;
    QString answer;
    QString error;
    Clock::Wall started{};
    std::optional<Clock::Wall> finished;
    Micros startedAt = -1;
    Micros finishedAt = -1;
    Usage usage;
    qint64 events = 0;
    bool live = false; ///< runs in this process: commands work

    bool isOver() const { return !status.isEmpty() && status != u"running"; }
};

/// Everything the panels show of one run, as a function of its events: a live run, one read from the journal and an
/// imported one are the same here. Owner: StoreHub; GUI thread. Each part has one signal, sent at most once a batch
/// and after the whole batch was applied.
class RunStore : public QObject
{
    Q_OBJECT
public:
    explicit RunStore(RunId id, QObject *parent = nullptr);

    /// Events of this run in order; those already seen (by sequence number) are skipped.
    void apply(std::span<const EventPtr> events);

    const RunId &id() const { return m_facts.id; }
    const RunFacts &facts() const { return m_facts; }
    void setLive(bool live);
    /// What the runs list knows before the events arrive.
    void seed(RunFacts facts);
    /// A run from the journal is complete once its last page was applied; one without an end is then interrupted.
    void setLoading(bool loading);
    bool isLoading() const { return m_loading; }
    const AgentTree &agents() const { return m_agents; }
    const Conversations &conversations() const { return m_conversations; }
    const TraceLanes &trace() const { return m_trace; }
    const LeaseBoard &leases() const { return m_leases; }
    const ShellBoard &shells() const { return m_shells; }
    const FileLog &files() const { return m_files; }
    const ApprovalQueue &approvals() const { return m_approvals; }
    const RequestLog &requests() const { return m_requests; }
    /// Monotonic time of the newest event; "now" of a run that is over.
    Micros lastTime() const { return m_lastTime; }
    /// Wall time of a moment on the monotonic clock of this run.
    Clock::Wall wallAt(Micros mono) const;

Q_SIGNALS:
    void factsChanged();
    void agentsChanged();
    void conversationsChanged();
    void traceChanged();
    void leasesChanged();
    void shellsChanged();
    void filesChanged();
    void approvalsChanged();
    void requestsChanged();

private:
    bool applyFacts(const Event &event);
    void applyParts(std::span<const EventPtr> events);

    RunFacts m_facts;
    AgentTree m_agents;
    Conversations m_conversations;
    TraceLanes m_trace;
    LeaseBoard m_leases;
    ShellBoard m_shells;
    FileLog m_files;
    ApprovalQueue m_approvals;
    RequestLog m_requests;
    Seq m_lastSeq = 0;
    Micros m_lastTime = 0;
    Clock::Wall m_lastWall{};
    bool m_loading = false;
};

} // namespace paddock
