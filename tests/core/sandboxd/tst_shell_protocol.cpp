// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandboxd/shell_protocol.h"
#include "tests/support/test_main.h"

#include <QProcess>
#include <QRandomGenerator>
#include <QTest>

namespace tst_shell_protocol {

using namespace paddock::sandboxd;

class TestShellProtocol : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void completeness_data();
    void completeness();
    void wordsAreOneLine();
    void wordsComeOutOfBashAsTheyWentIn();
    void recordsInAnyPieces();
    void damagedRecordsAreRefused();
    void statesHoldNumbersOnly();
};

void TestShellProtocol::completeness_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<int>("expected"); // 1 complete, 0 incomplete, -1 unsure
    const auto row = [](const char *text, int expected) { QTest::newRow(text) << QByteArray(text) << expected; };
    row("true", 1);
    row("", 1);
    row("# only a comment", 1);
    row("echo \"a $(date +\"%H\") b\"", 1);
    row("echo 'it'\\''s'", 1);
    row("for i in 1 2; do echo $i; done", 1);
    row("if true; then echo a; elif false; then echo b; fi", 1);
    row("f() { echo x; }; f", 1);
    row("cat <<E\nline 'one\nE", 1);
    row("cat <<-'E' | wc -l\n\tx\"\n\tE\necho", 1);
    row("echo $((1 << 2))", 1);
    row("cat <<< word", 1);
    row("sleep 1 &", 1);
    row("echo a | # comment\ncat", 1);
    row("[[ -f x && ! -d y ]]", 1);
    row("echo $'a\\'b'", 1);
    row("echo a\\\nb", 1);
    row("echo \"open", 0);
    row("echo 'open", 0);
    row("echo a \\", 0);
    row("echo a |", 0);
    row("echo a &&", 0);
    row("echo a || ", 0);
    row("for x in a b", 0);
    row("for x in a b; do echo", 0);
    row("if true; then echo", 0);
    row("(echo a", 0);
    row("{ echo a", 0);
    row("f()", 0);
    row("cat <<E\nfoo", 0);
    row("cat <<E", 0);
    row("case x in", 0);
    row("echo $(date", 0);
    row("case x in a) echo;; esac", -1);
    row("echo if", 0); // a word that begins something: not complete for us, and harmless
    row("echo \"`date`\"", -1);
    row("echo )", -1);
}

void TestShellProtocol::completeness()
{
    QFETCH(QByteArray, text);
    QFETCH(int, expected);
    const auto got = paddock::sandboxd::completeness(text);
    QCOMPARE(got == Completeness::Complete ? 1 : got == Completeness::Incomplete ? 0 : -1, expected);
}

void TestShellProtocol::wordsAreOneLine()
{
    const QByteArray word = shellWord("a\nb\r'c\\d\t!\x01\x7f");
    QVERIFY(!word.contains('\n') && !word.contains('\r') && !word.contains('!'));
    QVERIFY(word.startsWith("$'") && word.endsWith('\''));
}

void TestShellProtocol::wordsComeOutOfBashAsTheyWentIn()
{
    QByteArray all;
    for (int c = 1; c < 256; ++c)
        all.append(char(c));
    QRandomGenerator random(7);
    QByteArrayList texts{all, "'\\''", "\\\\\\'", "é€😀\n\n"};
    for (int i = 0; i < 30; ++i) {
        QByteArray text;
        for (int n = random.bounded(60); n > 0; --n)
            text.append(char(random.bounded(1, 256)));
        texts << text;
    }
    for (const QByteArray &text : texts) {
        QProcess bash;
        bash.start(QStringLiteral("/bin/bash"), {QStringLiteral("-s")});
        bash.write("printf %s " + shellWord(text) + "\n");
        bash.closeWriteChannel();
        QVERIFY(bash.waitForFinished());
        QCOMPARE(bash.readAllStandardOutput().toHex(), text.toHex());
    }
}

void TestShellProtocol::recordsInAnyPieces()
{
    const QByteArray stream("I/home\0S7\0Z7\0" "1\0" "3\0" "0 3\0himxBHs\0/tmp\0L" "ls -l\0Z8\0" "130\0\0\0himBHs\0/\0", 59);
    for (qsizetype piece = 1; piece <= stream.size(); ++piece) {
        RecordReader reader;
        QList<ShellRecord> records;
        for (qsizetype at = 0; at < stream.size(); at += piece)
            records += *reader.feed(QByteArrayView(stream).sliced(at, qMin(piece, stream.size() - at)));
        QCOMPARE(records.size(), 5);
        QCOMPARE(records[0].directory, QByteArray("/home"));
        QCOMPARE(records[1].sequence, std::uint64_t(7));
        QCOMPARE(records[2].exitCode(), 3);
        QCOMPARE(records[2].state().pipeStatus, QByteArray("0 3"));
        QVERIFY(records[2].state().tracing);
        QCOMPARE(records[3].text, QByteArray("ls -l"));
        QCOMPARE(records[4].exitCode(), 130); // the capture was not reached
        QCOMPARE(records[4].state().pipeStatus, QByteArray("130"));
    }
}

void TestShellProtocol::damagedRecordsAreRefused()
{
    RecordReader reader;
    QVERIFY(!reader.feed("X\0"));
    RecordReader endless;
    QVERIFY(!endless.feed("L" + QByteArray(2 * 1024 * 1024, 'x')));
}

void TestShellProtocol::statesHoldNumbersOnly()
{
    ShellRecord record;
    record.status = 1;
    record.pipeStatus = "0; rm -rf x";
    QCOMPARE(record.state().pipeStatus, QByteArray("1"));
}

} // namespace tst_shell_protocol

PADDOCK_TEST(tst_shell_protocol, TestShellProtocol)
#include "tst_shell_protocol.moc"
