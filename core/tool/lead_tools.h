// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/tool/tool.h"

namespace paddock {

/// `ask_clarification`: what a model may ask the person. The chain answers the call; the tool itself only says that nobody does.
ToolPtr makeClarificationTool();

/// `write_todos` of plan mode: replaces the channel `todos`.
ToolPtr makeTodoTool();

} // namespace paddock
