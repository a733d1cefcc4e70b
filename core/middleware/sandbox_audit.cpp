// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/sandbox_audit.h"

#include "core/base/text.h"
#include "core/middleware/message_edits.h"
#include "core/middleware/scrub.h"

namespace paddock {

namespace {

constexpr qsizetype maxRejectedChars = 200;

struct Judgement {
    AuditVerdict verdict = AuditVerdict::Pass;
    QString rule;
    QString reason; ///< of a block
};

QString violation()
{
    return QStringLiteral("security violation detected");
}

Judgement judge(const QString &command)
{
    try {
        if (const auto rejected = shell_audit::rejectReason(command))
            return {AuditVerdict::Block, QStringLiteral("input"), *rejected};
        const Result<AuditFinding> finding = shell_audit::classify(command);
        if (!finding)
            return {AuditVerdict::Block, QStringLiteral("internal"), violation()};
        return {finding->verdict, finding->rule,
                finding->verdict == AuditVerdict::Block ? violation() : QString()};
    } catch (...) {
        return {AuditVerdict::Block, QStringLiteral("internal"), violation()};
    }
}

void record(const ToolCallContext &context, const QString &command, const Judgement &judgement)
{
    AuditRecorded event;
    event.call = context.call.id;
    event.command = command;
    if (judgement.rule == u"input") {
        const qsizetype chars = codePointCount(command);
        if (chars > maxRejectedChars)
            event.command = firstCodePoints(command, maxRejectedChars) + QStringLiteral("... (%1 chars)").arg(chars);
    }
    event.command = scrubSecrets(event.command, context.runtime.get());
    event.verdict = shell_audit::verdictName(judgement.verdict);
    event.rule = judgement.rule;
    event.reason = judgement.reason;
    context.runtime->events.emitEvent(std::move(event));
}

} // namespace

QString SandboxAuditMiddleware::blockedText(const QString &reason)
{
    return QStringLiteral("Command blocked: %1. Please use a safer alternative approach.").arg(reason);
}

QString SandboxAuditMiddleware::warningText(const QString &command)
{
    return QStringLiteral("\n\n\u26a0\ufe0f Warning: `%1` is a medium-risk command that may modify the runtime environment.")
        .arg(command);
}

ToolOutcome SandboxAuditMiddleware::withWarning(ToolOutcome outcome, const QString &command)
{
    const auto *message = std::get_if<MessagePtr>(&outcome);
    if (message == nullptr)
        return outcome;
    return edited(*message, [&command](Message &m) {
        if (m.content.is_array())
            m.content.push_back(Json{{"type", "text"}, {"text", toUtf8(warningText(command))}});
        else
            m.content = toJson(textOf(m.content) + warningText(command));
        appendTransform(m.kwargs, QStringLiteral("medium_risk_warning"), QStringLiteral("SandboxAuditMiddleware"));
    });
}

Task<Result<ToolOutcome>> SandboxAuditMiddleware::wrapToolCall(ToolCallRequest request, ToolNext next)
{
    if (request.context.call.name != u"bash")
        co_return co_await next(std::move(request));
    const QString command = stringOf(request.context.call.args, "command");
    Judgement judgement = judge(command);
    if (m_mode == Mode::WarnOnly && judgement.verdict == AuditVerdict::Block && judgement.rule != u"input")
        judgement.verdict = AuditVerdict::Warn;
    record(request.context, command, judgement);
    if (judgement.verdict == AuditVerdict::Block)
        co_return toolMessage(request.context.call.id, QStringLiteral("bash"), blockedText(judgement.reason), ToolStatus::Error);
    const bool warn = judgement.verdict == AuditVerdict::Warn;
    Result<ToolOutcome> outcome = co_await next(std::move(request));
    if (!outcome || !warn)
        co_return outcome;
    co_return withWarning(std::move(*outcome), command);
}

} // namespace paddock
