// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "tests/support/sample_service.h"
#include "tests/support/spin.h"
#include "tests/support/test_main.h"
#include "ui/store/run_store.h"
#include "ui/text/code_view.h"
#include "ui/text/markdown_view.h"
#include "ui/workspace/file_viewer.h"
#include "ui/workspace/workspace_model.h"
#include "ui/workspace/workspace_panel.h"

#include <QAbstractItemModelTester>
#include <QAccessible>
#include <QApplication>
#include <QDir>
#include <QFile>
#include <QFont>
#include <QImage>
#include <QLabel>
#include <QScrollArea>
#include <QScrollBar>
#include <QSignalSpy>
#include <QStackedWidget>
#include <QTemporaryDir>
#include <QTest>
#include <QTextBlock>
#include <QTextLayout>
#include <QThreadPool>
#include <QTreeView>

#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tst_workspace {

using namespace paddock;
using namespace paddock::test;

namespace {

const char *const root = "/mnt/user-data/workspace";

QString utf8(const char *text)
{
    return QString::fromUtf8(text);
}

/// Names are bytes here: Qt's own file classes refuse those that are no UTF-8.
void put(const QTemporaryDir &dir, const QByteArray &name, const QByteArray &bytes)
{
    const QByteArray path = dir.path().toUtf8() + '/' + name;
    const int fd = ::open(path.constData(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    QVERIFY2(fd >= 0, path.constData());
    QCOMPARE(::write(fd, bytes.constData(), size_t(bytes.size())), ssize_t(bytes.size()));
    ::close(fd);
}

/// QTemporaryDir leaves behind what it cannot name.
struct OddDir : QTemporaryDir {
    ~OddDir() { std::filesystem::remove_all(path().toStdString()); }
};

EventPtr changed(Seq seq, const char *path, const char *op, const char *owner = "lead", const char *from = "")
{
    auto event = std::make_shared<Event>();
    event->seq = seq;
    event->run = RunId(utf8("r"));
    event->agent = leadAgent();
    FileChanged change;
    change.path = utf8(path);
    change.op = utf8(op);
    change.owner = utf8(owner);
    change.certainty = utf8("tool");
    change.renamedFrom = utf8(from);
    change.addedLines = 3;
    change.size = 42;
    event->body = change;
    return event;
}

/// A model over one folder, watched by the tester, with that folder opened.
struct Tree {
    explicit Tree(const QString &hostPath, bool test = true)
    {
        QObject::connect(&model, &QAbstractItemModel::dataChanged, &model, [this](const QModelIndex &at) { read += at.data(WorkspaceModel::PathRole).toString(); });
        if (test)
            startTest();
        model.setRoots({{utf8(root), hostPath}});
    }
    /// The tester opens every folder it meets.
    void startTest() { tester = std::make_unique<QAbstractItemModelTester>(&model, QAbstractItemModelTester::FailureReportingMode::Fatal); }
    QModelIndex top() const { return model.index(0, 0); }
    bool open(const QModelIndex &at)
    {
        const QString path = at.data(WorkspaceModel::PathRole).toString();
        if (model.canFetchMore(at))
            model.fetchMore(at);
        return spinUntil([&] { return read.contains(path); });
    }
    QStringList names(const QModelIndex &parent) const
    {
        QStringList list;
        for (int row = 0; row < model.rowCount(parent); ++row)
            list += model.index(row, 0, parent).data().toString();
        return list;
    }
    void tell(const std::vector<EventPtr> &events)
    {
        for (const EventPtr &event : events)
            log.apply(*event);
        model.applyChanges(log, 0);
    }
    WorkspaceModel model;
    std::unique_ptr<QAbstractItemModelTester> tester;
    QStringList read;
    FileLog log;
};

/// A viewer that has shown one file.
struct Viewed {
    Viewed()
    {
        viewer.resize(600, 400);
        viewer.setVisible(true);
    }
    bool show(const QString &name, const QString &hostPath)
    {
        QSignalSpy shown(&viewer, &FileViewer::shown);
        viewer.showFile(utf8(root) + u'/' + name, hostPath);
        return spinUntil([&] { return !shown.isEmpty(); });
    }
    QWidget *page() const { return viewer.findChild<QStackedWidget *>()->currentWidget(); }
    QString code() const { return viewer.findChild<CodeView *>()->toPlainText(); }
    QString notice() const
    {
        for (QLabel *label : viewer.findChildren<QLabel *>()) {
            if (label->isVisible() && label->text().contains(u"Only the first"))
                return label->text();
        }
        return {};
    }
    QString message() const
    {
        auto *label = qobject_cast<QLabel *>(page());
        return label ? label->text() : QString();
    }
    FileViewer viewer;
};

} // namespace

class TestWorkspace : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void names_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QString>("shown");
        QTest::newRow("plain") << QByteArray("a.txt") << utf8("a.txt");
        QTest::newRow("utf-8") << QByteArray("\xc3\xa9\xf0\x9f\x98\x80") << utf8("\xc3\xa9\xf0\x9f\x98\x80");
        QTest::newRow("newline") << QByteArray("two\nlines") << utf8("two\u2423lines");
        QTest::newRow("latin-1") << QByteArray("caf\xe9.txt") << utf8("caf\\xe9.txt");
        QTest::newRow("only odd bytes") << QByteArray("\xff\xfe\x80") << utf8("\\xff\\xfe\\x80");
        QTest::newRow("cut character") << QByteArray("x\xe4\xb8") << utf8("x\\xe4\\xb8");
        QTest::newRow("surrogate in utf-8") << QByteArray("\xed\xb3\xbf") << utf8("\\xed\\xb3\\xbf");
        QTest::newRow("overlong") << QByteArray("\xc0\xaf") << utf8("\\xc0\\xaf");
        QTest::newRow("turned round") << QByteArray("a\xe2\x80\xae" "txt.exe") << utf8("a\u2423txt.exe");
        QTest::newRow("dash and quotes") << QByteArray("-rf '\"$x") << utf8("-rf '\"$x");
    }
    void names()
    {
        QFETCH(QByteArray, bytes);
        QFETCH(QString, shown);
        const QString name = nameFromBytes(bytes);
        QCOMPARE(bytesFromName(name), bytes);
        QCOMPARE(visibleName(name), shown);
        const OddDir dir;
        put(dir, bytes, "inside");
        Tree tree(dir.path());
        QVERIFY(tree.open(tree.top()));
        QCOMPARE(tree.names(tree.top()), QStringList{shown});
        const QModelIndex file = tree.model.index(0, 0, tree.top());
        Viewed viewed;
        QVERIFY(viewed.show(file.data(WorkspaceModel::PathRole).toString().section(u'/', -1), file.data(WorkspaceModel::HostPathRole).toString()));
        QCOMPARE(viewed.code(), utf8("inside"));
    }

    void linksAreShownNotFollowed()
    {
        const QTemporaryDir dir, outside;
        put(outside, "secret.txt", "secret");
        put(dir, "real.txt", "real");
        const QByteArray base = dir.path().toUtf8();
        QCOMPARE(::symlink("real.txt", (base + "/a-inside").constData()), 0);
        QCOMPARE(::symlink(outside.path().toUtf8().constData(), (base + "/b-out").constData()), 0);
        QCOMPARE(::symlink("loop", (base + "/loop").constData()), 0);
        QCOMPARE(::symlink("/no/where", (base + "/z-dangling").constData()), 0);
        Tree tree(dir.path());
        QVERIFY(tree.open(tree.top()));
        QCOMPARE(tree.names(tree.top()), (QStringList{utf8("a-inside → real.txt"), utf8("b-out → ") + outside.path(), utf8("loop → loop"),
                                                      utf8("real.txt"), utf8("z-dangling → /no/where")}));
        for (int row = 0; row < 5; ++row) {
            const QModelIndex at = tree.model.index(row, 0, tree.top());
            QVERIFY(!tree.model.hasChildren(at));
            QVERIFY(!tree.model.canFetchMore(at));
        }
        Viewed viewed;
        QVERIFY(viewed.show(utf8("b-out"), dir.filePath(utf8("b-out"))));
        QVERIFY2(viewed.message().contains(u"links are not followed"), qPrintable(viewed.message()));
    }

    void manyFilesAreCollapsed()
    {
        const QTemporaryDir dir;
        QVERIFY(QDir(dir.path()).mkdir(utf8("many")));
        QVERIFY(QDir(dir.path()).mkdir(utf8("many/zz-folder")));
        const QTemporaryDir &base = dir;
        for (int i = 0; i < 10000; ++i)
            put(base, "many/file-" + QByteArray::number(100000 + i) + ".txt", {});
        Tree tree(dir.path(), false);
        QVERIFY(tree.open(tree.top()));
        const QModelIndex many = tree.model.index(0, 0, tree.top());
        QCOMPARE(tree.model.rowCount(many), 0); // nothing is read until somebody opens it
        QVERIFY(tree.model.hasChildren(many));
        tree.startTest();
        QVERIFY(tree.open(tree.model.index(0, 0, tree.top())));
        QCOMPARE(tree.model.rowCount(many), mostFolderItems + 1);
        QCOMPARE(tree.model.index(0, 0, many).data().toString(), utf8("zz-folder")); // folders first
        QCOMPARE(tree.model.index(1, 0, many).data().toString(), utf8("file-100000.txt")); // the first ones by name, not any
        const QModelIndex note = tree.model.index(mostFolderItems, 0, many);
        QVERIFY2(note.data().toString().contains(u"5001"), qPrintable(note.data().toString()));
        QVERIFY(!tree.model.hasChildren(note));
        tree.tell({changed(1, "/mnt/user-data/workspace/many/file-109999.txt", "modified")}); // one of those left out
        QVERIFY(tree.model.indexOf(utf8("/mnt/user-data/workspace/many/file-109999.txt")).isValid());
        QCOMPARE(tree.model.index(mostFolderItems + 1, 0, many).data().toString(), note.data().toString());
    }

    void whoDidItIsSaidInWords()
    {
        const QTemporaryDir dir;
        Tree tree(dir.path());
        RunStore store{RunId(utf8("r"))};
        const QString owner = utf8("subagent:c41f0000-1111-4222-8333-444455556666");
        auto started = std::make_shared<Event>();
        started->seq = 1;
        started->agent = AgentId(owner);
        started->body = AgentStarted{utf8("lead"), utf8("bash"), utf8("Languages and lines"), {}, 10, utf8("c")};
        auto guessed = std::make_shared<Event>(*changed(2, "/mnt/user-data/workspace/d.txt", "created", qPrintable(owner)));
        std::get<FileChanged>(guessed->body).certainty = utf8("probably");
        const std::vector<EventPtr> events{started, guessed, changed(3, "/mnt/user-data/workspace/e.txt", "created", qPrintable(owner)),
                                           changed(4, "/mnt/user-data/workspace/e.txt", "modified", qPrintable(owner))};
        store.apply(events);
        tree.model.setChangedOnly(true);
        tree.model.applyChanges(store.files(), 0, &store.agents());
        const auto cell = [&](const char *path, int column) {
            return tree.model.indexOf(utf8(root) + utf8(path)).siblingAtColumn(column);
        };
        QCOMPARE(cell("/e.txt", WorkspaceModel::Who).data().toString(), utf8("Languages and lines"));
        QVERIFY(!cell("/e.txt", WorkspaceModel::Who).data(Qt::ForegroundRole).isValid());
        QCOMPARE(cell("/d.txt", WorkspaceModel::Who).data().toString(), utf8("probably Languages and lines"));
        QVERIFY(cell("/d.txt", WorkspaceModel::Who).data(Qt::ForegroundRole).isValid());
        const QString tip = cell("/d.txt", WorkspaceModel::Who).data(Qt::ToolTipRole).toString();
        QVERIFY2(tip.contains(u"Probably:") && tip.contains(owner), qPrintable(tip));
        QVERIFY(cell("/d.txt", WorkspaceModel::Name).data(Qt::AccessibleTextRole).toString().contains(u"Languages and lines (c41f)"));
        // Made in this run and changed afterwards is still new to who looks at the folder.
        QCOMPARE(cell("/e.txt", WorkspaceModel::Change).data().toString(), utf8("new · +6"));
    }

    void changesAppearSorted()
    {
        const QTemporaryDir dir;
        for (const char *name : {"a.txt", "c.txt", "e.txt"})
            put(dir, name, "x\n");
        QVERIFY(QDir(dir.path()).mkdir(utf8("folder")));
        Tree tree(dir.path());
        tree.model.fetchMore(tree.top()); // while it is being read, events come
        tree.tell({changed(1, "/mnt/user-data/workspace/d.txt", "created", "subagent:c41f0000-1111-4222-8333-444455556666"),
                   changed(2, "/mnt/user-data/workspace/c.txt", "modified", "you"), changed(3, "/mnt/user-data/workspace/new/deep/f.txt", "created"),
                   changed(4, "/mnt/user-data/workspace/b.txt", "deleted")});
        QVERIFY(spinUntil([&] { return tree.model.rowCount(tree.top()) >= 7; }));
        QCOMPARE(tree.names(tree.top()), (QStringList{utf8("folder"), utf8("new"), utf8("a.txt"), utf8("b.txt"), utf8("c.txt"), utf8("d.txt"), utf8("e.txt")}));
        const auto cell = [&](const char *path, int column) {
            return tree.model.indexOf(utf8(root) + utf8(path)).siblingAtColumn(column);
        };
        QCOMPARE(cell("/d.txt", WorkspaceModel::Who).data().toString(), utf8("c41f"));
        QVERIFY(cell("/d.txt", WorkspaceModel::Change).data().toString().startsWith(u"new"));
        QCOMPARE(cell("/c.txt", WorkspaceModel::Who).data().toString(), utf8("you"));
        QCOMPARE(cell("/c.txt", WorkspaceModel::Change).data().toString(), utf8("+3 −0"));
        QVERIFY(cell("/d.txt", WorkspaceModel::Name).data(Qt::FontRole).value<QFont>().bold());
        // A deleted file stays as a struck-out row that says so.
        QCOMPARE(cell("/b.txt", WorkspaceModel::Change).data().toString(), utf8("deleted"));
        QVERIFY(cell("/b.txt", WorkspaceModel::Name).data(Qt::FontRole).value<QFont>().strikeOut());
        QVERIFY(cell("/b.txt", WorkspaceModel::Name).data(Qt::AccessibleTextRole).toString().contains(u"deleted"));
        QVERIFY(cell("/d.txt", WorkspaceModel::Name).data(Qt::ToolTipRole).toString().contains(u"subagent:c41f0000"));
        // A renamed one is under its new name only.
        tree.tell({changed(5, "/mnt/user-data/workspace/g.txt", "renamed", "lead", "/mnt/user-data/workspace/d.txt")});
        QVERIFY(!cell("/d.txt", 0).isValid());
        QCOMPARE(cell("/g.txt", WorkspaceModel::Who).data().toString(), utf8("lead"));
        tree.tell({changed(6, "/mnt/user-data/workspace/b.txt", "created")});
        QVERIFY(!cell("/b.txt", WorkspaceModel::Name).data(Qt::FontRole).value<QFont>().strikeOut());
        tree.model.setChangedOnly(true);
        QCOMPARE(tree.names(tree.top()), (QStringList{utf8("new"), utf8("b.txt"), utf8("c.txt"), utf8("g.txt")}));
        QVERIFY(cell("/new/deep/f.txt", 0).isValid());
        tree.model.setChangedOnly(false);
        tree.model.setRoots({});
        QCOMPARE(tree.model.rowCount(), 0);
    }

    void foldersThatAreNot()
    {
        Tree gone(utf8("/no/such/folder"));
        QVERIFY(gone.open(gone.top()));
        QVERIFY(!gone.model.index(0, WorkspaceModel::Change).data().toString().isEmpty()); // a sentence
        QVERIFY(!gone.model.hasChildren(gone.top()));
        Tree past{QString()}; // a run whose folder is gone: only what events told
        past.tell({changed(1, "/mnt/user-data/workspace/x/y.md", "created")});
        QVERIFY(past.model.indexOf(utf8("/mnt/user-data/workspace/x/y.md")).isValid());
        QVERIFY(!past.model.indexOf(utf8("/mnt/user-data/elsewhere")).isValid());
        QVERIFY(!past.model.indexOf(QString()).isValid());
    }

    void viewers()
    {
        const QTemporaryDir dir;
        Viewed viewed;
        put(dir, "run.sh", "#!/bin/sh\necho \"$HOME\" # so\n");
        QVERIFY(viewed.show(utf8("run.sh"), dir.filePath(utf8("run.sh"))));
        auto *code = viewed.viewer.findChild<CodeView *>();
        QCOMPARE(viewed.page(), code);
        QTRY_VERIFY(!code->document()->begin().layout()->formats().isEmpty()); // highlighted
        put(dir, "report.md", "# Report\n\n| a | b |\n|---|---|\n| 1 | 2 |\n");
        QVERIFY(viewed.show(utf8("report.md"), dir.filePath(utf8("report.md"))));
        QCOMPARE(viewed.page(), viewed.viewer.findChild<MarkdownView *>());
        auto *markdown = viewed.viewer.findChild<MarkdownView *>();
        QVERIFY(!markdown->toPlainText().contains(u"# Report"));
        put(dir, "long.md", "# Long\n\n" + QByteArray("A paragraph.\n\n").repeated(300));
        QVERIFY(viewed.show(utf8("long.md"), dir.filePath(utf8("long.md"))));
        QCOMPARE(markdown->verticalScrollBar()->value(), 0); // another file begins at its top
        markdown->verticalScrollBar()->setValue(500);
        QVERIFY(viewed.show(utf8("long.md"), dir.filePath(utf8("long.md"))));
        QCOMPARE(markdown->verticalScrollBar()->value(), 500); // the same one stays where it is read
        QVERIFY(viewed.show(utf8("report.md"), dir.filePath(utf8("report.md"))));
        QCOMPARE(markdown->verticalScrollBar()->value(), 0);
        QImage image(40, 30, QImage::Format_RGB32);
        image.fill(Qt::red);
        QVERIFY(image.save(dir.filePath(utf8("a.png"))));
        QVERIFY(viewed.show(utf8("a.png"), dir.filePath(utf8("a.png"))));
        auto *picture = qobject_cast<QScrollArea *>(viewed.page());
        QVERIFY(picture);
        QCOMPARE(picture->widget()->accessibleName(), utf8("Picture, 40 by 30"));
        put(dir, "broken.png", "\x89PNG no picture at all");
        QVERIFY(viewed.show(utf8("broken.png"), dir.filePath(utf8("broken.png"))));
        QVERIFY(viewed.message().contains(u"cannot be shown"));
        put(dir, "a.bin", QByteArray("\x7f" "ELF\0\1\2", 7));
        QVERIFY(viewed.show(utf8("a.bin"), dir.filePath(utf8("a.bin"))));
        QVERIFY(viewed.code().startsWith(u"00000000  7f 45 4c 46"));
        put(dir, "empty", {});
        QVERIFY(viewed.show(utf8("empty"), dir.filePath(utf8("empty"))));
        QCOMPARE(viewed.page(), code);
        QVERIFY(viewed.code().isEmpty());
        QVERIFY(viewed.notice().isEmpty());
    }

    void hugeFiles()
    {
        const QTemporaryDir dir;
        Viewed viewed;
        put(dir, "huge.log", QByteArray("a line of a large log that nobody reads wholly\n").repeated(400'000)); // 19 MB
        QVERIFY(viewed.show(utf8("huge.log"), dir.filePath(utf8("huge.log"))));
        QVERIFY2(viewed.notice().contains(u"Only the first 4"), qPrintable(viewed.notice()));
        QCOMPARE(viewed.viewer.findChild<CodeView *>()->toPlainText().size(), mostShownBytes);
        put(dir, "huge.bin", QByteArray(1024 * 1024, '\0'));
        QVERIFY(viewed.show(utf8("huge.bin"), dir.filePath(utf8("huge.bin"))));
        QVERIFY2(viewed.notice().contains(u"Only the first 262"), qPrintable(viewed.notice()));
        put(dir, "one-line.json", '[' + QByteArray("{\"key\": 12345678}, ").repeated(150'000) + "0]"); // 2.8 MB in one line
        QVERIFY(viewed.show(utf8("one-line.json"), dir.filePath(utf8("one-line.json"))));
        QVERIFY(!viewed.viewer.grab().isNull());
        put(dir, "small.txt", "small");
        QVERIFY(viewed.show(utf8("small.txt"), dir.filePath(utf8("small.txt"))));
        QVERIFY(viewed.notice().isEmpty());
        QVERIFY(!viewed.viewer.grab().isNull());
    }

    void whatCannotBeShown()
    {
        const QTemporaryDir dir;
        Viewed viewed;
        QCOMPARE(::mkfifo(dir.filePath(utf8("pipe")).toUtf8().constData(), 0600), 0);
        QVERIFY(viewed.show(utf8("pipe"), dir.filePath(utf8("pipe")))); // and does not wait for a writer
        QVERIFY(viewed.message().contains(u"it is a "));
        QVERIFY(viewed.show(utf8("deleted.md"), dir.filePath(utf8("deleted.md"))));
        QVERIFY(viewed.message().contains(u"deleted.md cannot be shown"));
        viewed.viewer.showFile(utf8("/mnt/user-data/workspace/x"), QString());
        QVERIFY(viewed.message().contains(u"gone"));
        viewed.viewer.clear();
        QVERIFY(viewed.message().contains(u"Choose a file"));
        // Only the newest wish counts, whatever is read first.
        put(dir, "slow.log", QByteArray("x\n").repeated(1'000'000));
        put(dir, "quick.txt", "quick");
        viewed.viewer.showFile(utf8("/w/slow.log"), dir.filePath(utf8("slow.log")));
        QVERIFY(viewed.show(utf8("quick.txt"), dir.filePath(utf8("quick.txt"))));
        QThreadPool::globalInstance()->waitForDone();
        QCoreApplication::processEvents();
        QCOMPARE(viewed.code(), utf8("quick"));
    }

    /// A run is shown before its folders are made.
    void foldersThatComeLater()
    {
        struct : SampleService {
            QString hostPath(const RunId &, const QString &path) const override { return made ? folder + path.mid(path.lastIndexOf(u'/')) : QString(); }
            QString folder;
            bool made = false;
        } service;
        const QTemporaryDir dir;
        service.folder = dir.path();
        for (const char *name : {"workspace", "outputs", "uploads"})
            QVERIFY(QDir(dir.path()).mkdir(utf8(name)));
        put(dir, "outputs/report.md", "# Report\n");
        RunStore store{RunId(utf8("r"))};
        store.setLive(true);
        WorkspacePanel panel(&service);
        QAbstractItemModelTester tester(panel.model(), QAbstractItemModelTester::FailureReportingMode::Fatal);
        panel.resize(700, 300);
        panel.show();
        panel.setRun(&store);
        QCOMPARE(panel.model()->rowCount(), 3);
        service.made = true;
        const std::vector<EventPtr> events{changed(1, "/mnt/user-data/outputs/report.md", "created")};
        store.apply(events);
        panel.reveal(utf8("/mnt/user-data/outputs/report.md"));
        QSignalSpy shown(panel.viewer(), &FileViewer::shown);
        QVERIFY(spinUntil([&] { return !shown.isEmpty(); }));
        QCOMPARE(panel.findChild<MarkdownView *>()->toPlainText().trimmed(), utf8("Report"));
    }

    void panelOverARun()
    {
        SampleService service;
        RunStore store{RunId(utf8("r1"))};
        RunStore other{RunId(utf8("r2"))};
        store.apply(makeSampleRun(utf8("r1"), 1, 0, true).events);
        WorkspacePanel panel(&service);
        QAbstractItemModelTester tester(panel.model(), QAbstractItemModelTester::FailureReportingMode::Fatal);
        QSignalSpy remark(&panel, &WorkspacePanel::remarkChanged);
        panel.resize(700, 300);
        panel.show();
        QVERIFY(QTest::qWaitForWindowActive(&panel));
        panel.setRun(&store);
        QCOMPARE(panel.model()->rowCount(), 3);
        QVERIFY(!store.files().files().empty());
        const QString path = store.files().files().front().path;
        QVERIFY(remark.last().first().toString().contains(QString::number(store.files().files().size())));
        panel.reveal(path);
        auto *tree = panel.findChild<QTreeView *>();
        QCOMPARE(tree->currentIndex().data(WorkspaceModel::PathRole).toString(), path);
        QVERIFY(panel.viewer()->isVisible());
        QCOMPARE(panel.viewer()->path(), path);
        panel.reveal(utf8("/mnt/user-data/outputs/no/such"));
        panel.setChangedOnly(true);
        QVERIFY(panel.model()->indexOf(path).isValid());
        panel.setChangedOnly(false);
        panel.setVisibleToUser(false);
        panel.setRun(&other);
        panel.setVisibleToUser(true);
        QVERIFY(!panel.model()->indexOf(path).isValid());
        panel.setRun(nullptr);
        QCOMPARE(panel.model()->rowCount(), 0);
        QVERIFY(remark.last().first().toString().isEmpty());
        // Names and the keyboard.
        panel.setRun(&store);
        tree->setFocus();
        QTest::keyClick(tree, Qt::Key_Down);
        QVERIFY(tree->currentIndex().isValid());
        for (QWidget *widget : {static_cast<QWidget *>(&panel), static_cast<QWidget *>(tree), static_cast<QWidget *>(panel.viewer())})
            QVERIFY2(!QAccessible::queryAccessibleInterface(widget)->text(QAccessible::Name).isEmpty(), widget->metaObject()->className());
        for (QAbstractScrollArea *area : panel.findChildren<QAbstractScrollArea *>()) {
            if (area->inherits("QHeaderView"))
                continue;
            QVERIFY2(area->focusPolicy() & Qt::TabFocus, area->metaObject()->className());
            QVERIFY2(!area->accessibleName().isEmpty(), area->metaObject()->className());
        }
    }
};

} // namespace tst_workspace

PADDOCK_GUI_TEST(tst_workspace, TestWorkspace)
#include "tst_workspace.moc"
