// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/clock.h"
#include "core/journal/database.h"

namespace paddock {

/// Ends the runs of processes that are gone: each gets one run.finished event with status interrupted. Runs of living
/// processes (this one is `self`) are left alone, and so is what another process cleans up at this moment.
Result<void> markInterrupted(Database &database, const QString &folder, const Clock &clock, const QString &self);

} // namespace paddock
