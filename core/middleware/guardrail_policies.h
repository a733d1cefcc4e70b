// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/guardrail_provider.h"

#include <QHash>
#include <QSet>

#include <optional>

namespace paddock {

// The built-in providers (middleware-base §12). Both are values that do not change after construction: any thread.

/// Allows by name. An absent list of allowed tools allows all, an empty one none.
class AllowlistProvider : public GuardrailProvider
{
public:
    explicit AllowlistProvider(std::optional<QStringList> allowed, QStringList denied = {})
        : m_allowed(std::move(allowed)), m_denied(std::move(denied))
    {
    }
    /// {allowed_tools, denied_tools}: lists of names or null.
    static Result<std::shared_ptr<AllowlistProvider>> fromConfig(const Json &config);

    GuardrailDecision decide(const QString &tool) const;
    Task<Result<GuardrailDecision>> evaluate(GuardrailRequest request, std::stop_token stop) override;

private:
    const std::optional<QStringList> m_allowed;
    const QStringList m_denied;
};

/// Roles with an allow and a deny list per kind of resource.
class RbacProvider : public AuthorizationProvider
{
public:
    /// {roles: {role: {resource key: {allow, deny}}}}; every other form is an error that names the place.
    static Result<std::shared_ptr<RbacProvider>> fromConfig(const Json &config);

    Result<GuardrailDecision> decide(const QString &role, const QString &resource, const QString &target) const;
    Task<Result<GuardrailDecision>> authorize(Principal principal, QString resource, QString action, QString target) override;
    Task<Result<QStringList>> filter(Principal principal, QString resource, QStringList candidates) override;
    bool knowsRole(const QString &role) const override { return m_roles.contains(role); }

private:
    struct Policy {
        bool allowAll = true;
        QSet<QString> allowed;
        QSet<QString> denied;
        bool permits(const QString &target) const { return !denied.contains(target) && (allowAll || allowed.contains(target)); }
    };
    using Policies = QHash<QString, Policy>; ///< by resource key
    RbacProvider() = default;
    static Result<Policy> readPolicy(const QString &place, const Json &value);
    Result<const Policies *> policiesOf(const QString &role, const QString &resource) const;

    QHash<QString, Policies> m_roles;
};

} // namespace paddock
