// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "ui/store/task_calls.h"

#include <QHash>

#include <vector>

namespace paddock {

enum class ItemKind {
    Task,      ///< what the agent was asked
    Text,      ///< what the model said
    Reasoning, ///< its thinking, folded
    ToolCall,
    Note,      ///< something that happened to the agent: a retry, a recovered session, its end
};

enum class NoteKind {
    None, ModelRetry, ModelGaveUp, SessionRecovered, AuditWarned, AuditBlocked, WaitsForPerson, PersonDecided,
    AgentFailed, AgentCancelled, AgentTimedOut, Log,
    BudgetWarned, BudgetStopped, SafetyStopped, LengthCut, DelegationsDropped, EmptyAnswer, EmptyAgain, AsksPerson,
    HistoryCompacted,
};

/// One thing an agent said or did. Codes and parameters; the panel words them.
struct ConversationItem {
    ItemKind kind = ItemKind::Text;
    NoteKind note = NoteKind::None;
    int turn = 0;
    Micros at = 0;
    Clock::Wall wall{};
    QString text;           ///< of text, task, reasoning; the subject of a note
    QString detail;         ///< note: the reason; tool: the result's preview
    int number = 0;         ///< note: attempt
    qint64 amountMs = 0;    ///< note: retry wait; tool: duration
    bool streaming = false;
    // ToolCall only
    QString call;
    QString tool;
    Json args;
    QString summary;        ///< the one line that tells calls of one tool apart: command, path, …
    QString status;         ///< empty while it runs; success, error, cancelled
    qint64 bytes = 0;
    QString resultHash;
    SpanId span = 0;
    quint64 revision = 0;   ///< grows when the item changes
};

/// What one agent said and did, in order. Items are appended or changed in place, never removed or moved; while a
/// failed model call is retried its partial text item is emptied.
struct Conversation {
    std::vector<ConversationItem> items;
    quint64 revision = 0; ///< of the newest change
};

/// The conversations of one run by agent. Part of RunStore; GUI thread.
class Conversations
{
public:
    bool apply(const Event &event);
    /// Null until the agent did anything.
    const Conversation *find(const AgentId &agent) const;

private:
    ConversationItem &add(const Event &event, ItemKind kind);
    ConversationItem &note(const Event &event, NoteKind kind, const QString &subject, const QString &detail);
    void touch(Conversation &conversation, ConversationItem &item);
    void addDelta(const Event &event, const ModelDelta &delta);
    void finishReply(const Event &event, const ModelResponded &reply);
    void failReply(const Event &event, const ModelFailed &failure);
    void startTool(const Event &event, const ToolStarted &tool);
    bool finishTool(const Event &event, const ToolFinished &tool);
    void startAgent(const Event &event, const AgentStarted &agent);
    void finishAgent(const Event &event, const AgentFinished &agent);
    bool tellAct(const Event &event, const MiddlewareActed &act);
    ConversationItem *openText(const AgentId &agent, int turn, bool reasoning);

    QHash<AgentId, Conversation> m_byAgent;
    QHash<QString, std::pair<AgentId, size_t>> m_calls; ///< by agent and call id
    TaskCalls m_tasks;
    QHash<QString, QString> m_prompts;                  ///< `task` call id to the prompt it carried
};

} // namespace paddock
