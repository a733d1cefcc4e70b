// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// Whole runs through the real program, the real sandbox server and real shells. Where the machine cannot isolate, the
// tests are skipped with a word, never passed.

#include "tests/support/paddock_program.h"
#include "tests/support/test_main.h"

#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QRegularExpression>
#include <QSet>
#include <QTest>

#include <csignal>

namespace tst_headless_run {

using namespace paddock;
using namespace paddock::test;

class HeadlessRunTest : public QObject
{
    Q_OBJECT

private:
    std::unique_ptr<PaddockProgram> m_program;
    QString m_work;

    QStringList arguments(const QString &scenario, const QString &workspace) const
    {
        return m_program->runArguments(scenario, {QStringLiteral("--workspace"), workspace});
    }
    Outcome run(const QStringList &args) const { return m_program->run(args); }

    void fill(const QString &folder) const
    {
        const auto write = [&](const QString &name, const QByteArray &text) {
            QFile file(folder + QLatin1Char('/') + name);
            QVERIFY(file.open(QIODevice::WriteOnly));
            file.write(text);
        };
        write(QStringLiteral("main.c"), "int main(void)\n{\n    /* TODO: everything */\n    return 0;\n}\n");
        write(QStringLiteral("it's \"odd\" name.py"), "# FIXME later\nprint('x')\n");
        write(QStringLiteral("run.sh"), "#!/bin/sh\necho ok\n");
        write(QStringLiteral("Makefile"), "all:\n\ttrue\n");
        write(QStringLiteral("größe.c"), "int größe; // FIXME\n");
        write(QStringLiteral("closed.c"), "int closed; // TODO\n");
        QFile::setPermissions(folder + QStringLiteral("/closed.c"), {});
    }

    void checkOwners(const Outcome &o) const
    {
        QSet<QString> owners;
        int held = 0, mostHeld = 0;
        for (const Json &e : o.events) {
            const QString type = stringOf(e, "type");
            if (type == u"lease.acquired") {
                owners.insert(stringOf(e, "owner"));
                mostHeld = std::max(mostHeld, ++held);
            } else if (type == u"lease.released") {
                --held;
            }
        }
        QCOMPARE(owners.size(), 4);
        QCOMPARE(mostHeld, 4); // all four overlap
        QCOMPARE(std::count_if(owners.begin(), owners.end(), [](const QString &s) { return s.startsWith(u"run:"); }), 1);
        QCOMPARE(std::count_if(owners.begin(), owners.end(), [](const QString &s) { return s.startsWith(u"subagent:"); }), 3);
    }

    void checkHooksAndReport(const Outcome &o) const
    {
        QSet<QString> hooks;
        for (const Json &e : o.ofType("middleware.span"))
            hooks.insert(stringOf(e, "hook"));
        QCOMPARE(hooks, (QSet<QString>{QStringLiteral("before_agent"), QStringLiteral("before_model"), QStringLiteral("wrap_model_call"),
                                       QStringLiteral("wrap_tool_call"), QStringLiteral("after_model"), QStringLiteral("after_agent")}));

        bool reportByLead = false;
        for (const Json &e : o.ofType("file.changed")) {
            if (stringOf(e, "path") == u"/mnt/user-data/outputs/report.md" && stringOf(e, "owner") == u"lead")
                reportByLead = true;
        }
        QVERIFY(reportByLead);

        QDirIterator it(m_program->dataDir(), {QStringLiteral("report.md")}, QDir::Files, QDirIterator::Subdirectories);
        QVERIFY(it.hasNext());
        QFile report(it.next());
        QVERIFY(report.open(QIODevice::ReadOnly));
        const QByteArray text = report.readAll();
        for (const char *line : {"| Files | 5 |", "| Lines | 12 |", "| Not readable, not counted | folders 0, files 1 |", "| Marks (TODO, FIXME) | 3 |",
                                 "| 1 | ./größe.c |", "| 1 | ./it's \"odd\" name.py |", "| 5 | ./main.c:1 | `int main(void)` |"})
            QVERIFY2(text.contains(line), text.constData());
    }

    /// The rows of the table of functions in the report of a run; a word when the run failed.
    QStringList functionRows(const QStringList &args) const
    {
        const Outcome o = run(args);
        if (o.exitCode != 0)
            return {QString::fromUtf8(o.err.right(3000))};
        QStringList rows;
        for (const Json &result : o.ofType("tool.finished")) {
            if (stringOf(result, "call") == u"functions")
                rows = stringOf(result, "preview").split(QLatin1Char('\n'));
        }
        rows.removeIf([](const QString &row) { return !row.startsWith(QLatin1String("| ")) || row.startsWith(QLatin1String("| Lines")); });
        return rows;
    }

private Q_SLOTS:
    void initTestCase()
    {
        if (const QString problem = PaddockProgram::isolationProblem(); !problem.isEmpty())
            QSKIP(qPrintable(problem));
    }

    void init()
    {
        m_program = std::make_unique<PaddockProgram>();
        m_work = m_program->folder(QStringLiteral("work"));
        fill(m_work);
    }

    void surveyHoldsLeasesAndWritesAReport()
    {
        const Outcome o = run(arguments(QStringLiteral("survey"), m_work));
        QVERIFY2(o.exitCode == 0, o.err.right(3000).constData());

        checkOwners(o);
        if (QTest::currentTestFailed())
            return;

        int last = 0;
        qint64 lastSeq = 0;
        for (const Json &e : o.ofType("lease.released")) {
            if (boolOf(e, "last")) {
                ++last;
                lastSeq = intOf(e, "seq");
            }
        }
        QCOMPARE(last, 1);
        const auto released = o.ofType("sandbox.released");
        QCOMPARE(int(released.size()), 1);
        QVERIFY(intOf(released[0], "seq") > lastSeq);

        QSet<QString> sessions;
        const QRegularExpression uuid(QStringLiteral("^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$"));
        for (const Json &e : o.ofType("shell.session_created")) {
            QVERIFY(uuid.match(stringOf(e, "session")).hasMatch());
            sessions.insert(stringOf(e, "session"));
        }
        QCOMPARE(sessions.size(), 4);
        QCOMPARE(int(o.ofType("shell.session_closed").size()), 4);

        checkHooksAndReport(o);
    }

    /// The table of the longest functions: who looks at the file finds the head at that line and the end so many lines on.
    void surveyFindsFunctions_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QByteArray>("content");
        QTest::addColumn<QStringList>("rows");
        const auto row = [](const char *name, const char *content, const QStringList &rows) {
            QTest::newRow(name) << QString::fromUtf8(name) << QByteArray(content) << rows;
        };
        const auto at = [](int lines, const char *where, const char *head) {
            return QStringLiteral("| %1 | ./%2 | `%3` |").arg(lines).arg(QString::fromUtf8(where), QString::fromUtf8(head));
        };
        row("tool.py", "import os\n\n\nclass Tool:\n    @property\n    def name(self,\n             more=()):\n        \"\"\"Two\n\n        lines.\"\"\"\n"
                       "        if more:\n            return 1\n\n        # after\n\n    async def go(self): return 2\n\n\ndef outer():\n    def inner():\n        return 1\n\n"
                       "    return inner\n\n\n# end\nx = outer()\n",
            {at(7, "tool.py:6", "def name(self,"), at(5, "tool.py:19", "def outer():"), at(2, "tool.py:20", "def inner():"),
             at(1, "tool.py:16", "async def go(self): return 2")});
        row("it's \"odd\"\n|`$(id)`.py", "def odd():\n    pass\n", {at(2, "it's \"odd\"?  $(id) .py:1", "def odd():")});
        row("tabs.py", "def broken(:\n\tpass\n", {});
        row("run.sh", "#!/bin/sh\none() { echo 1; }\nfunction two {\n    for x in a; do\n        echo \"$x\"\n    done\n}\nthree ()\n{\n    inner() {\n        :\n    }\n}\none\n",
            {at(6, "run.sh:8", "three ()"), at(5, "run.sh:3", "function two {"), at(3, "run.sh:10", "inner() {"), at(1, "run.sh:2", "one() { echo 1; }")});
        row("a.js", "export default async function main(a) {\n  if (a) {\n    b();\n  }\n}\nconst f = (x) => {\n  return x;\n};\nconst v = (\n  1\n);\nclass A extends B {\n"
                    "  constructor(a) {\n    it('x', () => {\n    });\n  }\n  get name() { return 1; }\n}\nfoo(1, {\n  a: 1,\n});\n",
            {at(5, "a.js:1", "export default async function main(a) {"), at(4, "a.js:13", "constructor(a) {"), at(3, "a.js:6", "const f = (x) => {"),
             at(1, "a.js:17", "get name() { return 1; }")});
        row("b.ts", "export class X {\n  constructor(\n    private a: A,\n  ) {\n    b();\n  }\n  private async go(a?: string): Promise<void> {\n    return;\n  }\n}\n",
            {at(5, "b.ts:2", "constructor("), at(3, "b.ts:7", "private async go(a?: string): Promise<void> {")});
        row("m.go", "package main\n\nfunc main() {\n\tx := func() {\n\t\ta()\n\t}\n\tx()\n}\n\nfunc (s *S) Get(\n\ta int,\n) (int, error) {\n\treturn 1, nil\n}\n",
            {at(6, "m.go:3", "func main() {"), at(5, "m.go:10", "func (s *S) Get(")});
        row("l.rs", "impl A {\n    pub(crate) async fn go<T>(&self, a: T) -> Result<()>\n    where\n        T: X,\n    {\n        if a {\n        } else {\n        }\n    }\n"
                    "    fn decl(&self);\n}\nfn main() {\n    println!(\"{}\", 1);\n}\n",
            {at(8, "l.rs:2", "pub(crate) async fn go<T>(&self, a: T) -> Result<()>"), at(3, "l.rs:12", "fn main() {")});
        row("G.java", "public class G extends H {\n    private int a = foo(1);\n    @Override\n    public String toString()\n            throws IOException {\n        if (a > 1) {\n"
                      "        } else if (b) {\n        }\n        run(() -> {\n        });\n    }\n    abstract void no(int x);\n    G(int a) {\n    }\n    record P(int x) {\n    }\n}\n",
            {at(8, "G.java:4", "public String toString()"), at(2, "G.java:13", "G(int a) {")});
        row("c.c", "Q_MACRO(x)\n\nnamespace x {\nstruct foo *make(int a,\n                 int b)\n{\n    if (a) {\n    }\n}\nint proto(int a,\n          int b);\n"
                   "static const int t[] = { F(1),\n  F(2) };\nFoo::Foo(int a)\n    : m_a{a}\n{\n}\n}\n",
            {at(6, "c.c:4", "struct foo *make(int a,"), at(4, "c.c:14", "Foo::Foo(int a)")});
    }
    void surveyFindsFunctions()
    {
        QFETCH(QString, name);
        QFETCH(QByteArray, content);
        QFETCH(QStringList, rows);
        const QString folder = m_program->folder(QStringLiteral("one"));
        QFile file(folder + QLatin1Char('/') + name);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(content);
        file.close();
        // The same commands, without the pauses that are there for who looks on.
        QString script = QString::fromUtf8(run({QStringLiteral("scenario"), QStringLiteral("show"), QStringLiteral("survey")}).out);
        static const QRegularExpression pauses(QStringLiteral("^ *(stream|delay): .*$"), QRegularExpression::MultilineOption);
        script.remove(pauses);
        QCOMPARE(functionRows(arguments(m_program->file(QStringLiteral("quick.yaml"), script.toUtf8()), folder)), rows);
        if (!name.endsWith(QLatin1String(".py")) || rows.isEmpty())
            return;
        // Where there is no python3, indentation gives the same.
        const QString asks = QStringLiteral("if python3 -c ");
        QCOMPARE(script.count(asks), 1);
        script.replace(asks, QStringLiteral("if false python3 -c "));
        QCOMPARE(functionRows(arguments(m_program->file(QStringLiteral("no-python.yaml"), script.toUtf8()), folder)), rows);
    }

    void recoveryRetriesAndStillCompletes()
    {
        const Outcome o = run(arguments(QStringLiteral("recovery"), m_work));
        QVERIFY2(o.exitCode == 0, o.err.right(3000).constData());
        QSet<QString> reasons;
        for (const Json &e : o.ofType("shell.session_created"))
            reasons.insert(stringOf(e, "reason"));
        QVERIFY(reasons.contains(QStringLiteral("not_found")));
        QVERIFY(reasons.contains(QStringLiteral("error_observation")));
        QStringList whyCancelled;
        for (const Json &e : o.ofType("tool.finished")) {
            if (stringOf(e, "status") == u"cancelled")
                whyCancelled << stringOf(e, "preview");
        }
        QCOMPARE(whyCancelled, QStringList(QStringLiteral("The scenario cancelled this agent.")));
        bool cancelledAgent = false;
        for (const Json &e : o.ofType("agent.finished"))
            cancelledAgent = cancelledAgent || stringOf(e, "status") == u"cancelled";
        QVERIFY(cancelledAgent);
        QCOMPARE(m_program->leftovers().join(QLatin1Char('\n')), QString());
    }

    void interruptReleasesEverything()
    {
        const auto process = m_program->start(arguments(QStringLiteral("survey"), m_work));
        QByteArray seen;
        QVERIFY2(PaddockProgram::waitFor(*process, "\"shell.command_started\"", seen), process->readAllStandardError().constData());
        ::kill(pid_t(process->processId()), SIGINT);
        const Outcome o = PaddockProgram::outcomeOf(*process, seen);
        QCOMPARE(o.exitCode, 130);
        QCOMPARE(int(o.ofType("sandbox.released").size()), 1);
        QCOMPARE(m_program->leftovers().join(QLatin1Char('\n')), QString());
    }

    void killedRunIsInterruptedAndLeavesNothing()
    {
        const auto process = m_program->start(arguments(QStringLiteral("survey"), m_work));
        QByteArray seen;
        QVERIFY(PaddockProgram::waitFor(*process, "\"shell.command_started\"", seen));
        process->kill();
        const Outcome o = PaddockProgram::outcomeOf(*process, seen);
        for (const QString &left : m_program->leftovers())
            QVERIFY2(left.startsWith(u"file "), qPrintable(left)); // the runtime folder is swept by the next process
        const Outcome list = run({QStringLiteral("show"), QStringLiteral("--data-dir"), m_program->dataDir()});
        QCOMPARE(list.exitCode, 0);
        QVERIFY2(list.out.contains("interrupted"), list.out.constData());
        // Nothing between: what is stored is a beginning of what was printed, and the end that recovery wrote.
        const Outcome stored = run({QStringLiteral("export"), QStringLiteral("last"), QStringLiteral("--data-dir"), m_program->dataDir()});
        QVERIFY(!stored.events.empty());
        for (size_t i = 0; i < std::min(stored.events.size(), o.events.size()) && stringOf(stored.events[i], "type") != u"run.finished"; ++i)
            QCOMPARE(dumpJson(stored.events[i]), dumpJson(o.events[i]));
    }
};

} // namespace tst_headless_run

PADDOCK_TEST(tst_headless_run, HeadlessRunTest)
#include "tst_headless_run.moc"
