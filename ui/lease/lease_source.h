// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "ui/paint/lane_source.h"
#include "ui/store/run_store.h"

#include <QPointer>

#include <vector>

namespace paddock {

/// The leases of a run as lanes: per sandbox its own life, then a row per owner with acquiring, held and draining one
/// after the other; the sandbox's life stands behind them. GUI thread; owned by the lease panel.
class LeaseSource : public LaneSource
{
public:
    void setRun(RunStore *run);
    RunStore *run() const { return m_run; }
    void rebuild();
    /// True while something is not over, so that the picture moves.
    bool isLive() const;
    /// The states that some bar of an owner shows, in their order: what a legend has to explain.
    std::vector<LeaseState> shownStates() const;
    /// How a bar of an owner in that state looks.
    static BarLook lookOf(LeaseState state);

    int rowCount() const override { return int(m_rows.size()); }
    LaneRow row(int row) const override;
    LaneHeading heading(int row) const override;
    BarLook look(quint32 id) const override;
    std::optional<LaneBackdrop> backdrop(int row) const override;
    QString describe(quint32 id) const override;
    qint64 now() const override;

private:
    struct Row {
        size_t sandbox = 0;
        QString owner; ///< empty: the sandbox itself
        LeaseState state = LeaseState::Held;
        std::vector<qint64> starts;
        std::vector<qint64> ends;
        std::vector<quint32> ids;
    };
    struct Piece {
        size_t row = 0;
        LeaseState state = LeaseState::Held;
        qint64 from = 0;
        qint64 to = 0;
    };
    void addPiece(LeaseState state, qint64 from, qint64 to);
    const SandboxLane &sandboxOf(const Row &row) const { return m_run->leases().sandboxes()[row.sandbox]; }

    QPointer<RunStore> m_run;
    std::vector<Row> m_rows;
    std::vector<Piece> m_pieces;
};

/// Why this sandbox is (still) there, in plain words: "alive because 2 owners hold it: lead, Audit the lexer".
QString leaseSentence(const SandboxLane &sandbox, const AgentTree &agents);
/// "sessions 4 of 11"; empty when the sandbox has no sessions.
QString sessionBudget(const SandboxLane &sandbox);
QString leaseStateWord(LeaseState state);
/// "embedded-7f3a"
QString shortSandbox(const SandboxLane &sandbox);

} // namespace paddock
