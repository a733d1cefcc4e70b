// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/shell/shell_pane.h"

#include "core/run/run_service.h"
#include "ui/paint/figures.h"
#include "ui/shell/terminal_colors.h"
#include "ui/shell/terminal_feed.h"
#include "ui/store/agent_names.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QToolButton>
#include <QVBoxLayout>

namespace paddock {

ShellPane::ShellPane(RunService *service, RunId run, const QString &scope, QWidget *parent)
    : QWidget(parent), m_service(service), m_run(std::move(run)), m_scope(scope), m_terminal(std::make_shared<Terminal>()),
      m_view(new TerminalView(m_terminal, this)), m_title(new QLabel(this)), m_state(new QLabel(this)),
      m_takeOver(new QToolButton(this)), m_search(new QLineEdit(this))
{
    setOwner(tinyOwner(scope), shortOwner(scope));
    m_title->setTextFormat(Qt::RichText);
    m_state->setTextFormat(Qt::RichText);
    m_title->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_title->installEventFilter(this);
    m_takeOver->setText(tr("take over"));
    m_takeOver->setCheckable(true);
    m_takeOver->setAutoRaise(true);
    m_title->setMinimumHeight(m_takeOver->sizeHint().height()); // the header is as high without the button
    m_takeOver->setToolTip(tr("Type into this shell yourself. The agent is told of it with its next result."));
    connect(m_takeOver, &QToolButton::clicked, this, &ShellPane::setTakenOver);
    connect(m_view, &TerminalView::takeOverWanted, this, [this] {
        if (m_live)
            setTakenOver(true);
    });
    connect(m_view, &TerminalView::typed, this, [this](const QByteArray &bytes) {
        if (m_service)
            m_service->type(m_run, ScopeId(m_scope), bytes);
    });
    connect(m_view, &TerminalView::gridChanged, this, [this](int columns, int rows) {
        m_terminal->resize(columns, rows);
        if (m_service && m_live)
            m_service->resizeShell(m_run, ScopeId(m_scope), columns, rows);
    });
    m_search->setPlaceholderText(tr("Find in this shell"));
    m_search->setAccessibleName(tr("Find in this shell"));
    m_search->hide();
    connect(m_search, &QLineEdit::returnPressed, this, [this] { m_view->find(m_search->text(), true); });

    auto *header = new QHBoxLayout;
    header->setContentsMargins(8, 3, 6, 3);
    header->setSpacing(8);
    header->addWidget(m_title, 1);
    header->addWidget(m_search);
    header->addWidget(m_state);
    header->addWidget(m_takeOver);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addLayout(header);
    layout->addWidget(m_view, 1);
    m_seconds.setInterval(1000);
    connect(&m_seconds, &QTimer::timeout, this, &ShellPane::showHeader);
    setFocusProxy(m_view);
}

ShellPane::~ShellPane() = default;

void ShellPane::setOwner(const QString &name, const QString &nameAndId)
{
    if (name == m_owner)
        return;
    m_owner = name;
    setAccessibleName(tr("Shell of %1").arg(nameAndId));
    m_view->setAccessibleName(tr("Terminal of %1").arg(nameAndId));
    m_title->setAccessibleName(nameAndId);
    showTitle();
}

void ShellPane::update(const ShellEntry &entry, Micros now, bool live)
{
    m_entry = entry;
    m_now = now;
    m_nowAt = std::chrono::steady_clock::now();
    m_live = live && !entry.session.isEmpty();
    if (!m_live && m_takenOver)
        setTakenOver(false);
    m_takeOver->setVisible(m_live);
    showHeader();
}

void ShellPane::setAttached(bool attached)
{
    if (attached == (m_feed != nullptr) || !m_service)
        return;
    if (!attached) {
        m_feed.reset();
        return;
    }
    auto stream = m_service->observeShell(m_run, ScopeId(m_scope));
    if (!stream)
        return;
    m_terminal->reset();
    m_feed = std::make_unique<TerminalFeed>(m_terminal, std::move(stream));
    m_feed->setVerbatim(m_takenOver);
    connect(m_feed.get(), &TerminalFeed::changed, m_view, &TerminalView::noteChanged);
    showHeader();
}

void ShellPane::setTakenOver(bool on)
{
    if (on && !m_live)
        on = false;
    m_takeOver->setChecked(on);
    if (m_takenOver == on)
        return;
    m_takenOver = on;
    if (m_feed)
        m_feed->setVerbatim(on);
    m_takeOver->setText(on ? tr("give back") : tr("take over"));
    m_view->setTyping(on);
    if (m_service)
        m_service->takeOver(m_run, ScopeId(m_scope), on);
    if (on)
        m_view->setFocus();
    showHeader();
}

void ShellPane::interrupt()
{
    if (m_service && m_live)
        m_service->interrupt(m_run, ScopeId(m_scope));
}

void ShellPane::showSearch()
{
    m_search->show();
    m_search->setFocus();
    m_search->selectAll();
}

void ShellPane::keyPressEvent(QKeyEvent *event)
{
    if (event->key() == Qt::Key_Escape && m_search->isVisible()) {
        m_search->hide();
        m_view->setFocus();
        return;
    }
    QWidget::keyPressEvent(event);
}

bool ShellPane::eventFilter(QObject *watched, QEvent *event)
{
    if (watched == m_title && event->type() == QEvent::Resize)
        showTitle();
    return QWidget::eventFilter(watched, event);
}

void ShellPane::showTitle()
{
    const ShellCommand *running = m_entry.running();
    QFont bold = m_title->font();
    bold.setBold(true);
    // The name goes first, but leaves some room for what runs.
    const QFontMetrics metrics(bold);
    const QString owner = metrics.elidedText(m_owner, Qt::ElideRight, std::max(m_title->width() * 2 / 3, metrics.averageCharWidth() * 8));
    const int room = m_title->width() - metrics.horizontalAdvance(owner + QLatin1Char(' ')) - 2;
    // Of a long path the end says more. Servers of others do not tell where their shells are.
    const QString idle = m_entry.cwd.isEmpty() && !m_entry.session.isEmpty() ? tr("idle") : m_entry.cwd;
    const QString what = m_title->fontMetrics().elidedText(running ? headOfCommand(commandAsWritten(running->command)) : idle, running ? Qt::ElideRight : Qt::ElideLeft,
                                                           std::max(0, room));
    m_title->setText(QStringLiteral("<b>%1</b> <span style='color:%2'>%3</span>")
                         .arg(owner.toHtmlEscaped(), palette().color(QPalette::PlaceholderText).name(), what.toHtmlEscaped()));
    m_title->setToolTip(plainToolTip(m_scope + u'\n' + m_owner + u'\n' + (running ? running->command : m_entry.cwd)));
}

void ShellPane::changeEvent(QEvent *event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        showHeader();
}

void ShellPane::showHeader()
{
    const bool dark = palette().color(QPalette::Window).lightness() < 128;
    const QString dim = palette().color(QPalette::PlaceholderText).name();
    showTitle();
    const QString good = dark ? QStringLiteral("#5fb874") : QStringLiteral("#1a7f37");
    const QString bad = dark ? QStringLiteral("#e0645c") : QStringLiteral("#b3261e");
    const QString warn = dark ? QStringLiteral("#dba53a") : QStringLiteral("#8a6100");
    const ShellCommand *running = m_entry.running();
    const ShellCommand *last = m_entry.lastFinished();
    QStringList parts;
    if (m_entry.recoveries > 0)
        parts.append(QStringLiteral("<span style='color:%1'>%2</span>").arg(warn, tr("recovered %n time(s)", nullptr, m_entry.recoveries)));
    if (m_takenOver)
        parts.append(QStringLiteral("<b style='color:%1'>%2</b>").arg(warn, tr("you are typing")));
    if (running) {
        const auto since = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - m_nowAt).count();
        const Micros elapsed = std::max<Micros>(0, m_now - running->from + (m_live ? since : 0));
        parts.append(tr("%1 s").arg(elapsed / 1000000));
    } else if (last && last->exitCode) {
        const bool ok = *last->exitCode == 0;
        parts.append(QStringLiteral("<span style='color:%1'>%2 %3</span>")
                         .arg(ok ? good : bad, ok ? QStringLiteral("✓") : QStringLiteral("✗"))
                         .arg(*last->exitCode));
    } else if (last) {
        parts.append(QStringLiteral("<span style='color:%1'>%2</span>").arg(bad, last->status.toHtmlEscaped()));
    }
    if (m_entry.session.isEmpty() && !m_entry.lastSession.isEmpty())
        parts.append(QStringLiteral("<span style='color:%1'>%2</span>").arg(dim, tr("closed")));
    m_state->setText(parts.join(QStringLiteral(" &nbsp;")));
    const bool tick = running && m_live && isVisible();
    if (tick && !m_seconds.isActive())
        m_seconds.start();
    else if (!tick)
        m_seconds.stop();
}

} // namespace paddock
