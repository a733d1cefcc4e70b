// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/guardrail_provider.h"

namespace paddock {

/// `guardrails:` and `authorization:` (middleware-base §12). A provider is given as an object, which may serve several
/// builds, or named by `use` with its `config`; the built-in ones are "allowlist" and "rbac", also by their upstream class
/// paths.
struct GuardrailGateOptions {
    bool failClosed = true;
    QString passport; ///< null: none
    QString use;
    Json config;
    std::shared_ptr<GuardrailProvider> provider;
};
struct AuthorizationGateOptions {
    bool failClosed = true;
    QString defaultRole = QStringLiteral("user");
    QString use;
    Json config;
    std::shared_ptr<AuthorizationProvider> provider;
};

/// The same with the provider made from its name, checked. A guardrail without any stays without: that gate is then absent.
Result<GuardrailGateOptions> withProvider(GuardrailGateOptions options);
/// Authorization without a provider, or with a default role that the provider does not know, is an error.
Result<AuthorizationGateOptions> withProvider(AuthorizationGateOptions options);

} // namespace paddock
