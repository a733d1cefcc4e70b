// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "ui/store/run_store.h"

namespace paddock {

/// The words for an agent, an owner of a lease or a scope, the same in every panel. An agent is called by what it was
/// made for ("Languages and lines"), the lead "lead"; one of which no description is known by its short id. Two agents
/// with one description are told apart by their ids.
QString agentName(const AgentTree &agents, const QString &ownerOrAgent);
/// "4bcb", to stand dim beside the name; empty where the name says it already.
QString agentShortId(const AgentTree &agents, const QString &ownerOrAgent);
/// For screen readers and tool tips, which both carry: "Languages and lines (4bcb)".
QString agentNameAndId(const AgentTree &agents, const QString &ownerOrAgent);
/// Name, type and whole id on lines of their own.
QString agentToolTip(const AgentTree &agents, const QString &ownerOrAgent);

/// A command as the agent wrote it: without the change of folder that the sandbox puts before each one.
QString commandAsWritten(const QString &command);

} // namespace paddock
