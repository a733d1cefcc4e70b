// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/error.h"
#include "core/message/subagent_report.h"

#include <optional>

namespace paddock {

/// What the `task` tool says about a finished subagent, and how it is read back (runtime §2.6). Pure functions; all texts
/// and keys are contract.
struct SubagentReport {
    QString status; ///< completed, failed, cancelled, timed_out, polling_timed_out
    std::optional<QString> result;
    std::optional<QString> error;
    std::optional<QString> stopReason; ///< token_capped, turn_capped, loop_capped
    std::optional<QString> modelName;
    Json usage; ///< {input_tokens, output_tokens, total_tokens} or null
};

struct ReportText {
    QString content;
    std::optional<QString> metadataError;
};

/// The text of the tool message and the error for its metadata.
Result<ReportText> reportText(const SubagentReport &report);
/// The kwargs of the tool message. An unknown status or stop reason is an error.
Result<Json> reportKwargs(const SubagentReport &report);

} // namespace paddock
