// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "tests/support/test_main.h"
#include "ui/paint/theme.h"
#include "ui/text/code_view.h"
#include "ui/text/diff_view.h"
#include "ui/text/hex_text.h"
#include "ui/text/markdown_view.h"

#include <QAccessible>
#include <QApplication>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QTextBlock>
#include <QTextLayout>

namespace tst_text_views {

using namespace paddock;

namespace {

QString utf8(const char *text)
{
    return QString::fromUtf8(text);
}

/// How many differently coloured stretches the highlighter made.
int stretches(const CodeView &view)
{
    int count = 0;
    for (QTextBlock block = view.document()->begin(); block.isValid(); block = block.next())
        count += int(block.layout()->formats().size());
    return count;
}

QSet<QRgb> foregrounds(const CodeView &view)
{
    QSet<QRgb> colours;
    for (QTextBlock block = view.document()->begin(); block.isValid(); block = block.next()) {
        for (const QTextLayout::FormatRange &range : block.layout()->formats())
            colours.insert(range.format.foreground().color().rgb());
    }
    return colours;
}

} // namespace

class TestTextViews : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void binary_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<bool>("binary");
        QTest::newRow("empty") << QByteArray() << false;
        QTest::newRow("text") << QByteArray("hello\n") << false;
        QTest::newRow("utf-8") << QByteArray("\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80") << false;
        QTest::newRow("cut inside a character") << QByteArray("abc\xe4\xb8") << false;
        QTest::newRow("zero byte") << QByteArray("ab\0c", 4) << true;
        QTest::newRow("latin-1") << QByteArray("caf\xe9 au lait") << true;
        QTest::newRow("elf") << QByteArray("\x7f" "ELF\x02\x01\x01\0", 8) << true;
    }
    void binary()
    {
        QFETCH(QByteArray, bytes);
        QTEST(looksBinary(bytes), "binary");
    }

    void hex()
    {
        QCOMPARE(hexText({}), QString());
        QCOMPARE(hexText(QByteArray("ABC\0\xff", 5), 16), utf8("00000010  41 42 43 00 ff                                    ABC··\n"));
        const QStringList lines = hexText(QByteArray(40, 'x')).split(u'\n', Qt::SkipEmptyParts);
        QCOMPARE(lines.size(), 3);
        QVERIFY(lines[2].startsWith(u"00000020"));
        QCOMPARE(lines[0].size(), lines[1].size());
        QCOMPARE(lines[0].indexOf(u"xxxxxxxx"), lines[2].indexOf(u"xxxxxxxx")); // columns stand below each other
    }

    void codeIsHighlighted_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("text");
        QTest::addColumn<bool>("coloured");
        QTest::newRow("c++") << utf8("a.cpp") << utf8("// why\nint main() { return \"x\"[0]; }\n") << true;
        QTest::newRow("shell") << utf8("run.sh") << utf8("#!/bin/sh\necho \"$HOME\" # so\n") << true;
        QTest::newRow("python") << utf8("a.py") << utf8("# FIXME later\ndef f():\n    return 'x'\n") << true;
        QTest::newRow("makefile") << utf8("Makefile") << utf8("all:\n\ttrue\n") << true;
        QTest::newRow("unknown") << utf8("a.unknownkind") << utf8("int main()\n") << false;
    }
    void codeIsHighlighted()
    {
        QFETCH(QString, name);
        QFETCH(QString, text);
        QFETCH(bool, coloured);
        CodeView view;
        view.resize(500, 200);
        view.show();
        view.setText(text, name);
        QCoreApplication::processEvents(); // highlighting begins with the loop
        QTRY_COMPARE(stretches(view) > 0, coloured);
        QCOMPARE(view.toPlainText(), text);
        QVERIFY(view.isReadOnly());
    }

    void codeFollowsTheTheme()
    {
        applyTheme(*qApp, ThemeChoice::Dark);
        CodeView view;
        view.show();
        view.setText(utf8("// why\nint main() { return \"x\"[0]; }\n"), utf8("a.cpp"));
        QTRY_VERIFY(stretches(view) > 0);
        const QSet<QRgb> dark = foregrounds(view);
        applyTheme(*qApp, ThemeChoice::Light);
        QTRY_VERIFY(foregrounds(view) != dark && !foregrounds(view).isEmpty());
        for (const QRgb colour : foregrounds(view))
            QVERIFY2(QColor(colour).lightness() < 200, "text on white can be read");
    }

    void codeKeepsItsPlace()
    {
        CodeView view;
        view.resize(400, 200);
        view.show();
        QString text;
        for (int i = 0; i < 1500; ++i)
            text += utf8("line %1\n").arg(i);
        const int narrow = view.gutterWidth();
        view.setText(text, utf8("log.txt"));
        QVERIFY(view.gutterWidth() > narrow); // four digits need more room than three
        view.verticalScrollBar()->setValue(700);
        view.setText(text + utf8("more\n"), utf8("log.txt"));
        QCOMPARE(view.verticalScrollBar()->value(), 700);
        view.verticalScrollBar()->setValue(view.verticalScrollBar()->maximum());
        view.setText(text + utf8("more\nand more\n"), utf8("log.txt"));
        QCOMPARE(view.verticalScrollBar()->value(), view.verticalScrollBar()->maximum()); // the tail is followed
        view.goToLine(42);
        QCOMPARE(view.textCursor().blockNumber(), 42);
        view.setAddedLines({1, 2, 99999});
        QVERIFY(view.extraSelections().size() >= 2);
        view.setText(utf8("short\n"), utf8("other.txt"));
        QCOMPARE(view.verticalScrollBar()->value(), 0);
        QVERIFY(!view.grab().isNull());
    }

    void largeTextIsShownPlain()
    {
        CodeView view;
        view.resize(400, 200);
        view.show();
        const QString line = utf8("int x = 1; // comment\n");
        view.setText(line.repeated(int(CodeView::highlightLimit / line.size()) + 100), utf8("a.cpp"));
        QVERIFY(view.blockCount() > 1000);
        QCoreApplication::processEvents();
        QCOMPARE(stretches(view), 0);
    }

    void diff()
    {
        DiffView view;
        view.resize(500, 200);
        view.setTexts(utf8("a\nb\nc"), utf8("a\nb\nc"));
        QCOMPARE(view.toPlainText(), utf8("No difference."));
        QVERIFY(!view.goToChange(true));
        QString before, after;
        for (int i = 0; i < 100; ++i) {
            before += utf8("%1\n").arg(i);
            after += i == 20 ? utf8("twenty\n") : i == 80 ? QString() : utf8("%1\n").arg(i);
        }
        view.setTexts(before, after);
        const QString text = view.toPlainText();
        QVERIFY(text.contains(u"- 20\n+ twenty\n"));
        QVERIFY(text.contains(u"- 80\n"));
        QVERIFY(text.contains(u"equal line"));
        QVERIFY(text.count(u'\n') < 30); // what is equal is folded
        QVERIFY(view.extraSelections().size() == 3);
        QVERIFY(view.goToChange(true));
        QVERIFY(view.textCursor().block().text().startsWith(u'-') || view.textCursor().block().text().startsWith(u'+'));
        while (view.goToChange(true))
            ;
        QCOMPARE(view.textCursor().block().text(), utf8("- 80"));
        QVERIFY(view.goToChange(false));
        view.setTexts({}, utf8("new\nfile"));
        QCOMPARE(view.toPlainText(), utf8("+ new\n+ file"));
        QVERIFY(!view.grab().isNull());
    }

    void markdownIsFormatted()
    {
        MarkdownView view;
        view.resize(500, 400);
        view.setText(utf8("# Survey\n\n| What | Found |\n|---|---:|\n| Files | 12 |\n\nSome **bold** and `code`.\n"));
        QVERIFY(view.toPlainText().contains(u"Survey"));
        QVERIFY(!view.toPlainText().contains(u"# Survey"));
        QVERIFY(!view.toPlainText().contains(u"|---"));
        QVERIFY(view.document()->begin().blockFormat().headingLevel() == 1);
        QVERIFY(view.isReadOnly());
    }

    void markdownOfStrangers()
    {
        MarkdownView view;
        view.resize(500, 400);
        view.show();
        QSignalSpy asked(&view, &MarkdownView::linkActivated);
        view.setText(utf8("![x](file:///etc/hostname) ![y](http://127.0.0.1:9/z.png)\n\n<img src='file:///etc/hostname'><script>alert(1)</script>\n\n[go](file:///etc/passwd)\n"));
        QVERIFY(!view.grab().isNull());
        const QString before = view.toPlainText();
        Q_EMIT view.anchorClicked(QUrl(utf8("file:///etc/passwd")));
        QCOMPARE(asked.count(), 1); // told, not followed
        QCOMPARE(view.toPlainText(), before);
        QVERIFY(view.source().isEmpty());
        view.setText(QString(MarkdownView::formatLimit + 10, u'#')); // one word: wrapping it would take minutes
        QVERIFY(!view.grab().isNull());
        QCOMPARE(view.toPlainText().size(), MarkdownView::formatLimit + 10); // as it is
        view.setText(utf8("# many words\n") + utf8("word ").repeated(int(MarkdownView::formatLimit / 5)));
        QVERIFY(view.toPlainText().startsWith(u'#')); // too large to be formatted
        view.setText(utf8("# few words\n"));
        QVERIFY(!view.toPlainText().startsWith(u'#'));
        view.setText(utf8("> ").repeated(3000) + utf8("deep"));
        QVERIFY(!view.grab().isNull());
    }

    void namesAndKeys()
    {
        CodeView code;
        DiffView diff;
        MarkdownView markdown;
        for (QWidget *view : {static_cast<QWidget *>(&code), static_cast<QWidget *>(&diff), static_cast<QWidget *>(&markdown)}) {
            QAccessibleInterface *interface = QAccessible::queryAccessibleInterface(view);
            QVERIFY(interface);
            QVERIFY2(!interface->text(QAccessible::Name).isEmpty(), view->metaObject()->className());
            QVERIFY2(view->focusPolicy() & Qt::TabFocus, view->metaObject()->className());
        }
        code.setText(utf8("one\ntwo\n"), utf8("a.txt"));
        code.selectAll();
        QCOMPARE(code.textCursor().selectedText().size(), 8);
    }
};

} // namespace tst_text_views

PADDOCK_GUI_TEST(tst_text_views, TestTextViews)
#include "tst_text_views.moc"
