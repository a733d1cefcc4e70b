// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// What people and machines give that is wrong: each gets one sentence that says what, which thing and what to do, the exit
// code of the design, no hang, nothing lost and nothing left behind.

#include "tests/support/paddock_program.h"
#include "tests/support/test_main.h"

#include <QDir>
#include <QFile>
#include <QTest>

#include <csignal>

#include <sys/stat.h>

namespace tst_bad_input {

using namespace paddock;
using namespace paddock::test;

namespace {

QString text(const char *utf8)
{
    return QString::fromUtf8(utf8);
}

Json smallScenario()
{
    return commandScenario({bashCall(QStringLiteral("a"), QStringLiteral("pwd; ls -A; echo written > written.txt"))});
}

/// One sentence: one line, and nothing behind it.
void verifySentence(const Outcome &o, int code, const QStringList &says)
{
    QVERIFY(!o.hung);
    QCOMPARE(o.exitCode, code);
    QVERIFY2(o.complaints().size() == 1, o.err.constData());
    for (const QString &part : says)
        QVERIFY2(o.err.contains(part.toUtf8()), o.err.constData());
    QVERIFY2(o.err.size() < 1000, o.err.constData());
}

} // namespace

class BadInputTest : public QObject
{
    Q_OBJECT

private:
    std::unique_ptr<PaddockProgram> m_program;

    Outcome runSmall(const QStringList &more = {}, const QStringList &wrapper = {}) const
    {
        return m_program->run(m_program->runArguments(m_program->scenario(smallScenario()), more), wrapper);
    }
    Outcome show(const QString &dataDir, const QStringList &more = {}) const
    {
        return m_program->run(QStringList{text("show"), text("--data-dir"), dataDir} + more);
    }
    static bool skipsWithoutIsolation()
    {
        return !PaddockProgram::isolationProblem().isEmpty();
    }

private Q_SLOTS:
    void init() { m_program = std::make_unique<PaddockProgram>(); }
    void cleanup()
    {
        QCOMPARE(m_program->leftovers().join(QLatin1Char('\n')), QString());
        m_program.reset();
    }

    void brokenScenario_data()
    {
        QTest::addColumn<QByteArray>("yaml");
        QTest::addColumn<QString>("says");
        const auto row = [](const char *name, const QByteArray &yaml, const char *says) { QTest::newRow(name) << yaml << text(says); };
        row("not YAML", "scenario: 1\n  bad: [yaml", "bad.yaml:2:6: not valid YAML");
        row("unknown key", "scenario: 1\nname: x\nagentz: []\n", "bad.yaml:3:1: unknown key 'agentz'");
        row("wrong type", "scenario: 1\nname: x\nagents: 5\n", "bad.yaml:3:9: agents must be a list");
        row("another version", "scenario: 99\nname: x\n", "bad.yaml:1:11: scenario format version '99' is not supported");
        row("empty", "", "bad.yaml:1:1: the file is empty");
        row("only a comment", "# nothing\n", "the file is empty");
        row("a list", "- 1\n- 2\n", "must be a mapping");
        row("alias of itself", "a: &a [*a, *a]\nscenario: 1\n", "nested deeper");
        row("deep", "scenario: 1\nagents: " + QByteArray(100000, '['), "nested too deeply");
        row("bytes", QByteArray("\x00\x01\x02\xff\xfe\x80", 6), "bad.yaml:");
        row("Latin-1", "scenario: 1\nname: caf\xe9\n", "bad.yaml:2:10: the byte \\xe9 is not UTF-8 text");
        row("version in quotes", "scenario: \"1\"\n", "bad.yaml:1:11: the format version must be the number 1, without quotes");
        row("nobody is the lead", "scenario: 1\nagents: [{match: {type: bash}, turns: [{say: x}]}, {match: {agent: 'subagent:*'}, turns: []}]\n",
            "bad.yaml:2:9: no agent serves the lead");
        row("huge", "scenario: 1\nname: " + QByteArray(5'000'000, 'x') + "\n", "larger than 4 MiB");
        QByteArray bomb = "scenario: 1\nl0: &l0 [x, x, x, x, x, x, x, x, x]\n";
        for (int level = 1; level < 10; ++level) {
            const QByteArray below = "*l" + QByteArray::number(level - 1);
            bomb += "l" + QByteArray::number(level) + ": &l" + QByteArray::number(level) + " [" + (below + ", ").repeated(8) + below + "]\n";
        }
        row("many aliases", bomb, "more than 200000 values");
        row("bad regular expression", "scenario: 1\nagents: [{match: {agent: lead}, turns: [{expect: {last_user: '('}, say: x}]}]\n", "no regular expression");
        row("unknown result", "scenario: 1\nagents: [{match: {agent: lead}, turns: [{say: '${result.nope}'}]}]\n", "nope");
    }
    void brokenScenario()
    {
        QFETCH(QByteArray, yaml);
        QFETCH(QString, says);
        m_program->file(text("bad.yaml"), yaml);
        const Outcome check = m_program->run({text("scenario"), text("check"), text("bad.yaml")});
        QCOMPARE(check.exitCode, 1);
        QVERIFY2(check.err.contains(says.toUtf8()) && check.err.count('\n') == 1, check.err.constData());
        const Outcome run = m_program->run(m_program->runArguments(text("bad.yaml")));
        verifySentence(run, 2, {says});
        QVERIFY(run.events.empty());
    }

    void scenarioCheckGoesOnAfterABadOne()
    {
        const QString good = m_program->scenario(smallScenario(), text("good.yaml"));
        m_program->file(text("bad.yaml"), "scenario: 2\n");
        const Outcome o = m_program->run({text("scenario"), text("check"), text("bad.yaml"), good, text("missing.yaml"), text("survey")});
        QCOMPARE(o.exitCode, 1);
        QCOMPARE(o.out.count(": good"), 2);
        QVERIFY2(o.err.contains("bad.yaml:1:11") && o.err.contains("missing.yaml"), o.err.constData());
    }

    void scenarioCheckRemarks_data()
    {
        QTest::addColumn<QByteArray>("turn");
        QTest::addColumn<QString>("says");
        QTest::newRow("unknown tool") << QByteArray("{calls: [{tool: bsh}]}") << text("probe.yaml:5:25: there is no tool 'bsh' in this version; the call will be answered with an error; did you mean 'bash'?");
        QTest::newRow("unknown type") << QByteArray("{calls: [{tool: task, args: {prompt: p, subagent_type: general}}]}") << text("the subagent type 'general' does not come with this program");
        QTest::newRow("capture without a group") << QByteArray("{calls: [{tool: bash}], capture: {all: '\\d+'}}") << text("the capture 'all' has no group");
        QTest::newRow("good names") << QByteArray("{calls: [{tool: task, args: {subagent_type: bash}}, {tool: write_todos}, {tool: view_image}], capture: {a: '(x)'}}") << QString();
    }
    void scenarioCheckRemarks()
    {
        QFETCH(QByteArray, turn);
        QFETCH(QString, says);
        m_program->file(text("probe.yaml"), "scenario: 1\nagents:\n  - match: {agent: lead}\n    turns:\n      - " + turn + "\n");
        const Outcome o = m_program->run({text("scenario"), text("check"), text("probe.yaml")});
        QCOMPARE(o.exitCode, 0);
        QCOMPARE(o.out.count(": good"), 1);
        QVERIFY2(says.isEmpty() ? o.err.isEmpty() : o.err.contains(says.toUtf8()) && o.err.count('\n') == 1, o.err.constData());
    }

    void scenarioThatIsNoFile()
    {
        const QString pipe = QFileInfo(m_program->dataDir()).path() + text("/pipe.yaml");
        QCOMPARE(::mkfifo(QFile::encodeName(pipe).constData(), 0600), 0);
        const Outcome check = m_program->run({text("scenario"), text("check"), pipe});
        QVERIFY(!check.hung);
        QCOMPARE(check.exitCode, 1);
        QVERIFY2(check.err.contains("is a named pipe (FIFO), not a scenario file") && check.err.count('\n') == 1, check.err.constData());
        verifySentence(m_program->run(m_program->runArguments(pipe)), 2, {text("a named pipe (FIFO)")});
        // What a shell gives as a file is one.
        const Outcome piped = m_program->run({text("scenario"), text("check"), text("/dev/stdin")}, {text("sh"), text("-c"), text("\"$0\" scenario show survey | \"$0\" scenario check /dev/stdin"), PaddockProgram::path()});
        QVERIFY2(piped.exitCode == 0, piped.err.constData());
    }

    void badFolder_data()
    {
        QTest::addColumn<QString>("folder");
        QTest::addColumn<QString>("says");
        QTest::newRow("missing") << text("missing") << text("/missing does not exist");
        QTest::newRow("a file") << text("afile") << text("/afile is not a folder");
        QTest::newRow("below a file") << text("afile/sub") << text("does not exist");
        QTest::newRow("dangling link") << text("dangling") << text("does not exist");
        QTest::newRow("link to itself") << text("loop") << text("does not exist");
        QTest::newRow("the whole system") << text("/") << text("belongs to the system");
        QTest::newRow("the kernel's files") << text("/proc") << text("belongs to the system");
        QTest::newRow("very long") << text("x/").repeated(5000) << text("longer than");
        QTest::newRow("very long name") << text("x").repeated(300) << text("does not exist");
    }
    void badFolder()
    {
        QFETCH(QString, folder);
        QFETCH(QString, says);
        m_program->file(text("afile"), "x");
        const QString base = QFileInfo(m_program->dataDir()).path();
        QFile::link(text("nowhere"), base + text("/dangling"));
        QFile::link(text("loop"), base + text("/loop"));
        const Outcome o = runSmall({text("--workspace"), folder});
        verifySentence(o, 2, {says});
        QVERIFY(o.events.empty());
    }

    void folderWithAName_data()
    {
        QTest::addColumn<QByteArray>("name");
        QTest::newRow("spaces") << QByteArray(" a b ");
        QTest::newRow("quotes") << QByteArray("it's \"quoted\" `x` $(y) \\z");
        QTest::newRow("newline") << QByteArray("new\nline");
        QTest::newRow("leading dash") << QByteArray("-rf");
        QTest::newRow("an option") << QByteArray("--help");
        QTest::newRow("long") << QByteArray("é").repeated(127);
        QTest::newRow("colon and comma") << QByteArray("a:b,c=d");
        QTest::newRow("percent") << QByteArray("100%1 %s");
        QTest::newRow("escape") << QByteArray("\x1b[31mred");
    }
    void folderWithAName()
    {
        if (skipsWithoutIsolation())
            QSKIP(qPrintable(PaddockProgram::isolationProblem()));
        QFETCH(QByteArray, name);
        const QString folder = m_program->folder(QString::fromUtf8(name));
        QFile there(folder + text("/there.txt"));
        QVERIFY(there.open(QIODevice::WriteOnly));
        there.close();
        const Outcome o = runSmall({text("--workspace"), QString::fromUtf8(name)});
        QVERIFY2(o.exitCode == 0, o.err.constData());
        QCOMPARE(o.resultOf(text("a")), text("/mnt/user-data/workspace\nthere.txt"));
        QVERIFY(QFile::exists(folder + text("/written.txt")));
        QVERIFY(!o.err.contains('\x1b'));
        QCOMPARE(QDir(m_program->dataDir()).exists(), true);
    }

    /// QString cannot carry such a name, so it is refused in words instead of being missed under another name.
    void folderThatIsNotUtf8()
    {
        const QByteArray base = QFile::encodeName(QFileInfo(m_program->dataDir()).path());
        QCOMPARE(::mkdir((base + "/caf\xe9").constData(), 0700), 0);
        const QString scenario = m_program->scenario(smallScenario());
        const auto through = [&](const char *script) {
            const QStringList shell{text("sh"), text("-c"), text(script), text("sh")};
            return m_program->run(m_program->runArguments(scenario), shell);
        };
        verifySentence(through("exec \"$@\" --workspace \"$(printf 'caf\\351')\""), 2, {text("caf\\xe9"), text("not UTF-8"), text("rename")});
        verifySentence(through("cd \"$(printf 'caf\\351')\" && exec \"$@\" --workspace ."), 2, {text("not UTF-8"), text("rename")});
        ::rmdir((base + "/caf\xe9").constData());
    }

    void unreadableFolder()
    {
        QStringList user = m_program->asOrdinaryUser();
        if (::geteuid() == 0 && user.isEmpty())
            QSKIP("this test runs as root and cannot become an ordinary user here");
        const QString folder = m_program->folder(text("closed"));
        const QString scenario = m_program->scenario(smallScenario());
        QFile::setPermissions(folder, {});
        const Outcome o = m_program->run(m_program->runArguments(scenario, {text("--workspace"), folder}), user);
        QFile::setPermissions(folder, QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
        verifySentence(o, 2, {text("/closed cannot be read by you"), text("permissions")});
    }

    void noBubblewrap()
    {
        m_program->setEnvironment(text("PATH"), m_program->folder(text("empty")));
        const Outcome o = runSmall();
        verifySentence(o, 1, {text("bubblewrap"), text("Install")});
        QVERIFY(o.events.empty());
        const Outcome doctor = m_program->run({text("doctor"), text("--data-dir"), m_program->dataDir()});
        QCOMPARE(doctor.exitCode, 1);
        QVERIFY2(doctor.out.contains("Install the package bubblewrap"), doctor.out.constData());
    }

    /// A bubblewrap that the kernel refuses: the model may make of it what it wants, the run did not do its work.
    void refusedNamespaces()
    {
        const QString folder = m_program->folder(text("bin"));
        QFile fake(folder + text("/bwrap"));
        QVERIFY(fake.open(QIODevice::WriteOnly));
        fake.write("#!/bin/sh\necho 'bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged user namespaces.' >&2\nexit 1\n");
        fake.close();
        fake.setPermissions(QFile::ReadOwner | QFile::ExeOwner);
        m_program->setEnvironment(text("PATH"), folder + text(":/usr/bin:/bin"));
        const Outcome o = runSmall();
        QCOMPARE(o.exitCode, 1);
        QCOMPARE(stringOf(o.last("run.finished"), "status"), text("failed"));
        QVERIFY2(o.err.contains("paddock: the run failed: The sandbox could not be started, because this system refuses user namespaces"), o.err.constData());
    }

    void brokenConfiguration_data()
    {
        QTest::addColumn<QByteArray>("yaml");
        QTest::addColumn<QString>("says");
        QTest::newRow("not YAML") << QByteArray("sandbox: [\n") << text("config.yaml:2:1: not valid YAML");
        QTest::newRow("a list") << QByteArray("- 1\n") << text("must be a mapping of sections");
        QTest::newRow("wrong type") << QByteArray("subagent_runtime: {max_running: many}\n") << text("config.yaml:1:33: subagent_runtime.max_running: must be a whole number");
        QTest::newRow("out of range") << QByteArray("sandbox: {bash_command_timeout: 0}\n") << text("sandbox.bash_command_timeout");
        QTest::newRow("sessions too few") << QByteArray("subagent_runtime: {max_running: 20}\nsandbox: {environment: {MAX_SHELL_SESSIONS: 10}}\n") << text("required 21");
        QTest::newRow("not UTF-8") << QByteArray("\xff\xfe") << text("config.yaml:1:1: the byte \\xff is not UTF-8 text");
        QTest::newRow("unset variable") << QByteArray("log_level: $PADDOCK_TEST_NOT_SET\n") << text("PADDOCK_TEST_NOT_SET is not set");
        QTest::newRow("huge") << QByteArray(5'000'000, '#') << text("larger than 4 MiB");
        QTest::newRow("missing") << QByteArray() << text("does not exist");
    }
    void brokenConfiguration()
    {
        QFETCH(QByteArray, yaml);
        QFETCH(QString, says);
        if (!yaml.isEmpty())
            m_program->file(text("config.yaml"), yaml);
        verifySentence(runSmall({text("--config"), text("config.yaml")}), 2, {says});
        const Outcome doctor = m_program->run({text("doctor"), text("--config"), text("config.yaml"), text("--data-dir"), m_program->dataDir()});
        QCOMPARE(doctor.exitCode, 1);
        QVERIFY2(doctor.out.contains("BAD   configuration: "), doctor.out.constData());
    }

    void misspeltConfigurationIsToldInTheRun()
    {
        if (skipsWithoutIsolation())
            QSKIP(qPrintable(PaddockProgram::isolationProblem()));
        m_program->file(text("config.yaml"), "sandboks: {}\n");
        const Outcome o = runSmall({text("--config"), text("config.yaml")});
        QCOMPARE(o.exitCode, 0);
        QVERIFY2(stringOf(o.last("log"), "text").contains(u"unknown key 'sandboks'; did you mean 'sandbox'?"), o.out.left(2000).constData());
    }

    void closedOutputsLoseNothing_data()
    {
        QTest::addColumn<QString>("script");
        QTest::addColumn<int>("code");
        QTest::addColumn<QString>("says");
        QTest::newRow("reader goes away") << text("\"$@\" 2>err | head -n 1; exit ${PIPESTATUS[0]}") << 0 << QString();
        QTest::newRow("closed from the start") << text("\"$@\" >&- 2>err") << 0 << QString();
        QTest::newRow("all closed") << text("\"$@\" <&- >&- 2>&-") << 0 << QString();
        QTest::newRow("full device") << text("\"$@\" >/dev/full 2>err") << 1 << text("standard output takes no more (No space left on device)");
    }
    void closedOutputsLoseNothing()
    {
        if (skipsWithoutIsolation())
            QSKIP(qPrintable(PaddockProgram::isolationProblem()));
        QFETCH(QString, script);
        QFETCH(int, code);
        QFETCH(QString, says);
        const QString scenario = m_program->scenario(smallScenario());
        const Outcome o = m_program->run(m_program->runArguments(scenario), {text("bash"), text("-c"), script, text("bash")});
        QCOMPARE(o.exitCode, code);
        QFile err(QFileInfo(m_program->dataDir()).path() + text("/err"));
        const QByteArray said = err.open(QIODevice::ReadOnly) ? err.readAll() : QByteArray();
        QVERIFY2(says.isEmpty() ? said.isEmpty() : said.contains(says.toUtf8()) && said.count('\n') == 1, said.constData());
        // Whatever became of the output, the journal has the whole run.
        const Outcome exported = m_program->run({text("export"), text("last"), text("--data-dir"), m_program->dataDir()});
        QCOMPARE(exported.exitCode, 0);
        QCOMPARE(stringOf(exported.last("run.finished"), "status"), text("completed"));
        QVERIFY(exported.resultOf(text("a")).startsWith(u"/mnt/user-data/workspace"));
    }
};

} // namespace tst_bad_input

PADDOCK_TEST(tst_bad_input, BadInputTest)
#include "tst_bad_input.moc"
