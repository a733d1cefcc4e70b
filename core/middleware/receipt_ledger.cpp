// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/receipt_ledger.h"

#include "core/base/text.h"
#include "core/middleware/message_edits.h"
#include "core/middleware/tool_meta.h"

#include <QRegularExpression>

#include <algorithm>

namespace paddock {

namespace {

constexpr qsizetype shortHashChars = 16;
constexpr qsizetype maxReceiptFieldChars = 256;
constexpr qsizetype maxReceiptIdChars = 32;
constexpr std::size_t maxChildReceipts = 256;
constexpr qsizetype maxCitedDigits = 10;

const QStringList &directHeader()
{
    static const QStringList lines{
        QStringLiteral("## Tool receipts (execution record)"),
        QStringLiteral("Cite receipt ids (e.g. [r1 write_file]) in your final report for every claim about an action you took."),
        QStringLiteral("Execution evidence only \u2014 receipts record that a call happened and its status; they do not validate "
                       "claim correctness or task acceptance.")};
    return lines;
}

const QStringList &childHeader()
{
    static const QStringList lines{
        QStringLiteral("## Subagent tool receipts (execution record)"),
        QStringLiteral("Child ids are task-scoped: [task:<task-call-id>/rN]; child [rN] maps to that id."),
        QStringLiteral("Execution evidence only; not proof of correctness or acceptance.")};
    return lines;
}

QString shortHash(const QByteArray &bytes)
{
    return sha256Hex(bytes).first(shortHashChars);
}

QString numberedId(std::size_t number)
{
    return QStringLiteral("r%1").arg(number);
}

qsizetype charsOf(const QStringList &lines)
{
    return codePointCount(lines.join(u'\n'));
}

QString boundedLedger(const QString &text, qsizetype maxChars)
{
    static const QString ending = QStringLiteral("\n...");
    if (codePointCount(text) <= maxChars)
        return text;
    if (maxChars <= ending.size())
        return firstCodePoints(text, std::max<qsizetype>(0, maxChars));
    return firstCodePoints(text, maxChars - ending.size()) + ending;
}

/// The newest lines that fit behind the header, oldest first, with a note where some are missing.
struct FittedLines {
    QStringList lines;
    qsizetype kept = 0;
};
FittedLines fitted(const QStringList &header, const QString &omission, const QStringList &all, qsizetype maxChars)
{
    FittedLines out{header + all, all.size()};
    if (charsOf(out.lines) <= maxChars)
        return out;
    qsizetype chars = charsOf(header + QStringList{omission});
    out.kept = 0;
    while (out.kept < all.size()) {
        chars += 1 + codePointCount(all.at(all.size() - 1 - out.kept)); // with its line end
        if (chars > maxChars)
            break;
        ++out.kept;
    }
    out.lines = header + QStringList{omission} + all.last(out.kept);
    return out;
}

QString factsOf(const ToolReceipt &receipt)
{
    return receipt.toolName + QStringLiteral(" status=") + receipt.status + QStringLiteral(" args_sha256=") + receipt.argsHash
        + QStringLiteral(" output_sha256=") + receipt.outputHash + QStringLiteral(" bytes=") + QString::number(receipt.outputBytes);
}

/// What delegations of the list brought back, as lines.
QStringList childLines(const MessageList &messages)
{
    QStringList lines;
    for (const MessagePtr &message : messages) {
        const Json &children = memberOf(message->kwargs, childReceiptsKey);
        if (message->role != Role::Tool || !children.is_array())
            continue;
        const QString scope = message->toolCallId.isEmpty() ? QStringLiteral("unknown") : message->toolCallId;
        std::size_t valid = 0;
        for (std::size_t i = 0; i < std::min(children.size(), maxChildReceipts); ++i) {
            auto receipt = ToolReceipt::fromJson(children[i]);
            if (!receipt)
                continue;
            ++valid;
            if (receipt->id.isEmpty() || receipt->id.size() > maxReceiptIdChars)
                receipt->id = numberedId(valid);
            lines.append(QStringLiteral("- [task:") + scope + u'/' + receipt->id + QStringLiteral("] (child citation [") + receipt->id
                         + QStringLiteral("]) ") + factsOf(*receipt));
        }
    }
    return lines;
}

/// The digits of a citation as Unicode has them, in plain form and without leading zeros; empty when there are too many.
QString plainNumber(const QString &digits)
{
    const QList<uint> points = digits.toUcs4();
    if (points.size() > maxCitedDigits)
        return {};
    qint64 number = 0;
    for (const uint point : points)
        number = number * 10 + std::max(0, QChar::digitValue(char32_t(point)));
    return QString::number(number);
}

} // namespace

Json ToolReceipt::toJson() const
{
    Json value = Json::object();
    if (!id.isEmpty())
        value["id"] = toUtf8(id);
    value["tool_call_id"] = toUtf8(toolCallId);
    value["tool_name"] = toUtf8(toolName);
    value["status"] = toUtf8(status);
    value["args_sha256"] = toUtf8(argsHash);
    value["output_sha256"] = toUtf8(outputHash);
    value["output_bytes"] = outputBytes;
    value["created_at"] = toUtf8(createdAt);
    return value;
}

std::optional<ToolReceipt> ToolReceipt::fromJson(const Json &value)
{
    if (!value.is_object())
        return std::nullopt;
    ToolReceipt receipt;
    for (const auto &[key, field] : {std::pair{"tool_call_id", &receipt.toolCallId}, std::pair{"tool_name", &receipt.toolName},
                                     std::pair{"status", &receipt.status}, std::pair{"args_sha256", &receipt.argsHash},
                                     std::pair{"output_sha256", &receipt.outputHash}, std::pair{"created_at", &receipt.createdAt}}) {
        const auto text = optionalString(value, key);
        if (!text || codePointCount(*text) > maxReceiptFieldChars)
            return std::nullopt;
        *field = *text;
    }
    const Json &bytes = memberOf(value, "output_bytes");
    if (!bytes.is_number_integer() || intOf(value, "output_bytes", -1) < 0)
        return std::nullopt;
    receipt.outputBytes = intOf(value, "output_bytes");
    receipt.id = stringOf(value, "id");
    return receipt;
}

ToolReceipt makeReceipt(const ToolCall &call, const Message &result, Clock::Wall now)
{
    ToolReceipt receipt;
    receipt.toolCallId = call.id;
    receipt.toolName = call.name;
    receipt.status = stringOf(memberOf(result.kwargs, toolMetaKey), "status");
    if (receipt.status.isEmpty())
        receipt.status = result.status == ToolStatus::Error ? QStringLiteral("error") : QStringLiteral("success");
    receipt.argsHash = shortHash(dumpJsonPythonSorted(call.args.is_object() ? call.args : Json::object()));
    const QByteArray output = result.content.is_string() ? QByteArray::fromStdString(result.content.get<std::string>())
                                                         : dumpJsonPythonSorted(result.content);
    receipt.outputHash = shortHash(output);
    receipt.outputBytes = output.size();
    receipt.createdAt = formatWall(now);
    return receipt;
}

std::vector<ToolReceipt> extractReceipts(const MessageList &messages)
{
    std::vector<ToolReceipt> receipts;
    for (const MessagePtr &message : messages) {
        if (message->role != Role::Tool)
            continue;
        auto receipt = ToolReceipt::fromJson(memberOf(message->kwargs, receiptKey));
        if (!receipt)
            continue;
        receipt->id = numberedId(receipts.size() + 1);
        receipts.push_back(std::move(*receipt));
    }
    return receipts;
}

ReceiptLedger renderReceipts(const std::vector<ToolReceipt> &receipts, qsizetype maxChars)
{
    ReceiptLedger ledger;
    if (receipts.empty() || maxChars <= 0)
        return ledger;
    QStringList lines;
    for (const ToolReceipt &receipt : receipts)
        lines.append(QStringLiteral("- [") + receipt.id + QStringLiteral("] ") + factsOf(receipt));
    const FittedLines fit = fitted(directHeader(), QStringLiteral("- ... older receipts omitted (context budget)"), lines, maxChars);
    ledger.text = boundedLedger(fit.lines.join(u'\n'), maxChars);
    ledger.shown.assign(receipts.end() - fit.kept, receipts.end());
    return ledger;
}

ReceiptLedger renderLedger(const MessageList &messages, qsizetype maxChars)
{
    const std::vector<ToolReceipt> direct = extractReceipts(messages);
    const QStringList children = childLines(messages);
    if (children.isEmpty() || maxChars <= 0)
        return renderReceipts(direct, maxChars);
    const FittedLines fit = fitted(childHeader(), QStringLiteral("- ... older child receipts omitted (context budget)"), children, maxChars);
    const QString childText = boundedLedger(fit.lines.join(u'\n'), maxChars);
    const QString gap = QStringLiteral("\n\n");
    const qsizetype left = maxChars - codePointCount(childText) - gap.size();
    ReceiptLedger ledger;
    if (left >= charsOf(directHeader()))
        ledger = renderReceipts(direct, left);
    ledger.text += ledger.isEmpty() ? childText : gap + childText;
    return ledger;
}

bool shouldRenderReceipts(ReceiptRenderMode mode, const MessageList &messages)
{
    if (mode == ReceiptRenderMode::Always)
        return true;
    for (qsizetype i = messages.size() - 1; i >= 0; --i) {
        const Message &message = *messages.at(i);
        if (isGenuineUserMessage(message))
            return false;
        if (message.role == Role::Tool && isTruthy(memberOf(message.kwargs, "subagent_status")))
            return true;
    }
    return false;
}

std::vector<ReceiptCitation> receiptCitations(const QString &text)
{
    static const QRegularExpression pattern(QStringLiteral(R"(\[r(\d+)(?:\s+([A-Za-z_][\w.-]*))?\])"),
                                            QRegularExpression::UseUnicodePropertiesOption);
    std::vector<ReceiptCitation> citations;
    for (auto it = pattern.globalMatch(text); it.hasNext();) {
        const QRegularExpressionMatch match = it.next();
        const QString number = plainNumber(match.captured(1));
        if (number.isEmpty())
            continue;
        ReceiptCitation citation{u'r' + number, match.hasCaptured(2) ? match.captured(2) : QString()};
        if (std::ranges::find(citations, citation) == citations.end())
            citations.push_back(std::move(citation));
    }
    return citations;
}

std::optional<std::vector<ToolReceipt>> receiptSnapshot(const MessageList &messages)
{
    for (qsizetype i = messages.size() - 1; i >= 0; --i) {
        const Message &message = *messages.at(i);
        if (message.role != Role::Ai || !message.kwargs.is_object() || !message.kwargs.contains(receiptLedgerKey))
            continue;
        const Json &entries = message.kwargs[receiptLedgerKey];
        if (!entries.is_array())
            return std::nullopt;
        std::vector<ToolReceipt> receipts;
        quint64 first = 0;
        for (const Json &entry : entries) {
            auto receipt = ToolReceipt::fromJson(entry);
            if (!receipt)
                return std::nullopt;
            if (receipts.empty())
                first = receipt->id.mid(1).toULongLong();
            if (first == 0 || receipt->id != numberedId(first + receipts.size()))
                return std::nullopt;
            receipts.push_back(std::move(*receipt));
        }
        return receipts;
    }
    return std::nullopt;
}

} // namespace paddock
