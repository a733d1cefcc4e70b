// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// Areas budget, safety, limits, title, clarify, and date for the lead.
#include "core/middleware/ai_edits.h"
#include "core/middleware/clarification_form.h"
#include "core/middleware/dynamic_context.h"
#include "core/middleware/safety_finish_reason.h"
#include "core/middleware/subagent_date_context.h"
#include "core/middleware/subagent_limit.h"
#include "core/middleware/title.h"
#include "core/middleware/token_budget.h"
#include "core/base/text.h"
#include "tests/cases/middleware_support.h"

#include <QDateTime>

namespace paddock::cases::lead_cases {

namespace {

Json idsOfCalls(const Message &message)
{
    Json ids = Json::array();
    for (const ToolCall &call : message.toolCalls)
        ids.push_back(toUtf8(call.id));
    return ids;
}

Json idsOfRawCalls(const Message &message)
{
    Json ids = Json::array();
    for (const Json &call : memberOf(message.kwargs, "tool_calls"))
        ids.push_back(toUtf8(stringOf(call, "id")));
    return ids;
}

// --- budget ------------------------------------------------------------------------------------------------------------

TokenBudgetOptions budgetOptions(const Json &config)
{
    TokenBudgetOptions options;
    options.maxTokens = intOf(config, "max_tokens", options.maxTokens);
    options.maxInputTokens = optionalInt(config, "max_input_tokens");
    options.maxOutputTokens = optionalInt(config, "max_output_tokens");
    options.warnThreshold = doubleOf(config, "warn_threshold", options.warnThreshold);
    options.hardStopThreshold = doubleOf(config, "hard_stop_threshold", options.hardStopThreshold);
    return options;
}

/// What the next model call is told about the budget.
bool warnsNow(const std::shared_ptr<Chain> &chain, const RuntimePtr &runtime)
{
    bool warned = false;
    ModelCall call;
    call.runtime = runtime;
    const auto core = [&warned](ModelCall inner) -> Task<Result<ModelResponse>> {
        for (const MessagePtr &message : inner.request.messages)
            warned = warned || (message->name == u"budget_warning" && textOf(message).startsWith(u"[TOKEN BUDGET WARNING]"));
        return [](MessagePtr answer) -> Task<Result<ModelResponse>> { co_return ModelResponse{{answer}, {}}; }(aiMessage(QString()));
    };
    return awaited(chain->runModel(call, core)).has_value() && warned;
}

Verdict budget(const Json &testCase)
{
    const Json input = expandParts(memberOf(testCase, "input"));
    const auto member = std::make_shared<TokenBudgetMiddleware>(budgetOptions(memberOf(input, "config")));
    const auto chain = *chainOf({member});
    const RuntimePtr runtime = plainRuntime(Json{{"thread_id", "t"}, {"run_id", "r"}});
    const auto before = messageListOf(memberOf(input, "before"));
    if (!before)
        return failed(before.error().message);
    AgentState state{*before, Json::object()};
    if (!awaited(chain->runNode(Hook::BeforeAgent, state, runtime)))
        return failed(QStringLiteral("before_agent failed"));
    Json actions = Json::array();
    for (const Json &turn : memberOf(input, "turns")) {
        const auto more = messageListOf(turn);
        const auto merged = more ? reduceMessages(state.messages, more->toVector()) : Result<MessageList>(fail(more.error()));
        if (!merged)
            return failed(merged.error().message);
        state.messages = *merged;
        const auto after = awaited(chain->runNode(Hook::AfterModel, state, runtime));
        if (!after)
            return failed(after.error().message);
        const bool stopped = !after->state.messages.isSameAs(state.messages)
            && textOf(after->state.messages.last()).contains(u"[TOKEN BUDGET EXCEEDED]") && after->state.messages.last()->toolCalls.empty();
        actions.push_back(stopped ? "hard_stop" : warnsNow(chain, runtime) ? "warn" : "none");
    }
    const auto reason = chain->consumeStopReason(QStringLiteral("r"));
    return verdictOf(mismatch(memberOf(testCase, "expect"),
                              Json{{"turns", actions}, {"stop_reason", reason ? toJson(*reason) : Json()}}));
}

// --- safety ------------------------------------------------------------------------------------------------------------

/// Runs after_model of one member over one message; null: unchanged.
Result<MessagePtr> afterModel(const MiddlewarePtr &member, const Json &message, const RuntimePtr &runtime, const Json &channels = Json::object())
{
    auto parsed = messageFromJson(message);
    if (!parsed)
        return fail(parsed.error());
    AgentState state;
    state.messages.append(makeMessage(std::move(*parsed)));
    state.channels = channels;
    const auto after = awaited((*chainOf({member}))->runNode(Hook::AfterModel, state, runtime));
    if (!after)
        return fail(after.error());
    return after->state.messages.isSameAs(state.messages) ? MessagePtr() : after->state.messages.last();
}

Json finishReasonOf(const Message &message)
{
    const auto reason = optionalString(message.responseMetadata, "finish_reason");
    return reason ? toJson(*reason) : Json();
}

Verdict safety(const Json &testCase)
{
    const Json input = expandParts(memberOf(testCase, "input"));
    const auto detectors = safetyDetectorsFrom(memberOf(memberOf(input, "config"), "detectors"));
    if (!detectors)
        return verdictOf(mismatch(memberOf(testCase, "expect"), Json{{"error", true}}));
    const RuntimePtr runtime = plainRuntime(Json{{"thread_id", "t"}, {"run_id", "r"}});
    const auto after = afterModel(std::make_shared<SafetyFinishReasonMiddleware>(*detectors), memberOf(input, "message"), runtime);
    if (!after)
        return failed(after.error().message);
    if (!*after)
        return verdictOf(mismatch(memberOf(testCase, "expect"), Json{{"changed", false}}));
    const Message &message = **after;
    const Json &mark = memberOf(message.kwargs, "safety_termination");
    return verdictOf(mismatch(memberOf(testCase, "expect"),
                              Json{{"changed", true},
                                   {"calls", message.toolCalls.size()},
                                   {"detector", memberOf(mark, "detector")},
                                   {"reason_field", memberOf(mark, "reason_field")},
                                   {"reason_value", memberOf(mark, "reason_value")},
                                   {"suppressed", memberOf(mark, "suppressed_tool_call_names")},
                                   {"extras", memberOf(mark, "extras")},
                                   {"blank", pythonStrip(textOfContent(message.content)).isEmpty()},
                                   {"finish_reason", finishReasonOf(message)},
                                   {"stop_reason", memberOf(runtime->values, "stop_reason")}}));
}

// --- limits ------------------------------------------------------------------------------------------------------------

Verdict limits(const Json &testCase)
{
    const Json input = expandParts(memberOf(testCase, "input"));
    const DelegationLimits defaults;
    const DelegationLimits chosen = DelegationLimits::within(int(intOf(input, "max_concurrent", defaults.perResponse)),
                                                             int(intOf(input, "max_total", defaults.perRun)),
                                                             int(intOf(input, "max_running", 3)));
    const RuntimePtr runtime = plainRuntime(input.contains("context") ? input["context"] : Json{{"run_id", "r"}});
    const auto after = afterModel(std::make_shared<SubagentLimitMiddleware>(chosen), memberOf(input, "message"), runtime,
                                  Json{{"delegations", memberOf(input, "delegations")}});
    if (!after)
        return failed(after.error().message);
    if (!*after)
        return verdictOf(mismatch(memberOf(testCase, "expect"), Json{{"changed", false}}));
    const Message &message = **after;
    return verdictOf(mismatch(memberOf(testCase, "expect"),
                              Json{{"changed", true},
                                   {"calls", idsOfCalls(message)},
                                   {"raw", idsOfRawCalls(message)},
                                   {"finish_reason", finishReasonOf(message)},
                                   {"note", textOfContent(message.content).contains(u"[SUBAGENT LIMIT REACHED]")},
                                   {"stop_reason", memberOf(runtime->values, "stop_reason")}}));
}

// --- title, clarify, date ----------------------------------------------------------------------------------------------

Verdict title(const Json &testCase)
{
    const Json input = expandParts(memberOf(testCase, "input"));
    const auto messages = messageListOf(memberOf(input, "messages"));
    if (!messages)
        return failed(messages.error().message);
    const Json &config = memberOf(input, "config");
    AgentState state{*messages, Json::object()};
    if (!memberOf(input, "title").is_null())
        state.channels["title"] = memberOf(input, "title");
    TitleOptions options;
    options.maxChars = int(intOf(config, "max_chars", options.maxChars));
    const auto source = boolOf(config, "enabled", true) ? titleSource(state) : std::nullopt;
    return verdictOf(mismatch(memberOf(testCase, "expect"),
                              Json{{"title", source ? toJson(localTitle(*source, options.maxChars)) : Json()}}));
}

Verdict clarify(const Json &testCase)
{
    const Json input = expandParts(memberOf(testCase, "input"));
    const Json &value = memberOf(input, "value");
    if (stringOf(input, "op") == u"clarify.fields")
        return verdictOf(mismatch(memberOf(testCase, "expect"), Json{{"fields", clarificationFields(value)}}));
    Json options = Json::array();
    for (const QString &option : clarificationOptions(value))
        options.push_back(toUtf8(option));
    return verdictOf(mismatch(memberOf(testCase, "expect"), Json{{"options", options}}));
}

Verdict leadDate(const Json &testCase)
{
    const Json &input = memberOf(testCase, "input");
    const auto messages = messageListOf(memberOf(input, "messages"));
    if (!messages)
        return failed(messages.error().message);
    const QDateTime now = QDateTime::fromString(stringOf(input, "now") + u'Z', Qt::ISODate);
    const Clock::Wall wall{std::chrono::milliseconds(now.toMSecsSinceEpoch())};
    const auto replacement = DynamicContextMiddleware::replacement(
        *messages, SubagentDateContextMiddleware::reminder(wall, QStringLiteral("UTC")), pythonStrip(stringOf(input, "memory")));
    Json update;
    for (const MessagePtr &message : replacement) {
        if (update.is_null())
            update = Json::array();
        const auto date = optionalString(message->kwargs, "reminder_date");
        update.push_back(Json{{"role", toUtf8(roleName(message->role))},
                              {"id", toUtf8(message->id)},
                              {"content", message->content},
                              {"name", toUtf8(message->name)},
                              {"kwargs", message->kwargs},
                              {"date", date ? toJson(*date) : Json()}});
    }
    return verdictOf(mismatch(memberOf(testCase, "expect"), Json{{"update", update}}));
}

const Registrar registrars[] = {
    {"budget", budget}, {"safety", safety}, {"limits", limits}, {"title", title}, {"clarify", clarify}, {"date#date.lead", leadDate},
};

} // namespace

} // namespace paddock::cases::lead_cases
