// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/llm/chat_model.h"
#include "core/llm/scenario.h"

namespace paddock {

/// What `${workspace}`, `${outputs}` and `${task}` stand for.
struct ScriptNames {
    QString workspace = QStringLiteral("/mnt/user-data/workspace");
    QString outputs = QStringLiteral("/mnt/user-data/outputs");
    QString task;
};

/// A model that says what a scenario scripts (scenario.md). Each agent instance (run and agent id of the caller) has its
/// own place in its script; a failed call does not advance it, so a retry meets the same turn. Shared by all agents of a
/// run on whatever loops: the bookkeeping is behind a mutex, waiting happens on the caller's loop and ends at once on stop.
/// Calls of a chain's member for itself ("middleware:summarize") are served only by a script whose `agent` says so; without
/// one they fail and nothing else does.
/// A request that is not as the script expects makes the run diverge: that call and every later one of the run fail with
/// "scenario diverged at <agent> turn <n>: expected …, got …".
class ScriptedModel : public ChatModel
{
public:
    explicit ScriptedModel(std::shared_ptr<const Scenario> scenario, ScriptNames names = {});

    QString name() const override;
    QString provider() const override;
    Task<Result<MessagePtr>> complete(ModelRequest request, DeltaSink onDelta, std::stop_token stop) override;

    /// The first divergence of a run; empty when it went as scripted. Any thread.
    QString divergence(const QString &run) const;
    /// Drops what is kept of a run.
    void forget(const QString &run);

    struct State;

private:
    std::shared_ptr<State> m_state;
};

} // namespace paddock
