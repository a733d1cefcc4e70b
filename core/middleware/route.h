// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/message/state.h"

#include <vector>

namespace paddock {

/// Where the loop goes next (middleware-base §1.3). Pure functions; any thread.
enum class RouteTo { Tools, LoopEntry, End };

struct Route {
    RouteTo to = RouteTo::End;
    std::vector<ToolCall> pending; ///< with Tools: the calls to run, in their order; one task each, all in one step
};

struct RouteOptions {
    JumpTo jumpTo = JumpTo::None;       ///< set by the last hook; wins
    bool structuredResponse = false;    ///< a structured answer is in the state
    QStringList structuredTools;        ///< calls of these names are structured output, never executed
};

/// The calls of the last ai message that no tool message after it answers (R1 b to d). Invalid calls never count.
std::vector<ToolCall> pendingCalls(const MessageList &messages, const QStringList &structuredTools = {});

/// R1: after the model step and its after_model hooks.
Route routeAfterModel(const MessageList &messages, const RouteOptions &options = {});

/// R2: after the tool step. `allReturnDirect`: every executed tool of the batch returns directly; `commandEnd`: a
/// command of the batch asked to end (runtime §1.1 item 4). Both end the loop after the batch.
RouteTo routeAfterTools(bool allReturnDirect, bool commandEnd);

} // namespace paddock
