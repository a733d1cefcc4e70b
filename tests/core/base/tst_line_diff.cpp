// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/base/line_diff.h"
#include "tests/support/test_main.h"

#include <QRandomGenerator>
#include <QTest>

namespace tst_line_diff {

using namespace paddock;

namespace {

/// Applies a comparison to `before`: must give `after`, whatever path was chosen.
QString rebuilt(const std::vector<QStringView> &before, const std::vector<QStringView> &after, const std::vector<DiffRun> &runs)
{
    QStringList out;
    int x = 0, y = 0;
    for (const DiffRun &run : runs) {
        if (run.before != x || run.after != y)
            return QStringLiteral("a run starts at %1,%2 instead of %3,%4").arg(run.before).arg(run.after).arg(x).arg(y);
        for (int i = 0; i < run.count; ++i) {
            if (run.kind != DiffRun::Kind::Added)
                ++x;
            if (run.kind != DiffRun::Kind::Removed)
                out.append(after[std::size_t(y++)].toString());
            if (run.kind == DiffRun::Kind::Same && before[std::size_t(x - 1)] != after[std::size_t(y - 1)])
                return QStringLiteral("unequal lines called the same");
        }
    }
    return x == int(before.size()) && y == int(after.size()) ? out.join(QLatin1Char('\n')) : QStringLiteral("incomplete");
}

} // namespace

class LineDiffTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void counts_data()
    {
        QTest::addColumn<QString>("before");
        QTest::addColumn<QString>("after");
        QTest::addColumn<int>("added");
        QTest::addColumn<int>("removed");
        QTest::newRow("equal") << QStringLiteral("a\nb\n") << QStringLiteral("a\nb\n") << 0 << 0;
        QTest::newRow("empty to text") << QString() << QStringLiteral("a\nb") << 2 << 0;
        QTest::newRow("text to empty") << QStringLiteral("a\nb") << QString() << 0 << 2;
        QTest::newRow("one line edited") << QStringLiteral("a\nb\nc\n") << QStringLiteral("a\nB\nc\n") << 1 << 1;
        QTest::newRow("insert") << QStringLiteral("a\nc\n") << QStringLiteral("a\nb\nc\n") << 1 << 0;
        QTest::newRow("the classic") << QStringLiteral("a\nb\nc\na\nb\nb\na") << QStringLiteral("c\nb\na\nb\na\nc") << 2 << 3;
    }
    void counts()
    {
        QFETCH(QString, before);
        QFETCH(QString, after);
        const LineCounts c = countChanges(before, after);
        QTEST(c.added, "added");
        QTEST(c.removed, "removed");
    }

    void anyPairRebuilds()
    {
        QRandomGenerator random(20261202);
        for (int round = 0; round < 2000; ++round) {
            QString texts[2];
            for (QString &text : texts) {
                const int lines = int(random.bounded(12));
                for (int i = 0; i < lines; ++i)
                    text += QChar(u'a' + random.bounded(4)) + QStringLiteral("\n");
            }
            const auto before = splitLines(texts[0]);
            const auto after = splitLines(texts[1]);
            QString expected = texts[1];
            if (expected.endsWith(u'\n'))
                expected.chop(1);
            for (const int giveUp : {2000, 3})
                QCOMPARE(rebuilt(before, after, diffLines(before, after, giveUp)), expected);
        }
    }
};

} // namespace tst_line_diff

PADDOCK_TEST(tst_line_diff, LineDiffTest)
#include "tst_line_diff.moc"
