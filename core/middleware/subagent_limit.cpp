// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/subagent_limit.h"

#include "core/middleware/ai_edits.h"
#include "core/middleware/run_scope.h"

#include <QSet>

#include <algorithm>

namespace paddock {

namespace {

/// Distinct delegations of this run in the ledger; without a run id those of the whole thread, which is the safer error.
int priorDelegations(const Json &ledger, const QString &run)
{
    QSet<QString> ids;
    if (ledger.is_array()) {
        for (const Json &entry : ledger) {
            const QString id = stringOf(entry, "id");
            if (!id.isEmpty() && (run.isEmpty() || stringOf(entry, "run_id") == run))
                ids.insert(id);
        }
    }
    return int(ids.size());
}

} // namespace

DelegationLimits DelegationLimits::within(int perResponse, int perRun, int maxRunning)
{
    return {std::clamp(perResponse, 1, std::clamp(maxRunning, 1, ceiling)), std::clamp(perRun, 1, runCeiling)};
}

Task<Result<StateUpdate>> SubagentLimitMiddleware::afterModel(AgentState state, RuntimePtr runtime)
{
    StateUpdate update;
    if (state.messages.isEmpty() || state.messages.last()->role != Role::Ai)
        co_return update;
    const MessagePtr last = state.messages.last();
    const QString run = stringOf(runtime->values, "run_id");
    const int prior = priorDelegations(memberOf(state.channels, "delegations"), run);
    const int left = std::max(0, m_limits.perRun - prior);
    const int allowed = std::min(m_limits.perResponse, left);
    std::vector<bool> keep;
    int asked = 0;
    for (const ToolCall &call : last->toolCalls)
        keep.push_back(call.name != u"task" || ++asked <= allowed);
    if (asked <= allowed)
        co_return update;
    if (run.isEmpty())
        runtime->events.emitEvent(LogRecorded{QStringLiteral("warning"),
                                              QStringLiteral("subagent_limit: this run has no id, so every delegation of the thread counts"), false});
    recordAct(*runtime, QStringLiteral("subagent_limit"), *this, Hook::AfterModel, QStringLiteral("drop"),
              Json{{"dropped", asked - allowed}, {"allowed", allowed}, {"before", prior},
                   {"per_response", m_limits.perResponse}, {"per_run", m_limits.perRun}});
    if (left == 0)
        setStopReason(*runtime, QStringLiteral("subagent_limit_capped"));
    update.messages.push_back(edited(last, [&](Message &message) {
        keepToolCalls(message, keep);
        if (left == 0)
            appendText(message,
                       QStringLiteral("[SUBAGENT LIMIT REACHED] This run may send no more subagents. Go on with the results there are, do "
                                      "what is small yourself, and say what is left."),
                       EmptyText::LeavesNothing);
    }));
    co_return update;
}

} // namespace paddock
