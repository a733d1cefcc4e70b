// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/middleware.h"
#include "core/middleware/receipt_ledger.h"

namespace paddock {

/// Stamps every tool result, refusals too, with a receipt, shows the model the ledger and keeps with its answer what it
/// could cite (middleware-base §11). Without state; lives on its chain's loop. A subagent's chain always renders.
class ToolReceiptMiddleware : public Middleware
{
public:
    explicit ToolReceiptMiddleware(ReceiptRenderMode mode = ReceiptRenderMode::Always) : m_mode(mode) {}

    QString name() const override { return QStringLiteral("ToolReceiptMiddleware"); }
    Hooks hooks() const override { return Hook::WrapModelCall | Hook::WrapToolCall; }
    Task<Result<ModelResponse>> wrapModelCall(ModelCall call, ModelNext next) override;
    Task<Result<ToolOutcome>> wrapToolCall(ToolCallRequest request, ToolNext next) override;

private:
    const ReceiptRenderMode m_mode;
};

} // namespace paddock
