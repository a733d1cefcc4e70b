// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/json.h"

#include <optional>

namespace paddock {

/// Texts of a stored subagent event are cut at this many code points.
constexpr qsizetype longestTaskText = 8192;

/// How a task_* event of the parent's stream (runtime §2.5) is kept: {event_type, category, content, metadata}. Nothing
/// for what is not persisted: no task id, an unknown type, a step without a valid index or message.
std::optional<Json> taskRecord(const Json &chunk);
/// The persisted form of one captured message (runtime §1.8).
Json taskStep(const QString &taskId, qint64 messageIndex, const Json &message);

} // namespace paddock
