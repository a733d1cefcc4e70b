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

/// The stored form of one captured message: {task_id, message_index, kind, text, truncated, tool_calls | tool_name}.
Json stepOf(const QString &taskId, qint64 index, const Json &message);

/// What is stored of an event of the parent's custom stream (runtime §2.5): {event_type, category, content, metadata}, or
/// null for what is not stored.
Json storedTaskEvent(const Json &event);

} // namespace paddock
