// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/base/error.h"

#include <QMetaEnum>

namespace paddock {

QString errorCodeName(ErrorCode code)
{
    switch (code) {
    case ErrorCode::Cancelled: return QStringLiteral("cancelled");
    case ErrorCode::InvalidArgument: return QStringLiteral("invalid_argument");
    case ErrorCode::NotFound: return QStringLiteral("not_found");
    case ErrorCode::AlreadyExists: return QStringLiteral("already_exists");
    case ErrorCode::PermissionDenied: return QStringLiteral("permission_denied");
    case ErrorCode::Unavailable: return QStringLiteral("unavailable");
    case ErrorCode::Timeout: return QStringLiteral("timeout");
    case ErrorCode::ResourceExhausted: return QStringLiteral("resource_exhausted");
    case ErrorCode::FailedPrecondition: return QStringLiteral("failed_precondition");
    case ErrorCode::DataLoss: return QStringLiteral("data_loss");
    case ErrorCode::Unsupported: return QStringLiteral("unsupported");
    case ErrorCode::Protocol: return QStringLiteral("protocol");
    case ErrorCode::Io: return QStringLiteral("io");
    case ErrorCode::Internal: return QStringLiteral("internal");
    }
    return QStringLiteral("internal");
}

QString Error::fullMessage() const
{
    QString text = message;
    for (auto c = cause; c; c = c->cause)
        text += QStringLiteral(": ") + c->message;
    return text;
}

} // namespace paddock
