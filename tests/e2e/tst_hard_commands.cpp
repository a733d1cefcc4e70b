// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// Commands that nobody would type and every agent will: through the real program, server and shells. Whatever a command
// does to its shell, the next one runs, the run ends, and nothing stays behind.

#include "tests/support/paddock_program.h"
#include "tests/support/test_main.h"

#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QRegularExpression>
#include <QTest>

#include <sys/stat.h>
#include <unistd.h>

namespace tst_hard_commands {

using namespace paddock;
using namespace paddock::test;

namespace {

QString text(const char *utf8)
{
    return QString::fromUtf8(utf8);
}

constexpr const char *ended = "Command was terminated because its shell session ended.";
constexpr const char *timedOut = "Command timed out after 2 seconds and was terminated.";
constexpr const char *recreated = "[sandbox] shell session was recreated";
constexpr const char *restarted = "[sandbox] the sandbox was restarted; its shells, background jobs and /tmp are gone; files in /mnt/user-data are kept.\n";

} // namespace

class HardCommandsTest : public QObject
{
    Q_OBJECT

private:
    std::unique_ptr<PaddockProgram> m_program;

    static void verifyReleased(const Outcome &o)
    {
        QCOMPARE(int(o.ofType("sandbox.released").size()), 1);
        const Json released = o.last("lease.released");
        QVERIFY(boolOf(released, "last"));
        QVERIFY(intOf(o.last("sandbox.released"), "seq") > intOf(released, "seq"));
        QCOMPARE(o.ofType("shell.session_created").size(), o.ofType("shell.session_closed").size() + goneSessions(o));
    }
    /// Sessions that the server itself had lost: nobody closes those.
    static size_t goneSessions(const Outcome &o)
    {
        size_t gone = 0;
        for (const Json &lost : o.ofType("shell.session_lost"))
            gone += stringOf(lost, "reason") == u"not_found" ? 1 : 0;
        return gone;
    }

private Q_SLOTS:
    void initTestCase()
    {
        if (const QString problem = PaddockProgram::isolationProblem(); !problem.isEmpty())
            QSKIP(qPrintable(problem));
    }
    void init() { m_program = std::make_unique<PaddockProgram>(); }

    void theNextCommandStillRuns_data()
    {
        QTest::addColumn<QString>("command");
        QTest::addColumn<QString>("says");
        const auto row = [](const char *name, const char *command, const char *says) { QTest::newRow(name) << text(command) << text(says); };
        row("exit code", "exit 3", ended);
        row("exit code in a subshell", "(exit 3)", "Command exited with code 3");
        row("closes its stdin", "exec <&-; echo closed", "closed");
        row("closes its output", "exec >&- 2>&-; echo closed", "Command exited with code 1");
        row("kills its own shell", "kill -9 $$", ended);
        row("replaces its shell", "exec true", ended);
        row("ends at the first error", "set -e; false", ended);
        row("closes all descriptors", "for fd in /proc/$$/fd/*; do eval \"exec ${fd##*/}>&-\"; done", ended);
        row("forks a daemon", "setsid nohup sleep 4242 >/dev/null 2>&1 & echo forked", "forked");
        row("daemon that holds the terminal", "(sleep 4242; echo late) & echo forked", "forked");
        row("open quote", "echo \"abc", "unexpected EOF");
        row("open here-document", "cat <<EOF\nabc", "abc");
        row("open block", "if true; then", "syntax error");
        row("changes the terminal", "stty -echo raw; printf '\\033c\\033[2J'; echo raw", "raw");
        row("vi keys", "set -o vi; echo vi", ended); // bash itself crashes when it changes its input inside eval
        row("no job control", "set +m; echo off", "off");
        row("loses PATH", "PATH=; ls", "No such file");
        row("binary", "head -c 300000 /dev/urandom; echo; echo end-of-binary", "end-of-binary");
        row("no line ends", "head -c 3000000 /dev/zero | tr '\\0' x; echo; echo end-of-line", "end-of-line");
        row("terminal title and clipboard", "printf '\\033]0;title\\007\\033]52;c;ZXZpbA==\\007plain\\n'", "plain");
        row("file size limit", "(ulimit -f 10; head -c 100000 /dev/zero > big.bin; echo rc=$?; stat -c %s big.bin)", "rc=153");
    }
    void theNextCommandStillRuns()
    {
        QFETCH(QString, command);
        QFETCH(QString, says);
        QString next = text("echo alive in $PWD");
        if (command.contains(u"4242")) // the daemon may still be on its way from nohup to sleep
            next += text("; for i in 1 2 3 4 5 6 7 8 9; do n=$(pgrep -fc '[4]242$'); [ $n = 1 ] && break; sleep 0.1; done; echo daemons=$n");
        const QString scenario = m_program->scenario(commandScenario({bashCall(text("hard"), command), bashCall(text("next"), next)}));
        const Outcome o = m_program->run(m_program->runArguments(scenario));
        QVERIFY2(o.exitCode == 0, o.err.constData());
        QCOMPARE(o.brokenLines, 0);
        QVERIFY2(o.resultOf(text("hard")).contains(says), qPrintable(o.resultOf(text("hard"))));
        next = o.resultOf(text("next"));
        QVERIFY2(next.contains(u"alive in /mnt/user-data/workspace"), qPrintable(next));
        QCOMPARE(next.startsWith(text(recreated)), says == text(ended)); // the agent is told when its state is gone
        if (command.contains(u"4242"))
            QVERIFY2(next.contains(u"daemons=1"), qPrintable(next)); // it runs as long as the sandbox, and no longer
        verifyReleased(o);
        QCOMPARE(m_program->leftovers().join(QLatin1Char('\n')), QString());
    }

    void twoHundredMegabytesAreCut()
    {
        const QString scenario = m_program->scenario(commandScenario(
            {bashCall(text("flood"), text("echo first-line; yes 0123456789abcdef0123456789abcdef | head -c 200000000; echo; echo last-line")),
             bashCall(text("next"), text("echo alive"))}));
        const Outcome o = m_program->run(m_program->runArguments(scenario));
        QVERIFY2(o.exitCode == 0, o.err.constData());
        const QString flood = o.resultOf(text("flood"));
        // The model gets a synopsis with both ends, and what the tool kept in a file that it can read. It is told what is lost.
        QVERIFY2(flood.startsWith(u"[Shortened bash output saved to /mnt/user-data/outputs/.tool-results/bash-"), qPrintable(flood.left(300)));
        QVERIFY2(flood.contains(u"\nfirst-line\n") && flood.contains(u"\nlast-line\n"), qPrintable(flood));
        QVERIFY2(flood.size() < 5000, qPrintable(QString::number(flood.size())));
        const QString stored = m_program->storedResult(text("bash-"));
        QVERIFY(stored.startsWith(u"first-line") && stored.endsWith(u"last-line"));
        QVERIFY(stored.contains(u"truncated"));
        QVERIFY2(stored.size() < 25000, qPrintable(QString::number(stored.size())));
        QCOMPARE(o.resultOf(text("next")), text("alive"));
        // What a person can scroll back to is bounded, too.
        QVERIFY(folderSize(m_program->dataDir()) < 64'000'000);
        QCOMPARE(m_program->leftovers().join(QLatin1Char('\n')), QString());
    }

    void whatACutLeavesOutIsCounted_data()
    {
        QTest::addColumn<QString>("command");
        QTest::addColumn<qint64>("chars"); // of the whole output, without its last line end
        QTest::newRow("whole") << text("seq 1 3000") << qint64(0);
        QTest::newRow("cut by the tool") << text("seq 1 5000") << qint64(23892);
        QTest::newRow("cut by the server, too") << text("seq 1 20000") << qint64(108893);
    }
    void whatACutLeavesOutIsCounted()
    {
        QFETCH(QString, command);
        QFETCH(qint64, chars);
        const Outcome o = m_program->run(m_program->runArguments(m_program->scenario(commandScenario({bashCall(text("long"), command)}))));
        QVERIFY2(o.exitCode == 0, o.err.constData());
        const QString told = o.resultOf(text("long"));
        const QString stored = m_program->storedResult(text("bash-"));
        static const QRegularExpression lost(text("\\[(\\d+) chars of its middle were not kept"));
        static const QRegularExpression marker(text("\n\\.\\.\\. \\[middle truncated: (\\d+) chars skipped\\] \\.\\.\\.\n"));
        const auto inStored = marker.match(stored);
        QCOMPARE(told.startsWith(u"[Full bash output saved to "), chars == 0);
        QCOMPARE(inStored.hasMatch(), chars != 0);
        if (chars == 0)
            return;
        QCOMPARE(lost.match(told).captured(1), inStored.captured(1));
        QCOMPARE(stored.size() - inStored.capturedLength() + inStored.captured(1).toLongLong(), chars);
    }

    void endlessCommandsAreTimedOut_data()
    {
        QTest::addColumn<QString>("command");
        QTest::addColumn<bool>("keepsShell");
        const auto row = [](const char *name, const char *command, bool keeps) { QTest::newRow(name) << text(command) << keeps; };
        row("sleeps", "sleep 4711", true);
        row("waits for input", "cat", true);
        row("loops", "while :; do :; done", true);
        row("prints for ever", "yes", true);
        row("pipeline", "sleep 4711 | sleep 4712", true);
        row("child that ignores signals", "bash -c \"trap '' INT TERM HUP QUIT; sleep 4711; sleep 4711\"", true);
        row("shell that ignores signals", "trap '' INT TERM HUP QUIT; while :; do sleep 4711; done", false);
        row("stops its shell", "kill -STOP $$", false);
    }
    void endlessCommandsAreTimedOut()
    {
        QFETCH(QString, command);
        QFETCH(bool, keepsShell);
        const QString config = m_program->file(text("config.yaml"), "sandbox: {bash_command_timeout: 2}\n");
        const QString scenario = m_program->scenario(commandScenario(
            {bashCall(text("endless"), command), bashCall(text("next"), text("for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do pgrep -f '^sleep [4]71' >/dev/null || break; sleep 0.1; done; "
                                            "echo alive; pgrep -fc '^sleep [4]71' | sed s/^/sleepers=/"))}));
        const Outcome o = m_program->run(m_program->runArguments(scenario, {text("--config"), config}));
        QVERIFY2(o.exitCode == 0, o.err.constData());
        const QString result = o.resultOf(text("endless"));
        QVERIFY2(result.contains(text(timedOut)) && result.contains(u"Exit Code: 124"), qPrintable(result.right(2000)));
        const QString next = o.resultOf(text("next"));
        QVERIFY2(next.contains(u"alive") && next.contains(u"sleepers=0"), qPrintable(next));
        if (keepsShell)
            QVERIFY2(!next.contains(text(recreated)), qPrintable(next));
        verifyReleased(o);
        QCOMPARE(m_program->leftovers().join(QLatin1Char('\n')), QString());
    }

    /// The agent hears of it once, with its next command, which runs once; files stay.
    void killingTheWholeSandboxGivesAFreshOne()
    {
        const QString scenario = m_program->scenario(commandScenario(
            {bashCall(text("all"), text("echo x >> count; touch /tmp/here; kill -9 -1")), bashCall(text("second"), text("echo y >> count; cat count; ls /tmp")),
             bashCall(text("third"), text("echo third"))}));
        const Outcome o = m_program->run(m_program->runArguments(scenario));
        QVERIFY2(o.exitCode == 0, o.err.constData());
        QVERIFY2(o.resultOf(text("all")).startsWith(u"Error: "), qPrintable(o.resultOf(text("all"))));
        QCOMPARE(o.resultOf(text("second")), text(restarted) + text("x\ny"));
        QCOMPARE(o.resultOf(text("third")), text("third"));
        QCOMPARE(o.ofType("sandbox.acquired").size(), size_t(2));
        QCOMPARE(o.ofType("sandbox.failed").size(), size_t(1));
        verifyReleased(o);
        QCOMPARE(m_program->leftovers().join(QLatin1Char('\n')), QString());
    }

    /// A file tool may be what finds out; whoever runs a command is told.
    void fileToolsAfterTheKillWork()
    {
        const Json file{{"path", "/mnt/user-data/workspace/kept.txt"}};
        const QString scenario = m_program->scenario(commandScenario(
            {bashCall(text("all"), text("echo kept > kept.txt; kill -9 -1")), toolCall(text("read"), text("read_file"), file), bashCall(text("next"), text("cat kept.txt"))}));
        const Outcome o = m_program->run(m_program->runArguments(scenario));
        QVERIFY2(o.exitCode == 0, o.err.constData());
        QVERIFY2(o.resultOf(text("read")).startsWith(u"kept"), qPrintable(o.resultOf(text("read"))));
        QCOMPARE(o.resultOf(text("next")), text(restarted) + text("kept"));
        QCOMPARE(m_program->leftovers().join(QLatin1Char('\n')), QString());
    }

    void fullWorkspaceIsToldAndNothingElseBreaks()
    {
        const QString workspace = m_program->folder(text("small"));
        const QStringList mounted = PaddockProgram::withMounts(QStringLiteral("mount -t tmpfs -o size=1m t '%1' || exit 99").arg(workspace));
        if (mounted.isEmpty())
            QSKIP("this machine does not let the test mount a small file system");
        const std::string base = "/mnt/user-data/workspace/";
        const Json precious{{"path", base + "precious.txt"}};
        const std::string large(70'000, 'x'); // below the limit of one call
        const QString scenario = m_program->scenario(commandScenario({
            toolCall(text("first"), text("write_file"), Json{{"path", base + "precious.txt"}, {"content", "precious"}}),
            bashCall(text("fill"), text("head -c 5000000 /dev/zero > big; echo rc=$?")),
            toolCall(text("write"), text("write_file"), Json{{"path", base + "other.txt"}, {"content", "hello"}}),
            toolCall(text("read"), text("read_file"), precious),
            toolCall(text("over"), text("write_file"), Json{{"path", base + "precious.txt"}, {"content", large}}),
            toolCall(text("append"), text("write_file"), Json{{"path", base + "precious.txt"}, {"content", large}, {"append", true}}),
            bashCall(text("kept"), text("cat precious.txt; echo; ls -1")),
            bashCall(text("free"), text("rm big; echo fine > small; cat small")),
            toolCall(text("again"), text("write_file"), Json{{"path", base + "third.txt"}, {"content", "hello"}}),
        }));
        const Outcome o = m_program->run(m_program->runArguments(scenario, {text("--workspace"), workspace}), mounted);
        QVERIFY2(o.exitCode == 0, o.err.constData());
        QVERIFY2(o.resultOf(text("fill")).contains(u"No space left on device") && o.resultOf(text("fill")).contains(u"rc=1"), qPrintable(o.resultOf(text("fill"))));
        QVERIFY2(o.resultOf(text("write")).startsWith(u"Error: ") && o.resultOf(text("write")).contains(u"No space left"), qPrintable(o.resultOf(text("write"))));
        for (const char *call : {"over", "append"})
            QVERIFY2(o.resultOf(text(call)).startsWith(u"Error: ") && o.resultOf(text(call)).contains(u"No space left"), qPrintable(o.resultOf(text(call)).left(500)));
        QCOMPARE(o.resultOf(text("kept")), text("precious\nbig\nprecious.txt")); // the old content, and no empty file of the failed one
        QCOMPARE(o.resultOf(text("free")), text("fine"));
        QVERIFY2(o.resultOf(text("again")).startsWith(u"OK"), qPrintable(o.resultOf(text("again"))));
        QCOMPARE(m_program->leftovers().join(QLatin1Char('\n')), QString());
    }

    void linksOutOfTheWorkspaceLeadNowhere_data()
    {
        QTest::addColumn<QString>("sandbox");
        QTest::newRow("embedded") << text("embedded");
        QTest::newRow("local") << text("local");
    }
    void linksOutOfTheWorkspaceLeadNowhere()
    {
        QFETCH(QString, sandbox);
        const QString secret = m_program->file(text("secret/key.txt"), "TOPSECRET\n");
        const QString workspace = m_program->folder(text("work"));
        QVERIFY(QFile::link(secret, workspace + text("/absolute")));
        QVERIFY(QFile::link(text("../secret/key.txt"), workspace + text("/relative")));
        QVERIFY(QFile::link(QFileInfo(secret).path(), workspace + text("/folder")));
        QVERIFY(QFile::link(text("/etc/hostname"), workspace + text("/etc")));
        const std::string base = "/mnt/user-data/workspace";
        std::vector<Json> calls;
        for (const char *name : {"absolute", "relative", "folder/key.txt", "etc"}) {
            calls.push_back(toolCall(text("read-") + text(name), text("read_file"), Json{{"path", base + "/" + name}}));
            calls.push_back(toolCall(text("write-") + text(name), text("write_file"), Json{{"path", base + "/" + name}, {"content", "CHANGED"}}));
        }
        calls.push_back(toolCall(text("new"), text("write_file"), Json{{"path", base + "/folder/new.txt"}, {"content", "NEW"}}));
        calls.push_back(toolCall(text("ls"), text("ls"), Json{{"path", base + "/folder"}}));
        calls.push_back(toolCall(text("glob"), text("glob"), Json{{"path", base}, {"pattern", "**/*.txt"}}));
        calls.push_back(toolCall(text("grep"), text("grep"), Json{{"path", base}, {"pattern", "TOPSECRET"}}));
        if (sandbox == u"embedded")
            calls.push_back(bashCall(text("shell"), text("cat absolute relative folder/key.txt; echo EVIL > absolute; ls -L folder/; find -L . -name key.txt")));
        const QString scenario = m_program->scenario(commandScenario(calls));
        const Outcome o = m_program->run(m_program->runArguments(scenario, {text("--workspace"), workspace, text("--sandbox"), sandbox}));
        QVERIFY2(o.exitCode == 0, o.err.constData());
        // The word stands in what was asked for, never in what was answered.
        for (const Json &call : calls) {
            const QString id = stringOf(call, "id");
            const QString result = o.resultOf(id);
            QVERIFY2(!result.contains(u"TOPSECRET\n") && !result.contains(u"/secret/"), qPrintable(id + text(": ") + result));
            if (id.startsWith(u"read-") || id.startsWith(u"write-") || id == u"new" || id == u"ls")
                QVERIFY2(result.startsWith(u"Error"), qPrintable(id + text(": ") + result));
        }
        QFile kept(secret);
        QVERIFY(kept.open(QIODevice::ReadOnly));
        QCOMPARE(kept.readAll(), QByteArray("TOPSECRET\n"));
        QVERIFY(!QFile::exists(QFileInfo(secret).path() + text("/new.txt")));
    }

    /// What is told of a write is the file that was written, not the name that it was asked by.
    void writesThroughLinksNameTheFile_data()
    {
        QTest::addColumn<QString>("sandbox");
        QTest::newRow("embedded") << text("embedded");
        QTest::newRow("local") << text("local");
    }
    void writesThroughLinksNameTheFile()
    {
        QFETCH(QString, sandbox);
        const bool embedded = sandbox == u"embedded";
        const QString workspace = m_program->folder(text("work"));
        m_program->file(text("work/real.txt"), "one\n");
        m_program->file(text("work/deep/down.txt"), "one\n");
        QVERIFY(QFile::link(text("real.txt"), workspace + text("/alias")));
        QVERIFY(QFile::link(text("deep"), workspace + text("/short")));
        QVERIFY(QFile::link(text("/mnt/user-data/outputs"), workspace + text("/out")));
        QVERIFY(QFile::link(text("/tmp/far.txt"), workspace + text("/far")));
        const std::string base = "/mnt/user-data/workspace/";
        std::vector<Json> calls;
        const auto write = [&](const char *name) {
            calls.push_back(toolCall(text("write-") + text(name), text("write_file"), Json{{"path", base + name}, {"content", "two\n"}, {"append", true}}));
        };
        for (const char *name : {"alias", "short/down.txt"})
            calls.push_back(toolCall(text("read-") + text(name), text("read_file"), Json{{"path", base + name}}));
        write("alias");
        calls.push_back(toolCall(text("again"), text("read_file"), Json{{"path", base + "alias"}}));
        calls.push_back(toolCall(text("replace"), text("str_replace"), Json{{"path", base + "alias"}, {"old_str", "two"}, {"new_str", "three"}}));
        write("short/down.txt");
        write("plain.txt");
        if (embedded) {
            write("out/new.txt");
            write("far");
        }
        const Outcome o = m_program->run(m_program->runArguments(m_program->scenario(commandScenario(calls)),
                                                                 {text("--workspace"), workspace, text("--sandbox"), sandbox}));
        QVERIFY2(o.exitCode == 0, o.err.constData());
        QStringList told;
        for (const Json &change : o.ofType("file.changed")) {
            const QString via = stringOf(change, "via");
            told << stringOf(change, "path") + (via.isEmpty() ? QString() : text(" via ") + via) + QLatin1Char(' ') + stringOf(change, "certainty");
        }
        QStringList wanted{text("/mnt/user-data/workspace/real.txt via /mnt/user-data/workspace/alias tool"),
                           text("/mnt/user-data/workspace/real.txt via /mnt/user-data/workspace/alias tool"),
                           text("/mnt/user-data/workspace/deep/down.txt via /mnt/user-data/workspace/short/down.txt tool"),
                           text("/mnt/user-data/workspace/plain.txt tool")};
        if (embedded) {
            wanted << text("/mnt/user-data/outputs/new.txt via /mnt/user-data/workspace/out/new.txt tool")
                   << text("/tmp/far.txt via /mnt/user-data/workspace/far tool");
        }
        QCOMPARE(told.join(QLatin1Char('\n')), wanted.join(QLatin1Char('\n')));
    }

    void oddFileNamesBreakNothing()
    {
        const QString workspace = m_program->folder(text("names"));
        for (const char *name : {"/new\nline.txt", "/caf\xe9.txt", "/quote\"'$(x).txt", "/-n.txt", "/ space .txt", "/\x1b[31mred.txt"}) {
            FILE *file = ::fopen((workspace.toUtf8() + name).constData(), "w");
            QVERIFY(file);
            ::fputs("NEEDLE\n", file);
            ::fclose(file);
        }
        const QString scenario = m_program->scenario(commandScenario({
            toolCall(text("ls"), text("ls"), Json{{"path", "/mnt/user-data/workspace"}}),
            toolCall(text("glob"), text("glob"), Json{{"path", "/mnt/user-data/workspace"}, {"pattern", "**/*.txt"}}),
            toolCall(text("grep"), text("grep"), Json{{"path", "/mnt/user-data/workspace"}, {"pattern", "NEEDLE"}}),
            bashCall(text("touch"), text("for f in *; do echo more >> \"$f\"; done; cat ./* | grep -c more")),
        }));
        const Outcome o = m_program->run(m_program->runArguments(scenario, {text("--workspace"), workspace}));
        QVERIFY2(o.exitCode == 0, o.err.constData());
        QCOMPARE(o.brokenLines, 0);
        for (const char *tool : {"ls", "glob", "grep"}) {
            const QString result = o.resultOf(text(tool));
            QVERIFY2(result.contains(u"-n.txt") && result.contains(u" space .txt") && !result.startsWith(u"Error"), qPrintable(result));
        }
        QCOMPARE(o.resultOf(text("touch")), text("6"));
        QVERIFY(!o.err.contains('\x1b'));
        QVERIFY(::unlink((workspace.toUtf8() + "/caf\xe9.txt").constData()) == 0); // Qt could not
    }

    /// What bubblewrap cannot hide is written down here: the roots of bind mounts in mountinfo.
    void hostPathsAreNotShown()
    {
        const QString workspace = m_program->folder(text("hidden-project"));
        const QString scenario = m_program->scenario(commandScenario({
            bashCall(text("cmdline"), text("cat /proc/1/cmdline /proc/[0-9]*/cmdline | tr '\\0' ' '; echo")),
            bashCall(text("environ"), text("env; cat /proc/self/cwd 2>&1; readlink /proc/1/exe /proc/1/cwd /proc/1/root 2>&1; ls -l /proc/[0-9]*/fd 2>/dev/null")),
            bashCall(text("mounts"), text("cat /proc/mounts; df -a 2>/dev/null; cat /proc/1/mounts")),
            bashCall(text("mountinfo"), text("cat /proc/self/mountinfo")),
        }));
        const Outcome o = m_program->run(m_program->runArguments(scenario, {text("--workspace"), workspace}));
        QVERIFY2(o.exitCode == 0, o.err.constData());
        const QString root = QFileInfo(workspace).path();
        for (const char *call : {"cmdline", "environ", "mounts"}) {
            const QString result = o.resultOf(text(call));
            QVERIFY(!result.isEmpty());
            QVERIFY2(!result.contains(root) && !result.contains(u"hidden-project"), qPrintable(text(call) + text(": ") + result));
        }
        QVERIFY(o.resultOf(text("cmdline")).contains(u"--args"));
        // The kernel names the folder behind each bind mount, from the top of its file system, in the fourth field. Only
        // the folders of this thread may stand there.
        QStringList shown;
        for (const QString &line : o.resultOf(text("mountinfo")).split(QLatin1Char('\n'))) {
            if (line.section(QLatin1Char(' '), 3, 3).contains(QFileInfo(root).fileName()))
                shown << line.section(QLatin1Char(' '), 4, 4);
        }
        for (const QString &point : std::as_const(shown))
            QVERIFY2(point.startsWith(u"/mnt/") || point.startsWith(u"/etc/"), qPrintable(point));
    }

private:
    static qint64 folderSize(const QString &folder)
    {
        qint64 bytes = 0;
        QDirIterator it(folder, QDir::Files | QDir::Hidden, QDirIterator::Subdirectories);
        while (it.hasNext())
            bytes += QFileInfo(it.next()).size();
        return bytes;
    }
};

} // namespace tst_hard_commands

PADDOCK_TEST(tst_hard_commands, HardCommandsTest)
#include "tst_hard_commands.moc"
