// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/journal/journal.h"

#include <QIODevice>

#include <vector>

namespace paddock {

struct ImportResult {
    std::vector<RunId> runs;
    qint64 events = 0;
};

/// Reads exported JSONL (untrusted) into the journal: all of it or nothing. Events of unknown types and unknown fields are
/// kept. Errors name the line. A run that the journal already has is refused (AlreadyExists). Blocks; for pool threads.
Result<ImportResult> importJsonl(Journal &journal, QIODevice &input);

} // namespace paddock
