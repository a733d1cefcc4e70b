// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// What the case files do not say of the pure rules: line truncation, lexing, guard gaps, masking, locks, line counts.
#include "core/base/text.h"
#include "core/sandbox/bash_guard.h"
#include "core/sandbox/channel_identity.h"
#include "core/sandbox/change_owner.h"
#include "core/sandbox/env_policy.h"
#include "core/sandbox/file_locks.h"
#include "core/sandbox/path_map.h"
#include "core/sandbox/sandbox_ids.h"
#include "core/sandbox/search.h"
#include "core/sandbox/secrets.h"
#include "core/sandbox/shell_words.h"
#include "core/sandbox/text_edit.h"
#include "core/sandbox/truncate.h"
#include "core/sandbox/virtual_paths.h"
#include "core/sandbox/workspace_rules.h"
#include "tests/support/test_main.h"

#include <QCoroTask>
#include <QDir>
#include <QTemporaryDir>
#include <QTest>

namespace tst_path_rules {

using namespace paddock;
using namespace std::chrono_literals;

class tst_path_rules : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void normalizes_data()
    {
        QTest::addColumn<QString>("path");
        QTest::addColumn<QString>("normal");
        QTest::newRow("dots") << QStringLiteral("/a/./b//c/") << QStringLiteral("/a/b/c");
        QTest::newRow("parents") << QStringLiteral("/a/b/../c") << QStringLiteral("/a/c");
        QTest::newRow("above") << QStringLiteral("/../..") << QStringLiteral("/");
        QTest::newRow("empty") << QString() << QStringLiteral("/");
    }
    void normalizes()
    {
        QFETCH(QString, path);
        QFETCH(QString, normal);
        QCOMPARE(normalizeVirtualPath(path), normal);
    }

    void keepsTheExitCodeLine()
    {
        const QString output = QString(5000, u'x') + QStringLiteral("\nExit Code: 137");
        const QString cut = truncateBash(output, 200, Truncation::ByLine);
        QVERIFY(cut.endsWith(QStringLiteral("\nExit Code: 137")));
        QVERIFY(codePointCount(cut) <= 200);
        QVERIFY(cut.contains(QStringLiteral("middle truncated")));
        QCOMPARE(codePointCount(truncateBash(output, 5, Truncation::ByLine)), 32);
        QCOMPARE(truncateBash(output, 0, Truncation::ByLine), output);
        QCOMPARE(truncateBash(QStringLiteral("short"), 200, Truncation::ByLine), QStringLiteral("short"));
    }

    void countsWhatTheServerCut()
    {
        const QString server = QString(15000, u'a') + QStringLiteral("\n... [70000 characters truncated] ...\n") + QString(15000, u'b');
        QCOMPARE(missingFromBash(server), 70000);
        const QString cut = truncateBash(server, 20000, Truncation::ByLine);
        const QString marker = QStringLiteral("\n... [middle truncated: %1 chars skipped] ...\n").arg(missingFromBash(cut));
        QVERIFY(cut.contains(marker));
        QCOMPARE(cut.size() - marker.size() + missingFromBash(cut), 30000 + 70000);
        // A mark that stays is not counted twice.
        const QString early = QStringLiteral("x\n... [70000 characters truncated] ...\n") + QString(30000, u'b');
        QVERIFY(truncateBash(early, 20000, Truncation::ByLine).contains(QStringLiteral("[70000 characters truncated]")));
        QCOMPARE(missingFromBash(QStringLiteral("a\n... [x characters truncated] ...\n")), 0);
    }

    void cutsReadsAtLines()
    {
        QString content;
        for (int i = 1; i <= 500; ++i)
            content += QStringLiteral("line %1\n").arg(i);
        const QString cut = truncateReadFile(content, 1000, Truncation::ByLine, 11);
        QVERIFY(codePointCount(cut) <= 1000);
        const QRegularExpression marker(QStringLiteral("\\nline (\\d+)\\n\\.\\.\\. \\[truncated: showing first (\\d+) of 500 lines "
                                                       "\\((\\d+) of (\\d+) chars\\)\\. Continue with start_line=(\\d+)\\] \\.\\.\\.\\z"));
        const auto match = marker.match(cut);
        QVERIFY2(match.hasMatch(), qPrintable(cut.right(200)));
        QCOMPARE(match.captured(1), match.captured(2));
        QCOMPARE(match.captured(5).toInt(), match.captured(2).toInt() + 11);
        QCOMPARE(match.captured(4).toInt(), content.size());
        // One line longer than the cap: nothing to cut at, so the plain form.
        QVERIFY(truncateReadFile(QString(500, u'x'), 200, Truncation::ByLine).contains(QStringLiteral("Use start_line/end_line")));
    }

    void countsAstralCharactersOnce()
    {
        const QString smile = QString::fromUcs4(U"\U0001F600", 1);
        // Room is kept for the longest number in the marker, so the result may be a digit shorter than the cap (sandbox.md §2.3).
        const qsizetype shown = codePointCount(truncateLs(smile.repeated(1000), 300));
        QVERIFY2(shown <= 300 && shown >= 298, qPrintable(QString::number(shown)));
        QCOMPARE(shownLine(smile.repeated(201)), smile.repeated(197) + QStringLiteral("..."));
    }

    void lexes_data()
    {
        QTest::addColumn<QString>("command");
        QTest::addColumn<QStringList>("words");
        QTest::newRow("quotes") << QStringLiteral("a 'b c' \"d \\\" e\" f\\ g") << QStringList{QStringLiteral("a"), QStringLiteral("b c"), QStringLiteral("d \" e"), QStringLiteral("f g")};
        QTest::newRow("punctuation") << QStringLiteral("(a;b)&&c 2>&1") << QStringList{QStringLiteral("("), QStringLiteral("a"), QStringLiteral(";"), QStringLiteral("b"), QStringLiteral(")&&"), QStringLiteral("c"), QStringLiteral("2"), QStringLiteral(">&"), QStringLiteral("1")};
        QTest::newRow("empty word") << QStringLiteral("a '' b") << QStringList{QStringLiteral("a"), QString(QLatin1String("")), QStringLiteral("b")};
        QTest::newRow("no comments") << QStringLiteral("a #b") << QStringList{QStringLiteral("a"), QStringLiteral("#b")};
    }
    void lexes()
    {
        QFETCH(QString, command);
        QFETCH(QStringList, words);
        const auto got = shellWords(command);
        QVERIFY(got);
        QCOMPARE(*got, words);
    }
    void refusesOpenQuotes()
    {
        QVERIFY(!shellWords(QStringLiteral("a 'b")));
        QVERIFY(!shellWords(QStringLiteral("a \"b")));
        QVERIFY(!shellWords(QStringLiteral("a \\")));
    }

    void quotesForItsPlace_data()
    {
        QTest::addColumn<QString>("command");
        QTest::addColumn<QString>("mapped");
        QTest::newRow("plain") << QStringLiteral("cat /mnt/d/*.c") << QStringLiteral("cat '/a b'\"'\"'$c'/*.c");
        QTest::newRow("single") << QStringLiteral("cat '/mnt/d/x'") << QStringLiteral("cat '/a b'\"'\"'$c/x'");
        QTest::newRow("double") << QStringLiteral("cat \"/mnt/d/x\"") << QStringLiteral("cat \"/a b'\\$c/x\"");
        QTest::newRow("dollar") << QStringLiteral("cat $'/mnt/d/x'") << QStringLiteral("cat $'/a b\\'$c/x'");
        QTest::newRow("substitution in double") << QStringLiteral("echo \"$(cat /mnt/d/x) /mnt/d\"") << QStringLiteral("echo \"$(cat '/a b'\"'\"'$c'/x) /a b'\\$c\"");
        QTest::newRow("comment") << QStringLiteral("ls # it's\ncat /mnt/d") << QStringLiteral("ls # it's\ncat '/a b'\"'\"'$c'");
        QTest::newRow("here-document") << QStringLiteral("cat <<'E' /mnt/d\n/mnt/d it's\nE\nls /mnt/d") << QStringLiteral("cat <<'E' '/a b'\"'\"'$c'\n/a b'$c it's\nE\nls '/a b'\"'\"'$c'");
        QTest::newRow("open quote") << QStringLiteral("echo 'x /mnt/d") << QStringLiteral("echo 'x /a b'\"'\"'$c");
    }
    void quotesForItsPlace()
    {
        QFETCH(QString, command);
        QFETCH(QString, mapped);
        const PathMap map({{QStringLiteral("/mnt/d"), QStringLiteral("/a b'$c"), false}});
        QCOMPARE(map.mapCommand(command), mapped);
    }

    void guards_data()
    {
        QTest::addColumn<QString>("command");
        QTest::addColumn<bool>("allowed");
        QTest::newRow("cd in a subshell") << QStringLiteral("(cd /tmp); ls") << false;
        QTest::newRow("cd after case") << QStringLiteral("case x in x) cd /tmp;; esac") << false;
        QTest::newRow("cd with a redirection") << QStringLiteral("cd > /dev/null") << false;
        QTest::newRow("cd with options") << QStringLiteral("cd -P -- /mnt/user-data/outputs") << true;
        QTest::newRow("cd after an assignment") << QStringLiteral("A=1 cd /tmp") << false;
        QTest::newRow("builtin") << QStringLiteral("builtin cd ~") << false;
        QTest::newRow("substitution") << QStringLiteral("x=$(cd /tmp && ls)") << false;
        QTest::newRow("backtick target") << QStringLiteral("cd `pwd`") << false;
        QTest::newRow("relative cd") << QStringLiteral("cd sub && make") << true;
        QTest::newRow("command by path") << QStringLiteral("/bin/ls -la /") << false;
        QTest::newRow("quoted root") << QStringLiteral("find '/' -name x") << false;
        QTest::newRow("option with a path") << QStringLiteral("gcc -I/usr/include x.c") << true;
        QTest::newRow("assignment with a path") << QStringLiteral("X=/etc/passwd cat") << false;
        QTest::newRow("acp traversal") << QStringLiteral("cat '/mnt/acp-workspace/../x'") << false;
        QTest::newRow("carriage return") << QStringLiteral("ls\rcd /tmp") << false;
        QTest::newRow("variable path") << QStringLiteral("cat /home/${USER}/x") << false;
    }
    void guards()
    {
        QFETCH(QString, command);
        QFETCH(bool, allowed);
        const auto result = guardHostCommand(command, {});
        QVERIFY2(result.has_value() == allowed, qPrintable(result ? QStringLiteral("allowed") : result.error().message));
    }

    void masksBothSpellings()
    {
        const QTemporaryDir dir;
        const QString real = QDir(dir.path()).canonicalPath() + QStringLiteral("/real");
        QDir().mkpath(real);
        const QString link = dir.path() + QStringLiteral("/link");
        QVERIFY(QFile::link(real, link));
        const HostPathMasker masker({{link, QStringLiteral("/mnt/user-data/workspace")}});
        QCOMPARE(masker.mask(real + QStringLiteral("/a ") + link + QStringLiteral("/b ") + link + QStringLiteral("2")),
                 QStringLiteral("/mnt/user-data/workspace/a /mnt/user-data/workspace/b ") + link + QStringLiteral("2"));
        QCOMPARE(masker.mask(QString(link).replace(u'/', u'\\') + QStringLiteral("\\x\\y")), QStringLiteral("/mnt/user-data/workspace/x/y"));
        QCOMPARE(HostPathMasker({{QStringLiteral("/"), QStringLiteral("/mnt/x")}}).mask(QStringLiteral("/etc")), QStringLiteral("/etc"));
        QCOMPARE(HostPathMasker().mask(QStringLiteral("text")), QStringLiteral("text"));
    }

    void leavesOutBadMounts()
    {
        const QTemporaryDir dir;
        const auto paths = ThreadPaths::make(dir.path(), {UserId(QStringLiteral("u")), ThreadId(QStringLiteral("t"))});
        QStringList warnings;
        const auto mappings = threadMappings(*paths, SkillDirs::of(dir.path(), QStringLiteral("u")), QStringLiteral("/mnt/skills"),
                                             {{QStringLiteral("relative"), QStringLiteral("/mnt/a"), false},
                                              {dir.path(), QStringLiteral("mnt/b"), false},
                                              {dir.path(), QStringLiteral("/mnt/user-data/x"), false},
                                              {dir.path(), QStringLiteral("/mnt/skills/custom"), false},
                                              {dir.path() + QStringLiteral("/missing"), QStringLiteral("/mnt/c"), false},
                                              {dir.path(), QStringLiteral("/mnt/good/"), true}}, &warnings);
        QCOMPARE(warnings.size(), 5);
        const PathMap map(mappings);
        QVERIFY(map.find(u"/mnt/good/x"));
        QVERIFY(map.isReadOnly(QStringLiteral("/mnt/good/x")));
        QVERIFY(!map.find(u"/mnt/a"));
    }

    void readOnlyNestedInWritable()
    {
        const PathMap map({{QStringLiteral("/mnt/data"), QStringLiteral("/data"), false},
                           {QStringLiteral("/mnt/ref"), QStringLiteral("/data/ref"), true}});
        QVERIFY(map.isReadOnly(QStringLiteral("/mnt/data/ref/x"))); // the most specific local root decides
        QVERIFY(!map.isReadOnly(QStringLiteral("/mnt/data/x")));
        QCOMPARE(map.mapCommand(QStringLiteral("cat /mnt/data/../etc/x")), QStringLiteral("cat /mnt/data/../etc/x"));
    }

    void overlay()
    {
        SecretSources sources;
        sources.githubToken = [] { return QStringLiteral("from-callback"); };
        sources.integrationEnv = {{QStringLiteral("LARK"), QStringLiteral("1")}};
        const Json context{{"__active_skill_secrets", {{"GH_TOKEN", "skill"}, {"A", "x"}}}};
        auto env = secretOverlay(context, QStringLiteral("./lark-cli2 x"), sources);
        QCOMPARE(env.value(QStringLiteral("GH_TOKEN")), QStringLiteral("from-callback"));
        QVERIFY(!env.contains(QStringLiteral("LARK")));
        env = secretOverlay(context, QStringLiteral("cd x && lark-cli send"), sources);
        QVERIFY(env.contains(QStringLiteral("LARK")));
        const Json bad{{"github_token", 5}};
        QVERIFY(secretOverlay(bad, QStringLiteral("ls")).isEmpty());
    }

    void identity()
    {
        QVERIFY(channelPrefix(Json()).isNull());
        QVERIFY(channelPrefix(Json::object()).isNull());
        Json context = Json::object();
        context[channelUserIdKey] = std::string("a\0b", 3);
        QCOMPARE(channelPrefix(context), QStringLiteral("unset DEERFLOW_CHANNEL_USER_ID; "));
    }

    void crlfFiles()
    {
        QCOMPARE(*replaceText(QStringLiteral("a\r\nb\r\n"), QStringLiteral("a"), QStringLiteral("x\ny"), false), QStringLiteral("x\r\ny\r\nb\r\n"));
        QCOMPARE(*replaceText(QStringLiteral("a\r\nb\n"), QStringLiteral("b\n"), QStringLiteral("c\n"), false), QStringLiteral("a\r\nc\n"));
        QVERIFY(!replaceText(QStringLiteral("a\r\nb\n"), QStringLiteral("a\nb"), QStringLiteral("c"), false));
        QCOMPARE(*replaceBytes("\xff a \xff", "a", "b", true), QByteArray("\xff b \xff"));
    }

    void grepSafety()
    {
        const auto evil = grepExpression(QStringLiteral("(a+)+$"), false, true);
        QVERIFY(evil);
        GrepResult result;
        grepContent(QByteArray(1500, 'a') + "b\nplain aa\n", *evil, QStringLiteral("f"), 10, result);
        QCOMPARE(result.matches.size(), 1u); // the costly line gives up, the next one matches
        QVERIFY(!grepExpression(QStringLiteral("("), false, false));
        QVERIFY(grepExpression(QStringLiteral("("), true, false));
        GrepResult full;
        QVERIFY(!grepContent("x\nx\nx\n", *grepExpression(QStringLiteral("x"), true, true), QStringLiteral("f"), 2, full));
        QVERIFY(full.truncated);
    }

    void globOddities()
    {
        QVERIFY(pathMatches(QStringLiteral("a[!b-d]?.txt"), QStringLiteral("x/aez.txt")));
        QVERIFY(!pathMatches(QStringLiteral("a[b-d].txt"), QStringLiteral("ae.txt")));
        QVERIFY(pathMatches(QStringLiteral("[]]x"), QStringLiteral("]x")));
        QVERIFY(pathMatches(QStringLiteral("[x"), QStringLiteral("[x")));
        QVERIFY(pathMatches(QStringLiteral("?"), QString::fromUcs4(U"\U0001F600", 1)));
        QVERIFY(!pathMatches(QStringLiteral("/a"), QStringLiteral("a")));
        QVERIFY(!pathMatches(QString(), QStringLiteral("a")));
        QVERIFY(pathMatches(QStringLiteral("./a"), QStringLiteral("b/a")));
        const QString stars = QStringLiteral("*a").repeated(40);
        QVERIFY(!pathMatches(stars, QString(200, u'a') + u'b')); // ends at once
        QVERIFY(!pathMatches(QStringLiteral("**/").repeated(20) + QStringLiteral("x"), QStringLiteral("a/").repeated(100) + u'b'));
    }

    void ids()
    {
        QVERIFY(!checkUserId(QStringLiteral("u\n")));
        QCOMPARE(parseLocalSandboxId(QStringLiteral("local:u:t:x"))->thread.value(), QStringLiteral("t:x"));
        QVERIFY(!parseLocalSandboxId(QStringLiteral("local::t")));
        QVERIFY(!parseLocalSandboxId(QStringLiteral("local:u:")));
        QVERIFY(!parseLocalSandboxId(QStringLiteral("local")));
    }

    void lineChanges_data()
    {
        QTest::addColumn<QByteArray>("before");
        QTest::addColumn<QByteArray>("after");
        QTest::addColumn<int>("added");
        QTest::addColumn<int>("removed");
        QTest::newRow("new") << QByteArray() << QByteArray("a\nb\n") << 2 << 0;
        QTest::newRow("gone") << QByteArray("a\nb") << QByteArray() << 0 << 2;
        QTest::newRow("one line") << QByteArray("a\nb\nc\n") << QByteArray("a\nx\nc\n") << 1 << 1;
        QTest::newRow("moved") << QByteArray("a\nb\nc\nd\n") << QByteArray("b\nc\nd\na\n") << 1 << 1;
        QTest::newRow("no final newline") << QByteArray("a\nb") << QByteArray("a\nb\n") << 1 << 1;
    }
    void lineChanges()
    {
        QFETCH(QByteArray, before);
        QFETCH(QByteArray, after);
        QTEST(countLineChanges(before, after).added, "added");
        QTEST(countLineChanges(before, after).removed, "removed");
    }
    void hugeLineChangesEnd()
    {
        QByteArray a, b;
        for (int i = 0; i < 60000; ++i) {
            a += "a" + QByteArray::number(i) + '\n';
            b += "b" + QByteArray::number(i) + '\n';
        }
        QCOMPARE(countLineChanges(a, b).added, 60000);
        QCOMPARE(countLineChanges(a, a + b).added, 60000);
    }

    void owners()
    {
        CommandTimes times;
        const AgentId a(QStringLiteral("lead")), b(QStringLiteral("subagent:b"));
        times.started(QStringLiteral("1"), a, QStringLiteral("make out.txt"), 1000us);
        QCOMPARE(*times.ownerOf(QStringLiteral("/x/any"), 2000us), a);
        QVERIFY(!times.ownerOf(QStringLiteral("/x/any"), 500us));
        times.started(QStringLiteral("2"), b, QStringLiteral("sleep 1"), 3000us);
        QVERIFY(!times.ownerOf(QStringLiteral("/x/any"), 4000us));
        QCOMPARE(*times.ownerOf(QStringLiteral("/x/out.txt"), 4000us), a); // only its command names the file
        times.finished(QStringLiteral("1"), 5000us);
        QCOMPARE(*times.ownerOf(QStringLiteral("/x/any"), 6000us), b);
        times.finished(QStringLiteral("2"), 7000us);
        QCOMPARE(*times.ownerOf(QStringLiteral("/x/late"), 56500us), b); // just ended; the other one is too long ago
        QVERIFY(!times.ownerOf(QStringLiteral("/x/late"), 500000us));
    }

    void locks()
    {
        auto locks = std::make_shared<FileLocks>();
        const SandboxId s(QStringLiteral("s"));
        {
            const auto first = QCoro::waitFor(FileLocks::lock(locks, s, QStringLiteral("/a"), {}));
            auto other = QCoro::waitFor(FileLocks::lock(locks, s, QStringLiteral("/b"), {}));
            QVERIFY(first && other);
            QCOMPARE(locks->count(), 2);
            bool got = false;
            auto waiting = [](std::shared_ptr<FileLocks> l, SandboxId id, bool *flag) -> Task<> {
                const auto guard = co_await FileLocks::lock(l, id, QStringLiteral("/b"), {});
                *flag = bool(guard);
            };
            std::stop_source cancel;
            auto cancelledWait = FileLocks::lock(locks, s, QStringLiteral("/a"), cancel.get_token());
            cancel.request_stop();
            QVERIFY(!QCoro::waitFor(std::move(cancelledWait)));
            auto task = waiting(locks, s, &got);
            QVERIFY(!got);
            { const auto moved = std::move(other); }
            QCoro::waitFor(std::move(task));
            QVERIFY(got);
        }
        QCOMPARE(locks->count(), 0);
    }
};

} // namespace tst_path_rules

PADDOCK_TEST(tst_path_rules, tst_path_rules)
#include "tst_path_rules.moc"
