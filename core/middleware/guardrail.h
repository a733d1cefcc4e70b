// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/guardrail_provider.h"
#include "core/middleware/middleware.h"

#include <QSet>

namespace paddock {

/// Asks a provider before each tool call and answers a refused one itself (middleware-base §12). Authorization and
/// guardrail are two of these, authorization the outer one. A provider that cannot decide refuses when the gate fails
/// closed. Lives on its chain's loop.
class GuardrailMiddleware : public Middleware
{
public:
    struct Options {
        QString name = QStringLiteral("GuardrailMiddleware");
        std::shared_ptr<GuardrailProvider> provider; ///< null: it can decide nothing
        bool failClosed = true;
        QString passport; ///< agent_id of the requests; null: none
    };
    explicit GuardrailMiddleware(Options options) : m_options(std::make_shared<const Options>(std::move(options))) {}

    QString name() const override { return m_options->name; }
    Hooks hooks() const override { return Hook::WrapToolCall; }
    Task<Result<ToolOutcome>> wrapToolCall(ToolCallRequest request, ToolNext next) override;

    /// The request for a call; an error when the context's attributes are no mapping.
    static Result<GuardrailRequest> requestFor(const ToolCallContext &context, const QString &passport);
    static MessagePtr denial(const ToolCall &call, const GuardrailDecision &decision);

private:
    std::shared_ptr<const Options> m_options; ///< shared with the calls under way
};

/// Puts an authorization provider behind the gate: resource `tool`, action `call`, target the tool's name.
class AuthorizationGate : public GuardrailProvider
{
public:
    struct Options {
        std::shared_ptr<AuthorizationProvider> provider;
        QString defaultRole = QStringLiteral("user");
        /// Tools of the framework that are made from the already filtered catalogue; allowed without asking.
        QSet<QString> infrastructureTools;
    };
    explicit AuthorizationGate(Options options) : m_options(std::move(options)) {}
    Task<Result<GuardrailDecision>> evaluate(GuardrailRequest request, std::stop_token stop) override;

private:
    const Options m_options;
};

/// The tools that a chain's model is told of: what the provider lets through; when it cannot say, none if the gate fails
/// closed and all otherwise.
Task<QStringList> authorizedTools(std::shared_ptr<AuthorizationProvider> provider, Principal principal, QStringList candidates,
                                  bool failClosed);

} // namespace paddock
