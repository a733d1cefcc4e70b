// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/deferred_options.h"
#include "core/middleware/middleware.h"

namespace paddock {

/// Hides the schemas of deferred tools from the model until they are promoted, and refuses calls of hidden ones (runtime
/// §4.6). Without state; on its chain's loop.
class DeferredToolFilterMiddleware : public Middleware
{
public:
    explicit DeferredToolFilterMiddleware(DeferredTools tools) : m_tools(std::move(tools)) {}

    QString name() const override { return QStringLiteral("DeferredToolFilterMiddleware"); }
    Hooks hooks() const override { return Hook::WrapModelCall | Hook::WrapToolCall; }
    Task<Result<ModelResponse>> wrapModelCall(ModelCall call, ModelNext next) override;
    Task<Result<ToolOutcome>> wrapToolCall(ToolCallRequest request, ToolNext next) override;

private:
    QSet<QString> hidden(const AgentState &state) const;

    const DeferredTools m_tools;
};

} // namespace paddock
