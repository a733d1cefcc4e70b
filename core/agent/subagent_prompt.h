// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/json.h"
#include "core/message/message_list.h"

#include <QStringList>

namespace paddock {

/// What a subagent's prompt is made of (runtime §3). Pure; the words are ours, the order and the tags are contract.
struct SubagentPromptParts {
    QString rolePrompt;
    bool receipts = false;       ///< the chain renders receipts that can be cited
    QString skillSection;        ///< a whole `<skill_system>` block, or empty
    QStringList deferredTools;
    QString routingHints;        ///< a whole `<mcp_routing_hints>` block, or empty
    QString task;
    QStringList criteria;        ///< normalized
};

struct SubagentPrompt {
    QString system;    ///< first message of the state; survives every compaction
    QString task;      ///< second message: the task, and the criteria at its end
    QStringList parts; ///< names of the system parts in their order: role, report_contract, acceptance_note, skills, …
    MessageList messages() const;
};

SubagentPrompt assembleSubagentPrompt(const SubagentPromptParts &parts);

/// Strings only; stripped, cut to 500, blank ones dropped, one line each, tags made harmless, at most 20.
QStringList normalizeCriteria(const Json &criteria);
QStringList normalizeCriteria(const QStringList &criteria);

/// `<available-deferred-tools>` with sorted, escaped names; empty when there is none.
QString deferredToolsSection(const QStringList &names);

QString generalPurposePrompt();
QString bashPrompt();
struct LeadPromptParts {
    QStringList subagents; ///< names it may delegate to
    int perResponse = 3;   ///< delegations of one message
    int perRun = 6;        ///< and of the whole run
    bool asksPerson = false;
};
/// The lead's system prompt.
QString leadPrompt(const LeadPromptParts &parts);

} // namespace paddock
