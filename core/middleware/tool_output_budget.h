// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/middleware.h"
#include "core/middleware/output_budget.h"

namespace paddock {

/// One large tool result must not fill the context (middleware-base §4): it goes to a file of the thread's outputs that the
/// model can read by ranges, and a synopsis stays; where it cannot be stored, head and tail stay. In the history of a request
/// old results are cut and superseded write payloads elided; the state keeps them. Never acquires a sandbox and never fails
/// a call: what cannot be stored falls back. Owns nothing but its options; measuring and writing run on the pool.
class ToolOutputBudgetMiddleware : public Middleware
{
public:
    explicit ToolOutputBudgetMiddleware(OutputBudgetOptions options = {});

    QString name() const override { return QStringLiteral("ToolOutputBudgetMiddleware"); }
    Hooks hooks() const override;
    Task<Result<ModelResponse>> wrapModelCall(ModelCall call, ModelNext next) override;
    Task<Result<ToolOutcome>> wrapToolCall(ToolCallRequest request, ToolNext next) override;

    /// What a model is sent of the history. The same list when nothing is over its limits.
    static MessageList trimmedHistory(const OutputBudgetOptions &options, const MessageList &messages);

private:
    const std::shared_ptr<const OutputBudgetOptions> m_options; ///< shared with the calls that run
};

} // namespace paddock
