// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/knowledge_scope.h"

#include "core/middleware/knowledge_scope_rules.h"
#include "core/middleware/tool_meta.h"

namespace paddock {

namespace {

using namespace knowledge_scope;

void tellKnowledge(const RuntimeContext &runtime, const QString &text)
{
    LogRecorded log;
    log.level = QStringLiteral("info");
    log.text = QStringLiteral("knowledge_scope: ") + text;
    runtime.events.emitEvent(std::move(log));
}

/// Counts only: names and ids are the person's.
QString scopeText(const Json &scope)
{
    const QString mode = stringOf(scope, "mode");
    if (mode != u"selected")
        return mode;
    return mode + QStringLiteral(", datasets: %1, filters: %2")
                      .arg(memberOf(scope, "dataset_ids").size())
                      .arg(memberOf(scope, "document_filters").size());
}

MessagePtr knowledgeRefusal(const ToolCall &call)
{
    Message message;
    message.role = Role::Tool;
    message.name = call.name;
    message.toolCallId = call.id.isEmpty() ? QStringLiteral("missing_tool_call_id") : call.id;
    message.status = ToolStatus::Error;
    const QString reason = call.name + QStringLiteral(" is disabled for this turn.");
    message.content = toJson(QStringLiteral("Error: ") + reason);
    message.kwargs[toolMetaKey] = classifyErrorText(reason, QStringLiteral("tool_return")).toJson(); // no inner member will
    return makeMessage(std::move(message));
}

} // namespace

Task<Result<StateUpdate>> KnowledgeScopeMiddleware::beforeAgent(AgentState state, RuntimePtr runtime)
{
    if (!runtime->values.is_object())
        runtime->values = Json::object();
    Result<std::optional<Json>> scope;
    if (runtime->values.contains(contextKey)) {
        const Result<Json> inherited = execution(runtime->values[contextKey]);
        if (!inherited)
            co_return std::unexpected(inherited.error());
        scope = std::optional(*inherited);
    } else {
        scope = ofTurn(state.messages, memberOf(runtime->values, earlierIdsKey));
    }
    if (!scope)
        co_return std::unexpected(scope.error());
    if (*scope) {
        runtime->values[contextKey] = **scope;
        tellKnowledge(*runtime, scopeText(**scope));
    }
    co_return StateUpdate{};
}

Task<Result<ModelResponse>> KnowledgeScopeMiddleware::wrapModelCall(ModelCall call, ModelNext next)
{
    call.request.messages = withoutScopes(call.request.messages);
    if (isDisabled(call.runtime->values))
        std::erase_if(call.request.tools, [](const ToolSpec &tool) { return isGovernedTool(tool.name); });
    return next(std::move(call));
}

Task<Result<ToolOutcome>> KnowledgeScopeMiddleware::wrapToolCall(ToolCallRequest request, ToolNext next)
{
    const ToolCall call = request.context.call;
    if (!isGovernedTool(call.name) || !isDisabled(request.context.runtime->values))
        co_return co_await next(std::move(request));
    tellKnowledge(*request.context.runtime, call.name + QStringLiteral(" was refused, retrieval is off for this turn"));
    co_return ToolOutcome(knowledgeRefusal(call));
}

} // namespace paddock
