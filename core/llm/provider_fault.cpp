// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/llm/provider_fault.h"

#include "core/base/text.h"

namespace paddock {

namespace {

struct HttpFace {
    int status;
    const char *cls;
    const char *type;
    const char *message;
    ErrorCode code;
};

/// How the common clients name and word their failures.
const HttpFace faces[] = {
    {400, "BadRequestError", "invalid_request_error", "The request was not valid", ErrorCode::InvalidArgument},
    {401, "AuthenticationError", "authentication_error", "invalid api key", ErrorCode::PermissionDenied},
    {403, "PermissionDeniedError", "permission_error", "The key has no permission for this resource", ErrorCode::PermissionDenied},
    {404, "NotFoundError", "not_found_error", "The model was not found", ErrorCode::NotFound},
    {408, "APITimeoutError", "timeout_error", "Request timed out", ErrorCode::Timeout},
    {409, "ConflictError", "conflict_error", "The request conflicted with another", ErrorCode::FailedPrecondition},
    {413, "RequestTooLargeError", "request_too_large", "Request exceeds the maximum size", ErrorCode::ResourceExhausted},
    {422, "UnprocessableEntityError", "invalid_request_error", "The request could not be processed", ErrorCode::InvalidArgument},
    {429, "RateLimitError", "rate_limit_error", "Number of requests has exceeded your rate limit", ErrorCode::ResourceExhausted},
    {500, "InternalServerError", "api_error", "Internal server error", ErrorCode::Unavailable},
    {502, "InternalServerError", "api_error", "Bad gateway", ErrorCode::Unavailable},
    {503, "InternalServerError", "api_error", "Service unavailable", ErrorCode::Unavailable},
    {504, "InternalServerError", "api_error", "Gateway timeout", ErrorCode::Unavailable},
    {529, "InternalServerError", "overloaded_error", "Overloaded", ErrorCode::Unavailable},
};

HttpFace faceOf(int status)
{
    for (const HttpFace &face : faces) {
        if (face.status == status)
            return face;
    }
    if (status >= 500)
        return {status, "InternalServerError", "api_error", "Server error", ErrorCode::Unavailable};
    return {status, "APIStatusError", "api_error", "The request was refused", ErrorCode::InvalidArgument};
}

Error httpError(const ScenarioFault &fault)
{
    const HttpFace face = faceOf(fault.status);
    const Json body{{"type", "error"}, {"error", {{"type", face.type}, {"message", face.message}}}};
    Json headers{{"content-type", "application/json"}};
    if (fault.retryAfter) {
        const auto ms = fault.retryAfter->count();
        headers["retry-after"] = toUtf8(formatG(double(ms) / 1000.0));
        headers["retry-after-ms"] = std::to_string(ms);
    }
    return {face.code,
            QStringLiteral("Error code: %1 - %2").arg(fault.status).arg(QString::fromUtf8(dumpJson(body))),
            Json{{"cls", face.cls}, {"status", fault.status}, {"code", face.type}, {"body", body}, {"headers", headers}}, nullptr};
}

} // namespace

Error providerError(const ScenarioFault &fault)
{
    using Kind = ScenarioFault::Kind;
    switch (fault.kind) {
    case Kind::Http: return httpError(fault);
    case Kind::Drop:
        return {ErrorCode::Unavailable,
                QStringLiteral("peer closed connection without sending complete message body (incomplete chunked read)"),
                Json{{"cls", "RemoteProtocolError"}}, nullptr};
    case Kind::Reset:
        return {ErrorCode::Unavailable, QStringLiteral("Connection reset by peer"), Json{{"cls", "ReadError"}}, nullptr};
    case Kind::Malformed:
        return {ErrorCode::Protocol, QStringLiteral("the model's answer is not valid JSON: unexpected end of input at byte 57"),
                Json{{"cls", "JSONDecodeError"}, {"status", 200}, {"body", "{\"id\":\"msg_scripted\",\"type\":\"message\",\"content\":[{\"te"}},
                nullptr};
    case Kind::Hang: break;
    }
    return {ErrorCode::Cancelled, QStringLiteral("Cancelled"), Json::object(), nullptr};
}

} // namespace paddock
