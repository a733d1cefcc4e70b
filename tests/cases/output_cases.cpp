// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// Areas budget.*, elide.superseded and synopsis.*, pii.redact, knowledge.*.
#include "core/config/config.h"
#include "core/middleware/knowledge_scope.h"
#include "core/middleware/knowledge_scope_rules.h"
#include "core/middleware/output_budget.h"
#include "core/middleware/output_synopsis.h"
#include "core/middleware/pii_redactor.h"
#include "core/middleware/superseded_writes.h"
#include "core/middleware/tool_output_budget.h"
#include "core/run/translate.h"
#include "tests/cases/middleware_support.h"

#include <QTemporaryDir>

namespace paddock::cases::output_cases {

namespace {

/// The whole member inside a chain, its configuration read as a file's would be.
Verdict budgetDecide(const Json &testCase)
{
    const Json input = expandParts(memberOf(testCase, "input"));
    const auto section = toolOutputFromJson(memberOf(input, "config"));
    if (!section)
        return failed(section.error().message);
    Config config;
    config.toolOutput = *section;
    const auto chain = chainOf({std::make_shared<ToolOutputBudgetMiddleware>(chainOptions(config, {}, {}, {}).outputBudget)});
    if (!chain)
        return failed(chain.error().message);
    const QTemporaryDir outputs;
    AgentState state;
    if (boolOf(input, "storage_available"))
        state.channels["thread_data"] = Json{{"outputs_path", toUtf8(outputs.path())}};
    Message result;
    result.role = Role::Tool;
    result.name = stringOf(input, "tool");
    result.toolCallId = QStringLiteral("c1");
    result.content = memberOf(input, "content");
    const MessagePtr given = makeMessage(std::move(result));
    const auto outcome = awaited((*chain)->runTool(toolRequest(plainRuntime(), {given->name, Json::object(), given->toolCallId}, state),
                                                   toolCore([given](ToolCallRequest) { return Result<ToolOutcome>(given); })));
    if (!outcome)
        return failed(outcome.error().message);
    const MessagePtr passedOn = std::get<MessagePtr>(*outcome);
    const char *action = passedOn == given                                    ? "unchanged"
        : textOf(passedOn->content).startsWith(QLatin1String("[Full ")) ? "externalized"
                                                                              : "truncated";
    return verdictOf(mismatch(memberOf(testCase, "expect"), Json{{"action", action}}));
}

Verdict budgetFallback(const Json &testCase)
{
    const Json input = expandParts(memberOf(testCase, "input"));
    const QString text = output_budget::fallback(stringOf(input, "content"), stringOf(input, "tool"), intOf(input, "max_chars"),
                                                 intOf(input, "head_chars"), intOf(input, "tail_chars"));
    return verdictOf(mismatch(memberOf(testCase, "expect"), toJson(text)));
}

Verdict budgetFileName(const Json &testCase)
{
    const QString name = output_budget::fileName(stringOf(memberOf(testCase, "input"), "tool"));
    const qsizetype dash = name.lastIndexOf(u'-');
    const qsizetype dot = name.lastIndexOf(u'.');
    return verdictOf(mismatch(memberOf(testCase, "expect"), Json{{"stem", toUtf8(name.first(dash))},
                                                                 {"ext", toUtf8(name.sliced(dot + 1))},
                                                                 {"id_len", dot - dash - 1}}));
}

Verdict budgetSnap(const Json &testCase)
{
    const Json input = expandParts(memberOf(testCase, "input"));
    const auto snap = stringOf(input, "kind") == u"end" ? output_budget::snapEnd : output_budget::snapStart;
    return verdictOf(mismatch(memberOf(testCase, "expect"), Json(snap(stringOf(input, "text"), intOf(input, "pos")))));
}

Verdict elideSuperseded(const Json &testCase)
{
    const Json input = expandParts(memberOf(testCase, "input"));
    const auto messages = messageListOf(memberOf(input, "messages"));
    if (!messages)
        return failed(messages.error().message);
    QStringList ids;
    const MessageList sent =
        elideSupersededWrites(*messages, intOf(input, "min_chars"), int(intOf(input, "keep_recent")), &ids);
    const Json actual{{"elided_call_ids", namesToJson(ids)}, {"messages", messagesToJson(sent)}};
    return verdictOf(strictMismatch(memberOf(testCase, "expect"), actual));
}

Verdict synopsisKind(const Json &testCase)
{
    const Json input = expandParts(memberOf(testCase, "input"));
    const OutputSynopsis synopsis = output_synopsis::of(stringOf(input, "content"), stringOf(input, "tool"));
    const Json actual{{"kind", toUtf8(synopsis.kind)},
                      {"title", toUtf8(synopsis.title)},
                      {"summary", namesToJson(synopsis.summary)},
                      {"structure", namesToJson(synopsis.structure)},
                      {"notable", namesToJson(synopsis.notable)},
                      {"sample", toUtf8(synopsis.sample)}};
    return verdictOf(mismatch(expandParts(memberOf(testCase, "expect")), actual));
}

Verdict synopsisRender(const Json &testCase)
{
    const Json input = expandParts(memberOf(testCase, "input"));
    const QString preview = output_synopsis::preview(stringOf(input, "content"), stringOf(input, "tool"), stringOf(input, "virtual_path"),
                                                     intOf(input, "head_chars"), intOf(input, "tail_chars"));
    return verdictOf(mismatch(memberOf(testCase, "expect"), toJson(preview)));
}

// --- pii.redact ------------------------------------------------------------------------------------------------------

Verdict piiRedact(const Json &testCase)
{
    const Json input = expandParts(memberOf(testCase, "input"));
    PiiOptions options;
    options.tokenSecret = stringOf(input, "token_secret");
    const std::pair<const char *, bool PiiOptions::*> switches[] = {{"email", &PiiOptions::email},
                                                                    {"api_key", &PiiOptions::apiKey},
                                                                    {"credit_card", &PiiOptions::creditCard},
                                                                    {"phone", &PiiOptions::phone},
                                                                    {"national_id", &PiiOptions::nationalId}};
    for (const Json &category : memberOf(input, "disabled")) {
        for (const auto &[name, member] : switches) {
            if (category == name)
                options.*member = false;
        }
    }
    const auto redacted = redactPii(stringOf(input, "text"), options);
    return redacted ? verdictOf(mismatch(memberOf(testCase, "expect"), toJson(redacted->text))) : failed(redacted.error().message);
}

// --- knowledge.* -----------------------------------------------------------------------------------------------------

Verdict knowledgeCanonical(const Json &testCase)
{
    const Json scope = expandParts(memberOf(memberOf(testCase, "input"), "scope"));
    const auto canonical = knowledge_scope::canonical(scope);
    const auto execution = knowledge_scope::execution(scope);
    if (canonical.has_value() != execution.has_value())
        return failed(QStringLiteral("only one of the forms is valid"));
    Json actual{{"valid", canonical.has_value()}};
    if (canonical) {
        actual["canonical"] = *canonical;
        actual["execution"] = *execution;
    }
    return verdictOf(strictMismatch(expandParts(memberOf(testCase, "expect")), actual));
}

RuntimePtr runtimeWithScope(const Json &input)
{
    Json values = Json::object();
    if (const Json &scope = memberOf(input, "context_scope"); !scope.is_null())
        values[knowledge_scope::contextKey] = scope;
    if (const Json &ids = memberOf(input, "pre_existing_ids"); !ids.is_null())
        values[knowledge_scope::earlierIdsKey] = ids;
    return plainRuntime(values);
}

Task<Result<ModelResponse>> answerWithNothing()
{
    co_return ModelResponse{{aiMessage(QString())}, {}};
}

/// One model call and one tool call through the member in a chain.
Verdict knowledgeRequest(const Json &testCase)
{
    const Json input = expandParts(memberOf(testCase, "input"));
    const auto messages = messageListOf(memberOf(input, "messages"));
    const auto chain = chainOf({std::make_shared<KnowledgeScopeMiddleware>()});
    if (!messages || !chain)
        return failed(QStringLiteral("the messages or the chain cannot be made"));
    const RuntimePtr runtime = runtimeWithScope(input);
    ModelCall call;
    call.runtime = runtime;
    call.request.messages = *messages;
    for (const Json &name : memberOf(input, "tools")) {
        ToolSpec tool;
        tool.name = textOf(name);
        call.request.tools.push_back(std::move(tool));
    }
    ModelRequest sent;
    const auto response = awaited((*chain)->runModel(call, [&sent](ModelCall inner) {
        sent = inner.request;
        return answerWithNothing();
    }));
    if (!response)
        return failed(response.error().message);
    Json tools = Json::array();
    for (const ToolSpec &tool : sent.tools)
        tools.push_back(toUtf8(tool.name));
    bool ran = false;
    const QString name = stringOf(input, "tool_call");
    const auto outcome = awaited((*chain)->runTool(toolRequest(runtime, {name, Json::object(), QStringLiteral("c1")}),
                                                   toolCore([&ran, name](ToolCallRequest) {
                                                       ran = true;
                                                       return Result<ToolOutcome>(toolMessage(QStringLiteral("c1"), name, QStringLiteral("ok")));
                                                   })));
    if (!outcome)
        return failed(outcome.error().message);
    Json verdict{{"blocked", !ran}};
    if (!ran) {
        const MessagePtr refusal = std::get<MessagePtr>(*outcome);
        verdict["content"] = refusal->content;
        verdict["status"] = refusal->status == ToolStatus::Error ? "error" : "success";
    }
    const Json actual{{"messages", messagesToJson(sent.messages)}, {"tools", tools}, {"call", verdict}};
    return verdictOf(strictMismatch(memberOf(testCase, "expect"), actual));
}

Verdict knowledgeResolve(const Json &testCase)
{
    const Json input = expandParts(memberOf(testCase, "input"));
    const auto messages = messageListOf(memberOf(input, "messages"));
    if (!messages)
        return failed(messages.error().message);
    const RuntimePtr runtime = runtimeWithScope(input);
    KnowledgeScopeMiddleware member;
    const auto update = awaited(member.beforeAgent({*messages, Json::object()}, runtime));
    const Json &expect = memberOf(testCase, "expect");
    Json actual = Json::object();
    if (update)
        actual["scope"] = memberOf(runtime->values, knowledge_scope::contextKey);
    else // some cases ask only that there is an error
        actual["error"] = memberOf(expect, "error").is_boolean() ? Json(true) : toJson(update.error().message);
    return verdictOf(strictMismatch(expect, actual));
}

const Registrar r1("budget.decide", budgetDecide);
const Registrar r2("budget.fallback", budgetFallback);
const Registrar r3("budget.filename", budgetFileName);
const Registrar r4("budget.snap", budgetSnap);
const Registrar r5("elide.superseded", elideSuperseded);
const Registrar r6("synopsis.kind", synopsisKind);
const Registrar r7("synopsis.render", synopsisRender);
const Registrar r8("pii.redact", piiRedact);
const Registrar r9("knowledge.canonical", knowledgeCanonical);
const Registrar r10("knowledge.request", knowledgeRequest);
const Registrar r11("knowledge.resolve", knowledgeResolve);

} // namespace

} // namespace paddock::cases::output_cases
