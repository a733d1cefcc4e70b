// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "app/window_actions.h"

#include "app/main_window.h"
#include "ui/action/action_registry.h"
#include "ui/action/command_palette.h"
#include "ui/dock/panel_dock.h"
#include "ui/run/conversation_view.h"
#include "ui/shell/shell_panel.h"
#include "ui/trace/inspector_panel.h"
#include "ui/trace/trace_panel.h"
#include "ui/workspace/workspace_panel.h"

#include <QCoreApplication>
#include <QMenu>
#include <QMenuBar>
#include <QPushButton>
#include <QToolBar>

#include <functional>
#include <string_view>

namespace paddock {

namespace {

class Words
{
    Q_DECLARE_TR_FUNCTIONS(WindowActions)
};

/// A menu under construction: actions are registered and appended in one go.
struct Menu {
    MainWindow &window;
    QMenu *menu;
    QString context;

    QAction *add(const char *id, const QString &text, const QKeySequence &key, const char *icon, const QString &tip,
                 std::function<void()> run) const
    {
        QAction *action = window.registry()->add({QString::fromLatin1(id), text, QString::fromLatin1(icon), key, context, tip}, std::move(run));
        menu->addAction(action);
        return action;
    }
    QAction *toggle(const char *id, const QString &text, const QKeySequence &key, const QString &tip, bool on,
                    std::function<void(bool)> run) const
    {
        const QString icon = id == std::string_view("view.follow") ? QStringLiteral("glyph:follow") : QString();
        QAction *action = window.registry()->add({QString::fromLatin1(id), text, icon, key, context, tip}, std::move(run));
        action->setChecked(on);
        menu->addAction(action);
        return action;
    }
};

Menu menuOf(MainWindow &window, const QString &title)
{
    QMenu *menu = window.menuBar()->addMenu(title);
    QString plain = title;
    return {window, menu, plain.remove(u'&')};
}

void addRunMenu(MainWindow &window)
{
    const Menu run = menuOf(window, Words::tr("&Run"));
    run.add("run.new", Words::tr("&New run…"), QKeySequence::New, "glyph:play", Words::tr("Choose a task or a scenario, a folder and a sandbox."),
            [&window] { window.askForRun(false); });
    run.add("run.sample", Words::tr("Start the &sample run"), Qt::Key_F5, "glyph:play", Words::tr("Three subagents survey a folder at once; the model is scripted."),
            [&window] { window.startSample(); });
    run.add("run.openFolder", Words::tr("&Open a folder and ask…"), QKeySequence::Open, "folder-open", Words::tr("Choose a project and say what should be done."),
            [&window] { window.openFolder(); });
    run.menu->addSeparator();
    run.add("run.cancel", Words::tr("&Cancel the run"), Qt::Key_F8, "glyph:stop", Words::tr("Ends every agent of the run and releases its sandbox."),
            [&window] { window.cancelRun(); });
    run.add("run.export", Words::tr("&Export the run…"), Qt::CTRL | Qt::Key_E, "document-export", Words::tr("Writes the events as JSONL, or the conversation as text."),
            [&window] { window.exportRun(); });
    run.menu->addSeparator();
    run.add("app.quit", Words::tr("&Quit"), QKeySequence::Quit, "application-exit", {}, [&window] { window.close(); });
}

void addAgentMenu(MainWindow &window)
{
    const Menu agent = menuOf(window, Words::tr("&Agent"));
    agent.add("agent.next", Words::tr("&Next agent"), Qt::CTRL | Qt::Key_Period, "", {}, [&window] { window.nextAgent(1); });
    agent.add("agent.previous", Words::tr("&Previous agent"), Qt::CTRL | Qt::Key_Comma, "", {}, [&window] { window.nextAgent(-1); });
    agent.menu->addSeparator();
    agent.add("agent.cancel", Words::tr("&Cancel this agent"), Qt::SHIFT | Qt::Key_F8, "glyph:stop-one", Words::tr("Ends the chosen subagent only; its lease is drained."),
              [&window] { window.cancelAgent(); });
    agent.menu->addSeparator();
    ConversationView *talk = window.panels().conversation;
    agent.add("conversation.unfold", Words::tr("&Unfold all tool calls"), {}, "", {}, [talk] { talk->setAllExpanded(true); });
    agent.add("conversation.fold", Words::tr("&Fold all tool calls"), {}, "", {}, [talk] { talk->setAllExpanded(false); });
}

void addTraceMenu(MainWindow &window)
{
    const Menu trace = menuOf(window, Words::tr("&Trace"));
    TracePanel *panel = window.panels().trace;
    TimeRange *range = window.range();
    const auto middle = [range] { return range->begin() + range->length() / 2; };
    trace.add("trace.zoomIn", Words::tr("Zoom &in"), QKeySequence::ZoomIn, "zoom-in", {}, [range, middle] { range->zoom(0.8, middle()); });
    trace.add("trace.zoomOut", Words::tr("Zoom &out"), QKeySequence::ZoomOut, "zoom-out", {}, [range, middle] { range->zoom(1.25, middle()); });
    trace.add("trace.fit", Words::tr("Show the &whole run"), Qt::CTRL | Qt::Key_0, "zoom-fit-best", {}, [range] { range->fit(); });
    trace.menu->addSeparator();
    trace.add("trace.search", Words::tr("&Search spans"), Qt::CTRL | Qt::SHIFT | Qt::Key_F, "edit-find", {}, [&window, panel] {
        window.showPanel(QStringLiteral("trace"));
        panel->focusSearch();
    });
    trace.add("trace.next", Words::tr("&Next match"), Qt::Key_F3, "", {}, [panel] { panel->step(1); });
    trace.add("trace.previous", Words::tr("&Previous match"), Qt::SHIFT | Qt::Key_F3, "", {}, [panel] { panel->step(-1); });
    trace.menu->addSeparator();
    trace.toggle("trace.all", Words::tr("Show &every middleware"), Qt::CTRL | Qt::Key_M, Words::tr("Also those that changed nothing, in the order of the chain."), false,
                 [panel](bool on) { panel->setAllUnfolded(on); });
    trace.toggle("trace.table", Words::tr("Show as a &table"), Qt::CTRL | Qt::Key_T, Words::tr("The same spans as rows, for screen readers and for reading exact times."), false,
                 [&window, panel](bool on) {
                     window.showPanel(QStringLiteral("trace"));
                     panel->showTable(on);
                 });
    trace.menu->addSeparator();
    InspectorPanel *inspector = window.panels().inspector;
    trace.add("inspector.nextChange", Words::tr("Next &change"), Qt::ALT | Qt::Key_Down, "", {}, [inspector] { inspector->stepChange(1); });
    trace.add("inspector.previousChange", Words::tr("Pre&vious change"), Qt::ALT | Qt::Key_Up, "", {}, [inspector] { inspector->stepChange(-1); });
}

void addShellMenu(MainWindow &window)
{
    const Menu shell = menuOf(window, Words::tr("&Shell"));
    ShellPanel *panel = window.panels().shells;
    shell.toggle("shell.tabs", Words::tr("Shells in &tabs"), {}, Words::tr("Instead of side by side."), false, [panel](bool on) {
        panel->setArrangement(on ? ShellPanel::Arrangement::Tabs : ShellPanel::Arrangement::Grid);
    });
    shell.add("shell.find", Words::tr("&Find in the shell"), {}, "edit-find", {}, [panel] { panel->findInShell(); });
    shell.menu->addSeparator();
    shell.add("shell.interrupt", Words::tr("&Interrupt the command"), Qt::CTRL | Qt::Key_Pause, "process-stop", {}, [panel] { panel->interruptCurrent(); });
    shell.add("shell.takeOver", Words::tr("Take &over the shell"), Qt::CTRL | Qt::SHIFT | Qt::Key_T, "input-keyboard",
              Words::tr("What you type goes to the shell; the agent and the journal see that."), [panel] { panel->takeOverCurrent(); });
}

void addWorkspaceMenu(MainWindow &window)
{
    const Menu files = menuOf(window, Words::tr("&Workspace"));
    WorkspacePanel *panel = window.panels().workspace;
    files.toggle("workspace.changedOnly", Words::tr("&Changed files only"), Qt::CTRL | Qt::Key_D, {}, false, [panel](bool on) { panel->setChangedOnly(on); });
    files.add("workspace.openInEditor", Words::tr("Open in &editor"), Qt::CTRL | Qt::SHIFT | Qt::Key_E, "document-edit", {}, [panel] { panel->openInEditor(); });
}

void addViewMenu(MainWindow &window)
{
    const Menu view = menuOf(window, Words::tr("&View"));
    view.add("app.palette", Words::tr("Command &palette"), Qt::CTRL | Qt::SHIFT | Qt::Key_P, "search", Words::tr("Search actions, agents and files."),
             [&window] { window.commandPalette()->popUp(); });
    view.add("view.find", Words::tr("&Find"), QKeySequence::Find, "edit-find", Words::tr("In the panel that has the keyboard, else in the runs."), [&window] { window.find(); });
    view.toggle("view.follow", Words::tr("F&ollow what is new"), Qt::Key_F9, Words::tr("Off: panels stay where you read."), true,
                [&window](bool on) { window.toggleFollow(on); });
    view.menu->addSeparator();
    const std::pair<const char *, QString> panels[] = {
        {"runs", Words::tr("Runs")}, {"conversation", Words::tr("Conversation")}, {"trace", Words::tr("Trace")},
        {"messages", Words::tr("Messages")}, {"leases", Words::tr("Leases")}, {"inspector", Words::tr("Inspector")},
        {"shells", Words::tr("Shells")}, {"workspace", Words::tr("Workspace")}, {"approvals", Words::tr("Approvals")}};
    int number = 1;
    for (const auto &[name, title] : panels) {
        const QString id = QStringLiteral("view.panel.") + QString::fromLatin1(name);
        view.add(id.toLatin1().constData(), Words::tr("Go to %1").arg(title), QKeySequence(Qt::ALT | Qt::Key(int(Qt::Key_0) + number++)), "", {},
                 [&window, panel = QString::fromLatin1(name)] { window.showPanel(panel); });
    }
    view.menu->addSeparator();
    for (const auto &[id, text, theme] : {std::tuple("view.theme.system", Words::tr("Colours of the system"), ThemeChoice::System),
                                          std::tuple("view.theme.dark", Words::tr("Dark colours"), ThemeChoice::Dark),
                                          std::tuple("view.theme.light", Words::tr("Light colours"), ThemeChoice::Light)})
        view.add(id, text, {}, "", {}, [&window, theme] { window.setTheme(theme); });
    view.menu->addSeparator();
    view.add("view.resetLayout", Words::tr("&Reset layout"), {}, "", Words::tr("Puts every panel back where it was at first."), [&window] { window.resetLayout(); });
    const Menu help = menuOf(window, Words::tr("&Help"));
    help.add("help.keys", Words::tr("&Keys"), QKeySequence::HelpContents, "input-keyboard", {}, [&window] { window.showKeys(); });
    help.add("help.about", Words::tr("&About Paddock"), {}, "help-about", {}, [&window] { window.about(); });
}

void addToolBar(MainWindow &window)
{
    auto *bar = new QToolBar(Words::tr("Main toolbar"), &window);
    bar->setObjectName(QStringLiteral("mainToolBar"));
    bar->setMovable(false);
    bar->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    const int size = window.fontMetrics().height();
    bar->setIconSize({size, size});
    const auto add = [&](const char *id) { bar->addAction(window.registry()->find(QString::fromLatin1(id))); };
    add("run.new");
    add("run.cancel");
    bar->addSeparator();
    add("agent.cancel");
    add("view.follow");
    auto *gap = new QWidget(bar);
    gap->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    bar->addWidget(gap);
    QAction *palette = window.registry()->find(QStringLiteral("app.palette"));
    auto *search = new QPushButton(Words::tr("Search actions, agents, files   %1").arg(palette->shortcut().toString(QKeySequence::NativeText)), bar);
    search->setToolTip(palette->toolTip());
    search->setFocusPolicy(Qt::TabFocus);
    QObject::connect(search, &QPushButton::clicked, palette, &QAction::trigger);
    bar->addWidget(search);
    window.addToolBar(Qt::TopToolBarArea, bar);
    window.setContextMenuPolicy(Qt::NoContextMenu);
}

} // namespace

void makeWindowActions(MainWindow &window)
{
    addRunMenu(window);
    addAgentMenu(window);
    addTraceMenu(window);
    addShellMenu(window);
    addWorkspaceMenu(window);
    addViewMenu(window);
    addToolBar(window);
}

} // namespace paddock
