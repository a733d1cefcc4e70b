// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/backend/session_capacity.h"

#include <QRegularExpression>

namespace paddock {

namespace {

const QString key()
{
    return QStringLiteral("sandbox.environment.MAX_SHELL_SESSIONS");
}

/// Spaces around, an optional sign, decimal digits. Saturates.
std::optional<qint64> integerOf(const QString &text)
{
    static const QRegularExpression pattern(QStringLiteral("\\A *([+-]?)([0-9]+) *\\z"));
    const auto match = pattern.match(text);
    if (!match.hasMatch())
        return std::nullopt;
    bool ok = false;
    const qint64 value = match.captured(2).toLongLong(&ok);
    const qint64 magnitude = ok ? value : std::numeric_limits<qint64>::max();
    return match.captured(1) == QLatin1String("-") ? -magnitude : magnitude;
}

} // namespace

Result<SessionCapacity> resolveSessionCapacity(int maxRunning, const std::optional<QString> &configured)
{
    SessionCapacity capacity{maxRunning + 1, {}};
    if (!configured) {
        if (capacity.required > imageDefaultShellSessions)
            capacity.configured = capacity.required;
        return capacity;
    }
    const auto value = integerOf(*configured);
    if (!value)
        return fail(ErrorCode::InvalidArgument, QStringLiteral("%1 must be an integer, got '%2'").arg(key(), *configured));
    if (*value < capacity.required)
        return fail(ErrorCode::InvalidArgument,
                    QStringLiteral("%1 must be at least subagent_runtime.max_running + 1 (configured %2, required %3)")
                        .arg(key())
                        .arg(*value)
                        .arg(capacity.required));
    if (*value > maxShellSessionsLimit)
        return fail(ErrorCode::InvalidArgument, QStringLiteral("%1 must be at most %2").arg(key()).arg(maxShellSessionsLimit));
    capacity.configured = int(*value);
    return capacity;
}

QString resolveEnvironmentReference(const QString &value, const QMap<QString, QString> &environment)
{
    return value.startsWith(QLatin1Char('$')) ? environment.value(value.sliced(1)) : value;
}

ReuseDecision decideReuse(const ReuseRequest &request)
{
    const bool known = request.capacityKind != ReuseRequest::Capacity::Unknown;
    const int capacity = request.capacityKind == ReuseRequest::Capacity::Absent ? imageDefaultShellSessions : request.capacity;
    if (known && capacity >= request.required)
        return {};
    if (request.leasedHere || request.ownedByPeer || !request.pastGrace)
        return {ReuseDecision::Action::Defer,
                QStringLiteral("sandbox %1 has an incompatible provisioning policy; replacement is deferred until its current owner releases it")
                    .arg(request.sandbox)};
    return {ReuseDecision::Action::Replace, {}};
}

Result<ProvisionedCapacity> judgeProvisionedCapacity(std::optional<int> sent, int required, int httpStatus, const Json &reply)
{
    const QString detail = stringOf(reply, "detail");
    if (httpStatus == 409 && detail.contains(QLatin1String("capacity"), Qt::CaseInsensitive))
        return ProvisionedCapacity::RequiresReplacement;
    if (httpStatus < 200 || httpStatus > 299)
        return fail(ErrorCode::Unavailable, QStringLiteral("Provisioner create failed: %1")
                                                .arg(detail.isEmpty() ? QStringLiteral("HTTP %1").arg(httpStatus) : detail));
    const Json &reported = memberOf(reply, "max_shell_sessions");
    if (reported.is_null()) {
        if (sent)
            return fail(ErrorCode::FailedPrecondition,
                        QStringLiteral("Provisioner did not report max_shell_sessions; it is older than this gateway and cannot "
                                       "guarantee %1 shell sessions. Upgrade the provisioner together with the Gateway.")
                            .arg(required),
                        Json{{"version_skew", true}});
        return imageDefaultShellSessions >= required ? ProvisionedCapacity::Ok : ProvisionedCapacity::RequiresReplacement;
    }
    if (!reported.is_number_integer())
        return fail(ErrorCode::Protocol, QStringLiteral("Provisioner returned an invalid max_shell_sessions"));
    return intOf(reply, "max_shell_sessions") >= required ? ProvisionedCapacity::Ok : ProvisionedCapacity::RequiresReplacement;
}

} // namespace paddock
