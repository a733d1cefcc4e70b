// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/message/subagent_report.h"

#include "core/base/text.h"

#include <QRegularExpression>

namespace paddock {

QString reportDefault(const QString &status)
{
    if (status == u"completed")
        return QStringLiteral("Task Succeeded.");
    if (status == u"failed")
        return QStringLiteral("Task failed.");
    if (status == u"cancelled")
        return QStringLiteral("Task cancelled by user.");
    if (status == u"timed_out")
        return QStringLiteral("Task timed out.");
    if (status == u"polling_timed_out")
        return QStringLiteral("Task polling timed out.");
    return {};
}

QString reportCapLabel(const QString &reason)
{
    if (reason == u"token_capped")
        return QStringLiteral("token budget");
    if (reason == u"turn_capped")
        return QStringLiteral("turn budget");
    if (reason == u"loop_capped")
        return QStringLiteral("repeated tool-call loop");
    return {};
}

namespace {

bool isCount(const Json &value)
{
    return value.is_number_unsigned() || (value.is_number_integer() && value.get<qint64>() >= 0);
}

std::optional<QString> nonBlank(const Json &object, const char *key)
{
    const auto text = optionalString(object, key);
    return text && !pythonStrip(*text).isEmpty() ? text : std::nullopt;
}

} // namespace

Json reportUsage(const Json &usage)
{
    Json out = Json::object();
    for (const char *key : {"input_tokens", "output_tokens", "total_tokens"}) {
        const Json &count = memberOf(usage, key);
        if (!isCount(count))
            return nullptr;
        out[key] = count;
    }
    return out;
}

Json readReport(const Json &kwargs)
{
    QString status = stringOf(kwargs, "subagent_status");
    const auto brief = nonBlank(kwargs, "subagent_result_brief");
    const auto error = nonBlank(kwargs, "subagent_error");
    QString reason = stringOf(kwargs, "subagent_stop_reason");
    if (reportCapLabel(reason).isEmpty())
        reason.clear();
    if (status == u"max_turns_reached") { // as an older version wrote it
        status = brief ? QStringLiteral("completed") : QStringLiteral("failed");
        if (reason.isEmpty())
            reason = QStringLiteral("turn_capped");
    }
    if (reportDefault(status).isEmpty())
        return nullptr;
    Json out{{"status", toUtf8(status)}};
    if (status == u"completed") {
        static const QRegularExpression digest(QStringLiteral("^[0-9a-f]{64}\\z"));
        if (brief)
            out["result_brief"] = toUtf8(*brief);
        const QString hash = stringOf(kwargs, "subagent_result_sha256");
        if (digest.match(hash).hasMatch())
            out["result_sha256"] = toUtf8(hash);
    } else if (error) {
        out["error"] = toUtf8(*error);
    }
    if (!reason.isEmpty())
        out["stop_reason"] = toUtf8(reason);
    if (const auto model = nonBlank(kwargs, "subagent_model_name"))
        out["model_name"] = toUtf8(pythonStrip(*model));
    if (Json usage = reportUsage(memberOf(kwargs, "subagent_token_usage")); usage.is_object())
        out["token_usage"] = std::move(usage);
    return out;
}

} // namespace paddock
