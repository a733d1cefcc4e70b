// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/agent/status_contract.h"

#include "core/base/text.h"

namespace paddock {

namespace {

constexpr qsizetype maxBrief = 2000;

/// "Task failed." -> "Task failed (capped: turn budget)."
QString withCap(const QString &text, const std::optional<QString> &reason)
{
    const QString label = reportCapLabel(reason.value_or(QString()));
    if (label.isEmpty())
        return text;
    return text.chopped(1) + QStringLiteral(" (capped: %1).").arg(label);
}

} // namespace

Result<ReportText> reportText(const SubagentReport &report)
{
    const QString plain = reportDefault(report.status);
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
    if (reportDefault(report.status).isEmpty())
        return fail(ErrorCode::InvalidArgument, QStringLiteral("'%1' is not a subagent status").arg(report.status));
    if (report.stopReason && reportCapLabel(*report.stopReason).isEmpty())
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
    if (Json usage = reportUsage(report.usage); usage.is_object())
        kwargs["subagent_token_usage"] = std::move(usage);
    return kwargs;
}

} // namespace paddock
