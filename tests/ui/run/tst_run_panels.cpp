// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "tests/support/sample_events.h"
#include "tests/support/test_main.h"
#include "ui/run/conversation_view.h"
#include "ui/run/messages_page.h"
#include "ui/run/run_tree_delegate.h"
#include "ui/run/run_words.h"
#include "ui/run/runs_panel.h"
#include "ui/run/start_dialog.h"
#include "ui/run/welcome_page.h"

#include <QAbstractItemModelTester>
#include <QAccessible>
#include <QClipboard>
#include <QDialogButtonBox>
#include <QDir>
#include <QFile>
#include <QGuiApplication>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollBar>
#include <QSignalSpy>
#include <QStyleOptionViewItem>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QTreeView>

namespace tst_run_panels {

using namespace paddock;
using namespace paddock::test;

namespace {

QString utf8(const char *text)
{
    return QString::fromUtf8(text);
}

bool isBlank(const QImage &image)
{
    const QRgb first = image.pixel(image.width() / 2, image.height() / 2);
    for (int y = 0; y < image.height(); y += 2) {
        for (int x = 0; x < image.width(); x += 2) {
            if (image.pixel(x, y) != first)
                return false;
        }
    }
    return true;
}

} // namespace

class TestRunPanels : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void treeModelUnderTester();
    void treeTexts();
    void filterKeepsParents();
    void panelSelects();
    void panelAsksForStoredRuns();
    void conversationShowsItems();
    void conversationFollowsAndStays();
    void conversationThatIsOverBeginsWithAWholeItem();
    void messagesShowWholeRows();
    void endsAreSaidInWords();
    void conversationKeys();
    void conversationIsAccessible();
    void markdownReadsNoFiles();
    void welcomeShowsAllItsWords();
    void messagesModel();
    void messagesThatComeLateOrNever();
    void startDialogChecks();
    void startDialogRequest();
};

void TestRunPanels::treeModelUnderTester()
{
    StoreHub hub;
    RunTreeModel model(&hub);
    RunFilterModel filter;
    filter.setSourceModel(&model);
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    QAbstractItemModelTester proxyTester(&filter, QAbstractItemModelTester::FailureReportingMode::Fatal);
    RunFacts old;
    old.id = RunId(utf8("old"));
    old.title = utf8("Write release notes");
    old.status = utf8("cancelled");
    hub.setPast({old});
    QCOMPARE(model.rowCount(), 2); // a heading and the run
    const SampleRun sample = makeSampleRun(utf8("r1"), 1, 0, true);
    for (size_t i = 0; i < sample.events.size(); i += 7) // as frames would bring them
        hub.apply({sample.events.begin() + ptrdiff_t(i), sample.events.begin() + ptrdiff_t(std::min(i + 7, sample.events.size()))});
    hub.apply(makeSampleRun(utf8("r2"), 100'000, 0, false).events);
    QCOMPARE(model.rowCount(), 4);
    QCOMPARE(model.rowCount(model.index(0, 0)), 6);
    model.tick();
    hub.setPast({old, RunFacts{.id = RunId(utf8("older")), .status = utf8("failed")}});
    filter.setWords(utf8("c41f"));
    filter.setWords({});
    QCOMPARE(model.rowCount(model.indexOf(RunId(utf8("r1")))), 6);
}

void TestRunPanels::treeTexts()
{
    StoreHub hub;
    hub.apply(makeSampleRun(utf8("r1"), 1, Clock::system()->mono().count() - SampleRun::length, false).events);
    RunTreeModel model(&hub);
    const auto remark = [&](const char *agent) {
        return model.indexOf(RunId(utf8("r1")), AgentId(utf8(agent))).data(RunTreeModel::RemarkRole).toString();
    };
    QCOMPARE(remark("lead"), utf8("waiting for 4"));
    QVERIFY(remark(sampleC41f).startsWith(utf8("bash · ")));
    QVERIFY(remark(sample77ab).startsWith(utf8("model · ")));
    QVERIFY(remark(sample90de).startsWith(utf8("needs approval")));
    QVERIFY(remark(sampleE2c0).startsWith(utf8("queued")));
    const QModelIndex lexer = model.indexOf(RunId(utf8("r1")), AgentId(utf8(sampleC41f)));
    QCOMPARE(lexer.data().toString(), utf8("Audit the lexer"));
    QVERIFY(lexer.data(Qt::ToolTipRole).toString().contains(utf8(sampleC41f)));
    QVERIFY(lexer.data(Qt::AccessibleTextRole).toString().startsWith(utf8("Agent Audit the lexer (c41f), bash")));
    const QModelIndex run = model.indexOf(RunId(utf8("r1")));
    QCOMPARE(run.data().toString(), utf8("Audit the parser for overflow"));
    QVERIFY(run.data(RunTreeModel::StrongRole).toBool());
    QVERIFY(run.data(RunTreeModel::FigureRole).toString().startsWith(utf8("4:1")));
    QCOMPARE(model.indexOf(RunId(utf8("r1")), AgentId(utf8(sampleC41f))).data(RunTreeModel::FigureRole).toString(), utf8("9.4k"));
}

void TestRunPanels::filterKeepsParents()
{
    StoreHub hub;
    hub.apply(makeSampleRun(utf8("r1"), 1, 0, false).events);
    RunTreeModel model(&hub);
    RunFilterModel filter;
    filter.setSourceModel(&model);
    filter.setWords(utf8("string helpers"));
    QCOMPARE(filter.rowCount(), 1);
    QCOMPARE(filter.rowCount(filter.index(0, 0)), 1);
    filter.setWords(utf8("nothing such"));
    QCOMPARE(filter.rowCount(), 0);
}

void TestRunPanels::panelSelects()
{
    StoreHub hub;
    Selection selection;
    hub.apply(makeSampleRun(utf8("r1"), 1, 0, false).events);
    RunsPanel panel(&hub, &selection);
    panel.resize(300, 400);
    panel.show();
    QVERIFY(QTest::qWaitForWindowExposed(&panel));
    panel.view()->setFocus();
    QTest::keyClick(panel.view(), Qt::Key_Down);
    QTest::keyClick(panel.view(), Qt::Key_Down);
    QTest::keyClick(panel.view(), Qt::Key_Down);
    QVERIFY(selection.run());
    QVERIFY(selection.agent() != leadAgent());
    selection.setAgent(AgentId(utf8(sample77ab)));
    QCOMPARE(panel.view()->currentIndex().data(RunTreeModel::AgentIdRole).toString(), utf8(sample77ab));
    QCOMPARE(panel.remark(), utf8("1 live · 1 kept"));
    QVERIFY(!isBlank(panel.grab().toImage()));
}

void TestRunPanels::panelAsksForStoredRuns()
{
    StoreHub hub;
    Selection selection;
    RunFacts old;
    old.id = RunId(utf8("old"));
    old.title = utf8("Old");
    hub.setPast({old});
    RunsPanel panel(&hub, &selection);
    QSignalSpy wanted(&panel, &RunsPanel::runWanted);
    panel.view()->setCurrentIndex(panel.view()->model()->index(1, 0));
    QCOMPARE(wanted.count(), 1);
}

void TestRunPanels::conversationShowsItems()
{
    RunStore store{RunId(utf8("r1"))};
    store.apply(makeSampleRun(utf8("r1"), 1, 0, true).events);
    ConversationView view;
    view.resize(700, 500);
    view.showAgent(&store, leadAgent());
    QVERIFY(view.accessibleRowCount() >= 7);
    QVERIFY(!isBlank(view.grab().toImage()));
    view.showAgent(&store, AgentId(utf8(sampleC41f)));
    view.revealCall(utf8("call_14"));
    QVERIFY(view.accessibleRowText(view.currentItem()).contains(utf8("rg -n memcpy src")));
    view.setAllExpanded(true);
    QVERIFY(!isBlank(view.grab().toImage()));
    view.showAgent(nullptr, leadAgent());
    QCOMPARE(view.accessibleRowCount(), 0);
}

void TestRunPanels::conversationFollowsAndStays()
{
    RunStore store{RunId(utf8("r"))};
    Seq seq = 1;
    const auto say = [&](int turn) {
        auto event = std::make_shared<Event>();
        event->seq = seq++;
        event->agent = leadAgent();
        event->body = ModelDelta{turn, utf8("Some words of turn %1.\n\nAnd more of them.\n").arg(turn), false};
        const EventPtr pointer = std::move(event);
        store.apply(std::span(&pointer, 1));
    };
    ConversationView view;
    view.resize(500, 300);
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    view.showAgent(&store, leadAgent());
    for (int turn = 1; turn <= 60; ++turn)
        say(turn);
    QVERIFY(view.verticalScrollBar()->maximum() > 0);
    QCOMPARE(view.verticalScrollBar()->value(), view.verticalScrollBar()->maximum());
    view.verticalScrollBar()->setValue(100);
    QVERIFY(!view.isFollowing());
    view.grab();
    const int before = view.verticalScrollBar()->value();
    say(61);
    QCOMPARE(view.verticalScrollBar()->value(), before); // what the reader reads does not move
    view.setFollowing(true);
    QCOMPARE(view.verticalScrollBar()->value(), view.verticalScrollBar()->maximum());
}

void TestRunPanels::conversationThatIsOverBeginsWithAWholeItem()
{
    // Watched to its end, so that it stands at the end; the topmost item must not be cut.
    const SampleRun sample = makeSampleRun(utf8("r1"), 1, 0, true);
    for (const int height : {170, 200, 230}) {
        RunStore store{RunId(utf8("r1"))};
        store.apply(std::span(sample.events).first(3));
        ConversationView view;
        view.resize(600, height);
        view.show();
        QVERIFY(QTest::qWaitForWindowExposed(&view));
        view.showAgent(&store, leadAgent());
        store.apply(sample.events);
        QVERIFY(view.isFollowing());
        view.grab();
        const int top = view.accessibleRowAt(0);
        const QRect first = view.accessibleRowRect(top);
        QVERIFY2(first.top() >= 0 || first.bottom() < 0 || first.height() > height / 2, qPrintable(QString::number(first.top())));
    }
}

void TestRunPanels::messagesShowWholeRows()
{
    const SampleRun sample = makeSampleRun(utf8("r1"), 1, 0, true);
    RunStore store{RunId(utf8("r1"))};
    store.apply(sample.events);
    Selection selection;
    MessagesPage page([&](const QString &hash, std::function<void(MessagePtr)> done) { done(sample.messages.value(hash)); }, &selection);
    selection.setRun(&store);
    page.show();
    QVERIFY(QTest::qWaitForWindowExposed(&page));
    for (int height = 200; height < 260; height += 7) {
        page.resize(500, height);
        QCoreApplication::processEvents();
        QCOMPARE(page.view()->viewport()->height() % page.view()->verticalHeader()->defaultSectionSize(), 0);
    }
}

void TestRunPanels::endsAreSaidInWords()
{
    // A narrow list: the word stands there even when the agent's name must be cut for it.
    RunStore *store = nullptr;
    StoreHub hub;
    store = hub.addRun(RunId(utf8("r")), false);
    auto started = std::make_shared<Event>();
    started->seq = 1;
    started->agent = AgentId(utf8("subagent:slow"));
    started->body = AgentStarted{utf8("lead"), utf8("bash"), utf8("Slow work with a long description"), {}, 10, utf8("c")};
    auto ended = std::make_shared<Event>(*started);
    ended->seq = 2;
    ended->body = AgentFinished{utf8("cancelled"), 1, {}, {}, {}};
    const std::vector<EventPtr> events{started, ended};
    store->apply(events);
    RunTreeModel model(&hub);
    const QModelIndex agent = model.indexOf(RunId(utf8("r")), AgentId(utf8("subagent:slow")));
    QCOMPARE(agent.data(RunTreeModel::RemarkRole).toString(), utf8("cancelled"));
    QStyleOptionViewItem option;
    const int letter = option.fontMetrics.averageCharWidth();
    const int word = option.fontMetrics.horizontalAdvance(utf8("cancelled"));
    QVERIFY(rowRemarkRoom(agent, letter * 30, letter * 33, letter) >= word);
    QVERIFY(rowRemarkRoom(agent, letter * 60, letter * 33, letter) >= letter * 20);
}

void TestRunPanels::conversationKeys()
{
    RunStore store{RunId(utf8("r1"))};
    store.apply(makeSampleRun(utf8("r1"), 1, 0, true).events);
    ConversationView view;
    view.resize(700, 500);
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    view.showAgent(&store, AgentId(utf8(sampleC41f)));
    view.setFocus();
    view.revealCall(utf8("call_14"));
    const int height = view.accessibleRowRect(view.currentItem()).height();
    QTest::keyClick(&view, Qt::Key_Return); // folds what revealing unfolded
    QVERIFY(view.accessibleRowRect(view.currentItem()).height() < height);
    QSignalSpy activated(&view, &ConversationView::callActivated);
    QTest::keyClick(&view, Qt::Key_T);
    QCOMPARE(activated.value(0).value(0).toString(), utf8("call_14"));
    QTest::keyClick(&view, Qt::Key_C, Qt::ControlModifier);
    QVERIFY(QGuiApplication::clipboard()->text().contains(utf8("rg -n memcpy src")));
    QTest::keyClick(&view, Qt::Key_Home);
    QCOMPARE(view.currentItem(), 0);
    QTest::keyClick(&view, Qt::Key_Down);
    QCOMPARE(view.currentItem(), 1);
}

void TestRunPanels::conversationIsAccessible()
{
    RunStore store{RunId(utf8("r1"))};
    store.apply(makeSampleRun(utf8("r1"), 1, 0, true).events);
    ConversationView view;
    view.showAgent(&store, leadAgent());
    QAccessibleInterface *interface = QAccessible::queryAccessibleInterface(&view);
    QCOMPARE(interface->childCount(), view.accessibleRowCount());
    QCOMPARE(interface->text(QAccessible::Name), utf8("Conversation"));
    QVERIFY(interface->child(0)->text(QAccessible::Name).contains(utf8("Audit the parser")));
}

void TestRunPanels::markdownReadsNoFiles()
{
    ConversationItem item;
    item.kind = ItemKind::Text;
    item.text = utf8("![x](file:///etc/passwd) <img src='file:///etc/passwd'> <script>alert(1)</script>");
    item.revision = 1;
    BlockStyle style;
    style.font = QGuiApplication::font();
    style.fixed = style.font;
    style.width = 400;
    ConversationBlock block;
    QVERIFY(block.measure(item, style) > 0); // no crash, no read: loadResource is closed
}

void TestRunPanels::welcomeShowsAllItsWords()
{
    QAction sample(utf8("sample")), folder(utf8("folder"));
    WelcomePage page(&sample, &folder);
    for (const int width : {330, 400, 500, 600, 900}) {
        page.resize(width, 600);
        page.show();
        QCoreApplication::processEvents();
        for (const QLabel *label : page.findChildren<QLabel *>()) {
            if (label->wordWrap())
                QVERIFY2(label->height() >= label->heightForWidth(label->width()), qPrintable(utf8("%1: %2").arg(width).arg(label->text())));
        }
    }
}

void TestRunPanels::messagesModel()
{
    const SampleRun sample = makeSampleRun(utf8("r1"), 1, 0, true);
    RunStore store{RunId(utf8("r1"))};
    store.apply(sample.events);
    Selection selection;
    MessagesPage page([&](const QString &hash, std::function<void(MessagePtr)> done) { done(sample.messages.value(hash)); }, &selection);
    QAbstractItemModelTester tester(page.model(), QAbstractItemModelTester::FailureReportingMode::Fatal);
    selection.setRun(&store);
    QVERIFY(page.model()->rowCount() >= 2);
    QCOMPARE(page.model()->index(0, MessagesModel::RoleColumn).data().toString(), utf8("system"));
    selection.setAgent(AgentId(utf8(sampleC41f)));
    QVERIFY(page.model()->rowCount() >= 1);
    selection.setRun(nullptr);
    QCOMPARE(page.model()->rowCount(), 0);
}

void TestRunPanels::messagesThatComeLateOrNever()
{
    std::vector<std::function<void(MessagePtr)>> answers;
    MessagesModel model([&](const QString &, std::function<void(MessagePtr)> done) { answers.push_back(std::move(done)); });
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    model.setHashes({utf8("a"), utf8("b")});
    const auto text = [&](int row) { return model.index(row, MessagesModel::TextColumn).data().toString(); };
    QVERIFY(text(0).isEmpty()); // asked for: nothing is said yet
    answers.at(0)(nullptr);
    QVERIFY(text(0).contains(utf8("keeps no text")));
    QVERIFY(text(1).isEmpty());
    model.setHashes({});
    answers.at(1)(nullptr); // of rows that are gone
    QCOMPARE(model.rowCount(), 0);
}

void TestRunPanels::startDialogChecks()
{
    StartDialog dialog;
    QVERIFY2(dialog.problem().isEmpty(), qPrintable(dialog.problem())); // the sample can be started at once
    dialog.chooseTask();
    QVERIFY(!dialog.problem().isEmpty());
    dialog.findChild<QPlainTextEdit *>()->setPlainText(utf8("Mend it"));
    QVERIFY(dialog.problem().isEmpty());
    dialog.setFolder(utf8("/nonexistent/folder"));
    QVERIFY(dialog.problem().contains(utf8("/nonexistent/folder")));
    QTemporaryDir dir;
    const QString odd = dir.filePath(utf8("a b 'c' \"d\""));
    QVERIFY(QDir().mkpath(odd));
    dialog.setFolder(odd);
    QVERIFY2(dialog.problem().isEmpty(), qPrintable(dialog.problem()));
    QFile file(dir.filePath(utf8("file")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    dialog.setFolder(file.fileName());
    QVERIFY(dialog.problem().contains(utf8("is a file")));
}

void TestRunPanels::startDialogRequest()
{
    QTemporaryDir dir;
    StartDialog dialog;
    dialog.chooseScenario(utf8("recovery"));
    dialog.setFolder(dir.path());
    QSignalSpy requested(&dialog, &StartDialog::runRequested);
    dialog.open();
    for (QPushButton *button : dialog.findChildren<QPushButton *>()) {
        if (button->isDefault())
            button->click();
    }
    QCOMPARE(requested.count(), 1);
    const auto request = requested.first().first().value<RunRequest>();
    QCOMPARE(request.scenario, utf8("recovery"));
    QCOMPARE(request.workspace, dir.path());
    QCOMPARE(request.sandbox, utf8("embedded"));
    QVERIFY(!dialog.isVisible());
}

} // namespace tst_run_panels

PADDOCK_GUI_TEST(tst_run_panels, TestRunPanels)
#include "tst_run_panels.moc"
