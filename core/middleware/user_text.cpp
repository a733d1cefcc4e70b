// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/user_text.h"

#include "core/middleware/message_edits.h"

namespace paddock {

bool isRealUserMessage(const Message &message)
{
    return message.role == Role::Human && message.name != u"summary" && !isTruthy(memberOf(message.kwargs, "hide_from_ui"));
}

qsizetype lastUserMessage(const MessageList &messages)
{
    for (qsizetype i = messages.size() - 1; i >= 0; --i) {
        if (isRealUserMessage(*messages.at(i)))
            return i;
    }
    return -1;
}

QString originalText(const Message &message)
{
    const Json &original = memberOf(message.kwargs, "original_user_content");
    return original.is_string() ? textOf(original) : textOfContent(message.content);
}

} // namespace paddock
