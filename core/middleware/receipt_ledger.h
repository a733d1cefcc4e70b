// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/clock.h"
#include "core/message/message_list.h"

#include <QStringList>

#include <optional>
#include <utility>
#include <vector>

namespace paddock {

// Facts about tool calls that a model can cite and a parent can check without a model (middleware-base §11). Pure; any thread.

inline constexpr auto receiptKey = "deerflow_tool_receipt";                    ///< on a tool message
inline constexpr auto receiptLedgerKey = "deerflow_tool_receipt_ledger";       ///< on an ai message: what it could cite
inline constexpr auto receiptContextKey = "deerflow_tool_receipt_context";     ///< marks the injected ledger
inline constexpr auto childReceiptsKey = "deerflow_subagent_tool_receipts";    ///< on the result of a delegation
inline constexpr qsizetype receiptBudgetChars = 2000;

struct ToolReceipt {
    QString id; ///< "r1", …; empty until the receipts of a list are numbered
    QString toolCallId;
    QString toolName;
    QString status; ///< success, error, partial_success
    QString argsHash;
    QString outputHash;
    qint64 outputBytes = 0;
    QString createdAt;

    Json toJson() const; ///< with the id when there is one
    /// nullopt for what is no valid receipt; the id is taken when it is a string.
    static std::optional<ToolReceipt> fromJson(const Json &value);
};

ToolReceipt makeReceipt(const ToolCall &call, const Message &result, Clock::Wall now);
/// The valid receipts of the tool messages, in their order, numbered from r1.
std::vector<ToolReceipt> extractReceipts(const MessageList &messages);

/// What a model is shown, and the receipts that it can really see there.
struct ReceiptLedger {
    QString text; ///< empty: nothing to show
    std::vector<ToolReceipt> shown;
    bool isEmpty() const { return text.isEmpty(); }
};
/// The newest numbered receipts that fit.
ReceiptLedger renderReceipts(const std::vector<ToolReceipt> &receipts, qsizetype maxChars = receiptBudgetChars);
/// The receipts of the list and those that delegations brought back; the latter have the first claim on the space.
ReceiptLedger renderLedger(const MessageList &messages, qsizetype maxChars = receiptBudgetChars);

enum class ReceiptRenderMode { Always, DelegationOnly };
/// `delegation_only`: while the result of a delegation of this turn is being worked on.
bool shouldRenderReceipts(ReceiptRenderMode mode, const MessageList &messages);

/// A citation "[r3 write_file]": the id without leading zeros, and the word behind it (null when there is none).
using ReceiptCitation = std::pair<QString, QString>;
/// Each pair once, in the order of first use.
std::vector<ReceiptCitation> receiptCitations(const QString &text);
/// What the last ai message with a snapshot could cite; nullopt when none has one or it is damaged: then nothing is
/// evidence, and no other list takes its place.
std::optional<std::vector<ToolReceipt>> receiptSnapshot(const MessageList &messages);

} // namespace paddock
