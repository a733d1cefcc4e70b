// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// The window over the real service: a live run in the real sandbox, seen through the models of the panels, and the same
// run opened again from the journal. Waits for events only; every limit is one that a hang alone reaches.
#include "app/main_window.h"
#include "tests/core/run/run_probe.h"
#include "tests/e2e/window_text.h"
#include "tests/support/test_main.h"
#include "ui/action/action_registry.h"
#include "ui/dock/panel_dock.h"
#include "ui/dock/panel_header.h"
#include "ui/lease/lease_panel.h"
#include "ui/paint/lane_view.h"
#include "ui/paint/marks.h"
#include "ui/paint/theme.h"
#include "ui/run/conversation_view.h"
#include "ui/run/runs_panel.h"
#include "ui/run/start_dialog.h"
#include "ui/shell/shell_pane.h"
#include "ui/shell/shell_panel.h"
#include "ui/store/agent_names.h"
#include "ui/text/code_view.h"
#include "ui/text/markdown_view.h"
#include "ui/trace/inspector_panel.h"
#include "ui/trace/trace_panel.h"
#include "ui/workspace/file_viewer.h"
#include "ui/workspace/workspace_model.h"
#include "ui/workspace/workspace_panel.h"

#include <QAction>
#include <QAbstractItemModelTester>
#include <QApplication>
#include <QMessageBox>
#include <QPushButton>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>
#include <QTextBlock>
#include <QTextLayout>
#include <QThreadPool>

namespace tst_live_window {

using namespace paddock;
using namespace paddock::test;

namespace {

const char *const outputs = "/mnt/user-data/outputs";

QString utf8(const char *text)
{
    return QString::fromUtf8(text);
}

/// A window over a service of its own, as runGui makes them.
struct Desk {
    explicit Desk(const QString &dataDir)
    {
        auto opened = RunService::open({.configPath = {}, .dataDir = dataDir, .maxRunning = {}, .readOnly = false});
        if (!opened) {
            problem = opened.error().fullMessage();
            return;
        }
        service = std::move(*opened);
        MainWindow::Options options;
        options.keepLayout = false;
        options.size = QSize(1600, 1000);
        window = std::make_unique<MainWindow>(service.get(), options);
        for (QAbstractItemModel *model : window->findChildren<QAbstractItemModel *>()) {
            if (QByteArray(model->metaObject()->className()).startsWith("paddock::"))
                new QAbstractItemModelTester(model, QAbstractItemModelTester::FailureReportingMode::Fatal, model);
        }
        QObject::connect(window.get(), &MainWindow::failed, window.get(), [this](const QString &sentence) { problem = sentence; });
        window->show();
        shown = QTest::qWaitForWindowActive(window.get());
    }
    ~Desk()
    {
        window.reset();
        if (!service)
            return;
        bool done = false;
        service->shutdown([&] { done = true; });
        spinUntil([&] { return done; }, runLimitMs);
    }
    bool wait(const std::function<bool()> &condition) const { return spinUntil(condition, runLimitMs); }
    /// Through the dialog, as a person does.
    bool start(const QString &scenario, const QString &folder) const
    {
        window->registry()->find(utf8("run.new"))->trigger();
        auto *dialog = window->findChild<StartDialog *>();
        if (!dialog)
            return false;
        dialog->setFolder(folder);
        if (QFileInfo(scenario).isFile())
            dialog->setScenarios({{scenario, scenario}});
        dialog->chooseScenario(scenario);
        for (QPushButton *button : dialog->findChildren<QPushButton *>()) {
            if (button->isDefault())
                button->click();
        }
        return window->selection()->run() != nullptr;
    }
    RunStore *run() const { return window->selection()->run(); }
    const WindowPanels &panels() const { return window->panels(); }
    bool isOver() const { return run()->facts().isOver() && !service->isLive(run()->id()); }
    const AgentEntry *agentAbout(const char *description) const
    {
        for (const AgentEntry &agent : run()->agents().agents()) {
            if (agent.description.contains(utf8(description)))
                return &agent;
        }
        return nullptr;
    }
    bool trigger(const char *action) const
    {
        QAction *found = window->registry()->find(utf8(action));
        if (!found->isEnabled())
            return false;
        found->trigger();
        return true;
    }
    /// Every folder that was read, every terminal, every message is there.
    bool settle() const
    {
        bool ended = false;
        window->panels().workspace->model()->fetchMore({});
        return wait([&] {
            QThreadPool::globalInstance()->waitForDone();
            QCoreApplication::processEvents();
            ended = true;
            const auto texts = terminalsOf(*window);
            return std::none_of(texts.begin(), texts.end(), [](const QString &text) { return text.trimmed().isEmpty(); });
        }) && ended;
    }

    std::unique_ptr<RunService> service;
    std::unique_ptr<MainWindow> window;
    QString problem;
    bool shown = false;
};

QModelIndex fileIn(const Desk &desk, const QString &path, int column)
{
    return desk.panels().workspace->model()->indexOf(path).siblingAtColumn(column);
}

} // namespace

class TestLiveWindow : public QObject
{
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_dir;
    QString data() const { return m_dir->filePath(utf8("data")); }
    QString work() const { return m_dir->filePath(utf8("it's \"my\" project")); }

    void checkTree(const Desk &desk);
    void checkConversations(const Desk &desk);
    void checkTraceAndInspector(const Desk &desk);
    void checkLeases(const Desk &desk);
    void checkShells(const Desk &desk);
    void checkWorkspace(const Desk &desk);
    void checkPictures(const Desk &desk, const QString &moment);
    QString slowScenario() const;

private Q_SLOTS:
    void initTestCase();
    void init();
    void surveyFillsEveryPanel();
    void cancelOneAgent();
    void cancelTheRun();
    void closeDuringARun();
    void recoveryIsSeen();
};

void TestLiveWindow::initTestCase()
{
    if (!canIsolate())
        QSKIP(cannotIsolate);
    QStandardPaths::setTestModeEnabled(true);
    QApplication::setQuitOnLastWindowClosed(false);
}

void TestLiveWindow::init()
{
    m_dir = std::make_unique<QTemporaryDir>();
    writeFile(work() + utf8("/main.c"), "int main(void)\n{\n    /* TODO: everything */\n    return 0;\n}\n");
    writeFile(work() + utf8("/src/lexer.cpp"), "// FIXME: slow\nint lex(const char *s)\n{\n    return s[0];\n}\n");
    writeFile(work() + utf8("/tool.py"), "# FIXME later\nprint('x')\n");
    writeFile(work() + utf8("/run.sh"), "#!/bin/sh\n# says ok\necho \"ok $HOME\"\n");
    writeFile(work() + utf8("/README.md"), "# Project\n\nA small one.\n");
    writeFile(work() + utf8("/Makefile"), "all:\n\ttrue\n");
}

void TestLiveWindow::surveyFillsEveryPanel()
{
    applyTheme(*qApp, ThemeChoice::Dark);
    QMap<QString, QStringList> live;
    RunId id;
    {
        Desk desk(data());
        QVERIFY2(desk.window && desk.shown, qPrintable(desk.problem));
        QVERIFY2(desk.start(utf8("survey"), work()), qPrintable(desk.problem));
        id = desk.run()->id();
        QVERIFY(desk.service->isLive(id));
        // All four hold the sandbox at one moment, and the panels say so while it is true.
        QVERIFY(desk.wait([&] { return !desk.run()->leases().sandboxes().empty() && desk.run()->leases().sandboxes().front().owners.size() == 4; }));
        QVERIFY2(desk.panels().leases->remark().contains(u"hold it"), qPrintable(desk.panels().leases->remark()));
        QCOMPARE(desk.run()->agents().agents().size(), size_t(4));
        QVERIFY(desk.run()->agents().running() >= 2);
        const RunTreeModel &tree = *desk.panels().runs->model();
        QVERIFY2(tree.indexOf(id, leadAgent()).data(RunTreeModel::RemarkRole).toString().contains(u"waiting for"),
                 qPrintable(tree.indexOf(id, leadAgent()).data(RunTreeModel::RemarkRole).toString()));
        QVERIFY(desk.wait([&] { return desk.panels().shells->panes().size() == 4; }));
        checkPictures(desk, utf8("live"));
        QVERIFY(desk.wait([&] { return desk.isOver(); }));
        QCOMPARE(desk.run()->facts().status, utf8("completed"));
        QVERIFY(desk.settle());
        checkTree(desk);
        checkConversations(desk);
        checkTraceAndInspector(desk);
        checkLeases(desk);
        checkShells(desk);
        checkWorkspace(desk);
        checkPictures(desk, utf8("done"));
        live = textsOf(*desk.window);
    }
    QCOMPARE(processesWith(data().toUtf8()), 0);
    Desk past(data());
    QVERIFY2(past.window && past.shown, qPrintable(past.problem));
    past.window->openByName(id.value().left(6)); // what --open does
    QVERIFY(past.wait([&] { return past.run() && past.run()->facts().isOver() && !past.run()->isLoading(); }));
    QVERIFY(past.settle());
    QVERIFY(!past.service->isLive(id));
    for (const char *action : {"run.cancel", "agent.cancel"})
        QVERIFY(!past.window->registry()->find(utf8(action))->isEnabled());
    checkTree(past);
    checkLeases(past);
    checkWorkspace(past);
    const auto again = textsOf(*past.window);
    QCOMPARE(again.keys(), live.keys());
    for (auto it = live.begin(); it != live.end(); ++it) {
        const QStringList &now = again[it.key()];
        for (qsizetype i = 0; i < std::max(now.size(), it->size()); ++i)
            QVERIFY2(now.value(i) == it->value(i), qPrintable(utf8("%1, line %2\nlive: %3\npast: %4").arg(it.key()).arg(i).arg(it->value(i), now.value(i))));
        QVERIFY2(!now.isEmpty(), qPrintable(it.key()));
    }
    checkPictures(past, utf8("past"));
}

void TestLiveWindow::checkTree(const Desk &desk)
{
    const RunTreeModel &model = *desk.panels().runs->model();
    const QModelIndex run = model.indexOf(desk.run()->id());
    QVERIFY2(run.data().toString().startsWith(u"Survey this project"), qPrintable(run.data().toString()));
    QVERIFY2(run.data(RunTreeModel::RemarkRole).toString().startsWith(u"done"), qPrintable(run.data(RunTreeModel::RemarkRole).toString()));
    QCOMPARE(model.rowCount(run), 4);
    QCOMPARE(model.index(0, 0, run).data().toString(), utf8("lead"));
    for (int row = 0; row < 4; ++row) {
        const QModelIndex agent = model.index(row, 0, run);
        QCOMPARE(agent.data(RunTreeModel::MarkRole).toInt(), int(Mark::Done));
        QVERIFY2(agent.data(RunTreeModel::RemarkRole).toString().startsWith(u"done"), qPrintable(agent.data(RunTreeModel::RemarkRole).toString()));
        QVERIFY2(row == 0 || desk.agentAbout(qPrintable(agent.data().toString())), qPrintable(agent.data().toString())); // called by its task
        QVERIFY(!agent.data(RunTreeModel::FigureRole).toString().isEmpty()); // tokens
    }
}

void TestLiveWindow::checkConversations(const Desk &desk)
{
    const QString lead = conversationOf(*desk.window, utf8("lead")).join(u'\n');
    for (const char *part : {"Survey this project", "three subagents", "Languages and lines", "Now the report", "The report is in /mnt/user-data/outputs/report.md"})
        QVERIFY2(lead.contains(utf8(part)), qPrintable(utf8("%1 is not in:\n%2").arg(utf8(part), lead)));
    QVERIFY(!lead.contains(u"find . ")); // nothing of a subagent's in the lead's
    const AgentEntry *counting = desk.agentAbout("Languages");
    QVERIFY(counting);
    const QString talk = conversationOf(*desk.window, counting->id.value()).join(u'\n');
    QVERIFY2(talk.contains(u"Count files and lines per language") && talk.contains(u"bash"), qPrintable(talk));
    desk.window->selection()->setAgent(leadAgent());
}

void TestLiveWindow::checkTraceAndInspector(const Desk &desk)
{
    const TraceLanes &trace = desk.run()->trace();
    TraceSource &source = *desk.panels().trace->source();
    QStringList titles;
    for (int row = 0; row < source.rowCount(); ++row)
        titles += source.heading(row).title;
    QVERIFY(titles.contains(utf8("lead")));
    for (const AgentEntry &agent : desk.run()->agents().agents())
        QVERIFY2(!titles.filter(agentName(desk.run()->agents(), agent.id.value())).isEmpty(), qPrintable(titles.join(u'|')));
    QCOMPARE(trace.openSpans(), 0);
    // Three subagents worked at the same time: their lanes overlap.
    Micros lastStart = 0, firstEnd = openEnd;
    for (const AgentEntry &agent : desk.run()->agents().agents()) {
        if (agent.id == leadAgent())
            continue;
        lastStart = std::max(lastStart, agent.startedAt);
        firstEnd = std::min(firstEnd, agent.finishedAt);
    }
    QVERIFY(lastStart < firstEnd);
    // A hook that changed messages: its span is chosen in the lanes and shown with what it changed.
    SpanIndex changing = noSpan;
    for (SpanIndex span = 0; span < trace.size(); ++span) {
        const EventPtr opened = trace.opened(span);
        const auto *hook = opened ? std::get_if<MiddlewareSpan>(&opened->body) : nullptr;
        if (hook && !hook->changes.empty())
            changing = span;
    }
    QVERIFY(changing != noSpan);
    desk.window->showPanel(utf8("trace"));
    desk.panels().trace->setAllUnfolded(true);
    desk.panels().trace->lanes()->select(changing);
    QCOMPARE(desk.panels().trace->lanes()->selected(), changing);
    InspectorPanel *inspector = desk.panels().inspector;
    QVERIFY(desk.wait([&] { return inspector->text(InspectorPanel::DiffPage).contains(u'+') || inspector->text(InspectorPanel::DiffPage).contains(u'-'); }));
    QVERIFY2(inspector->text(InspectorPanel::RawPage).contains(u"middleware.span"), qPrintable(inspector->text(InspectorPanel::RawPage)));
    QVERIFY(!desk.panels().dock(utf8("inspector"))->header()->remark().isEmpty());
    // A tool call shows what went in and what came out.
    const SpanIndex look = trace.spanOfCall(leadAgent(), utf8("look"));
    QVERIFY(look != noSpan);
    desk.panels().trace->lanes()->select(look);
    QVERIFY(desk.wait([&] { return inspector->text(InspectorPanel::AfterPage).contains(u"entries here: 6"); }));
    QVERIFY(inspector->text(InspectorPanel::BeforePage).contains(u"pwd"));
    desk.panels().trace->setAllUnfolded(false);
    desk.panels().trace->lanes()->select(changing);
}

void TestLiveWindow::checkLeases(const Desk &desk)
{
    QCOMPARE(desk.run()->leases().sandboxes().size(), size_t(1));
    const SandboxLane &sandbox = desk.run()->leases().sandboxes().front();
    QCOMPARE(sandbox.periods.size(), size_t(4));
    QVERIFY(sandbox.lastReleased);
    QCOMPARE(sandbox.state, LeaseState::Released);
    QVERIFY(sandbox.until != openEnd);
    QCOMPARE(sandbox.sessionsMost, 4);
    Micros lastBegin = 0, firstEnd = openEnd;
    int leads = 0;
    for (const LeasePeriod &period : sandbox.periods) {
        QCOMPARE(period.state, LeaseState::Released);
        QVERIFY(period.releasedAt <= sandbox.until);
        lastBegin = std::max(lastBegin, period.acquiredAt);
        firstEnd = std::min(firstEnd, period.releasedAt);
        leads += period.owner.startsWith(u"run:");
    }
    QVERIFY(lastBegin < firstEnd);
    QCOMPARE(leads, 1);
    LeaseSource &source = *desk.panels().leases->source();
    QCOMPARE(source.rowCount(), 5);
    for (int row = 1; row < 5; ++row)
        QVERIFY2(source.heading(row).detail.contains(u"released"), qPrintable(source.heading(row).detail));
    QVERIFY2(desk.panels().leases->remark().contains(u"released after"), qPrintable(desk.panels().leases->remark()));
}

void TestLiveWindow::checkShells(const Desk &desk)
{
    QCOMPARE(desk.panels().shells->panes().size(), size_t(4));
    const auto texts = terminalsOf(*desk.window);
    QSet<QString> sessions;
    for (const ShellEntry &shell : desk.run()->shells().shells()) {
        sessions.insert(shell.lastSession);
        QVERIFY(shell.session.isEmpty()); // closed
        const AgentEntry *agent = desk.run()->agents().find(shell.agent);
        QVERIFY(agent);
        const QString own = agent->id == leadAgent() ? utf8("entries here: 6") : agent->description.contains(u"Languages") ? utf8("look=languages")
            : agent->description.contains(u"Marks") ? utf8("look=debt") : utf8("look=build");
        const QString text = QString(texts[shell.scope]).remove(u'\n');
        QVERIFY2(text.contains(own), qPrintable(utf8("%1 is not in the shell of %2:\n%3").arg(own, shell.scope, texts[shell.scope])));
    }
    QCOMPARE(sessions.size(), 4);
}

void TestLiveWindow::checkWorkspace(const Desk &desk)
{
    const QString report = utf8(outputs) + utf8("/report.md");
    QVERIFY(desk.wait([&] { return fileIn(desk, report, 0).isValid() && fileIn(desk, utf8("/mnt/user-data/workspace/run.sh"), 0).isValid(); }));
    QCOMPARE(fileIn(desk, report, WorkspaceModel::Who).data().toString(), utf8("lead"));
    QVERIFY(fileIn(desk, report, WorkspaceModel::Change).data().toString().startsWith(u"new"));
    for (const auto &[name, about] : {std::pair("/languages.md", "Languages"), std::pair("/debt.md", "Marks"), std::pair("/build.md", "Build")}) {
        const AgentEntry *agent = desk.agentAbout(about);
        QVERIFY(agent);
        QVERIFY2(fileIn(desk, utf8(outputs) + utf8(name), WorkspaceModel::Who).data().toString().contains(agentName(desk.run()->agents(), agent->id.value())), name);
    }
    desk.window->showPanel(utf8("workspace"));
    FileViewer *viewer = desk.panels().workspace->viewer();
    const auto open = [&](const QString &path) {
        QSignalSpy shown(viewer, &FileViewer::shown);
        desk.panels().workspace->reveal(path);
        return desk.wait([&] { return !shown.isEmpty() && viewer->path() == path; });
    };
    QVERIFY(open(utf8("/mnt/user-data/workspace/run.sh")));
    auto *code = viewer->findChild<CodeView *>();
    QVERIFY(code->isVisible());
    QVERIFY(desk.wait([&] { return !code->document()->begin().layout()->formats().isEmpty(); })); // highlighted
    QVERIFY(open(report));
    auto *markdown = viewer->findChild<MarkdownView *>();
    QVERIFY(markdown->isVisible());
    const QString text = markdown->toPlainText();
    QVERIFY2(text.startsWith(u"Survey") && text.contains(u"Marks (TODO, FIXME)"), qPrintable(text)); // formatted, not its source
    QVERIFY2(desk.panels().dock(utf8("workspace"))->header()->remark().contains(u"changed"), "remark");
}

void TestLiveWindow::checkPictures(const Desk &desk, const QString &moment)
{
    for (const ThemeChoice theme : {ThemeChoice::Light, ThemeChoice::Dark}) {
        desk.window->setTheme(theme);
        QCoreApplication::processEvents();
        const bool dark = theme == ThemeChoice::Dark;
        const QStringList blank = blankPanels(*desk.window, moment + (dark ? utf8("-dark") : utf8("-light")));
        QVERIFY2(blank.isEmpty(), qPrintable(utf8("blank in %1: %2").arg(dark ? utf8("dark") : utf8("light"), blank.join(u' '))));
        QCOMPARE(desk.panels().trace->grab().toImage().pixelColor(3, 3).lightness() < 128, dark);
    }
}

/// Two subagents: one ends at once, one would sleep for ever; the lead goes on whatever becomes of them.
QString TestLiveWindow::slowScenario() const
{
    const QByteArray text = "scenario: 1\nname: slow\ndescription: For tests\ntask: Wait for two\nagents:\n"
                            "  - match: {agent: lead}\n    turns:\n"
                            "      - say: Two at once.\n        calls:\n"
                            "          - {tool: task, id: quick, args: {description: Quick work, prompt: Be quick, subagent_type: general-purpose}}\n"
                            "          - {tool: task, id: slow, args: {description: Slow work, prompt: Be slow, subagent_type: general-purpose}}\n"
                            "      - say: Both are back.\n"
                            "  - match: {type: general-purpose, prompt: quick}\n    turns:\n"
                            "      - calls: [{tool: bash, args: {description: Quick, command: echo quick}}]\n      - say: Was quick.\n"
                            "  - match: {type: general-purpose, prompt: slow}\n    turns:\n"
                            "      - calls: [{tool: bash, args: {description: Slow, command: \"echo slow; " + ownSleep(616) + "\"}}]\n      - say: Never.\n";
    return writeFile(m_dir->filePath(utf8("slow.yaml")), text);
}

void TestLiveWindow::cancelOneAgent()
{
    Desk desk(data());
    QVERIFY2(desk.window && desk.shown, qPrintable(desk.problem));
    QVERIFY2(desk.start(slowScenario(), work()), qPrintable(desk.problem));
    QVERIFY(!desk.window->registry()->find(utf8("agent.cancel"))->isEnabled()); // the lead is chosen
    QVERIFY(desk.wait([&] {
        const AgentEntry *slow = desk.agentAbout("Slow");
        return slow && slow->step == StepKind::Tool && processesWith(ownSleep(616)) > 0;
    }));
    const AgentId slow = desk.agentAbout("Slow")->id;
    desk.window->selection()->setAgent(slow);
    QVERIFY(desk.trigger("agent.cancel"));
    QVERIFY(desk.wait([&] { return desk.isOver(); }));
    QCOMPARE(desk.run()->facts().status, utf8("completed")); // the others go on
    QCOMPARE(processesWith(ownSleep(616)), 0);
    QCOMPARE(desk.run()->agents().find(slow)->state, AgentState::Cancelled);
    const QModelIndex row = desk.panels().runs->model()->indexOf(desk.run()->id(), slow);
    QCOMPARE(row.data(RunTreeModel::MarkRole).toInt(), int(Mark::Stopped));
    QCOMPARE(row.data(RunTreeModel::RemarkRole).toString(), utf8("cancelled"));
    QCOMPARE(desk.run()->agents().find(desk.agentAbout("Quick")->id)->state, AgentState::Completed);
    QVERIFY2(conversationOf(*desk.window, slow.value()).join(u'\n').contains(u"was cancelled"), "the reader is told");
    const SandboxLane &sandbox = desk.run()->leases().sandboxes().front();
    QCOMPARE(sandbox.state, LeaseState::Released);
    QVERIFY(sandbox.owners.isEmpty());
    QVERIFY(!desk.window->registry()->find(utf8("agent.cancel"))->isEnabled());
}

void TestLiveWindow::cancelTheRun()
{
    Desk desk(data());
    QVERIFY2(desk.start(slowScenario(), work()), qPrintable(desk.problem));
    QVERIFY(desk.wait([&] { return processesWith(ownSleep(616)) > 0 && desk.agentAbout("Slow"); }));
    QVERIFY(desk.trigger("run.cancel"));
    QVERIFY(desk.wait([&] { return desk.isOver(); }));
    QCOMPARE(processesWith(ownSleep(616)), 0);
    QCOMPARE(processesWith(data().toUtf8()), 0);
    QCOMPARE(desk.run()->facts().status, utf8("cancelled"));
    const QModelIndex row = desk.panels().runs->model()->indexOf(desk.run()->id());
    QCOMPARE(row.data(RunTreeModel::MarkRole).toInt(), int(Mark::Stopped));
    QCOMPARE(row.data(RunTreeModel::RemarkRole).toString().section(u' ', 0, 0), utf8("cancelled"));
    QCOMPARE(desk.run()->leases().sandboxes().front().state, LeaseState::Released);
    QCOMPARE(desk.run()->trace().openSpans(), 0);
    QVERIFY(desk.wait([&] { return !desk.window->registry()->find(utf8("run.cancel"))->isEnabled(); }));
    for (ShellPane *pane : desk.panels().shells->panes())
        QVERIFY(!pane->view()->isTyping());
    // And at once another one in the same window.
    QVERIFY2(desk.start(slowScenario(), work()), qPrintable(desk.problem));
    QVERIFY(desk.wait([&] { return processesWith(ownSleep(616)) > 0; }));
    QVERIFY(desk.trigger("run.cancel"));
    QVERIFY(desk.wait([&] { return desk.isOver(); }));
    QCOMPARE(desk.window->hub()->count(), 2);
}

void TestLiveWindow::closeDuringARun()
{
    RunId id;
    {
        Desk desk(data());
        QVERIFY2(desk.start(slowScenario(), work()), qPrintable(desk.problem));
        id = desk.run()->id();
        QVERIFY(desk.wait([&] { return processesWith(ownSleep(616)) > 0; }));
        const auto answer = [&](QMessageBox::ButtonRole role) {
            auto *box = desk.window->findChild<QMessageBox *>();
            if (!box)
                return false;
            for (QAbstractButton *button : box->buttons()) {
                if (box->buttonRole(button) == role)
                    button->click();
            }
            QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
            return true;
        };
        desk.window->close();
        QVERIFY(desk.window->isVisible()); // asks first
        QVERIFY(answer(QMessageBox::RejectRole));
        QVERIFY(desk.service->isLive(id)); // stayed
        desk.window->close();
        QTimer::singleShot(0, desk.window.get(), [&] { QVERIFY(answer(QMessageBox::AcceptRole)); });
        QTimer::singleShot(runLimitMs, desk.window.get(), [] { QApplication::exit(99); });
        QCOMPARE(QApplication::exec(), 0); // ends by itself, once everything is released
        QVERIFY(!desk.window->isVisible());
        QVERIFY(!desk.service->isLive(id));
        QCOMPARE(processesWith(ownSleep(616)), 0);
        QCOMPARE(processesWith(data().toUtf8()), 0);
        desk.window.reset();
        desk.service.reset(); // it was shut down already
    }
    Desk later(data());
    later.window->openByName(utf8("last"));
    QVERIFY(later.wait([&] { return later.run() && later.run()->facts().isOver() && !later.run()->isLoading(); }));
    QCOMPARE(later.run()->id(), id);
    QCOMPARE(later.run()->facts().status, utf8("cancelled"));
    QCOMPARE(later.run()->leases().sandboxes().front().state, LeaseState::Released);
}

void TestLiveWindow::recoveryIsSeen()
{
    Desk desk(data());
    QVERIFY2(desk.start(utf8("recovery"), work()), qPrintable(desk.problem));
    QVERIFY(desk.wait([&] { return desk.isOver(); }));
    QCOMPARE(desk.run()->facts().status, utf8("completed"));
    QVERIFY(desk.settle());
    // The lead's shell answered with an error; its conversation and its pane say that it was made again.
    const QString lead = conversationOf(*desk.window, utf8("lead")).join(u'\n');
    QVERIFY2(lead.contains(u"answered with an error"), qPrintable(lead));
    const AgentEntry *evicted = desk.agentAbout("lose the session");
    const AgentEntry *refused = desk.agentAbout("refusals");
    const AgentEntry *slow = desk.agentAbout("to be cancelled");
    QVERIFY(evicted && refused && slow);
    const QString lost = conversationOf(*desk.window, evicted->id.value()).join(u'\n');
    QVERIFY2(lost.contains(u"had forgotten the shell session"), qPrintable(lost));
    const QString refusals = conversationOf(*desk.window, refused->id.value()).join(u'\n');
    QVERIFY2(refusals.contains(u"The audit blocked this command") && refusals.contains(u"error"), qPrintable(refusals));
    QVERIFY(conversationOf(*desk.window, slow->id.value()).join(u'\n').contains(u"was cancelled"));
    int recovered = 0;
    for (const ShellEntry &shell : desk.run()->shells().shells()) {
        recovered += shell.recoveries;
        QVERIFY(shell.session.isEmpty());
    }
    QCOMPARE(recovered, 2);
    QCOMPARE(desk.panels().runs->model()->indexOf(desk.run()->id(), slow->id).data(RunTreeModel::MarkRole).toInt(), int(Mark::Stopped));
    // In the trace the failures can be found, and not by colour alone.
    int failed = 0, cancelled = 0;
    for (SpanIndex span = 0; span < desk.run()->trace().size(); ++span) {
        if (desk.run()->trace().flags(span) & SpanFailed) {
            ++failed;
            QVERIFY(desk.panels().trace->source()->describe(span).contains(u"failed"));
        }
        cancelled += (desk.run()->trace().flags(span) & SpanCancelled) != 0;
    }
    QVERIFY(failed >= 3);
    QVERIFY(cancelled >= 1);
    // The cancelled agent's lease was drained before it was released.
    bool drained = false;
    for (const LeasePeriod &period : desk.run()->leases().sandboxes().front().periods) {
        QCOMPARE(period.state, LeaseState::Released);
        drained = drained || (agentOfOwner(period.owner) == slow->id && period.drainingAt >= 0);
    }
    QVERIFY(drained);
    QCOMPARE(processesWith("sleep 617"), 0);
    checkPictures(desk, utf8("recovery"));
}

} // namespace tst_live_window

PADDOCK_GUI_TEST(tst_live_window, TestLiveWindow)
#include "tst_live_window.moc"
