// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/wire/envelope.h"

namespace paddock::wire {

namespace {
constexpr int maxJsonDepth = 64;        // §4.12
constexpr qsizetype shownBodyChars = 300; // of a foreign body in a message
} // namespace

Json Envelope::write() const
{
    return Json{{"success", success}, {"message", orNull(message)}, {"data", data}, {"hint", orNull(hint)}};
}

Envelope succeeded(Json data, const QString &message)
{
    Envelope envelope;
    envelope.message = message;
    envelope.data = std::move(data);
    return envelope;
}

Envelope refused(const QString &message, Json data)
{
    Envelope envelope = succeeded(std::move(data), message);
    envelope.success = false;
    return envelope;
}

Json validationBody(const QList<ValidationIssue> &issues)
{
    Json list = Json::array();
    for (const ValidationIssue &issue : issues)
        list.push_back({{"loc", issue.loc}, {"msg", paddock::toJson(issue.message)}, {"type", paddock::toJson(issue.type)}});
    return Json{{"detail", std::move(list)}};
}

std::expected<Json, QList<ValidationIssue>> parseRequestBody(const QByteArray &body)
{
    if (body.isEmpty())
        return Json::object();
    auto parsed = parseJson(body, maxJsonDepth);
    if (!parsed) {
        const Json loc = Json::array({"body", intOf(parsed.error().details, "offset")});
        return std::unexpected(QList<ValidationIssue>{
            {loc, QStringLiteral("JSON decode error"), QStringLiteral("value_error.jsondecode")}});
    }
    return std::move(*parsed);
}

QString failureKindName(FailureKind kind)
{
    switch (kind) {
    case FailureKind::Transport: return QStringLiteral("TransportError");
    case FailureKind::Api: return QStringLiteral("ApiError");
    case FailureKind::Operation: return QStringLiteral("OperationError");
    case FailureKind::Decode: return QStringLiteral("DecodeError");
    }
    return {};
}

QString transportKindName(TransportKind kind)
{
    switch (kind) {
    case TransportKind::Connect: return QStringLiteral("connect");
    case TransportKind::Timeout: return QStringLiteral("timeout");
    case TransportKind::Reset: return QStringLiteral("reset");
    case TransportKind::Protocol:
    case TransportKind::TooLarge: return QStringLiteral("protocol");
    case TransportKind::Cancelled: return QStringLiteral("cancelled");
    }
    return {};
}

bool Failure::isLostSession() const
{
    return kind == FailureKind::Api && status == 404 && bodyIsJson && body.is_object()
        && stringOf(body, "message").contains(sessionNotFoundText(), Qt::CaseInsensitive);
}

QList<ValidationIssue> Failure::validation() const
{
    QList<ValidationIssue> out;
    const Json &detail = memberOf(body, "detail");
    if (status != 422 || !detail.is_array())
        return out;
    for (const Json &entry : detail) {
        if (entry.is_object())
            out.append({memberOf(entry, "loc"), stringOf(entry, "msg"), stringOf(entry, "type")});
    }
    return out;
}

namespace {

QString apiMessage(const Failure &failure)
{
    QString text = stringOf(failure.body, "message");
    if (text.isEmpty())
        text = stringOf(failure.body, "detail");
    const auto issues = failure.validation();
    if (text.isEmpty() && !issues.isEmpty())
        text = issues.first().path() + QStringLiteral(": ") + issues.first().message;
    if (text.isEmpty())
        text = QString::fromUtf8(failure.text.left(shownBodyChars)).simplified();
    if (failure.status >= 200 && failure.status < 300)
        return QStringLiteral("The sandbox answered %1 with a body that is not JSON: %2").arg(failure.status).arg(text);
    return QStringLiteral("The sandbox answered HTTP %1: %2").arg(failure.status).arg(text);
}

ErrorCode apiCode(int status)
{
    switch (status) {
    case 400: case 422: return ErrorCode::InvalidArgument;
    case 401: case 403: return ErrorCode::PermissionDenied;
    case 404: return ErrorCode::NotFound;
    case 409: return ErrorCode::FailedPrecondition;
    case 413: case 429: return ErrorCode::ResourceExhausted;
    case 405: case 501: return ErrorCode::Unsupported;
    case 502: case 503: case 504: return ErrorCode::Unavailable;
    default: return ErrorCode::Protocol;
    }
}

ErrorCode operationCode(const QString &errorType)
{
    if (errorType == QLatin1String("not_found"))
        return ErrorCode::NotFound;
    if (errorType == QLatin1String("permission_denied") || errorType == QLatin1String("read_only_filesystem"))
        return ErrorCode::PermissionDenied;
    if (errorType == QLatin1String("already_exists"))
        return ErrorCode::AlreadyExists;
    if (errorType == QLatin1String("no_space_left"))
        return ErrorCode::ResourceExhausted;
    if (errorType == QLatin1String("invalid_target") || errorType == QLatin1String("invalid_path"))
        return ErrorCode::InvalidArgument;
    if (errorType == QLatin1String("decode_error"))
        return ErrorCode::DataLoss;
    return ErrorCode::Io;
}

ErrorCode transportCode(TransportKind kind)
{
    switch (kind) {
    case TransportKind::Connect: return ErrorCode::Unavailable;
    case TransportKind::Timeout: return ErrorCode::Timeout;
    case TransportKind::TooLarge: return ErrorCode::ResourceExhausted;
    case TransportKind::Cancelled: return ErrorCode::Cancelled;
    case TransportKind::Reset:
    case TransportKind::Protocol: break;
    }
    return ErrorCode::Protocol;
}

} // namespace

Error Failure::toError() const
{
    Error error;
    error.details["kind"] = paddock::toJson(failureKindName(kind));
    if (status)
        error.details["status"] = status;
    switch (kind) {
    case FailureKind::Transport:
        error.code = transportCode(transport);
        error.message = message;
        error.details["transport"] = paddock::toJson(transportKindName(transport));
        break;
    case FailureKind::Api:
        error.code = apiCode(status);
        error.message = apiMessage(*this);
        if (isLostSession())
            error.details["lost_session"] = true;
        break;
    case FailureKind::Operation:
        error.code = operationCode(stringOf(data, "error_type"));
        error.message = message;
        for (const char *key : {"error_type", "errno", "errno_name", "retryable", "path", "operation", "file_kind"}) {
            if (!memberOf(data, key).is_null())
                error.details[key] = memberOf(data, key);
        }
        break;
    case FailureKind::Decode:
        error.code = ErrorCode::Protocol;
        error.message = message;
        error.details["field"] = paddock::toJson(field);
        break;
    }
    return error;
}

Failure transportFailure(TransportKind kind, const QString &message)
{
    Failure failure;
    failure.kind = FailureKind::Transport;
    failure.transport = kind;
    failure.message = message;
    return failure;
}

Failure decodeFailure(const RawReply &reply, const ValidationIssue &issue)
{
    Failure failure;
    failure.kind = FailureKind::Decode;
    failure.status = reply.status;
    failure.headers = reply.headers;
    failure.field = issue.path().isEmpty() ? QStringLiteral("$") : issue.path();
    failure.message = QStringLiteral("The sandbox's reply has a wrong field %1: %2").arg(failure.field, issue.message);
    return failure;
}

Decoded<Json> decodeBody(const RawReply &reply)
{
    QByteArray body = reply.body;
    if (body.startsWith("\xef\xbb\xbf"))
        body.remove(0, 3);
    auto parsed = parseJson(body, maxJsonDepth);
    const bool good = reply.status >= 200 && reply.status < 300;
    if (!good || !parsed) {
        Failure failure;
        failure.kind = FailureKind::Api;
        failure.status = reply.status;
        failure.headers = reply.headers;
        failure.bodyIsJson = parsed.has_value();
        if (parsed)
            failure.body = std::move(*parsed);
        else
            failure.text = reply.body;
        return std::unexpected(std::move(failure));
    }
    if (!parsed->is_object())
        return std::unexpected(decodeFailure(reply, {Json::array(), QStringLiteral("the body is not an object"), {}}));
    return std::move(*parsed);
}

Decoded<Envelope> decodeEnvelope(const RawReply &reply)
{
    Decoded<Json> body = decodeBody(reply);
    if (!body)
        return std::unexpected(std::move(body.error()));
    Envelope envelope;
    envelope.success = boolOf(*body, "success", true);
    if (body->contains("message"))
        envelope.message = optionalString(*body, "message");
    envelope.hint = optionalString(*body, "hint");
    if (const auto data = body->find("data"); data != body->end())
        envelope.data = std::move(*data);
    if (envelope.success)
        return envelope;
    Failure failure;
    failure.kind = FailureKind::Operation;
    failure.status = reply.status;
    failure.headers = reply.headers;
    failure.message = envelope.message.value_or(QString());
    failure.data = std::move(envelope.data);
    return std::unexpected(std::move(failure));
}

Decoded<QString> decodeDataString(const RawReply &reply)
{
    Decoded<Envelope> envelope = decodeEnvelope(reply);
    if (!envelope)
        return std::unexpected(std::move(envelope.error()));
    if (!envelope->data.is_string())
        return std::unexpected(decodeFailure(reply, {Json::array({"data"}), QStringLiteral("str type expected"), {}}));
    return textOf(envelope->data);
}

} // namespace paddock::wire
