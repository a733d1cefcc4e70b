// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/guardrail_policies.h"

#include <algorithm>

namespace paddock {

namespace {

std::unexpected<Error> policyError(const QString &place, const QString &what)
{
    return fail(ErrorCode::InvalidArgument, place + QStringLiteral(": ") + what, Json{{"key", toUtf8(place)}});
}

/// A list of non-empty strings, or an error.
Result<QStringList> namesOf(const QString &place, const Json &value)
{
    if (!value.is_array())
        return policyError(place, QStringLiteral("must be a list of names"));
    QStringList names;
    for (const Json &name : value) {
        if (textOf(name).isEmpty())
            return policyError(place, QStringLiteral("must hold non-empty names only"));
        names.append(textOf(name));
    }
    return names;
}

Result<void> checkKeys(const QString &place, const Json &object, std::initializer_list<const char *> known)
{
    if (!object.is_object())
        return policyError(place, QStringLiteral("must be a mapping"));
    for (const auto &[key, value] : object.items()) {
        if (std::ranges::find(known, key) == known.end())
            return policyError(place, QStringLiteral("unknown key '") + QString::fromStdString(key) + u'\'');
    }
    return {};
}

/// The key of the configuration for a kind of resource.
QString resourceKey(const QString &resource)
{
    static const QHash<QString, QString> keys{
        {QStringLiteral("tool"), QStringLiteral("tools")}, {QStringLiteral("model"), QStringLiteral("models")},
        {QStringLiteral("skill"), QStringLiteral("skills")}, {QStringLiteral("sandbox"), QStringLiteral("sandbox")},
        {QStringLiteral("mcp_server"), QStringLiteral("mcp_servers")}, {QStringLiteral("route"), QStringLiteral("routes")}};
    return keys.value(resource, resource);
}

GuardrailDecision decision(bool allow, const QString &code, const QString &message, const QString &policy = {})
{
    return {allow, {{code, message}}, policy, Json::object()};
}

Task<Result<GuardrailDecision>> decided(Result<GuardrailDecision> outcome)
{
    co_return outcome;
}

Task<Result<QStringList>> filtered(Result<QStringList> outcome)
{
    co_return outcome;
}

} // namespace

// --- allowlist ---------------------------------------------------------------------------------------------------------

Result<std::shared_ptr<AllowlistProvider>> AllowlistProvider::fromConfig(const Json &config)
{
    const QString place = QStringLiteral("guardrails.provider.config");
    const Json &object = config.is_null() ? Json::object() : config;
    if (auto known = checkKeys(place, object, {"allowed_tools", "denied_tools"}); !known)
        return fail(known.error());
    std::optional<QStringList> allowed;
    if (const Json &list = memberOf(object, "allowed_tools"); !list.is_null()) {
        auto names = namesOf(place + QStringLiteral(".allowed_tools"), list);
        if (!names)
            return fail(names.error());
        allowed = std::move(*names);
    }
    QStringList denied;
    if (const Json &list = memberOf(object, "denied_tools"); !list.is_null()) {
        auto names = namesOf(place + QStringLiteral(".denied_tools"), list);
        if (!names)
            return fail(names.error());
        denied = std::move(*names);
    }
    return std::make_shared<AllowlistProvider>(std::move(allowed), std::move(denied));
}

GuardrailDecision AllowlistProvider::decide(const QString &tool) const
{
    static const QString refused = QStringLiteral("oap.tool_not_allowed");
    if (m_allowed && !m_allowed->contains(tool))
        return decision(false, refused, QStringLiteral("tool '") + tool + QStringLiteral("' not in allowlist"));
    if (m_denied.contains(tool))
        return decision(false, refused, QStringLiteral("tool '") + tool + QStringLiteral("' is denied"));
    return decision(true, QStringLiteral("oap.allowed"), QString());
}

Task<Result<GuardrailDecision>> AllowlistProvider::evaluate(GuardrailRequest request, std::stop_token)
{
    return decided(decide(request.toolName));
}

// --- roles -------------------------------------------------------------------------------------------------------------

Result<RbacProvider::Policy> RbacProvider::readPolicy(const QString &place, const Json &value)
{
    if (auto known = checkKeys(place, value, {"allow", "deny"}); !known)
        return fail(known.error());
    Policy policy;
    if (value.contains("allow")) {
        const Json &allow = value["allow"];
        policy.allowAll = allow.is_boolean() ? allow.get<bool>() : allow == "*";
        if (!allow.is_boolean() && !policy.allowAll) {
            auto names = namesOf(place + QStringLiteral(".allow"), allow);
            if (!names)
                return fail(names.error());
            policy.allowed = QSet<QString>(names->begin(), names->end());
        }
    }
    if (value.contains("deny")) {
        auto names = namesOf(place + QStringLiteral(".deny"), value["deny"]);
        if (!names)
            return fail(names.error());
        policy.denied = QSet<QString>(names->begin(), names->end());
    }
    return policy;
}

Result<std::shared_ptr<RbacProvider>> RbacProvider::fromConfig(const Json &config)
{
    const QString place = QStringLiteral("authorization.provider.config");
    if (auto known = checkKeys(place, config, {"roles"}); !known)
        return fail(known.error());
    const Json &roles = memberOf(config, "roles");
    if (!roles.is_object())
        return policyError(place + QStringLiteral(".roles"), QStringLiteral("must be a mapping of roles"));
    const std::shared_ptr<RbacProvider> provider(new RbacProvider);
    for (const auto &[role, resources] : roles.items()) {
        const QString rolePlace = place + QStringLiteral(".roles.") + QString::fromStdString(role);
        if (role.empty() || !resources.is_object())
            return policyError(rolePlace, QStringLiteral("must be a named mapping of resources"));
        Policies policies;
        for (const auto &[resource, value] : resources.items()) {
            const QString key = QString::fromStdString(resource);
            const QString resourcePlace = rolePlace + u'.' + key;
            if (resourceKey(key) != key)
                return policyError(resourcePlace, QStringLiteral("the key is '") + resourceKey(key) + u'\'');
            auto policy = readPolicy(resourcePlace, value);
            if (!policy)
                return fail(policy.error());
            policies.insert(key, std::move(*policy));
        }
        provider->m_roles.insert(QString::fromStdString(role), std::move(policies));
    }
    return provider;
}

Result<const RbacProvider::Policies *> RbacProvider::policiesOf(const QString &role, const QString &resource) const
{
    const auto known = m_roles.constFind(role);
    if (role.isEmpty() || known == m_roles.constEnd())
        return fail(ErrorCode::FailedPrecondition, QStringLiteral("there is no role '") + role + u'\'');
    if (resource.isEmpty())
        return fail(ErrorCode::InvalidArgument, QStringLiteral("a decision needs a resource"));
    return &*known;
}

Result<GuardrailDecision> RbacProvider::decide(const QString &role, const QString &resource, const QString &target) const
{
    const auto policies = policiesOf(role, resource);
    if (!policies)
        return fail(policies.error());
    if (target.isEmpty())
        return fail(ErrorCode::InvalidArgument, QStringLiteral("a decision needs a target"));
    const auto policy = (*policies)->constFind(resourceKey(resource));
    if (policy == (*policies)->constEnd())
        return decision(true, QStringLiteral("authz.no_policy"), QStringLiteral("no policy configured"), QStringLiteral("rbac:unrestricted"));
    if (policy->permits(target))
        return decision(true, QStringLiteral("authz.allowed"), QString(), QStringLiteral("rbac:allow"));
    return decision(false, QStringLiteral("authz.denied"),
                    QStringLiteral("role '") + role + QStringLiteral("' is denied '") + target + QStringLiteral("' on resource '") + resource + u'\'',
                    QStringLiteral("rbac:deny"));
}

Task<Result<GuardrailDecision>> RbacProvider::authorize(Principal principal, QString resource, QString, QString target)
{
    return decided(decide(principal.role, resource, target));
}

Task<Result<QStringList>> RbacProvider::filter(Principal principal, QString resource, QStringList candidates)
{
    const auto policies = policiesOf(principal.role, resource);
    if (!policies)
        return filtered(fail(policies.error()));
    const auto policy = (*policies)->constFind(resourceKey(resource));
    if (policy != (*policies)->constEnd())
        candidates.removeIf([&policy](const QString &target) { return !policy->permits(target); });
    return filtered(std::move(candidates));
}

} // namespace paddock
