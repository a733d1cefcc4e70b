// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/llm_failure.h"

#include "core/base/text.h"

#include <QDateTime>
#include <QRegularExpression>
#include <QTimeZone>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace paddock {

namespace {

using std::chrono::milliseconds;

constexpr QStringView quotaPatterns[] = {u"insufficient_quota", u"quota", u"billing", u"credit", u"payment",
                                         u"余额不足", u"超出限额", u"额度不足", u"欠费"};
constexpr QStringView authPatterns[] = {u"authentication", u"unauthorized", u"invalid api key", u"invalid_api_key", u"permission",
                                        u"forbidden", u"access denied", u"无权", u"未授权"};
constexpr QStringView burstPatterns[] = {u"limit_burst_rate", u"rate increased too quickly", u"burst rate",
                                         u"请求速率增长过快", u"突发速率"};
constexpr QStringView busyPatterns[] = {u"server busy", u"temporarily unavailable", u"try again later", u"please retry",
                                        u"please try again", u"overloaded", u"high demand", u"rate limit", u"负载较高",
                                        u"服务繁忙", u"稍后重试", u"请稍后重试"};
/// The last two are one row: a good answer that holds no generation, as others and as our adapters call it.
constexpr QStringView transientClasses[] = {u"APITimeoutError", u"APIConnectionError", u"InternalServerError", u"ReadError",
                                            u"RemoteProtocolError", u"StreamChunkTimeoutError", u"IndexError",
                                            u"EmptyGenerationError"};
constexpr std::array<qint64, 8> transientStatuses{408, 409, 425, 429, 500, 502, 503, 504};

constexpr QStringView streamDropClass = u"StreamChunkTimeoutError";
/// A large answer that broke once breaks again, and a burst limit is not met by hurrying.
constexpr int shortBudget = 2;
constexpr int jitterSpread = 3;
/// Longer than any wait that is slept; keeps absurd headers within the type.
constexpr double longestHeaderMs = 1e15;

bool holdsAny(const QString &text, std::span<const QStringView> patterns)
{
    return std::ranges::any_of(patterns, [&text](QStringView pattern) { return text.contains(pattern); });
}

/// A code as text; empty for null and for what is no plain value.
QString codeText(const Json &value)
{
    if (value.is_string())
        return textOf(value);
    return value.is_number() || value.is_boolean() ? QString::fromUtf8(dumpJson(value)) : QString();
}

QString providerCode(const Json &details)
{
    const Json &inBody = memberOf(memberOf(details, "body"), "error");
    for (const Json *value : {&memberOf(details, "code"), &memberOf(details, "error_code"), &memberOf(inBody, "code"),
                              &memberOf(inBody, "type")}) {
        const QString code = codeText(*value);
        if (!code.isEmpty())
            return code;
    }
    return {};
}

std::optional<qint64> providerStatus(const Json &details)
{
    const Json &response = memberOf(details, "response");
    for (const auto &[object, key] : {std::pair{&details, "status_code"}, std::pair{&details, "status"},
                                      std::pair{&response, "status_code"}, std::pair{&response, "status"}}) {
        if (memberOf(*object, key).is_number_integer())
            return intOf(*object, key);
    }
    return std::nullopt;
}

QString headerValue(const Json &headers, QStringView name)
{
    if (!headers.is_object())
        return {};
    for (const auto &[key, value] : headers.items()) {
        if (QString::fromStdString(key).compare(name, Qt::CaseInsensitive) == 0)
            return pythonStrip(codeText(value));
    }
    return {};
}

/// The three forms that HTTP allows: IMF-fixdate, RFC 850 and asctime. Times without a zone are UTC.
std::optional<QDateTime> httpDate(const QString &text)
{
    static const QRegularExpression dayFirst(
        QStringLiteral(R"(^(?:[A-Za-z]+,\s*)?(\d{1,2})[\s-]([A-Za-z]{3})[\s-](\d{4}|\d{2})\s+(\d{2}):(\d{2})(?::(\d{2}))?)"
                       R"((?:\s+(?:GMT|UTC|UT|Z|([+-])(\d{2})(\d{2})))?$)"),
        QRegularExpression::CaseInsensitiveOption);
    static const QRegularExpression yearLast(
        QStringLiteral(R"(^[A-Za-z]{3}\s+([A-Za-z]{3})\s+(\d{1,2})\s+(\d{2}):(\d{2}):(\d{2})\s+(\d{4})$)"));
    static const QString months = QStringLiteral("janfebmaraprmayjunjulaugsepoctnovdec");
    const QRegularExpressionMatch one = dayFirst.match(text);
    const QRegularExpressionMatch other = one.hasMatch() ? QRegularExpressionMatch() : yearLast.match(text);
    if (!one.hasMatch() && !other.hasMatch())
        return std::nullopt;
    const auto field = [&](int first, int second) { return one.hasMatch() ? one.captured(first) : other.captured(second); };
    const qsizetype month = months.indexOf(field(2, 1).toLower());
    int year = field(3, 6).toInt();
    if (field(3, 6).size() == 2)
        year += year < 69 ? 2000 : 1900; // as the mail formats read two digits
    const QDate date(year, month % 3 == 0 ? int(month / 3) + 1 : 0, field(1, 2).toInt());
    const QTime time(field(4, 3).toInt(), field(5, 4).toInt(), field(6, 5).toInt());
    if (!date.isValid() || !time.isValid())
        return std::nullopt;
    const int offset = (one.captured(8).toInt() * 60 + one.captured(9).toInt()) * 60;
    return QDateTime(date, time, QTimeZone::UTC).addSecs(one.captured(7) == u"-" ? offset : -offset);
}

QString whatHappened(LlmFailureReason reason)
{
    switch (reason) {
    case LlmFailureReason::Busy: return QStringLiteral("provider is busy");
    case LlmFailureReason::BurstRate: return QStringLiteral("provider is throttling request burst rate");
    default: return QStringLiteral("provider request failed temporarily");
    }
}

QString fallbackText(const LlmFailure &failure, LlmFailureReason reason)
{
    switch (reason) {
    case LlmFailureReason::Quota:
        return QStringLiteral("The configured LLM provider rejected the request because the account is out of quota, billing is "
                              "unavailable, or usage is restricted. Please fix the provider account and try again.");
    case LlmFailureReason::Auth:
        return QStringLiteral("The configured LLM provider rejected the request because authentication or access is invalid. "
                              "Please check the provider credentials and try again.");
    case LlmFailureReason::BurstRate:
        return QStringLiteral("The configured LLM provider is temporarily throttling requests because the request rate increased "
                              "too quickly (burst-rate limit). Please wait a moment and try again.");
    case LlmFailureReason::Busy:
    case LlmFailureReason::Transient:
        if (failure.cls == streamDropClass)
            return QStringLiteral("The model's streaming response was interrupted before it could finish. The usual cause is one "
                                  "very large response or tool call. Please ask for smaller steps or a shorter output.");
        return QStringLiteral("The configured LLM provider is temporarily unavailable after multiple retries. Please wait a "
                              "moment and continue the conversation.");
    case LlmFailureReason::Generic: break;
    }
    return QStringLiteral("LLM request failed: ") + failure.detail;
}

MessagePtr markedAnswer(const QString &text, const QString &type, const QString &reason, const QString &detail)
{
    return edited(aiMessage(text), [&](Message &m) {
        m.kwargs = Json{{"deerflow_error_fallback", true},
                        {"error_type", toUtf8(type)},
                        {"error_reason", toUtf8(reason)},
                        {"error_detail", toUtf8(detail)}};
    });
}

} // namespace

LlmFailure LlmFailure::of(const Error &error)
{
    LlmFailure failure;
    failure.cls = stringOf(error.details, "cls", stringOf(error.details, "exception_class"));
    if (failure.cls.isEmpty())
        failure.cls = errorCodeName(error.code);
    failure.detail = pythonStrip(error.message);
    if (failure.detail.isEmpty())
        failure.detail = pythonStrip(stringOf(error.details, "message"));
    if (failure.detail.isEmpty())
        failure.detail = failure.cls;
    // Not the provider's failure: who reads it must know where to look.
    if (const QString member = stringOf(error.details, "member"); !member.isEmpty() && !failure.detail.startsWith(member))
        failure.detail = QStringLiteral("%1 failed in %2: ").arg(member, stringOf(error.details, "hook")) + failure.detail;
    failure.code = providerCode(error.details);
    failure.status = providerStatus(error.details);
    failure.headers = memberOf(error.details, "headers");
    if (!failure.headers.is_object())
        failure.headers = memberOf(memberOf(error.details, "response"), "headers");
    return failure;
}

QString llmFailureReasonName(LlmFailureReason reason)
{
    switch (reason) {
    case LlmFailureReason::Quota: return QStringLiteral("quota");
    case LlmFailureReason::Auth: return QStringLiteral("auth");
    case LlmFailureReason::BurstRate: return QStringLiteral("burst_rate");
    case LlmFailureReason::Transient: return QStringLiteral("transient");
    case LlmFailureReason::Busy: return QStringLiteral("busy");
    case LlmFailureReason::Generic: break;
    }
    return QStringLiteral("generic");
}

LlmFailureReason classifyLlmFailure(const LlmFailure &failure)
{
    const QString low = failure.detail.toLower();
    const QString code = failure.code.toLower();
    if (holdsAny(low, quotaPatterns) || holdsAny(code, quotaPatterns))
        return LlmFailureReason::Quota;
    if (holdsAny(low, authPatterns))
        return LlmFailureReason::Auth;
    if (holdsAny(low, burstPatterns) || holdsAny(code, burstPatterns))
        return LlmFailureReason::BurstRate;
    if (std::ranges::find(transientClasses, QStringView(failure.cls)) != std::end(transientClasses))
        return LlmFailureReason::Transient;
    if (failure.status && std::ranges::find(transientStatuses, *failure.status) != transientStatuses.end())
        return LlmFailureReason::Transient;
    return holdsAny(low, busyPatterns) ? LlmFailureReason::Busy : LlmFailureReason::Generic;
}

bool isRetriable(LlmFailureReason reason)
{
    return reason == LlmFailureReason::BurstRate || reason == LlmFailureReason::Transient || reason == LlmFailureReason::Busy;
}

int attemptBudget(const LlmFailure &failure, LlmFailureReason reason, const LlmRetryOptions &options)
{
    const bool tight = failure.cls == streamDropClass || reason == LlmFailureReason::BurstRate;
    return tight ? std::min(shortBudget, options.maxAttempts) : options.maxAttempts;
}

std::optional<milliseconds> retryAfter(const Json &headers, Clock::Wall now)
{
    const QString inMs = headerValue(headers, u"retry-after-ms");
    const QString value = inMs.isEmpty() ? headerValue(headers, u"retry-after") : inMs;
    if (value.isEmpty())
        return std::nullopt;
    bool isNumber = false;
    const double number = value.toDouble(&isNumber) * (inMs.isEmpty() ? 1000.0 : 1.0);
    if (isNumber && std::isfinite(number))
        return milliseconds(qint64(std::clamp(number, 0.0, longestHeaderMs)));
    const auto date = httpDate(value);
    if (!date)
        return std::nullopt;
    const milliseconds until(date->toMSecsSinceEpoch());
    return std::max(milliseconds(0), until - std::chrono::floor<milliseconds>(now.time_since_epoch()));
}

RetryWindow retryWindow(LlmFailureReason reason, std::optional<milliseconds> previous, const LlmRetryOptions &options)
{
    const milliseconds base = reason == LlmFailureReason::BurstRate ? options.burstBaseDelay : options.baseDelay;
    const milliseconds high = std::min(options.capDelay, std::max(base, jitterSpread * previous.value_or(base)));
    return high < base ? RetryWindow{options.capDelay, options.capDelay} : RetryWindow{base, high};
}

QString retryText(int attempt, int maxAttempts, milliseconds wait, LlmFailureReason reason)
{
    const auto seconds = std::chrono::round<std::chrono::seconds>(wait); // half goes to the even second
    return QStringLiteral("LLM request retry %1/%2: %3. Retrying in %4s.")
        .arg(attempt)
        .arg(maxAttempts)
        .arg(whatHappened(reason))
        .arg(std::max<qint64>(1, seconds.count()));
}

MessagePtr fallbackMessage(const LlmFailure &failure, LlmFailureReason reason)
{
    return markedAnswer(fallbackText(failure, reason), failure.cls, llmFailureReasonName(reason), failure.detail);
}

MessagePtr circuitOpenMessage()
{
    return markedAnswer(QStringLiteral("The configured LLM provider is currently unavailable due to continuous failures. Circuit "
                                       "breaker is engaged to protect the system. Please wait a moment before trying again."),
                        QStringLiteral("CircuitBreakerOpen"), QStringLiteral("circuit_open"),
                        QStringLiteral("LLM circuit breaker is open"));
}

} // namespace paddock
