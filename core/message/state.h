// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/message/message_list.h"

#include <functional>
#include <optional>
#include <vector>

namespace paddock {

/// What an agent's run carries from step to step: the messages and the other channels (runtime §1.9), by name.
struct AgentState {
    MessageList messages;
    Json channels = Json::object();
};

/// Where a node hook sends the loop next, middleware-base §1.4. Lives for one step.
enum class JumpTo { None, Model, Tools, End };

/// A partial update of the state; goes through the reducers.
struct StateUpdate {
    std::vector<MessagePtr> messages; ///< appended or replaced by id; may hold Remove markers
    Json channels = Json::object();
    JumpTo jumpTo = JumpTo::None;

    bool isEmpty() const { return messages.empty() && channels.empty() && jumpTo == JumpTo::None; }
};

/// The messages reducer of middleware-base §1.5. Ids are made with `newId` (fresh UUIDs by default).
Result<MessageList> reduceMessages(const MessageList &old, const std::vector<MessagePtr> &update,
                                   const std::function<QString()> &newId = {});

/// The reducer of one channel (runtime §1.9); a channel without a rule takes the last write.
Result<Json> reduceChannel(const QString &name, const Json &old, const Json &update);

/// Applies a whole update; on error the state is unchanged.
Result<AgentState> applyUpdate(const AgentState &state, const StateUpdate &update);

} // namespace paddock
