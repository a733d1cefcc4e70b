// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/message/message_list.h"

#include <QSet>

namespace paddock {

/// Gathers a subagent's ai and tool messages from successive state snapshots, each once (runtime §1.8). A value; lives
/// with the execution.
class StepCapture
{
public:
    /// The messages that this snapshot brought.
    std::vector<MessagePtr> update(const MessageList &snapshot);
    const std::vector<MessagePtr> &captured() const { return m_captured; }
    qsizetype cursor() const { return m_cursor; }

private:
    bool take(const MessagePtr &message);

    qsizetype m_cursor = 0;
    QSet<QString> m_seen;
    std::vector<MessagePtr> m_captured;
};

} // namespace paddock
