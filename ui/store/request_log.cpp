// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/store/request_log.h"

namespace paddock {

const std::vector<ModelRequestEntry> *RequestLog::find(const AgentId &agent) const
{
    const auto found = m_byAgent.constFind(agent);
    return found == m_byAgent.constEnd() ? nullptr : &*found;
}

bool RequestLog::apply(const Event &event)
{
    if (const auto *request = std::get_if<ModelRequested>(&event.body)) {
        ModelRequestEntry entry;
        entry.turn = request->turn;
        entry.model = request->model;
        entry.at = event.mono.count();
        entry.messageHashes = request->messageHashes;
        entry.tools = request->tools;
        m_byAgent[event.agent].push_back(std::move(entry));
        return true;
    }
    if (const auto *reply = std::get_if<ModelResponded>(&event.body)) {
        auto &entries = m_byAgent[event.agent];
        if (entries.empty())
            return false;
        entries.back().finishReason = reply->finishReason;
        entries.back().usage = reply->usage;
        return true;
    }
    return false;
}

} // namespace paddock
