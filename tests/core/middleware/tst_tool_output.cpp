// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/base/text.h"
#include "core/config/config.h"
#include "core/middleware/chain_build.h"
#include "core/middleware/output_synopsis.h"
#include "core/middleware/tool_meta.h"
#include "core/middleware/tool_output_budget.h"
#include "tests/core/middleware/tool_output_fixture.h"
#include "tests/core/middleware/tool_output_test.h"
#include "tests/support/test_main.h"

#include <QTemporaryDir>
#include <QTest>

namespace tst_tool_output {

using namespace paddock;
using namespace paddock::test;

namespace {

std::shared_ptr<Chain> budgetChain(OutputBudgetOptions options = {})
{
    return chainOf({std::make_shared<ToolOutputBudgetMiddleware>(std::move(options))});
}

class RemoteSandbox : public Sandbox
{
public:
    QString verdict = QStringLiteral("OK");
    bool writes = true;
    QStringList commands;
    QMap<QString, QString> files;

    SandboxId id() const override { return SandboxId(QStringLiteral("remote")); }
    bool isLocal() const override { return false; }
    Task<Result<CommandResult>> execute(CommandRequest request, std::stop_token) override
    {
        commands.append(request.command);
        co_return CommandResult{request.command.startsWith(u"test") ? verdict : QString(), 0, {}, false};
    }
    Task<Result<FileWritten>> writeFile(QString path, QString content, bool, std::stop_token) override
    {
        if (!writes)
            co_return fail(ErrorCode::Io, QStringLiteral("the disk is full"));
        files.insert(path, content);
        co_return FileWritten();
    }
    Task<Result<QString>> readFile(QString, std::stop_token) override { co_return QString(); }
    Task<Result<QByteArray>> readBytes(QString, qint64, std::stop_token) override { co_return QByteArray(); }
    Task<Result<FileWritten>> writeBytes(QString, QByteArray, std::stop_token) override { co_return FileWritten(); }
    Task<Result<QStringList>> listDir(QString, int, std::stop_token) override { co_return QStringList(); }
    Task<Result<GlobResult>> glob(QString, QString, bool, int, std::stop_token) override { co_return GlobResult(); }
    Task<Result<GrepResult>> grep(GrepQuery, std::stop_token) override { co_return GrepResult(); }
    Task<> releaseCommandScope(ScopeId) override { co_return; }
};

class RemoteProvider : public SandboxProvider
{
public:
    std::shared_ptr<RemoteSandbox> sandbox = std::make_shared<RemoteSandbox>();
    int acquired = 0;

    Task<Result<SandboxId>> acquire(ThreadKey, EventSink, std::stop_token) override
    {
        ++acquired;
        co_return sandbox->id();
    }
    SandboxPtr get(const SandboxId &) override { return sandbox; }
    Task<Result<void>> release(SandboxId) override { co_return Result<void>(); }
    Task<> shutdown() override { co_return; }
    QString providerName() const override { return QStringLiteral("remote"); }
    QString backendName() const override { return QStringLiteral("provisioner"); }
    int sessionLimit() const override { return 0; }
};

RuntimePtr runtimeWith(const std::shared_ptr<RemoteProvider> &provider)
{
    const RuntimePtr runtime = runtimeOn(nullptr);
    runtime->sandbox = std::make_shared<SandboxAccess>(std::make_shared<SandboxLeases>(provider), LeaseOwner(QStringLiteral("run:r1")),
                                                       ThreadKey{UserId(QStringLiteral("u")), ThreadId(QStringLiteral("t1"))}, EventSink());
    return runtime;
}

OutputBudgetOptions remoteOptions()
{
    OutputBudgetOptions options;
    options.threadFoldersMounted = false;
    return options;
}

MessagePtr answeredWith(const QString &callId, const char *tool, const QString &text = QStringLiteral("ok"))
{
    return edited(toolMessage(callId, QString::fromLatin1(tool), text),
                  [](Message &m) { m.kwargs[toolMetaKey] = Json{{"status", "success"}}; });
}

MessagePtr writing(const QString &callId, const QString &content)
{
    return aiMessage(QString(), {{QStringLiteral("write_file"), Json{{"path", "/a"}, {"content", toUtf8(content)}}, callId}});
}

const MiddlewarePtr *memberNamed(const std::vector<MiddlewarePtr> &members, const QString &name)
{
    for (const MiddlewarePtr &member : members) {
        if (member->name() == name)
            return &member;
    }
    return nullptr;
}

} // namespace

// --- results to files --------------------------------------------------------------------------------------------

void TestToolOutput::aLargeResultGoesToAFileOfTheThread()
{
    const QTemporaryDir thread;
    const QString outputs = thread.path() + QStringLiteral("/outputs"); // not there yet
    const QString text = numbered(overThreshold);
    const auto bus = std::make_shared<EventBus>();
    const auto queue = bus->subscribe();
    const MessagePtr given = resultOf(text);
    const MessagePtr shown = passedOn(budgetChain(), given, stateWithOutputs(outputs), runtimeOn(bus));
    QVERIFY(shown);
    const QString file = onlyFileIn(outputs + QStringLiteral("/.tool-results"));
    QCOMPARE(contentOf(file), text);
    const QString path = QStringLiteral("/mnt/user-data/outputs/.tool-results/") + QFileInfo(file).fileName();
    QVERIFY(textOf(shown).startsWith(QStringLiteral("[Full bash output saved to ") + path));
    QVERIFY(textOf(shown).endsWith(QStringLiteral("- Use read_file on ") + path
                                   + QStringLiteral(" with start_line and end_line to inspect the raw output.")));
    QVERIFY(!textOf(shown).contains(outputs));
    QCOMPARE(shown->id, given->id);
    QCOMPARE(shown->name, given->name);
    QCOMPARE(shown->toolCallId, given->toolCallId);
    QCOMPARE(shown->artifact, given->artifact);
    QCOMPARE(memberOf(shown->kwargs, toolMetaKey), memberOf(given->kwargs, toolMetaKey));
    QCOMPARE(stringOf(shown->kwargs["deerflow_tool_transforms"][0], "kind"), QStringLiteral("output_externalized"));
    int told = 0;
    for (const auto &event : queue->drain()) {
        if (const auto *log = std::get_if<LogRecorded>(&event->body); log != nullptr && log->text.contains(path))
            ++told;
    }
    QCOMPARE(told, 1);
}

void TestToolOutput::commandsAreBudgetedToo()
{
    const QTemporaryDir outputs;
    Command command;
    command.update.messages = {humanMessage(numbered(overThreshold)), resultOf(numbered(overThreshold)), resultOf(QStringLiteral("small"))};
    command.update.channels["artifacts"] = Json::array({"a"});
    const auto outcome = awaited(budgetChain()->runTool(
        toolCall(runtimeOn(nullptr), QStringLiteral("bash"), Json::object(), stateWithOutputs(outputs.path())), answering(command)));
    QVERIFY(outcome);
    const StateUpdate &update = std::get<Command>(*outcome).update;
    QCOMPARE(update.messages[0], command.update.messages[0]);
    QVERIFY(textOf(update.messages[1]).startsWith(u"[Full bash output saved to "));
    QCOMPARE(update.messages[2], command.update.messages[2]);
    QCOMPARE(update.channels, command.update.channels);
}

void TestToolOutput::whatCannotBeStoredFallsBack_data()
{
    QTest::addColumn<QString>("obstacle");
    for (const char *obstacle : {"no folder known", "folder is a file", "storage is a file", "storage is a link", "two segments"})
        QTest::newRow(obstacle) << QString::fromLatin1(obstacle);
}

void TestToolOutput::whatCannotBeStoredFallsBack()
{
    QFETCH(QString, obstacle);
    const QTemporaryDir thread;
    const QString outputs = thread.path() + QStringLiteral("/outputs");
    const QString elsewhere = thread.path() + QStringLiteral("/elsewhere");
    QVERIFY(QDir().mkpath(outputs) && QDir().mkpath(elsewhere));
    OutputBudgetOptions options;
    AgentState state = stateWithOutputs(outputs);
    QFile file(outputs + QStringLiteral("/.tool-results"));
    if (obstacle == u"no folder known")
        state = {};
    else if (obstacle == u"storage is a link")
        QVERIFY(QFile::link(elsewhere, outputs + QStringLiteral("/.tool-results")));
    else if (obstacle == u"two segments")
        options.storageSubdir = QStringLiteral("../elsewhere");
    else
        QVERIFY(file.open(QIODevice::WriteOnly));
    if (obstacle == u"folder is a file")
        state = stateWithOutputs(file.fileName());

    const auto chain = budgetChain(options);
    const MessagePtr middling = resultOf(numbered(overThreshold));
    QCOMPARE(passedOn(chain, middling, state), middling); // passes whole
    const MessagePtr large = resultOf(numbered(overFallback));
    const MessagePtr cut = passedOn(chain, large, state);
    QVERIFY(cut);
    QVERIFY(textOf(cut).contains(u"chars omitted from bash output. Persistent storage unavailable."));
    QVERIFY(codePointCount(textOf(cut)) < overThreshold);
    QCOMPARE(cut->artifact, large->artifact);
    QCOMPARE(stringOf(cut->kwargs["deerflow_tool_transforms"][0], "kind"), QStringLiteral("output_truncated"));
    QVERIFY(QDir(elsewhere).isEmpty(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot));
}

void TestToolOutput::remoteSandboxesAreWrittenThrough_data()
{
    QTest::addColumn<QString>("verdict");
    QTest::addColumn<bool>("writes");
    QTest::addColumn<bool>("held");
    QTest::addColumn<bool>("stored");
    QTest::newRow("stored") << QStringLiteral("OK\n") << true << true << true;
    QTest::newRow("missing") << QStringLiteral("MISSING") << true << true << false;
    QTest::newRow("an error that says OK") << QStringLiteral("bash: OK: not found") << true << true << false;
    QTest::newRow("refused") << QStringLiteral("OK") << false << true << false;
    QTest::newRow("not held by this run") << QStringLiteral("OK") << true << false << false;
}

void TestToolOutput::remoteSandboxesAreWrittenThrough()
{
    QFETCH(QString, verdict);
    QFETCH(bool, writes);
    QFETCH(bool, held);
    QFETCH(bool, stored);
    const QTemporaryDir outputs;
    const auto provider = std::make_shared<RemoteProvider>();
    provider->sandbox->verdict = verdict;
    provider->sandbox->writes = writes;
    const RuntimePtr runtime = runtimeWith(provider);
    AgentState state = stateWithOutputs(outputs.path());
    if (held)
        QVERIFY(awaited(runtime->sandbox->ensure({})).has_value());
    else
        state.channels["sandbox"] = Json{{"sandbox_id", "remote"}};
    const QString text = numbered(overFallback);
    const MessagePtr shown = passedOn(budgetChain(remoteOptions()), resultOf(text), state, runtime);
    QVERIFY(shown);
    QCOMPARE(textOf(shown).startsWith(u"[Full bash output saved to "), stored);
    if (stored) {
        const QString path = provider->sandbox->files.firstKey();
        QCOMPARE(provider->sandbox->files.first(), text);
        QVERIFY(textOf(shown).contains(path));
        QCOMPARE(provider->sandbox->commands,
                 (QStringList{QStringLiteral("mkdir -p '/mnt/user-data/outputs/.tool-results'"),
                              QStringLiteral("test -s '%1' && echo OK || echo MISSING").arg(path)}));
    }
    QCOMPARE(provider->acquired, held ? 1 : 0);
    QVERIFY(QDir(outputs.path()).isEmpty(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot)); // #3416
    awaited(runtime->sandbox->release());
}

void TestToolOutput::parallelCallsWriteFilesOfTheirOwn()
{
    const QTemporaryDir outputs;
    const AgentState state = stateWithOutputs(outputs.path());
    const auto both = [](std::shared_ptr<Chain> a, std::shared_ptr<Chain> b, AgentState s) -> Task<bool> {
        auto first = a->runTool(toolCall(runtimeOn(nullptr), QStringLiteral("bash"), Json::object(), s), answering(resultOf(numbered(overThreshold))));
        auto second = b->runTool(toolCall(runtimeOn(nullptr), QStringLiteral("bash"), Json::object(), s), answering(resultOf(numbered(overFallback))));
        const auto one = co_await first;
        const auto two = co_await second;
        co_return one && two;
    };
    QVERIFY(awaited(both(budgetChain(), budgetChain(), state)));
    const QDir storage(outputs.path() + QStringLiteral("/.tool-results"));
    QSet<qint64> sizes;
    for (const QFileInfo &file : storage.entryInfoList(QDir::Files | QDir::Hidden))
        sizes.insert(file.size());
    QCOMPARE(sizes, (QSet<qint64>{overThreshold, overFallback}));
}

void TestToolOutput::hostileNamesAndContent()
{
    const QTemporaryDir outputs;
    OutputBudgetOptions options;
    options.externalizeMinChars = 3;
    Message message = *resultOf(QStringLiteral("a\U0001F600b\0c") + QString(1, QChar(0)) + QStringLiteral("z"));
    message.name = QStringLiteral("x/../") + QString(300, u'n') + QString(1, QChar(0)) + u'\'';
    const MessagePtr shown = passedOn(budgetChain(options), makeMessage(message), stateWithOutputs(outputs.path()));
    QVERIFY(textOf(shown).contains(u"[Preview kind: unknown."));
    QCOMPARE(contentOf(onlyFileIn(outputs.path() + QStringLiteral("/.tool-results"))), textOf(message.content));
}

// --- the synopsis ------------------------------------------------------------------------------------------------

void TestToolOutput::synopsesOfHostileContentAreBounded_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("kind");
    const QString big(1'000'000, u'k');
    QTest::newRow("over the parse limit") << QString(5'000'001, u'x') << QStringLiteral("unknown");
    QTest::newRow("many bytes, fewer characters") << QString(1'700'000, QChar(0x4e2d)) << QStringLiteral("unknown");
    QTest::newRow("huge key") << QStringLiteral("{\"%1\":{\"%1\":[1]}}").arg(big) << QStringLiteral("json");
    QTest::newRow("long tag") << QStringLiteral("<%1/>").arg(QString(4000, u'k')) << QStringLiteral("xml");
    QTest::newRow("huge tag") << QStringLiteral("<%1/>").arg(big) << QStringLiteral("text");
    QTest::newRow("blank lines in yaml") << QStringLiteral("a: 1\nb: 2\nc: !\n") + QString(400'000, u'\n') << QStringLiteral("yaml");
    QTest::newRow("huge column") << QStringLiteral("%1,b\n1,2\n1,2\n1,2\n1,2\n1,2\n").arg(QString(100'000, u'c')) << QStringLiteral("csv");
    QTest::newRow("cell without end") << QStringLiteral("a,b\n1,\"%1").arg(big) << QStringLiteral("text");
    QTest::newRow("nested too deeply") << QString(2'000'000, u'[') << QStringLiteral("text");
    QTest::newRow("blank lines") << QString(2'000'000, u'\n') + u'x' << QStringLiteral("text");
    QTest::newRow("import without end") << QStringLiteral("from \n").repeated(300'000) << QStringLiteral("text");
    QTest::newRow("entities") << QStringLiteral("<!DOCTYPE r [<!ENTITY a \"aaaa\">]><r>&a;</r>") << QStringLiteral("text");
    QTest::newRow("aliases") << QStringLiteral("a: &a [1,1,1,1,1,1,1,1,1]\n")
            + [] {
                  QString lines;
                  for (char c = 'b'; c < 'j'; ++c)
                      lines += QStringLiteral("%1: &%1 [*%2,*%2,*%2,*%2,*%2,*%2,*%2,*%2,*%2]\n").arg(QLatin1Char(c)).arg(QLatin1Char(char(c - 1)));
                  return lines;
              }() << QStringLiteral("text");
    QTest::newRow("lone surrogates") << QString(500, QChar(0xd83d)) << QStringLiteral("text");
}

void TestToolOutput::synopsesOfHostileContentAreBounded()
{
    QFETCH(QString, text);
    QFETCH(QString, kind);
    QCOMPARE(output_synopsis::of(text, QStringLiteral("t")).kind, kind);
    const QString preview = output_synopsis::preview(text, QStringLiteral("t"), QStringLiteral("/p"), 100, 50);
    QVERIFY2(preview.size() < 20'000, qPrintable(QString::number(preview.size())));
}

void TestToolOutput::kindsBesideTheCases_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("kind");
    QTest::addColumn<QString>("line"); // of summary, structure or notable
    const auto row = [](const char *name, const QString &text, const char *kind, const QString &line) {
        QTest::newRow(name) << text << QString::fromLatin1(kind) << line;
    };
    row("trailing", QStringLiteral("{\"a\":1} and more \n"), "json", QStringLiteral("Trailing non-JSON characters after first value: 8"));
    row("repeated key", QStringLiteral("{\"a\":1,\"b\":2,\"a\":[3]}"), "json", QStringLiteral("$.a: array length 1; first item number"));
    row("repeated key counts once", QStringLiteral("{\"a\":1,\"b\":2,\"a\":3}"), "json", QStringLiteral("JSON object with 2 top-level keys."));
    row("array of objects", QStringLiteral("[{\"a\":{\"b\":1}}]"), "json", QStringLiteral("$[].a: object keys 1; keys b"));
    row("nested shape", QStringLiteral("[[[1],2],{\"k\":0}]"), "json",
        QStringLiteral("shape: array(len=2, first=[array(len=2, first=[..., ...]), object(keys=1: k)])"));
    row("exponent", QStringLiteral("{\"v\":1e16}"), "json", QStringLiteral("$.v: 1e+16"));
    row("below exponent", QStringLiteral("{\"v\":123456789012345.0}"), "json", QStringLiteral("$.v: 123456789012345.0"));
    row("small", QStringLiteral("{\"v\":0.00001}"), "json", QStringLiteral("$.v: 1e-05"));
    row("beyond doubles", QStringLiteral("{\"v\":-1e999}"), "json", QStringLiteral("$.v: -inf"));
    row("beyond 64 bits", QStringLiteral("{\"v\":123456789012345678901234567890}"), "json", QStringLiteral("$.v: 123456789012345678901234567890"));
    row("escapes", QStringLiteral("{\"v\":\"\\u00e9\\ud83d\\ude00\\n\"}"), "json", QStringLiteral("$.v: \"\u00e9\U0001F600\\n\""));
    row("leading zero", QStringLiteral("[01]"), "text", QStringLiteral("Opening excerpt: [01]"));
    row("raw control", QStringLiteral("[\"a\tb\"]"), "text", QStringLiteral("Opening excerpt: [\"a b\"]"));
    row("namespace", QStringLiteral("<a:r xmlns:a=\"u\" k=\"1\"><a:c/></a:r>"), "xml", QStringLiteral("{u}c: 1"));
    row("declaration and comment", QStringLiteral("<?xml version=\"1.0\"?><!-- c --><r><!-- c --></r>"), "xml", QStringLiteral("root attributes: 0"));
    row("quoted line end", QStringLiteral("a,b\n\"x\ny\",2\n3,4\n5,6\n7,8\n9,1\n"), "csv", QStringLiteral("first data row: a=x\ny | b=2"));
    row("four rows only", QStringLiteral("a,b\n1,2\n3,4\n5,6\n7,8\n"), "text", QStringLiteral("Detected section headers: none detected."));
    row("yaml types", QStringLiteral("---\na: yes\nb: 1_000\nc: 2024-01-02\nd: '5'\ne: ~\nf: {}\n"), "yaml", QStringLiteral("c: string"));
    row("yaml dates are no text", QStringLiteral("---\nc: 2024-01-02\n"), "yaml", QStringLiteral("YAML object with 1 top-level keys."));
    row("yaml of own types", QStringLiteral("---\na: !Ref x\nb: 1\n"), "text", QStringLiteral("Detected section headers: none detected."));
    row("two documents", QStringLiteral("---\na: 1\n---\nb: 2\n"), "text", QStringLiteral("Detected section headers: none detected."));
    row("a log", QStringLiteral("INFO: 1\nWARN: 2\nINFO: 3\n"), "text", QStringLiteral("Detected section headers: INFO: 1 | WARN: 2 | INFO: 3."));
    row("prose behind keys", QStringLiteral("name: x\nport: 80\ncount: 3\nThat is all.\n"), "text",
        QStringLiteral("Detected section headers: none detected."));
    row("a terminal's keys", QStringLiteral("a: 1\nb: 2\nc: a longer line \u001b[1m3\n"), "text", QStringLiteral("Detected section headers: none detected."));
    row("flow mapping", QStringLiteral("---\na: {b, c: 1}\n"), "yaml", QStringLiteral("a: object"));
    row("24 containers", [] {
            QStringList members;
            for (int i = 0; i < 13; ++i)
                members.append(QStringLiteral("\"k%1\":[{\"a\":[0],\"b\":[]}]").arg(i));
            return QStringLiteral("{%1}").arg(members.join(u','));
        }(), "json", QStringLiteral("$.k7[].b: array length 0"));
    row("imports", QStringLiteral("import os, sys\nfrom a.b import c\nasync  def go(): pass\n"), "code", QStringLiteral("imports: os,, a.b"));
    row("symbols", QStringLiteral("import os\n  async  def go(): pass\n"), "code", QStringLiteral("async def go"));
    row("headers", QStringLiteral("# One  two\nSECTION A:\n# One  two\ntext\n"), "text", QStringLiteral("Detected section headers: # One two | SECTION A:."));
}

void TestToolOutput::kindsBesideTheCases()
{
    QFETCH(QString, text);
    QFETCH(QString, kind);
    QFETCH(QString, line);
    const OutputSynopsis synopsis = output_synopsis::of(text, QStringLiteral("t"));
    QCOMPARE(synopsis.kind, kind);
    const QStringList lines = synopsis.summary + synopsis.structure + synopsis.notable;
    QVERIFY2(lines.contains(line), qPrintable(lines.join(QStringLiteral(" // "))));
}

void TestToolOutput::cutsNeverSplitACharacter()
{
    const QString text = QStringLiteral("\U0001F600").repeated(1000);
    const QString cut = output_budget::fallback(text, QStringLiteral("t"), 400, 51, 51);
    QVERIFY(cut.isValidUtf16());
    QVERIFY(codePointCount(cut) <= 400);
    QVERIFY(cut.contains(u"[... 898 chars omitted from t output."));
    const QString preview = output_synopsis::preview(text, QStringLiteral("t"), QStringLiteral("/p"), 7, 5);
    QVERIFY(preview.isValidUtf16());
    QVERIFY(preview.contains(QStringLiteral("\U0001F600").repeated(7) + QStringLiteral("\n...\n") + QStringLiteral("\U0001F600").repeated(5) + u'\n'));
}

// --- history -----------------------------------------------------------------------------------------------------

void TestToolOutput::historyIsTrimmedInTheRequestOnly()
{
    const QString payload(3000, u'p');
    MessageList messages{humanMessage(QStringLiteral("q")), writing(QStringLiteral("w1"), payload), answeredWith(QStringLiteral("w1"), "write_file"),
                         writing(QStringLiteral("w2"), payload), answeredWith(QStringLiteral("w2"), "write_file"),
                         answeredWith(QStringLiteral("b"), "bash", numbered(overFallback)),
                         answeredWith(QStringLiteral("r"), "read_file", numbered(overFallback))};
    MessageList seen;
    const auto chain = budgetChain();
    const auto response = awaited(chain->runModel(modelCall(runtimeOn(nullptr), messages), [&seen](ModelCall call) {
        seen = call.request.messages;
        return responding(aiMessage(QStringLiteral("a")));
    }));
    QVERIFY(response);
    QVERIFY(stringOf(seen.at(1)->toolCalls[0].args, "content").startsWith(u"[content elided: 3000 chars;"));
    QCOMPARE(seen.at(3), messages.at(3)); // the newest write stays
    QVERIFY(textOf(seen.at(5)).contains(u"chars omitted from bash output"));
    QCOMPARE(seen.at(6), messages.at(6)); // exempt
    QCOMPARE(stringOf(messages.at(1)->toolCalls[0].args, "content"), payload);
    // Monotonic: more history never brings a payload back.
    messages.append(writing(QStringLiteral("w3"), payload));
    messages.append(answeredWith(QStringLiteral("w3"), "write_file"));
    const MessageList later = ToolOutputBudgetMiddleware::trimmedHistory({}, messages);
    QCOMPARE(*later.at(1), *seen.at(1));
    QVERIFY(stringOf(later.at(3)->toolCalls[0].args, "content").startsWith(u"[content elided:"));
}

void TestToolOutput::nothingToTrimIsTheSameList()
{
    const MessageList messages{humanMessage(numbered(overFallback)), writing(QStringLiteral("w1"), QString(3000, u'p')),
                               answeredWith(QStringLiteral("w1"), "write_file"), answeredWith(QStringLiteral("b"), "bash", numbered(overThreshold))};
    QVERIFY(ToolOutputBudgetMiddleware::trimmedHistory({}, messages).isSameAs(messages));
    OutputBudgetOptions off;
    off.enabled = false;
    const MessageList large{answeredWith(QStringLiteral("b"), "bash", numbered(overFallback))};
    QVERIFY(ToolOutputBudgetMiddleware::trimmedHistory(off, large).isSameAs(large));
}

// --- builds and configuration ------------------------------------------------------------------------------------

void TestToolOutput::twoBuildsShareNothing()
{
    ChainOptions small;
    small.outputBudget.externalizeMinChars = 10;
    const auto one = buildSubagentMiddlewares(small);
    const auto two = buildLeadMiddlewares({});
    const MiddlewarePtr *first = memberNamed(one, QStringLiteral("ToolOutputBudgetMiddleware"));
    const MiddlewarePtr *second = memberNamed(two, QStringLiteral("ToolOutputBudgetMiddleware"));
    QVERIFY(first != nullptr && second != nullptr && *first != *second);
    const QTemporaryDir outputs;
    const MessagePtr given = resultOf(QStringLiteral("eleven char"));
    QVERIFY(passedOn(chainOf({*first}), given, stateWithOutputs(outputs.path())) != given);
    QCOMPARE(passedOn(chainOf({*second}), given, stateWithOutputs(outputs.path())), given);
    ChainOptions off;
    off.outputBudget.enabled = false;
    QVERIFY(memberNamed(buildLeadMiddlewares(off), QStringLiteral("ToolOutputBudgetMiddleware")) == nullptr);
    ChainOptions redacting;
    redacting.piiRedaction = true;
    redacting.pii = secretOptions();
    QVERIFY(buildLeadChain(redacting).has_value() && buildSubagentChain(redacting).has_value()); // the order rules hold
    QVERIFY(memberNamed(buildLeadMiddlewares(redacting), QStringLiteral("PiiRedactionMiddleware")) != nullptr);
    QVERIFY(memberNamed(two, QStringLiteral("PiiRedactionMiddleware")) == nullptr);
    QVERIFY(memberNamed(two, QStringLiteral("KnowledgeScopeMiddleware")) != nullptr);
}

void TestToolOutput::configurationIsChecked_data()
{
    QTest::addColumn<QByteArray>("section");
    QTest::addColumn<QString>("complaint"); // empty: accepted
    QTest::newRow("defaults") << QByteArray("{}") << QString();
    QTest::newRow("zero") << QByteArray(R"({"externalize_min_chars":0,"fallback_max_chars":0})") << QString();
    QTest::newRow("override") << QByteArray(R"({"tool_overrides":{"bash":0}})") << QString();
    QTest::newRow("negative") << QByteArray(R"({"preview_head_chars":-1})") << QStringLiteral("tool_output.preview_head_chars");
    QTest::newRow("boolean") << QByteArray(R"({"keep_recent_writes":true})") << QStringLiteral("tool_output.keep_recent_writes");
    QTest::newRow("override negative") << QByteArray(R"({"tool_overrides":{"bash":-1}})") << QStringLiteral("tool_output.tool_overrides.bash");
    QTest::newRow("names") << QByteArray(R"({"exempt_tools":["a",1]})") << QStringLiteral("tool_output.exempt_tools");
    for (const char *name : {"", ".", "..", "a/b", "/a", "a\\\\b"})
        QTest::addRow("folder '%s'", name) << QByteArray("{\"storage_subdir\":\"") + name + "\"}" << QStringLiteral("tool_output.storage_subdir");
}

void TestToolOutput::configurationIsChecked()
{
    QFETCH(QByteArray, section);
    QFETCH(QString, complaint);
    const auto config = toolOutputFromJson(*parseJson(section));
    QCOMPARE(config.has_value(), complaint.isEmpty());
    if (!config)
        QVERIFY2(config.error().message.startsWith(complaint + u':'), qPrintable(config.error().message));
}

void TestToolOutput::redactionNeedsASecret()
{
    QVERIFY(piiRedactionFromJson(*parseJson("{}")));
    QVERIFY(!piiRedactionFromJson(*parseJson(R"({"enabled":true})")));
    const auto blank = piiRedactionFromJson(*parseJson(R"({"enabled":true,"token_secret":" \t"})"));
    QVERIFY(!blank && blank.error().message.startsWith(u"pii_redaction.token_secret:"));
    const auto set = piiRedactionFromJson(*parseJson(R"({"enabled":true,"token_secret":"s","redact_phone":false,"fail_closed":true})"));
    QVERIFY(set && set->enabled && !set->phone && set->email && set->failClosed);
}

} // namespace tst_tool_output

PADDOCK_TEST(tst_tool_output, TestToolOutput)
