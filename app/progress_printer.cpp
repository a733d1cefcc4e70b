// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "app/progress_printer.h"

namespace paddock {

namespace {
constexpr qsizetype maxCommandChars = 100;

QString oneLine(QString text)
{
    text.replace(QLatin1Char('\n'), QLatin1Char(' '));
    for (QChar &c : text) {
        if (c.unicode() < 0x20 || c.unicode() == 0x7f || (c.unicode() >= 0x80 && c.unicode() < 0xa0))
            c = QLatin1Char('?'); // model and command text must not drive the person's terminal
    }
    return text.size() > maxCommandChars ? text.left(maxCommandChars) + QStringLiteral("…") : text;
}

/// What went wrong, without the "Error: " that tools put before it for models: the line says so already.
QString problemLine(const QString &preview)
{
    const QLatin1String mark("Error: ");
    return oneLine(preview.startsWith(mark) ? preview.sliced(mark.size()) : preview);
}

/// What a member of the chain did, in words; empty for what only a trace wants.
QString actLine(const MiddlewareActed &act)
{
    if (act.tag == u"token_budget")
        return QStringLiteral("token budget %1: %2 of %3 tokens (%4)")
            .arg(act.action == u"hard_stop" ? QStringLiteral("used up") : QStringLiteral("nearly used up"))
            .arg(intOf(act.changes, "used")).arg(intOf(act.changes, "limit")).arg(oneLine(stringOf(act.changes, "kind")));
    if (act.tag == u"safety_termination")
        return QStringLiteral("the provider's safety filter cut the answer: ") + oneLine(stringOf(act.changes, "reason_value"));
    if (act.tag == u"model_length")
        return QStringLiteral("the answer hit the model's output limit: ") + oneLine(stringOf(act.changes, "reason_value"));
    if (act.tag == u"subagent_limit")
        return QStringLiteral("delegations beyond the limit dropped: %1").arg(intOf(act.changes, "dropped"));
    if (act.tag == u"terminal_response")
        return act.action == u"fail" ? QStringLiteral("the last answer was empty again") : QStringLiteral("the last answer was empty; asked once more");
    if (act.tag == u"summarize")
        return QStringLiteral("history compacted: %1 messages became a summary, about %2 tokens instead of %3")
            .arg(intOf(act.changes, "messages_summarized")).arg(intOf(act.changes, "tokens_after")).arg(intOf(act.changes, "tokens_before"));
    if (act.tag == u"clarification" && act.action == u"ask")
        return QStringLiteral("asks: ") + oneLine(stringOf(act.changes, "question"));
    return {};
}
} // namespace

void ProgressPrinter::show(const Event &event)
{
    if (m_start.count() < 0)
        m_start = event.mono;
    if (m_quiet)
        return;
    agents(event);
    sandboxes(event);
    work(event);
}

QString ProgressPrinter::agentLabel(const AgentId &agent) const
{
    const QString label = m_labels.value(agent.value());
    return label.isEmpty() ? agent.value() : QStringLiteral("%1 (%2)").arg(agent.value(), label);
}

void ProgressPrinter::line(const Event &event, const QString &text)
{
    const double seconds = double((event.mono - m_start).count()) / 1e6;
    m_out(QStringLiteral("%1  %2").arg(seconds, 7, 'f', 2).arg(text));
}

void ProgressPrinter::note(const QString &text)
{
    if (!m_quiet)
        m_out(QStringLiteral("paddock: ") + text);
}

void ProgressPrinter::agents(const Event &event)
{
    if (const auto *e = std::get_if<RunStarted>(&event.body)) {
        line(event, QStringLiteral("run %1 started: %2").arg(event.run.value(), oneLine(e->task)));
    } else if (const auto *e = std::get_if<AgentQueued>(&event.body)) {
        line(event, QStringLiteral("%1 waits for a slot, place %2").arg(event.agent.value()).arg(e->position));
    } else if (const auto *e = std::get_if<AgentStarted>(&event.body)) {
        if (!e->parent.isEmpty())
            m_labels.insert(event.agent.value(), oneLine(e->description));
        line(event, QStringLiteral("%1 started").arg(agentLabel(event.agent)));
    } else if (const auto *e = std::get_if<AgentFinished>(&event.body)) {
        QString text = QStringLiteral("%1 %2 after %3 %4").arg(agentLabel(event.agent), e->status).arg(e->turns)
                           .arg(e->turns == 1 ? QStringLiteral("turn") : QStringLiteral("turns"));
        if (e->cause || e->error)
            text += QStringLiteral(": ") + oneLine(e->cause.value_or(e->error.value_or(QString())));
        line(event, text);
    } else if (const auto *e = std::get_if<LogRecorded>(&event.body)) {
        if (e->level == u"warning" || e->level == u"error")
            line(event, QStringLiteral("%1: %2").arg(e->level, e->text));
    } else if (const auto *e = std::get_if<RunFinished>(&event.body)) {
        QString text = QStringLiteral("run %1 %2, %3 tokens").arg(event.run.value(), e->status).arg(e->usage.total);
        if (e->error)
            text += QStringLiteral(": ") + oneLine(*e->error);
        line(event, text);
    }
}

void ProgressPrinter::sandboxes(const Event &event)
{
    if (const auto *e = std::get_if<SandboxAcquired>(&event.body)) {
        line(event, QStringLiteral("sandbox %1 ready (%2, %3 ms)").arg(e->sandbox, e->backend).arg(e->durationMs));
    } else if (const auto *e = std::get_if<LeaseAcquired>(&event.body)) {
        line(event, QStringLiteral("lease acquired by %1; held by %2").arg(e->owner).arg(e->owners.size()));
    } else if (const auto *e = std::get_if<LeaseReleased>(&event.body)) {
        line(event, e->last ? QStringLiteral("lease released by %1, the last one").arg(e->owner)
                            : QStringLiteral("lease released by %1; held by %2").arg(e->owner).arg(e->owners.size()));
    } else if (const auto *e = std::get_if<SandboxReleased>(&event.body)) {
        line(event, QStringLiteral("sandbox %1 released").arg(e->sandbox));
    } else if (const auto *e = std::get_if<SandboxFailed>(&event.body)) {
        line(event, QStringLiteral("sandbox failed during %1: %2").arg(e->during, oneLine(e->reason)));
    } else if (const auto *e = std::get_if<ShellSessionLost>(&event.body)) {
        line(event, QStringLiteral("%1 lost its shell session: %2").arg(e->scope, e->reason));
    } else if (const auto *e = std::get_if<ShellSessionCreated>(&event.body)) {
        if (e->reason != u"first_use")
            line(event, QStringLiteral("%1 got a new shell session after %2").arg(e->scope, e->reason));
    }
}

void ProgressPrinter::work(const Event &event)
{
    if (const auto *e = std::get_if<ToolStarted>(&event.body)) {
        QString what = stringOf(e->args, "command");
        if (what.isEmpty())
            what = stringOf(e->args, "path");
        if (what.isEmpty())
            what = stringOf(e->args, "description");
        line(event, QStringLiteral("%1 · %2 %3").arg(agentLabel(event.agent), e->name, oneLine(what)));
    } else if (const auto *e = std::get_if<ToolFinished>(&event.body)) {
        if (e->status != u"success")
            line(event, QStringLiteral("%1 · %2 %3: %4").arg(agentLabel(event.agent), e->name, e->status, problemLine(e->preview)));
    } else if (const auto *e = std::get_if<FileChanged>(&event.body)) {
        const QString path = e->via ? QStringLiteral("%1 through %2").arg(e->path, *e->via) : e->path;
        line(event, QStringLiteral("%1 %2 %3 (+%4 -%5)").arg(e->owner, e->op, path).arg(e->addedLines).arg(e->removedLines));
    } else if (const auto *e = std::get_if<ModelFailed>(&event.body)) {
        line(event, QStringLiteral("%1 model error: %2").arg(agentLabel(event.agent), oneLine(e->error)));
    } else if (const auto *e = std::get_if<AuditRecorded>(&event.body)) {
        if (e->verdict != u"pass")
            line(event, QStringLiteral("audit %1: %2").arg(e->verdict, oneLine(e->command)));
    } else if (const auto *e = std::get_if<MiddlewareActed>(&event.body)) {
        if (const QString told = actLine(*e); !told.isEmpty())
            line(event, agentLabel(event.agent) + QStringLiteral(" · ") + told);
    }
}

} // namespace paddock
