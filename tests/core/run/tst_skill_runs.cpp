// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// Skills of the configuration in whole runs: prompt, slash command, policy, and the copies that agents read.
#include "core/run/skill_wiring.h"
#include "tests/core/run/run_probe.h"
#include "tests/support/test_main.h"

#include <QTemporaryDir>
#include <QTest>

namespace tst_skill_runs {

using namespace paddock;
using namespace paddock::test;

namespace {

QString utf8(const char *text)
{
    return QString::fromUtf8(text);
}

} // namespace

class TestSkillRuns : public QObject
{
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_dir;

    QString at(const char *name) const { return m_dir->filePath(utf8(name)); }
    void configure(const QByteArray &more = {}) const
    {
        writeFile(at("conf/config.yaml"), "skills: {path: shelf}\n" + more);
        qputenv("DEER_FLOW_CONFIG_PATH", QFile::encodeName(at("conf/config.yaml")));
    }
    RunRequest request(const char *task, const QByteArray &turns, const char *sandbox = "local") const
    {
        RunRequest request;
        request.scenario = writeFile(at("probe.yaml"), "scenario: 1\nname: probe\ndescription: d\ntask: t\nagents:\n"
                                                       "  - match: {agent: lead}\n    turns:\n" + turns);
        request.task = utf8(task);
        request.sandbox = utf8(sandbox);
        return request;
    }
    /// Status and answer, or the error.
    QString outcome(const RunRequest &request, std::vector<QString> *warnings = nullptr)
    {
        RunProbe probe(at("data"));
        if (!probe.service)
            return probe.problem;
        const auto run = probe.service->start(request);
        if (!run)
            return run.error().fullMessage();
        const QString status = probe.end(*run);
        const RunFinished *finished = probe.of<RunFinished>(*run).back();
        for (const LogRecorded *log : probe.of<LogRecorded>(*run)) {
            if (warnings && log->level == u"warning")
                warnings->push_back(log->text);
        }
        return status + utf8(": ") + finished->error.value_or(finished->answer);
    }

private Q_SLOTS:
    void init()
    {
        m_dir = std::make_unique<QTemporaryDir>();
        writeFile(at("conf/shelf/public/greet/SKILL.md"), "---\nname: greet\ndescription: How to greet\nallowed-tools: [present_files]\n---\nBow twice.\n");
        configure();
    }
    void cleanup()
    {
        qunsetenv("DEER_FLOW_CONFIG_PATH");
        qunsetenv("DEER_FLOW_SKILLS_PATH");
    }

    void agentsReadTheCopies_data()
    {
        QTest::addColumn<QString>("sandbox");
        QTest::newRow("local") << utf8("local");
        QTest::newRow("embedded") << utf8("embedded");
    }
    void agentsReadTheCopies()
    {
        QFETCH(QString, sandbox);
        if (sandbox == u"embedded" && !canIsolate())
            QSKIP(cannotIsolate);
        const QByteArray turns = "      - expect: {system: '(?s)<skill_system>.*greet.*/mnt/skills/public/greet/SKILL.md'}\n"
                                 "        calls:\n          - {tool: read_file, id: a, args: {description: d, path: /mnt/skills/public/greet/SKILL.md}}\n"
                                 "      - expect: {tool_result: {a: Bow twice}}\n"
                                 "        calls:\n          - {tool: write_file, id: b, args: {description: d, path: /mnt/skills/public/greet/SKILL.md, content: x}}\n"
                                 "      - expect: {tool_result: {b: Error}}\n        say: fine\n";
        QCOMPARE(outcome(request("say hello", turns, sandbox.toUtf8().constData())), utf8("completed: fine"));
        QFile original(at("conf/shelf/public/greet/SKILL.md"));
        QVERIFY(original.open(QIODevice::ReadOnly) && original.readAll().endsWith("Bow twice.\n"));
    }

    void aSlashCommandActivates()
    {
        const QByteArray turns = "      - expect: {not_tools: [ls], tools: [read_file, present_files]}\n"
                                 "        calls:\n          - {tool: ls, id: a, args: {description: d, path: /mnt/user-data/workspace}}\n"
                                 "      - expect: {tool_result: {a: not allowed by the active skill policy}, not_tools: [ls]}\n        say: bowed\n";
        QCOMPARE(outcome(request("/greet the person", turns)), utf8("completed: bowed"));
        QCOMPARE(outcome(request("/nobody at all", "      - say: never asked\n")), utf8("completed: Skill `/nobody` is not installed."));
    }

    void switchesCountAtOnce()
    {
        writeFile(at("conf/extensions_config.json"), R"({"skills": {"greet": {"enabled": false}}, "mcpServers": {}})");
        const QByteArray turns = "      - expect: {not_system: skill_system}\n"
                                 "        calls:\n          - {tool: read_file, id: a, args: {description: d, path: /mnt/skills/public/greet/SKILL.md}}\n"
                                 "      - expect: {tool_result: {a: Skill 'greet' is disabled}}\n        say: closed\n";
        QCOMPARE(outcome(request("say hello", turns)), utf8("completed: closed"));
        configure("extensions: {skills: {greet: {enabled: true}}}\n"); // the configuration's word is over the file's
        QCOMPARE(outcome(request("/greet", "      - say: open\n")), utf8("completed: open"));
    }

    void brokenThingsAreSaidNotFatal()
    {
        writeFile(at("conf/shelf/public/broken/SKILL.md"), "no head");
        std::vector<QString> warnings;
        QCOMPARE(outcome(request("go", "      - say: done\n"), &warnings), utf8("completed: done"));
        QVERIFY(std::ranges::any_of(warnings, [](const QString &text) { return text.contains(utf8("public/broken")); }));
        writeFile(at("conf/extensions_config.json"), "{");
        warnings.clear();
        QCOMPARE(outcome(request("go", "      - say: done\n"), &warnings), utf8("completed: done"));
        QVERIFY(std::ranges::any_of(warnings, [](const QString &text) { return text.contains(utf8("not valid JSON")); }));
    }

    void deferredDiscoveryHasNamesOnly()
    {
        configure("");
        writeFile(at("conf/config.yaml"), "skills: {path: shelf, deferred_discovery: true}\n");
        const QByteArray turns = "      - expect: {system: <skill_index>, not_system: How to greet, tools: [describe_skill]}\n"
                                 "        calls:\n          - {tool: describe_skill, id: a, args: {query: 'select:greet'}}\n"
                                 "      - expect: {tool_result: {a: How to greet}}\n        say: known\n";
        QCOMPARE(outcome(request("go", turns)), utf8("completed: known"));
    }

    void findsTheFolder()
    {
        Config config;
        const QString project = at("conf");
        const auto rootOf = [&](const QMap<QString, QString> &environment) {
            const auto store = makeSkillStore(config, environment, project);
            return store ? (*store)->root() : store.error().message;
        };
        const QString variable = utf8("DEER_FLOW_SKILLS_PATH");
        QCOMPARE(rootOf({}), project + utf8("/skills"));
        QCOMPARE(rootOf({{variable, at("other")}}), at("other"));
        config.skills.path = utf8("../mine");
        QCOMPARE(rootOf({{variable, at("other")}}), at("mine"));
        QVERIFY(rootOf({{utf8("DEER_FLOW_EXTENSIONS_CONFIG_PATH"), at("none.json")}}).contains(utf8("does not exist")));
    }
};

} // namespace tst_skill_runs

PADDOCK_TEST(tst_skill_runs, TestSkillRuns)
#include "tst_skill_runs.moc"
