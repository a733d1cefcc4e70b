// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "tests/support/sample_service.h"
#include "tests/support/spin.h"
#include "tests/support/test_main.h"
#include "ui/paint/theme.h"
#include "ui/shell/shell_pane.h"
#include "ui/shell/shell_panel.h"
#include "ui/shell/terminal_feed.h"
#include "ui/store/run_store.h"

#include <QAccessible>
#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QLabel>
#include <QLineEdit>
#include <QMainWindow>
#include <QMouseEvent>
#include <QRandomGenerator>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTabWidget>
#include <QTest>
#include <QToolButton>

namespace tst_shell {

using namespace paddock;
using namespace paddock::test;

namespace {

QString utf8(const char *text)
{
    return QString::fromUtf8(text);
}

int coloursOf(const QImage &image)
{
    QSet<QRgb> colours;
    for (int y = 0; y < image.height(); ++y) {
        for (int x = 0; x < image.width(); ++x)
            colours.insert(image.pixel(x, y));
    }
    return int(colours.size());
}

/// Pixels that are clearly of this hue.
int pixelsOf(const QImage &image, int hue, int width = 20)
{
    int count = 0;
    for (int y = 0; y < image.height(); ++y) {
        for (int x = 0; x < image.width(); ++x) {
            const QColor c = image.pixelColor(x, y);
            const int apart = std::abs(c.hsvHue() - hue);
            count += c.hsvSaturation() > 90 && c.value() > 60 && std::min(apart, 360 - apart) < width;
        }
    }
    return count;
}

/// Streams under the test's hand; what a person does is noted.
class ShellService : public SampleService
{
public:
    std::unique_ptr<ShellStream> observeShell(const RunId &, const ScopeId &scope) override
    {
        if (refuse)
            return nullptr;
        auto stream = std::make_unique<ShellStream>();
        streams.append({scope.value(), stream.get()});
        return stream;
    }
    void takeOver(const RunId &, const ScopeId &scope, bool on) override { commands.append(utf8(on ? "take " : "give ") + scope.value()); }
    void type(const RunId &, const ScopeId &, const QByteArray &bytes) override { typed += bytes; }
    void resizeShell(const RunId &, const ScopeId &, int columns, int rows) override { size = {columns, rows}; }
    void interrupt(const RunId &, const ScopeId &scope) override { commands.append(utf8("interrupt ") + scope.value()); }
    void print(const QByteArray &bytes)
    {
        for (const auto &[scope, stream] : streams) {
            if (stream)
                Q_EMIT stream->bytes(bytes);
        }
    }
    int listeners() const
    {
        return int(std::count_if(streams.begin(), streams.end(), [](const auto &s) { return !s.second.isNull(); }));
    }

    QList<std::pair<QString, QPointer<ShellStream>>> streams;
    QByteArray typed;
    QSize size;
    bool refuse = false;
};

ShellEntry openShell(const char *scope = "subagent:c41f")
{
    ShellEntry entry;
    entry.scope = utf8(scope);
    entry.session = entry.lastSession = utf8("s1");
    entry.cwd = utf8("/mnt/user-data/workspace");
    return entry;
}

/// A terminal with its view, fed directly.
struct Shown {
    explicit Shown(TerminalLimits limits = {}) : terminal(std::make_shared<Terminal>(80, 24, limits)), view(terminal)
    {
        QObject::connect(&view, &TerminalView::gridChanged, &view, [this](int columns, int rows) { terminal->resize(columns, rows); });
        view.resize(640, 300);
        view.show();
        ready = QTest::qWaitForWindowExposed(&view);
    }
    void print(const QByteArray &bytes)
    {
        terminal->feed(bytes);
        view.noteChanged();
        QCoreApplication::processEvents();
    }
    /// After the frame timer: what a person sees.
    bool shows(const char *text)
    {
        return spinUntil([&] { return view.visibleText().contains(utf8(text)); }, 10000);
    }
    std::shared_ptr<Terminal> terminal;
    TerminalView view;
    bool ready = false;
};

} // namespace

class TestShell : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void cleanupTestCase() { stopTerminalParser(); }

    void paintsInColours_data()
    {
        QTest::addColumn<bool>("dark");
        QTest::newRow("dark") << true;
        QTest::newRow("light") << false;
    }
    void paintsInColours()
    {
        QFETCH(bool, dark);
        applyTheme(*qApp, dark ? ThemeChoice::Dark : ThemeChoice::Light);
        Shown shown;
        QVERIFY(shown.ready);
        const QColor empty = shown.view.grab().toImage().pixelColor(400, 200);
        QCOMPARE(empty.lightness() < 128, dark);
        shown.print("plain \x1b[31mred red red\x1b[0m \x1b[1;32mgreen\x1b[0m \x1b[7mreversed\x1b[0m \x1b[4munder\x1b[0m \xe4\xb8\xad\xe6\x96\x87 e\xcc\x81\r\n\x1b[44m  blue ground  \x1b[0m");
        QVERIFY(shown.shows("red red red"));
        const QImage image = shown.view.grab().toImage();
        QVERIFY(coloursOf(image) > 8);
        QVERIFY(pixelsOf(image, 0) > 20);
        QVERIFY(pixelsOf(image, 118, 32) > 20);
        QVERIFY(pixelsOf(image, 212) > 200);
    }

    void selectionAndCopy()
    {
        Shown shown;
        shown.print("first line of text\r\nsecond line\r\nthird");
        QVERIFY(shown.shows("third"));
        QVERIFY(spinUntil([&] { return shown.view.accessibleRowCount() == 3; }, 10000)); // the frame is drawn
        QWidget *area = shown.view.viewport();
        const QRect first = shown.view.accessibleRowRect(0);
        const QRect second = shown.view.accessibleRowRect(1);
        QVERIFY(!shown.view.hasSelection());
        QTest::mousePress(area, Qt::LeftButton, {}, {1, first.center().y()});
        for (const int y : {first.center().y(), second.center().y()}) {
            QMouseEvent move(QEvent::MouseMove, QPointF(600, y), area->mapToGlobal(QPointF(600, y)), Qt::NoButton, Qt::LeftButton, Qt::NoModifier);
            QApplication::sendEvent(area, &move);
        }
        QTest::mouseRelease(area, Qt::LeftButton, {}, {600, second.center().y()});
        QVERIFY(shown.view.hasSelection());
        QCOMPARE(shown.view.selectedText().trimmed(), utf8("first line of text\nsecond line"));
        QApplication::clipboard()->setText(utf8("before"));
        QTest::keyClick(&shown.view, Qt::Key_C, Qt::ControlModifier | Qt::ShiftModifier);
        QCOMPARE(QApplication::clipboard()->text().trimmed(), utf8("first line of text\nsecond line"));
        QTest::mouseDClick(area, Qt::LeftButton, {}, {shown.view.fontMetrics().horizontalAdvance(u'M') * 2, second.center().y()});
        QCOMPARE(shown.view.selectedText(), utf8("second"));
        QTest::keyClick(&shown.view, Qt::Key_C, Qt::ControlModifier); // nobody types: the usual key copies
        QCOMPARE(QApplication::clipboard()->text(), utf8("second"));
        QTest::keyClick(&shown.view, Qt::Key_A, Qt::ControlModifier);
        QCOMPARE(shown.view.selectedText().trimmed(), utf8("first line of text\nsecond line\nthird"));
        const QImage with = shown.view.grab().toImage();
        QTest::mouseClick(area, Qt::LeftButton, {}, {300, 200});
        QVERIFY(!shown.view.hasSelection());
        QVERIFY(with != shown.view.grab().toImage()); // the selection is seen
    }

    void scrollbackAndFollowing()
    {
        Shown shown;
        QByteArray lines;
        for (int i = 0; i < 500; ++i)
            lines += "line " + QByteArray::number(i) + "\r\n";
        shown.print(lines);
        QVERIFY(shown.shows("line 499"));
        QVERIFY(shown.view.isFollowing());
        QTest::keyClick(&shown.view, Qt::Key_PageUp);
        QTest::keyClick(&shown.view, Qt::Key_PageUp);
        QVERIFY(!shown.view.isFollowing());
        const QString reading = shown.view.visibleText();
        QVERIFY(!reading.contains(u"line 499"));
        shown.print("one more\r\n");
        QCOMPARE(shown.view.visibleText(), reading);
        QTest::keyClick(&shown.view, Qt::Key_Home);
        QVERIFY(shown.view.visibleText().startsWith(u"line 0\n"));
        QTest::keyClick(&shown.view, Qt::Key_End);
        QVERIFY(shown.view.isFollowing());
        QVERIFY(shown.shows("one more"));
        QVERIFY(shown.view.find(utf8("LINE 250"), true));
        QCOMPARE(shown.view.selectedText(), utf8("line 250"));
        QVERIFY(shown.view.visibleText().contains(u"line 250"));
        QVERIFY(!shown.view.find(utf8("nothing of that kind"), true));
    }

    /// When the oldest rows are dropped, what a person reads stays under their eyes for as long as it is kept.
    void readingWhileTheOldestGo()
    {
        Shown shown({.scrollback = 200});
        QByteArray lines;
        for (int i = 0; i < 400; ++i)
            lines += "line " + QByteArray::number(i) + "\r\n";
        shown.print(lines);
        QVERIFY(shown.shows("line 399"));
        QTest::keyClick(&shown.view, Qt::Key_PageUp);
        QTest::keyClick(&shown.view, Qt::Key_PageUp);
        const QString reading = shown.view.visibleText();
        const int before = shown.view.verticalScrollBar()->value();
        shown.print("a\r\nb\r\nc\r\nd\r\ne\r\n");
        QVERIFY(spinUntil([&] { return shown.view.verticalScrollBar()->value() != before; }, 10000));
        QCOMPARE(shown.view.visibleText(), reading);
        QVERIFY(!shown.view.isFollowing());
    }

    void typingOnlyWhenTakenOver()
    {
        Shown shown;
        QSignalSpy typed(&shown.view, &TerminalView::typed);
        QSignalSpy wanted(&shown.view, &TerminalView::takeOverWanted);
        QTest::keyClicks(&shown.view, utf8("ls"));
        QCOMPARE(typed.count(), 0);
        QTest::keyClick(&shown.view, Qt::Key_Return);
        QCOMPARE(wanted.count(), 1);
        shown.view.setTyping(true);
        const auto press = [&](int key, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
            typed.clear();
            QTest::keyClick(&shown.view, Qt::Key(key), modifiers);
            return typed.isEmpty() ? QByteArray() : typed.first().first().toByteArray();
        };
        QTest::keyClicks(&shown.view, utf8("ls"));
        QCOMPARE(typed.count(), 2);
        QCOMPARE(press(Qt::Key_Return), QByteArray("\r"));
        QCOMPARE(press(Qt::Key_C, Qt::ControlModifier), QByteArray("\x03"));
        QCOMPARE(press(Qt::Key_D, Qt::ControlModifier), QByteArray("\x04"));
        QCOMPARE(press(Qt::Key_Up), QByteArray("\x1b[A"));
        QCOMPARE(press(Qt::Key_Tab), QByteArray("\t"));
        QCOMPARE(press(Qt::Key_Backspace), QByteArray("\x7f"));
        QApplication::clipboard()->setText(utf8("pasted\ntext"));
        shown.print("\x1b[?2004h");
        QVERIFY(press(Qt::Key_V, Qt::ControlModifier | Qt::ShiftModifier).startsWith("\x1b[200~pasted"));
        QInputMethodEvent input;
        input.setCommitString(utf8("\xe4\xb8\xad"));
        typed.clear();
        QApplication::sendEvent(&shown.view, &input);
        QCOMPARE(typed.first().first().toByteArray(), QByteArray("\xe4\xb8\xad"));
    }

    /// Keys of the shell are not taken by the window's actions while a person types; those with Ctrl+Shift are the way out.
    void keysBelongToTheShell()
    {
        QMainWindow window;
        auto terminal = std::make_shared<Terminal>();
        auto *view = new TerminalView(terminal);
        window.setCentralWidget(view);
        int actions = 0;
        for (const QKeySequence &key : {QKeySequence(Qt::CTRL | Qt::Key_D), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_T), QKeySequence(Qt::Key_F8)}) {
            auto *action = new QAction(&window);
            action->setShortcut(key);
            connect(action, &QAction::triggered, &window, [&actions] { ++actions; });
            window.addAction(action);
        }
        window.show();
        QVERIFY(QTest::qWaitForWindowActive(&window));
        view->setFocus();
        QSignalSpy typed(view, &TerminalView::typed);
        QTest::keyClick(view, Qt::Key_D, Qt::ControlModifier);
        QCOMPARE(actions, 1);
        view->setTyping(true);
        QTest::keyClick(view, Qt::Key_D, Qt::ControlModifier);
        QCOMPARE(actions, 1);
        QCOMPARE(typed.count(), 1);
        QTest::keyClick(view, Qt::Key_T, Qt::ControlModifier | Qt::ShiftModifier);
        QTest::keyClick(view, Qt::Key_F8);
        QCOMPARE(actions, 3);
        QCOMPARE(typed.count(), 1);
    }

    void promptFilter_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QByteArray>("shown");
        QTest::newRow("after a prompt") << QByteArray("u@h:/w$ cd /mnt/user-data/workspace; ls\r\nb\r\n") << QByteArray("u@h:/w$ ls\r\nb\r\n");
        QTest::newRow("twice") << QByteArray("$ cd /mnt/user-data/workspace; a\r\n$ cd /mnt/user-data/workspace; b\r\n") << QByteArray("$ a\r\n$ b\r\n");
        QTest::newRow("the agent wrote it") << QByteArray("$ cd /mnt/user-data/workspace; cd /mnt/user-data/workspace; a")
                                            << QByteArray("$ cd /mnt/user-data/workspace; a");
        QTest::newRow("printed") << QByteArray("cd /mnt/user-data/workspace; a") << QByteArray("cd /mnt/user-data/workspace; a");
        for (const char *same : {"$ cd /mnt/user-data/outputs; a", "$ cd /mnt", "$$ $ $ c", ""})
            QTest::newRow(same) << QByteArray(same) << QByteArray(same);
    }

    void promptFilter()
    {
        QFETCH(QByteArray, bytes);
        QFETCH(QByteArray, shown);
        // However the bytes come in pieces, the same is shown.
        for (qsizetype piece = 1; piece <= std::max<qsizetype>(1, bytes.size()); ++piece) {
            PromptFilter filter;
            QByteArray out;
            for (qsizetype at = 0; at < bytes.size(); at += piece)
                out += filter.filter(bytes.mid(at, piece));
            QCOMPARE(out + filter.rest(), shown);
        }
    }

    void headerNamesTheAgent()
    {
        ShellService service;
        ShellPane pane(&service, RunId(utf8("r")), utf8("subagent:c41f"));
        pane.resize(700, 200);
        pane.show();
        pane.setOwner(utf8("Languages & <b>lines"), utf8("Languages & <b>lines (c41f)"));
        ShellEntry entry = openShell();
        entry.commands = {ShellCommand{.command = utf8("cd /mnt/user-data/workspace; make check")}};
        pane.update(entry, 0, true);
        const auto labels = pane.findChildren<QLabel *>();
        const auto title = std::find_if(labels.begin(), labels.end(), [](const QLabel *l) { return l->text().contains(u"Languages"); });
        QVERIFY(title != labels.end() && (*title)->text().contains(u"Languages &amp; &lt;b&gt;lines"));
        QVERIFY((*title)->text().contains(u"make check") && !(*title)->text().contains(u"cd /mnt"));
        QVERIFY((*title)->toolTip().contains(u"cd /mnt")); // what really runs
        QCOMPARE(pane.accessibleName(), utf8("Shell of Languages & <b>lines (c41f)"));
    }

    void severalObservers()
    {
        ShellService service;
        ShellPane one(&service, RunId(utf8("r")), utf8("subagent:c41f"));
        ShellPane two(&service, RunId(utf8("r")), utf8("subagent:c41f"));
        for (ShellPane *pane : {&one, &two}) {
            pane->resize(500, 200);
            pane->show();
            pane->update(openShell(), 0, true);
            pane->setAttached(true);
        }
        QCOMPARE(service.listeners(), 2);
        service.print("for both\r\n");
        QVERIFY(spinUntil([&] { return one.view()->visibleText().contains(u"for both") && two.view()->visibleText().contains(u"for both"); }));
        one.setAttached(false);
        QCOMPARE(service.listeners(), 1);
        service.print("for one\r\n");
        QVERIFY(spinUntil([&] { return two.view()->visibleText().contains(u"for one"); }));
        QVERIFY(!one.view()->visibleText().contains(u"for one"));
        service.refuse = true;
        one.setAttached(true); // nothing to see yet is no fault
        service.refuse = false;
        one.setAttached(true);
        QCOMPARE(service.listeners(), 2);
    }

    void headerSaysWhereAnIdleShellIs()
    {
        ShellService service;
        ShellPane pane(&service, RunId(utf8("r")), utf8("subagent:c41f"));
        pane.resize(700, 200);
        pane.show();
        QVERIFY(QTest::qWaitForWindowExposed(&pane));
        const auto title = [&] { return pane.findChild<QLabel *>()->text(); };
        pane.update(openShell(), 0, true);
        QVERIFY2(title().contains(u"/mnt/user-data/workspace"), qPrintable(title()));
        ShellEntry running = openShell();
        ShellCommand command;
        command.command = utf8("make all");
        running.commands.push_back(command);
        pane.update(running, 0, true);
        QVERIFY2(title().contains(u"make all") && !title().contains(u"workspace"), qPrintable(title()));
        ShellEntry unknown = openShell();
        unknown.cwd.clear();
        pane.update(unknown, 0, true);
        QVERIFY2(title().contains(u"idle"), qPrintable(title()));
    }

    void takeOverThroughThePane()
    {
        ShellService service;
        ShellPane pane(&service, RunId(utf8("r")), utf8("subagent:c41f"));
        pane.resize(500, 200);
        pane.show();
        QVERIFY(QTest::qWaitForWindowExposed(&pane));
        pane.setAttached(true);
        auto *button = pane.findChild<QToolButton *>();
        pane.update(openShell(), 0, false);
        QVERIFY(!button->isVisible()); // of a past run
        pane.setTakenOver(true);
        QVERIFY(!pane.isTakenOver());
        pane.update(openShell(), 0, true);
        QVERIFY(button->isVisible());
        QTest::keyClick(pane.view(), Qt::Key_Return);
        QVERIFY(pane.isTakenOver());
        QCOMPARE(service.commands, QStringList{utf8("take subagent:c41f")});
        QTest::keyClicks(pane.view(), utf8("id"));
        QTest::keyClick(pane.view(), Qt::Key_Return);
        QCOMPARE(service.typed, QByteArray("id\r"));
        QStringList words;
        for (const QLabel *label : pane.findChildren<QLabel *>())
            words += label->text();
        QVERIFY2(words.join(u' ').contains(u"you are typing"), qPrintable(words.join(u' ')));
        pane.resize(700, 300);
        QTRY_VERIFY(service.size.width() > 40);
        button->click();
        QVERIFY(!pane.isTakenOver());
        QCOMPARE(service.commands.last(), utf8("give subagent:c41f"));
        pane.setTakenOver(true);
        ShellEntry closed = openShell();
        closed.session.clear();
        pane.update(closed, 0, true); // its session is gone
        QVERIFY(!pane.isTakenOver());
        QVERIFY(!pane.view()->isTyping());
        pane.update(openShell(), 0, true);
        pane.interrupt();
        QCOMPARE(service.commands.last(), utf8("interrupt subagent:c41f"));
        pane.showSearch();
        auto *search = pane.findChild<QLineEdit *>();
        QVERIFY(search->isVisible());
        QTest::keyClick(search, Qt::Key_Escape);
        QVERIFY(!search->isVisible());
    }

    void hostileOutput_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::newRow("clipboard") << QByteArray("\x1b]52;c;ZXZpbA==\x07\x1b]52;p;ZXZpbA==\x1b\\");
        QTest::newRow("title") << QByteArray("\x1b]0;evil\x07\x1b]2;evil\x1b\\\x1b]1;evil\x07");
        QTest::newRow("unterminated string") << QByteArray("\x1b]0;") + QByteArray(300000, 'x');
        QTest::newRow("queries") << QByteArray("\x1b[c\x1b[>c\x1b[5n\x1b[6n\x1b]10;?\x07\x1bP$qm\x1b\\\x1b[21t\x05");
        QTest::newRow("sizes") << QByteArray("\x1b[8;30000;30000t\x1b[?3h\x1b[4;9999;9999t");
        QTest::newRow("huge counts") << QByteArray("\x1b[999999999@\x1b[999999999L\x1b[999999999S\x1b[999999999T\x1b[999999999;999999999H\x1b[999999999P\x1b[999999999X");
        QTest::newRow("link") << QByteArray("\x1b]8;;file:///etc/passwd\x07" "click\x1b]8;;\x07");
        QTest::newRow("combining flood") << QByteArray("e") + QByteArray("\xcc\x81").repeated(20000);
        QTest::newRow("wide at the edge") << QByteArray("\xe4\xb8\xad").repeated(501);
        QTest::newRow("turned round") << QByteArray("\xe2\x80\xae" "gnp.exe\xe2\x80\xac \xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d");
        QTest::newRow("alternate screen left open") << QByteArray("\x1b[?1049h\x1b[2J\x1b[?25l\x1b[?1000h\x1b[?2004h");
        QByteArray noise(200000, Qt::Uninitialized);
        QRandomGenerator random(17);
        for (char &c : noise)
            c = char(random.bounded(256));
        QTest::newRow("noise") << noise;
        QByteArray escapes;
        for (int i = 0; i < 60000; ++i)
            escapes += i % 3 == 0 ? QByteArray("\x1b[") : QByteArray(1, "0123456789;?>!hlmHJKABCDSTrLMPX@\x1b"[random.bounded(33)]);
        QTest::newRow("escape noise") << escapes;
    }
    void hostileOutput()
    {
        QFETCH(QByteArray, bytes);
        Shown shown;
        shown.view.setWindowTitle(utf8("Title"));
        QApplication::clipboard()->setText(utf8("mine"));
        const QSize before = shown.view.size();
        QSignalSpy typed(&shown.view, &TerminalView::typed);
        shown.view.setTyping(true);
        shown.print(bytes);
        QVERIFY(!shown.view.grab().isNull());
        shown.print("\x1b\\\x1b" "c\x1b[?1049lstill here\r\n"); // ends any string, full reset
        QVERIFY(shown.shows("still here"));
        QVERIFY(coloursOf(shown.view.grab().toImage()) > 1);
        QCOMPARE(QApplication::clipboard()->text(), utf8("mine"));
        QCOMPARE(shown.view.windowTitle(), utf8("Title"));
        QCOMPARE(shown.view.size(), before);
        QCOMPARE(typed.count(), 0); // no answer is ever typed for the program
        QVERIFY(shown.terminal->endRow() - shown.terminal->snapshot(0, 0).oldestRow <= 10000 + 500);
    }

    void aFloodIsBounded()
    {
        ShellService service;
        ShellPane pane(&service, RunId(utf8("r")), utf8("lead"));
        pane.resize(500, 200);
        pane.show();
        pane.setAttached(true);
        const QByteArray piece = QByteArray("flooding the terminal with text\r\n").repeated(8000);
        for (int i = 0; i < 80; ++i)
            service.print(piece);
        service.print("the end of it\r\n");
        QVERIFY(spinUntil([&] { // what was left out is told, or everything is there
            service.print(".");
            return pane.view()->visibleText().contains(u'.');
        }, 60000));
        pane.setAttached(false);
        pane.grab();
    }

    void panelShowsTheShellsOfARun()
    {
        ShellService service;
        RunStore store{RunId(utf8("r1"))};
        RunStore other{RunId(utf8("r2"))};
        store.setLive(true);
        store.apply(makeSampleRun(utf8("r1"), 1, 0, false).events);
        other.apply(makeSampleRun(utf8("r2"), 1, 0, true).events);
        ShellPanel panel(&service);
        QSignalSpy remark(&panel, &ShellPanel::remarkChanged);
        panel.resize(900, 400);
        panel.show();
        QVERIFY(QTest::qWaitForWindowExposed(&panel));
        panel.setRun(&store);
        const auto shells = store.shells().shells().size();
        QVERIFY(shells >= 3);
        QCOMPARE(panel.panes().size(), shells);
        QCOMPARE(service.listeners(), int(shells));
        QVERIFY(remark.last().first().toString().contains(QString::number(shells)));
        service.print("\x1b[33mhello\x1b[0m\r\n");
        for (ShellPane *pane : panel.panes())
            QVERIFY(spinUntil([&] { return pane->view()->visibleText().contains(u"hello"); }));
        QVERIFY(coloursOf(panel.grab().toImage()) > 8);
        panel.setVisibleToUser(false);
        QCOMPARE(service.listeners(), 0); // nobody looks: nothing is read
        panel.setVisibleToUser(true);
        QCOMPARE(service.listeners(), int(shells));
        panel.setArrangement(ShellPanel::Arrangement::Tabs);
        QCOMPARE(panel.findChild<QTabWidget *>()->count(), int(shells));
        panel.revealScope(panel.panes().back()->scope());
        QCOMPARE(panel.findChild<QTabWidget *>()->currentWidget(), panel.panes().back());
        panel.findInShell();
        panel.interruptCurrent();
        QVERIFY(service.commands.last().startsWith(u"interrupt "));
        panel.takeOverCurrent();
        panel.setRun(&other);
        QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
        QCOMPARE(panel.panes().size(), other.shells().shells().size());
        panel.setArrangement(ShellPanel::Arrangement::Grid);
        QVERIFY(coloursOf(panel.grab().toImage()) > 3);
        panel.setRun(nullptr);
        QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
        QVERIFY(panel.panes().empty());
        QCOMPARE(service.listeners(), 0);
        panel.findInShell(); // nothing there: nothing happens
        panel.interruptCurrent();
        panel.takeOverCurrent();
    }

    void keyboardPathAndNames()
    {
        ShellService service;
        RunStore store{RunId(utf8("r1"))};
        store.setLive(true);
        store.apply(makeSampleRun(utf8("r1"), 1, 0, false).events);
        ShellPanel panel(&service);
        panel.resize(900, 400);
        panel.show();
        QVERIFY(QTest::qWaitForWindowActive(&panel));
        panel.setRun(&store);
        service.print("readable line\r\n");
        ShellPane *first = panel.panes().front();
        QVERIFY(spinUntil([&] { return first->view()->visibleText().contains(u"readable line"); }));
        QCOMPARE(QAccessible::queryAccessibleInterface(&panel)->text(QAccessible::Name), utf8("Shells"));
        QSet<QString> names;
        for (ShellPane *pane : panel.panes()) {
            QAccessibleInterface *view = QAccessible::queryAccessibleInterface(pane->view());
            names.insert(view->text(QAccessible::Name));
            QVERIFY(pane->view()->focusPolicy() & Qt::TabFocus);
            for (QToolButton *button : pane->findChildren<QToolButton *>())
                QVERIFY(button->focusPolicy() & Qt::TabFocus);
        }
        QCOMPARE(names.size(), qsizetype(panel.panes().size())); // told apart by whom they belong to
        QAccessibleInterface *view = QAccessible::queryAccessibleInterface(first->view());
        QVERIFY(spinUntil([&] { return view->childCount() >= 1; }, 10000)); // with the next frame
        QCOMPARE(view->child(0)->text(QAccessible::Name), utf8("readable line"));
        QVERIFY(!view->child(0)->rect().isEmpty());
        // Tab goes from shell to shell and round.
        first->view()->setFocus();
        QSet<QWidget *> reached;
        for (int i = 0; i < 20; ++i) {
            reached.insert(QApplication::focusWidget());
            QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
        }
        for (ShellPane *pane : panel.panes())
            QVERIFY(reached.contains(pane->view()));
    }
};

} // namespace tst_shell

PADDOCK_GUI_TEST(tst_shell, TestShell)
#include "tst_shell.moc"
