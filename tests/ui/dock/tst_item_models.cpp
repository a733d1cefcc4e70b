// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// Every item model of ui/ under the model tester, as it sits in the real window: fed event by event, switched to other
// runs in the middle, filtered, reset. A model that is added and not met here fails the first test.
#include "app/main_window.h"
#include "app/window_panels.h"
#include "tests/support/sample_service.h"
#include "tests/support/test_main.h"
#include "ui/action/action_registry.h"
#include "ui/action/command_palette.h"
#include "ui/run/messages_page.h"
#include "ui/run/runs_panel.h"
#include "ui/trace/span_table_model.h"
#include "ui/trace/trace_panel.h"
#include "ui/workspace/workspace_panel.h"

#include <QAbstractItemModelTester>
#include <QAbstractProxyModel>
#include <QApplication>
#include <QDirIterator>
#include <QLineEdit>
#include <QRegularExpression>
#include <QStandardPaths>
#include <QTableView>
#include <QTest>

namespace tst_item_models {

using namespace paddock;
using namespace paddock::test;

namespace {

QString utf8(const char *text)
{
    return QString::fromUtf8(text);
}

/// The classes of ui/ that are item models, by their headers.
QStringList modelClasses()
{
    QStringList names;
    static const QRegularExpression head(utf8("class (\\w+)(?: final)? : public (?:QAbstract(?:Item|List|Table|Proxy)Model|QSortFilterProxyModel|QIdentityProxyModel|QStandardItemModel|QStringListModel)\\b"));
    QDirIterator it(utf8(PADDOCK_SOURCE_DIR "/ui"), {utf8("*.h"), utf8("*.cpp")}, QDir::Files, QDirIterator::Subdirectories);
    while (it.hasNext()) {
        QFile file(it.next());
        if (!file.open(QIODevice::ReadOnly))
            continue;
        auto match = head.globalMatch(QString::fromUtf8(file.readAll()));
        while (match.hasNext())
            names += match.next().captured(1);
    }
    names.sort();
    return names;
}

QList<QAbstractItemModel *> modelsIn(const MainWindow &window)
{
    QList<QAbstractItemModel *> ours;
    for (QObject *part : window.findChildren<QObject *>()) {
        auto *model = qobject_cast<QAbstractItemModel *>(part);
        if (model && QByteArray(model->metaObject()->className()).startsWith("paddock::"))
            ours.append(model);
    }
    return ours;
}

/// A window with each of its models under a tester.
struct Watched {
    Watched() : window(&service, options())
    {
        for (QAbstractItemModel *model : modelsIn(window))
            testers.push_back(std::make_unique<QAbstractItemModelTester>(model, QAbstractItemModelTester::FailureReportingMode::Fatal));
        window.show();
        ready = QTest::qWaitForWindowExposed(&window);
    }
    static MainWindow::Options options()
    {
        MainWindow::Options options;
        options.keepLayout = false;
        options.size = QSize(1400, 900);
        return options;
    }
    void feed(const SampleRun &run, size_t from, size_t to, size_t step)
    {
        for (size_t i = from; i < to; i += step) {
            const auto begin = run.events.begin() + ptrdiff_t(i);
            window.hub()->apply({begin, run.events.begin() + ptrdiff_t(std::min(i + step, to))});
        }
    }
    /// Reads every cell with every role that views ask for.
    void readAll() const
    {
        for (QAbstractItemModel *model : modelsIn(window))
            read(*model, {});
    }
    static void read(const QAbstractItemModel &model, const QModelIndex &parent)
    {
        for (int row = 0; row < model.rowCount(parent); ++row) {
            for (int column = 0; column < model.columnCount(parent); ++column) {
                const QModelIndex at = model.index(row, column, parent);
                for (int role = 0; role < Qt::UserRole + 12; ++role)
                    at.data(role);
                model.flags(at);
            }
            read(model, model.index(row, 0, parent));
        }
    }

    SampleService service;
    MainWindow window;
    std::vector<std::unique_ptr<QAbstractItemModelTester>> testers;
    bool ready = false;
};

} // namespace

class TestItemModels : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() { QStandardPaths::setTestModeEnabled(true); }

    void everyModelIsMet()
    {
        const Watched w;
        QSet<QString> met;
        for (QAbstractItemModel *model : modelsIn(w.window))
            met.insert(QString::fromLatin1(model->metaObject()->className()).section(utf8("::"), -1));
        QStringList names(met.begin(), met.end());
        names.sort();
        QCOMPARE(names, modelClasses());
    }

    void fedEventByEvent()
    {
        Watched w;
        QVERIFY(w.ready);
        const SampleRun run = makeSampleRun(utf8("r1"), 1, Clock::system()->mono().count() - SampleRun::length, true);
        w.window.selection()->setRun(w.window.hub()->addRun(run.run, true));
        w.feed(run, 0, run.events.size(), 1);
        w.readAll();
        QCoreApplication::processEvents();
        QCOMPARE(w.window.panels().runs->model()->rowCount(w.window.panels().runs->model()->index(0, 0)), 6);
    }

    void switchedInTheMiddle()
    {
        Watched w;
        w.service.store(makeSampleRun(utf8("past1"), 1, 5'000'000, true), utf8("completed"));
        w.service.store(makeSampleRun(utf8("past2"), 1, 5'000'000, false), utf8("failed"));
        const qint64 now = Clock::system()->mono().count();
        const SampleRun one = makeSampleRun(utf8("r1"), 1'000, now - SampleRun::length, true);
        const SampleRun two = makeSampleRun(utf8("r2"), 100'000, now - SampleRun::length, false);
        w.window.showPanel(utf8("trace"));
        w.window.panels().trace->showTable(true);
        size_t done = 0;
        const std::vector<std::function<void()>> moves{
            [&] { w.window.selection()->setRun(w.window.hub()->find(one.run)); },
            [&] { w.window.selection()->setAgent(AgentId(utf8(sampleC41f))); },
            [&] { w.window.openByName(utf8("past1")); },
            [&] { w.window.selection()->setRun(w.window.hub()->find(two.run)); },
            [&] { w.window.panels().workspace->setChangedOnly(true); },
            [&] { w.window.openByName(utf8("past2")); },
            [&] { w.window.selection()->setRun(nullptr); },
            [&] { w.window.panels().workspace->setChangedOnly(false); },
            [&] { w.window.selection()->set(w.window.hub()->find(one.run), AgentId(utf8(sample77ab))); },
        };
        const size_t most = std::min(one.events.size(), two.events.size());
        const size_t slice = most / moves.size() + 1;
        for (const auto &move : moves) {
            w.feed(one, done, std::min(done + slice, one.events.size()), 3);
            w.feed(two, done, std::min(done + slice, two.events.size()), 5);
            done += slice;
            move();
            w.readAll();
            QCoreApplication::processEvents();
        }
        w.feed(one, std::min(done, one.events.size()), one.events.size(), 7);
        w.readAll();
        QCOMPARE(w.window.panels().runs->model()->indexOf(RunId(utf8("past1"))).isValid(), true);
    }

    void filteredWhileFed()
    {
        Watched w;
        const SampleRun run = makeSampleRun(utf8("r1"), 1, Clock::system()->mono().count() - SampleRun::length, true);
        w.window.selection()->setRun(w.window.hub()->addRun(run.run, true));
        auto *edit = w.window.panels().runs->findChild<QLineEdit *>();
        const QStringList words{utf8("c41f"), utf8("parser overflow"), utf8("nothing of that kind"), QString(), utf8("LEAD"), QString()};
        const size_t slice = run.events.size() / size_t(words.size()) + 1;
        for (qsizetype i = 0; i < words.size(); ++i) {
            edit->setText(words[i]);
            TraceFilter filter;
            filter.text = words[i];
            filter.changedOnly = i % 2 == 1;
            w.window.panels().trace->setFilter(filter);
            w.window.panels().trace->showTable(i % 3 != 2);
            w.feed(run, size_t(i) * slice, std::min(size_t(i + 1) * slice, run.events.size()), 2);
            w.readAll();
        }
        w.window.panels().trace->setFilter({});
        QCOMPARE(w.window.panels().trace->tableModel()->rowCount(), int(w.window.selection()->run()->trace().size()));
    }

    void theListIsReplaced()
    {
        Watched w;
        const SampleRun run = makeSampleRun(utf8("r1"), 1, 0, false);
        w.feed(run, 0, run.events.size() / 2, 10);
        std::vector<RunFacts> past;
        for (int i = 0; i < 300; ++i) {
            RunFacts facts;
            facts.id = RunId(utf8("old%1").arg(i));
            facts.title = utf8("Old run %1").arg(i);
            facts.status = utf8(i % 2 ? "failed" : "completed");
            facts.started = Clock::Wall(std::chrono::hours(24 * 365 * 50 + i * 7));
            past.push_back(facts);
        }
        w.window.hub()->setPast(past);
        w.readAll();
        w.feed(run, run.events.size() / 2, run.events.size(), 10);
        past.resize(10);
        w.window.hub()->setPast(past);
        w.window.hub()->setPast({});
        w.readAll();
        QCOMPARE(w.window.hub()->count(), 1);
    }

    void thePaletteOpensOverEverything()
    {
        Watched w;
        w.window.startSample();
        QTRY_VERIFY(w.window.selection()->run()->agents().agents().size() == 6);
        w.window.commandPalette()->popUp();
        auto *edit = w.window.commandPalette()->findChild<QLineEdit *>();
        for (const char *text : {"c", "ca", "cancel", "zzzz", "", "go to", "c41f", "src/"}) {
            edit->setText(utf8(text));
            w.readAll();
        }
        w.window.commandPalette()->hide();
        w.window.startSample();
        w.window.commandPalette()->popUp();
        w.readAll();
    }
};

} // namespace tst_item_models

PADDOCK_GUI_TEST(tst_item_models, TestItemModels)
#include "tst_item_models.moc"
