// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/message/message_list.h"

namespace paddock {

// What a person really wrote (the conventions of the runtime spec). Pure functions; any thread.

/// Role human, shown, and no summary.
bool isRealUserMessage(const Message &message);
/// The index of the last one, or -1.
qsizetype lastUserMessage(const MessageList &messages);
/// The text as it was typed, before it was framed for the model.
QString originalText(const Message &message);

} // namespace paddock
