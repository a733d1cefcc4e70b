// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/loop.h"
#include "core/journal/journal_reader.h"
#include "core/run/run_service.h"

namespace paddock {

// What the service reads from the journal, on pool threads; results come back on `owner`'s loop.

RunSummary summaryOf(const StoredRun &run);
void listStored(const QString &folder, LoopRef owner, std::function<void(std::vector<RunSummary>)> done);
/// Pages in order; the last call has `last` set, also when there was nothing or something failed.
void loadStored(const QString &folder, const RunId &run, LoopRef owner,
                std::function<void(std::vector<std::shared_ptr<const Event>>, bool)> batch);
void messageStored(const QString &folder, const QString &hash, LoopRef owner, std::function<void(MessagePtr)> done);
void exportStored(const QString &folder, const RunId &run, const QString &format, const QString &path, LoopRef owner,
                  std::function<void(QString)> done);
Result<RunId> resolveStored(const QString &folder, const QString &prefix);
/// Thread id and workspace folder of a stored run; empty when unknown. Blocks for a moment.
std::pair<QString, QString> placeOfStored(const QString &folder, const RunId &run);
/// There are logs of terminals, but none of this run. Blocks for a moment.
bool areLogsGone(const QString &folder, const RunId &run);

} // namespace paddock
