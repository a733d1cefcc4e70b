// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/trace/inspector_panel.h"

#include "core/base/pool.h"
#include "core/event/event_codec.h"
#include "ui/paint/figures.h"
#include "ui/paint/flat_tab_bar.h"
#include "ui/paint/theme.h"
#include "ui/store/agent_names.h"
#include "ui/trace/diff_text.h"
#include "ui/trace/trace_source.h"

#include <QFontDatabase>
#include <QGridLayout>
#include <QLabel>
#include <QStackedWidget>
#include <QVBoxLayout>

namespace paddock {

namespace {

constexpr qsizetype mostFactLetters = 300; ///< the pages below have it whole

QString readable(const MessagePtr &message)
{
    if (!message)
        return InspectorPanel::tr("(The journal keeps no text for this message.)");
    QString text = textOf(message);
    for (const ToolCall &call : message->toolCalls)
        text += QStringLiteral("\n→ %1 %2").arg(call.name, QString::fromUtf8(dumpJsonPretty(call.args)));
    return text;
}

QString argumentsText(const Json &args)
{
    QString text;
    for (auto it = args.begin(); args.is_object() && it != args.end(); ++it) {
        const QString value = it.value().is_string() ? textOf(it.value()) : QString::fromUtf8(dumpJsonPretty(it.value()));
        text += QStringLiteral("%1: %2\n").arg(QString::fromStdString(it.key()), value);
    }
    return args.is_object() ? text : QString::fromUtf8(dumpJsonPretty(args));
}

QString rawText(const EventPtr &event)
{
    return event ? QString::fromUtf8(dumpJsonPretty(Json{{"type", toUtf8(eventType(event->body))},
                                                         {"seq", event->seq},
                                                         {"t", toUtf8(formatWall(event->time))},
                                                         {"agent", toUtf8(event->agent.value())},
                                                         {"fields", eventFields(event->body)}}))
                 : QString();
}

} // namespace

InspectorPanel::InspectorPanel(Fetch fetch, QWidget *parent)
    : QWidget(parent), m_fetch(std::move(fetch)), m_factsBox(new QWidget(this)), m_facts(new QGridLayout(m_factsBox)),
      m_tabs(new FlatTabBar(this)), m_pages(new QStackedWidget(this)), m_empty(new QLabel(this))
{
    const int pad = fontMetrics().averageCharWidth();
    m_facts->setContentsMargins(pad, pad / 2, pad, pad / 2);
    m_facts->setHorizontalSpacing(pad * 2);
    m_facts->setVerticalSpacing(pad / 3);
    m_facts->setColumnStretch(1, 1);
    m_factsBox->setAutoFillBackground(true);
    m_factsBox->setBackgroundRole(QPalette::Base);
    const QStringList names{tr("Diff"), tr("Before"), tr("After"), tr("State"), tr("Raw")};
    for (int page = 0; page < PageCount; ++page) {
        m_tabs->addTab(names.at(page));
        m_texts[size_t(page)] = new DiffText(this);
        m_texts[size_t(page)]->setAccessibleName(names.at(page));
        m_pages->addWidget(m_texts[size_t(page)]);
        connect(m_texts[size_t(page)], &DiffText::stepWanted, this, &InspectorPanel::stepChange);
    }
    m_tabs->setTabToolTip(DiffPage, tr("j and k go to the next and the previous change."));
    m_empty->setText(tr("Choose a bar in the trace to see what it did: arguments and results of a tool call, the reply of a "
                        "model call, the messages before and after a middleware."));
    m_empty->setWordWrap(true);
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setMargin(pad * 2);
    m_empty->setForegroundRole(QPalette::PlaceholderText);
    m_empty->setBackgroundRole(QPalette::Base);
    m_empty->setAutoFillBackground(true);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_factsBox);
    layout->addWidget(m_tabs);
    layout->addWidget(m_pages, 1);
    layout->addWidget(m_empty, 1);
    setFocusProxy(m_texts[DiffPage]);
    connect(m_tabs, &QTabBar::currentChanged, m_pages, &QStackedWidget::setCurrentIndex);
    clear();
}

void InspectorPanel::clear()
{
    ++m_request;
    m_pairs.clear();
    while (QLayoutItem *item = m_facts->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    for (DiffText *text : m_texts)
        text->setText(QString());
    const bool empty = !m_run || m_span == 0xffffffffu;
    m_empty->setVisible(empty);
    m_factsBox->setVisible(!empty);
    m_tabs->setVisible(!empty);
    m_pages->setVisible(!empty);
    if (empty)
        Q_EMIT remarkChanged(QString());
}

void InspectorPanel::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    fitFacts();
}

/// Lines that wrap need a height by width, which the docks around do not ask for.
void InspectorPanel::fitFacts()
{
    m_facts->invalidate();
    m_factsBox->setFixedHeight(m_facts->hasHeightForWidth() ? m_facts->heightForWidth(width()) : m_facts->sizeHint().height());
}

void InspectorPanel::showPage(Page page)
{
    m_tabs->setCurrentIndex(page);
}

void InspectorPanel::stepChange(int by)
{
    m_tabs->setCurrentIndex(DiffPage);
    m_texts[DiffPage]->stepChange(by);
}

QString InspectorPanel::text(Page page) const
{
    return m_texts[size_t(page)]->toPlainText();
}

void InspectorPanel::addFact(const QString &name, const QString &value, bool fixed)
{
    if (value.isEmpty())
        return;
    auto *label = new QLabel(name);
    label->setForegroundRole(QPalette::PlaceholderText);
    auto *text = new QLabel(value.size() > mostFactLetters ? value.left(mostFactLetters) + QChar(0x2026) : value);
    text->setTextFormat(Qt::PlainText);
    text->setWordWrap(true);
    text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    if (fixed)
        text->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    QSizePolicy policy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    policy.setHeightForWidth(true);
    text->setSizePolicy(policy);
    text->setMinimumWidth(1); // a long word is cut rather than making the panel wide
    const int row = m_facts->count() / 2;
    m_facts->addWidget(label, row, 0, Qt::AlignTop | Qt::AlignLeft);
    m_facts->addWidget(text, row, 1);
    label->show(); // what a layout has not shown yet has no height in it
    text->show();
}

void InspectorPanel::showSpan(RunStore *run, quint32 span)
{
    m_run = run;
    m_span = span;
    clear();
    if (!run || span >= run->trace().size())
        return;
    const TraceLanes &trace = run->trace();
    showFacts();
    const EventPtr opened = trace.opened(span);
    const EventPtr closed = trace.closed(span);
    switch (trace.kind(span)) {
    case SpanKind::Hook:
        if (opened)
            showHook(opened);
        else
            m_texts[DiffPage]->setText(tr("This hook changed nothing."));
        break;
    case SpanKind::Tool: showTool(opened, closed); break;
    case SpanKind::Model: showModel(opened, closed); break;
    case SpanKind::Waiting: showWaiting(opened); break;
    case SpanKind::Queued:
        m_texts[DiffPage]->setText(tr("The agent waited for a free place: subagent_runtime.max_running limits how many run at once."));
        break;
    }
    fitFacts();
    QString raw = rawText(opened);
    if (closed)
        raw += u'\n' + rawText(closed);
    m_texts[RawPage]->setText(raw);
}

void InspectorPanel::showFacts()
{
    const TraceLanes &trace = m_run->trace();
    const TraceLane &lane = trace.laneOf(m_span);
    const bool open = trace.flags(m_span) & SpanOpen;
    const QString duration = open ? tr("running") : formatSpan(trace.end(m_span) - trace.start(m_span));
    const QString name = lane.name.isEmpty() ? spanKindWord(trace.kind(m_span)) : lane.name;
    Q_EMIT remarkChanged(lane.name.isEmpty() ? tr("%1 · %2").arg(name, duration)
                                             : tr("%1 · %2 · %3").arg(name, trace.label(m_span), duration));
    const QString agent = agentNameAndId(m_run->agents(), lane.agent.value());
    addFact(tr("agent"), trace.turn(m_span) > 0 ? tr("%1 · turn %2").arg(agent).arg(trace.turn(m_span)) : agent);
    addFact(tr("time"), tr("%1 · from %2").arg(duration, formatTimeOfDay(m_run->wallAt(trace.start(m_span)))));
}

void InspectorPanel::showHook(const EventPtr &event)
{
    const auto *hook = std::get_if<MiddlewareSpan>(&event->body);
    if (!hook)
        return;
    QString changed = changeSentence(*hook);
    if (hook->tokens != 0)
        changed = tr("%1 · %2 tokens").arg(changed, (hook->tokens > 0 ? QStringLiteral("+") : QString()) + formatCount(hook->tokens));
    addFact(tr("changed"), changed);
    addFact(tr("call"), hook->call, true);
    addFact(tr("error"), hook->error.value_or(QString()));
    QString state;
    for (const QString &key : hook->stateKeys)
        state += key + u'\n';
    m_texts[StatePage]->setText(state.isEmpty() ? tr("No state key was written.") : state);
    fetchPairs(*hook);
}

void InspectorPanel::fetchPairs(const MiddlewareSpan &hook)
{
    m_pairs.assign(hook.changes.size(), {});
    m_missing = 0;
    const QPointer<InspectorPanel> self(this);
    const quint64 request = m_request;
    for (size_t i = 0; i < hook.changes.size(); ++i) {
        const SpanChange &change = hook.changes[i];
        const int place = change.after >= 0 ? change.after : change.before;
        m_pairs[i].heading = tr("message %1 · %2").arg(place + 1).arg(change.kind);
        for (const bool before : {true, false}) {
            const QString &hash = before ? change.beforeHash : change.afterHash;
            if (hash.isEmpty() || !m_fetch)
                continue;
            ++m_missing;
            m_fetch(hash, [self, request, i, before](const MessagePtr &message) {
                if (!self || self->m_request != request)
                    return;
                Pair &pair = self->m_pairs[i];
                (before ? pair.before : pair.after) = readable(message);
                (before ? pair.was : pair.is) = message;
                if (message)
                    pair.heading = message->name.isEmpty() ? tr("%1 · %2").arg(roleName(message->role), pair.heading.section(QStringLiteral(" · "), -2))
                                                           : tr("%1 · %2 · %3").arg(roleName(message->role), message->name, pair.heading.section(QStringLiteral(" · "), -2));
                if (--self->m_missing == 0)
                    self->showPairs();
            });
        }
    }
    if (m_missing == 0)
        showPairs();
}

void InspectorPanel::showPairs()
{
    QString before;
    QString after;
    for (Pair &pair : m_pairs) {
        if (pair.was && pair.is && pair.before == pair.after) {
            // The words are the same: what changed is around them.
            pair.before = QString::fromUtf8(dumpJsonPretty(messageToJson(*pair.was)));
            pair.after = QString::fromUtf8(dumpJsonPretty(messageToJson(*pair.is)));
        }
        before += QStringLiteral("%1\n%2\n\n").arg(pair.heading, pair.before);
        after += QStringLiteral("%1\n%2\n\n").arg(pair.heading, pair.after);
    }
    m_texts[BeforePage]->setText(before);
    m_texts[AfterPage]->setText(after);
    if (m_pairs.empty()) {
        m_texts[DiffPage]->setText(tr("No message was changed."));
        return;
    }
    // Long results differ in tens of thousands of lines: off the GUI thread, and void when something else was chosen.
    const auto compare = [pairs = m_pairs, heading = tr("the same lines with their hashes")] {
        std::vector<DiffLine> lines;
        for (const Pair &pair : pairs) {
            lines.push_back({DiffLine::Kind::Heading, pair.heading});
            const std::vector<DiffLine> part = diffText(pair.before, pair.after);
            lines.insert(lines.end(), part.begin(), part.end());
        }
        return hashesLast(std::move(lines), heading);
    };
    computeThen(this, compare, [this, request = m_request](const std::vector<DiffLine> &lines) {
        if (m_request == request)
            m_texts[DiffPage]->setLines(lines);
    });
}

void InspectorPanel::fetchResult(const QString &hash, const QString &args)
{
    if (hash.isEmpty() || !m_fetch)
        return;
    const QPointer<InspectorPanel> self(this);
    const quint64 request = m_request;
    m_fetch(hash, [self, request, args](const MessagePtr &message) {
        if (!self || self->m_request != request || !message)
            return;
        const QString text = readable(message);
        self->m_texts[AfterPage]->setText(text);
        self->m_texts[DiffPage]->setText(args + u'\n' + text);
    });
}

/// The line that a shell really got for a call, where it is not what the agent wrote.
QString InspectorPanel::sentToShell(const Event &opened, const EventPtr &closed) const
{
    const QString written = stringOf(std::get<ToolStarted>(opened.body).args, "command");
    const Micros until = closed ? closed->mono.count() : openEnd;
    for (const ShellEntry &shell : m_run->shells().shells()) {
        if (written.isEmpty() || shell.agent != opened.agent)
            continue;
        for (const ShellCommand &command : shell.commands) {
            if (command.from >= opened.mono.count() && command.from <= until && command.command != written)
                return command.command;
        }
    }
    return {};
}

void InspectorPanel::showTool(const EventPtr &opened, const EventPtr &closed)
{
    const auto *tool = opened ? std::get_if<ToolStarted>(&opened->body) : nullptr;
    if (!tool)
        return;
    addFact(tr("tool"), tool->name);
    addFact(tr("call"), tool->call, true);
    const QString args = argumentsText(tool->args);
    const QString sent = sentToShell(*opened, closed);
    m_texts[BeforePage]->setText(sent.isEmpty() ? args : tr("%1\nWhat the shell got:\n%2").arg(args, sent));
    m_texts[StatePage]->setText(tr("A tool call writes no state; its middlewares may. They stand below it in the trace."));
    const auto *result = closed ? std::get_if<ToolFinished>(&closed->body) : nullptr;
    if (!result) {
        m_texts[DiffPage]->setText(args);
        m_texts[AfterPage]->setText(tr("There is no result yet."));
        return;
    }
    const bool cancelled = m_run->trace().count(m_span) == 1 && (m_run->trace().flags(m_span) & SpanCancelled);
    addFact(tr("result"), tr("%1 · %2").arg(cancelled ? QStringLiteral("cancelled") : result->status, formatBytes(result->bytes)));
    m_texts[AfterPage]->setText(result->preview);
    m_texts[DiffPage]->setText(args + u'\n' + result->preview);
    fetchResult(result->message, args);
}

void InspectorPanel::showModel(const EventPtr &opened, const EventPtr &closed)
{
    const auto *request = opened ? std::get_if<ModelRequested>(&opened->body) : nullptr;
    if (!request)
        return;
    addFact(tr("model"), request->model);
    addFact(tr("saw"), tr("%n message(s)", nullptr, request->messages));
    m_texts[BeforePage]->setText(tr("Tools offered:\n%1\n\nThe messages are on the Messages page.").arg(request->tools.join(u'\n')));
    if (const auto *reply = closed ? std::get_if<ModelResponded>(&closed->body) : nullptr) {
        addFact(tr("tokens"), tr("%1 in · %2 out").arg(formatCount(reply->usage.input), formatCount(reply->usage.output)));
        addFact(tr("finish"), reply->finishReason);
        const QString text = reply->message ? readable(reply->message) : QString();
        m_texts[AfterPage]->setText(text);
        m_texts[DiffPage]->setText(text);
    } else if (const auto *failure = closed ? std::get_if<ModelFailed>(&closed->body) : nullptr) {
        addFact(tr("error"), tr("%1: %2").arg(failure->errorClass, failure->error));
        m_texts[DiffPage]->setText(failure->error);
    }
}

void InspectorPanel::showWaiting(const EventPtr &opened)
{
    const auto *asked = opened ? std::get_if<ApprovalRequested>(&opened->body) : nullptr;
    if (!asked)
        return;
    addFact(tr("audit"), asked->verdict);
    addFact(tr("rule"), asked->rule);
    m_texts[DiffPage]->setText(asked->command);
}

} // namespace paddock
