// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// Areas sanitize.* and toolsanitize.result.
#include "core/middleware/framing.h"
#include "core/middleware/input_sanitization.h"
#include "core/middleware/tool_result_sanitization.h"
#include "tests/cases/middleware_support.h"

namespace paddock::cases::sanitize_cases {

namespace {

Verdict frame(const Json &testCase)
{
    const auto framed = framing::frame(stringOf(expandParts(memberOf(testCase, "input")), "text"));
    return framed ? verdictOf(mismatch(memberOf(testCase, "expect"), toJson(*framed))) : failed(framed.error().message);
}

Verdict neutralize(const Json &testCase)
{
    const auto clean = framing::neutralize(stringOf(expandParts(memberOf(testCase, "input")), "text"));
    return clean ? verdictOf(mismatch(memberOf(testCase, "expect"), toJson(clean->text))) : failed(clean.error().message);
}

Verdict request(const Json &testCase)
{
    const auto messages = messageListOf(memberOf(expandParts(memberOf(testCase, "input")), "messages"));
    if (!messages)
        return failed(messages.error().message);
    InputSanitizationMiddleware member;
    const auto clean = member.sanitize(*messages);
    if (!clean)
        return failed(clean.error().message);
    return verdictOf(strictMismatch(memberOf(testCase, "expect"), Json{{"messages", messagesToJson(*clean)}}));
}

Verdict toolResult(const Json &testCase)
{
    const Json input = expandParts(memberOf(testCase, "input"));
    const Json &given = memberOf(input, "result");
    const bool isCommand = stringOf(given, "kind") == u"command";
    ToolOutcome outcome;
    if (isCommand) {
        Command command;
        for (const auto &[key, value] : memberOf(given, "update").items()) {
            if (key == "messages")
                command.update.messages = messageListOf(value)->toVector();
            else
                command.update.channels[key] = value;
        }
        outcome = command;
    } else {
        auto message = messageFromJson(memberOf(given, "message"));
        if (!message)
            return failed(message.error().message);
        outcome = makeMessage(std::move(*message));
    }
    if (ToolResultSanitizationMiddleware::covers(stringOf(input, "tool"), boolOf(input, "mcp")))
        outcome = ToolResultSanitizationMiddleware::sanitize(std::move(outcome));
    Json actual;
    if (const auto *message = std::get_if<MessagePtr>(&outcome)) {
        actual = Json{{"kind", "message"}, {"message", messageToJson(**message)}};
    } else {
        Json update = std::get<Command>(outcome).update.channels;
        update["messages"] = messagesToJson(std::get<Command>(outcome).update.messages);
        actual = Json{{"kind", "command"}, {"update", update}};
    }
    return verdictOf(mismatch(memberOf(testCase, "expect"), actual));
}

const Registrar r1("sanitize.frame", frame);
const Registrar r2("sanitize.neutralize", neutralize);
const Registrar r3("sanitize.request", request);
const Registrar r4("toolsanitize.result", toolResult);

} // namespace

} // namespace paddock::cases::sanitize_cases
