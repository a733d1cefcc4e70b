// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/store/agent_names.h"

#include <QCoreApplication>

namespace paddock {

namespace {

constexpr int mostNameLetters = 80;

class AgentWords
{
    Q_DECLARE_TR_FUNCTIONS(AgentWords)
};

} // namespace

QString agentName(const AgentTree &agents, const QString &ownerOrAgent)
{
    const AgentId id = agentOfOwner(ownerOrAgent);
    const AgentEntry *agent = id == leadAgent() ? nullptr : agents.find(id);
    const QString name = agent ? headOfCommand(agent->description, mostNameLetters) : QString();
    if (name.isEmpty())
        return shortOwner(ownerOrAgent);
    return agents.sharesDescription(*agent) ? AgentWords::tr("%1 · %2").arg(name, tinyOwner(ownerOrAgent)) : name;
}

QString agentShortId(const AgentTree &agents, const QString &ownerOrAgent)
{
    const QString tiny = tinyOwner(ownerOrAgent);
    return agentName(agents, ownerOrAgent).endsWith(tiny) ? QString() : tiny;
}

QString agentNameAndId(const AgentTree &agents, const QString &ownerOrAgent)
{
    const QString id = agentShortId(agents, ownerOrAgent);
    const QString name = agentName(agents, ownerOrAgent);
    return id.isEmpty() ? name : AgentWords::tr("%1 (%2)").arg(name, id);
}

QString agentToolTip(const AgentTree &agents, const QString &ownerOrAgent)
{
    const AgentEntry *agent = agents.find(agentOfOwner(ownerOrAgent));
    QStringList lines{agentName(agents, ownerOrAgent)};
    if (agent && !agent->type.isEmpty())
        lines += agent->type;
    if (!lines.contains(ownerOrAgent))
        lines += ownerOrAgent;
    return lines.join(u'\n');
}

QString commandAsWritten(const QString &command)
{
    static const QLatin1StringView added("cd /mnt/user-data/workspace; ");
    return command.startsWith(added) ? command.mid(added.size()) : command;
}

} // namespace paddock
