// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/config/config.h"
#include "tests/support/test_main.h"

#include <QTest>

namespace tst_config {

using namespace paddock;

class ConfigTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void refuses_data()
    {
        QTest::addColumn<QByteArray>("yaml");
        QTest::addColumn<QString>("says");
        QTest::newRow("syntax") << QByteArray("sandbox: [") << QStringLiteral("config.yaml:");
        QTest::newRow("not a mapping") << QByteArray("- a") << QStringLiteral("must be a mapping");
        QTest::newRow("type") << QByteArray("subagent_runtime:\n  max_running: true\n") << QStringLiteral("config.yaml:2:16: subagent_runtime.max_running: must be a whole number");
        QTest::newRow("range") << QByteArray("subagent_runtime:\n  max_running: 65\n") << QStringLiteral("must be between 1 and 64");
        QTest::newRow("choice") << QByteArray("subagent_runtime:\n  admission_policy: drop\n") << QStringLiteral("'drop' is not one of queue, reject");
        QTest::newRow("order of limits") << QByteArray("loop_detection:\n  warn_threshold: 5\n  hard_limit: 3\n") << QStringLiteral("must be at least warn_threshold");
        QTest::newRow("unset variable") << QByteArray("models:\n  - name: $NOPE_UNSET\n") << QStringLiteral("NOPE_UNSET is not set");
        QTest::newRow("attempts") << QByteArray("llm_call:\n  retry_max_attempts: 0\n") << QStringLiteral("llm_call.retry_max_attempts: 0 must be between 1");
        QTest::newRow("circuit") << QByteArray("circuit_breaker:\n  failure_threshold: 0\n") << QStringLiteral("circuit_breaker.failure_threshold: 0 must be between 1");
        QTest::newRow("similarity") << QByteArray("tool_progress:\n  jaccard_similarity_threshold: 2\n") << QStringLiteral("tool_progress.jaccard_similarity_threshold");
        QTest::newRow("names") << QByteArray("tool_progress:\n  exempt_tools: [a, 1]\n") << QStringLiteral("must be a list of names");
        QTest::newRow("one name") << QByteArray("tool_progress:\n  exempt_tools: a\n") << QStringLiteral("must be a list of names");
        QTest::newRow("judge") << QByteArray("verification:\n  judge_enabled: true\n") << QStringLiteral("verification.judge_enabled: must be false");
        QTest::newRow("render mode") << QByteArray("verification:\n  receipts_render_mode: never\n") << QStringLiteral("is not one of delegation_only, always");
        QTest::newRow("provider") << QByteArray("guardrails:\n  provider: {config: {}}\n") << QStringLiteral("guardrails.provider.use: must name a provider");
        QTest::newRow("log limit") << QByteArray("terminal_logs:\n  max_total_bytes: -1\n") << QStringLiteral("config.yaml:2:20: terminal_logs.max_total_bytes");
        QTest::newRow("skills folder inside") << QByteArray("skills:\n  container_path: /mnt/user-data/x\n") << QStringLiteral("config.yaml:2:19: skills.container_path: must be an absolute folder");
        QTest::newRow("skills folder climbs") << QByteArray("skills:\n  container_path: /mnt/../etc\n") << QStringLiteral("skills.container_path: must be");
        QTest::newRow("tool search") << QByteArray("tool_search:\n  enabled: 1\n") << QStringLiteral("tool_search.enabled: must be true or false");
        QTest::newRow("summary trigger type") << QByteArray("summarization:\n  trigger: [{type: turns, value: 3}]\n") << QStringLiteral("config.yaml:2:12: summarization.trigger: needs a type");
        QTest::newRow("summary trigger value") << QByteArray("summarization:\n  trigger: {type: messages, value: 0}\n") << QStringLiteral("summarization.trigger: the value must be a whole number");
        QTest::newRow("summary trigger fraction") << QByteArray("summarization:\n  trigger: {type: fraction, value: 1.5}\n") << QStringLiteral("summarization.trigger: a fraction's value must be above 0");
        QTest::newRow("summary keep text") << QByteArray("summarization:\n  keep: 20\n") << QStringLiteral("summarization.keep: needs a type");
        QTest::newRow("summary keep half a message") << QByteArray("summarization:\n  keep: {type: messages, value: 2.5}\n") << QStringLiteral("summarization.keep: the value must be a whole number");
        QTest::newRow("summary trim") << QByteArray("summarization:\n  trim_tokens_to_summarize: 0\n") << QStringLiteral("summarization.trim_tokens_to_summarize: 0 must be at least 1");
        QTest::newRow("summary tools") << QByteArray("summarization:\n  skill_file_read_tool_names: cat\n") << QStringLiteral("summarization.skill_file_read_tool_names: must be a list");
        QTest::newRow("network") << QByteArray("sandbox:\n  network: lan\n") << QStringLiteral("is not one of none, host");
    }
    void refuses()
    {
        QFETCH(QByteArray, yaml);
        QFETCH(QString, says);
        const auto config = parseConfig(yaml, QStringLiteral("config.yaml"), {});
        QVERIFY(!config);
        QVERIFY2(config.error().message.contains(says), qPrintable(config.error().message));
    }

    void readsAndWarns()
    {
        const auto config = parseConfig("sandbox:\n  allow_host_bash: true\n  enviroment: {}\n  environment:\n    MAX_SHELL_SESSIONS: $MSS\n    A: 1\n"
                                        "subagent_runtime: {max_running: 5}\nfrobs: 1\n",
                                        QStringLiteral("config.yaml"), {{QStringLiteral("MSS"), QStringLiteral("12")}});
        QVERIFY2(config.has_value(), config ? "" : qPrintable(config.error().message));
        QVERIFY(config->sandbox.allowHostBash);
        QCOMPARE(config->sandbox.maxShellSessions, QStringLiteral("12"));
        QCOMPARE(config->subagentRuntime.maxRunning, 5);
        QCOMPARE(config->warnings.size(), 2);
        QVERIFY(config->warnings[0].contains(QStringLiteral("did you mean 'environment'")));
        QVERIFY(config->warnings[1].contains(QStringLiteral("config.yaml:8:1: unknown key 'frobs'")));
    }

    void readsTheLimitOfTerminalLogs()
    {
        QCOMPARE(Config().terminalLogs.maxTotalBytes, qint64(1) << 30);
        const auto config = parseConfig("terminal_logs: {max_total_bytes: 5000000000}\n", QStringLiteral("c"), {});
        QVERIFY2(config.has_value(), config ? "" : qPrintable(config.error().message));
        QCOMPARE(config->warnings, QStringList());
        QCOMPARE(config->terminalLogs.maxTotalBytes, qint64(5000000000));
    }

    void readsTheGuards()
    {
        const auto config = parseConfig("llm_call: {retry_max_attempts: 5, burst_retry_base_delay_ms: 7}\ncircuit_breaker: {recovery_timeout_sec: 0}\n"
                                        "tool_progress: {enabled: true, exempt_tools: [a]}\nverification: {receipts_enabled: false, judge_model_name: null}\n"
                                        "authorization: {enabled: true, fail_closed: false, provider: {use: rbac, config: {roles: {user: {}}}}}\n",
                                        QStringLiteral("c"), {});
        QVERIFY2(config.has_value(), config ? "" : qPrintable(config.error().message));
        QCOMPARE(config->warnings, QStringList());
        QCOMPARE(config->llmCall.retryMaxAttempts, 5);
        QCOMPARE(config->llmCall.burstRetryBaseDelayMs, 7);
        QCOMPARE(config->circuitBreaker.recoveryTimeoutSeconds, 0);
        QVERIFY(!config->verification.receiptsEnabled);
        QVERIFY(config->authorization.enabled && !config->authorization.failClosed && !config->guardrails.enabled);
        QCOMPARE(config->authorization.providerUse, QStringLiteral("rbac"));
        QVERIFY(config->authorization.providerConfig["roles"].contains("user"));
        QVERIFY(config->toolProgress.enabled);
        QCOMPARE(config->toolProgress.exemptTools, QStringList{QStringLiteral("a")});
    }

    void readsTheSummarization()
    {
        const auto byDefault = parseConfig("sandbox: {}\n", QStringLiteral("c"), {});
        QVERIFY(byDefault && !byDefault->summarization.enabled && byDefault->summarization.trigger.empty());
        QCOMPARE(byDefault->summarization.keep.value, 20.0);
        QCOMPARE(byDefault->summarization.trimTokens, std::optional<qint64>(4000));
        QCOMPARE(byDefault->summarization.skillReadTools.size(), 4);
        const auto config = parseConfig("summarization: {enabled: true, model_name: small, trigger: [{type: fraction, value: 0.8}, {type: tokens, value: 9000}], "
                                        "keep: {type: tokens, value: 500}, trim_tokens_to_summarize: null, skill_file_read_tool_names: [open]}\n",
                                        QStringLiteral("c"), {});
        QVERIFY2(config.has_value(), config ? "" : qPrintable(config.error().message));
        QCOMPARE(config->warnings, QStringList());
        QVERIFY(config->summarization.enabled && !config->summarization.trimTokens);
        QCOMPARE(config->summarization.trigger.size(), 2U);
        QCOMPARE(config->summarization.trigger[0].type, QStringLiteral("fraction"));
        QCOMPARE(config->summarization.keep.value, 500.0);
        QCOMPARE(config->summarization.skillReadTools, QStringList{QStringLiteral("open")});
        const auto one = parseConfig("summarization: {trigger: {type: messages, value: 50}}\n", QStringLiteral("c"), {});
        QVERIFY(one && one->summarization.trigger.size() == 1);
    }

    void anUnsetSessionLimitReachesTheCheckAsEmpty()
    {
        const auto config = parseConfig("sandbox: {environment: {MAX_SHELL_SESSIONS: $NOPE}}\n", QStringLiteral("c"), {});
        QVERIFY(config);
        QCOMPARE(config->sandbox.maxShellSessions, QString());
        QVERIFY(config->sandbox.maxShellSessions.has_value());
    }
};

} // namespace tst_config

PADDOCK_TEST(tst_config, ConfigTest)
#include "tst_config.moc"
