// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/error.h"

#include <QStringList>

namespace paddock {

/// The names that mean something to a run; empty: not known, nothing is said about them.
struct ScenarioVocabulary {
    QStringList tools;
    QStringList subagentTypes;
};

/// What a scenario of the right format (parseScenario) still gets wrong. An error where no run of it can work: no agent
/// serves the lead. Remarks "file:line:column: what" where a run may well mean it: a tool or subagent type that does not come
/// with this program, a capture without a group.
Result<QStringList> scenarioRemarks(const QByteArray &yaml, const QString &name, const ScenarioVocabulary &vocabulary);

/// Whether a pattern of `match: {agent: …}` means this agent; empty means all.
bool matchesAgent(const QString &pattern, const QString &agent);

} // namespace paddock
