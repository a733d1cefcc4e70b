// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/gate_options.h"

#include "core/middleware/guardrail_policies.h"

#include <algorithm>

namespace paddock {

namespace {

/// "some.module:AllowlistProvider" -> "allowlistprovider"
QString providerClass(const QString &use)
{
    const qsizetype cut = std::max(use.lastIndexOf(u':'), use.lastIndexOf(u'.'));
    return use.mid(cut + 1).toLower();
}

std::unexpected<Error> unknownProvider(const char *section, const QString &use, const char *known)
{
    return fail(ErrorCode::InvalidArgument,
                QString::fromLatin1(section) + QStringLiteral(".provider.use: there is no provider '") + use
                    + QStringLiteral("'; the built-in one is '") + QString::fromLatin1(known) + u'\'',
                Json{{"key", std::string(section) + ".provider.use"}});
}

} // namespace

Result<GuardrailGateOptions> withProvider(GuardrailGateOptions options)
{
    if (options.provider || options.use.isEmpty())
        return options;
    if (!providerClass(options.use).startsWith(u"allowlist"))
        return unknownProvider("guardrails", options.use, "allowlist");
    auto provider = AllowlistProvider::fromConfig(options.config);
    if (!provider)
        return fail(provider.error());
    options.provider = std::move(*provider);
    return options;
}

Result<AuthorizationGateOptions> withProvider(AuthorizationGateOptions options)
{
    if (!options.provider) {
        if (options.use.isEmpty())
            return fail(ErrorCode::InvalidArgument, QStringLiteral("authorization is enabled, but authorization.provider is not set"),
                        Json{{"key", "authorization.provider"}});
        if (!providerClass(options.use).startsWith(u"rbac"))
            return unknownProvider("authorization", options.use, "rbac");
        auto provider = RbacProvider::fromConfig(options.config);
        if (!provider)
            return fail(provider.error());
        options.provider = std::move(*provider);
    }
    if (!options.provider->knowsRole(options.defaultRole))
        return fail(ErrorCode::InvalidArgument,
                    QStringLiteral("authorization.default_role: the provider has no role '") + options.defaultRole + u'\'',
                    Json{{"key", "authorization.default_role"}});
    return options;
}

} // namespace paddock
