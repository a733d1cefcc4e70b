// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "ui/paint/marks.h"
#include "ui/store/run_store.h"

#include <QString>

namespace paddock {

/// The words for what the stores know as codes. Whole sentences or short remarks, translated. GUI thread.

/// "waiting for 3", "bash · 12 s", "model · 3 s", "queued · 2nd", "failed: …"
QString agentRemark(const AgentEntry &agent, Micros now);
Mark agentMark(AgentState state);
/// "done · 7 files", "failed: session limit", "cancelled"
QString runRemark(const RunFacts &facts, int files);
Mark runMark(const QString &status);
QString runStatusWord(const QString &status);
/// What a note of a conversation says.
QString noteText(const ConversationItem &note);
Mark noteMark(NoteKind note);
/// "1.2 s · 48 lines" and the like: how a tool call went.
QString toolRemark(const ConversationItem &call, Micros now);
/// A run's title, or a sentence when it has none yet.
QString runTitle(const RunFacts &facts);

} // namespace paddock
