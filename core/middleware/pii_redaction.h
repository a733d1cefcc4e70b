// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/middleware.h"
#include "core/middleware/pii_redactor.h"

#include <functional>

namespace paddock {

/// Keeps personal data and keys out of a model's context (middleware-base §6): user messages of a request, and what the web
/// and MCP tools return, before anything stores or cuts it. The state keeps what the person wrote. Optional. What cannot be
/// searched passes with a warning, or is withheld with `failClosed`.
class PiiRedactionMiddleware : public Middleware
{
public:
    using Redactor = std::function<Result<RedactedText>(const QString &)>; ///< called on any thread
    explicit PiiRedactionMiddleware(PiiOptions options);
    /// `redactor` stands in for redactPii.
    PiiRedactionMiddleware(PiiOptions options, Redactor redactor);

    QString name() const override { return QStringLiteral("PiiRedactionMiddleware"); }
    Hooks hooks() const override { return Hook::WrapModelCall | Hook::WrapToolCall; }
    Task<Result<ModelResponse>> wrapModelCall(ModelCall call, ModelNext next) override;
    Task<Result<ToolOutcome>> wrapToolCall(ToolCallRequest request, ToolNext next) override;

private:
    struct Rules {
        Redactor redactor;
        bool failClosed = false;
    };
    struct Redacted {
        MessagePtr message; ///< the same object when nothing was found
        QMap<QString, int> counts;
    };
    static Redacted redactedMessage(const Rules &rules, const MessagePtr &message);
    static Task<MessagePtr> redacted(std::shared_ptr<const Rules> rules, RuntimePtr runtime, MessagePtr message);

    const std::shared_ptr<const Rules> m_rules; ///< shared with the calls that run
};

} // namespace paddock
