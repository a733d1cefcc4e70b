// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/delegation_ledger.h"

#include "core/base/text.h"
#include "core/message/subagent_report.h"
#include "core/middleware/message_edits.h"

#include <QHash>

#include <algorithm>

namespace paddock {

namespace {

constexpr qsizetype maxLedgerDescription = 200;
constexpr qsizetype maxLedgerBrief = 2000;
constexpr qsizetype maxLedgerShownBrief = 120;
constexpr std::size_t maxLedgerEntries = 50; ///< as the channel's reducer keeps

MessageList tailFrom(const MessageList &messages, qsizetype index)
{
    if (index <= 0)
        return messages;
    std::vector<MessagePtr> tail;
    for (qsizetype i = index; i < messages.size(); ++i)
        tail.push_back(messages.at(i));
    return MessageList(tail);
}

RunTail afterPreRunMessages(const MessageList &messages, const LedgerRun &run)
{
    for (qsizetype i = messages.size() - 1; i >= 0; --i) {
        if (run.preRunMessages.contains(messages.at(i)->id))
            return {tailFrom(messages, i + 1), false};
    }
    return {};
}

Json newEntry(const ToolCall &call, const std::string &createdAt)
{
    QString description = stringOf(call.args, "description");
    if (description.isEmpty())
        description = stringOf(call.args, "prompt");
    return Json{{"id", toUtf8(call.id)},
                {"description", toUtf8(firstCodePoints(description, maxLedgerDescription))},
                {"subagent_type", toUtf8(stringOf(call.args, "subagent_type"))},
                {"status", "in_progress"},
                {"created_at", createdAt}};
}

void closeEntry(Json &entry, const Message &result)
{
    const Json report = readReport(result.kwargs);
    if (!report.is_object())
        return;
    const QString status = stringOf(report, "status");
    entry["status"] = toUtf8(status);
    if (const auto reason = optionalString(report, "stop_reason"))
        entry["stop_reason"] = toUtf8(*reason);
    QString text = stringOf(report, "result_brief");
    if (text.isEmpty())
        text = stringOf(report, "error");
    if (text.isEmpty())
        text = reportDefault(status);
    text = boundText(text, maxLedgerBrief);
    entry["result_brief"] = toUtf8(text);
    entry["result_sha256"] = toUtf8(stringOf(report, "result_sha256", sha256Hex(text)));
    entry["result_ref"] = toUtf8(result.id.isEmpty() ? result.toolCallId : result.id);
}

bool isOpenEntry(const Json &entry)
{
    return stringOf(entry, "status") == u"in_progress";
}

/// Call ids repeat between runs: an entry of another known run is another delegation [K-13].
bool mayBeOfRun(const Json &entry, const QString &run)
{
    const QString of = stringOf(entry, "run_id");
    return of.isEmpty() || run.isEmpty() || of == run;
}

const Json *knownEntry(const Json &existing, const QString &id, const QString &run)
{
    const auto found = std::find_if(existing.begin(), existing.end(), [&](const Json &entry) {
        return stringOf(entry, "id") == id && mayBeOfRun(entry, run);
    });
    return found == existing.end() ? nullptr : &*found;
}

bool differs(const Json &before, const Json &now)
{
    static constexpr const char *stable[] = {"description", "subagent_type", "status", "run_id",
                                             "result_brief", "result_sha256", "result_ref"};
    return std::ranges::any_of(stable, [&](const char *field) { return memberOf(before, field) != memberOf(now, field); });
}

/// A full ledger has dropped its oldest; what is older than the oldest kept stays out.
std::size_t firstRetained(const std::vector<Json> &entries, const Json &existing, const QString &run)
{
    if (existing.size() < maxLedgerEntries)
        return 0;
    if (mayBeOfRun(existing.front(), run)) {
        const QString oldest = stringOf(existing.front(), "id");
        const auto found = std::ranges::find_if(entries, [&](const Json &entry) { return stringOf(entry, "id") == oldest; });
        if (found != entries.end())
            return std::size_t(found - entries.begin());
    }
    return entries.size() > maxLedgerEntries ? entries.size() - maxLedgerEntries : 0;
}

QString guidance(const QString &status, const QString &stopReason)
{
    if (!stopReason.isEmpty() && status == u"completed")
        return QStringLiteral("a guardrail cap ended it with a partial result; use that part, retry it with a smaller scope, or raise the budget of "
                              "that agent (max_turns, token_budget)");
    if (!stopReason.isEmpty())
        return QStringLiteral("a guardrail cap ended it without any usable result; retry with a smaller scope or raise its budget "
                              "(max_turns, token_budget)");
    if (status == u"in_progress")
        return QStringLiteral("already delegated; do NOT delegate again; its result will yet come to you");
    if (status == u"completed")
        return QStringLiteral("finished; do NOT delegate it again; reuse its result as is");
    if (status == u"failed")
        return QStringLiteral("it failed; may be retried with a changed plan");
    if (status == u"cancelled")
        return QStringLiteral("it was cancelled; may be retried with a new plan");
    if (status == u"timed_out")
        return QStringLiteral("it ran out of time; may be tried with a new plan");
    if (status == u"polling_timed_out")
        return QStringLiteral("waiting for it took too long; retry it with another plan");
    return QStringLiteral("look at its status before you retry it");
}

QString ledgerLine(const Json &entry)
{
    const QString status = stringOf(entry, "status");
    QString line = QStringLiteral("- [") + escapedLine(status) + QStringLiteral("] ") + escapedLine(stringOf(entry, "description"))
        + QStringLiteral(" (via ") + escapedLine(stringOf(entry, "subagent_type")) + QStringLiteral("; ")
        + guidance(status, stringOf(entry, "stop_reason")) + u')';
    const QString brief = stringOf(entry, "result_brief");
    if (!brief.isEmpty())
        line += QStringLiteral(" -> ") + escapedLine(boundText(brief, maxLedgerShownBrief));
    return line;
}

QString omittedLine(qsizetype count)
{
    return QStringLiteral("- ... %1 older delegations are not shown here, because otherwise the list is too long").arg(count);
}

/// The ledger while it grows; knows its length.
struct LedgerLines {
    QStringList lines;
    qsizetype chars = 0;
    qsizetype limit = 0;

    bool fits(const QString &line) const { return chars + (lines.isEmpty() ? 0 : 1) + codePointCount(line) <= limit; }
    void add(const QString &line)
    {
        chars += (lines.isEmpty() ? 0 : 1) + codePointCount(line);
        lines.append(line);
    }
    void dropLast()
    {
        chars -= codePointCount(lines.last()) + (lines.size() > 1 ? 1 : 0);
        lines.removeLast();
    }
};

} // namespace

LedgerRun ledgerRunOf(const Json &runtimeValues)
{
    LedgerRun run;
    run.id = stringOf(runtimeValues, "run_id");
    const Json &ids = memberOf(runtimeValues, preRunMessagesKey);
    if (ids.is_array()) {
        for (const Json &id : ids) {
            if (id.is_string() && !id.get_ref<const std::string &>().empty())
                run.preRunMessages.insert(textOf(id));
        }
    }
    return run;
}

RunTail messagesOfRun(const MessageList &messages, const LedgerRun &run)
{
    if (run.id.isEmpty())
        return {messages, false};
    for (qsizetype i = messages.size() - 1; i >= 0; --i) {
        const Message &message = *messages.at(i);
        if (message.role != Role::Human)
            continue;
        const Json &of = memberOf(message.kwargs, "run_id");
        if (of.is_string() && textOf(of) == run.id)
            return {tailFrom(messages, i + 1), true};
        if (of.is_null() && !run.preRunMessages.contains(message.id))
            return {tailFrom(messages, i + 1), true};
        break;
    }
    return afterPreRunMessages(messages, run);
}

std::vector<Json> extractDelegations(const MessageList &messages, Clock::Wall now)
{
    const std::string createdAt = toUtf8(formatWall(now));
    std::vector<Json> entries;
    QHash<QString, std::size_t> places;
    for (const MessagePtr &message : messages) {
        if (message->role != Role::Ai)
            continue;
        for (const ToolCall &call : message->toolCalls) {
            if (call.name != u"task" || call.id.isEmpty())
                continue;
            const auto known = places.constFind(call.id);
            if (known != places.constEnd()) {
                entries[*known] = newEntry(call, createdAt);
                continue;
            }
            places.insert(call.id, entries.size());
            entries.push_back(newEntry(call, createdAt));
        }
    }
    if (entries.empty())
        return entries;
    for (const MessagePtr &message : messages) {
        if (message->role != Role::Tool)
            continue;
        const auto known = places.constFind(message->toolCallId);
        if (known != places.constEnd())
            closeEntry(entries[*known], *message);
    }
    return entries;
}

Json changedDelegations(const MessageList &messages, const LedgerRun &run, const Json &channel, Clock::Wall now)
{
    const Json existing = channel.is_array() ? channel : Json::array();
    const RunTail tail = messagesOfRun(messages, run);
    Json changed = Json::array();
    if (tail.isNewTurn) {
        for (const Json &entry : existing) {
            if (!isOpenEntry(entry) || mayBeOfRun(entry, run.id))
                continue;
            Json closed = entry;
            closed["status"] = "cancelled";
            changed.push_back(std::move(closed));
        }
    }
    std::vector<Json> entries = extractDelegations(tail.messages, now);
    for (std::size_t i = firstRetained(entries, existing, run.id); i < entries.size(); ++i) {
        Json &entry = entries[i];
        const Json *known = knownEntry(existing, stringOf(entry, "id"), run.id);
        const QString of = known != nullptr ? stringOf(*known, "run_id") : run.id;
        if (!of.isEmpty())
            entry["run_id"] = toUtf8(of);
        if (known == nullptr || (differs(*known, entry) && (isOpenEntry(*known) || !isOpenEntry(entry))))
            changed.push_back(std::move(entry));
    }
    return changed;
}

QString renderDelegations(const Json &entries, qsizetype maxChars)
{
    if (!entries.is_array() || entries.empty())
        return {};
    LedgerLines ledger{{}, 0, maxChars};
    ledger.add(QStringLiteral("## Work already given out"));
    ledger.add(QStringLiteral("The newest entry comes first. An entry in progress is under way already. Results of completed entries can be "
                              "used again. Failed, cancelled or timed-out entries are old tries."));
    qsizetype omitted = 0;
    for (std::size_t i = entries.size(); i-- > 0;) {
        const QString line = ledgerLine(entries[i]);
        if (!ledger.fits(line)) {
            omitted = qsizetype(i) + 1;
            break;
        }
        ledger.add(line);
    }
    if (omitted > 0) {
        while (ledger.lines.size() > 2 && !ledger.fits(omittedLine(omitted))) {
            ledger.dropLast();
            ++omitted;
        }
        if (ledger.fits(omittedLine(omitted)))
            ledger.add(omittedLine(omitted));
    }
    return firstCodePoints(ledger.lines.join(u'\n'), maxChars);
}

} // namespace paddock
