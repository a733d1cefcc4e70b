// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "ui/store/names.h"

#include <QHash>
#include <QSet>

namespace paddock {

/// Which `task` call made which agent. The model is told "error" of an agent that was cancelled; a person sees that
/// somebody ended it. Part of the stores that show calls; GUI thread.
class TaskCalls
{
public:
    void note(const Event &event)
    {
        if (const auto *started = std::get_if<AgentStarted>(&event.body); started && !started->call.isEmpty())
            m_callOf.insert(event.agent, started->parent + u'\n' + started->call);
        else if (const auto *ended = std::get_if<AgentFinished>(&event.body); ended && ended->status == u"cancelled")
            m_cancelled.insert(m_callOf.value(event.agent));
    }
    /// The status to show for a call that ended.
    QString statusOf(const AgentId &caller, const ToolFinished &tool) const
    {
        const bool cancelled = tool.name == u"task" && m_cancelled.contains(caller.value() + u'\n' + tool.call);
        return cancelled ? QStringLiteral("cancelled") : tool.status;
    }

private:
    QHash<AgentId, QString> m_callOf; ///< by agent: who called, and the call's id
    QSet<QString> m_cancelled;
};

} // namespace paddock
