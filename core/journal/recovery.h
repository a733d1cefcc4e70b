// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/event/event.h"
#include "core/journal/database.h"

#include <memory>
#include <optional>
#include <vector>

namespace paddock {

/// A run without an end whose process is gone.
struct CutOff {
    RunId run;
    Seq lastSeq = 0;
    Clock::Wall lastTime{};                ///< of its last event
    std::chrono::microseconds lastMono{0};
    Json known; ///< its real end as its process noted it when the journal could not take it; null: nobody knows
};

/// The ends of runs as words for OwnerLock::note, as many as have room; and one of them, null when it is not there.
QByteArray noteOfEnds(const std::vector<std::shared_ptr<const Event>> &finished);
Json notedEnd(const QByteArray &note, const RunId &run);

/// The end that such a run gets: run.finished with status interrupted (or the one that was noted), at the time of its last
/// event, since nobody knows when it really ended, with the usage of the replies that are stored. A function of what is
/// stored alone: who only reads shows the same event, under the same number, as who writes it later, so a run has as many
/// events before its recovery as after it.
Event endOf(Database &database, const CutOff &run);

/// Writes the end of the runs of processes that are gone. Runs of living processes (this one is `self`) are left alone, and
/// so are imported ones and what another process cleans up at this moment.
Result<void> markInterrupted(Database &database, const QString &folder, const QString &self);

/// The cut-off run under this id; nullopt when it has an end, its process lives, or it was imported. For readers.
Result<std::optional<CutOff>> cutOffRun(Database &database, const QString &folder, const RunId &run);

} // namespace paddock
