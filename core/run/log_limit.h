// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QString>

#include <chrono>

namespace paddock {

/// How long one pass may take; the next one goes on. Quitting waits for a pass.
inline constexpr std::chrono::milliseconds logPassLimit{2000};
/// Logs of a run that no journal knows are left alone while they are younger than this: somebody may be at it.
inline constexpr std::chrono::hours strangeLogsKept{24};

/// Removes the terminal logs of whole runs below {dataDir}/shells until all that is left holds at most `maxBytes`; 0: no
/// limit. Those of the run that ended first go first. The journal says which runs are live, in whatever process, and theirs
/// stay; without a journal nothing is removed. Blocks; for the pool. Several at once, also in other processes, do no harm.
void limitTerminalLogs(const QString &dataDir, qint64 maxBytes);

/// The same in the background.
void limitTerminalLogsLater(const QString &dataDir, qint64 maxBytes);

/// Where the logs of a thread's terminals are.
QString shellLogFolder(const QString &dataDir, const QString &thread);

} // namespace paddock
