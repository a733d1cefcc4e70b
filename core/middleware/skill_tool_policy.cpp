// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/skill_tool_policy.h"

#include "core/base/run_on.h"
#include "core/tool/deferred_tools.h"

#include <QLoggingCategory>
#include <QSet>

namespace paddock {

struct SkillToolPolicyMiddleware::State {
    SkillOptions options;
    QString instance; ///< marks the decisions of this member in the run context
};

bool SkillPolicy::allows(const QString &tool) const
{
    static const QSet<QString> always{QStringLiteral("describe_skill"), QStringLiteral("read_file"), QStringLiteral("review_skill_package"),
                                      toolSearchName.toString()};
    return !allowed || always.contains(tool) || allowed->contains(tool);
}

namespace {

Q_LOGGING_CATEGORY(lcPolicy, "paddock.middleware.skill_policy")

using PolicyStatePtr = std::shared_ptr<const SkillToolPolicyMiddleware::State>;

constexpr int decisionVersion = 2;

/// Nothing unless it is a list of strings only.
std::optional<QStringList> stringsOf(const Json &list)
{
    if (!list.is_array())
        return std::nullopt;
    QStringList names;
    for (const Json &name : list) {
        if (!name.is_string())
            return std::nullopt;
        names.append(textOf(name));
    }
    return names;
}

/// The policy of this moment, decided anew.
Task<SkillPolicy> decidePolicy(PolicyStatePtr state, SkillPolicy active)
{
    if (active.paths.isEmpty())
        co_return active;
    const auto list = co_await runOnPool([source = state->options.source] { return source->load(); });
    if (!list)
        qCWarning(lcPolicy, "the skills cannot be read, so their tools are closed: %ls", qUtf16Printable(list.error().message));
    active.allowed = SkillToolPolicyMiddleware::allowedBy(list ? &*list : nullptr, active.paths, state->options.available);
    co_return active;
}

Json decisionOf(const SkillToolPolicyMiddleware::State &state, const SkillPolicy &policy)
{
    return Json{{"version", decisionVersion},
                {"owner_token", toUtf8(state.instance)},
                {"source", toUtf8(policy.source)},
                {"active_paths", namesToJson(policy.paths)},
                {"allowed_names", policy.allowed ? namesToJson(*policy.allowed) : Json()}};
}

/// The decision of the model step that asked for this call, if it is ours, whole and about the same skills.
std::optional<SkillPolicy> remembered(const SkillToolPolicyMiddleware::State &state, const Json &values, const SkillPolicy &active)
{
    const Json &kept = memberOf(values, policyDecisionKey);
    if (memberOf(kept, "version") != decisionVersion || stringOf(kept, "owner_token") != state.instance
        || stringOf(kept, "source") != active.source || memberOf(kept, "active_paths") != namesToJson(active.paths) || !kept.contains("allowed_names"))
        return std::nullopt;
    SkillPolicy policy = active;
    if (!kept["allowed_names"].is_null()) {
        policy.allowed = stringsOf(kept["allowed_names"]);
        if (!policy.allowed)
            return std::nullopt;
    }
    return policy;
}

MessagePtr policyRefusal(const ToolCall &call, const QString &text)
{
    return toolMessage(call.id.isEmpty() ? QStringLiteral("missing_tool_call_id") : call.id, call.name, text, ToolStatus::Error);
}

QString schemaName(const Json &schema)
{
    const QString name = stringOf(schema, "name");
    return name.isEmpty() ? stringOf(memberOf(schema, "function"), "name") : name;
}

/// The schemas of a search's answer that the policy leaves; nothing when the answer is no list of schemas.
std::optional<QString> restrictedSchemas(const Message &message, const SkillPolicy &policy)
{
    const auto schemas = parseJson(textOfContent(message.content).toUtf8());
    if (!schemas || !schemas->is_array())
        return std::nullopt;
    Json kept = Json::array();
    for (const Json &schema : *schemas) {
        const QString name = schemaName(schema);
        if (name.isEmpty())
            return std::nullopt;
        if (policy.allows(name))
            kept.push_back(schema);
    }
    return QString::fromUtf8(dumpJsonPretty(kept));
}

/// What a search may show and promote under a restriction; nothing for an answer of another shape, which could hide one.
std::optional<ToolOutcome> restrictedSearch(const ToolOutcome &outcome, const SkillPolicy &policy)
{
    const auto *command = std::get_if<Command>(&outcome);
    if (!command || command->update.messages.size() != 1 || !command->update.messages.front())
        return std::nullopt;
    const MessagePtr &message = command->update.messages.front();
    const auto names = stringsOf(memberOf(memberOf(command->update.channels, "promoted"), "names"));
    if (!names || message->role != Role::Tool || message->name != toolSearchName)
        return std::nullopt;
    QStringList kept;
    for (const QString &name : *names) {
        if (policy.allows(name))
            kept.append(name);
    }
    QString text = QStringLiteral("No tools found matching the active skill policy.");
    if (!kept.isEmpty()) {
        const auto schemas = restrictedSchemas(*message, policy);
        if (!schemas)
            return std::nullopt;
        text = *schemas;
    }
    Command restricted = *command;
    restricted.update.channels["promoted"]["names"] = namesToJson(kept);
    restricted.update.messages.front() = edited(message, [&](Message &m) { m.content = toJson(text); });
    return ToolOutcome(std::move(restricted));
}

Task<Result<ModelResponse>> restrictedModel(PolicyStatePtr state, ModelCall call, ModelNext next)
{
    if (state->options.ownerToken.isEmpty())
        co_return fail(ErrorCode::FailedPrecondition, QStringLiteral("The skill policy was built without an owner token"));
    if (!call.runtime->values.is_object())
        call.runtime->values = Json::object();
    const SkillPolicy policy = co_await decidePolicy(state, SkillToolPolicyMiddleware::activeIn(call.runtime->values, call.state, state->options.ownerToken));
    if (call.stop.stop_requested())
        co_return cancelled();
    call.runtime->values[policyDecisionKey] = decisionOf(*state, policy);
    std::erase_if(call.request.tools, [&](const ToolSpec &tool) { return !policy.allows(tool.name); });
    co_return co_await next(std::move(call));
}

Task<Result<ToolOutcome>> restrictedTool(PolicyStatePtr state, ToolCallRequest request, ToolNext next)
{
    const ToolCall call = request.context.call;
    const SkillPolicy active = SkillToolPolicyMiddleware::activeIn(request.context.runtime->values, request.context.state, state->options.ownerToken);
    const auto known = remembered(*state, request.context.runtime->values, active);
    const SkillPolicy policy = known ? *known : co_await decidePolicy(state, active);
    if (request.context.stop.stop_requested())
        co_return cancelled();
    if (!policy.allows(call.name))
        co_return ToolOutcome(policyRefusal(call, QStringLiteral("Error: Tool '") + call.name
                                                + QStringLiteral("' is not allowed by the active skill policy.")));
    Result<ToolOutcome> outcome = co_await next(std::move(request));
    if (!outcome || !policy.allowed || call.name != toolSearchName)
        co_return outcome;
    if (auto restricted = restrictedSearch(*outcome, policy))
        co_return std::move(*restricted);
    co_return ToolOutcome(policyRefusal(call, QStringLiteral("Error: The result of tool_search cannot be checked against the active skill policy.")));
}

} // namespace

SkillToolPolicyMiddleware::SkillToolPolicyMiddleware(SkillOptions options)
    : m_state(std::make_shared<const State>(std::move(options), newOwnerToken()))
{
}

SkillPolicy SkillToolPolicyMiddleware::activeIn(const Json &values, const AgentState &state, const QString &ownerToken)
{
    if (const QString slash = slashSkillPath(values, ownerToken); !slash.isEmpty())
        return {QStringLiteral("slash"), {slash}, std::nullopt};
    const QStringList loaded = loadedSkillPaths(state);
    if (!loaded.isEmpty())
        return {QStringLiteral("skill_context"), loaded, std::nullopt};
    return {QStringLiteral("passive"), {}, std::nullopt};
}

std::optional<QStringList> SkillToolPolicyMiddleware::allowedBy(const SkillList *list, const QStringList &paths,
                                                                const std::optional<QStringList> &available)
{
    if (!list)
        return QStringList();
    bool anySkill = false;
    bool anyDeclares = false;
    QSet<QString> tools;
    for (const QString &path : paths) {
        const Skill *skill = usableSkillAt(*list, path, available);
        if (!skill) {
            qCWarning(lcPolicy, "the skill at %ls is not usable any more", qUtf16Printable(path));
            continue;
        }
        anySkill = true;
        if (!skill->allowedTools)
            continue;
        anyDeclares = true;
        tools.unite(QSet<QString>(skill->allowedTools->cbegin(), skill->allowedTools->cend()));
    }
    if (anySkill && !anyDeclares)
        return std::nullopt;
    QStringList sorted = tools.values();
    sorted.sort();
    return sorted;
}

Task<Result<ModelResponse>> SkillToolPolicyMiddleware::wrapModelCall(ModelCall call, ModelNext next)
{
    if (!m_state->options.source)
        return next(std::move(call));
    return restrictedModel(m_state, std::move(call), std::move(next));
}

Task<Result<ToolOutcome>> SkillToolPolicyMiddleware::wrapToolCall(ToolCallRequest request, ToolNext next)
{
    if (!m_state->options.source)
        return next(std::move(request));
    return restrictedTool(m_state, std::move(request), std::move(next));
}

} // namespace paddock
