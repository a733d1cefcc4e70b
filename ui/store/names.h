// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/event/event.h"

#include <QString>

#include <memory>

namespace paddock {

using EventPtr = std::shared_ptr<const Event>;

/// Microseconds of the monotonic clock; openEnd stands for "not over yet".
using Micros = qint64;
inline constexpr Micros openEnd = std::numeric_limits<qint64>::max();

/// How people read an owner or agent: "lead" for the lead agent and for "run:<id>", "subagent:c41f" for a subagent with
/// a UUID. The whole id stays in tool tips.
QString shortOwner(const QString &ownerOrAgent);
/// As above without the "subagent:" part: "c41f".
QString tinyOwner(const QString &ownerOrAgent);
/// The agent that an owner or scope belongs to ("run:…" is the lead).
AgentId agentOfOwner(const QString &owner);
/// The first line of a command, white space simplified, at most `limit` characters.
QString headOfCommand(const QString &command, int limit = 80);

} // namespace paddock
