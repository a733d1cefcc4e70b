// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/run/run_words.h"

#include "ui/paint/figures.h"

#include <QCoreApplication>

namespace paddock {

namespace {

class RunWords
{
    Q_DECLARE_TR_FUNCTIONS(RunWords)
};

QString with(const QString &what, const QString &more)
{
    return more.isEmpty() ? what : RunWords::tr("%1 · %2").arg(what, more);
}

QString sessionReason(const QString &reason)
{
    if (reason == u"not_found")
        return RunWords::tr("The server had forgotten the shell session. A new one was made and the command was sent again.");
    if (reason == u"error_observation")
        return RunWords::tr("The shell session answered with an error. The command was sent again in a fresh session.");
    return RunWords::tr("A new shell session was made (%1).").arg(reason);
}

QString decisionWord(const QString &decision)
{
    if (decision == u"allow_once")
        return RunWords::tr("Allowed once.");
    if (decision == u"allow_always")
        return RunWords::tr("Allowed from now on.");
    return RunWords::tr("Denied.");
}

} // namespace

QString agentRemark(const AgentEntry &agent, Micros now)
{
    const QString since = formatElapsed(now - agent.stepSince);
    switch (agent.state) {
    case AgentState::Queued:
        return agent.queuePosition > 0 ? RunWords::tr("queued · place %1").arg(agent.queuePosition) : RunWords::tr("queued");
    case AgentState::WaitingForPerson: return RunWords::tr("needs approval · %1").arg(since);
    case AgentState::Completed: return agent.turn ? RunWords::tr("done · %n turn(s)", nullptr, agent.turn) : RunWords::tr("done");
    case AgentState::Failed: return agent.error.isEmpty() ? RunWords::tr("failed") : RunWords::tr("failed: %1").arg(headOfCommand(agent.error));
    case AgentState::Cancelled: return RunWords::tr("cancelled");
    case AgentState::TimedOut: return RunWords::tr("timed out");
    case AgentState::Interrupted: return RunWords::tr("interrupted");
    case AgentState::Running: break;
    }
    switch (agent.step) {
    case StepKind::Model: return RunWords::tr("model · %1").arg(since);
    case StepKind::Retry: return RunWords::tr("model retry · %1").arg(since);
    case StepKind::Children: return RunWords::tr("waiting for %1").arg(agent.stepCount);
    case StepKind::Tool: return RunWords::tr("%1 · %2").arg(agent.stepName, since);
    case StepKind::None: break;
    }
    return RunWords::tr("working");
}

Mark agentMark(AgentState state)
{
    switch (state) {
    case AgentState::Queued: return Mark::Queued;
    case AgentState::Running: return Mark::Running;
    case AgentState::WaitingForPerson: return Mark::Waiting;
    case AgentState::Completed: return Mark::Done;
    case AgentState::Failed: case AgentState::TimedOut: return Mark::Failed;
    case AgentState::Cancelled: case AgentState::Interrupted: return Mark::Stopped;
    }
    return Mark::Done;
}

QString runStatusWord(const QString &status)
{
    if (status == u"completed")
        return RunWords::tr("done");
    if (status == u"running" || status.isEmpty())
        return RunWords::tr("running");
    if (status == u"failed")
        return RunWords::tr("failed");
    if (status == u"cancelled")
        return RunWords::tr("cancelled");
    return status == u"interrupted" ? RunWords::tr("interrupted") : status;
}

QString runRemark(const RunFacts &facts, int files)
{
    const QString word = runStatusWord(facts.status);
    if (facts.status == u"failed" && !facts.error.isEmpty())
        return RunWords::tr("failed: %1").arg(headOfCommand(facts.error));
    if (facts.isOver() && files > 0)
        return RunWords::tr("%1 · %2").arg(word, RunWords::tr("%n file(s)", nullptr, files));
    return facts.isOver() ? word : QString();
}

Mark runMark(const QString &status)
{
    if (status == u"running" || status.isEmpty())
        return Mark::Running;
    if (status == u"completed")
        return Mark::Done;
    return status == u"failed" ? Mark::Failed : Mark::Stopped;
}

Mark noteMark(NoteKind note)
{
    switch (note) {
    case NoteKind::ModelRetry: case NoteKind::SessionRecovered: case NoteKind::AuditWarned: case NoteKind::WaitsForPerson:
    case NoteKind::BudgetWarned: case NoteKind::LengthCut: case NoteKind::DelegationsDropped: case NoteKind::EmptyAnswer:
    case NoteKind::AsksPerson:
        return Mark::Waiting;
    case NoteKind::ModelGaveUp: case NoteKind::AuditBlocked: case NoteKind::AgentFailed: case NoteKind::AgentTimedOut:
    case NoteKind::BudgetStopped: case NoteKind::SafetyStopped: case NoteKind::EmptyAgain:
        return Mark::Failed;
    case NoteKind::AgentCancelled: return Mark::Stopped;
    case NoteKind::None: case NoteKind::PersonDecided: case NoteKind::Log: case NoteKind::HistoryCompacted: break;
    }
    return Mark::Done;
}

QString noteText(const ConversationItem &note)
{
    switch (note.note) {
    case NoteKind::ModelRetry:
        return RunWords::tr("The model call did not work (%1: %2). Attempt %3 follows in %4.")
            .arg(note.text, note.detail).arg(note.number + 1).arg(formatSpan(note.amountMs * 1000));
    case NoteKind::ModelGaveUp: return RunWords::tr("The model call was given up (%1: %2).").arg(note.text, note.detail);
    case NoteKind::SessionRecovered: return sessionReason(note.detail);
    case NoteKind::AuditWarned: return with(RunWords::tr("The audit warns of this command: %1").arg(headOfCommand(note.text)), note.detail);
    case NoteKind::AuditBlocked: return with(RunWords::tr("The audit blocked this command: %1").arg(headOfCommand(note.text)), note.detail);
    case NoteKind::WaitsForPerson: return with(RunWords::tr("Waits for your decision: %1").arg(headOfCommand(note.text)), note.detail);
    case NoteKind::PersonDecided: return with(decisionWord(note.text), note.detail);
    case NoteKind::AgentFailed: return with(RunWords::tr("The agent failed."), note.detail);
    case NoteKind::AgentCancelled: return with(RunWords::tr("The agent was cancelled. What it had running was ended."), note.detail);
    case NoteKind::AgentTimedOut: return with(RunWords::tr("The agent ran out of time."), note.detail);
    case NoteKind::BudgetWarned:
        return RunWords::tr("%1% of the token budget (%2) is used. The agent was told to come to an end.").arg(note.number).arg(note.text);
    case NoteKind::BudgetStopped:
        return RunWords::tr("The token budget (%1) is used up. The agent runs no more tools.").arg(note.text);
    case NoteKind::SafetyStopped:
        return RunWords::tr("The provider's safety filter cut this answer (%1). Its tool calls were not run.").arg(note.text);
    case NoteKind::LengthCut: return RunWords::tr("This answer hit the model's output limit (%1).").arg(note.text);
    case NoteKind::DelegationsDropped: return RunWords::tr("Delegations beyond the limit that were dropped: %1.").arg(note.number);
    case NoteKind::EmptyAnswer: return RunWords::tr("The model's last answer was empty. It was asked once more.");
    case NoteKind::EmptyAgain: return RunWords::tr("The model's last answer was empty again.");
    case NoteKind::AsksPerson: return RunWords::tr("Asks you: %1").arg(note.text);
    case NoteKind::HistoryCompacted:
        return RunWords::tr("The history had become long. A summary took the place of its older part (messages: %1).").arg(note.number);
    case NoteKind::Log: case NoteKind::None: break;
    }
    return note.detail;
}

QString toolRemark(const ConversationItem &call, Micros now)
{
    if (call.status.isEmpty())
        return formatElapsed(now - call.at);
    QString text = call.amountMs < 1000 ? RunWords::tr("%1 ms").arg(call.amountMs) : formatSpan(call.amountMs * 1000);
    if (call.bytes > 0)
        text = RunWords::tr("%1 · %2").arg(formatBytes(call.bytes), text);
    if (call.status == u"error")
        return RunWords::tr("error · %1").arg(text);
    return call.status == u"cancelled" ? RunWords::tr("cancelled · %1").arg(text) : text;
}

QString runTitle(const RunFacts &facts)
{
    if (!facts.title.isEmpty())
        return facts.title;
    return facts.task.isEmpty() ? RunWords::tr("A run without a task") : headOfCommand(facts.task, 120);
}

} // namespace paddock
