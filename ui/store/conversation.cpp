// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/store/conversation.h"

#include <algorithm>

namespace paddock {

namespace {

QString callKey(const AgentId &agent, const QString &call)
{
    return agent.value() + u'\n' + call;
}

QString summaryOf(const Json &args)
{
    for (const char *key : {"command", "path", "file_path", "pattern", "description", "query", "url"}) {
        const QString text = stringOf(args, key);
        if (!text.isEmpty())
            return headOfCommand(text, 160);
    }
    return {};
}

} // namespace

const Conversation *Conversations::find(const AgentId &agent) const
{
    const auto found = m_byAgent.constFind(agent);
    return found == m_byAgent.constEnd() ? nullptr : &*found;
}

void Conversations::touch(Conversation &conversation, ConversationItem &item)
{
    item.revision = ++conversation.revision;
}

ConversationItem &Conversations::add(const Event &event, ItemKind kind)
{
    Conversation &conversation = m_byAgent[event.agent];
    ConversationItem item;
    item.kind = kind;
    item.at = event.mono.count();
    item.wall = event.time;
    item.span = event.span;
    conversation.items.push_back(std::move(item));
    touch(conversation, conversation.items.back());
    return conversation.items.back();
}

ConversationItem &Conversations::note(const Event &event, NoteKind kind, const QString &subject, const QString &detail)
{
    ConversationItem &item = add(event, ItemKind::Note);
    item.note = kind;
    item.text = subject;
    item.detail = detail;
    return item;
}

ConversationItem *Conversations::openText(const AgentId &agent, int turn, bool reasoning)
{
    const auto found = m_byAgent.find(agent);
    if (found == m_byAgent.end())
        return nullptr;
    const ItemKind kind = reasoning ? ItemKind::Reasoning : ItemKind::Text;
    for (auto item = found->items.rbegin(); item != found->items.rend() && item->turn >= turn; ++item) {
        if (item->kind == kind && item->turn == turn && item->streaming)
            return &*item;
    }
    return nullptr;
}

void Conversations::addDelta(const Event &event, const ModelDelta &delta)
{
    ConversationItem *item = openText(event.agent, delta.turn, delta.reasoning);
    if (!item) {
        item = &add(event, delta.reasoning ? ItemKind::Reasoning : ItemKind::Text);
        item->turn = delta.turn;
        item->streaming = true;
    }
    item->text += delta.text;
    touch(m_byAgent[event.agent], *item);
}

void Conversations::finishReply(const Event &event, const ModelResponded &reply)
{
    if (ConversationItem *thought = openText(event.agent, reply.turn, true)) {
        thought->streaming = false;
        touch(m_byAgent[event.agent], *thought);
    }
    const QString whole = reply.message ? textOf(reply.message) : QString();
    ConversationItem *item = openText(event.agent, reply.turn, false);
    if (!item && whole.trimmed().isEmpty())
        return;
    if (!item) {
        item = &add(event, ItemKind::Text);
        item->turn = reply.turn;
    }
    if (reply.message)
        item->text = whole;
    item->streaming = false;
    touch(m_byAgent[event.agent], *item);
}

void Conversations::failReply(const Event &event, const ModelFailed &failure)
{
    if (ConversationItem *item = openText(event.agent, failure.turn, false)) {
        // The retried call says it all again; what came of this one would read as said twice.
        if (failure.willRetryInMs)
            item->text.clear();
        item->streaming = false;
        touch(m_byAgent[event.agent], *item);
    }
    ConversationItem &item = note(event, failure.willRetryInMs ? NoteKind::ModelRetry : NoteKind::ModelGaveUp,
                                  failure.errorClass, failure.error);
    item.turn = failure.turn;
    item.number = failure.attempt;
    item.amountMs = failure.willRetryInMs.value_or(0);
}

void Conversations::startTool(const Event &event, const ToolStarted &tool)
{
    ConversationItem &item = add(event, ItemKind::ToolCall);
    item.turn = tool.turn;
    item.call = tool.call;
    item.tool = tool.name;
    item.args = tool.args;
    item.summary = summaryOf(tool.args);
    m_calls.insert(callKey(event.agent, tool.call), {event.agent, m_byAgent[event.agent].items.size() - 1});
    if (tool.name == u"task")
        m_prompts.insert(tool.call, stringOf(tool.args, "prompt"));
}

bool Conversations::finishTool(const Event &event, const ToolFinished &tool)
{
    const auto found = m_calls.constFind(callKey(event.agent, tool.call));
    if (found == m_calls.constEnd())
        return false;
    Conversation &conversation = m_byAgent[found->first];
    ConversationItem &item = conversation.items[found->second];
    item.status = m_tasks.statusOf(event.agent, tool);
    item.amountMs = tool.durationMs;
    item.bytes = tool.bytes;
    item.detail = tool.preview;
    item.resultHash = tool.message;
    touch(conversation, item);
    return true;
}

void Conversations::startAgent(const Event &event, const AgentStarted &agent)
{
    const Conversation &sofar = m_byAgent[event.agent];
    if (!sofar.items.empty() && sofar.items.front().kind == ItemKind::Task)
        return; // the lead's task came with run.started
    const QString prompt = m_prompts.value(agent.call);
    ConversationItem &item = add(event, ItemKind::Task);
    item.summary = agent.description;
    item.text = prompt.isEmpty() ? agent.description : prompt;
}

void Conversations::finishAgent(const Event &event, const AgentFinished &agent)
{
    for (ConversationItem &item : m_byAgent[event.agent].items) {
        if (item.streaming || (item.kind == ItemKind::ToolCall && item.status.isEmpty())) {
            item.streaming = false;
            if (item.kind == ItemKind::ToolCall)
                item.status = QStringLiteral("cancelled");
            touch(m_byAgent[event.agent], item);
        }
    }
    const QString why = agent.cause.value_or(agent.error.value_or(QString()));
    if (agent.status == u"failed")
        note(event, NoteKind::AgentFailed, {}, why);
    else if (agent.status == u"cancelled")
        note(event, NoteKind::AgentCancelled, {}, why);
    else if (agent.status == u"timed_out")
        note(event, NoteKind::AgentTimedOut, {}, why);
}

bool Conversations::tellAct(const Event &event, const MiddlewareActed &act)
{
    const Json &changes = act.changes;
    if (act.tag == u"token_budget") {
        const NoteKind kind = act.action == u"hard_stop" ? NoteKind::BudgetStopped : NoteKind::BudgetWarned;
        note(event, kind, stringOf(changes, "kind"), {}).number = int(std::clamp<qint64>(intOf(changes, "percent"), 0, 1000000));
    } else if (act.tag == u"safety_termination") {
        note(event, NoteKind::SafetyStopped, stringOf(changes, "reason_value"), {});
    } else if (act.tag == u"model_length") {
        note(event, NoteKind::LengthCut, stringOf(changes, "reason_value"), {});
    } else if (act.tag == u"subagent_limit") {
        note(event, NoteKind::DelegationsDropped, {}, {}).number = int(std::clamp<qint64>(intOf(changes, "dropped"), 0, 1000000));
    } else if (act.tag == u"terminal_response") {
        note(event, act.action == u"fail" ? NoteKind::EmptyAgain : NoteKind::EmptyAnswer, {}, {});
    } else if (act.tag == u"summarize") {
        note(event, NoteKind::HistoryCompacted, {}, {}).number = int(std::clamp<qint64>(intOf(changes, "messages_summarized"), 0, 1000000));
    } else if (act.tag == u"clarification" && act.action == u"ask") {
        note(event, NoteKind::AsksPerson, stringOf(changes, "question"), {});
    } else {
        return false;
    }
    return true;
}

bool Conversations::apply(const Event &event)
{
    m_tasks.note(event);
    const auto visitor = [&](const auto &body) {
        using T = std::decay_t<decltype(body)>;
        if constexpr (std::is_same_v<T, RunStarted>) {
            Event asLead = event;
            asLead.agent = leadAgent();
            add(asLead, ItemKind::Task).text = body.task;
        } else if constexpr (std::is_same_v<T, AgentStarted>) {
            startAgent(event, body);
        } else if constexpr (std::is_same_v<T, AgentFinished>) {
            finishAgent(event, body);
        } else if constexpr (std::is_same_v<T, ModelDelta>) {
            addDelta(event, body);
        } else if constexpr (std::is_same_v<T, ModelResponded>) {
            finishReply(event, body);
        } else if constexpr (std::is_same_v<T, ModelFailed>) {
            failReply(event, body);
        } else if constexpr (std::is_same_v<T, ToolStarted>) {
            startTool(event, body);
        } else if constexpr (std::is_same_v<T, ToolFinished>) {
            return finishTool(event, body);
        } else if constexpr (std::is_same_v<T, ShellSessionCreated>) {
            if (body.reason == u"first_use")
                return false;
            note(event, NoteKind::SessionRecovered, body.session, body.reason);
        } else if constexpr (std::is_same_v<T, AuditRecorded>) {
            if (body.verdict == u"pass")
                return false;
            note(event, body.verdict == u"block" ? NoteKind::AuditBlocked : NoteKind::AuditWarned, body.command,
                 body.reason.isEmpty() ? body.rule : body.reason);
        } else if constexpr (std::is_same_v<T, ApprovalRequested>) {
            note(event, NoteKind::WaitsForPerson, body.command, body.rule);
        } else if constexpr (std::is_same_v<T, ApprovalDecided>) {
            note(event, NoteKind::PersonDecided, body.decision, body.reason);
        } else if constexpr (std::is_same_v<T, LogRecorded>) {
            if (body.level != u"warning" && body.level != u"error" && !body.madeByPerson)
                return false;
            note(event, NoteKind::Log, body.level, body.text);
        } else if constexpr (std::is_same_v<T, MiddlewareActed>) {
            return tellAct(event, body);
        } else {
            return false;
        }
        return true;
    };
    return std::visit(visitor, event.body);
}

} // namespace paddock
