// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/agent/step_capture.h"

#include <algorithm>

namespace paddock {

bool StepCapture::take(const MessagePtr &message)
{
    if (message->role != Role::Ai && message->role != Role::Tool)
        return false;
    if (!message->id.isEmpty()) {
        if (m_seen.contains(message->id))
            return false;
        m_seen.insert(message->id);
    } else if (std::ranges::any_of(m_captured, [&](const MessagePtr &known) { return *known == *message; })) {
        return false;
    }
    m_captured.push_back(message);
    return true;
}

std::vector<MessagePtr> StepCapture::update(const MessageList &snapshot)
{
    std::vector<MessagePtr> fresh;
    if (snapshot.size() > m_cursor) {
        for (qsizetype i = m_cursor; i < snapshot.size(); ++i) {
            if (take(snapshot.at(i)))
                fresh.push_back(snapshot.at(i));
        }
    } else if (!snapshot.isEmpty() && take(snapshot.last())) {
        fresh.push_back(snapshot.last());
    }
    m_cursor = snapshot.size(); // also when it shrank: a compaction
    return fresh;
}

} // namespace paddock
