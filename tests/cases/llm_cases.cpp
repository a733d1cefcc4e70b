// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// Areas llm.*
#include "core/middleware/llm_error_handling.h"
#include "tests/cases/middleware_support.h"

#include <deque>

namespace paddock::cases::llm_cases {

namespace {

using std::chrono::milliseconds;

Error errorOf(const Json &given)
{
    return {ErrorCode::Internal, stringOf(given, "msg"), given, nullptr};
}

LlmRetryOptions retryOptions(const Json &config)
{
    LlmRetryOptions options;
    options.maxAttempts = int(intOf(config, "retry_max_attempts", options.maxAttempts));
    options.baseDelay = milliseconds(intOf(config, "retry_base_delay_ms", options.baseDelay.count()));
    options.capDelay = milliseconds(intOf(config, "retry_cap_delay_ms", options.capDelay.count()));
    options.burstBaseDelay = milliseconds(intOf(config, "burst_retry_base_delay_ms", options.burstBaseDelay.count()));
    return options;
}

LlmFailureReason reasonNamed(const QString &name)
{
    for (const LlmFailureReason reason : {LlmFailureReason::Quota, LlmFailureReason::Auth, LlmFailureReason::BurstRate,
                                          LlmFailureReason::Transient, LlmFailureReason::Busy}) {
        if (llmFailureReasonName(reason) == name)
            return reason;
    }
    return LlmFailureReason::Generic;
}

Verdict classify(const Json &testCase)
{
    const LlmFailure failure = LlmFailure::of(errorOf(memberOf(testCase, "input")));
    const LlmFailureReason reason = classifyLlmFailure(failure);
    return verdictOf(mismatch(memberOf(testCase, "expect"), Json{{"retriable", isRetriable(reason)},
                                                                 {"reason", toUtf8(llmFailureReasonName(reason))},
                                                                 {"attempts", attemptBudget(failure, reason, {})}}));
}

Verdict attempts(const Json &testCase)
{
    const Json &input = memberOf(testCase, "input");
    const LlmFailure failure = LlmFailure::of(errorOf(memberOf(input, "error")));
    const int budget = attemptBudget(failure, classifyLlmFailure(failure), retryOptions(memberOf(input, "config")));
    return verdictOf(mismatch(memberOf(testCase, "expect"), Json(budget)));
}

Verdict delay(const Json &testCase)
{
    const Json &input = memberOf(testCase, "input");
    const LlmFailure failure = LlmFailure::of(errorOf(memberOf(input, "error")));
    Json actual;
    if (const auto fixed = retryAfter(failure.headers, Clock::system()->wall())) {
        actual = Json{{"fixed", fixed->count()}};
    } else {
        std::optional<milliseconds> previous;
        if (const auto ms = optionalInt(input, "previous_ms"))
            previous = milliseconds(*ms);
        const RetryWindow window = retryWindow(classifyLlmFailure(failure), previous, retryOptions(memberOf(input, "config")));
        actual = Json{{"low", window.low.count()}, {"high", window.high.count()}};
        if (window.low == window.high) // nothing is left to chance: both ways of saying it are true
            actual["fixed"] = window.low.count();
    }
    return verdictOf(mismatch(memberOf(testCase, "expect"), actual));
}

Verdict retryAfterCase(const Json &testCase)
{
    const Json &input = memberOf(testCase, "input");
    const Clock::Wall now = memberOf(input, "now_epoch").is_number()
        ? Clock::Wall(milliseconds(qint64(doubleOf(input, "now_epoch") * 1000)))
        : Clock::system()->wall();
    const auto wait = retryAfter(memberOf(input, "headers"), now);
    return verdictOf(mismatch(memberOf(testCase, "expect"), wait ? Json(wait->count()) : Json()));
}

Verdict message(const Json &testCase)
{
    const Json &input = memberOf(testCase, "input");
    const Json &expect = memberOf(testCase, "expect");
    if (input.contains("wait_ms"))
        return verdictOf(mismatch(expect, toJson(retryText(int(intOf(input, "attempt")), int(intOf(input, "max_attempts")),
                                                           milliseconds(intOf(input, "wait_ms")), reasonNamed(stringOf(input, "reason"))))));
    if (!input.contains("error")) // the refusal of an open circuit has no error
        return verdictOf(strictMismatch(expect, Json{{"content", circuitOpenMessage()->content},
                                                     {"additional_kwargs", circuitOpenMessage()->kwargs}}));
    const LlmFailure failure = LlmFailure::of(errorOf(memberOf(input, "error")));
    const MessagePtr answer = fallbackMessage(failure, classifyLlmFailure(failure));
    return verdictOf(mismatch(expect, Json{{"content", answer->content}, {"additional_kwargs", answer->kwargs}}));
}

// --- llm.run: the whole member against a scripted provider ------------------------------------------------------------

class SteppedClock : public Clock
{
public:
    std::chrono::microseconds now{std::chrono::seconds(1000)};
    Wall wall() const override { return Wall{now}; }
    std::chrono::microseconds mono() const override { return now; }
};

struct Provider {
    std::deque<Json> outcomes;
    int calls = 0;
};

Task<Result<ModelResponse>> answered(Result<ModelResponse> result)
{
    co_return result;
}

Result<ModelResponse> nextOutcome(Provider &provider)
{
    ++provider.calls;
    if (provider.outcomes.empty())
        return fail(ErrorCode::Internal, QStringLiteral("called more often than the case says"), Json{{"cls", "ScriptEnded"}});
    const Json outcome = provider.outcomes.front();
    provider.outcomes.pop_front();
    if (outcome.is_object())
        return std::unexpected(errorOf(outcome));
    if (outcome == "control")
        return fail(ErrorCode::FailedPrecondition, QStringLiteral("interrupted"), Json{{"control", "interrupt"}});
    return ModelResponse{{aiMessage(QStringLiteral("fine"))}, {}};
}

Task<bool> sleptAtOnce(std::shared_ptr<Json> waits, milliseconds wait)
{
    waits->push_back(wait.count());
    co_return true;
}

QString resultName(const Result<ModelResponse> &result)
{
    if (!result)
        return isControlSignal(result.error()) ? QStringLiteral("control") : result.error().message;
    return stringOf(result->messages.front()->kwargs, "error_reason", QStringLiteral("ok"));
}

Verdict run(const Json &testCase)
{
    const Json &input = memberOf(testCase, "input");
    const auto waits = std::make_shared<Json>(Json::array());
    LlmErrorHandlingMiddleware::Options options;
    options.retry = retryOptions(memberOf(input, "config"));
    const Json &circuit = memberOf(input, "circuit");
    options.circuit.failureThreshold = int(intOf(circuit, "failure_threshold", options.circuit.failureThreshold));
    options.circuit.recoveryTimeout = std::chrono::seconds(intOf(circuit, "recovery_timeout_sec", options.circuit.recoveryTimeout.count()));
    options.circuits = std::make_shared<LlmCircuitTable>();
    options.limiter = std::make_shared<CallLimiter>(1);
    options.draw = [](RetryWindow window) { return window.low; };
    options.sleep = [waits](milliseconds wait, std::stop_token) { return sleptAtOnce(waits, wait); };
    const auto chain = chainOf({std::make_shared<LlmErrorHandlingMiddleware>(options)});
    if (!chain)
        return failed(chain.error().message);
    const RuntimePtr runtime = plainRuntime();
    const auto clock = std::make_shared<SteppedClock>();
    runtime->clock = clock;
    Json actual = Json::array();
    for (const Json &step : memberOf(input, "steps")) {
        if (step.contains("advance_s")) {
            clock->now += milliseconds(qint64(doubleOf(step, "advance_s") * 1000));
            continue;
        }
        *waits = Json::array();
        const auto provider = std::make_shared<Provider>();
        for (const Json &outcome : memberOf(step, "outcomes"))
            provider->outcomes.push_back(outcome);
        ModelCall call;
        call.runtime = runtime;
        const auto result = awaited((*chain)->runModel(call, [provider](ModelCall) { return answered(nextOutcome(*provider)); }));
        actual.push_back({{"result", toUtf8(resultName(result))},
                          {"provider_calls", provider->calls},
                          {"waits_ms", *waits},
                          {"circuit", toUtf8(LlmCircuit::phaseName(options.circuits->of({}, {})->phase()))}});
    }
    return verdictOf(mismatch(memberOf(testCase, "expect"), actual));
}

const Registrar llm1("llm.classify", classify);
const Registrar llm2("llm.attempts", attempts);
const Registrar llm3("llm.delay", delay);
const Registrar llm4("llm.retry_after", retryAfterCase);
const Registrar llm5("llm.message", message);
const Registrar llm6("llm.run", run);

} // namespace

} // namespace paddock::cases::llm_cases
