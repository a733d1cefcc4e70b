// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// Areas of runtime.json about skills and deferred tools: slash, frontmatter, skill_activation, tool_policy, tool_search,
// deferred, routing, promotion_audit.
#include "core/base/name_search.h"
#include "core/middleware/deferred_tool_filter.h"
#include "core/middleware/deferred_tool_promotion_audit.h"
#include "core/middleware/mcp_routing.h"
#include "core/middleware/skill_activation.h"
#include "core/middleware/skill_tool_policy.h"
#include "core/skill/slash_command.h"
#include "tests/cases/middleware_support.h"
#include "tests/support/skill_disk.h"

namespace paddock::cases::skill_cases {

namespace {

const QString ownToken = QStringLiteral("tok");

Verdict compared(const Json &testCase, const Json &actual)
{
    return verdictOf(mismatch(memberOf(testCase, "expect"), actual));
}

Task<Result<ModelResponse>> answered(std::shared_ptr<std::optional<ModelCall>> seen, ModelCall call)
{
    seen->emplace(std::move(call));
    co_return ModelResponse{{aiMessage(QStringLiteral("done"))}, {}};
}

/// A model that remembers what it was asked.
ModelNext remembering(const std::shared_ptr<std::optional<ModelCall>> &seen)
{
    return [seen](ModelCall call) { return answered(seen, std::move(call)); };
}

// ---- pure rules

Verdict slash(const Json &testCase)
{
    const auto command = parseSlashCommand(stringOf(memberOf(testCase, "input"), "text"));
    return compared(testCase, command ? Json{{"name", toUtf8(command->name)}, {"rest", toUtf8(command->rest)}} : Json());
}

Json skillToJson(const Skill &skill)
{
    Json secrets = Json::array();
    for (const SkillSecret &secret : skill.secrets)
        secrets.push_back(Json{{"name", toUtf8(secret.name)}, {"optional", secret.optional}});
    return Json{{"name", toUtf8(skill.name)},
                {"description", toUtf8(skill.description)},
                {"license", skill.license ? toJson(*skill.license) : Json()},
                {"allowed_tools", skill.allowedTools ? namesToJson(*skill.allowedTools) : Json()},
                {"secrets", secrets},
                {"autonomous", skill.secretsAutonomous}};
}

Verdict frontmatter(const Json &testCase)
{
    const Json input = expandParts(memberOf(testCase, "input"));
    const QByteArray text = stringOf(input, "text").toUtf8();
    const auto skill = parseSkill(text);
    const Json actual{{"loads", skill.has_value()}, {"skill", skill ? skillToJson(*skill) : Json()}, {"installable", checkInstallable(text).has_value()}};
    const Json &wanted = memberOf(memberOf(testCase, "expect"), "skill");
    if (skill && wanted.is_null())
        return failed(QStringLiteral("it loads, but should not"));
    return compared(testCase, actual);
}

Verdict skillEnabled(const Json &testCase)
{
    const Json &input = memberOf(testCase, "input");
    return compared(testCase, Json{{"enabled", isSkillEnabled(memberOf(input, "skills"), stringOf(input, "category"), stringOf(input, "name"))}});
}

// ---- deferred tools

class NamedTool : public Tool
{
public:
    NamedTool(QString name, QString description) : m_spec{std::move(name), std::move(description)} {}
    ToolSpec spec() const override { return m_spec; }
    std::optional<McpOrigin> mcp() const override { return McpOrigin{QStringLiteral("server"), Json::object()}; }
    Task<Result<ToolOutcome>> call(ToolCallContext context) override { co_return ToolOutcome(toolMessage(context.call.id, m_spec.name, {})); }

private:
    const ToolSpec m_spec;
};

Verdict toolSearch(const Json &testCase)
{
    const Json &input = memberOf(testCase, "input");
    std::vector<ToolPtr> tools;
    for (const Json &entry : memberOf(input, "tools"))
        tools.push_back(std::make_shared<NamedTool>(textOf(entry.at(0)), textOf(entry.at(1))));
    const auto set = deferTools(tools, true);
    if (!set)
        return failed(set.error().message);
    ToolCallContext context;
    context.runtime = plainRuntime();
    context.call = {toolSearchName.toString(), Json{{"query", toUtf8(stringOf(input, "query"))}}, QStringLiteral("c")};
    const auto outcome = awaited(set->tools.back()->call(context));
    if (!outcome || !std::holds_alternative<Command>(*outcome))
        return failed(QStringLiteral("no command came back"));
    return compared(testCase, Json{{"names", memberOf(memberOf(std::get<Command>(*outcome).update.channels, "promoted"), "names")}});
}

Verdict skillSearch(const Json &testCase)
{
    const Json &input = memberOf(testCase, "input");
    std::vector<NamedText> texts;
    for (const Json &entry : memberOf(input, "tools"))
        texts.push_back({textOf(entry.at(0)), textOf(entry.at(1))});
    Json names = Json::array();
    for (const std::size_t index : searchNames(texts, stringOf(input, "query")))
        names.push_back(toUtf8(texts[index].name));
    return compared(testCase, Json{{"names", names}});
}

DeferredTools deferredOf(const Json &input)
{
    DeferredTools tools;
    for (const Json &name : memberOf(input, "deferred"))
        tools.names.insert(textOf(name));
    tools.catalogHash = stringOf(input, "hash");
    return tools;
}

AgentState promotedState(const Json &input)
{
    AgentState state;
    if (const Json &promoted = memberOf(input, "promoted"); !promoted.is_null())
        state.channels["promoted"] = promoted;
    return state;
}

ModelCall modelCallWith(const RuntimePtr &runtime, AgentState state, const Json &tools)
{
    ModelCall call;
    call.runtime = runtime;
    call.request.messages = state.messages;
    call.state = std::move(state);
    for (const Json &name : tools)
        call.request.tools.push_back({textOf(name), QString()});
    return call;
}

Json toolNames(const std::optional<ModelCall> &call)
{
    Json names = Json::array();
    for (const ToolSpec &tool : call ? call->request.tools : std::vector<ToolSpec>())
        names.push_back(toUtf8(tool.name));
    return names;
}

/// What a call came to: whether it reached the tool, and the text when it did not.
Json callResult(Chain &chain, const RuntimePtr &runtime, const AgentState &state, const QString &name)
{
    const auto reached = std::make_shared<bool>(false);
    const auto outcome = awaited(chain.runTool(toolRequest(runtime, {name, Json::object(), QStringLiteral("c")}, state),
                                               toolCore([reached](const ToolCallRequest &request) -> Result<ToolOutcome> {
                                                   *reached = true;
                                                   return ToolOutcome(toolMessage(request.context.call.id, request.context.call.name, {}));
                                               })));
    const auto *message = outcome ? std::get_if<MessagePtr>(&*outcome) : nullptr;
    return Json{{"blocked", !*reached}, {"error", *reached || !message ? Json() : toJson(textOf(*message))}};
}

Verdict deferredFilter(const Json &testCase)
{
    const Json &input = memberOf(testCase, "input");
    const auto chain = chainOf({std::make_shared<DeferredToolFilterMiddleware>(deferredOf(input))});
    const RuntimePtr runtime = plainRuntime();
    const AgentState state = promotedState(input);
    const auto seen = std::make_shared<std::optional<ModelCall>>();
    static_cast<void>(awaited((*chain)->runModel(modelCallWith(runtime, state, memberOf(input, "tools")), remembering(seen))));
    Json actual = callResult(**chain, runtime, state, stringOf(input, "call"));
    actual["visible"] = toolNames(*seen);
    return compared(testCase, actual);
}

ToolOutcome searchResult(const Json &result, const ToolCall &call)
{
    const MessagePtr message = toolMessage(call.id, call.name, QStringLiteral("[]"));
    if (stringOf(result, "kind") != u"command")
        return message;
    Command command;
    command.update.messages = {message};
    if (const Json &promoted = memberOf(result, "promoted"); !promoted.is_null())
        command.update.channels["promoted"] = promoted;
    return command;
}

Verdict promotionAudit(const Json &testCase)
{
    const Json &input = memberOf(testCase, "input");
    DeferredOptions options;
    options.tools = deferredOf(input);
    const auto chain = chainOf({std::make_shared<DeferredToolPromotionAuditMiddleware>(options)});
    const auto bus = std::make_shared<EventBus>();
    const auto queue = bus->subscribe();
    const RuntimePtr runtime = plainRuntime();
    runtime->events = EventSink(bus, RunId(QStringLiteral("r")), leadAgent());
    for (const Json &result : memberOf(input, "results")) {
        const ToolCall call{stringOf(result, "tool"), Json::object(), QStringLiteral("c")};
        const auto outcome = awaited((*chain)->runTool(toolRequest(runtime, call, promotedState(input)), toolCore([result](const ToolCallRequest &request) {
            return Result<ToolOutcome>(searchResult(result, request.context.call));
        })));
        if (!outcome)
            return failed(outcome.error().message);
    }
    Json events = Json::array();
    const QString prefix = QStringLiteral("tool_promotion: promote ");
    for (const auto &event : queue->drain()) {
        const auto *log = std::get_if<LogRecorded>(&event->body);
        if (!log || !log->text.startsWith(prefix))
            continue;
        if (const auto changes = parseJson(log->text.mid(prefix.size()).toUtf8()))
            events.push_back(*changes);
    }
    return compared(testCase, Json{{"events", events}});
}

Verdict routing(const Json &testCase)
{
    const Json &input = memberOf(testCase, "input");
    const auto messages = messageListOf(memberOf(input, "messages"));
    if (!messages)
        return failed(messages.error().message);
    DeferredOptions options;
    options.tools.catalogHash = stringOf(input, "hash");
    options.tools.routing = routingIndexFrom(memberOf(input, "index"));
    options.autoPromoteTopK = int(intOf(input, "top_k", options.autoPromoteTopK));
    McpRoutingMiddleware member(options);
    const auto update = awaited(member.beforeModel({*messages, Json::object()}, plainRuntime()));
    const Json &names = memberOf(memberOf(update->channels, "promoted"), "names");
    return compared(testCase, Json{{"names", names.is_null() ? Json::array() : names}});
}

// ---- skills in a chain

/// The registry of a case on disk.
void fillDisk(test::SkillDisk &disk, const Json &input)
{
    disk.fails = boolOf(input, "registry_fails");
    for (const Json &entry : memberOf(input, "registry")) {
        Json head = Json::object();
        if (const Json &tools = memberOf(entry, "allowed_tools"); !tools.is_null())
            head["allowed-tools"] = tools;
        if (const Json &secrets = memberOf(entry, "secrets"); secrets.is_array()) {
            head["required-secrets"] = Json::array();
            for (const Json &secret : secrets)
                head["required-secrets"].push_back(Json{{"name", secret.at(0)}, {"optional", secret.at(1)}});
        }
        if (entry.contains("autonomous"))
            head["secrets-autonomous"] = entry["autonomous"];
        QByteArray lines;
        for (const auto &[key, value] : head.items())
            lines += QByteArray::fromStdString(key) + ": " + dumpJson(value) + '\n'; // JSON is YAML
        const QString name = stringOf(entry, "name");
        disk.add(stringOf(entry, "category") + u'/' + name, lines, "Do it <now> & \"well\".\n");
        disk.states[toUtf8(name)] = Json{{"enabled", boolOf(entry, "enabled", true)}};
    }
}

SkillOptions skillOptions(const test::SkillDisk &disk, const Json &input)
{
    SkillOptions options;
    options.source = disk.store();
    options.available = namesFromJson(memberOf(input, "available"));
    options.ownerToken = ownToken;
    return options;
}

Json reminderToJson(const MessageList &messages, const Json &wanted)
{
    for (const MessagePtr &message : messages) {
        if (!boolOf(message->kwargs, "slash_skill_activation"))
            continue;
        Json contains = Json::array();
        for (const Json &part : memberOf(wanted, "contains")) {
            if (textOf(message).contains(textOf(part)))
                contains.push_back(part);
        }
        return Json{{"id", toUtf8(message->id)},
                    {"target", memberOf(message->kwargs, "slash_skill_activation_target_id")},
                    {"hidden", boolOf(message->kwargs, "hide_from_ui")},
                    {"contains", contains}};
    }
    return {};
}

Verdict activation(const Json &testCase)
{
    const Json &input = memberOf(testCase, "input");
    test::SkillDisk disk;
    fillDisk(disk, input);
    const auto messages = messageListOf(memberOf(input, "messages"));
    if (!messages)
        return failed(messages.error().message);
    const RuntimePtr runtime = plainRuntime(memberOf(input, "context").is_object() ? memberOf(input, "context") : Json::object());
    AgentState state{*messages, Json::object()};
    if (memberOf(input, "state").is_object())
        state.channels = memberOf(input, "state");
    const auto chain = chainOf({std::make_shared<SkillActivationMiddleware>(skillOptions(disk, input))});
    const auto seen = std::make_shared<std::optional<ModelCall>>();
    const auto response = awaited((*chain)->runModel(modelCallWith(runtime, state, Json::array()), remembering(seen)));
    if (!response)
        return failed(response.error().message);
    Json actual{{"calls_model", seen->has_value()}, {"run_key", memberOf(runtime->values, slashRunKey)},
                {"source", memberOf(memberOf(runtime->values, slashSourceKey), "path")},
                {"secrets", memberOf(runtime->values, activeSecretsKey)}};
    if (!seen->has_value()) {
        actual["result"] = "answer";
        actual["text"] = toJson(textOf(response->messages.front()));
    } else {
        const MessageList &sent = (*seen)->request.messages;
        actual["result"] = sent.size() == messages->size() ? "pass" : "activated";
        actual["messages"] = Json::array();
        for (const MessagePtr &message : sent)
            actual["messages"].push_back(message->id.isEmpty() ? Json() : toJson(message->id));
        actual["reminder"] = reminderToJson(sent, memberOf(memberOf(testCase, "expect"), "reminder"));
    }
    const Json &secrets = memberOf(memberOf(testCase, "expect"), "secrets");
    if (secrets.is_object() && secrets != actual["secrets"]) // no more than these
        return failed(QStringLiteral("bound secrets: ") + QString::fromUtf8(dumpJson(actual["secrets"])));
    return compared(testCase, actual);
}

Verdict policy(const Json &testCase)
{
    const Json &input = memberOf(testCase, "input");
    test::SkillDisk disk;
    fillDisk(disk, input);
    const RuntimePtr runtime = plainRuntime(memberOf(input, "context").is_object() ? memberOf(input, "context") : Json::object());
    if (input.contains("slash"))
        runtime->values[slashSourceKey] = Json{{"path", input["slash"]}, {"owner_token", toUtf8(stringOf(input, "slash_token", ownToken))}};
    AgentState state;
    if (memberOf(input, "context_paths").is_array()) {
        state.channels["skill_context"] = Json::array();
        for (const Json &path : memberOf(input, "context_paths"))
            state.channels["skill_context"].push_back(Json{{"path", path}});
    }
    const auto chain = chainOf({std::make_shared<SkillToolPolicyMiddleware>(skillOptions(disk, input))});
    const auto seen = std::make_shared<std::optional<ModelCall>>();
    static_cast<void>(awaited((*chain)->runModel(modelCallWith(runtime, state, memberOf(input, "tools")), remembering(seen))));
    Json actual = callResult(**chain, runtime, state, stringOf(input, "call"));
    actual["visible"] = toolNames(*seen);
    actual["source"] = memberOf(memberOf(runtime->values, policyDecisionKey), "source");
    return compared(testCase, actual);
}

const Registrar registrars[] = {
    {"slash", slash}, {"frontmatter", frontmatter}, {"config#skill.enabled", skillEnabled}, {"tool_search", toolSearch},
    {"tool_search#skill_search", skillSearch}, {"deferred", deferredFilter}, {"promotion_audit", promotionAudit}, {"routing", routing},
    {"skill_activation", activation}, {"tool_policy", policy},
};

} // namespace

} // namespace paddock::cases::skill_cases
