// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/compaction.h"

#include <optional>

namespace paddock {

/// What a model gets to read for a summary (runtime §4.12).
struct SummaryInput {
    std::vector<MessagePtr> messages; ///< what will be cut; not empty
    QString previous;                 ///< the summary of what was cut before
    QString promptTemplate;           ///< "{messages}" is where the text goes; without it the text comes last; empty: ours
    std::optional<qint64> trimTokens; ///< null: whole
    TokenCounter tokens;              ///< empty: by characters
    double charsPerToken = 4.0;
    std::function<QString(const QString &)> redact; ///< over the text before it is cut; absent: as it is
};

/// The template that is used where none is configured.
QString defaultSummaryPrompt();
/// The last messages that fit, from a human one on, and every system message; empty when nothing fits.
std::vector<MessagePtr> trimmedForSummary(const SummaryInput &input);
/// Trimmed, cut, escaped and wrapped. Pure; any thread.
QString summaryPrompt(const SummaryInput &input);

} // namespace paddock
