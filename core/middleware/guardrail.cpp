// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/guardrail.h"

#include "core/base/text.h"
#include "core/middleware/ordering.h"
#include "core/middleware/tool_meta.h"

namespace paddock {

namespace {

constexpr qsizetype maxRecordedChars = 500;

using GateOptionsPtr = std::shared_ptr<const GuardrailMiddleware::Options>;

GuardrailReason firstReason(const GuardrailDecision &decision)
{
    if (!decision.reasons.empty())
        return decision.reasons.front();
    return {QStringLiteral("oap.denied"), QStringLiteral("blocked by guardrail policy")};
}

GuardrailDecision undecided(bool failClosed)
{
    return {!failClosed,
            {{QStringLiteral("oap.evaluator_error"), failClosed ? QStringLiteral("guardrail provider error (fail-closed)")
                                                                : QStringLiteral("guardrail provider error (fail-open)")}},
            {},
            Json::object()};
}

/// What a provider threw becomes an Error, as if it had returned one.
Task<Result<GuardrailDecision>> askProvider(std::shared_ptr<GuardrailProvider> provider, Result<GuardrailRequest> request, std::stop_token stop)
{
    if (!request)
        co_return fail(request.error());
    if (!provider)
        co_return fail(ErrorCode::FailedPrecondition, QStringLiteral("no provider is set"));
    try {
        co_return co_await provider->evaluate(std::move(*request), std::move(stop));
    } catch (const std::exception &e) {
        co_return fail(ErrorCode::Internal, QString::fromUtf8(e.what()));
    } catch (...) {
        co_return fail(ErrorCode::Internal, QStringLiteral("an exception of an unknown type"));
    }
}

/// Refusals, and what ran although nobody could decide. Never arguments.
void recordDecision(const RuntimeContext &runtime, const GuardrailMiddleware::Options &options, const QString &tool,
                    const GuardrailDecision &decision, const Error *problem)
{
    if (decision.allow && problem == nullptr)
        return;
    const GuardrailReason reason = firstReason(decision);
    QString text = shortName(options.name) + (decision.allow ? QStringLiteral(": allow_tool_call_after_provider_error ") : QStringLiteral(": deny_tool_call "))
        + tool + QStringLiteral(", ") + reason.code + QStringLiteral(": ") + firstCodePoints(reason.message, maxRecordedChars);
    if (!decision.policyId.isEmpty())
        text += QStringLiteral(", policy ") + decision.policyId;
    if (problem != nullptr)
        text += QStringLiteral(", because ") + firstCodePoints(problem->fullMessage(), maxRecordedChars);
    runtime.events.emitEvent(LogRecorded{QStringLiteral("warning"), text, false});
}

Task<Result<ToolOutcome>> gatedCall(GateOptionsPtr options, ToolCallRequest request, ToolNext next)
{
    const Result<GuardrailDecision> asked = co_await askProvider(
        options->provider, GuardrailMiddleware::requestFor(request.context, options->passport), request.context.stop);
    if (!asked && isControlSignal(asked.error()))
        co_return fail(asked.error());
    const GuardrailDecision decision = asked ? *asked : undecided(options->failClosed);
    recordDecision(*request.context.runtime, *options, request.context.call.name, decision, asked ? nullptr : &asked.error());
    if (!decision.allow)
        co_return GuardrailMiddleware::denial(request.context.call, decision);
    co_return co_await next(std::move(request));
}

QString utcNow(const RuntimeContext &runtime)
{
    return formatWall(runtime.clock->wall());
}

} // namespace

Result<GuardrailRequest> GuardrailMiddleware::requestFor(const ToolCallContext &context, const QString &passport)
{
    const Json &values = context.runtime->values;
    GuardrailRequest request;
    request.toolName = context.call.name;
    request.toolInput = context.call.args;
    request.agentId = passport;
    request.threadId = stringOf(values, "thread_id");
    request.runId = stringOf(values, "run_id");
    request.toolCallId = context.call.id;
    request.isSubagent = boolOf(values, "is_subagent");
    request.timestamp = utcNow(*context.runtime);
    Principal &who = request.principal;
    who.userId = stringOf(values, "user_id");
    who.role = stringOf(values, "user_role");
    who.oauthProvider = stringOf(values, "oauth_provider");
    who.oauthId = stringOf(values, "oauth_id");
    who.channelUserId = stringOf(values, "channel_user_id");
    who.isInternal = boolOf(values, "is_internal"); // only the boolean true: no other type counts
    const Json &attributes = memberOf(values, "authz_attributes");
    if (!attributes.is_null() && !attributes.is_object())
        return fail(ErrorCode::InvalidArgument, QStringLiteral("authz_attributes must be a mapping"));
    if (attributes.is_object())
        who.attributes = attributes;
    return request;
}

MessagePtr GuardrailMiddleware::denial(const ToolCall &call, const GuardrailDecision &decision)
{
    const GuardrailReason reason = firstReason(decision);
    const QString name = call.name.isEmpty() ? QStringLiteral("unknown_tool") : call.name;
    const QString text = QStringLiteral("Guardrail denied: tool '") + name + QStringLiteral("' was blocked (") + reason.code
        + QStringLiteral("). Reason: ") + reason.message + QStringLiteral(". Choose an alternative approach.");
    const QString id = call.id.isEmpty() ? QStringLiteral("missing_id") : call.id;
    return edited(toolMessage(id, name, text, ToolStatus::Error), [](Message &m) {
        m.kwargs[toolMetaKey] = ToolMeta{QStringLiteral("error"), QStringLiteral("permission"), true,
                                         QStringLiteral("try_alternative"), QStringLiteral("tool_return")}
                                    .toJson();
    });
}

Task<Result<ToolOutcome>> GuardrailMiddleware::wrapToolCall(ToolCallRequest request, ToolNext next)
{
    return gatedCall(m_options, std::move(request), std::move(next));
}

Task<Result<GuardrailDecision>> AuthorizationGate::evaluate(GuardrailRequest request, std::stop_token)
{
    if (m_options.infrastructureTools.contains(request.toolName)) {
        GuardrailDecision allowed{true, {{QStringLiteral("authz.infrastructure_tool"), QString()}}, QStringLiteral("authz:infrastructure"), Json::object()};
        return [](GuardrailDecision decision) -> Task<Result<GuardrailDecision>> { co_return decision; }(std::move(allowed));
    }
    Principal who = std::move(request.principal);
    if (who.role.isEmpty())
        who.role = m_options.defaultRole;
    return m_options.provider->authorize(std::move(who), QStringLiteral("tool"), QStringLiteral("call"), request.toolName);
}

Task<QStringList> authorizedTools(std::shared_ptr<AuthorizationProvider> provider, Principal principal, QStringList candidates,
                                  bool failClosed)
{
    const QStringList otherwise = failClosed ? QStringList() : candidates;
    try {
        Result<QStringList> allowed = co_await provider->filter(std::move(principal), QStringLiteral("tool"), std::move(candidates));
        co_return allowed ? std::move(*allowed) : otherwise;
    } catch (...) {
        co_return otherwise;
    }
}

} // namespace paddock
