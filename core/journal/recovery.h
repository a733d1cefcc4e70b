// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/event/event.h"
#include "core/journal/database.h"

namespace paddock {

/// A run without an end whose process is gone.
struct CutOff {
    RunId run;
    Seq lastSeq = 0;
    Clock::Wall lastTime{};                ///< of its last event
    std::chrono::microseconds lastMono{0};
};

/// The end that such a run gets: run.finished with status interrupted, at the time of its last event, since nobody knows
/// when it really ended. A function of what is stored alone: who only reads shows the same event, under the same number,
/// as who writes it later, so a run has as many events before its recovery as after it.
Event endOf(const CutOff &run);

/// Writes the end of the runs of processes that are gone. Runs of living processes (this one is `self`) are left alone, and
/// so are imported ones and what another process cleans up at this moment.
Result<void> markInterrupted(Database &database, const QString &folder, const QString &self);

/// The cut-off run under this id; nullopt when it has an end, its process lives, or it was imported. For readers.
Result<std::optional<CutOff>> cutOffRun(Database &database, const QString &folder, const RunId &run);

} // namespace paddock
