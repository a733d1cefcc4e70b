// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/skill_secrets.h"

#include "core/middleware/audit_record.h"

namespace paddock {

namespace {

void bindOne(SecretBinding &binding, const Skill &skill, const Json &secrets)
{
    bool any = false;
    for (const SkillSecret &wanted : skill.secrets) {
        const Json &value = memberOf(secrets, wanted.name.toUtf8().constData());
        if (!value.is_string())
            continue;
        binding.values.insert(wanted.name, textOf(value));
        any = true;
    }
    if (any && !binding.skills.contains(skill.name))
        binding.skills.append(skill.name);
}

} // namespace

SecretBinding bindSecrets(const Json &contextSecrets, const SkillList *list, const QString &slashPath, const QStringList &loadedPaths,
                          const std::optional<QStringList> &available)
{
    SecretBinding binding;
    if (!list || !contextSecrets.is_object())
        return binding;
    if (const Skill *skill = slashPath.isEmpty() ? nullptr : usableSkillAt(*list, slashPath, available))
        bindOne(binding, *skill, contextSecrets);
    for (const QString &path : loadedPaths) {
        const Skill *skill = usableSkillAt(*list, path, available);
        if (skill && skill->secretsAutonomous)
            bindOne(binding, *skill, contextSecrets);
    }
    return binding;
}

void applyBinding(RuntimeContext &runtime, const SecretBinding &binding)
{
    Json active = Json::object();
    for (auto it = binding.values.cbegin(); it != binding.values.cend(); ++it)
        active[toUtf8(it.key())] = toUtf8(it.value());
    runtime.values[activeSecretsKey] = std::move(active);
    const Json now{{"skills", namesToJson(binding.skills)}, {"secrets", namesToJson(binding.values.keys())}};
    Json &told = runtime.values[secretsAuditKey];
    if (told == now || (told.is_null() && binding.values.isEmpty()))
        return;
    told = now;
    recordMiddleware(runtime, QStringLiteral("skill_secrets"), QStringLiteral("bind_secrets"), now);
}

} // namespace paddock
