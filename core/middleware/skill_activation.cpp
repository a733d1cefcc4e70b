// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/skill_activation.h"

#include "core/base/run_on.h"
#include "core/base/text.h"
#include "core/middleware/audit_record.h"
#include "core/middleware/message_edits.h"
#include "core/middleware/skill_secrets.h"
#include "core/middleware/user_text.h"
#include "core/skill/slash_command.h"

namespace paddock {

struct SkillActivationMiddleware::State {
    SkillOptions options;
    QString activatedKey; ///< of the reminder below
    MessagePtr reminder;  ///< put in again when the call that carried it is tried again
};

namespace {

using ActivationStatePtr = std::shared_ptr<SkillActivationMiddleware::State>;

constexpr const char *reminderKey = "slash_skill_activation";
constexpr const char *reminderTargetKey = "slash_skill_activation_target_id";
const QString &reminderSuffix()
{
    static const QString suffix = QStringLiteral("__slash_activation");
    return suffix;
}

bool isReminder(const Message &message)
{
    return message.role == Role::Human && isTruthy(memberOf(message.kwargs, "hide_from_ui")) && isTruthy(memberOf(message.kwargs, reminderKey));
}

bool isReminded(const MessageList &messages, qsizetype target)
{
    const QString id = messages.at(target)->id;
    if (target > 0 && isReminder(*messages.at(target - 1)))
        return true;
    for (qsizetype i = 0; !id.isEmpty() && i < target; ++i) {
        const Message &message = *messages.at(i);
        if (isReminder(message) && (stringOf(message.kwargs, reminderTargetKey) == id || message.id == id + reminderSuffix()))
            return true;
    }
    return false;
}

bool isAnswered(const MessageList &messages, qsizetype target)
{
    for (qsizetype i = target + 1; i < messages.size(); ++i) {
        if (messages.at(i)->role == Role::Ai)
            return true;
    }
    return false;
}

QString keyOf(const Message &target)
{
    return target.id.isEmpty() ? QStringLiteral("sha256:") + sha256Hex(originalText(target)) : target.id;
}

QString reminderText(const Skill &skill, const QByteArray &content, const QString &request)
{
    const auto attribute = [](const QString &text) { return escapeMarkup(text, true); };
    const QString asked = pythonStrip(request).isEmpty()
        ? QStringLiteral("The person gave no request of their own. Ask what to do with this skill.")
        : escapeMarkup(request);
    return QStringLiteral("<slash_skill_activation>\nThe person activated the skill below with a slash command. Follow its "
                          "instructions for the request.\n<user_request>\n")
        + asked + QStringLiteral("\n</user_request>\n<skill name=\"") + attribute(skill.name) + QStringLiteral("\" category=\"")
        + attribute(skill.category) + QStringLiteral("\" path=\"") + attribute(skill.containerPath) + QStringLiteral("\" sha256=\"")
        + sha256Hex(content) + QStringLiteral("\" editable=\"") + (skill.category == u"custom" ? QStringLiteral("true") : QStringLiteral("false"))
        + QStringLiteral("\">\n<skill_content encoding=\"xml-escaped\">\n") + escapeMarkup(QString::fromUtf8(content))
        + QStringLiteral("\n</skill_content>\n</skill>\n</slash_skill_activation>");
}

MessagePtr reminderFor(const Message &target, const QString &text)
{
    Message message;
    message.role = Role::Human;
    message.id = (target.id.isEmpty() ? newUuid() : target.id) + reminderSuffix();
    message.content = toJson(text);
    message.kwargs["hide_from_ui"] = true;
    message.kwargs[reminderKey] = true;
    message.kwargs[reminderTargetKey] = target.id.isEmpty() ? Json() : toJson(target.id);
    return makeMessage(std::move(message));
}

/// What the disk said about a slash command.
struct Found {
    QString refusal; ///< the answer for the person; empty: use the rest
    Skill skill;
    QByteArray content;
};

Found unusable(const QString &name, const QString &why)
{
    return {QStringLiteral("Skill `/") + name + QStringLiteral("` ") + why, {}, {}};
}

/// On a pool thread. The order of the checks is part of the contract.
Found findSkill(const SkillOptions &options, const QString &name)
{
    const auto list = options.source->load();
    if (!list)
        return unusable(name, QStringLiteral("could not be resolved."));
    const Skill *skill = skillNamed(*list, name);
    if (!skill)
        return unusable(name, QStringLiteral("is not installed."));
    if (!skill->enabled)
        return unusable(name, QStringLiteral("is installed but disabled. Enable it before using slash activation."));
    if (!isListed(options.available, name))
        return unusable(name, QStringLiteral("is not available for this agent."));
    const auto content = options.source->read(*skill);
    if (!content)
        return unusable(name, QStringLiteral("could not be loaded safely. Please check the skill installation."));
    return {{}, *skill, *content};
}

/// The request with the reminder in it, or the text to answer with instead of asking the model.
struct Activated {
    MessageList messages;
    QString refusal;
};

MessageList withReminder(MessageList messages, qsizetype target, MessagePtr reminder)
{
    messages.insert(target, std::move(reminder));
    return messages;
}

Task<Activated> activate(ActivationStatePtr state, MessageList messages, RuntimePtr runtime)
{
    const qsizetype target = lastUserMessage(messages);
    if (target < 0 || isReminded(messages, target))
        co_return Activated{messages, {}};
    const MessagePtr asked = messages.at(target);
    const QString key = keyOf(*asked);
    if (stringOf(runtime->values, slashRunKey) == key) {
        if (state->reminder && state->activatedKey == key && !isAnswered(messages, target)) // the call is tried again
            co_return Activated{withReminder(messages, target, state->reminder), {}};
        co_return Activated{messages, {}};
    }
    const auto command = parseSlashCommand(originalText(*asked));
    if (!command)
        co_return Activated{messages, {}};
    const Found found = co_await runOnPool([options = state->options, name = command->name] { return findSkill(options, name); });
    if (!found.refusal.isEmpty())
        co_return Activated{messages, found.refusal};
    const Skill &skill = found.skill;
    runtime->values[slashRunKey] = toUtf8(key);
    runtime->values[slashSourceKey] = Json{{"path", toUtf8(skill.containerPath)}, {"owner_token", toUtf8(state->options.ownerToken)}};
    recordMiddleware(*runtime, QStringLiteral("skill_activation"), QStringLiteral("activate"),
                     Json{{"skill_name", toUtf8(skill.name)},
                          {"category", toUtf8(skill.category)},
                          {"path", toUtf8(skill.containerPath)},
                          {"content_hash", toUtf8(sha256Hex(found.content))}});
    state->activatedKey = key;
    state->reminder = reminderFor(*asked, reminderText(skill, found.content, command->rest));
    co_return Activated{withReminder(messages, target, state->reminder), {}};
}

Task<> bindForCall(ActivationStatePtr state, AgentState agent, RuntimePtr runtime)
{
    const Json secrets = memberOf(runtime->values, "secrets");
    if (!secrets.is_object())
        co_return;
    const QString slash = slashSkillPath(runtime->values, state->options.ownerToken);
    const QStringList loaded = loadedSkillPaths(agent);
    SecretBinding binding;
    if (!slash.isEmpty() || !loaded.isEmpty()) {
        const auto list = co_await runOnPool([source = state->options.source] { return source->load(); });
        binding = bindSecrets(secrets, list ? &*list : nullptr, slash, loaded, state->options.available);
    }
    applyBinding(*runtime, binding);
}

Task<Result<ModelResponse>> activatedCall(ActivationStatePtr state, ModelCall call, ModelNext next)
{
    if (state->options.ownerToken.isEmpty())
        co_return fail(ErrorCode::FailedPrecondition, QStringLiteral("Skill activation was built without an owner token"));
    if (!call.runtime->values.is_object())
        call.runtime->values = Json::object();
    Activated activated = co_await activate(state, call.request.messages, call.runtime);
    if (call.stop.stop_requested())
        co_return cancelled();
    if (!activated.refusal.isEmpty())
        co_return ModelResponse{{aiMessage(activated.refusal)}, {}};
    co_await bindForCall(state, call.state, call.runtime);
    if (call.stop.stop_requested())
        co_return cancelled();
    call.request.messages = std::move(activated.messages);
    co_return co_await next(std::move(call));
}

} // namespace

SkillActivationMiddleware::SkillActivationMiddleware(SkillOptions options)
    : m_state(std::make_shared<State>(std::move(options), QString(), nullptr))
{
}

Task<Result<ModelResponse>> SkillActivationMiddleware::wrapModelCall(ModelCall call, ModelNext next)
{
    if (!m_state->options.source)
        return next(std::move(call));
    return activatedCall(m_state, std::move(call), std::move(next));
}

} // namespace paddock
