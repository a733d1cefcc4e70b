// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/call_limiter.h"
#include "core/middleware/llm_circuit.h"
#include "core/middleware/llm_failure.h"
#include "core/middleware/middleware.h"

namespace paddock {

/// Failed model calls are tried again or become an answer that a person can read; a broken provider is left alone for a
/// while (middleware-base §10). Nothing but control signals and cancellation leaves it as an error. Waits listen to the
/// call's stop token and hold no place of the limiter. Lives on its chain's loop; circuits and limiter are the process's.
class LlmErrorHandlingMiddleware : public Middleware
{
public:
    struct Options {
        LlmRetryOptions retry;
        LlmCircuitOptions circuit;
        int maxConcurrentCalls = 0; ///< 0: no cap; frozen by the first member of the process

        // What tests and case files put in the place of the real thing; empty: the real thing.
        std::shared_ptr<LlmCircuitTable> circuits;
        std::shared_ptr<CallLimiter> limiter;
        /// False: stop was requested first.
        std::function<Task<bool>(std::chrono::milliseconds, std::stop_token)> sleep;
        /// A whole number of milliseconds from the window, both ends included.
        std::function<std::chrono::milliseconds(RetryWindow)> draw;
    };
    LlmErrorHandlingMiddleware();
    explicit LlmErrorHandlingMiddleware(Options options);

    QString name() const override { return QStringLiteral("LLMErrorHandlingMiddleware"); }
    Hooks hooks() const override { return Hook::WrapModelCall; }
    Task<Result<ModelResponse>> wrapModelCall(ModelCall call, ModelNext next) override;

private:
    std::shared_ptr<const Options> m_options; ///< shared with the calls under way
};

} // namespace paddock
