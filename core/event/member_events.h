// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/json.h"

#include <QString>

namespace paddock {

/// middleware.acted: a member of a chain did something that a person or an audit wants to know (runtime §4). Names and numbers;
/// never arguments of tool calls.
struct MiddlewareActed {
    QString tag;    ///< token_budget, safety_termination, model_length, terminal_response, subagent_limit, clarification, title, …
    QString name;   ///< the member's, as in the chain
    QString hook;   ///< as in middleware.span
    QString action; ///< warn, hard_stop, suppress_tool_calls, ask, set, …
    Json changes = Json::object();
};

} // namespace paddock
