// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/compaction.h"

#include "core/middleware/message_edits.h"

#include <QHash>
#include <QSet>

#include <algorithm>
#include <cmath>
#include <functional>

namespace paddock {

namespace {

constexpr qint64 tokensPerMessage = 3;
constexpr qint64 maxBlockChars = 4000; ///< of a block without text: an image does not cost what its base64 form is long

qint64 utf8Chars(const std::string &text)
{
    return std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
}

qint64 contentChars(const Json &content)
{
    if (content.is_string())
        return utf8Chars(content.get_ref<const std::string &>());
    if (!content.is_array())
        return content.is_null() ? 0 : dumpJson(content).size();
    qint64 chars = 0;
    for (const Json &block : content) {
        const Json &text = block.is_object() ? memberOf(block, "text") : block;
        chars += text.is_string() ? utf8Chars(text.get_ref<const std::string &>()) : std::min<qint64>(maxBlockChars, dumpJson(block).size());
    }
    return chars;
}

qint64 amountOf(const ContextSize &size, qint64 contextWindow)
{
    const double amount = size.unit == ContextSize::Unit::Fraction ? double(contextWindow) * size.value : size.value;
    return std::max<qint64>(1, qint64(std::floor(amount)));
}

/// The total that the provider told with the last answer, when it was the model that the run uses.
qint64 reportedTokens(const MessageList &messages, const CompactionModel &model)
{
    for (qsizetype i = messages.size() - 1; i >= 0; --i) {
        const Message &message = *messages.at(i);
        if (message.role != Role::Ai)
            continue;
        if (!message.usage)
            return 0;
        const QString provider = stringOf(message.responseMetadata, "model_provider");
        const bool same = provider.isEmpty()
            ? !model.name.isEmpty() && stringOf(message.responseMetadata, "model_name") == model.name
            : provider == model.provider;
        return same ? message.usage->total : 0;
    }
    return 0;
}

/// The places of a call and of its result, whichever comes first.
struct Pair {
    qsizetype first = 0;
    qsizetype last = 0;
};

QStringList issuedIds(const Message &ai)
{
    QStringList ids;
    for (const ToolCall &call : ai.toolCalls)
        ids.append(call.id);
    for (const InvalidToolCall &call : ai.invalidToolCalls)
        ids.append(call.id);
    const Json &raw = memberOf(ai.kwargs, "tool_calls");
    if (ids.isEmpty() && raw.is_array()) {
        for (const Json &call : raw)
            ids.append(stringOf(call, "id"));
    }
    return ids; // empty ones too: the request gives them one, and their results the same
}

/// As the request will have them (middleware-base §9): a result belongs to the most recent ai message that made its call, else
/// to the first call with its id that nothing has answered.
std::vector<Pair> answeredCalls(const MessageList &messages)
{
    struct Call {
        QString id;
        qsizetype ai;
        bool answered = false;
    };
    std::vector<Call> calls;
    std::size_t recent = 0;
    std::vector<Pair> pairs;
    std::vector<qsizetype> left;
    for (qsizetype i = 0; i < messages.size(); ++i) {
        const Message &message = *messages.at(i);
        if (message.role == Role::Ai) {
            recent = calls.size();
            for (const QString &id : issuedIds(message))
                calls.push_back({id, i});
        } else if (message.role == Role::Tool) {
            const auto call = std::find_if(calls.begin() + std::ptrdiff_t(recent), calls.end(),
                                           [&](const Call &c) { return !c.answered && c.id == message.toolCallId; });
            if (call == calls.end()) {
                left.push_back(i);
                continue;
            }
            call->answered = true;
            pairs.push_back({call->ai, i});
        }
    }
    QHash<QString, std::vector<qsizetype>> open; // of each id, the last call first
    for (auto call = calls.rbegin(); call != calls.rend(); ++call) {
        if (!call->answered)
            open[call->id].push_back(call->ai);
    }
    for (const qsizetype result : left) {
        const auto found = open.find(messages.at(result)->toolCallId);
        if (found == open.end() || found->empty())
            continue;
        pairs.push_back({std::min(found->back(), result), std::max(found->back(), result)});
        found->pop_back();
    }
    return pairs;
}

class Planner
{
public:
    explicit Planner(const CompactionInput &input)
        : m_input(input), m_messages(input.messages), m_policy(usablePolicy(input.policy, input.model.contextWindow))
    {
        for (const MessagePtr &message : m_messages)
            m_tokens.push_back(input.tokens ? input.tokens(*message) : approximateTokens(*message, charsPerToken(input.model)));
    }

    CompactionPlan plan()
    {
        CompactionPlan plan;
        for (const qint64 tokens : m_tokens)
            plan.tokensBefore += tokens;
        plan.tokensBefore += summaryTokens();
        plan.triggered = isTriggered(plan.tokensBefore);
        plan.cut = repaired(rawCut());
        if ((plan.triggered || m_input.force) && plan.cut > 0)
            partition(plan);
        if (plan.summarized.empty()) {
            plan.kept = m_messages.toVector();
            plan.tokensKept = plan.tokensBefore - summaryTokens();
        }
        return plan;
    }

private:
    qint64 summaryTokens() const
    {
        if (m_input.summary.isEmpty())
            return 0;
        Message summary;
        summary.name = QStringLiteral("summary");
        summary.content = toJson(m_input.summary);
        return m_input.tokens ? m_input.tokens(summary) : approximateTokens(summary, charsPerToken(m_input.model));
    }

    bool isTriggered(qint64 tokens) const
    {
        const qint64 count = m_messages.size() + (m_input.summary.isEmpty() ? 0 : 1);
        return std::ranges::any_of(m_policy.trigger, [&](const ContextSize &clause) {
            switch (clause.unit) {
            case ContextSize::Unit::Messages: return double(count) >= clause.value;
            case ContextSize::Unit::Tokens:
                return double(tokens) >= clause.value || double(reportedTokens(m_messages, m_input.model)) >= clause.value;
            case ContextSize::Unit::Fraction: return tokens >= amountOf(clause, m_input.model.contextWindow);
            }
            return false;
        });
    }

    /// Before calls and results are looked at.
    qsizetype rawCut() const
    {
        const qsizetype size = m_messages.size();
        if (m_policy.keep.unit == ContextSize::Unit::Messages) {
            const auto keep = qsizetype(m_policy.keep.value);
            return size <= keep ? 0 : size - keep;
        }
        const qint64 target = amountOf(m_policy.keep, m_input.model.contextWindow);
        qsizetype cut = size;
        for (qint64 tokens = 0; cut > 0; --cut) { // tokens of what is kept only grow: the first that does not fit ends it
            tokens += m_tokens[std::size_t(cut - 1)];
            if (tokens > target)
                break;
        }
        return cut == size ? std::max<qsizetype>(0, size - 1) : cut;
    }

    /// Moved so that no result is kept without its call.
    qsizetype repaired(qsizetype cut) const
    {
        if (cut <= 0 || cut >= m_messages.size())
            return cut;
        if (m_messages.at(cut)->role == Role::Tool)
            cut = beforeCallOf(cut);
        // A history whose results stand apart from their calls: no pair may have one side on each.
        std::vector<Pair> pairs = answeredCalls(m_messages);
        std::ranges::sort(pairs, std::greater(), &Pair::first); // so a later move never undoes an earlier one
        for (const Pair &pair : pairs) {
            if (pair.first < cut && pair.last >= cut)
                cut = pair.first;
        }
        return cut;
    }

    qsizetype beforeCallOf(qsizetype cut) const
    {
        QSet<QString> ids;
        qsizetype end = cut;
        for (; end < m_messages.size() && m_messages.at(end)->role == Role::Tool; ++end)
            ids.insert(m_messages.at(end)->toolCallId);
        for (qsizetype i = cut - 1; i >= 0; --i) {
            const Message &message = *m_messages.at(i);
            const auto issued = [&ids](const ToolCall &call) { return !call.id.isEmpty() && ids.contains(call.id); };
            if (message.role == Role::Ai && std::ranges::any_of(message.toolCalls, issued))
                return i;
        }
        return end;
    }

    qsizetype latestRequest() const
    {
        for (qsizetype i = m_messages.size() - 1; i >= 0; --i) {
            if (isGenuineUserMessage(*m_messages.at(i)))
                return i;
        }
        return -1;
    }

    void partition(CompactionPlan &plan) const
    {
        const qsizetype request = latestRequest();
        for (qsizetype i = 0; i < m_messages.size(); ++i) {
            const MessagePtr &message = m_messages.at(i);
            const bool stays = i >= plan.cut || i == request || message->role == Role::System
                || isTruthy(memberOf(message->kwargs, "dynamic_context_reminder"));
            (stays ? plan.kept : plan.summarized).push_back(message);
            plan.tokensKept += stays ? m_tokens[std::size_t(i)] : 0;
        }
        if (plan.summarized.empty()) {
            plan.kept.clear();
            plan.tokensKept = 0;
        }
    }

    const CompactionInput &m_input;
    const MessageList &m_messages;
    const CompactionPolicy m_policy;
    std::vector<qint64> m_tokens;
};

} // namespace

CompactionPlan planCompaction(const CompactionInput &input)
{
    return Planner(input).plan();
}

CompactionPolicy usablePolicy(CompactionPolicy policy, qint64 contextWindow, QStringList *dropped)
{
    if (contextWindow > 0)
        return policy;
    const auto isFraction = [](const ContextSize &size) { return size.unit == ContextSize::Unit::Fraction; };
    if (dropped != nullptr) {
        for (const ContextSize &clause : policy.trigger) {
            if (isFraction(clause))
                dropped->append(QStringLiteral("trigger: fraction %1").arg(clause.value));
        }
        if (isFraction(policy.keep))
            dropped->append(QStringLiteral("keep: fraction %1").arg(policy.keep.value));
    }
    std::erase_if(policy.trigger, isFraction);
    if (isFraction(policy.keep))
        policy.keep = ContextSize{};
    return policy;
}

qint64 approximateTokens(const Message &message, double charsPerToken)
{
    qint64 chars = contentChars(message.content) + roleName(message.role).size() + message.toolCallId.size();
    for (const ToolCall &call : message.toolCalls)
        chars += call.name.size() + call.id.size() + dumpJson(call.args).size();
    for (const InvalidToolCall &call : message.invalidToolCalls)
        chars += call.name.size() + call.id.size() + dumpJson(call.args).size();
    return qint64(std::ceil(double(chars) / charsPerToken)) + tokensPerMessage;
}

double charsPerToken(const CompactionModel &model)
{
    const bool anthropic = model.provider.contains(u"anthropic", Qt::CaseInsensitive) || model.name.startsWith(u"claude", Qt::CaseInsensitive);
    return anthropic ? 3.3 : 4.0;
}

} // namespace paddock
