// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/error.h"
#include "core/wire/field_reader.h"

#include <concepts>

namespace paddock::wire {

/// The reply envelope (aio-api.md §1.3). `hint` absent on old servers is null.
struct Envelope {
    bool success = true;
    std::optional<QString> message = QStringLiteral("Operation successful"); ///< an explicit null stays null
    Json data = nullptr;
    std::optional<QString> hint;

    Json write() const;
};
Envelope succeeded(Json data, const QString &message = QStringLiteral("Operation successful"));
Envelope refused(const QString &message, Json data = nullptr);

inline const QString &sessionNotFoundText()
{
    static const QString text = QStringLiteral("Session not found");
    return text;
}

// ---- Server side --------------------------------------------------------------------------------------------------

/// {"detail":[{"loc","msg","type"}…]}: always the list form (§1.4).
Json validationBody(const QList<ValidationIssue> &issues);
/// Parses a request body: empty means {} (§1.2). The error is the issue list of a 422 reply.
std::expected<Json, QList<ValidationIssue>> parseRequestBody(const QByteArray &body);

template<typename T>
std::expected<T, QList<ValidationIssue>> decodeRequest(const Json &body)
{
    FieldReader reader(body, Json::array({"body"}));
    T value = T::read(reader);
    if (!reader.ok())
        return std::unexpected(reader.issues());
    return value;
}

// ---- Client side: the decoding order of §1.3 -----------------------------------------------------------------------

enum class FailureKind {
    Transport, ///< step 1: the request got no whole reply
    Api,       ///< steps 2 and 3: a status outside 2xx, or a 2xx body that is no JSON
    Operation, ///< step 4: success is false
    Decode,    ///< step 5: the data does not have the promised shape
};
enum class TransportKind { Connect, Timeout, Reset, Protocol, TooLarge, Cancelled };

QString failureKindName(FailureKind kind);     ///< "TransportError", "ApiError", "OperationError", "DecodeError"
QString transportKindName(TransportKind kind); ///< "connect", "timeout", "reset", "protocol" (also too large), "cancelled"

using Headers = QList<std::pair<QByteArray, QByteArray>>;

/// A raw reply as the transport got it.
struct RawReply {
    int status = 0;
    Headers headers;
    QByteArray body;
};

struct Failure {
    FailureKind kind = FailureKind::Transport;
    TransportKind transport = TransportKind::Protocol; ///< Transport only
    int status = 0;                                    ///< HTTP status; 0 for Transport
    Headers headers;
    bool bodyIsJson = false;
    Json body;        ///< Api: the parsed body
    QByteArray text;  ///< Api: the raw body when it is no JSON
    QString message;  ///< Operation: the server's; Transport and Decode: ours
    Json data;        ///< Operation: the server's data
    QString field;    ///< Decode: e.g. "data.command"; "$" for the whole body

    /// A request that was refused before it could have had any effect: connection refused.
    bool definitelyNotExecuted() const { return kind == FailureKind::Transport && transport == TransportKind::Connect; }
    /// 404 with a JSON object whose message contains "session not found" in any case (§1.4).
    bool isLostSession() const;
    /// The entries of a 422 body; empty when it is not the list form.
    QList<ValidationIssue> validation() const;
    /// One sentence, and the facts in `details` (kind, status, field, error_type, …).
    Error toError() const;
};
Failure transportFailure(TransportKind kind, const QString &message);

template<typename T>
using Decoded = std::expected<T, Failure>;

/// Steps 2 and 3: the body as a JSON object. A valid JSON value that is no object is a Decode failure of field "$".
Decoded<Json> decodeBody(const RawReply &reply);
/// Steps 2 to 4.
Decoded<Envelope> decodeEnvelope(const RawReply &reply);

Failure decodeFailure(const RawReply &reply, const ValidationIssue &issue);

/// Steps 2 to 6 for a reply whose `data` is an object read by T::read.
template<typename T>
Decoded<T> decodeData(const RawReply &reply)
{
    Decoded<Envelope> envelope = decodeEnvelope(reply);
    if (!envelope)
        return std::unexpected(std::move(envelope.error()));
    FieldReader reader(envelope->data, Json::array({"data"}));
    T value = T::read(reader);
    if (!reader.ok())
        return std::unexpected(decodeFailure(reply, reader.issues().first()));
    return value;
}
/// The same for a reply whose `data` is a list (§3.4 sessions).
template<typename T>
Decoded<QList<T>> decodeDataList(const RawReply &reply)
{
    Decoded<Envelope> envelope = decodeEnvelope(reply);
    if (!envelope)
        return std::unexpected(std::move(envelope.error()));
    const Json holder{{"data", envelope->data}};
    FieldReader reader(holder, Json::array());
    QList<T> value = reader.list<T>("data", true);
    if (!reader.ok())
        return std::unexpected(decodeFailure(reply, reader.issues().first()));
    return value;
}
/// The same for a reply whose `data` is a string (§2.11).
Decoded<QString> decodeDataString(const RawReply &reply);


} // namespace paddock::wire
