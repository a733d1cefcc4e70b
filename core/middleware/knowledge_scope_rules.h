// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/error.h"
#include "core/message/message_list.h"

#include <optional>

namespace paddock::knowledge_scope {

// Which knowledge bases a turn may search (middleware-base §3). Pure; any thread. Errors are InvalidArgument.

inline constexpr auto messageKey = "knowledge_scope";               ///< of a human message, as the person chose it
inline constexpr auto contextKey = "__knowledge_scope_execution";   ///< of the run's context, what tools obey
inline constexpr auto earlierIdsKey = "__current_run_pre_existing_message_ids"; ///< of the context: ids of older messages

/// The stable form: ids trimmed and without repetition, nothing that the mode does not need.
Result<Json> canonical(const Json &scope);
/// The canonical form without what is only shown.
Result<Json> execution(const Json &scope);

/// The execution scope that this turn's messages carry, if one does. Older messages are never looked at: `earlierIds` names
/// them; without that list only the last message is of this turn.
Result<std::optional<Json>> ofTurn(const MessageList &messages, const Json &earlierIds);

/// The tools that read knowledge bases.
bool isGovernedTool(const QString &name);
/// `context`: the values of a run.
bool isDisabled(const Json &context);

/// The messages without scope data in their metadata; the same list when there was none.
MessageList withoutScopes(const MessageList &messages);

} // namespace paddock::knowledge_scope
