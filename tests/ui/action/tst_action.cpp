// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "tests/support/test_main.h"
#include "ui/action/action_registry.h"
#include "ui/action/command_palette.h"

#include <QAbstractItemModelTester>
#include <QLineEdit>
#include <QMainWindow>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>

namespace tst_action {

using namespace paddock;

class TestAction : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void scores_data();
    void scores();
    void modelFilters();
    void registryKeepsShortcuts();
    void paletteRunsByKeyboard();
};

void TestAction::scores_data()
{
    QTest::addColumn<QString>("query");
    QTest::addColumn<QString>("better");
    QTest::addColumn<QString>("worse");
    QTest::newRow("start of word wins") << "can" << "Cancel the run" << "Scan files";
    QTest::newRow("whole words beat letters") << "run" << "New run" << "Reset until now";
    QTest::newRow("two words") << "agent cancel" << "Cancel this agent" << "Cancel the run";
    QTest::newRow("letters in order") << "ctr" << "Cancel the run" << "Zoom in";
}

void TestAction::scores()
{
    QFETCH(QString, query);
    QFETCH(QString, better);
    QFETCH(QString, worse);
    QVERIFY(paletteScore(query, better) > paletteScore(query, worse));
    QVERIFY(paletteScore(query, better) >= 0);
    QCOMPARE(paletteScore(QStringLiteral("zzz"), better), -1);
}

void TestAction::modelFilters()
{
    PaletteModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    std::vector<PaletteEntry> entries;
    for (int i = 0; i < 500; ++i)
        entries.push_back({QStringLiteral("entry %1").arg(i), QStringLiteral("Run"), {}, i % 2 == 0, {}});
    model.setEntries(entries);
    QCOMPARE(model.rowCount(), PaletteModel::mostShown);
    model.setQuery(QStringLiteral("entry 42"));
    QCOMPARE(model.index(0).data().toString(), QStringLiteral("entry 42"));
    model.setQuery(QStringLiteral("nothing like this"));
    QCOMPARE(model.rowCount(), 0);
}

void TestAction::registryKeepsShortcuts()
{
    QTemporaryDir dir;
    const QString file = dir.filePath(QStringLiteral("settings.ini"));
    {
        QMainWindow window;
        auto *registry = new ActionRegistry(&window);
        registry->add({QStringLiteral("a.b"), QStringLiteral("&Do && it…"), {}, Qt::Key_F5, QStringLiteral("Run"), {}}, [] {});
        QCOMPARE(ActionRegistry::plainText(registry->find(QStringLiteral("a.b"))), QStringLiteral("Do & it"));
        QSettings settings(file, QSettings::IniFormat);
        registry->setShortcut(QStringLiteral("a.b"), Qt::Key_F6, settings);
    }
    QMainWindow window;
    auto *registry = new ActionRegistry(&window);
    registry->add({QStringLiteral("a.b"), QStringLiteral("&Do it"), {}, Qt::Key_F5, QStringLiteral("Run"), {}}, [] {});
    QSettings settings(file, QSettings::IniFormat);
    registry->loadShortcuts(settings);
    QCOMPARE(registry->find(QStringLiteral("a.b"))->shortcut(), QKeySequence(Qt::Key_F6));
    QVERIFY(!registry->find(QStringLiteral("no")));
}

void TestAction::paletteRunsByKeyboard()
{
    QMainWindow window;
    window.resize(800, 600);
    auto *registry = new ActionRegistry(&window);
    QStringList done;
    registry->add({QStringLiteral("one"), QStringLiteral("First thing"), {}, {}, QStringLiteral("Run"), {}}, [&] { done += QStringLiteral("one"); });
    registry->add({QStringLiteral("two"), QStringLiteral("Second thing"), {}, {}, QStringLiteral("Run"), {}}, [&] { done += QStringLiteral("two"); });
    auto *palette = new CommandPalette(registry, &window);
    palette->addProvider([&] {
        return std::vector<PaletteEntry>{{QStringLiteral("c41f"), QStringLiteral("Agent"), {}, true, [&] { done += QStringLiteral("agent"); }}};
    });
    window.show();
    QVERIFY(QTest::qWaitForWindowExposed(&window));
    palette->popUp();
    auto *edit = palette->findChild<QLineEdit *>();
    QTest::keyClicks(edit, QStringLiteral("second"));
    QCOMPARE(palette->model()->rowCount(), 1);
    QTest::keyClick(edit, Qt::Key_Return);
    QTRY_COMPARE(done, QStringList{QStringLiteral("two")});
    QVERIFY(!palette->isVisible());
    palette->popUp();
    QTest::keyClick(edit, Qt::Key_Up); // wraps to the last: what the provider gave
    QTest::keyClick(edit, Qt::Key_Return);
    QTRY_COMPARE(done.last(), QStringLiteral("agent"));
}

} // namespace tst_action

PADDOCK_GUI_TEST(tst_action, TestAction)
#include "tst_action.moc"
