// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/agent/subagent_catalogue.h"

#include "core/agent/subagent_prompt.h"

#include <algorithm>

namespace paddock {

namespace {

constexpr qint64 budgetWithSummaries = 1000000;

std::optional<QStringList> stringsOf(const Json &value)
{
    if (!value.is_array())
        return std::nullopt;
    QStringList list;
    for (const Json &item : value) {
        if (item.is_string())
            list.append(textOf(item));
    }
    return list;
}

std::optional<int> countOf(const Json &object, const char *key)
{
    const auto value = optionalInt(object, key);
    return value ? std::optional(int(std::clamp<qint64>(*value, 0, std::numeric_limits<int>::max()))) : std::nullopt;
}

std::optional<SubagentTokenBudget> budgetOf(const Json &value)
{
    if (!value.is_object())
        return std::nullopt;
    SubagentTokenBudget budget;
    budget.enabled = boolOf(value, "enabled", budget.enabled);
    budget.maxTokens = intOf(value, "max_tokens", budget.maxTokens);
    budget.warn = doubleOf(value, "warn_threshold", budget.warn);
    budget.hard = doubleOf(value, "hard_stop_threshold", budget.hard);
    budget.maxInputTokens = optionalInt(value, "max_input_tokens");
    budget.maxOutputTokens = optionalInt(value, "max_output_tokens");
    return budget;
}

std::vector<SubagentDefinition> builtIns()
{
    SubagentDefinition general;
    general.name = QStringLiteral("general-purpose");
    general.description = QStringLiteral("Works through a delegated task of several steps on its own: looks around, runs commands, edits files, reports.");
    general.systemPrompt = generalPurposePrompt();
    general.maxTurns = 150;
    general.builtIn = true;
    SubagentDefinition bash;
    bash.name = QStringLiteral("bash");
    bash.description = QStringLiteral("Runs a series of shell commands and reports what each did.");
    bash.systemPrompt = bashPrompt();
    bash.tools = QStringList{QStringLiteral("bash"), QStringLiteral("ls"), QStringLiteral("read_file"),
                             QStringLiteral("write_file"), QStringLiteral("str_replace")};
    bash.maxTurns = 60;
    bash.builtIn = true;
    return {general, bash};
}

SubagentDefinition customFrom(const QString &name, const Json &value)
{
    SubagentDefinition definition;
    definition.name = name;
    definition.description = stringOf(value, "description");
    definition.systemPrompt = stringOf(value, "system_prompt");
    definition.tools = stringsOf(memberOf(value, "tools"));
    if (auto denied = stringsOf(memberOf(value, "disallowed_tools")))
        definition.disallowedTools = std::move(*denied);
    definition.skills = stringsOf(memberOf(value, "skills"));
    definition.model = stringOf(value, "model", definition.model);
    definition.maxTurns = countOf(value, "max_turns").value_or(definition.maxTurns);
    definition.timeoutSeconds = countOf(value, "timeout_seconds").value_or(definition.timeoutSeconds);
    return definition;
}

} // namespace

SubagentOptions subagentOptionsFrom(const Json &section)
{
    SubagentOptions options;
    options.timeoutSeconds = countOf(section, "timeout_seconds").value_or(options.timeoutSeconds);
    options.maxTurns = countOf(section, "max_turns");
    options.tokenBudget = budgetOf(memberOf(section, "token_budget"));
    if (options.tokenBudget == SubagentTokenBudget{})
        options.tokenBudget.reset();
    const Json &overrides = memberOf(section, "agents");
    if (overrides.is_object()) {
        for (auto it = overrides.begin(); it != overrides.end(); ++it) {
            SubagentOverride entry;
            entry.timeoutSeconds = countOf(it.value(), "timeout_seconds");
            entry.maxTurns = countOf(it.value(), "max_turns");
            entry.model = optionalString(it.value(), "model");
            entry.skills = stringsOf(memberOf(it.value(), "skills"));
            entry.tokenBudget = budgetOf(memberOf(it.value(), "token_budget"));
            options.overrides.insert(QString::fromStdString(it.key()), entry);
        }
    }
    const Json &custom = memberOf(section, "custom_agents");
    if (custom.is_object()) {
        for (auto it = custom.begin(); it != custom.end(); ++it)
            options.custom.push_back(customFrom(QString::fromStdString(it.key()), it.value()));
    }
    return options;
}

std::vector<SubagentDefinition> subagentCatalogue(const SubagentOptions &options)
{
    std::vector<SubagentDefinition> all = builtIns();
    const auto add = [&](const SubagentDefinition &definition) {
        if (std::ranges::none_of(all, [&](const auto &known) { return known.name == definition.name; }))
            all.push_back(definition);
    };
    std::ranges::for_each(options.custom, add);
    std::ranges::for_each(options.managed, add);
    return all;
}

std::optional<SubagentDefinition> findSubagent(const SubagentOptions &options, const QString &name)
{
    for (SubagentDefinition &definition : subagentCatalogue(options)) {
        if (definition.name == name)
            return std::move(definition);
    }
    return std::nullopt;
}

QStringList availableSubagents(const SubagentOptions &options, bool hostBashAllowed, const std::optional<QStringList> &allowed)
{
    QStringList names;
    for (const SubagentDefinition &definition : subagentCatalogue(options)) {
        if ((definition.name != u"bash" || hostBashAllowed) && (!allowed || allowed->contains(definition.name)))
            names.append(definition.name);
    }
    return names;
}

std::optional<QString> refuseDelegation(const QString &type, bool hostBashAllowed, const QStringList &available,
                                        bool allowlistGiven)
{
    if (type == u"bash" && !hostBashAllowed)
        return QStringLiteral("Bash subagent is disabled for LocalSandboxProvider because host bash execution is not a secure "
                              "sandbox boundary. Switch to AioSandboxProvider for isolated bash access, or set "
                              "sandbox.allow_host_bash: true only in a fully trusted local environment.");
    if (available.contains(type))
        return std::nullopt;
    const QString list = !available.isEmpty() ? available.join(u", ")
        : allowlistGiven                      ? QStringLiteral("none permitted by caller policy")
                                              : QStringLiteral("none");
    return QStringLiteral("Unknown subagent type '") + type + QStringLiteral("'. Available: ") + list;
}

ResolvedSubagent resolveSubagent(const SubagentDefinition &definition, const SubagentOptions &options, const ResolveContext &context)
{
    ResolvedSubagent resolved;
    resolved.definition = definition;
    const SubagentOverride own = options.overrides.value(definition.name);
    SubagentDefinition &d = resolved.definition;
    if (own.timeoutSeconds)
        d.timeoutSeconds = *own.timeoutSeconds;
    else if (d.builtIn)
        d.timeoutSeconds = options.timeoutSeconds;
    if (own.maxTurns)
        d.maxTurns = *own.maxTurns;
    else if (d.builtIn && options.maxTurns)
        d.maxTurns = *options.maxTurns;
    if (own.skills)
        d.skills = own.skills;
    d.skills = mergeSkills(context.parentSkills, d.skills);
    const QString wanted = own.model.value_or(d.model);
    if (wanted != u"inherit")
        resolved.model = wanted;
    else if (!context.parentModel.isEmpty())
        resolved.model = context.parentModel;
    else if (!context.models.isEmpty())
        resolved.model = context.models.first();
    else
        resolved.model = fail(ErrorCode::FailedPrecondition, QStringLiteral("No chat models are configured"));
    SubagentTokenBudget budget;
    if (context.summarization)
        budget.maxTokens = budgetWithSummaries;
    budget = own.tokenBudget.value_or(options.tokenBudget.value_or(budget));
    if (budget.enabled)
        resolved.tokenBudget = budget;
    return resolved;
}

QStringList filterTools(const QStringList &tools, const std::optional<QStringList> &allow, const QStringList &deny)
{
    QStringList kept;
    for (const QString &tool : tools) {
        if ((!allow || allow->contains(tool)) && !deny.contains(tool))
            kept.append(tool);
    }
    return kept;
}

std::optional<QStringList> mergeSkills(const std::optional<QStringList> &parent, const std::optional<QStringList> &child)
{
    if (!parent)
        return child;
    if (!child)
        return parent;
    return filterTools(*child, parent, {});
}

int pollBudget(int timeoutSeconds)
{
    return (timeoutSeconds + 60) / 5;
}

} // namespace paddock
