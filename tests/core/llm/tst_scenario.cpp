// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/llm/scenario.h"
#include "core/llm/scenario_text.h"
#include "tests/support/test_main.h"

#include <QDir>
#include <QFile>
#include <QTest>

namespace tst_scenario {

using namespace paddock;
using namespace std::chrono_literals;

class TestScenario : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void readsEverything();
    void complains_data();
    void complains();
    void fillsIn_data();
    void fillsIn();
    void builtInOnesAreValid_data();
    void builtInOnesAreValid();
};

// Behind the class: moc loses its way in a raw string and would not see what follows.
namespace {

const QByteArray everything = R"yaml(
scenario: 1
name: full
description: all keys
task: "Do it"
agents:
  - match: {agent: lead, prompt: "Do (it|that)"}
    turns:
      - say: "Working on ${task}"
        reasoning: "hm"
        delay: 20ms
        stream: {chunk: 4, every: 1.5s}
        usage: {input: 7, output: 9}
        finish: length
        calls:
          - {tool: bash, args: {command: "echo ${turn}", n: 3}}
          - {tool: bash, id: raw, args: '{"broken'}
        capture: {count: '(\d+)'}
        repeat: 2
      - expect:
          system: lead
          not_system: secret
          last_user: x
          last_message: y
          tool_result: {raw: z, call_2_1: "${count}"}
          tools: [bash, task]
          not_tools: ls
          messages_min: 1
          messages_max: 9
        fault: {http: 529, retry_after: 1s, times: 2}
  - match: {type: bash}
    turns:
      - fault: {drop_after: 10}
      - fault: {hang: true, drop_after: 2}
      - fault: {malformed: true}
      - fault: {reset: true}
faults:
  - {at: shell.exec, scope: "subagent:*", nth: 2, do: session_not_found}
  - {at: shell.exec, scope: lead, do: error_observation}
  - {at: provider.release, do: {fail: "backend gone"}}
  - {at: shell.exec, nth: 5, do: {latency: 2s}}
cancel: {at: tool.started, agent: "subagent:*", type: bash, nth: 2, scope: agent}
)yaml";

} // namespace

void TestScenario::readsEverything()
{
    const auto parsed = parseScenario(everything, QStringLiteral("full.yaml"));
    QVERIFY2(parsed, parsed ? "" : qPrintable(parsed.error().message));
    const Scenario &s = **parsed;
    QCOMPARE(s.name, QStringLiteral("full"));
    QCOMPARE(s.task, QStringLiteral("Do it"));
    QCOMPARE(s.agents.size(), 2u);
    QCOMPARE(s.agents[0].turns.size(), 3u);
    QCOMPARE(s.agents[0].turns[0], s.agents[0].turns[1]); // repeat
    const ScenarioTurn &turn = *s.agents[0].turns[0];
    QCOMPARE(turn.delay, 20ms);
    QCOMPARE(turn.every, 1500ms);
    QCOMPARE(turn.chunk, 4);
    QCOMPARE(*turn.usageInput, 7);
    QCOMPARE(turn.calls.size(), 2u);
    QCOMPARE(turn.calls[0].args["n"].get<int>(), 3);
    QCOMPARE(*turn.calls[1].rawArgs, QStringLiteral("{\"broken"));
    const ScenarioTurn &second = *s.agents[0].turns[2];
    QCOMPARE(second.expect.toolResults.size(), 2u);
    QCOMPARE(second.expect.notTools, QStringList{QStringLiteral("ls")});
    QCOMPARE(second.fault->kind, ScenarioFault::Kind::Http);
    QCOMPARE(*second.fault->retryAfter, 1000ms);
    QCOMPARE(second.fault->times, 2);
    QCOMPARE(s.agents[1].turns[1]->fault->kind, ScenarioFault::Kind::Hang);
    QCOMPARE(*s.agents[1].turns[1]->fault->afterChunks, 2);
    QCOMPARE(s.faults.size(), 4u);
    QCOMPARE(s.faults[2].message, QStringLiteral("backend gone"));
    QCOMPARE(s.faults[3].delay, 2000ms);
    QVERIFY(s.cancel && !s.cancel->wholeRun);
    QCOMPARE(s.cancel->nth, 2);
}

void TestScenario::complains_data()
{
    QTest::addColumn<QByteArray>("yaml");
    QTest::addColumn<QString>("place");
    QTest::addColumn<QString>("says");
    const QByteArray head = "scenario: 1\nagents:\n  - match: {agent: lead}\n    turns:\n";
    const auto row = [](const char *name, const QByteArray &yaml, const char *place, const char *says) {
        QTest::newRow(name) << yaml << QString::fromLatin1(place) << QString::fromLatin1(says);
    };
    row("empty", "", "", "the file is empty");
    row("no version", "name: x\nagents: []\n", "x.yaml:1:1", "format version");
    row("other version", "scenario: 2\nshiny: true\n", "x.yaml:1:11", "'2' is not supported");
    row("version in quotes", "scenario: '1'\n", "x.yaml:1:11", "the number 1, without quotes");
    row("version as text", "scenario: one\n", "x.yaml:1:11", "not supported");
    row("no agents", "scenario: 1\n", "x.yaml:1:1", "'agents' is missing");
    row("unknown top key", "scenario: 1\nagnets: []\n", "x.yaml:2:1", "unknown key 'agnets'");
    row("unknown turn key", head + "      - sya: hello\n", "x.yaml:5:9", "unknown key 'sya'");
    row("unknown match key", "scenario: 1\nagents:\n  - match: {agnt: lead}\n    turns: []\n", "x.yaml:3:13", "unknown key 'agnt'");
    row("no turns", "scenario: 1\nagents:\n  - match: {agent: lead}\n", "x.yaml:3:5", "'turns' is missing");
    row("bad regex", head + "      - expect: {system: \"a(\"}\n", "x.yaml:5:26", "no regular expression");
    row("bad prompt regex", "scenario: 1\nagents:\n  - match: {prompt: \"[\"}\n    turns: []\n", "x.yaml:3:21", "no regular expression");
    row("bad capture regex", head + "      - calls: [{tool: x}]\n        capture: {a: \"*\"}\n", "x.yaml:6:22", "no regular expression");
    row("call without tool", head + "      - calls: [{id: a}]\n", "x.yaml:5:17", "'tool' is missing");
    row("same id twice", head + "      - calls: [{tool: x, id: a}, {tool: x, id: a}]\n", "x.yaml:5:9", "the id 'a'");
    row("unknown result", head + "      - say: \"${result.a}\"\n", "x.yaml:5:14", "${result.a}");
    row("result of the same turn", head + "      - say: \"${result.a}\"\n        calls: [{tool: x, id: a}]\n", "x.yaml:5:14", "${result.a}");
    row("unknown expected result", head + "      - expect: {tool_result: {nope: x}}\n", "x.yaml:5:32", "id 'nope'");
    row("unknown capture", head + "      - say: \"${total}\"\n", "x.yaml:5:14", "${total}");
    row("capture without calls", head + "      - capture: {a: b}\n", "x.yaml:5:18", "capture needs calls");
    row("reference in args", head + "      - calls: [{tool: x, args: {c: \"${later}\"}}]\n", "x.yaml:5:33", "${later}");
    row("bad duration", head + "      - delay: soon\n", "x.yaml:5:16", "a time like");
    row("bad repeat", head + "      - repeat: 0\n", "x.yaml:5:17", "whole number");
    row("bad chunk", head + "      - stream: {chunk: many}\n", "x.yaml:5:25", "whole number");
    row("args as list", head + "      - calls: [{tool: x, args: [1]}]\n", "x.yaml:5:33", "args must be a mapping");
    row("two faults", head + "      - fault: {hang: true, reset: true}\n", "x.yaml:5:16", "a fault is one of");
    row("no fault", head + "      - fault: {times: 2}\n", "x.yaml:5:16", "a fault is one of");
    row("bad status", head + "      - fault: {http: 200}\n", "x.yaml:5:23", "400 to 599");
    row("retry after without http", head + "      - fault: {hang: true, retry_after: 1s}\n", "x.yaml:5:42", "http only");
    row("bad place", head + "      - say: x\nfaults:\n  - {at: shell.exce, do: session_not_found}\n", "x.yaml:7:10", "no place for a fault");
    row("bad action", head + "      - say: x\nfaults:\n  - {at: shell.exec, do: explode}\n", "x.yaml:7:26", "unknown fault 'explode'");
    row("misplaced action", head + "      - say: x\nfaults:\n  - {at: file.op, do: session_not_found}\n", "x.yaml:7:23", "shell.exec only");
    row("cancel without when", head + "      - say: x\ncancel: {nth: 2}\n", "x.yaml:6:9", "one of 'after' and 'at'");
    row("cancel with both", head + "      - say: x\ncancel: {after: 1s, at: tool.started}\n", "x.yaml:6:9", "one of 'after' and 'at'");
    row("cancel agent after", head + "      - say: x\ncancel: {after: 1s, scope: agent}\n", "x.yaml:6:9", "needs 'at'");
    row("cancel scope", head + "      - say: x\ncancel: {after: 1s, scope: all}\n", "x.yaml:6:28", "run or agent");
    row("no yaml", "scenario: [1\n", "x.yaml:", "");
    row("duplicate key", "scenario: 1\nscenario: 1\n", "x.yaml:2:1", "twice");
}

void TestScenario::complains()
{
    QFETCH(QByteArray, yaml);
    QFETCH(QString, place);
    QFETCH(QString, says);
    const auto parsed = parseScenario(yaml, QStringLiteral("x.yaml"));
    QVERIFY(!parsed);
    const QString message = parsed.error().message;
    QVERIFY2(message.startsWith(place), qPrintable(message));
    QVERIFY2(message.contains(says), qPrintable(message));
}

void TestScenario::fillsIn_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("filled");
    QTest::newRow("plain") << "abc" << "abc";
    QTest::newRow("one") << "<${a}>" << "<A>";
    QTest::newRow("two") << "${a}${b}" << "AB";
    QTest::newRow("unknown stays") << "${x}" << "${x}";
    QTest::newRow("literal") << "$${a}" << "${a}";
    QTest::newRow("literal and real") << "$${${a}}" << "${A}";
    QTest::newRow("shell variable") << "echo $HOME $1 $$" << "echo $HOME $1 $$";
    QTest::newRow("unclosed") << "${a" << "${a";
    QTest::newRow("at the end") << "a$" << "a$";
    QTest::newRow("value is not filled in again") << "${loop}" << "${loop}";
}

void TestScenario::fillsIn()
{
    QFETCH(QString, text);
    QFETCH(QString, filled);
    QCOMPARE(fillIn(text, [](const QString &name) -> std::optional<QString> {
                 if (name == u"a")
                     return QStringLiteral("A");
                 if (name == u"b")
                     return QStringLiteral("B");
                 if (name == u"loop")
                     return QStringLiteral("${loop}");
                 return std::nullopt;
             }),
             filled);
}

void TestScenario::builtInOnesAreValid_data()
{
    QTest::addColumn<QString>("path");
    const QDir dir(QStringLiteral(PADDOCK_SOURCE_DIR) + QStringLiteral("/resources/scenarios"));
    const QStringList files = dir.entryList({QStringLiteral("*.yaml")}, QDir::Files);
    QVERIFY(!files.isEmpty());
    for (const QString &file : files)
        QTest::newRow(qPrintable(file)) << dir.filePath(file);
}

void TestScenario::builtInOnesAreValid()
{
    QFETCH(QString, path);
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadOnly));
    const auto parsed = parseScenario(file.readAll(), path);
    QVERIFY2(parsed, parsed ? "" : qPrintable(parsed.error().message));
    QVERIFY(!(*parsed)->description.isEmpty());
    QVERIFY(!(*parsed)->task.isEmpty());
}

} // namespace tst_scenario

PADDOCK_TEST(tst_scenario, TestScenario)
#include "tst_scenario.moc"
