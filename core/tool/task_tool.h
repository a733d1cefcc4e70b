// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/tool/subagent_dispatcher.h"
#include "core/tool/tool.h"

#include <memory>

namespace paddock {

/// The `task` tool (runtime §2.1): schema, description and the clean-up of its arguments. Whether a type may be used, and
/// everything after it, is the dispatcher's.
ToolPtr makeTaskTool(std::shared_ptr<SubagentDispatcher> dispatcher);

/// The arguments of a call as the dispatcher wants them: text trimmed, a missing description replaced by the prompt, blank
/// criteria dropped.
SubagentRequest subagentRequestOf(ToolCallContext context);

} // namespace paddock
