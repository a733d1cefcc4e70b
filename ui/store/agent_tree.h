// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "ui/store/names.h"

#include <QHash>

#include <vector>

namespace paddock {

enum class AgentState { Queued, Running, WaitingForPerson, Completed, Failed, Cancelled, TimedOut, Interrupted };

/// What an agent does at this moment; panels word it.
enum class StepKind { None, Model, Tool, Children, Retry };

struct AgentEntry {
    AgentId id;
    AgentId parent; ///< empty for the lead
    QString type;
    QString description;
    QString model;
    QString call; ///< the `task` call that made it
    AgentState state = AgentState::Queued;
    StepKind step = StepKind::None;
    QString stepName;   ///< tool name
    QString stepDetail; ///< e.g. the command
    Micros stepSince = 0;
    int stepCount = 0;  ///< Children: how many are waited for
    int queuePosition = 0;
    int turn = 0;
    int maxTurns = 0;
    int toolCalls = 0;
    Micros queuedAt = -1;
    Micros startedAt = -1;
    Micros finishedAt = -1;
    Usage usage;
    QString error;
    QString stopReason;

    bool isOver() const { return state >= AgentState::Completed; }
    qint64 tokens() const { return usage.total ? usage.total : usage.input + usage.output; }
};

/// The agents of one run in order of appearance, the lead first. Part of RunStore; GUI thread.
class AgentTree
{
public:
    /// True when something a panel shows has changed.
    bool apply(const Event &event);

    const std::vector<AgentEntry> &agents() const { return m_agents; }
    int indexOf(const AgentId &agent) const { return m_index.value(agent, -1); }
    const AgentEntry *find(const AgentId &agent) const;
    int depthOf(int index) const;
    /// Another agent is described in the same words.
    bool sharesDescription(const AgentEntry &agent) const { return m_descriptions.value(agent.description) > 1; }
    int running() const;
    int queued() const;
    qint64 tokens() const;

private:
    struct OpenTool {
        QString call;
        QString name;
        QString detail;
        Micros since = 0;
    };
    AgentEntry &entry(const AgentId &agent);
    bool applyLife(const Event &event);
    bool applyStep(const Event &event);
    void showStep(AgentEntry &agent, Micros now);
    void finishAll(AgentState state, Micros at);

    std::vector<AgentEntry> m_agents;
    QHash<AgentId, int> m_index;
    QHash<QString, int> m_descriptions; ///< how many agents have each
    QHash<AgentId, std::vector<OpenTool>> m_openTools;
    QHash<QString, AgentId> m_approvals; ///< open approvals and who waits for them
};

} // namespace paddock
