// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/channel_identity.h"

#include "core/base/text.h"

namespace paddock {

QString channelPrefix(const Json &context)
{
    if (!context.is_object() || !context.contains(channelUserIdKey))
        return {};
    const Json &value = context.at(channelUserIdKey);
    const QString id = value.is_string() ? textOf(value) : QString();
    // A zero byte cannot be quoted, so it is as invalid as an empty id (our decision of §8).
    if (id.isEmpty() || id.contains(QChar(0)) || codePointCount(id) > maxChannelUserIdChars)
        return QStringLiteral("unset DEERFLOW_CHANNEL_USER_ID; ");
    return QStringLiteral("export DEERFLOW_CHANNEL_USER_ID=") + shellQuote(id) + QStringLiteral("; ");
}

void forwardChannelIdentity(const Json &parent, Json &child)
{
    if (parent.is_object() && parent.contains(channelUserIdKey))
        child[channelUserIdKey] = parent.at(channelUserIdKey);
}

} // namespace paddock
