// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/llm_error_handling.h"

#include "core/base/async.h"
#include "core/middleware/scrub.h"

#include <QRandomGenerator>

namespace paddock {

namespace {

using std::chrono::milliseconds;
using LlmOptionsPtr = std::shared_ptr<const LlmErrorHandlingMiddleware::Options>;

/// A provider that wants more than this is not waited for: the person hears of it now.
constexpr milliseconds longestRetryWait{120'000};

milliseconds drawnAtRandom(RetryWindow window)
{
    const qint64 spread = (window.high - window.low).count();
    return window.low + milliseconds(QRandomGenerator::global()->bounded(spread + 1));
}

/// What is to be done about one failed attempt; decided once, since the wait is drawn.
struct LlmVerdict {
    LlmFailure failure;
    LlmFailureReason reason = LlmFailureReason::Generic;
    int budget = 1;
    std::optional<milliseconds> wait; ///< nullopt: given up
};

/// How far one call has come.
struct LlmProgress {
    int attempt = 1;
    std::optional<milliseconds> previousWait;
};

LlmVerdict verdictOn(const Error &error, const LlmErrorHandlingMiddleware::Options &options, const LlmProgress &progress,
                     const RuntimeContext &runtime)
{
    LlmVerdict verdict;
    verdict.failure = LlmFailure::of(error);
    verdict.reason = classifyLlmFailure(verdict.failure);
    verdict.budget = attemptBudget(verdict.failure, verdict.reason, options.retry);
    if (!isRetriable(verdict.reason) || progress.attempt >= verdict.budget)
        return verdict;
    auto wait = retryAfter(verdict.failure.headers, runtime.clock->wall());
    if (!wait)
        wait = options.draw(retryWindow(verdict.reason, progress.previousWait, options.retry));
    if (*wait <= longestRetryWait)
        verdict.wait = wait;
    return verdict;
}

void logLlm(const RuntimeContext &runtime, const QString &level, const QString &text)
{
    runtime.events.emitEvent(LogRecorded{level, text, false});
}

void tellCircuit(const RuntimeContext &runtime, const ModelRequest &request, LlmCircuit::Phase phase)
{
    logLlm(runtime, QStringLiteral("warning"),
           QStringLiteral("llm_circuit: %1 of %2 is now %3").arg(request.model, request.provider, LlmCircuit::phaseName(phase)));
}

using SharedVerdict = std::shared_ptr<std::optional<LlmVerdict>>;

/// One attempt under one permit. The core asks `retryIn` before it reports the failure, so that the event can say whether
/// there will be another try; an inner member's own failure is judged by the caller.
Task<Result<ModelResponse>> attemptOnce(LlmOptionsPtr options, LlmProgress progress, SharedVerdict verdict, ModelCall call, ModelNext next)
{
    const CallLimiter::Permit permit = co_await options->limiter->take(call.stop);
    if (!permit)
        co_return cancelled();
    const RuntimePtr runtime = call.runtime;
    call.retryIn = [options, progress, verdict, runtime](const Error &error) -> std::optional<milliseconds> {
        if (isControlSignal(error))
            return std::nullopt;
        *verdict = verdictOn(error, *options, progress, *runtime);
        return (*verdict)->wait;
    };
    co_return co_await next(std::move(call));
}

ModelResponse answeredWith(MessagePtr message)
{
    return {{std::move(message)}, {}};
}

Task<Result<ModelResponse>> attempts(LlmOptionsPtr options, ModelCall call, ModelNext next, std::shared_ptr<LlmCircuit::Ticket> ticket)
{
    const RuntimePtr runtime = call.runtime;
    LlmProgress progress;
    while (true) {
        const auto shared = std::make_shared<std::optional<LlmVerdict>>();
        Result<ModelResponse> result = co_await attemptOnce(options, progress, shared, call, next);
        if (result) {
            if (ticket->succeed())
                tellCircuit(*runtime, call.request, LlmCircuit::Phase::Closed);
            co_return result;
        }
        if (isControlSignal(result.error()))
            co_return result; // the ticket goes back without a verdict
        LlmVerdict verdict = *shared ? std::move(**shared) : verdictOn(result.error(), *options, progress, *runtime);
        if (!verdict.wait) {
            const bool counts = isRetriable(verdict.reason) && verdict.reason != LlmFailureReason::BurstRate;
            if (counts && ticket->fail(runtime->clock->mono(), options->circuit))
                tellCircuit(*runtime, call.request, LlmCircuit::Phase::Open);
            verdict.failure.detail = scrubSecrets(verdict.failure.detail, runtime.get());
            co_return answeredWith(fallbackMessage(verdict.failure, verdict.reason));
        }
        logLlm(*runtime, QStringLiteral("info"), retryText(progress.attempt, verdict.budget, *verdict.wait, verdict.reason));
        if (!co_await options->sleep(*verdict.wait, call.stop))
            co_return cancelled();
        progress = {progress.attempt + 1, verdict.wait};
    }
}

Task<Result<ModelResponse>> guardedCall(LlmOptionsPtr options, ModelCall call, ModelNext next)
{
    const auto circuit = options->circuits->of(call.request.provider, call.request.model);
    const bool wasOpen = circuit->phase() == LlmCircuit::Phase::Open;
    auto admitted = circuit->admit(call.runtime->clock->mono());
    if (!admitted)
        co_return answeredWith(circuitOpenMessage());
    if (wasOpen)
        tellCircuit(*call.runtime, call.request, LlmCircuit::Phase::HalfOpen);
    auto ticket = std::make_shared<LlmCircuit::Ticket>(std::move(*admitted));
    co_return co_await attempts(options, std::move(call), std::move(next), std::move(ticket));
}

LlmErrorHandlingMiddleware::Options completed(LlmErrorHandlingMiddleware::Options options)
{
    if (!options.circuits)
        options.circuits = LlmCircuitTable::process();
    if (!options.limiter)
        options.limiter = CallLimiter::process(options.maxConcurrentCalls);
    if (!options.sleep)
        options.sleep = [](milliseconds wait, std::stop_token stop) { return sleepFor(wait, std::move(stop)); };
    if (!options.draw)
        options.draw = drawnAtRandom;
    return options;
}

} // namespace

LlmErrorHandlingMiddleware::LlmErrorHandlingMiddleware() : LlmErrorHandlingMiddleware(Options{}) {}

LlmErrorHandlingMiddleware::LlmErrorHandlingMiddleware(Options options)
    : m_options(std::make_shared<const Options>(completed(std::move(options))))
{
}

Task<Result<ModelResponse>> LlmErrorHandlingMiddleware::wrapModelCall(ModelCall call, ModelNext next)
{
    return guardedCall(m_options, std::move(call), std::move(next));
}

} // namespace paddock
