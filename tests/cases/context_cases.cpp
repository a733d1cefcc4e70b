// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// Areas ledger, durable and summarize.
#include "core/base/text.h"
#include "core/middleware/compaction.h"
#include "core/middleware/delegation_ledger.h"
#include "core/middleware/durable_context.h"
#include "core/middleware/message_edits.h"
#include "core/middleware/skill_context.h"
#include "tests/cases/middleware_support.h"

#include <QHash>

namespace paddock::cases::context_cases {

namespace {

// --- ledger ------------------------------------------------------------------------------------------------------------

Verdict ledgerCapture(const Json &testCase)
{
    const Json input = expandParts(memberOf(testCase, "input"));
    const auto messages = messageListOf(memberOf(input, "messages"));
    if (!messages)
        return failed(messages.error().message);
    const Json entries = changedDelegations(*messages, ledgerRunOf(memberOf(input, "context")), memberOf(input, "existing"), Clock::Wall{});
    return verdictOf(mismatch(memberOf(testCase, "expect"), Json{{"entries", entries}}));
}

Verdict ledgerRender(const Json &testCase)
{
    const Json input = expandParts(memberOf(testCase, "input"));
    const qsizetype limit = intOf(input, "max_chars", maxLedgerChars);
    const QString text = renderDelegations(memberOf(input, "entries"), limit);
    Json order = Json::array();
    bool omitted = false;
    const QStringList lines = text.isEmpty() ? QStringList() : text.split(u'\n');
    for (const QString &line : lines) {
        const qsizetype begin = line.indexOf(u"] ");
        const qsizetype end = line.lastIndexOf(u" (via ");
        if (line.startsWith(u"- [") && begin > 0 && end > begin)
            order.push_back(toUtf8(line.sliced(begin + 2, end - begin - 2)));
        else
            omitted = omitted || line.startsWith(u"- ");
    }
    return verdictOf(mismatch(memberOf(testCase, "expect"),
                              Json{{"lines", lines.size()}, {"order", order}, {"omitted", omitted}, {"within", codePointCount(text) <= limit}}));
}

// --- durable -----------------------------------------------------------------------------------------------------------

Verdict durableInject(const Json &testCase)
{
    const Json input = expandParts(memberOf(testCase, "input"));
    const auto messages = messageListOf(memberOf(input, "messages"));
    if (!messages)
        return failed(messages.error().message);
    Json roles = Json::array();
    Json hidden = Json::array();
    const MessageList shown = DurableContextMiddleware::inject(*messages, memberOf(input, "state"), {});
    for (const MessagePtr &message : shown) {
        roles.push_back(toUtf8(roleName(message->role)));
        hidden.push_back(isTruthy(memberOf(message->kwargs, "hide_from_ui")));
    }
    return verdictOf(mismatch(memberOf(testCase, "expect"), Json{{"roles", roles}, {"hidden", hidden}}));
}

Verdict skillsCapture(const Json &testCase)
{
    const Json input = expandParts(memberOf(testCase, "input"));
    const auto messages = messageListOf(memberOf(input, "messages"));
    if (!messages)
        return failed(messages.error().message);
    const DurableContextOptions options;
    const Json skills = changedSkills(*messages, memberOf(input, "existing"), options.skillsRoot, options.skillReadTools);
    return verdictOf(mismatch(memberOf(testCase, "expect"), Json{{"skills", skills}}));
}

// --- summarize ---------------------------------------------------------------------------------------------------------

/// [kind, value], as the case files write a size.
Result<ContextSize> sizeOf(const Json &pair)
{
    using Unit = ContextSize::Unit;
    static const QHash<QString, Unit> units{{QStringLiteral("messages"), Unit::Messages},
                                            {QStringLiteral("tokens"), Unit::Tokens},
                                            {QStringLiteral("fraction"), Unit::Fraction}};
    if (!pair.is_array() || pair.size() != 2 || !pair[1].is_number() || !units.contains(textOf(pair[0])))
        return fail(ErrorCode::InvalidArgument, QStringLiteral("not a size: ") + QString::fromUtf8(dumpJson(pair)));
    return ContextSize{units.value(textOf(pair[0])), pair[1].get<double>()};
}

Json idsOf(const std::vector<MessagePtr> &messages)
{
    Json ids = Json::array();
    for (const MessagePtr &message : messages)
        ids.push_back(toUtf8(message->id));
    return ids;
}

Verdict summarizePlan(const Json &testCase)
{
    const Json input = expandParts(memberOf(testCase, "input"));
    const auto messages = messageListOf(memberOf(input, "messages"));
    if (!messages)
        return failed(messages.error().message);
    CompactionInput plan;
    plan.messages = *messages;
    plan.model.contextWindow = intOf(input, "max_input");
    plan.force = boolOf(input, "force");
    QHash<QString, qint64> tokens;
    for (const Json &message : memberOf(input, "messages")) {
        if (const auto count = optionalInt(message, "tokens"))
            tokens.insert(stringOf(message, "id"), *count);
    }
    const qint64 summaryTokens = intOf(input, "summary_tokens");
    if (summaryTokens > 0)
        plan.summary = QStringLiteral("what was before");
    plan.tokens = [tokens, summaryTokens](const Message &message) {
        if (message.name == u"summary" && message.id.isEmpty())
            return summaryTokens;
        const auto known = tokens.constFind(message.id);
        return known == tokens.constEnd() ? approximateTokens(message) : *known;
    };
    if (const Json &keep = memberOf(input, "keep"); !keep.is_null()) {
        const auto size = sizeOf(keep);
        if (!size)
            return failed(size.error().message);
        plan.policy.keep = *size;
    }
    for (const Json &clause : memberOf(input, "trigger")) {
        const auto size = sizeOf(clause);
        if (!size)
            return failed(size.error().message);
        plan.policy.trigger.push_back(*size);
    }
    const CompactionPlan made = planCompaction(plan);
    return verdictOf(mismatch(memberOf(testCase, "expect"), Json{{"triggered", made.triggered},
                                                                 {"cut", made.cut},
                                                                 {"compacts", !made.summarized.empty()},
                                                                 {"summarized", idsOf(made.summarized)},
                                                                 {"kept", idsOf(made.kept)}}));
}

const Registrar registrars[] = {
    {"ledger#ledger.capture", ledgerCapture}, {"ledger#ledger.render", ledgerRender},
    {"durable#durable.inject", durableInject}, {"durable#skills.capture", skillsCapture},
    {"summarize", summarizePlan},
};

} // namespace

} // namespace paddock::cases::context_cases
