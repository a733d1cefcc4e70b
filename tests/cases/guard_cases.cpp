// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// Areas progress.*, receipt.*, guardrail.*, rbac.*
#include "core/middleware/guardrail.h"
#include "core/middleware/guardrail_policies.h"
#include "core/middleware/receipt_ledger.h"
#include "core/middleware/tool_progress.h"
#include "tests/cases/middleware_support.h"

namespace paddock::cases::guard_cases {

namespace {

// --- progress.* --------------------------------------------------------------------------------------------------------

Verdict similarity(const Json &testCase)
{
    const Json input = expandParts(memberOf(testCase, "input"));
    const WordSet current = progressWords(stringOf(input, "current"));
    const WordSet previous = progressWords(stringOf(input, "previous"));
    return verdictOf(mismatch(memberOf(testCase, "expect"),
                              Json{{"words_current", current.size()},
                                   {"words_previous", previous.size()},
                                   {"duplicate", isNearDuplicate(current, previous, doubleOf(input, "threshold", 0.8),
                                                                 int(intOf(input, "min_words", 10)))}}));
}

Verdict hint(const Json &testCase)
{
    const Json &input = memberOf(testCase, "input");
    ToolMeta meta;
    meta.status = stringOf(input, "status");
    meta.errorType = stringOf(input, "error_type");
    meta.action = stringOf(input, "action");
    return verdictOf(mismatch(memberOf(testCase, "expect"), toJson(progressHint(meta))));
}

Verdict blockReason(const Json &testCase)
{
    return verdictOf(mismatch(memberOf(testCase, "expect"), toJson(progressBlockReason(stringOf(memberOf(testCase, "input"), "error_type")))));
}

ProgressOptions progressOptions(const Json &config)
{
    ProgressOptions options;
    options.stagnationThreshold = int(intOf(config, "stagnation_threshold", options.stagnationThreshold));
    options.warnEscalationCount = int(intOf(config, "warn_escalation_count", options.warnEscalationCount));
    options.injectAssessment = boolOf(config, "inject_assessment", options.injectAssessment);
    options.similarityThreshold = doubleOf(config, "jaccard_similarity_threshold", options.similarityThreshold);
    options.minWordsForSimilarity = int(intOf(config, "min_word_count_for_similarity", options.minWordsForSimilarity));
    options.maxTrackedThreads = int(intOf(config, "max_tracked_threads", options.maxTrackedThreads));
    if (const Json &exempt = memberOf(config, "exempt_tools"); exempt.is_array()) {
        options.exemptTools.clear();
        for (const Json &tool : exempt)
            options.exemptTools.insert(textOf(tool));
    }
    return options;
}

/// One chain with the member alone, driven step by step.
struct ProgressDrive {
    std::shared_ptr<ToolProgressMiddleware> member;
    std::shared_ptr<Chain> chain;
    RuntimePtr runtime;

    Json toolStep(const Json &step)
    {
        const QString tool = stringOf(step, "tool");
        const auto executed = std::make_shared<bool>(false);
        const MessagePtr result = edited(toolMessage(QStringLiteral("c"), tool, stringOf(step, "content")), [&step](Message &m) {
            if (memberOf(step, "meta").is_object())
                m.kwargs[toolMetaKey] = memberOf(step, "meta");
        });
        const auto outcome = awaited(chain->runTool(toolRequest(runtime, {tool, Json::object(), QStringLiteral("c")}),
                                                    toolCore([executed, result](ToolCallRequest) -> Result<ToolOutcome> {
                                                        *executed = true;
                                                        return result;
                                                    })));
        const ToolPhase *phase = member->tracker().phaseOf(ToolProgressMiddleware::threadOf(*runtime), tool);
        Json actual{{"executed", *executed},
                    {"phase", phase != nullptr ? toJson(progressPhaseName(phase->phase)) : Json()},
                    {"count", phase != nullptr ? Json(phase->count) : Json()}};
        if (outcome)
            actual["content"] = std::get<MessagePtr>(*outcome)->content;
        return actual;
    }

    Json modelStep()
    {
        Json hint;
        ModelCall call;
        call.runtime = runtime;
        const auto core = [&hint](ModelCall inner) -> Task<Result<ModelResponse>> {
            for (const MessagePtr &message : inner.request.messages)
                hint = message->name == u"progress_hint" ? message->content : hint;
            return [](MessagePtr answer) -> Task<Result<ModelResponse>> { co_return ModelResponse{{answer}, {}}; }(aiMessage(QString()));
        };
        if (!awaited(chain->runModel(call, core)))
            return Json{{"error", true}};
        return Json{{"hint", hint}};
    }

    Json newRun(const QString &run)
    {
        runtime->values["run_id"] = toUtf8(run);
        return Json{{"reset", awaited(chain->runNode(Hook::BeforeAgent, {}, runtime)).has_value()}};
    }
};

Verdict progressSequence(const Json &testCase)
{
    const Json input = expandParts(memberOf(testCase, "input"));
    ProgressDrive drive;
    drive.member = std::make_shared<ToolProgressMiddleware>(progressOptions(memberOf(input, "config")));
    drive.chain = *chainOf({drive.member});
    drive.runtime = plainRuntime(Json{{"thread_id", "t"}, {"run_id", "r1"}});
    Json actual = Json::array();
    for (const Json &step : memberOf(input, "steps")) {
        if (step.contains("model_call"))
            actual.push_back(drive.modelStep());
        else if (step.contains("new_run"))
            actual.push_back(drive.newRun(stringOf(step, "new_run")));
        else
            actual.push_back(drive.toolStep(step));
    }
    return verdictOf(mismatch(memberOf(testCase, "expect"), actual));
}

// --- receipt.* ---------------------------------------------------------------------------------------------------------

Verdict makeReceiptCase(const Json &testCase)
{
    const Json input = expandParts(memberOf(testCase, "input"));
    const Json &call = memberOf(input, "tool_call");
    const auto message = messageFromJson(memberOf(input, "message"));
    if (!message)
        return failed(message.error().message);
    const ToolReceipt receipt = makeReceipt({stringOf(call, "name"), memberOf(call, "args"), stringOf(call, "id")}, *message,
                                            Clock::system()->wall());
    return verdictOf(mismatch(memberOf(testCase, "expect"), receipt.toJson()));
}

/// The messages of a case, or what is wrong with them.
Result<MessageList> inputMessages(const Json &testCase)
{
    return messageListOf(memberOf(expandParts(memberOf(testCase, "input")), "messages"));
}

Verdict extractCase(const Json &testCase)
{
    const auto messages = inputMessages(testCase);
    if (!messages)
        return failed(messages.error().message);
    Json actual = Json::array();
    for (const ToolReceipt &receipt : extractReceipts(*messages))
        actual.push_back(receipt.toJson());
    return verdictOf(mismatch(memberOf(testCase, "expect"), actual));
}

Json idsOf(const std::vector<ToolReceipt> &receipts)
{
    Json ids = Json::array();
    for (const ToolReceipt &receipt : receipts)
        ids.push_back(toUtf8(receipt.id));
    return ids;
}

Verdict renderCase(const Json &testCase)
{
    const Json input = expandParts(memberOf(testCase, "input"));
    std::vector<ToolReceipt> receipts;
    for (const Json &given : memberOf(input, "receipts")) {
        auto receipt = ToolReceipt::fromJson(given);
        if (!receipt)
            return failed(QStringLiteral("a receipt of the case is not valid"));
        receipt->id = QStringLiteral("r%1").arg(receipts.size() + 1);
        receipts.push_back(*receipt);
    }
    const ReceiptLedger ledger = renderReceipts(receipts, intOf(input, "max_chars", receiptBudgetChars));
    return verdictOf(mismatch(memberOf(testCase, "expect"), Json{{"text", toUtf8(ledger.text)}, {"snapshot_ids", idsOf(ledger.shown)}}));
}

Verdict citationsCase(const Json &testCase)
{
    Json actual = Json::array();
    for (const auto &[id, anchor] : receiptCitations(stringOf(expandParts(memberOf(testCase, "input")), "text")))
        actual.push_back(Json::array({toJson(id), anchor.isNull() ? Json() : toJson(anchor)}));
    return verdictOf(mismatch(memberOf(testCase, "expect"), actual));
}

Verdict snapshotCase(const Json &testCase)
{
    const auto messages = inputMessages(testCase);
    if (!messages)
        return failed(messages.error().message);
    const auto snapshot = receiptSnapshot(*messages);
    return verdictOf(mismatch(memberOf(testCase, "expect"), snapshot ? idsOf(*snapshot) : Json()));
}

Verdict shouldRenderCase(const Json &testCase)
{
    const auto messages = inputMessages(testCase);
    if (!messages)
        return failed(messages.error().message);
    const bool always = stringOf(memberOf(testCase, "input"), "mode") == u"always";
    const bool renders = shouldRenderReceipts(always ? ReceiptRenderMode::Always : ReceiptRenderMode::DelegationOnly, *messages);
    return verdictOf(mismatch(memberOf(testCase, "expect"), Json(renders)));
}

// --- guardrail.*, rbac.* -----------------------------------------------------------------------------------------------

/// Answers as the case says: a decision, "throw" or "control".
class ScriptedProvider : public GuardrailProvider
{
public:
    explicit ScriptedProvider(Json script) : m_script(std::move(script)) {}
    Task<Result<GuardrailDecision>> evaluate(GuardrailRequest, std::stop_token) override
    {
        const Json script = m_script;
        if (script == "throw")
            throw std::runtime_error("the provider broke");
        if (script == "control")
            co_return fail(ErrorCode::FailedPrecondition, QStringLiteral("interrupted"), Json{{"control", "interrupt"}});
        GuardrailDecision decision;
        decision.allow = boolOf(script, "allow");
        for (const Json &reason : memberOf(script, "reasons"))
            decision.reasons.push_back({stringOf(reason, "code"), stringOf(reason, "message")});
        decision.policyId = stringOf(script, "policy_id");
        co_return decision;
    }

private:
    const Json m_script;
};

Verdict guardrailDecide(const Json &testCase)
{
    const Json &input = memberOf(testCase, "input");
    GuardrailMiddleware::Options options;
    options.provider = std::make_shared<ScriptedProvider>(memberOf(input, "provider"));
    options.failClosed = boolOf(input, "fail_closed", true);
    const auto chain = chainOf({std::make_shared<GuardrailMiddleware>(options)});
    const Json &given = memberOf(input, "tool_call");
    const ToolCall call{stringOf(given, "name"), memberOf(given, "args"), stringOf(given, "id")};
    const auto executed = std::make_shared<bool>(false);
    const auto outcome = awaited((*chain)->runTool(toolRequest(plainRuntime(memberOf(input, "context")), call),
                                                   toolCore([executed](ToolCallRequest request) -> Result<ToolOutcome> {
                                                       *executed = true;
                                                       return toolMessage(request.context.call.id, request.context.call.name, QStringLiteral("ran"));
                                                   })));
    Json actual{{"executed", *executed}};
    if (!outcome) {
        actual["control"] = isControlSignal(outcome.error());
        actual["raised"] = isControlSignal(outcome.error()) ? "control" : "error";
    } else if (!*executed) {
        const Message &message = *std::get<MessagePtr>(*outcome);
        actual["content"] = message.content;
        actual["status"] = message.status == ToolStatus::Error ? "error" : "success";
        actual["name"] = toUtf8(message.name);
        actual["tool_call_id"] = toUtf8(message.toolCallId);
    }
    return verdictOf(mismatch(memberOf(testCase, "expect"), actual));
}

Json decisionToJson(const GuardrailDecision &decision)
{
    Json actual{{"allow", decision.allow}, {"policy_id", toUtf8(decision.policyId)}};
    if (!decision.reasons.empty()) {
        actual["code"] = toUtf8(decision.reasons.front().code);
        actual["message"] = toUtf8(decision.reasons.front().message);
    }
    return actual;
}

Verdict allowlistCase(const Json &testCase)
{
    const Json &input = memberOf(testCase, "input");
    const auto provider = AllowlistProvider::fromConfig(
        Json{{"allowed_tools", memberOf(input, "allowed_tools")}, {"denied_tools", memberOf(input, "denied_tools")}});
    if (!provider)
        return verdictOf(mismatch(memberOf(testCase, "expect"), Json{{"config_error", true}}));
    return verdictOf(mismatch(memberOf(testCase, "expect"), decisionToJson((*provider)->decide(stringOf(input, "tool")))));
}

Verdict rbacCase(const Json &testCase)
{
    const Json &input = memberOf(testCase, "input");
    Json config = input;
    for (const char *key : {"role", "resource", "target", "action"})
        config.erase(key);
    Json actual;
    const auto provider = RbacProvider::fromConfig(config);
    if (!provider) {
        actual = Json{{"config_error", true}};
    } else if (const auto decision = (*provider)->decide(stringOf(input, "role"), stringOf(input, "resource"), stringOf(input, "target"))) {
        actual = decisionToJson(*decision);
    } else {
        actual = Json{{"exception", true}};
    }
    return verdictOf(mismatch(memberOf(testCase, "expect"), actual));
}

const Registrar guardrail1("guardrail.decide", guardrailDecide);
const Registrar guardrail2("guardrail.allowlist", allowlistCase);
const Registrar guardrail3("rbac.authorize", rbacCase);
const Registrar receipt1("receipt.make", makeReceiptCase);
const Registrar receipt2("receipt.extract", extractCase);
const Registrar receipt3("receipt.render", renderCase);
const Registrar receipt4("receipt.citations", citationsCase);
const Registrar receipt5("receipt.snapshot", snapshotCase);
const Registrar receipt6("receipt.should_render", shouldRenderCase);
const Registrar progress1("progress.similarity", similarity);
const Registrar progress2("progress.hint", hint);
const Registrar progress3("progress.block_reason", blockReason);
const Registrar progress4("progress.sequence", progressSequence);

} // namespace

} // namespace paddock::cases::guard_cases
