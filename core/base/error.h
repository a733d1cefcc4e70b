// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/json.h"

#include <QString>

#include <expected>
#include <memory>

namespace paddock {

/// Kinds of expected failure. `Cancelled` is not a failure: never log it as one and never retry it.
enum class ErrorCode {
    Cancelled,
    InvalidArgument,
    NotFound,
    AlreadyExists,
    PermissionDenied,
    Unavailable,        ///< the other side is not there (connection refused, not ready)
    Timeout,
    ResourceExhausted,  ///< a limit, a quota, a full queue, a full disk
    FailedPrecondition, ///< the state does not allow it (closed, superseded, version too new)
    DataLoss,           ///< stored or received data is damaged
    Unsupported,
    Protocol,           ///< the other side answered what the protocol does not allow
    Io,
    Internal,
};

QString errorCodeName(ErrorCode code);

/// An expected failure as a value: what happened, to which thing, with the numbers; one sentence a person can act on.
struct Error {
    ErrorCode code = ErrorCode::Internal;
    QString message;
    Json details = Json::object(); ///< machine-readable facts (http status, path, …); never secrets
    std::shared_ptr<const Error> cause;

    bool isCancelled() const { return code == ErrorCode::Cancelled; }
    /// The message followed by its causes, joined by ": ".
    QString fullMessage() const;
};

template<typename T>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> fail(ErrorCode code, QString message, Json details = Json::object())
{
    return std::unexpected(Error{code, std::move(message), std::move(details), nullptr});
}

inline std::unexpected<Error> fail(Error error)
{
    return std::unexpected(std::move(error));
}

inline std::unexpected<Error> cancelled()
{
    return fail(ErrorCode::Cancelled, QStringLiteral("Cancelled"));
}

} // namespace paddock
