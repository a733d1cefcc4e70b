// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/base/name_search.h"
#include "tests/support/test_main.h"

#include <QElapsedTimer>
#include <QTest>

namespace tst_name_search {

using namespace paddock;

namespace {

QString utf8(const char *text)
{
    return QString::fromUtf8(text);
}

QStringList found(const std::vector<NamedText> &entries, const QString &query)
{
    QStringList names;
    for (const std::size_t index : searchNames(entries, query))
        names.append(entries[index].name);
    return names;
}

} // namespace

class TestNameSearch : public QObject
{
    Q_OBJECT

    const std::vector<NamedText> m_tools{{utf8("mail_send"), utf8("Send a letter")},
                                         {utf8("mail_list"), utf8("List letters, list folders")},
                                         {utf8("web_get"), utf8("Get a page (plain)")},
                                         {utf8("größe"), utf8("Maß")}};

private Q_SLOTS:
    void finds_data()
    {
        QTest::addColumn<QString>("query");
        QTest::addColumn<QStringList>("names");
        QTest::newRow("exact, in order of the list") << utf8("select: web_get ,mail_send") << QStringList{utf8("mail_send"), utf8("web_get")};
        QTest::newRow("exact means exact") << utf8("select:mail") << QStringList();
        QTest::newRow("name before description") << utf8("list|letter") << QStringList{utf8("mail_list"), utf8("mail_send")};
        QTest::newRow("a part, ordered by hits") << utf8("+mail list") << QStringList{utf8("mail_list"), utf8("mail_send")};
        QTest::newRow("a part that must be there") << utf8("+web letter") << QStringList{utf8("web_get")};
        QTest::newRow("only a plus") << utf8("  +  ") << QStringList();
        QTest::newRow("no expression: as text") << utf8("page (") << QStringList{utf8("web_get")};
        QTest::newRow("a verb of the engine: as text") << utf8("(*COMMIT)mail") << QStringList();
        QTest::newRow("an escaped bracket is no verb") << utf8("page \\(*plain") << QStringList{utf8("web_get")};
        QTest::newRow("letters of any script") << utf8("GRÖ\\w+") << QStringList{utf8("größe")};
        QTest::newRow("blank") << utf8(" \n ") << QStringList();
    }
    void finds()
    {
        QFETCH(QString, query);
        QFETCH(QStringList, names);
        QCOMPARE(found(m_tools, query), names);
    }

    void boundsItsWork_data()
    {
        QTest::addColumn<QString>("query");
        QTest::newRow("backtracking") << utf8("(a+)+$");
        QTest::newRow("backtracking, ranked") << utf8("+t (a+)+$");
        QTest::newRow("with a limit of its own") << utf8("(*LIMIT_MATCH=4000000000)(a+)+$");
        QTest::newRow("recursion") << utf8("(?R)a|(?R)b");
        QTest::newRow("nested groups") << QString(5000, u'(') + QString(5000, u')');
        QTest::newRow("endless text") << QString(2'000'000, u'a');
        QTest::newRow("endless list") << utf8("select:") + QString(1'000'000, u',');
    }
    void boundsItsWork()
    {
        QFETCH(QString, query);
        std::vector<NamedText> tools;
        for (int i = 0; i < 20; ++i)
            tools.push_back({QStringLiteral("t%1").arg(i), QString(100'000, u'a') + u'!'});
        QElapsedTimer timer;
        timer.start();
        QVERIFY(found(tools, query).size() <= 5);
        QVERIFY2(timer.elapsed() < 20'000, "a query must not take so long");
    }
};

} // namespace tst_name_search

PADDOCK_TEST(tst_name_search, TestNameSearch)
#include "tst_name_search.moc"
