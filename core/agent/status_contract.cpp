// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/agent/status_contract.h"

#include "core/base/text.h"

#include <QRegularExpression>

namespace paddock {

namespace {

constexpr qsizetype maxBrief = 2000;

/// What is said of each status when there is no detail; empty: not a status.
QString defaultText(const QString &status)
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

QString capLabel(const QString &reason)
{
    if (reason == u"token_capped")
        return QStringLiteral("token budget");
    if (reason == u"turn_capped")
        return QStringLiteral("turn budget");
    if (reason == u"loop_capped")
        return QStringLiteral("repeated tool-call loop");
    return {};
}

/// "Task failed." -> "Task failed (capped: turn budget)."
QString withCap(const QString &text, const std::optional<QString> &reason)
{
    const QString label = capLabel(reason.value_or(QString()));
    if (label.isEmpty())
        return text;
    return text.chopped(1) + QStringLiteral(" (capped: %1).").arg(label);
}

bool isCount(const Json &value)
{
    return value.is_number_unsigned() || (value.is_number_integer() && value.get<qint64>() >= 0);
}

Json validUsage(const Json &usage)
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

std::optional<QString> nonBlank(const Json &object, const char *key)
{
    const auto text = optionalString(object, key);
    return text && !pythonStrip(*text).isEmpty() ? text : std::nullopt;
}

} // namespace

Result<ReportText> reportText(const SubagentReport &report)
{
    const QString plain = defaultText(report.status);
    if (plain.isEmpty())
        return fail(ErrorCode::InvalidArgument, QStringLiteral("'%1' is not a subagent status").arg(report.status));
    if (report.status == u"completed")
        return ReportText{withCap(plain, report.stopReason) + QStringLiteral(" Result: ") + report.result.value_or(QString()), std::nullopt};
    const QString given = pythonStrip(report.error.value_or(QString()));
    const QString detail = given.isEmpty() ? plain : given;
    if (report.status == u"polling_timed_out")
        return ReportText{detail, detail};
    // Only failures name their cap: the other endings have a reason of their own.
    const QString head = report.status == u"failed" ? withCap(plain, report.stopReason) : plain;
    return ReportText{detail == plain ? head : head + QStringLiteral(" Error: ") + detail, detail};
}

Result<Json> reportKwargs(const SubagentReport &report)
{
    if (defaultText(report.status).isEmpty())
        return fail(ErrorCode::InvalidArgument, QStringLiteral("'%1' is not a subagent status").arg(report.status));
    if (report.stopReason && capLabel(*report.stopReason).isEmpty())
        return fail(ErrorCode::InvalidArgument, QStringLiteral("'%1' is not a subagent stop reason").arg(*report.stopReason));
    Json kwargs{{"subagent_status", toUtf8(report.status)}};
    if (report.status == u"completed") {
        const QString brief = pythonStrip(report.result.value_or(QString()));
        if (!brief.isEmpty()) {
            kwargs["subagent_result_brief"] = toUtf8(boundText(brief, maxBrief));
            kwargs["subagent_result_sha256"] = toUtf8(sha256Hex(*report.result));
        }
    } else {
        const QString error = pythonStrip(report.error.value_or(QString()));
        if (!error.isEmpty())
            kwargs["subagent_error"] = toUtf8(boundText(error, maxBrief));
    }
    if (report.stopReason)
        kwargs["subagent_stop_reason"] = toUtf8(*report.stopReason);
    const QString model = pythonStrip(report.modelName.value_or(QString()));
    if (!model.isEmpty())
        kwargs["subagent_model_name"] = toUtf8(model);
    if (Json usage = validUsage(report.usage); usage.is_object())
        kwargs["subagent_token_usage"] = std::move(usage);
    return kwargs;
}

Json readReport(const Json &kwargs)
{
    QString status = stringOf(kwargs, "subagent_status");
    const auto brief = nonBlank(kwargs, "subagent_result_brief");
    const auto error = nonBlank(kwargs, "subagent_error");
    QString reason = stringOf(kwargs, "subagent_stop_reason");
    if (capLabel(reason).isEmpty())
        reason.clear();
    if (status == u"max_turns_reached") { // as an older version wrote it
        status = brief ? QStringLiteral("completed") : QStringLiteral("failed");
        if (reason.isEmpty())
            reason = QStringLiteral("turn_capped");
    }
    if (defaultText(status).isEmpty())
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
    if (Json usage = validUsage(memberOf(kwargs, "subagent_token_usage")); usage.is_object())
        out["token_usage"] = std::move(usage);
    return out;
}

} // namespace paddock
