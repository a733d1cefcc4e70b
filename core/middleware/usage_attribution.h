// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/message/message.h"

namespace paddock {

/// What the tokens of one answer were spent on (runtime §5.4): {version, kind, shared_attribution, tool_call_ids, actions}.
/// `todos` is the list before the answer. Pure.
Json usageAttribution(const Message &ai, const Json &todos);

} // namespace paddock
