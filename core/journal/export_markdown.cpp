// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/base/text.h"
#include "core/journal/journal_export.h"

#include <QRegularExpression>

#include <algorithm>

namespace paddock {

namespace {

constexpr qsizetype longestResult = 4000;

/// A fence longer than any run of backticks inside.
QString fenced(const QString &text, const QString &language = {})
{
    qsizetype longest = 2;
    qsizetype current = 0;
    for (const QChar c : text) {
        current = c == QLatin1Char('`') ? current + 1 : 0;
        longest = std::max(longest, current);
    }
    const QString fence(longest + 1, QLatin1Char('`'));
    return fence + language + QLatin1Char('\n') + text + (text.endsWith(QLatin1Char('\n')) ? QString() : QStringLiteral("\n")) + fence
        + QLatin1Char('\n');
}

/// One line without line breaks, for headings and lists.
QString oneLine(QString text)
{
    return text.replace(QRegularExpression(QStringLiteral("[\\r\\n]+")), QStringLiteral(" "));
}

class Writer
{
public:
    explicit Writer(JournalReader &reader) : m_reader(reader) {}

    QString header(const StoredRun &run) const
    {
        QString text = QStringLiteral("# %1\n\n").arg(run.title.isEmpty() ? run.id.value() : oneLine(run.title));
        text += QStringLiteral("- Run: `%1`, %2\n").arg(run.id.value(), run.status);
        text += QStringLiteral("- Started: %1\n").arg(formatWall(run.started));
        if (run.finished)
            text += QStringLiteral("- Ended: %1\n").arg(formatWall(*run.finished));
        text += QStringLiteral("- Model: %1; sandbox: %2\n").arg(oneLine(run.model), oneLine(run.sandbox));
        text += QStringLiteral("- Tokens: %1 in, %2 out\n\n## Task\n\n").arg(run.usage.input).arg(run.usage.output);
        return text + fenced(run.task);
    }

    QString piece(const Event &event)
    {
        return std::visit([&](const auto &body) { return text(event, body); }, event.body);
    }

private:
    template<typename T> QString text(const Event &, const T &) { return {}; }

    QString text(const Event &event, const AgentStarted &body)
    {
        return QStringLiteral("\n## %1%2\n").arg(event.agent.value(), body.description.isEmpty() ? QString() : QStringLiteral(": ") + oneLine(body.description));
    }
    QString text(const Event &event, const ModelResponded &body)
    {
        if (!body.message)
            return {};
        QString out = QStringLiteral("\n### %1, turn %2\n\n").arg(event.agent.value()).arg(body.turn);
        const QString said = textOf(body.message);
        if (!said.isEmpty())
            out += said + QStringLiteral("\n\n");
        for (const ToolCall &call : body.message->toolCalls)
            out += QStringLiteral("Calls `%1`:\n\n").arg(oneLine(call.name)) + fenced(QString::fromUtf8(dumpJsonPretty(call.args)), QStringLiteral("json"));
        return out;
    }
    QString text(const Event &event, const ToolFinished &body)
    {
        QString result = body.preview;
        if (!body.message.isEmpty()) {
            if (const auto whole = m_reader.message(body.message))
                result = textOf(*whole);
        }
        return QStringLiteral("\nResult of `%1` for %2 (%3, %4 ms):\n\n").arg(oneLine(body.name), event.agent.value(), body.status).arg(body.durationMs)
            + fenced(boundText(result, longestResult));
    }
    QString text(const Event &event, const ModelFailed &body)
    {
        return QStringLiteral("\n%1: the model call failed (%2): %3\n").arg(event.agent.value(), body.errorClass, oneLine(body.error));
    }
    QString text(const Event &event, const AgentFinished &body)
    {
        return QStringLiteral("\n%1 ended: %2 after %3 turns%4\n")
            .arg(event.agent.value(), body.status)
            .arg(body.turns)
            .arg(body.cause || body.error ? QStringLiteral(" (%1)").arg(oneLine(body.cause.value_or(body.error.value_or(QString())))) : QString());
    }
    QString text(const Event &, const RunFinished &body)
    {
        QString out = QStringLiteral("\n## Outcome: %1\n\n").arg(body.status);
        if (body.error)
            out += oneLine(*body.error) + QStringLiteral("\n\n");
        return body.answer.isEmpty() ? out : out + body.answer + QLatin1Char('\n');
    }

    JournalReader &m_reader;
};

} // namespace

Result<void> exportMarkdown(JournalReader &reader, const RunId &run, const ExportSink &sink)
{
    const auto summary = reader.run(run);
    if (!summary)
        return fail(summary.error());
    Writer writer(reader);
    if (auto written = sink(writer.header(*summary).toUtf8()); !written)
        return written;
    Seq after = 0;
    qint64 eventsRead = 0;
    bool holed = false;
    for (;;) {
        const auto page = reader.events(run, after);
        if (!page)
            return fail(page.error());
        eventsRead += qint64(page->events.size());
        holed = holed || page->holed;
        for (const StoredEvent &stored : page->events) {
            after = stored.event->seq;
            const QString text = writer.piece(*stored.event);
            if (text.isEmpty())
                continue;
            if (auto written = sink(text.toUtf8()); !written)
                return written;
        }
        if (!page->more)
            return holed ? Result<void>(fail(reader.holesIn(run, eventsRead))) : Result<void>();
    }
}

} // namespace paddock
