// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// Whole runs whose histories are cut and whose delegations are counted.
#include "core/run/translate.h"
#include "tests/core/run/run_probe.h"
#include "tests/support/test_main.h"

#include <QTemporaryDir>
#include <QTest>

namespace tst_context_runs {

using namespace paddock;
using namespace paddock::test;

namespace {

QString utf8(const char *text)
{
    return QString::fromUtf8(text);
}

/// A turn of the lead that sends one subagent out.
QByteArray delegates(const char *id, const QByteArray &more = {})
{
    return "      - calls:\n          - {tool: task, id: " + QByteArray(id)
        + ", args: {description: look, prompt: Look at it, subagent_type: general-purpose}}\n" + more;
}

constexpr const char *listing = "          - {tool: ls, args: {description: d, path: /mnt/user-data/workspace}}\n";

} // namespace

class TestContextRuns : public QObject
{
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_dir;

    QString at(const char *name) const { return m_dir->filePath(utf8(name)); }
    void configure(const QByteArray &text) const
    {
        writeFile(at("conf/config.yaml"), text);
        qputenv("DEER_FLOW_CONFIG_PATH", QFile::encodeName(at("conf/config.yaml")));
    }
    RunRequest request(const QByteArray &agents) const
    {
        RunRequest request;
        request.scenario = writeFile(at("probe.yaml"), "scenario: 1\nname: probe\ndescription: d\ntask: Do it\nagents:\n" + agents);
        request.sandbox = utf8("local");
        return request;
    }
    static std::vector<const MiddlewareActed *> acts(RunProbe &probe, const RunId &run, const char *tag)
    {
        std::vector<const MiddlewareActed *> found = probe.of<MiddlewareActed>(run);
        std::erase_if(found, [tag](const MiddlewareActed *act) { return act->tag != QLatin1String(tag); });
        return found;
    }

private Q_SLOTS:
    void init() { m_dir = std::make_unique<QTemporaryDir>(); }
    void cleanup() { qunsetenv("DEER_FLOW_CONFIG_PATH"); }

    void theTotalOfDelegationsStopsALaterTurn_data()
    {
        QTest::addColumn<QByteArray>("config");
        QTest::addColumn<int>("started");
        QTest::newRow("two") << QByteArray("subagents: {max_total_per_run: 2}\n") << 2;
        QTest::newRow("two, history cut in between")
            << QByteArray("subagents: {max_total_per_run: 2}\nsummarization: {enabled: true, trigger: {type: messages, value: 4}, keep: {type: messages, value: 1}}\n") << 2;
        QTest::newRow("a script is not cut by default") << QByteArray("title: {enabled: true}\n") << 3;
    }
    void theTotalOfDelegationsStopsALaterTurn()
    {
        QFETCH(QByteArray, config);
        QFETCH(int, started);
        configure(config);
        const QByteArray lead = "  - match: {agent: lead}\n    turns:\n" + delegates("a") + delegates("b")
            + "      - say: Once more.\n        calls:\n          - {tool: task, id: c, args: {description: look, prompt: Look at it, subagent_type: general-purpose}}\n"
              "      - say: over\n";
        const QByteArray others = "  - match: {type: general-purpose}\n    turns:\n      - say: seen\n"
                                  "  - match: {agent: 'middleware:summarize'}\n    turns:\n      - {say: what was, repeat: 20}\n";
        RunProbe probe(at("data"));
        QVERIFY2(probe.service, qPrintable(probe.problem));
        const auto run = probe.service->start(request(lead + others));
        QVERIFY(run);
        QCOMPARE(probe.end(*run), utf8("completed"));
        int subagents = 0;
        for (const AgentStarted *agent : probe.of<AgentStarted>(*run))
            subagents += !agent->subagentType.isEmpty();
        QCOMPARE(subagents, started);
        const bool capped = started == 2;
        QCOMPARE(acts(probe, *run, "subagent_limit").size(), std::size_t(capped ? 1 : 0));
        const QString answer = probe.of<RunFinished>(*run).back()->answer;
        QVERIFY2(capped ? answer.contains(u"[SUBAGENT LIMIT REACHED]") : answer == u"over", qPrintable(answer));
        QCOMPARE(probe.of<AgentFinished>(*run).back()->stopReason, capped ? std::optional(utf8("subagent_limit_capped")) : std::nullopt);
        QCOMPARE(!acts(probe, *run, "summarize").empty(), config.contains("summarization"));
    }

    /// The whole prompt of a real subagent, before each of thirty model calls between which its history is cut again and again.
    void aSubagentKeepsItsPrompt()
    {
        configure("summarization: {enabled: true, trigger: {type: messages, value: 8}, keep: {type: messages, value: 4}}\n"
                  "loop_detection: {enabled: false}\nskills: {path: shelf, deferred_discovery: true}\n");
        writeFile(at("conf/shelf/public/greet/SKILL.md"), "---\nname: greet\ndescription: How to greet\n---\nBow twice.\n");
        const QByteArray expect = "expect: {system: '(?s)<report_contract>.*<acceptance_criteria>.*<skill_index>.*greet', "
                                  "not_system: '(?s)<current_date>.*<current_date>', messages_max: 12}";
        const QByteArray agents =
            "  - match: {agent: lead}\n    turns:\n      - calls:\n          - tool: task\n            id: a\n            args: {description: look, "
            "prompt: Look at it well, subagent_type: general-purpose, acceptance_criteria: [a list is there]}\n      - say: over\n"
            "  - match: {type: general-purpose}\n    turns:\n      - " + expect + "\n        repeat: 30\n        calls:\n" + listing
            + "      - " + expect + "\n        say: seen\n"
              "  - match: {agent: 'middleware:summarize'}\n    turns:\n      - {say: 'Listed it again and again.', expect: {last_user: new_messages}, usage: {input: 1000000, output: 1}, repeat: 60}\n";
        RunProbe probe(at("data"));
        QVERIFY2(probe.service, qPrintable(probe.problem));
        const auto run = probe.service->start(request(agents));
        QVERIFY(run);
        const QString status = probe.end(*run);
        QVERIFY2(status == u"completed", qPrintable(probe.of<RunFinished>(*run).back()->error.value_or(status)));
        for (const AgentFinished *agent : probe.of<AgentFinished>(*run))
            QVERIFY2(agent->status == u"completed", qPrintable(agent->error.value_or(QString())));
        const auto cuts = acts(probe, *run, "summarize");
        QVERIFY2(cuts.size() > 8, qPrintable(QString::number(cuts.size())));
        for (const MiddlewareActed *cut : cuts)
            QCOMPARE(cut->changes["is_subagent"], Json(true));
        // What the summaries cost is in the account of the subagent and of the run, not in the lead's.
        const qint64 millions = qint64(cuts.size());
        const auto ends = probe.of<AgentFinished>(*run);
        QCOMPARE(ends.front()->usage.input / 1'000'000, millions);
        QCOMPARE(probe.of<RunFinished>(*run).back()->usage.input / 1'000'000, millions);
        QVERIFY(ends.back()->usage.input < 1'000'000);
    }

    void theConfigurationReachesTheMember()
    {
        const auto config = parseConfig("summarization: {enabled: true, model_name: small, trigger: {type: fraction, value: 0.5}, "
                                        "keep: {type: tokens, value: 300}, trim_tokens_to_summarize: null, skill_file_read_tool_names: [open]}\n"
                                        "models:\n  - {name: big, use: 'langchain_anthropic:ChatAnthropic', model: m, context_window: 1000}\n"
                                        "  - {name: big, use: other, model: m}\n",
                                        utf8("c"), {});
        QVERIFY2(config.has_value(), config ? "" : qPrintable(config.error().message));
        const ChainOptions options = chainOptions(*config, at("data"), {}, {});
        QVERIFY(options.summarization);
        const SummarizationOptions &made = options.summaries;
        QVERIFY(made.policy.trigger.size() == 1 && made.policy.trigger[0].unit == ContextSize::Unit::Fraction && made.policy.trigger[0].value == 0.5);
        QVERIFY(made.policy.keep.unit == ContextSize::Unit::Tokens && made.policy.keep.value == 300);
        QVERIFY(!made.trimTokens && made.modelName == u"small" && options.skillReadTools == QStringList{utf8("open")});
        QCOMPARE(made.facts(utf8("big")).contextWindow, 1000);
        QCOMPARE(charsPerToken(made.facts(utf8("big"))), 3.3);
        QCOMPARE(made.facts(utf8("unknown")).contextWindow, 0);
        QVERIFY(!chainOptions(*parseConfig("models: []\n", utf8("c"), {}), at("data"), {}, {}).summarization);
    }

    /// A script that has no words for a summary: nothing is cut, no agent loses a turn, the run goes on.
    void aScriptWithoutASummaryGoesOn()
    {
        configure("summarization: {enabled: true, trigger: {type: messages, value: 3}, keep: {type: messages, value: 1}}\n"
                  "title: {model_name: any}\nloop_detection: {enabled: false}\n");
        const QByteArray agents = QByteArray("  - match: {}\n    turns:\n      - calls:\n") + listing + "      - calls:\n" + listing
            + "      - calls:\n" + listing + "      - {expect: {messages_min: 7}, say: over}\n";
        RunProbe probe(at("data"));
        QVERIFY2(probe.service, qPrintable(probe.problem));
        const auto run = probe.service->start(request(agents));
        QVERIFY(run);
        const QString status = probe.end(*run);
        QVERIFY2(status == u"completed", qPrintable(probe.of<RunFinished>(*run).back()->error.value_or(status)));
        QCOMPARE(probe.of<RunFinished>(*run).back()->answer, utf8("over"));
        QVERIFY(acts(probe, *run, "summarize").empty());
        int warned = 0;
        for (const LogRecorded *log : probe.of<LogRecorded>(*run))
            warned += log->text.contains(u"nothing was removed");
        QVERIFY(warned > 0);
        QCOMPARE(stringOf(acts(probe, *run, "title").front()->changes, "source"), utf8("local"));
    }
};

} // namespace tst_context_runs

PADDOCK_TEST(tst_context_runs, TestContextRuns)
#include "tst_context_runs.moc"
