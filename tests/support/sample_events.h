// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/event/event.h"

#include <QHash>

#include <memory>
#include <vector>

namespace paddock::test {

/// A recorded-looking run: one lead, four subagents, hooks, lost session, draining lease, a waiting approval, files.
/// Deterministic: the same call gives the same events.
struct SampleRun {
    RunId run;
    std::vector<std::shared_ptr<const Event>> events;
    QHash<QString, MessagePtr> messages; ///< by content hash, as the journal would have them

    static constexpr qint64 length = 252'000'000; ///< microseconds from start to the last event of an unfinished run
};

/// `firstSeq` and `start` (monotonic microseconds) place it; `finished` adds the end of every agent and of the run.
SampleRun makeSampleRun(const QString &id, Seq firstSeq, qint64 start, bool finished);

/// One agent with `turns` turns of `hooksPerTurn` idle hook spans: for what must stay fast with many spans.
SampleRun makeLargeRun(const QString &id, int turns, int hooksPerTurn);

inline const char *const sampleC41f = "subagent:c41f0000-1111-4222-8333-444455556666";
inline const char *const sample77ab = "subagent:77ab0000-1111-4222-8333-444455556666";
inline const char *const sample90de = "subagent:90de0000-1111-4222-8333-444455556666";
inline const char *const sample31b9 = "subagent:31b90000-1111-4222-8333-444455556666";
inline const char *const sampleE2c0 = "subagent:e2c00000-1111-4222-8333-444455556666";

} // namespace paddock::test
