// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/term/terminal.h"
#include "tests/support/test_main.h"

#include <QTest>

namespace tst_terminal {

using namespace paddock;

namespace {
QStringList screenText(const Terminal &terminal)
{
    QStringList lines;
    for (const TermRow &row : terminal.screen().rows)
        lines.append(row.text());
    while (!lines.isEmpty() && lines.last().trimmed().isEmpty())
        lines.removeLast();
    return lines;
}
} // namespace

class TerminalTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void shows_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QStringList>("lines");
        QTest::newRow("plain") << QByteArray("one\r\ntwo") << QStringList{QStringLiteral("one"), QStringLiteral("two")};
        QTest::newRow("carriage return overwrites") << QByteArray("abc\rX") << QStringList{QStringLiteral("Xbc")};
        QTest::newRow("cursor address") << QByteArray("\x1b[2;3Hx") << QStringList{QString(), QStringLiteral("  x")};
        QTest::newRow("erase line") << QByteArray("hello\r\x1b[K!") << QStringList{QStringLiteral("!")};
        QTest::newRow("wide") << QByteArray("\xe4\xb8\xad\xe6\x96\x87.") << QStringList{QString::fromUtf8("\xe4\xb8\xad\xe6\x96\x87.")};
        QTest::newRow("combining") << QByteArray("e\xcc\x81!") << QStringList{QString::fromUtf8("e\xcc\x81!")};
        QTest::newRow("title is swallowed") << QByteArray("\x1b]0;evil\x07ok") << QStringList{QStringLiteral("ok")};
        QTest::newRow("clipboard is swallowed") << QByteArray("\x1b]52;c;ZXZpbA==\x07ok") << QStringList{QStringLiteral("ok")};
        QTest::newRow("resize request is ignored") << QByteArray("\x1b[8;30000;30000tok") << QStringList{QStringLiteral("ok")};
        QTest::newRow("split utf-8 and broken bytes") << QByteArray("a\xff\xfe" "b") << QStringList{QString::fromUtf8("a\xef\xbf\xbd\xef\xbf\xbd" "b")};
        QTest::newRow("insert line") << QByteArray("a\r\nb\x1b[1;1H\x1b[Lx") << QStringList{QStringLiteral("x"), QStringLiteral("a"), QStringLiteral("b")};
        QTest::newRow("more numbers than libvterm holds") << QByteArray("a\x1b[0" + QByteArray(";1").repeated(5000) + "mb\x1b[1:2:3:4:5:6:7:8:9:10:11:12:13:14:15:16:17:18Hok")
                                                          << QStringList{QStringLiteral("aok")};
        QTest::newRow("numbers without end") << QByteArray("\x1b[" + QByteArray(500, '9') + "C\rok") << QStringList{QStringLiteral("ok")};
        QTest::newRow("repeated letter") << QByteArray("x\x1b[1m\x1b[3b!") << QStringList{QStringLiteral("xxxx!")};
        QTest::newRow("nothing to repeat") << QByteArray("\x1b[9bok") << QStringList{QStringLiteral("ok")};
        QTest::newRow("nothing to repeat after an alignment") << QByteArray("\x1b#8\x1b[9b\x1b[2J\x1b[Hok") << QStringList{QStringLiteral("ok")};
        QTest::newRow("character inside a sequence") << QByteArray("\x1b[1\xc3\xa4.\x1b\xc3\xb6.\x1b(\xc3\xbc") << QStringList{QString::fromUtf8("\xc3\xa4.\xc3\xb6.\xc3\xbc")};
        QTest::newRow("repeated accent") << QByteArray("\xcc\x81\x1b[9b\rok") << QStringList{QStringLiteral("ok")};
        QTest::newRow("controls written as UTF-8") << QByteArray("a\xc2\x85\xc2\xc2\x9b\x85\xc2\xa0" "b")
                                                  << QStringList{QString::fromUtf8("a\xef\xbf\xbd\xef\xbf\xbd\xc2\xa0" "b")};
        QTest::newRow("overlong, surrogate, too high") << QByteArray("\xe0\x80\x80.\xed\xa0\x80.\xf5.\xf0\x9f\x98")
                                                       << QStringList{QString(QStringLiteral("???.???.?.")).replace(u'?', QChar(0xfffd))};
        QTest::newRow("device control") << QByteArray("\x1bPq\r\n\x00;x\x1b\\\x1b_app\x1b\\\x1b^pm\x07ok", 24) << QStringList{QStringLiteral("ok")};
        QTest::newRow("string ended by a sequence") << QByteArray("\x1b]0;evil\x1b[2;2Hok") << QStringList{QString(), QStringLiteral(" ok")};
        QTest::newRow("charset with a bracket") << QByteArray("\x1b(]ok") << QStringList{QStringLiteral("ok")};
        QTest::newRow("line break inside an escape") << QByteArray("a\x1b\r\n]0;x\x07ok") << QStringList{QStringLiteral("a"), QStringLiteral("ok")};
        QTest::newRow("huge counts") << QByteArray("a\x1b[999999999@\x1b[999999999L\x1b[999999999Sok") << QStringList{QStringLiteral(" ok")};
    }
    void shows()
    {
        QFETCH(QByteArray, bytes);
        QFETCH(QStringList, lines);
        Terminal terminal(20, 5);
        terminal.feed(bytes);
        QCOMPARE(screenText(terminal), lines);
        Terminal byByte(20, 5);
        for (const char c : bytes)
            byByte.feed(QByteArray(1, c));
        QCOMPARE(screenText(byByte), lines);
        for (qsizetype cut = 0; cut <= bytes.size(); ++cut) {
            Terminal inTwo(20, 5);
            inTwo.feed(bytes.first(cut));
            inTwo.feed(bytes.sliced(cut));
            QCOMPARE(screenText(inTwo), lines);
        }
    }

    void scrollbackIsBoundedAndNumbersStay()
    {
        Terminal terminal(20, 4, {.scrollback = 10});
        for (int i = 0; i < 100; ++i)
            terminal.feed(QByteArray::number(i) + "\r\n");
        const TermSnapshot all = terminal.snapshot(0, 1000);
        QCOMPARE(int(all.rows.size()), 14);
        QCOMPARE(all.endRow - all.oldestRow, 14);
        QCOMPARE(all.rows.back().text(), QString());
        QCOMPARE(all.rows[all.rows.size() - 2].text(), QStringLiteral("99"));
        QCOMPARE(terminal.snapshot(97, 1).rows.front().text(), QStringLiteral("97"));
    }

    void noQueryIsAnswered()
    {
        Terminal terminal(20, 4);
        terminal.feed("\x1b[c\x1b[>c\x1b[5n\x1b[6n\x1b]10;?\x07\x1bP$qm\x1b\\\x1b[21t");
        QCOMPARE(terminal.encodeText(QStringLiteral("x"), Qt::NoModifier), QByteArray("x")); // nothing queued before it
    }

    void alternateScreenGivesTheMainOneBack()
    {
        Terminal terminal(20, 4);
        terminal.feed("main\x1b[?1049hfull\x1b[?1049l");
        QCOMPARE(screenText(terminal), QStringList{QStringLiteral("main")});
    }

    void resizeKeepsText()
    {
        Terminal terminal(20, 6);
        terminal.feed("one\r\ntwo\r\nthree");
        terminal.resize(30, 3);
        QCOMPARE(screenText(terminal), (QStringList{QStringLiteral("one"), QStringLiteral("two"), QStringLiteral("three")}));
        terminal.resize(30, 2);
        QCOMPARE(screenText(terminal), (QStringList{QStringLiteral("two"), QStringLiteral("three")}));
        terminal.resize(30, 5);
        QCOMPARE(screenText(terminal), (QStringList{QStringLiteral("one"), QStringLiteral("two"), QStringLiteral("three")}));
        terminal.feed("!");
        QCOMPARE(screenText(terminal).last(), QStringLiteral("three!"));
        terminal.resize(100000, 100000);
        QCOMPARE(terminal.columns(), 1000);
        QCOMPARE(terminal.screenRows(), 500);
    }

    void widthWrapsAnew()
    {
        Terminal terminal(10, 4, {.scrollback = 100});
        terminal.feed("0123456789abcdefghijklmno\r\nshort\r\n\xe4\xb8\xad\xe6\x96\x87\xe4\xb8\xad\xe6\x96\x87\xe4\xb8\xad\xe6\x96\x87 e\xcc\x81\r\n\r\nprompt$ ");
        const auto text = [&] { return terminal.textBetween(0, 0, terminal.endRow(), 0).trimmed(); };
        const QString whole = text();
        QCOMPARE(whole.count(u'\n'), 4);
        terminal.resize(40, 4);
        QCOMPARE(screenText(terminal).last(), QStringLiteral("prompt$ "));
        QCOMPARE(terminal.snapshot(0, 1).rows.front().text(), QStringLiteral("0123456789abcdefghijklmno"));
        for (const int columns : {5, 33, 2, 7, 80, 12, 3, 26}) {
            terminal.resize(columns, 4 + columns % 3);
            QCOMPARE(text(), whole);
        }
        terminal.resize(20, 4);
        terminal.feed("!"); // the cursor stayed behind the prompt
        QCOMPARE(screenText(terminal).last(), QStringLiteral("prompt$ !"));
    }

    void widthKeepsTheScreenWhereItIs()
    {
        Terminal terminal(20, 6, {.scrollback = 100});
        for (int i = 0; i < 30; ++i)
            terminal.feed("line " + QByteArray::number(i) + "\r\n");
        terminal.feed("\x1b[2J\x1b[Htop\r\nnext");
        terminal.resize(10, 6);
        QCOMPARE(screenText(terminal), (QStringList{QStringLiteral("top"), QStringLiteral("next")})); // cleared stays cleared
        terminal.feed("!\x1b[1;4H?");
        QCOMPARE(screenText(terminal), (QStringList{QStringLiteral("top?"), QStringLiteral("next!")}));
        terminal.feed("\x1b[?1049hfull screen program");
        terminal.resize(8, 6);
        terminal.resize(20, 6);
        terminal.feed("\x1b[?1049l");
        QCOMPARE(screenText(terminal), (QStringList{QStringLiteral("top?"), QStringLiteral("next!")}));
    }

    void widthOfAFullRing()
    {
        Terminal terminal(8, 4, {.scrollback = 20});
        for (int i = 0; i < 200; ++i)
            terminal.feed("abcdefghijkl" + QByteArray::number(i) + "\r\n");
        for (const int columns : {3, 50, 4, 9}) {
            terminal.resize(columns, 4);
            const TermSnapshot all = terminal.snapshot(0, 100000);
            QVERIFY(all.rows.size() <= 24);
            QVERIFY(all.cursorRow >= all.endRow - 4 && all.cursorRow < all.endRow);
            QVERIFY(all.cursorColumn >= 0 && all.cursorColumn < columns);
            for (const TermRow &row : all.rows)
                QVERIFY(int(row.cells.size()) <= columns);
        }
        QVERIFY(terminal.textBetween(0, 0, terminal.endRow(), 0).contains(QStringLiteral("abcdefghijkl199")));
    }

    void selectionJoinsWrappedRows()
    {
        Terminal terminal(10, 4);
        terminal.feed("0123456789abc\r\nnext");
        QCOMPARE(terminal.textBetween(0, 2, 2, 4), QStringLiteral("23456789abc\nnext"));
    }

    void keysFollowTheModes()
    {
        Terminal terminal(10, 4);
        QCOMPARE(terminal.encodeKey(Qt::Key_Up, Qt::NoModifier), QByteArray("\x1b[A"));
        terminal.feed("\x1b[?1h");
        QCOMPARE(terminal.encodeKey(Qt::Key_Up, Qt::NoModifier), QByteArray("\x1bOA"));
        QCOMPARE(terminal.encodeText(QStringLiteral("c"), Qt::ControlModifier), QByteArray("\x03"));
        terminal.feed("\x1b[?2004h");
        QCOMPARE(terminal.encodePaste(QStringLiteral("a\x1b[201~b\n")), QByteArray("\x1b[200~a[201~b\r\x1b[201~"));
    }

    void findsText()
    {
        Terminal terminal(20, 4);
        for (int i = 0; i < 50; ++i)
            terminal.feed("line " + QByteArray::number(i) + "\r\n");
        const auto match = terminal.find(QStringLiteral("LINE 17"), 0, false, false);
        QVERIFY(match);
        QCOMPARE(match->row, 17);
        QVERIFY(!terminal.find(QStringLiteral("LINE 17"), 0, false, true));
    }

    void colours()
    {
        Terminal terminal(20, 4);
        terminal.feed("\x1b[1;31mred\x1b[0m \x1b[38;2;1;2;3mrgb\x1b[48;5;200mbg");
        const TermSnapshot s = terminal.screen();
        const CellStyle red = s.styles[s.rows[0].cells[0].style];
        QVERIFY(red.bold);
        QCOMPARE(int(red.foreground.index), 1);
        const CellStyle rgb = s.styles[s.rows[0].cells[4].style];
        QCOMPARE(rgb.foreground.kind, TermColor::Kind::Rgb);
        QCOMPARE(int(rgb.foreground.b), 3);
        QCOMPARE(int(s.styles[s.rows[0].cells[7].style].background.index), 200);
    }
};

} // namespace tst_terminal

PADDOCK_TEST(tst_terminal, TerminalTest)
#include "tst_terminal.moc"
