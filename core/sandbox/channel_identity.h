// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/json.h"

#include <QString>

namespace paddock {

// Who acts on the other side of an IM channel (sandbox.md §8). Pure.

inline constexpr const char *channelUserIdKey = "channel_user_id"; ///< of the run context
inline constexpr qsizetype maxChannelUserIdChars = 256;

/// What every bash command of a run with this context starts with: an export, an unset, or nothing. The trailing "; " is
/// part of it. Null (not empty) when the context has no identity at all.
QString channelPrefix(const Json &context);
/// Copies the identity into a subagent's context whenever the parent has the key, whatever its value.
void forwardChannelIdentity(const Json &parent, Json &child);

} // namespace paddock
