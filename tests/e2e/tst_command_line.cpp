// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// The command line as people and scripts use it: help that teaches, complaints with a suggestion, runs that are shown,
// exported and imported as the same, scenarios, the doctor, and a sandbox served to a plain HTTP client.

#include "core/journal/journal_import.h"
#include "core/journal/journal_reader.h"
#include "tests/support/paddock_program.h"
#include "tests/support/raw_http.h"
#include "tests/support/test_main.h"

#include <QDir>
#include <QFile>
#include <QTest>

#include <csignal>
#include <set>
#include <string>

namespace tst_command_line {

using namespace paddock;
using namespace paddock::test;

namespace {

QString text(const char *utf8)
{
    return QString::fromUtf8(utf8);
}

QStringList words(const char *line)
{
    return text(line).split(QLatin1Char(' '), Qt::SkipEmptyParts);
}

Json dataOf(const RawReply &reply)
{
    const auto json = parseJson(reply.body);
    return json ? memberOf(*json, "data") : Json();
}

} // namespace

class CommandLineTest : public QObject
{
    Q_OBJECT

private:
    std::unique_ptr<PaddockProgram> m_program;

    Outcome run(const QStringList &arguments) const { return m_program->run(arguments); }
    QStringList withData(const char *line) const { return words(line) + QStringList{text("--data-dir"), m_program->dataDir()}; }
    /// Where a started `sandbox serve` is; what it complained of when it did not come up.
    static QString servedAt(QProcess &process, QByteArray &seen)
    {
        if (!PaddockProgram::waitFor(process, "serving at ", seen) || !PaddockProgram::waitFor(process, "\n", seen))
            return QString::fromUtf8(process.readAllStandardError());
        return QString::fromUtf8(seen).section(text("serving at "), 1).trimmed().remove(text("http://"));
    }
    static bool canIsolate() { return PaddockProgram::isolationProblem().isEmpty(); }

private Q_SLOTS:
    void init() { m_program = std::make_unique<PaddockProgram>(); }
    void cleanup()
    {
        QCOMPARE(m_program->leftovers().join(QLatin1Char('\n')), QString());
        m_program.reset();
    }

    void helpTeaches_data()
    {
        QTest::addColumn<QString>("command");
        for (const char *command : {"run", "show", "export", "doctor", "chain", "sandbox serve"})
            QTest::newRow(command) << text(command);
    }
    void helpTeaches()
    {
        QFETCH(QString, command);
        for (const char *ask : {"--help", "-h"}) {
            const Outcome o = run(command.split(QLatin1Char(' ')) + QStringList{text(ask)});
            QCOMPARE(o.exitCode, 0);
            const QString help = QString::fromUtf8(o.out);
            QVERIFY2(help.startsWith(text("Usage: paddock ") + command + text(" [options]")), o.out.constData());
            QVERIFY2(help.contains(u"\nOptions:\n"), o.out.constData());
            QVERIFY2(help.contains(text("\nExamples:\n  paddock ") + command), o.out.constData());
            QVERIFY2(help.contains(u"Exit codes: 0 "), o.out.constData());
            QVERIFY2(!help.contains(u"--help-all"), o.out.constData());
            QVERIFY2(o.err.isEmpty(), o.err.constData());
        }
    }

    void helpNamesLimitsAndDefaults_data()
    {
        QTest::addColumn<QString>("command");
        QTest::addColumn<QString>("part");
        QTest::newRow("subagents at once") << text("run") << text("Subagents at once, 1 to 64");
        QTest::newRow("where the configuration is looked for") << text("run") << text("else ./config.yaml, else paddock/config.yaml in $XDG_CONFIG_HOME");
        QTest::newRow("the same for the doctor") << text("doctor") << text("$DEER_FLOW_CONFIG_PATH, else ./config.yaml");
        QTest::newRow("where the data are") << text("show") << text("default: paddock in $XDG_DATA_HOME");
        QTest::newRow("the format of an export") << text("export") << text("jsonl (default), markdown or otlp");
    }
    void helpNamesLimitsAndDefaults()
    {
        QFETCH(QString, command);
        QFETCH(QString, part);
        const Outcome o = run({command, text("--help")});
        QVERIFY2(QString::fromUtf8(o.out).simplified().contains(part), o.out.constData());
    }

    void overviewsNameEverything()
    {
        const Outcome top = run({text("--help")});
        QCOMPARE(top.exitCode, 0);
        for (const char *part : {"paddock run", "paddock show", "paddock export", "paddock scenario", "paddock chain", "paddock sandbox serve", "paddock doctor", "Exit codes"})
            QVERIFY2(top.out.contains(part), part);
        for (const char *line : {"scenario --help", "scenario check --help", "scenario list -h"}) {
            const Outcome o = run(words(line));
            QCOMPARE(o.exitCode, 0);
            QVERIFY2(o.out.contains("paddock scenario check FILE") && o.out.contains("Exit codes"), o.out.constData());
        }
        QCOMPARE(run({text("sandbox"), text("--help")}).exitCode, 0);
        QVERIFY(run({text("--version")}).out.startsWith("paddock "));
    }

    void wrongUsageSuggests_data()
    {
        QTest::addColumn<QString>("line");
        QTest::addColumn<QString>("says");
        const auto row = [](const char *line, const char *says) { QTest::newRow(line) << text(line) << text(says); };
        row("rum", "there is no command 'rum'; did you mean run? Try: paddock --help");
        row("frobnicate", "there is no command 'frobnicate'. Try: paddock --help");
        row("run --scenaro survey", "paddock run: there is no option --scenaro; did you mean --scenario? Try: paddock run --help");
        row("run --worspace x", "did you mean --workspace?");
        row("run --xyzzyxyzzy", "paddock run: there is no option --xyzzyxyzzy. Try: paddock run --help");
        row("run --scenario", "Missing value after '--scenario'. Try: paddock run --help");
        row("run", "give a task, or --scenario survey");
        row("run --max-running 0 x", "from 1 to 64");
        row("run --max-running many x", "from 1 to 64");
        row("run --sandbox moon --scenario survey", "There is no sandbox 'moon'");
        row("run --scenario nope", "There is no built-in scenario 'nope'");
        row("run --workspace= --scenario survey", "--workspace is empty");
        row("run --workspace-copy --scenario survey", "--workspace-copy wants --workspace");
        row("run --model gpt --scenario survey", "--model and --scenario exclude each other");
        row("run --scenario survey --workspace /etc", "The folder /etc belongs to the system");
        row("run --scenario survey --workspace /etc/apt", "The folder /etc/apt belongs to the system");
        row("run --scenario survey --workspace /home", "The folder /home belongs to the system");
        row("show --data-dir /nonexistent/x", "there is no data folder /nonexistent/x");
        row("show --data-dir /etc/passwd", "there is no data folder /etc/passwd");
        row("export last --output=", "--output is empty");
        row("show --data-dr x", "paddock show: there is no option --data-dr; did you mean --data-dir?");
        row("show a b", "paddock show: 'b' is one argument too many. Try: paddock show --help");
        row("show nosuchrun", "paddock: ");
        row("export", "paddock export: name one run");
        row("export last --format pdf", "the format 'pdf' is not known; choose jsonl, markdown or otlp");
        row("export a b", "'b' is one argument too many");
        row("doctor now", "paddock doctor: 'now' is one argument too many");
        row("doctor --confg x", "did you mean --config?");
        row("chain --agent nobody", "There is no agent 'nobody'; choose one of lead, general-purpose, bash");
        row("chain --config /nonexistent/c.yaml", "paddock chain: ");
        row("scenario", "Usage:");
        row("scenario chek x", "did you mean check?");
        row("scenario check", "name at least one file");
        row("scenario check --frob", "there is no option --frob");
        row("scenario show", "paddock scenario");
        row("sandbox", "Usage: paddock sandbox serve");
        row("sandbox rent", "the only one is serve");
        row("sandbox serve --lsten x", "did you mean --listen?");
        row("sandbox serve here", "'here' is one argument too many");
        row("sandbox serve --listen nowhere", "--listen takes ADDRESS:PORT or unix:PATH, not 'nowhere'");
        row("sandbox serve --listen 0.0.0.0:0", "give --token-file");
        row("sandbox serve --network moon", "--network is none or host");
        row("sandbox serve --max-shell-sessions 0", "above 0");
        row("sandbox serve --token-file /nonexistent/key", "Cannot read the token file /nonexistent/key");
        row("sandbox serve --workspace /nonexistent", "/nonexistent is not a folder");
    }
    void wrongUsageSuggests()
    {
        QFETCH(QString, line);
        QFETCH(QString, says);
        const Outcome o = run(line.split(QLatin1Char(' '), Qt::SkipEmptyParts));
        QVERIFY2(o.exitCode == 2, o.err.constData());
        QVERIFY2(o.err.contains(says.toUtf8()), o.err.constData());
        QVERIFY2(!o.err.contains("..") && !o.err.contains(": ."), o.err.constData());
        QVERIFY2(o.out.isEmpty(), o.out.constData());
        if (line != u"scenario" && line != u"sandbox")
            QVERIFY2(o.err.count('\n') == 1, o.err.constData());
    }

    void wrongValuesSuggest_data()
    {
        QTest::addColumn<QString>("line");
        QTest::addColumn<QString>("says");
        const auto row = [](const char *line, const char *says) { QTest::newRow(line) << text(line) << text(says); };
        row("run --help-all", "paddock run: there is no option --help-all");
        row("run --scenario survey --scenario recovery --help-all", "there is no option --help-all");
        row("doctor --help-all", "there is no option --help-all");
        row("--help-all", "help-all");
        row("run --scenario survey --scenario recovery", "paddock run: --scenario takes one value, but is given 2 times. Try: paddock run --help");
        row("run -s survey -s recovery --scenario survey", "--scenario takes one value, but is given 3 times");
        row("export last --format jsonl -f otlp", "--format takes one value");
        row("--open last --open last", "--open takes one value");
        row("run --data-dir= --scenario survey", "--data-dir is empty; name a folder");
        row("show --data-dir=", "--data-dir is empty");
        row("doctor --data-dir=", "--data-dir is empty");
        row("--data-dir=", "--data-dir is empty");
        row("run --config= --scenario survey", "--config is empty; name a file");
        row("run --config /etc --scenario survey", "/etc, named by --config, is a folder");
        row("run --config /dev/null --scenario survey", "/dev/null, named by --config, is not a file");
    }
    void wrongValuesSuggest() { wrongUsageSuggests(); }

    void scenariosAreListedShownAndChecked()
    {
        const Outcome list = run({text("scenario"), text("list")});
        QCOMPARE(list.exitCode, 0);
        for (const char *name : {"survey", "recovery"}) {
            QVERIFY2(list.out.contains(name), list.out.constData());
            const Outcome shown = run({text("scenario"), text("show"), text(name)});
            QCOMPARE(shown.exitCode, 0);
            const QString copy = m_program->file(text(name) + text("-copy.yaml"), shown.out);
            const Outcome check = run({text("scenario"), text("check"), copy, text(name)});
            QCOMPARE(check.exitCode, 0);
            QCOMPARE(check.out.count(": good ("), 2);
        }
    }

    void doctorSaysWhatIsThere()
    {
        const Outcome o = run(withData("doctor"));
        QCOMPARE(o.exitCode, canIsolate() ? 0 : 1);
        for (const char *part : {"bubblewrap: ", "namespaces: ", "sandbox server: ", "data folder: ", "journal: ", "configuration: ", "models: ", "host bash: "})
            QVERIFY2(o.out.contains(part), o.out.constData());
        QVERIFY2(!QFile::exists(m_program->dataDir() + text("/journal.db")), "the doctor only looks");
        const QString nowhere = m_program->dataDir() + text("/not/there/yet");
        const Outcome looked = run({text("doctor"), text("--data-dir"), nowhere});
        QVERIFY2(looked.out.contains("/not/there/yet, made with the first run, "), looked.out.constData());
        QVERIFY(!QFile::exists(m_program->dataDir() + text("/not")));
        QVERIFY(run({text("doctor"), text("--data-dir"), text("/proc/version/x")}).out.contains("BAD   data folder: /proc/version/x is not there and cannot be made"));
    }

    void emptyJournalSaysWhatToTry()
    {
        m_program->folder(text("data"));
        const Outcome list = run(withData("show"));
        QCOMPARE(list.exitCode, 0);
        QVERIFY2(list.out.contains("No runs yet. Try: paddock run"), list.out.constData());
        const Outcome one = run(withData("show last"));
        QCOMPARE(one.exitCode, 2);
        QVERIFY2(one.err.startsWith("paddock: ") && one.err.count('\n') == 1, one.err.constData());
    }

    void exportIsTheRunAndImportIsTheExport()
    {
        if (!canIsolate())
            QSKIP(qPrintable(PaddockProgram::isolationProblem()));
        const QString scenario = m_program->scenario(commandScenario(
            {bashCall(text("a"), text("echo héllo; exit 3")), toolCall(text("b"), text("write_file"), Json{{"path", "/mnt/user-data/outputs/x.md"}, {"content", "# x\n"}})}));
        const Outcome live = run(m_program->runArguments(scenario));
        QVERIFY2(live.exitCode == 0, live.err.constData());
        const Outcome exported = run(withData("export last --format jsonl"));
        QCOMPARE(exported.exitCode, 0);
        QCOMPARE(exported.out, live.out); // byte for byte what --jsonl printed

        const QString other = m_program->folder(text("imported"));
        {
            auto journal = Journal::open({.folder = other});
            QVERIFY2(journal, journal ? "" : qPrintable(journal.error().fullMessage()));
            QFile file(m_program->file(text("run.jsonl"), exported.out));
            QVERIFY(file.open(QIODevice::ReadOnly));
            auto imported = importJsonl(**journal, file);
            QVERIFY2(imported, imported ? "" : qPrintable(imported.error().fullMessage()));
            QCOMPARE(imported->events, qint64(live.events.size()));
        }
        const QStringList there{text("--data-dir"), other};
        const Outcome again = run(words("export last") + there);
        QCOMPARE(again.exitCode, 0);
        QCOMPARE(again.out, live.out);
        const Outcome shown = run(withData("show last"));
        const Outcome shownThere = run(words("show last") + there);
        QCOMPARE(shown.exitCode, 0);
        QCOMPARE(shownThere.err, shown.err);
        QVERIFY2(shown.err.isEmpty(), shown.err.constData());
        QVERIFY2(shown.out.contains(" started: ") && shown.out.contains("lead completed") && shown.out.count('\n') > 5, shown.out.constData());
        QCOMPARE(shownThere.out, shown.out);
        QVERIFY2(shown.out.contains("héllo"), shown.out.constData());
        // By the beginning of its id, too.
        const QString id = stringOf(live.last("run.finished"), "run");
        QCOMPARE(run(withData("export") + QStringList{id.left(6)}).out, live.out);
    }

    /// All logs of terminals together stay below their limit: the oldest ended runs lose theirs, and say so; never a live one.
    void oldTerminalLogsGo()
    {
        if (!canIsolate())
            QSKIP(qPrintable(PaddockProgram::isolationProblem()));
        const QString config = m_program->file(text("config.yaml"), "terminal_logs: {max_total_bytes: 50000}\n");
        const QString flood = m_program->scenario(commandScenario({bashCall(text("a"), text("head -c 20000 /dev/zero | tr '\\0' x"))}), text("flood.yaml"));
        const QString waits = m_program->scenario(
            commandScenario({bashCall(text("a"), text("head -c 20000 /dev/zero | tr '\\0' x")), bashCall(text("b"), text("echo waiting; until [ -e go ]; do sleep 0.1; done"))}),
            text("waits.yaml"));
        const QString workspace = m_program->folder(text("work"));
        const QStringList more{text("--config"), config, text("--workspace"), workspace};
        const auto live = m_program->start(m_program->runArguments(waits, more));
        QByteArray seen;
        QVERIFY2(PaddockProgram::waitFor(*live, "echo waiting", seen), live->readAllStandardError().constData());
        QStringList ids, threads;
        for (int i = 0; i < 3; ++i) {
            const Outcome o = run(m_program->runArguments(flood, more));
            QVERIFY2(o.exitCode == 0, o.err.constData());
            ids << stringOf(o.last("run.finished"), "run");
            threads << stringOf(o.last("run.started"), "thread");
        }
        m_program->file(text("work/go"), {});
        const Outcome first = PaddockProgram::outcomeOf(*live, seen);
        QVERIFY2(first.exitCode == 0, first.err.constData());
        const auto kept = [&](const QString &thread) { return QDir(m_program->dataDir() + text("/shells/") + thread).exists(); };
        QVERIFY2(kept(stringOf(first.last("run.started"), "thread")), "it was live while the others ended, and is the last to have ended");
        QVERIFY(!kept(threads[0]));
        QVERIFY(!kept(threads[1]));
        QVERIFY(kept(threads[2]));

        const Outcome gone = run(withData("show") + QStringList{ids[0]});
        QCOMPARE(gone.exitCode, 0);
        QVERIFY2(gone.out.contains("What its terminals printed is gone: old logs of terminals are removed"), gone.out.constData());
        const Outcome there = run(withData("show") + QStringList{ids[2]});
        QVERIFY2(!there.out.contains("is gone"), there.out.constData());
    }

    void exportWritesFilesAndFormats()
    {
        if (!canIsolate())
            QSKIP(qPrintable(PaddockProgram::isolationProblem()));
        const Outcome live = run(m_program->runArguments(m_program->scenario(commandScenario({bashCall(text("a"), text("echo hello"))}))));
        QCOMPARE(live.exitCode, 0);
        const QString file = m_program->folder(text("out")) + text("/run");
        const Outcome written = run(QStringList{text("export"), text("last"), text("-o"), file, text("--data-dir"), m_program->dataDir()});
        QVERIFY2(written.exitCode == 0, written.err.constData());
        QFile there(file);
        QVERIFY(there.open(QIODevice::ReadOnly));
        QCOMPARE(there.readAll(), live.out);
        const Outcome markdown = run(withData("export last --format markdown"));
        QCOMPARE(markdown.exitCode, 0);
        QVERIFY2(markdown.out.startsWith("#") && markdown.out.contains("echo hello"), markdown.out.constData());
        const Outcome otlp = run(withData("export last --format otlp"));
        QCOMPARE(otlp.exitCode, 0);
        const auto spans = parseJson(otlp.out, 256);
        QVERIFY2(spans && spans->contains("resourceSpans"), otlp.out.left(500).constData());
        std::set<std::string> ids;
        const Json &all = (*spans)["resourceSpans"][0]["scopeSpans"][0]["spans"];
        for (const Json &span : all)
            QVERIFY2(ids.insert(span["spanId"].get<std::string>()).second, "an id comes twice");
        int roots = 0;
        for (const Json &span : all) {
            if (!span.contains("parentSpanId"))
                ++roots;
            else
                QVERIFY2(ids.contains(span["parentSpanId"].get<std::string>()), dumpJson(span).constData());
        }
        QCOMPARE(roots, 1);
        const Outcome nowhere = run(withData("export last --output /nonexistent/x"));
        QCOMPARE(nowhere.exitCode, 1);
        QVERIFY2(nowhere.err.contains("/nonexistent/x cannot be written") && nowhere.err.count('\n') == 1, nowhere.err.constData());
    }

    void exportAppendsWhereOutputStands()
    {
        if (!canIsolate())
            QSKIP(qPrintable(PaddockProgram::isolationProblem()));
        const Outcome live = run(m_program->runArguments(m_program->scenario(commandScenario({bashCall(text("a"), text("echo hello"))}))));
        QCOMPARE(live.exitCode, 0);
        const QString file = m_program->file(text("log"), "before\n");
        const QStringList appending{text("sh"), text("-c"), text("f=$1; shift; { \"$@\"; echo after; } >> \"$f\""), text("sh"), file};
        QCOMPARE(m_program->run(withData("export last"), appending).exitCode, 0);
        QFile there(file);
        QVERIFY(there.open(QIODevice::ReadOnly));
        QCOMPARE(there.readAll(), QByteArray("before\n" + live.out + "after\n"));
    }

    void ownDataIsNoWorkspace_data()
    {
        QTest::addColumn<QString>("below");
        QTest::newRow("the data folder") << text("data");
        QTest::newRow("a folder in it") << text("data/users");
        QTest::newRow("the folder above") << QString();
    }
    void ownDataIsNoWorkspace()
    {
        QFETCH(QString, below);
        m_program->folder(text("data/users"));
        const QString scenario = m_program->scenario(commandScenario({bashCall(text("a"), text("echo hello"))}));
        const Outcome o = run(m_program->runArguments(scenario, {text("--workspace"), m_program->folder(below)}));
        QCOMPARE(o.exitCode, 2);
        QVERIFY2(o.err.contains("could change Paddock's own records"), o.err.constData());
    }

    void outputsAreNamed()
    {
        if (!canIsolate())
            QSKIP(qPrintable(PaddockProgram::isolationProblem()));
        const QString scenario = m_program->scenario(commandScenario({bashCall(text("a"), text("echo x > /mnt/user-data/outputs/x"))}));
        const Outcome o = run({text("run"), text("--scenario"), scenario, text("--data-dir"), m_program->dataDir()});
        QCOMPARE(o.exitCode, 0);
        const QByteArray folder = o.err.mid(o.err.lastIndexOf("outputs are in ") + 15).trimmed();
        QVERIFY2(QFile::exists(QString::fromUtf8(folder) + text("/x")), o.err.constData());
    }

    void configuredSandboxIsUsed()
    {
        const QString scenario = m_program->scenario(commandScenario({bashCall(text("a"), text("echo hello"))}));
        const QString config = m_program->file(text("config.yaml"), "sandbox:\n  use: docker\n");
        const Outcome o = run(m_program->runArguments(scenario, {text("--config"), config}));
        QCOMPARE(o.exitCode, 2);
        QVERIFY2(o.err.contains("There is no sandbox 'docker'"), o.err.constData());
    }

    void localSandboxSaysThatThereIsNoBash()
    {
        const QString scenario = m_program->scenario(commandScenario({toolCall(text("a"), text("ls"), Json{{"path", "/mnt/user-data/workspace"}})}));
        const Outcome o = run(m_program->runArguments(scenario, {text("--sandbox"), text("local")}));
        QVERIFY2(o.out.contains("gives agents files but no bash: sandbox.allow_host_bash is off"), o.out.constData());
    }

    void scenarioWithBashIsNotBegunWithoutOne_data()
    {
        QTest::addColumn<QByteArray>("config");
        QTest::addColumn<QString>("kind");
        QTest::addColumn<bool>("refused");
        QTest::newRow("asked for") << QByteArray() << text("local") << true;
        QTest::newRow("configured") << QByteArray("sandbox: {use: local}\n") << QString() << true;
        QTest::newRow("allowed") << QByteArray("sandbox: {allow_host_bash: true}\n") << text("local") << false;
    }
    void scenarioWithBashIsNotBegunWithoutOne()
    {
        QFETCH(QByteArray, config);
        QFETCH(QString, kind);
        QFETCH(bool, refused);
        const QString file = m_program->scenario(commandScenario({bashCall(text("a"), text("echo hello"))}));
        const QString bashAgent = m_program->scenario(commandScenario({toolCall(text("a"), text("task"), Json{{"prompt", "p"}, {"subagent_type", "bash"}})}), text("agent.yaml"));
        QStringList more{text("--config"), m_program->file(text("config.yaml"), config + "\n")};
        if (!kind.isEmpty())
            more += {text("--sandbox"), kind};
        for (const QString &scenario : refused ? QStringList{file, bashAgent, text("survey")} : QStringList{file}) {
            const Outcome o = run(m_program->runArguments(scenario, more));
            QVERIFY2(o.exitCode == (refused ? 2 : 0), o.err.constData());
            QVERIFY2(o.err.contains("runs commands with bash, and the local sandbox offers no bash") == refused, o.err.constData());
            QCOMPARE(o.events.empty(), refused);
        }
    }

    void progressSaysErrorOnce()
    {
        const QString scenario = m_program->scenario(commandScenario({toolCall(text("a"), text("read_file"), Json{{"path", "/mnt/user-data/workspace/nope"}})}));
        const Outcome o = run({text("run"), text("--sandbox"), text("local"), text("--scenario"), scenario, text("--data-dir"), m_program->dataDir()});
        QVERIFY2(o.exitCode == 0 && o.err.contains("read_file error: File not found"), o.err.constData());
    }

    void noDisplayIsSaid()
    {
        for (const char *name : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"})
            m_program->setEnvironment(text(name), QString());
        const Outcome o = run(withData("--open last"));
        QCOMPARE(o.exitCode, 1);
        QVERIFY2(o.err.contains("there is no display") && o.err.count('\n') == 1, o.err.constData());
    }

    void displayThatRefusesIsSaid_data()
    {
        QTest::addColumn<QString>("variable");
        QTest::addColumn<QString>("value");
        QTest::newRow("no X server") << text("DISPLAY") << text(":4799");
        QTest::newRow("no compositor") << text("WAYLAND_DISPLAY") << text("wayland-4799");
        QTest::newRow("no such platform") << text("QT_QPA_PLATFORM") << text("nonsense");
    }
    void displayThatRefusesIsSaid()
    {
        QFETCH(QString, variable);
        QFETCH(QString, value);
        for (const char *name : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"})
            m_program->setEnvironment(text(name), variable == QLatin1String(name) ? value : QString());
        const Outcome o = run(withData("--sample"));
        QCOMPARE(o.exitCode, 1); // and not a signal
        QVERIFY2(o.err.contains(value.toUtf8()) && o.err.contains("paddock run TASK"), o.err.constData());
    }

    void servedSandboxRefusesForeignPages()
    {
        if (!canIsolate())
            QSKIP(qPrintable(PaddockProgram::isolationProblem()));
        const QString workspace = m_program->folder(text("project"));
        const auto process = m_program->start({text("sandbox"), text("serve"), text("--workspace"), workspace});
        QByteArray seen;
        const QString address = servedAt(*process, seen);
        QVERIFY2(address.startsWith(u"127.0.0.1:"), qPrintable(address));
        const auto answer = [&](const QByteArray &host, const QByteArray &more) {
            RawHttp client(address);
            const QByteArray body = R"({"command":"echo hi"})";
            client.connect();
            client.send("POST /v1/shell/exec HTTP/1.1\r\nHost: " + host + "\r\nContent-Length: " + QByteArray::number(body.size()) + "\r\n" + more + "\r\n" + body);
            return client.readReply().status;
        };
        const QByteArray port = address.section(QLatin1Char(':'), 1).toUtf8();
        QCOMPARE(answer("127.0.0.1:" + port, {}), 200);
        QCOMPARE(answer("localhost:" + port, "Origin: http://localhost:" + port + "\r\n"), 200);
        QCOMPARE(answer("evil.example:" + port, {}), 403); // a name that was bent to this machine
        QCOMPARE(answer("127.evil.example:" + port, {}), 403);
        QCOMPARE(answer("127.0.0.1:" + port, "Origin: http://evil.example\r\n"), 403);
        QCOMPARE(answer("127.0.0.1:" + port, "Origin: null\r\n"), 403);
        QCOMPARE(answer("127.0.0.1:" + port, "Origin: http://127.0.0.1:1\r\n"), 403);
        QCOMPARE(answer("127.0.0.1:" + port, "Sec-Fetch-Site: cross-site\r\n"), 403);
        ::kill(pid_t(process->processId()), SIGINT);
        QCOMPARE(PaddockProgram::outcomeOf(*process, seen).exitCode, 130);
    }

    void servedSandboxAnswersAnyClient_data()
    {
        QTest::addColumn<bool>("overTcp");
        QTest::newRow("unix socket") << false;
        QTest::newRow("loopback with a token") << true;
    }
    void servedSandboxAnswersAnyClient()
    {
        if (!canIsolate())
            QSKIP(qPrintable(PaddockProgram::isolationProblem()));
        QFETCH(bool, overTcp);
        const QString workspace = m_program->folder(text("project"));
        m_program->file(text("project/there.txt"), "there\n");
        const QString socket = m_program->folder(text("sockets")) + text("/box.sock");
        const QString token = m_program->file(text("token"), "s3cret-token\nsecond line\n");
        QStringList arguments{text("sandbox"), text("serve"), text("--workspace"), workspace, text("--listen")};
        arguments += overTcp ? QStringList{text("127.0.0.1:0"), text("--token-file"), token} : QStringList{text("unix:") + socket};
        const auto process = m_program->start(arguments);
        QByteArray seen;
        const QString address = servedAt(*process, seen);
        QVERIFY2(address.startsWith(overTcp ? text("127.0.0.1:") : text("unix:")), qPrintable(address));

        if (overTcp) {
            for (const RawHttp::Headers &wrong : {RawHttp::Headers{}, RawHttp::Headers{{"X-AIO-API-Key", "s3cret-toke"}}, RawHttp::Headers{{"Authorization", "Bearer second line"}}}) {
                RawHttp stranger(address);
                QCOMPARE(stranger.request("POST", "/v1/shell/exec", "{\"command\":\"touch /mnt/user-data/workspace/stranger\"}", wrong).status, 401);
            }
        }
        RawHttp::Headers headers;
        if (overTcp)
            headers.emplaceBack("Authorization", "Bearer s3cret-token");
        RawHttp client(address);
        const auto post = [&](const char *target, const Json &body) { return client.request("POST", target, dumpJson(body), headers); };
        QCOMPARE(client.request("GET", "/v1/sandbox", {}, headers).status, 200);
        const RawReply shell = post("/v1/shell/exec", Json{{"command", "cd /mnt/user-data/workspace; ls; echo s3cret=$PADDOCK_SANDBOX_API_KEY; cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep -c s3cret-token"}});
        QCOMPARE(shell.status, 200);
        QCOMPARE(stringOf(dataOf(shell), "status"), text("completed"));
        QCOMPARE(stringOf(dataOf(shell), "output").trimmed(), text("there.txt\ns3cret=\n0"));
        QCOMPARE(post("/v1/file/write", Json{{"file", "/mnt/user-data/workspace/new.txt"}, {"content", "written\n"}}).status, 200);
        QFile written(workspace + text("/new.txt"));
        QVERIFY(written.open(QIODevice::ReadOnly));
        QCOMPARE(written.readAll(), QByteArray("written\n"));
        const RawReply read = post("/v1/file/read", Json{{"file", "/mnt/user-data/workspace/there.txt"}});
        QCOMPARE(stringOf(dataOf(read), "content"), text("there\n"));
        QVERIFY(!QFile::exists(workspace + text("/stranger")));

        // Ctrl-C while a command runs and with a daemon in it: all of it ends, the socket too.
        QCOMPARE(post("/v1/shell/exec", Json{{"command", "setsid nohup sleep 4242 >/dev/null 2>&1 & sleep 4711"}, {"async_mode", true}}).status, 200);
        ::kill(pid_t(process->processId()), SIGINT);
        const Outcome o = PaddockProgram::outcomeOf(*process, seen);
        QVERIFY(!o.hung);
        QCOMPARE(o.exitCode, 130);
        QVERIFY2(o.err.isEmpty(), o.err.constData());
        QVERIFY(!QFile::exists(socket));
    }

    void servingWhereSomethingIsRefuses()
    {
        if (!canIsolate())
            QSKIP(qPrintable(PaddockProgram::isolationProblem()));
        const QString file = m_program->file(text("precious"), "keep\n");
        const Outcome o = run({text("sandbox"), text("serve"), text("--listen"), text("unix:") + file});
        QCOMPARE(o.exitCode, 2);
        QVERIFY2(o.err.contains("/precious exists already; remove it or choose another path"), o.err.constData());
        QFile kept(file);
        QVERIFY(kept.open(QIODevice::ReadOnly));
        QCOMPARE(kept.readAll(), QByteArray("keep\n"));
    }
};

} // namespace tst_command_line

PADDOCK_TEST(tst_command_line, CommandLineTest)
#include "tst_command_line.moc"
