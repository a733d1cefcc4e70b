// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// The whole program with sandbox.use: container, over the stand-in of an engine.
#include "tests/core/sandbox/container_bench.h"
#include "tests/support/paddock_program.h"
#include "tests/support/test_main.h"

#include <QTest>

namespace tst_container_run {

using namespace paddock;
using namespace paddock::test;

class TstContainerRun : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void init();
    void runsInAContainer();
    void killedRunIsCleanedUpByTheNext();
    void missingEngineIsToldFirst();
    void missingImageIsToldFirst();
    void voidingNetworkIsRefused();
    void wrongKeysAreRefused_data();
    void wrongKeysAreRefused();

private:
    QString config(const QByteArray &more = {}) const
    {
        return m_program->file(QStringLiteral("config.yaml"), "sandbox:\n  use: container\n  port: " + QByteArray::number(m_port) + "\n"
                                   + (more.contains("  image:") ? "" : "  image: all-in-one-sandbox:1.11.0\n") + more);
    }
    Outcome run(const QString &command, const QString &configFile) const
    {
        return m_program->run(m_program->runArguments(m_program->scenario(commandScenario({bashCall(QStringLiteral("c1"), command)})),
                                                      {QStringLiteral("--config"), configFile}));
    }

    std::unique_ptr<StandInEngine> m_engine;
    std::unique_ptr<PaddockProgram> m_program;
    int m_port = 0;
};

void TstContainerRun::init()
{
    m_engine = std::make_unique<StandInEngine>();
    m_program = std::make_unique<PaddockProgram>();
    m_port = freshBasePort() + 9000;
    const QString bin = m_program->folder(QStringLiteral("bin"));
    QVERIFY(QFile::link(StandInEngine::program(), bin + QStringLiteral("/docker")));
    m_program->setEnvironment(QStringLiteral("PATH"), bin + QStringLiteral(":/usr/bin:/bin"));
    for (const char *name : {"STAND_IN_STATE", "STAND_IN_SERVER"})
        m_program->setEnvironment(QString::fromLatin1(name), qEnvironmentVariable(name));
}

void TstContainerRun::runsInAContainer()
{
    const Outcome o = run(QStringLiteral("echo made > note.txt; echo $((6*7))"), config("  environment: {API_TOKEN: hush-4711}\nsubagent_runtime: {max_running: 12}\n"));
    QVERIFY2(o.exitCode == 0, o.err.right(3000).constData());
    // Not the whole result: the stand-in mounts nothing, and bash says so.
    QVERIFY2(o.resultOf(QStringLiteral("c1")).endsWith(QStringLiteral("\n42")), qPrintable(o.resultOf(QStringLiteral("c1"))));
    const QByteArray calls = m_engine->calls();
    QVERIFY2(calls.contains("-e API_TOKEN -e MAX_SHELL_SESSIONS "), calls.constData());
    QVERIFY(!calls.contains("hush-4711") && !o.out.contains("hush-4711") && !o.err.contains("hush-4711"));
    QVERIFY2(calls.contains(",dst=/mnt/user-data/outputs "), calls.constData());
    QVERIFY2(calls.contains("/acp-workspace,dst=/mnt/acp-workspace,readonly "), calls.constData());
    QCOMPARE(m_engine->containers(), QStringList());
    QCOMPARE(m_program->leftovers(), QStringList());
}

void TstContainerRun::killedRunIsCleanedUpByTheNext()
{
    const QString configFile = config();
    const QString scenario = m_program->scenario(commandScenario({bashCall(QStringLiteral("c1"), QStringLiteral("sleep 1000"))}));
    const auto process = m_program->start(m_program->runArguments(scenario, {QStringLiteral("--config"), configFile}));
    QByteArray seen;
    QVERIFY2(PaddockProgram::waitFor(*process, "shell.command_started", seen), (seen + process->readAllStandardError()).constData());
    process->kill();
    QVERIFY(process->waitForFinished(10000));
    QCOMPARE(m_engine->containers().size(), 1);
    QVERIFY(m_engine->runs(m_engine->containers().constFirst())); // nothing ends a container whose starter is killed
    const Outcome o = run(QStringLiteral("echo next"), configFile);
    QVERIFY2(o.resultOf(QStringLiteral("c1")).endsWith(QStringLiteral("\nnext")), qPrintable(o.resultOf(QStringLiteral("c1"))));
    QCOMPARE(m_engine->containers(), QStringList());
    QCOMPARE(m_program->leftovers(), QStringList());
}

void TstContainerRun::missingEngineIsToldFirst()
{
    const Outcome o = run(QStringLiteral("echo no"), config("  runtime: podman\n"));
    QVERIFY(o.exitCode > 0);
    QVERIFY2(o.err.contains("no program podman was found"), o.err.constData());
    const Outcome ownership = run(QStringLiteral("echo no"), config("  ownership: {type: redis}\n"));
    QVERIFY2(ownership.err.contains("sandbox.ownership.type 'redis' is not in this version"), ownership.err.constData());
    QCOMPARE(m_engine->callsOf("run"), 0);
}

/// There is no default: whose registry to trust is not ours to say.
void TstContainerRun::missingImageIsToldFirst()
{
    const Outcome o = run(QStringLiteral("echo no"), m_program->file(QStringLiteral("bare.yaml"), "sandbox:\n  use: container\n"));
    QVERIFY(o.exitCode > 0);
    QVERIFY2(o.err.contains("sandbox.use: container needs sandbox.image"), o.err.constData());
    QCOMPARE(m_engine->callsOf("run"), 0);
}

void TstContainerRun::voidingNetworkIsRefused()
{
    m_program->setEnvironment(QStringLiteral("DEER_FLOW_SANDBOX_NETWORK"), QStringLiteral("name=host"));
    const Outcome o = run(QStringLiteral("echo no"), config());
    QVERIFY(o.exitCode > 0);
    QVERIFY2(o.err.contains("DEER_FLOW_SANDBOX_NETWORK='name=host' would void the sandbox port bind"), o.err.constData());
}

void TstContainerRun::wrongKeysAreRefused_data()
{
    QTest::addColumn<QByteArray>("more");
    QTest::newRow("runtime") << QByteArray("  runtime: lxc\n");
    QTest::newRow("replicas") << QByteArray("  replicas: 0\n");
    QTest::newRow("idle_timeout") << QByteArray("  idle_timeout: -1\n");
    QTest::newRow("container_prefix") << QByteArray("  container_prefix: --help\n");
    QTest::newRow("image") << QByteArray("  image: --privileged\n");
    QTest::newRow("ttl_multiplier") << QByteArray("  ownership: {ttl_multiplier: 1}\n");
}

void TstContainerRun::wrongKeysAreRefused()
{
    QFETCH(QByteArray, more);
    const Outcome o = run(QStringLiteral("echo no"), config(more));
    QVERIFY(o.exitCode > 0);
    QVERIFY2(o.err.contains(QTest::currentDataTag()), o.err.constData());
    QCOMPARE(m_engine->callsOf("run"), 0);
}

} // namespace tst_container_run

PADDOCK_TEST(tst_container_run, TstContainerRun)
#include "tst_container_run.moc"
