// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "app/main_window.h"
#include "app/window_panels.h"
#include "tests/support/sample_service.h"
#include "tests/support/test_main.h"
#include "ui/approval/approvals_panel.h"
#include "ui/trace/inspector_panel.h"
#include "ui/action/action_registry.h"
#include "ui/dock/layout_store.h"
#include "ui/dock/panel_dock.h"
#include "ui/dock/panel_header.h"
#include "ui/dock/tabbed_panel.h"
#include "ui/lease/lease_panel.h"
#include "ui/paint/theme.h"
#include "ui/run/conversation_view.h"
#include "ui/run/runs_panel.h"
#include "ui/trace/trace_panel.h"

#include <QAbstractScrollArea>
#include <QAbstractSpinBox>
#include <QAction>
#include <QApplication>
#include <QDialog>
#include <QSettings>
#include <QSignalSpy>
#include <QStackedWidget>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

namespace tst_window {

using namespace paddock;
using namespace paddock::test;

namespace {

MainWindow::Options plain()
{
    MainWindow::Options options;
    options.keepLayout = false;
    options.size = QSize(1400, 900);
    return options;
}

} // namespace

class TestWindow : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() { QStandardPaths::setTestModeEnabled(true); }
    void layoutIsKeptAndReset();
    void dockNamesAreStable();
    void headersStandAboveTheirPanels();
    void firstStartShowsSomethingToDo();
    void sampleRunFillsEveryPanel();
    void pastRunFillsTheSamePanels();
    void cancelByKeys();
    void everyActionOnce();
    void everyViewHasANameAndAKeyPath();
    void themeSwitchesLive();
};

void TestWindow::layoutIsKeptAndReset()
{
    QTemporaryDir dir;
    QSettings settings(dir.filePath(QStringLiteral("s.ini")), QSettings::IniFormat);
    QMainWindow window;
    auto *dock = new PanelDock(QStringLiteral("a"), QStringLiteral("A"), new QWidget, &window);
    window.addDockWidget(Qt::LeftDockWidgetArea, dock);
    LayoutStore store;
    QVERIFY(!store.restore(window, settings)); // nothing kept yet
    store.rememberDefault(window);
    window.addDockWidget(Qt::RightDockWidgetArea, dock);
    store.save(window, settings);
    store.reset(window);
    QCOMPARE(window.dockWidgetArea(dock), Qt::LeftDockWidgetArea);
    QVERIFY(store.restore(window, settings));
    QCOMPARE(window.dockWidgetArea(dock), Qt::RightDockWidgetArea);
    settings.setValue(QStringLiteral("layout/version"), LayoutStore::version + 1);
    QVERIFY(!store.restore(window, settings)); // of another version: not applied
}

void TestWindow::headersStandAboveTheirPanels()
{
    SampleService service;
    MainWindow window(&service, plain());
    window.show();
    QVERIFY(QTest::qWaitForWindowExposed(&window));
    for (const QSize size : {QSize(1400, 900), QSize(1000, 640)}) {
        window.resize(size);
        QCoreApplication::processEvents();
        for (const PanelDock *dock : window.panels().docks) {
            if (dock->isVisible() && dock->titleBarWidget() == dock->header())
                QVERIFY2(dock->header()->geometry().bottom() < dock->widget()->geometry().top(), qPrintable(dock->objectName()));
        }
    }
}

void TestWindow::dockNamesAreStable()
{
    SampleService service;
    MainWindow window(&service, plain());
    QStringList names = window.panels().docks.keys();
    names.sort();
    QCOMPARE(names.join(u' '), QStringLiteral("approvals centre inspector leases runs shells workspace"));
}

void TestWindow::firstStartShowsSomethingToDo()
{
    SampleService service;
    MainWindow window(&service, plain());
    window.show();
    QVERIFY(QTest::qWaitForWindowActive(&window));
    QCOMPARE(window.panels().centreStack->currentWidget()->objectName(), QStringLiteral("welcome"));
    QTest::keyClick(&window, Qt::Key_F5);
    QCOMPARE(service.commands, QStringList{QStringLiteral("start survey")});
    QVERIFY(window.selection()->run());
    QCOMPARE(window.panels().centreStack->currentWidget(), window.panels().centre);
}

void TestWindow::sampleRunFillsEveryPanel()
{
    SampleService service;
    MainWindow window(&service, plain());
    window.show();
    QVERIFY(QTest::qWaitForWindowActive(&window));
    window.startSample();
    RunStore *run = window.selection()->run();
    QTRY_COMPARE(run->agents().agents().size(), size_t(6));
    QCOMPARE(window.panels().runs->model()->rowCount(window.panels().runs->model()->index(0, 0)), 6);
    QVERIFY(window.panels().conversation->accessibleRowCount() > 3);
    QVERIFY(window.panels().trace->source()->rowCount() >= 9);
    QCOMPARE(window.panels().leases->source()->rowCount(), 5);
    QVERIFY(window.panels().dock(QStringLiteral("leases"))->header()->remark().contains(QStringLiteral("sessions 3 of 11")));
    for (const QString &name : MainWindow::panelNames()) {
        window.showPanel(name);
        const QImage image = window.panelWidget(name)->grab().toImage();
        QSet<QRgb> colours;
        for (int y = 0; y < image.height(); y += 3) {
            for (int x = 0; x < image.width(); x += 3)
                colours.insert(image.pixel(x, y));
        }
        QVERIFY2(colours.size() > 3, qPrintable(name + QStringLiteral(" is blank")));
    }
}

void TestWindow::pastRunFillsTheSamePanels()
{
    SampleService service;
    service.store(makeSampleRun(QStringLiteral("abc123"), 1, 5'000'000, true), QStringLiteral("completed"));
    MainWindow window(&service, plain());
    window.show();
    QVERIFY(QTest::qWaitForWindowActive(&window));
    window.openByName(QStringLiteral("abc"));
    RunStore *run = window.selection()->run();
    QVERIFY(run);
    QCOMPARE(run->facts().status, QStringLiteral("completed"));
    QVERIFY(!run->isLoading());
    QVERIFY(window.panels().trace->source()->rowCount() >= 9);
    QVERIFY(window.panels().conversation->accessibleRowCount() > 3);
    // Commands belong to live runs.
    QVERIFY(!window.registry()->find(QStringLiteral("run.cancel"))->isEnabled());
    QVERIFY(!window.registry()->find(QStringLiteral("agent.cancel"))->isEnabled());
}

void TestWindow::cancelByKeys()
{
    SampleService service;
    MainWindow window(&service, plain());
    window.show();
    QVERIFY(QTest::qWaitForWindowActive(&window));
    window.startSample();
    QTRY_VERIFY(window.selection()->run()->agents().find(AgentId(QString::fromLatin1(sampleC41f))));
    window.selection()->setAgent(AgentId(QString::fromLatin1(sampleC41f)));
    QTest::keyClick(&window, Qt::Key_F8, Qt::ShiftModifier);
    QCOMPARE(service.commands.last(), QStringLiteral("cancelAgent ") + QString::fromLatin1(sampleC41f));
    QTest::keyClick(&window, Qt::Key_F8);
    QVERIFY(service.commands.last().startsWith(QStringLiteral("cancel ")));
}

void TestWindow::everyActionOnce()
{
    SampleService service;
    MainWindow window(&service, plain());
    window.show();
    QVERIFY(QTest::qWaitForWindowActive(&window));
    window.startSample();
    QTRY_VERIFY(window.selection()->run()->agents().agents().size() > 1);
    QSet<QKeySequence> keys;
    for (QAction *action : window.registry()->all()) {
        if (!action->shortcut().isEmpty()) {
            QVERIFY2(!keys.contains(action->shortcut()), qPrintable(action->objectName()));
            keys.insert(action->shortcut());
        }
        if (action->objectName() == u"app.quit" || action->objectName() == u"workspace.openInEditor")
            continue;
        action->trigger();
        QApplication::processEvents();
        for (QWidget *top : QApplication::topLevelWidgets()) {
            if (auto *dialog = qobject_cast<QDialog *>(top))
                dialog->reject();
            if (top->windowFlags().testFlag(Qt::Popup))
                top->close();
        }
    }
}

void TestWindow::everyViewHasANameAndAKeyPath()
{
    SampleService service;
    MainWindow window(&service, plain());
    const WindowPanels &panels = window.panels();
    for (QWidget *content : {static_cast<QWidget *>(panels.runs), static_cast<QWidget *>(panels.approvals), static_cast<QWidget *>(panels.conversation),
                             static_cast<QWidget *>(panels.trace), static_cast<QWidget *>(panels.messages), static_cast<QWidget *>(panels.leases),
                             static_cast<QWidget *>(panels.inspector)}) {
        QList<QAbstractScrollArea *> areas = content->findChildren<QAbstractScrollArea *>();
        if (auto *self = qobject_cast<QAbstractScrollArea *>(content))
            areas.append(self);
        QVERIFY(!areas.isEmpty());
        for (QAbstractScrollArea *area : areas) {
            if (area->inherits("QHeaderView") || area->inherits("QComboBoxListView") || area->window() != &window)
                continue;
            QVERIFY2(area->focusPolicy() & Qt::TabFocus, area->metaObject()->className());
            QVERIFY2(!area->accessibleName().isEmpty(), area->metaObject()->className());
        }
    }
}

void TestWindow::themeSwitchesLive()
{
    SampleService service;
    MainWindow window(&service, plain());
    window.show();
    QVERIFY(QTest::qWaitForWindowActive(&window));
    window.startSample();
    window.showPanel(QStringLiteral("trace"));
    window.setTheme(ThemeChoice::Dark);
    QApplication::processEvents();
    const QColor dark = window.panels().trace->grab().toImage().pixelColor(3, 3);
    window.setTheme(ThemeChoice::Light);
    QApplication::processEvents();
    const QColor light = window.panels().trace->grab().toImage().pixelColor(3, 3);
    QVERIFY(light.lightness() > dark.lightness() + 80);
}

} // namespace tst_window

PADDOCK_GUI_TEST(tst_window, TestWindow)
#include "tst_window.moc"
