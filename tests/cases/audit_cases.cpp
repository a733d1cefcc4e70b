// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// Areas audit.* of both case files, meta.* and toolerror.message.
#include "core/middleware/sandbox_audit.h"
#include "core/middleware/tool_error_handling.h"
#include "core/middleware/tool_meta.h"
#include "tests/cases/middleware_support.h"

namespace paddock::cases::audit_cases {

namespace {

Json valueOf(const Json &expect, const Json &actual)
{
    return expect.is_object() && expect.contains("value") ? Json{{"value", actual}} : actual;
}

Verdict classify(const Json &testCase)
{
    const Json input = expandParts(memberOf(testCase, "input"));
    const Json &expect = memberOf(testCase, "expect");
    const auto finding = shell_audit::classify(stringOf(input, "command"));
    if (!finding)
        return failed(finding.error().message);
    return verdictOf(mismatch(expect, valueOf(expect, toJson(shell_audit::verdictName(finding->verdict)))));
}

Verdict split(const Json &testCase)
{
    const Json input = expandParts(memberOf(testCase, "input"));
    const Json &expect = memberOf(testCase, "expect");
    const QStringList parts = shell_audit::split(stringOf(input, "command"), boolOf(input, "split_pipes"));
    return verdictOf(mismatch(expect, valueOf(expect, namesToJson(parts))));
}

QString commandOf(const Json &input)
{
    if (input.contains("repeat_char"))
        return stringOf(input, "repeat_char").repeated(intOf(input, "count"));
    return stringOf(input, "command");
}

Verdict validate(const Json &testCase)
{
    const Json input = expandParts(memberOf(testCase, "input"));
    const auto reason = shell_audit::rejectReason(commandOf(input));
    return verdictOf(mismatch(memberOf(testCase, "expect"), reason ? toJson(*reason) : Json()));
}

Verdict auditInput(const Json &testCase)
{
    const Json input = expandParts(memberOf(testCase, "input"));
    const auto reason = shell_audit::rejectReason(commandOf(input));
    Json actual{{"reject_reason", reason ? toJson(*reason) : Json()}, {"message", Json()}};
    if (reason)
        actual["message"] = toJson(SandboxAuditMiddleware::blockedText(*reason));
    return verdictOf(mismatch(memberOf(testCase, "expect"), actual));
}

struct Audited {
    bool executed = false;
    MessagePtr message;
};

Audited runAudited(const QString &command, const MessagePtr &toolResult)
{
    const auto chain = chainOf({std::make_shared<SandboxAuditMiddleware>()});
    auto executed = std::make_shared<bool>(false);
    const ToolNext core = toolCore([executed, toolResult](ToolCallRequest) -> Result<ToolOutcome> {
        *executed = true;
        return toolResult;
    });
    const ToolCall call{QStringLiteral("bash"), Json{{"command", toUtf8(command)}}, QStringLiteral("c1")};
    const auto outcome = awaited((*chain)->runTool(toolRequest(plainRuntime(), call), core));
    return {*executed, outcome ? std::get<MessagePtr>(*outcome) : nullptr};
}

Verdict messageBase(const Json &testCase)
{
    const Json input = expandParts(memberOf(testCase, "input"));
    auto result = messageFromJson(memberOf(input, "tool_result"));
    if (!result)
        return failed(result.error().message);
    const Audited audited = runAudited(stringOf(input, "command"), makeMessage(std::move(*result)));
    if (!audited.message)
        return failed(QStringLiteral("no message came out"));
    return verdictOf(mismatch(memberOf(testCase, "expect"), messageToJson(*audited.message)));
}

Verdict messageSandbox(const Json &testCase)
{
    const Json input = expandParts(memberOf(testCase, "input"));
    const MessagePtr result = toolMessage(QStringLiteral("c1"), QStringLiteral("bash"), stringOf(input, "tool_result"));
    const Audited audited = runAudited(stringOf(input, "command"), result);
    if (!audited.message)
        return failed(QStringLiteral("no message came out"));
    const Json actual{{"value", toUtf8(textOf(audited.message))},
                      {"executed", audited.executed},
                      {"status", audited.message->status == ToolStatus::Error ? "error" : "success"}};
    return verdictOf(mismatch(memberOf(testCase, "expect"), actual));
}

Verdict metaClassify(const Json &testCase)
{
    const Json input = expandParts(memberOf(testCase, "input"));
    const ToolStatus status = stringOf(input, "status") == u"error" ? ToolStatus::Error : ToolStatus::Success;
    const ToolMeta meta = classifyToolResult(stringOf(input, "content"), status, stringOf(input, "tool"));
    return verdictOf(mismatch(memberOf(testCase, "expect"), meta.toJson()));
}

Verdict metaException(const Json &testCase)
{
    const Json input = expandParts(memberOf(testCase, "input"));
    return verdictOf(mismatch(memberOf(testCase, "expect"),
                              classifyErrorText(stringOf(input, "text"), QStringLiteral("exception")).toJson()));
}

Verdict toolError(const Json &testCase)
{
    const Json input = expandParts(memberOf(testCase, "input"));
    const Json &exception = memberOf(input, "exception");
    const Json &given = memberOf(input, "tool_call");
    const auto chain = chainOf({std::make_shared<ToolErrorHandlingMiddleware>()});
    const ToolNext core = toolCore([exception](ToolCallRequest) -> Result<ToolOutcome> {
        return fail(ErrorCode::Internal, stringOf(exception, "text"),
                    Json{{"exception_class", memberOf(exception, "class")}, {"exception", memberOf(exception, "text")}});
    });
    const ToolCall call{stringOf(given, "name"), Json::object(), stringOf(given, "id")};
    const auto outcome = awaited((*chain)->runTool(toolRequest(plainRuntime(), call), core));
    if (!outcome)
        return failed(outcome.error().message);
    return verdictOf(mismatch(memberOf(testCase, "expect"), messageToJson(*std::get<MessagePtr>(*outcome))));
}

const Registrar r1("audit.classify", classify);
const Registrar r2("audit.split", split);
const Registrar r3("audit.validate", validate);
const Registrar r4("audit.input", auditInput);
const Registrar r5("audit.message", messageBase, "middleware-base");
const Registrar r6("audit.message", messageSandbox, "sandbox");
const Registrar r7("meta.classify", metaClassify);
const Registrar r8("meta.exception", metaException);
const Registrar r9("toolerror.message", toolError);

} // namespace

} // namespace paddock::cases::audit_cases
