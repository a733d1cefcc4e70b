// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/message/message.h"

#include <chrono>
#include <optional>

namespace paddock {

// What a failed model call means and how long to wait for the next try (middleware-base §10.1 to §10.3, §10.7). Pure
// functions over values; any thread.

/// `llm_call:` as far as one call needs it.
struct LlmRetryOptions {
    int maxAttempts = 3;                               ///< at least 1
    std::chrono::milliseconds baseDelay{1000};         ///< none is negative
    std::chrono::milliseconds capDelay{8000};
    std::chrono::milliseconds burstBaseDelay{5000};
};

/// The facts that an adapter's error carries (§10.1).
struct LlmFailure {
    QString cls;    ///< class name of the error
    QString detail; ///< what it says; the class name when it says nothing
    QString code;   ///< the provider's error code; may be empty
    std::optional<qint64> status;
    Json headers;   ///< of the answer, names in any case

    static LlmFailure of(const Error &error);
};

enum class LlmFailureReason { Quota, Auth, BurstRate, Transient, Busy, Generic };
/// "quota", "auth", "burst_rate", "transient", "busy", "generic".
QString llmFailureReasonName(LlmFailureReason reason);

/// First matching row of §10.2.
LlmFailureReason classifyLlmFailure(const LlmFailure &failure);
bool isRetriable(LlmFailureReason reason);
/// How many tries such an error allows in all; never more than configured.
int attemptBudget(const LlmFailure &failure, LlmFailureReason reason, const LlmRetryOptions &options);

/// What the provider asks to wait; nullopt when no header says it.
std::optional<std::chrono::milliseconds> retryAfter(const Json &headers, Clock::Wall now);

/// From where to where the next wait is drawn, both ends included.
struct RetryWindow {
    std::chrono::milliseconds low{0};
    std::chrono::milliseconds high{0};
};
/// Decorrelated jitter; `previous` is the earlier wait of the same call, whatever it came from.
RetryWindow retryWindow(LlmFailureReason reason, std::optional<std::chrono::milliseconds> previous, const LlmRetryOptions &options);

/// "LLM request retry 1/3: provider is busy. Retrying in 2s."
QString retryText(int attempt, int maxAttempts, std::chrono::milliseconds wait, LlmFailureReason reason);
/// The answer that takes the place of the failed one: no tool calls, marked with deerflow_error_fallback. `failure.detail`
/// must be free of secrets.
MessagePtr fallbackMessage(const LlmFailure &failure, LlmFailureReason reason);
MessagePtr circuitOpenMessage();

} // namespace paddock
