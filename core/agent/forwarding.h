// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/message/state.h"

namespace paddock {

/// The runtime values of a subagent (runtime §1.5 and §2.4), copied from its parent's and nothing else: `run_id` is always
/// there, perhaps null; `channel_user_id` whenever the parent has the key, whatever its value (K-7); `is_internal` only
/// for a literal true. No checkpoint coordinates. Pure.
Json childValues(const Json &parent, const QString &subagentName, const QString &taskId, const QString &modelName);

/// The state channels that a subagent starts with: sandbox, thread_data, and uploaded_files when it is valid.
Json childChannels(const Json &parentChannels);
/// A list of objects each with a bare file name; an empty list is valid.
bool isValidUploadedFiles(const Json &value);

} // namespace paddock
