// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/message/message_list.h"
#include "core/message/state.h"
#include "tests/support/test_main.h"

#include <QSet>
#include <QTest>

#include <random>

namespace tst_message_list {

using namespace paddock;

namespace {

MessagePtr message(const QString &text, const QString &id = {})
{
    return edited(humanMessage(text), [&id](Message &m) { m.id = id; });
}

MessagePtr numbered(int n)
{
    return message(QStringLiteral("m%1").arg(n), QString::number(n));
}

MessageList numberedList(int n)
{
    std::vector<MessagePtr> all;
    for (int i = 0; i < n; ++i)
        all.push_back(numbered(i));
    return MessageList(all);
}

/// "+2 -0 ~1>1 ^3>0": added at, removed from, edited, moved.
QString shown(const ListDiff &diff)
{
    QStringList parts;
    for (const auto &e : diff.entries) {
        switch (e.kind) {
        case ListDiff::Entry::Kind::Added: parts += QStringLiteral("+%1").arg(e.after); break;
        case ListDiff::Entry::Kind::Removed: parts += QStringLiteral("-%1").arg(e.before); break;
        case ListDiff::Entry::Kind::Edited: parts += QStringLiteral("~%1>%2").arg(e.before).arg(e.after); break;
        case ListDiff::Entry::Kind::Moved: parts += QStringLiteral("^%1>%2").arg(e.before).arg(e.after); break;
        }
    }
    return parts.join(QLatin1Char(' '));
}

} // namespace

class TestMessageList : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    /// Random edits against a plain vector, with old copies kept: they must never change.
    void behavesLikeAVector_data()
    {
        QTest::addColumn<int>("seed");
        for (int seed = 1; seed <= 8; ++seed)
            QTest::addRow("seed %d", seed) << seed;
    }
    void behavesLikeAVector()
    {
        QFETCH(int, seed);
        std::mt19937 random{std::mt19937::result_type(seed)};
        std::vector<MessagePtr> model;
        MessageList list;
        std::vector<std::pair<MessageList, std::vector<MessagePtr>>> snapshots;
        for (int step = 0; step < 1500; ++step) {
            const auto at = model.empty() ? 0 : qsizetype(random() % model.size());
            switch (random() % 8) {
            case 0:
                if (!model.empty()) {
                    model.erase(model.begin() + at);
                    list.remove(at);
                }
                break;
            case 1:
                if (!model.empty()) {
                    model[std::size_t(at)] = numbered(step);
                    list.replace(at, model[std::size_t(at)]);
                }
                break;
            case 2:
            case 3:
                model.insert(model.begin() + at, numbered(step));
                list.insert(at, model[std::size_t(at)]);
                break;
            default:
                model.push_back(numbered(step));
                list.append(model.back());
            }
            if (step % 200 == 0)
                snapshots.emplace_back(list, model);
            QCOMPARE(list.size(), qsizetype(model.size()));
        }
        QVERIFY(list.toVector() == model);
        qsizetype i = 0;
        for (const MessagePtr &m : list)
            QVERIFY(m == model[std::size_t(i++)]);
        for (const auto &[old, was] : snapshots)
            QVERIFY(old.toVector() == was);
    }

    void sharesStructure()
    {
        const MessageList list = numberedList(500);
        MessageList copy = list;
        QVERIFY(copy.isSameAs(list));
        copy.replace(3, list.at(3)); // the same message: nothing changes
        QVERIFY(copy.isSameAs(list));
        copy.append(numbered(900));
        QVERIFY(!copy.isSameAs(list));
        QCOMPARE(list.size(), 500);
        MessageList equal = numberedList(500);
        QVERIFY(!equal.isSameAs(list));
        QVERIFY(equal == list);
        QVERIFY(!(copy == list));
        QVERIFY(MessageList() == MessageList());
        MessageList emptied = numberedList(1);
        emptied.remove(0);
        QVERIFY(emptied.isSameAs(MessageList()));
    }

    void diffs_data()
    {
        QTest::addColumn<QStringList>("before"); // "id:text"; no id before the colon: none
        QTest::addColumn<QStringList>("after");
        QTest::addColumn<QString>("expected");
        const auto row = [](const char *name, const char *before, const char *after, const char *expected) {
            QTest::newRow(name) << QString::fromLatin1(before).split(QLatin1Char(' '), Qt::SkipEmptyParts)
                                << QString::fromLatin1(after).split(QLatin1Char(' '), Qt::SkipEmptyParts) << QString::fromLatin1(expected);
        };
        row("same", "1:a 2:b", "1:a 2:b", "");
        row("append", "1:a", "1:a 2:b 3:c", "+1 +2");
        row("prepend", "1:a", "0:x 1:a", "+0");
        row("middle", "1:a 2:b", "1:a 5:x 2:b", "+1");
        row("remove", "1:a 2:b 3:c", "1:a 3:c", "-1");
        row("remove all", "1:a 2:b", "", "-0 -1");
        row("edit", "1:a 2:b 3:c", "1:a 2:B 3:c", "~1>1");
        row("edit and append", "1:a 2:b", "1:A 2:b 3:c", "~0>0 +2");
        row("replace by another", "1:a 2:b", "1:a 9:b", "+1 -1");
        row("moved", "1:a 2:b 3:c 4:d", "4:d 1:a 2:b 3:c", "^3>0");
        row("moved and edited is an edit", "1:a 2:b 3:c", "3:C 1:a 2:b", "~2>0");
        row("without ids: inserted", ":a :b", ":x :a :b", "+0");
        row("without ids: position decides", ":a :b", ":A :b", "~0>0");
        row("without ids: equal texts", ":a :a", ":a :a :a", "+2");
        row("an id is given", ":a", "1:a", "~0>0");
    }
    void diffs()
    {
        QFETCH(QStringList, before);
        QFETCH(QStringList, after);
        const auto listOf = [](const QStringList &items) {
            MessageList list;
            for (const QString &item : items)
                list.append(message(item.section(QLatin1Char(':'), 1), item.section(QLatin1Char(':'), 0, 0)));
            return list;
        };
        const ListDiff diff = diffLists(listOf(before), listOf(after));
        QTEST(shown(diff), "expected");
    }

    /// Applying what a diff says to the old list gives the new one; counts agree.
    void diffsAreComplete()
    {
        std::mt19937 random(7);
        for (int round = 0; round < 300; ++round) {
            MessageList before;
            const int size = int(random() % 150);
            for (int i = 0; i < size; ++i)
                before.append(numbered(i));
            MessageList after = before;
            const int edits = int(random() % 6);
            for (int e = 0; e < edits; ++e) {
                const auto at = after.isEmpty() ? 0 : qsizetype(random() % std::size_t(after.size()));
                switch (after.isEmpty() ? 3 : random() % 4) {
                case 0: after.remove(at); break;
                case 1: after.replace(at, message(QStringLiteral("e%1").arg(random()), after.at(at)->id)); break;
                default: after.insert(at, numbered(1000 + round * 10 + e));
                }
            }
            const ListDiff diff = diffLists(before, after);
            QSet<qsizetype> gone;
            QHash<qsizetype, MessagePtr> placed;
            int added = 0;
            int removed = 0;
            int edited = 0;
            for (const auto &e : diff.entries) {
                added += e.kind == ListDiff::Entry::Kind::Added;
                removed += e.kind == ListDiff::Entry::Kind::Removed;
                edited += e.kind == ListDiff::Entry::Kind::Edited;
                if (e.before >= 0)
                    gone.insert(e.before);
                if (e.after >= 0)
                    placed.insert(e.after, e.is);
            }
            QCOMPARE(std::tuple(added, removed, edited), std::tuple(diff.added, diff.removed, diff.edited));
            std::vector<MessagePtr> rebuilt;
            qsizetype from = 0;
            for (qsizetype to = 0; to < after.size(); ++to) {
                if (placed.contains(to)) {
                    rebuilt.push_back(placed.value(to));
                    continue;
                }
                while (gone.contains(from))
                    ++from;
                QVERIFY(from < before.size());
                rebuilt.push_back(before.at(from++));
            }
            QVERIFY(MessageList(rebuilt) == after);
        }
    }

    void reducerGivesIdsOnBothSides()
    {
        int next = 0;
        const auto ids = [&next] { return QStringLiteral("new%1").arg(next++); };
        const MessageList old{message(QStringLiteral("a")), message(QStringLiteral("b"), QStringLiteral("2"))};
        const auto merged = reduceMessages(old, {message(QStringLiteral("c"))}, ids);
        QVERIFY(merged);
        QCOMPARE(merged->at(0)->id, QStringLiteral("new0"));
        QCOMPARE(merged->at(1)->id, QStringLiteral("2"));
        QCOMPARE(merged->at(2)->id, QStringLiteral("new1"));
        QVERIFY(old.at(0)->id.isEmpty());
        QVERIFY(!reduceMessages(old, {nullptr}));
        const MessageList complete = numberedList(3);
        QVERIFY(reduceMessages(complete, {})->isSameAs(complete)); // nothing to do copies nothing
    }

    void reducerHandlesLongUpdates() // the table and the scan agree
    {
        const MessageList old = numberedList(200);
        std::vector<MessagePtr> update;
        for (int i = 190; i < 230; ++i)
            update.push_back(message(QStringLiteral("u%1").arg(i), QString::number(i)));
        update.push_back(edited(message({}, QStringLiteral("195")), [](Message &m) { m.role = Role::Remove; }));
        update.push_back(edited(message({}, QStringLiteral("229")), [](Message &m) { m.role = Role::Remove; }));
        const auto merged = reduceMessages(old, update);
        QVERIFY(merged);
        QCOMPARE(merged->size(), 228);
        QCOMPARE(textOf(merged->at(194)), QStringLiteral("u194"));
        QCOMPARE(merged->at(195)->id, QStringLiteral("196"));
        QCOMPARE(merged->last()->id, QStringLiteral("228"));
    }

    void updateIsAllOrNothing()
    {
        AgentState state;
        state.channels["sandbox"] = Json{{"sandbox_id", "a"}};
        StateUpdate update;
        update.messages = {numbered(1)};
        update.channels["todos"] = Json::array({"x"});
        update.channels["sandbox"] = Json{{"sandbox_id", "b"}};
        const auto failed = applyUpdate(state, update);
        QVERIFY(!failed);
        QCOMPARE(failed.error().message, QStringLiteral("Conflicting sandbox state updates: 'a' != 'b'"));
        QVERIFY(state.messages.isEmpty());
        update.channels["sandbox"] = Json{{"overwrite", Json{{"sandbox_id", "b"}}}};
        const auto applied = applyUpdate(state, update);
        QVERIFY(applied);
        QCOMPARE(applied->messages.size(), 1);
        QCOMPARE(applied->channels["sandbox"]["sandbox_id"], Json("b"));
        QCOMPARE(applied->channels["todos"], Json::array({"x"}));
    }
};

} // namespace tst_message_list

PADDOCK_TEST(tst_message_list, TestMessageList)
#include "tst_message_list.moc"
