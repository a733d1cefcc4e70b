// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "app/main_window.h"

#include "app/status_strip.h"
#include "app/window_actions.h"
#include "ui/action/action_registry.h"
#include "ui/action/command_palette.h"
#include "ui/dock/panel_dock.h"
#include "ui/dock/tabbed_panel.h"
#include "ui/run/conversation_view.h"
#include "ui/run/run_words.h"
#include "ui/run/runs_panel.h"
#include "ui/run/welcome_page.h"
#include "ui/shell/shell_panel.h"
#include "ui/store/agent_names.h"
#include "ui/trace/trace_panel.h"
#include "ui/workspace/workspace_panel.h"

#include <QApplication>
#include <QCloseEvent>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>
#include <QStackedWidget>
#include <QStatusBar>

namespace paddock {

namespace {

RunFacts factsOf(const RunSummary &summary)
{
    RunFacts facts;
    facts.id = summary.id;
    facts.thread = summary.thread;
    facts.title = summary.title;
    facts.task = summary.task;
    facts.status = summary.status;
    facts.model = summary.model;
    facts.workspace = summary.workspace;
    facts.started = summary.started;
    facts.finished = summary.finished;
    facts.usage = summary.usage;
    facts.events = summary.events;
    facts.live = summary.live;
    return facts;
}

const QStringList &centrePages()
{
    static const QStringList pages{QStringLiteral("conversation"), QStringLiteral("trace"), QStringLiteral("messages")};
    return pages;
}

} // namespace

MainWindow::MainWindow(RunService *service, const Options &options)
    : m_service(service), m_options(options), m_view(ViewSettings::load(m_settings)), m_actions(new ActionRegistry(this))
{
    setObjectName(QStringLiteral("mainWindow"));
    setWindowTitle(QStringLiteral("Paddock"));
    setDockNestingEnabled(true);
    setDockOptions(dockOptions() | QMainWindow::GroupedDragging);
    resize(options.size.value_or(QSize(1440, 900)));
    m_panels = WindowPanels::make(this, service, &m_hub, &m_selection, &m_range);
    m_palette = new CommandPalette(m_actions, this);
    makeWindowActions(*this);
    m_panels.centreStack->addWidget(new WelcomePage(m_actions->find(QStringLiteral("run.sample")),
                                                    m_actions->find(QStringLiteral("run.openFolder"))));
    m_status = new StatusStrip(statusBar(), &m_hub, &m_selection, [service] { return service->journalProblem(); });
    m_panels.arrange(this);
    m_layout.rememberDefault(*this);
    if (options.keepLayout) {
        m_layout.restore(*this, m_settings);
        m_actions->loadShortcuts(m_settings);
        if (centrePages().contains(m_view.centrePage))
            m_panels.centre->showPage(m_view.centrePage);
    }
    connectParts();
    addPaletteProviders();
    m_feed = std::make_unique<EventFeed>(service->bus(), &m_hub);
    updateCentre();
    updateActions();
    refreshPast();
}

MainWindow::~MainWindow()
{
    // The panels look at the stores, which are members: they go first.
    m_feed.reset();
    hide();
    for (PanelDock *dock : std::as_const(m_panels.docks))
        delete dock;
}

void MainWindow::connectParts()
{
    connect(&m_hub, &StoreHub::drained, this, [this] {
        m_status->setFrameTime(m_feed->lastDrain());
        updateActions();
    });
    connect(&m_selection, &Selection::runChanged, this, [this](RunStore *run) {
        setWindowTitle(run ? tr("%1 - Paddock").arg(runTitle(run->facts())) : QStringLiteral("Paddock"));
        updateCentre();
        updateActions();
    });
    connect(&m_selection, &Selection::agentChanged, this, &MainWindow::updateActions);
    connect(m_panels.runs, &RunsPanel::runWanted, this, &MainWindow::openRun);
    connect(m_panels.runs, &RunsPanel::contextMenuWanted, this, [this](const QPoint &at) {
        auto *menu = new QMenu(this);
        menu->setAttribute(Qt::WA_DeleteOnClose);
        for (const char *id : {"run.cancel", "agent.cancel", "run.export"})
            menu->addAction(m_actions->find(QString::fromLatin1(id)));
        menu->popup(at);
    });
    const auto follow = [this](bool on) { m_actions->find(QStringLiteral("view.follow"))->setChecked(on); };
    connect(m_panels.conversation, &ConversationView::followingChanged, this, follow);
    connect(&m_range, &TimeRange::followingChanged, this, follow);
    connect(m_panels.centre, &TabbedPanel::currentChanged, this, [this](const QString &page) { m_view.centrePage = page; });
}

void MainWindow::addPaletteProviders()
{
    m_palette->addProvider([this] {
        std::vector<PaletteEntry> entries;
        for (int i = 0; i < m_hub.count(); ++i) {
            const RunFacts &facts = m_hub.entry(i).shown();
            entries.push_back({runTitle(facts), tr("Run"), {}, true, [this, id = facts.id] { openRun(id); }});
        }
        if (RunStore *run = m_selection.run()) {
            for (const AgentEntry &agent : run->agents().agents())
                entries.push_back({agentNameAndId(run->agents(), agent.id.value()), tr("Agent"), {}, true,
                                   [this, id = agent.id] { m_selection.setAgent(id); }});
            for (const FileEntry &file : run->files().files())
                entries.push_back({file.path, tr("File"), {}, file.exists, [this, path = file.path] {
                                       showPanel(QStringLiteral("workspace"));
                                       m_panels.workspace->reveal(path);
                                   }});
        }
        return entries;
    });
}

void MainWindow::updateCentre()
{
    const int page = m_selection.run() ? 0 : 1;
    m_panels.centreStack->setCurrentIndex(page);
}

void MainWindow::updateActions()
{
    RunStore *run = m_selection.run();
    // The last event may be drained before the service lets go of the run, and no other follows that would ask again.
    const bool live = run && !run->facts().isOver() && m_service->isLive(run->id());
    const AgentEntry *agent = run ? run->agents().find(m_selection.agent()) : nullptr;
    const auto enable = [this](const char *id, bool on) { m_actions->find(QString::fromLatin1(id))->setEnabled(on); };
    enable("run.cancel", live);
    enable("agent.cancel", live && agent && agent->id != leadAgent() && !agent->isOver());
    enable("run.export", run);
    enable("agent.next", run);
    enable("agent.previous", run);
}

void MainWindow::say(const QString &sentence)
{
    constexpr int shownMs = 10'000;
    statusBar()->showMessage(sentence, shownMs);
}

void MainWindow::refreshPast()
{
    const QPointer<MainWindow> self(this);
    m_service->list([self](std::vector<RunSummary> summaries) {
        if (!self)
            return;
        std::vector<RunFacts> past;
        for (const RunSummary &summary : summaries) {
            if (!summary.live)
                past.push_back(factsOf(summary));
        }
        self->m_hub.setPast(std::move(past));
        self->m_listed = true;
        if (const QString wanted = std::exchange(self->m_wanted, {}); !wanted.isEmpty())
            self->openByName(wanted);
    });
}

QStringList MainWindow::panelNames()
{
    return {QStringLiteral("runs"), QStringLiteral("approvals"), QStringLiteral("conversation"), QStringLiteral("trace"),
            QStringLiteral("messages"), QStringLiteral("leases"), QStringLiteral("inspector"), QStringLiteral("shells"),
            QStringLiteral("workspace")};
}

void MainWindow::showPanel(const QString &name)
{
    if (centrePages().contains(name)) {
        m_panels.centre->showPage(name);
        m_panels.dock(QStringLiteral("centre"))->show();
        if (m_selection.run())
            m_panels.centre->page(name)->setFocus(Qt::ShortcutFocusReason);
    } else if (PanelDock *dock = m_panels.dock(name)) {
        dock->reveal();
    }
}

QWidget *MainWindow::panelWidget(const QString &name) const
{
    if (centrePages().contains(name))
        return m_panels.centre;
    return m_panels.dock(name);
}

// ---- commands

void MainWindow::start(const RunRequest &request)
{
    const Result<RunId> id = m_service->start(request);
    if (!id) {
        auto *box = new QMessageBox(QMessageBox::Warning, tr("The run was not started"), id.error().fullMessage(),
                                    QMessageBox::Ok, this);
        box->setAttribute(Qt::WA_DeleteOnClose);
        box->open();
        Q_EMIT failed(id.error().fullMessage());
        return;
    }
    if (!request.workspace.isEmpty())
        m_view.lastFolder = request.workspace;
    m_selection.setRun(m_hub.addRun(*id, true));
}

void MainWindow::startSample()
{
    RunRequest request;
    request.scenario = QStringLiteral("survey");
    start(request);
}

void MainWindow::openByName(const QString &name)
{
    if (!m_listed) {
        m_wanted = name;
        return;
    }
    const Result<RunId> run = m_service->resolve(name);
    if (run)
        return openRun(*run);
    say(run.error().fullMessage());
    Q_EMIT failed(run.error().fullMessage());
}

void MainWindow::openRun(const RunId &run)
{
    if (RunStore *known = m_hub.find(run)) {
        m_selection.setRun(known);
        return;
    }
    RunStore *store = m_hub.ensureStore(run);
    if (!store)
        store = m_hub.addRun(run, false);
    store->setLoading(true);
    m_selection.setRun(store);
    const QPointer<MainWindow> self(this);
    m_service->load(run, [self, run](const std::vector<EventPtr> &events, bool last) {
        if (self)
            self->m_hub.applyStored(run, events, last);
    });
}

void MainWindow::cancelRun()
{
    RunStore *run = m_selection.run();
    if (!run || !m_service->isLive(run->id()))
        return;
    say(tr("Cancelling: what the agents have running is being ended."));
    const QPointer<MainWindow> self(this);
    m_service->cancel(run->id(), [self] {
        if (self)
            self->say(self->tr("The run was cancelled and everything of it is released."));
    });
}

void MainWindow::cancelAgent()
{
    if (m_selection.run())
        m_service->cancelAgent(m_selection.run()->id(), m_selection.agent());
}

void MainWindow::toggleFollow(bool on)
{
    m_range.setFollowing(on && m_selection.run() && m_selection.run()->facts().live);
    m_panels.conversation->setFollowing(on);
    m_panels.shells->setFollowing(on);
}

void MainWindow::find()
{
    if (m_panels.dock(QStringLiteral("shells"))->isAncestorOf(QApplication::focusWidget()))
        return m_panels.shells->findInShell();
    if (m_panels.centre->isAncestorOf(QApplication::focusWidget()) && m_panels.centre->currentPage() == u"trace")
        return m_panels.trace->focusSearch();
    m_panels.dock(QStringLiteral("runs"))->show();
    m_panels.runs->focusFilter();
}

void MainWindow::nextAgent(int by)
{
    RunStore *run = m_selection.run();
    const int count = run ? int(run->agents().agents().size()) : 0;
    if (count == 0)
        return;
    const int at = std::max(0, run->agents().indexOf(m_selection.agent()));
    m_selection.setAgent(run->agents().agents()[size_t((at + by + count) % count)].id);
}

void MainWindow::setTheme(ThemeChoice theme)
{
    m_view.theme = theme;
    applyTheme(*qApp, theme);
}

void MainWindow::resetLayout()
{
    m_layout.reset(*this);
}

void MainWindow::quit(int code)
{
    if (std::exchange(m_quitting, true))
        return;
    if (m_options.keepLayout) {
        m_layout.save(*this, m_settings);
        m_view.save(m_settings);
    }
    hide();
    m_service->shutdown([code] { QCoreApplication::exit(code); });
}

void MainWindow::closeEvent(QCloseEvent *event)
{
    event->ignore();
    if (m_quitting)
        return;
    if (m_hub.liveRuns() == 0 || !isVisible())
        return quit(0);
    auto *box = new QMessageBox(QMessageBox::Question, tr("Runs are under way"),
                                tr("Quitting cancels %n run(s). Commands are ended and sandboxes released first.", nullptr, m_hub.liveRuns()),
                                QMessageBox::NoButton, this);
    box->setAttribute(Qt::WA_DeleteOnClose);
    QPushButton *end = box->addButton(tr("Cancel the runs and quit"), QMessageBox::AcceptRole);
    box->setDefaultButton(box->addButton(tr("Stay"), QMessageBox::RejectRole));
    connect(end, &QPushButton::clicked, this, [this] { quit(0); });
    box->open();
}

} // namespace paddock
