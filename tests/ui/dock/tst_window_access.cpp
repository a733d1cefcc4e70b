// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// The window without a mouse and without eyes: everything that takes the keyboard has a name, and Tab comes everywhere.
#include "app/main_window.h"
#include "tests/support/sample_service.h"
#include "tests/support/test_main.h"
#include "ui/action/action_registry.h"
#include "ui/dock/panel_dock.h"
#include "ui/run/start_dialog.h"
#include "ui/trace/trace_panel.h"
#include "ui/workspace/workspace_panel.h"

#include <QAccessible>
#include <QApplication>
#include <QDialog>
#include <QFileDialog>
#include <QStandardPaths>
#include <QTest>

namespace tst_window_access {

using namespace paddock;
using namespace paddock::test;

namespace {

QString utf8(const char *text)
{
    return QString::fromUtf8(text);
}

MainWindow::Options plain()
{
    MainWindow::Options options;
    options.keepLayout = false;
    options.size = QSize(1400, 900);
    return options;
}

/// Widgets below `top` that take the keyboard and that assistive technology could not name.
QStringList nameless(const QWidget &top)
{
    QStringList found;
    for (const QWidget *widget : top.findChildren<QWidget *>()) {
        if (!(widget->focusPolicy() & Qt::TabFocus) || !widget->isVisible() || widget->focusProxy())
            continue;
        if (widget->inherits("QHeaderView") || widget->objectName().startsWith(u"qt_"))
            continue; // parts of a view that has a name itself
        const QAccessibleInterface *interface = QAccessible::queryAccessibleInterface(const_cast<QWidget *>(widget));
        if (!interface || interface->text(QAccessible::Name).trimmed().isEmpty())
            found += utf8("%1 in %2").arg(QString::fromLatin1(widget->metaObject()->className()),
                                          QString::fromLatin1(widget->parentWidget()->metaObject()->className()));
    }
    return found;
}

/// Everything that Tab comes to, from where the keyboard is now.
QSet<const QWidget *> reachedByTab(int most = 120)
{
    QSet<const QWidget *> reached;
    for (int i = 0; i < most && QApplication::focusWidget(); ++i) {
        reached.insert(QApplication::focusWidget());
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
    }
    return reached;
}

} // namespace

class TestWindowAccess : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() { QStandardPaths::setTestModeEnabled(true); }

    void everyControlHasAName()
    {
        SampleService service;
        MainWindow window(&service, plain());
        window.show();
        QVERIFY(QTest::qWaitForWindowActive(&window));
        QCOMPARE(nameless(window).join(u'\n'), QString()); // the first start
        window.startSample();
        QTRY_COMPARE(window.selection()->run()->agents().agents().size(), size_t(6));
        window.panels().workspace->reveal(window.selection()->run()->files().files().front().path);
        for (const QString &name : MainWindow::panelNames()) {
            window.showPanel(name);
            QCoreApplication::processEvents();
            QCOMPARE(nameless(window).join(u'\n'), QString());
        }
        window.panels().trace->showTable(true);
        QCOMPARE(nameless(window).join(u'\n'), QString());
        for (const PanelDock *dock : window.panels().docks)
            QVERIFY2(!dock->windowTitle().isEmpty(), qPrintable(dock->objectName()));
    }

    void tabComesToEveryPanel()
    {
        SampleService service;
        MainWindow window(&service, plain());
        window.show();
        QVERIFY(QTest::qWaitForWindowActive(&window));
        window.startSample();
        QTRY_COMPARE(window.selection()->run()->agents().agents().size(), size_t(6));
        for (const char *page : {"conversation", "trace", "messages"}) {
            window.showPanel(utf8(page));
            QCoreApplication::processEvents();
            const auto reached = reachedByTab();
            for (auto it = window.panels().docks.begin(); it != window.panels().docks.end(); ++it) {
                if (it.key() == u"inspector" || it.key() == u"approvals")
                    continue; // nothing is chosen and nothing waits: there may be nothing to go to
                const bool met = std::any_of(reached.begin(), reached.end(), [&](const QWidget *w) { return it.value()->isAncestorOf(w); });
                QVERIFY2(met, qPrintable(utf8("Tab does not come to %1 from %2").arg(it.key(), utf8(page))));
            }
        }
    }

    void everyPanelHasAKey()
    {
        SampleService service;
        MainWindow window(&service, plain());
        window.show();
        QVERIFY(QTest::qWaitForWindowActive(&window));
        window.startSample();
        QTRY_COMPARE(window.selection()->run()->agents().agents().size(), size_t(6));
        for (const QString &name : MainWindow::panelNames()) {
            const QAction *action = window.registry()->find(utf8("view.panel.") + name);
            QVERIFY(!action->shortcut().isEmpty());
            const QKeyCombination key = action->shortcut()[0];
            QTest::keyClick(QApplication::focusWidget() ? QApplication::focusWidget() : &window, key.key(), key.keyboardModifiers());
            QCoreApplication::processEvents();
            QVERIFY2(window.panelWidget(name)->isVisible(), qPrintable(name));
            if (name != u"approvals" && name != u"inspector")
                QVERIFY2(window.panelWidget(name)->isAncestorOf(QApplication::focusWidget()), qPrintable(name));
        }
    }

    void theStartDialogWithoutAMouse()
    {
        SampleService service;
        MainWindow window(&service, plain());
        window.show();
        QVERIFY(QTest::qWaitForWindowActive(&window));
        QTest::keyClick(&window, Qt::Key_N, Qt::ControlModifier);
        auto *dialog = window.findChild<StartDialog *>();
        QVERIFY(dialog);
        dialog->activateWindow(); // the offscreen platform does not for a dialog
        QTRY_VERIFY(dialog->isAncestorOf(QApplication::focusWidget()));
        QCOMPARE(nameless(*dialog).join(u'\n'), QString());
        const auto reached = reachedByTab(40);
        QStringList names;
        for (const QWidget *widget : reached)
            names += QString::fromLatin1(widget->metaObject()->className());
        QVERIFY2(reached.size() >= 7, qPrintable(names.join(u' ')));
        QTest::keyClick(dialog, Qt::Key_Escape);
        QVERIFY(!dialog->isVisible());
        QVERIFY(service.commands.isEmpty());
    }
};

} // namespace tst_window_access

PADDOCK_GUI_TEST(tst_window_access, TestWindowAccess)
#include "tst_window_access.moc"
