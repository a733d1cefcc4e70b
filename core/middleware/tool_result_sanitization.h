// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/middleware.h"

namespace paddock {

/// Fetched content can forge no framework blocks (middleware-base §5): the four web tools and every MCP-sourced tool;
/// never local ones. What cannot be checked is withheld.
class ToolResultSanitizationMiddleware : public Middleware
{
public:
    QString name() const override { return QStringLiteral("ToolResultSanitizationMiddleware"); }
    Hooks hooks() const override { return Hook::WrapToolCall; }
    Task<Result<ToolOutcome>> wrapToolCall(ToolCallRequest request, ToolNext next) override;

    static bool covers(const QString &tool, bool fromMcp);
    /// Each tool message of the outcome; unchanged ones stay the same object.
    static ToolOutcome sanitize(ToolOutcome outcome);
};

} // namespace paddock
