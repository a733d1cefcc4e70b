// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/base/nearest.h"
#include "tests/support/test_main.h"

#include <QTest>

namespace tst_nearest {

using namespace paddock;

class NearestTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void findsWhatWasMeant_data()
    {
        QTest::addColumn<QString>("word");
        QTest::addColumn<QString>("meant");
        QTest::newRow("the word itself") << QStringLiteral("workspace") << QStringLiteral("workspace");
        QTest::newRow("a letter less") << QStringLiteral("worspace") << QStringLiteral("workspace");
        QTest::newRow("a letter more") << QStringLiteral("mmodel") << QStringLiteral("model");
        QTest::newRow("two swapped") << QStringLiteral("mdoel") << QStringLiteral("model");
        QTest::newRow("the first of two as near") << QStringLiteral("mode") << QStringLiteral("model");
        QTest::newRow("three edits") << QStringLiteral("wrkspc") << QStringLiteral("workspace");
        QTest::newRow("too far") << QStringLiteral("frobnicate") << QString();
        QTest::newRow("a short word is not everything") << QStringLiteral("w") << QString();
        QTest::newRow("nothing") << QString() << QString();
        QTest::newRow("endless") << QString(1'000'000, QLatin1Char('w')) << QString();
    }
    void findsWhatWasMeant()
    {
        QFETCH(QString, word);
        QFETCH(QString, meant);
        QCOMPARE(nearestWord(word, {QStringLiteral("workspace"), QStringLiteral("model"), QStringLiteral("node"), QStringLiteral("a")}), meant);
    }
};

} // namespace tst_nearest

PADDOCK_TEST(tst_nearest, NearestTest)
#include "tst_nearest.moc"
