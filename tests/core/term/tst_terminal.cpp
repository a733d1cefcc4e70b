// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/term/terminal.h"

#include <QTest>

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

QTEST_GUILESS_MAIN(TerminalTest)
#include "tst_terminal.moc"
