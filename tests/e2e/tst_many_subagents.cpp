// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// Twenty subagents in one sandbox at once. Each has a shell of its own in a world that all share: files and processes are
// seen by all, working directories, variables and jobs by nobody else.

#include "tests/support/paddock_program.h"
#include "tests/support/test_main.h"

#include <QRegularExpression>
#include <QSet>
#include <QTest>

namespace tst_many_subagents {

using namespace paddock;
using namespace paddock::test;

namespace {

constexpr int agents = 20;

QString text(const char *utf8)
{
    return QString::fromUtf8(utf8);
}

/// Waits until all twenty are here, so that every check is made while all shells live.
QString meet(const char *where)
{
    return QStringLiteral("touch /tmp/%1-$ME; until [ $(ls /tmp/%1-* | wc -l) -eq %2 ]; do sleep 0.05; done; ").arg(text(where)).arg(agents);
}

/// One subagent: moves somewhere, exports, starts a job; when all have, looks for the others in its own shell.
Json subagent(int number)
{
    const QString me = QStringLiteral("agent%1x").arg(number);
    const auto turn = [](const QString &expected, const Json &call) {
        Json t{{"calls", Json::array({call})}};
        if (!expected.isEmpty())
            t["expect"] = Json{{"last_message", toUtf8(expected)}};
        return t;
    };
    const QString setUp = QStringLiteral("export ME=%1 ONLY_%1=1; mkdir /tmp/home-$ME; cd /tmp/home-$ME; (exec -a job-$ME sleep 600) & ").arg(me)
        + meet("ready") + text("echo here=$PWD");
    const QString look = text(
        "echo from=$OLDPWD me=$ME only=$(compgen -e | grep -c ^ONLY_) jobs=$(jobs -p | wc -l) mine=$(ps -o args= -p $(jobs -p)) seen=$(ls -d /tmp/home-* | wc -l) all=$(pgrep -fc '^job-agent')");
    const QString write = text("printf '%s\\n' \"$ME\" > /mnt/user-data/outputs/$ME.txt; ") + meet("done") + text("kill %1; wait 2>/dev/null; echo left=$(jobs -p | wc -l)");
    Json turns = Json::array();
    turns.push_back(turn({}, bashCall(text("a"), setUp)));
    turns.push_back(turn(QStringLiteral("here=/tmp/home-%1").arg(me), bashCall(text("b"), look)));
    turns.push_back(turn(QStringLiteral("from=/tmp/home-%1 me=%1 only=1 jobs=1 mine=job-%1 600 seen=%2 all=%2").arg(me).arg(agents), bashCall(text("c"), write)));
    Json last{{"say", toUtf8(me + text(" kept to itself"))}};
    last["expect"] = Json{{"last_message", "left=0"}};
    turns.push_back(last);
    return Json{{"match", Json{{"type", "general-purpose"}, {"prompt", toUtf8(QStringLiteral("^%1$").arg(me))}}}, {"turns", turns}};
}

Json scenario()
{
    Json calls = Json::array();
    QString said;
    for (int i = 1; i <= agents; ++i) {
        const QString id = QStringLiteral("t%1").arg(i);
        calls.push_back(Json{{"tool", "task"}, {"id", toUtf8(id)},
                             {"args", Json{{"description", toUtf8(id)}, {"prompt", toUtf8(QStringLiteral("agent%1x").arg(i))}, {"subagent_type", "general-purpose"}}}});
        said += QStringLiteral("${result.%1}\n").arg(id);
    }
    Json turns = Json::array();
    turns.push_back(Json{{"calls", Json::array({bashCall(text("mine"), text("export ONLY_lead=1; cd /tmp; sleep 600 & echo lead"))})}});
    turns.push_back(Json{{"calls", calls}});
    turns.push_back(Json{{"calls", Json::array({bashCall(text("still"), text("echo from=$OLDPWD only=$(compgen -e | grep -c ^ONLY_) jobs=$(jobs -p | wc -l); kill %1"))})}});
    turns.push_back(Json{{"expect", Json{{"tool_result", Json{{"still", "from=/tmp only=1 jobs=1"}}}}}, {"say", toUtf8(said)}});
    Json all = Json::array({Json{{"match", Json{{"agent", "lead"}}}, {"turns", turns}}});
    for (int i = 1; i <= agents; ++i)
        all.push_back(subagent(i));
    return Json{{"scenario", 1}, {"name", "twenty"}, {"task", "twenty"}, {"agents", all}};
}

} // namespace

class ManySubagentsTest : public QObject
{
    Q_OBJECT

private:
    static QStringList namesOf(const std::vector<Json> &events, const char *key)
    {
        QSet<QString> names;
        for (const Json &e : events)
            names.insert(stringOf(e, key));
        QStringList sorted(names.begin(), names.end());
        sorted.sort();
        return sorted;
    }

private Q_SLOTS:
    void initTestCase()
    {
        if (const QString problem = PaddockProgram::isolationProblem(); !problem.isEmpty())
            QSKIP(qPrintable(problem));
    }

    void twentySubagentsDoNotCross_data()
    {
        QTest::addColumn<QByteArray>("config");
        QTest::addColumn<QStringList>("options");
        QTest::newRow("by configuration") << QByteArray("subagent_runtime: {max_running: 20}\n") << QStringList();
        QTest::newRow("by option") << QByteArray("log_level: info\n") << QStringList{text("--max-running"), text("20")};
    }
    void twentySubagentsDoNotCross()
    {
        QFETCH(QByteArray, config);
        QFETCH(QStringList, options);
        PaddockProgram program;
        const QString file = program.file(text("config.yaml"), config);
        const Outcome o = program.run(program.runArguments(program.scenario(scenario()), QStringList{text("--config"), file} + options));
        QVERIFY2(o.exitCode == 0, o.err.right(3000).constData());

        int held = 0, mostHeld = 0, last = 0;
        qint64 lastSeq = 0;
        for (const Json &e : o.events) {
            const QString type = stringOf(e, "type");
            if (type == u"lease.acquired")
                mostHeld = std::max(mostHeld, ++held);
            if (type != u"lease.released")
                continue;
            --held;
            if (boolOf(e, "last")) {
                ++last;
                lastSeq = intOf(e, "seq");
            }
        }
        QCOMPARE(namesOf(o.ofType("lease.acquired"), "owner").size(), agents + 1);
        QCOMPARE(mostHeld, agents + 1);
        QCOMPARE(held, 0);
        QCOMPARE(last, 1);
        QCOMPARE(int(o.ofType("sandbox.acquired").size()), 1);
        QCOMPARE(int(o.ofType("sandbox.released").size()), 1);
        QVERIFY(intOf(o.last("sandbox.released"), "seq") > lastSeq);
        QVERIFY(o.ofType("sandbox.failed").empty());

        const auto created = o.ofType("shell.session_created");
        const QStringList sessions = namesOf(created, "session");
        const QRegularExpression uuid(text("^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$"));
        for (const QString &session : sessions)
            QVERIFY2(uuid.match(session).hasMatch(), qPrintable(session));
        QCOMPARE(int(created.size()), agents + 1);
        QCOMPARE(sessions.size(), agents + 1);
        QCOMPARE(namesOf(o.ofType("shell.session_closed"), "session"), sessions);
        QVERIFY(o.ofType("shell.session_lost").empty());

        for (const Json &e : o.ofType("tool.finished"))
            QVERIFY2(stringOf(e, "status") == u"success", dumpJson(e).constData());
        QSet<QString> writers;
        for (const Json &e : o.ofType("file.changed")) {
            if (stringOf(e, "path").startsWith(u"/mnt/user-data/outputs/agent"))
                writers.insert(stringOf(e, "path"));
        }
        QCOMPARE(writers.size(), agents);
        const QString answer = stringOf(o.last("run.finished"), "answer");
        for (int i = 1; i <= agents; ++i)
            QVERIFY2(answer.contains(QStringLiteral("agent%1x kept to itself").arg(i)), qPrintable(answer));
        QCOMPARE(program.leftovers().join(QLatin1Char('\n')), QString());
    }

    // Delegations of a script are its author's; only a limit that the configuration names cuts them.
    void onlyConfiguredLimitsCutDelegations_data()
    {
        QTest::addColumn<QByteArray>("config");
        QTest::addColumn<int>("expected");
        QTest::newRow("nothing configured") << QByteArray("subagent_runtime: {max_running: 1}\n") << 4;
        QTest::newRow("configured") << QByteArray("subagents: {max_concurrent: 2}\n") << 2;
        QTest::newRow("not more than may run") << QByteArray("subagent_runtime: {max_running: 1}\nsubagents: {max_concurrent: 3}\n") << 1;
    }
    void onlyConfiguredLimitsCutDelegations()
    {
        QFETCH(QByteArray, config);
        QFETCH(int, expected);
        Json calls = Json::array();
        for (int i = 1; i <= 4; ++i)
            calls.push_back(Json{{"tool", "task"}, {"args", Json{{"description", "d"}, {"prompt", "p"}, {"subagent_type", "general-purpose"}}}});
        const Json lead = Json::array({Json{{"calls", calls}}, Json{{"say", "done"}}});
        const Json agents = Json::array({Json{{"match", Json{{"agent", "lead"}}}, {"turns", lead}},
                                         Json{{"match", Json{{"type", "general-purpose"}}}, {"turns", Json::array({Json{{"say", "fine"}}})}}});
        PaddockProgram program;
        const QString scenario = program.scenario(Json{{"scenario", 1}, {"name", "four"}, {"task", "four"}, {"agents", agents}});
        const Outcome o = program.run(program.runArguments(scenario, {text("--config"), program.file(text("config.yaml"), config)}));
        QVERIFY2(o.exitCode == 0, o.err.right(3000).constData());
        QCOMPARE(int(o.ofType("agent.started").size()), expected + 1);
        QCOMPARE(program.leftovers().join(QLatin1Char('\n')), QString());
    }
};

} // namespace tst_many_subagents

PADDOCK_TEST(tst_many_subagents, ManySubagentsTest)
#include "tst_many_subagents.moc"
