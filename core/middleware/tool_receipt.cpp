// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/tool_receipt.h"

#include "core/middleware/message_edits.h"

namespace paddock {

namespace {

MessagePtr receipted(const MessagePtr &message, const ToolCall &call, Clock::Wall now)
{
    return edited(message, [&](Message &m) {
        if (!m.kwargs.is_object())
            m.kwargs = Json::object();
        m.kwargs[receiptKey] = makeReceipt(call, *message, now).toJson(); // over whatever the tool itself put there
    });
}

ToolOutcome receiptedOutcome(ToolOutcome outcome, const ToolCall &call, Clock::Wall now)
{
    if (auto *message = std::get_if<MessagePtr>(&outcome)) {
        if (*message && (*message)->role == Role::Tool)
            *message = receipted(*message, call, now);
        return outcome;
    }
    for (MessagePtr &message : std::get<Command>(outcome).update.messages) {
        if (message && message->role == Role::Tool && message->toolCallId == call.id)
            message = receipted(message, call, now);
    }
    return outcome;
}

MessagePtr ledgerMessage(const QString &text)
{
    return edited(humanMessage(text), [](Message &m) {
        m.kwargs["hide_from_ui"] = true;
        m.kwargs[receiptContextKey] = true;
    });
}

/// `ledger` is null when none was shown: then the answer may not bring one of its own.
MessagePtr withSnapshot(const MessagePtr &message, const Json &ledger)
{
    const bool has = message->kwargs.is_object() && message->kwargs.contains(receiptLedgerKey);
    if (message->role != Role::Ai || (ledger.is_null() && !has))
        return message;
    return edited(message, [&ledger](Message &m) {
        if (!m.kwargs.is_object())
            m.kwargs = Json::object();
        if (ledger.is_null())
            m.kwargs.erase(receiptLedgerKey);
        else
            m.kwargs[receiptLedgerKey] = ledger;
    });
}

Task<Result<ToolOutcome>> receiptedCall(ToolCallRequest request, ToolNext next)
{
    const ToolCall call = request.context.call;
    const RuntimePtr runtime = request.context.runtime;
    Result<ToolOutcome> outcome = co_await next(std::move(request));
    if (outcome)
        outcome = receiptedOutcome(std::move(*outcome), call, runtime->clock->wall());
    co_return outcome;
}

Task<Result<ModelResponse>> answeredWithSnapshot(Json ledger, ModelCall call, ModelNext next)
{
    Result<ModelResponse> response = co_await next(std::move(call));
    if (response) {
        for (MessagePtr &message : response->messages) {
            if (message)
                message = withSnapshot(message, ledger);
        }
    }
    co_return response;
}

} // namespace

Task<Result<ModelResponse>> ToolReceiptMiddleware::wrapModelCall(ModelCall call, ModelNext next)
{
    ReceiptLedger ledger;
    if (shouldRenderReceipts(m_mode, call.request.messages))
        ledger = renderLedger(call.request.messages);
    Json snapshot;
    if (!ledger.isEmpty()) {
        snapshot = Json::array();
        for (const ToolReceipt &receipt : ledger.shown)
            snapshot.push_back(receipt.toJson());
        call.request.messages = insertAfterLeadingSystem(call.request.messages, ledgerMessage(ledger.text));
    }
    return answeredWithSnapshot(std::move(snapshot), std::move(call), std::move(next));
}

Task<Result<ToolOutcome>> ToolReceiptMiddleware::wrapToolCall(ToolCallRequest request, ToolNext next)
{
    return receiptedCall(std::move(request), std::move(next));
}

} // namespace paddock
