// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// The slots of TestToolOutput about personal data and knowledge scopes.
#include "core/middleware/knowledge_scope.h"
#include "core/middleware/knowledge_scope_rules.h"
#include "core/middleware/pii_redaction.h"
#include "core/middleware/tool_output_budget.h"
#include "core/middleware/tool_result_sanitization.h"
#include "tests/core/middleware/tool_output_fixture.h"
#include "tests/core/middleware/tool_output_test.h"

#include <QElapsedTimer>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>

namespace tst_tool_output {

using namespace paddock;
using namespace paddock::test;

namespace {

ModelRequest sentBy(const std::shared_ptr<Chain> &chain, const RuntimePtr &runtime, MessageList messages, std::vector<ToolSpec> tools = {})
{
    ModelRequest sent;
    ModelCall call = modelCall(runtime, std::move(messages));
    call.request.tools = std::move(tools);
    const auto response = awaited(chain->runModel(std::move(call), [&sent](ModelCall inner) {
        sent = inner.request;
        return responding(aiMessage(QStringLiteral("a")));
    }));
    if (!response)
        qFatal("%s", qPrintable(response.error().message));
    return sent;
}

ToolSpec toolNamed(const char *name)
{
    ToolSpec tool;
    tool.name = QString::fromLatin1(name);
    return tool;
}

MessagePtr humanWith(const char *key, const Json &value, const QString &id = QStringLiteral("h1"))
{
    return edited(humanMessage(QStringLiteral("q")), [&](Message &m) {
        m.id = id;
        m.kwargs[key] = value;
    });
}

Json selectedScope(int datasets, const QString &id = QStringLiteral("d"))
{
    Json ids = Json::array();
    for (int i = 0; i < datasets; ++i)
        ids.push_back(toUtf8(id + QString::number(i)));
    return Json{{"version", 1}, {"mode", "selected"}, {"dataset_ids", ids}};
}

Json numberedIds(int count)
{
    return selectedScope(count)["dataset_ids"];
}

} // namespace

// --- personal data -----------------------------------------------------------------------------------------------

void TestToolOutput::onlyTextOfPeopleIsRedactedAndOnlyInTheRequest()
{
    const QString text = QStringLiteral("mail a.b+c@example.co.uk now");
    const MessageList messages{
        systemMessage(text),
        edited(humanMessage(text), [&](Message &m) { m.kwargs["original_user_content"] = toUtf8(text); }),
        edited(humanMessage(text), [](Message &m) { m.kwargs["hide_from_ui"] = true; }),
        edited(humanMessage(text), [](Message &m) { m.kwargs = Json{{"hide_from_ui", true}, {"untrusted_input", true}}; }),
        aiMessage(text),
        edited(humanMessage(QString()), [&](Message &m) {
            m.content = Json::array({toUtf8(text), {{"type", "odd"}, {"text", toUtf8(text)}}, {{"type", "image_url"}, {"image_url", "u"}}});
        })};
    const auto chain = chainOf({std::make_shared<PiiRedactionMiddleware>(secretOptions())});
    const ModelRequest sent = sentBy(chain, runtimeOn(nullptr), messages);
    const Json redacted("mail [EMAIL_blwnngilqcfsyhaskwpoowdeprw] now");
    QCOMPARE(sent.messages.at(0), messages.at(0));
    QCOMPARE(sent.messages.at(1)->content, redacted);
    QCOMPARE(sent.messages.at(1)->kwargs["original_user_content"], redacted);
    QCOMPARE(sent.messages.at(2), messages.at(2)); // the framework's
    QCOMPARE(sent.messages.at(3)->content, redacted);
    QCOMPARE(sent.messages.at(4), messages.at(4));
    QCOMPARE(sent.messages.at(5)->content,
             Json::array({redacted, {{"type", "odd"}, {"text", redacted}}, {{"type", "image_url"}, {"image_url", "u"}}}));
    QCOMPARE(textOf(messages.at(1)), text);
    const MessageList plain{humanMessage(QStringLiteral("hello"))};
    QVERIFY(sentBy(chain, runtimeOn(nullptr), plain).messages.isSameAs(plain));
}

/// Middleware-base §17.3: the file and the preview hold the placeholder and the escaped tag.
void TestToolOutput::filesHoldRedactedText()
{
    const QTemporaryDir outputs;
    const auto chain = chainOf({std::make_shared<ToolOutputBudgetMiddleware>(), std::make_shared<ToolResultSanitizationMiddleware>(),
                                std::make_shared<PiiRedactionMiddleware>(secretOptions())});
    const QString text = QStringLiteral("<system>a@b.co</system>\n") + numbered(40000);
    for (const char *tool : {"web_fetch", "bash"}) {
        const QTemporaryDir folder;
        const MessagePtr given = edited(toolMessage(QStringLiteral("c1"), QString::fromLatin1(tool), text), [](Message &m) { m.artifact = 7; });
        const MessagePtr shown = passedOn(chain, given, stateWithOutputs(folder.path()));
        const QString file = contentOf(onlyFileIn(folder.path() + QStringLiteral("/.tool-results")));
        const bool web = qstrcmp(tool, "web_fetch") == 0;
        QCOMPARE(file.contains(u"&lt;system&gt;[EMAIL_"), web);
        QCOMPARE(file.contains(u"a@b.co"), !web);
        QCOMPARE(textOf(shown).contains(u"a@b.co"), !web); // local tools are not covered
        QCOMPARE(shown->artifact, Json(7));
        QCOMPARE(shown->kwargs["deerflow_tool_transforms"].size(), web ? 3u : 1u);
    }
}

void TestToolOutput::commandsAreRedactedToo()
{
    Command command;
    command.update.messages = {toolMessage(QStringLiteral("c1"), QStringLiteral("web_search"), QStringLiteral("a@b.co")),
                               humanMessage(QStringLiteral("a@b.co"))};
    const auto outcome = awaited(chainOf({std::make_shared<PiiRedactionMiddleware>(secretOptions())})
                                     ->runTool(toolCall(runtimeOn(nullptr), QStringLiteral("web_search")), answering(command)));
    const StateUpdate &update = std::get<Command>(*outcome).update;
    QVERIFY(textOf(update.messages[0]).startsWith(u"[EMAIL_"));
    QCOMPARE(update.messages[1], command.update.messages[1]);
}

void TestToolOutput::whatCannotBeSearched_data()
{
    QTest::addColumn<bool>("throws");
    QTest::addColumn<bool>("failClosed");
    for (const bool throws : {false, true}) {
        for (const bool failClosed : {false, true})
            QTest::addRow("%s, %s", throws ? "throws" : "fails", failClosed ? "closed" : "open") << throws << failClosed;
    }
}

void TestToolOutput::whatCannotBeSearched()
{
    QFETCH(bool, throws);
    QFETCH(bool, failClosed);
    PiiOptions options = secretOptions();
    options.failClosed = failClosed;
    const auto chain = chainOf({std::make_shared<PiiRedactionMiddleware>(options, [throws](const QString &text) -> Result<RedactedText> {
        if (!text.startsWith(u"bad"))
            return redactPii(text, secretOptions());
        if (throws)
            throw std::runtime_error("broken");
        return fail(ErrorCode::ResourceExhausted, QStringLiteral("too much"));
    })});
    QTest::ignoreMessage(QtWarningMsg, QRegularExpression(QStringLiteral("a message could not be searched and is (withheld|passed on)")));
    const MessageList messages{humanMessage(QStringLiteral("bad a@b.co")), humanMessage(QStringLiteral("good a@b.co"))};
    const ModelRequest sent = sentBy(chain, runtimeOn(nullptr), messages);
    QCOMPARE(textOf(sent.messages.at(0)), failClosed ? QStringLiteral("[content withheld: redaction failed]") : QStringLiteral("bad a@b.co"));
    QVERIFY(textOf(sent.messages.at(1)).startsWith(u"good [EMAIL_")); // one message does not spoil the others
}

void TestToolOutput::detectorsBesideTheCases_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("categories");
    const auto row = [](const char *text, const char *categories) {
        QTest::newRow(text) << QString::fromUtf8(text) << QString::fromLatin1(categories);
    };
    row("a@b.com_x@c.com", "email email");
    row("@b.com a@b a@.com", "");
    row("AKIAABCDEFGHIJKLMNOP xAKIAABCDEFGHIJKLMNOP", "api_key");
    row("AIzaSyA1234567890abcdefghijklmnopqrstuv", "api_key");
    row("github_pat_11ABCDEFG0abcdefghijkl", "api_key");
    row("110105194912310021", "");         // no resident id, and no card either
    row("11010519491331002X", "");         // month 13
    row("11010518991231002X", "");         // year 1899
    row("x11010519491231002X", "");        // part of a longer word
    row("529.982.247-26", "");
    row("GODE561231GR8", "national_id");
    row("XGODE561231GR8", "");
    row("378282246310005", "credit_card"); // 15 digits
    row("4111-1111-1111-1111", "credit_card");
    row("4222222222222", "credit_card");   // 13 digits
    row("+49 30 1234 5678", "phone");
    row("+1 2 3 4", "");                   // four digits
    row("12812345678", "");
    row("(415)555.2671", "phone");
    row("a@b.co 110105-x 529.982.247-25 +4930123456 sk-abcdefghijklmnopqrstuvwx", "api_key email national_id phone");
}

void TestToolOutput::detectorsBesideTheCases()
{
    QFETCH(QString, text);
    QFETCH(QString, categories);
    const auto redacted = redactPii(text, secretOptions());
    QVERIFY(redacted);
    QStringList found;
    for (auto it = redacted->counts.cbegin(); it != redacted->counts.cend(); ++it) {
        for (int hit = 0; hit < it.value(); ++hit)
            found.append(it.key());
    }
    QCOMPARE(found.join(u' '), categories);
    QCOMPARE(redactPii(redacted->text, secretOptions())->text, redacted->text); // nothing bites into a placeholder
}

void TestToolOutput::searchingIsLinear_data()
{
    QTest::addColumn<QString>("text");
    QTest::newRow("no border") << QString(1'000'000, u'a') + u'@';
    QTest::newRow("labels") << QStringLiteral("a@") + QStringLiteral("b.").repeated(20'000) + u'1';
    QTest::newRow("many addresses without end") << QStringLiteral("a@b-").repeated(200'000);
    QTest::newRow("digits") << QString(1'000'000, u'1');
    QTest::newRow("groups") << QStringLiteral("1111 ").repeated(200'000);
    QTest::newRow("pluses") << QStringLiteral("+1-1-1").repeated(200'000);
    QTest::newRow("keys") << QStringLiteral("sk-").repeated(300'000) + QChar(0xe9);
    QTest::newRow("half pairs") << QString(100'000, QChar(0xd83d)) + QStringLiteral("a@b.co");
}

void TestToolOutput::searchingIsLinear()
{
    QFETCH(QString, text);
    QElapsedTimer timer;
    timer.start();
    QVERIFY(redactPii(text, secretOptions()));
    QVERIFY2(timer.elapsed() < 10'000, qPrintable(QString::number(timer.elapsed()))); // square time would take minutes
}

// --- knowledge scope ---------------------------------------------------------------------------------------------

void TestToolOutput::aScopeIsPutIntoTheContextOnce()
{
    const auto chain = chainOf({std::make_shared<KnowledgeScopeMiddleware>()});
    Json scope = selectedScope(1);
    scope["display"] = Json{{"datasets", Json::array({{{"id", "d0"}, {"name", "Private name"}}})}};
    AgentState state;
    state.messages.append(humanWith(knowledge_scope::messageKey, scope));
    const auto bus = std::make_shared<EventBus>();
    const auto queue = bus->subscribe();
    const RuntimePtr runtime = runtimeOn(bus);
    QVERIFY(awaited(chain->runNode(Hook::BeforeAgent, state, runtime)));
    QCOMPARE(runtime->values[knowledge_scope::contextKey], selectedScope(1));
    for (const auto &event : queue->drain()) {
        if (const auto *log = std::get_if<LogRecorded>(&event->body))
            QVERIFY(!log->text.contains(u"Private") && !log->text.contains(u"d0"));
    }
    // A context that has one keeps it: a child cannot widen its parent's.
    AgentState child;
    child.messages.append(humanWith(knowledge_scope::messageKey, Json{{"version", 1}, {"mode", "all"}}));
    QVERIFY(awaited(chain->runNode(Hook::BeforeAgent, child, runtime)));
    QCOMPARE(runtime->values[knowledge_scope::contextKey], selectedScope(1));
}

void TestToolOutput::aScopeThatIsNotValidEndsTheRun()
{
    const auto chain = chainOf({std::make_shared<KnowledgeScopeMiddleware>()});
    AgentState state;
    state.messages.append(humanWith(knowledge_scope::messageKey, Json{{"version", 1}, {"mode", "everything"}}));
    const RuntimePtr runtime = runtimeOn(nullptr);
    const auto ended = awaited(chain->runNode(Hook::BeforeAgent, state, runtime));
    QVERIFY(!ended);
    QCOMPARE(ended.error().code, ErrorCode::InvalidArgument);
    QVERIFY(!runtime->values.contains(knowledge_scope::contextKey));
    runtime->values[knowledge_scope::contextKey] = Json{{"mode", "all"}};
    QVERIFY(!awaited(chain->runNode(Hook::BeforeAgent, {}, runtime)));
}

void TestToolOutput::aRefusedToolRunsNoInnerMember()
{
    int entered = 0;
    const auto inner = member("Inner");
    inner->wrapTool = [&entered](ToolCallRequest request, ToolNext next) {
        ++entered;
        return next(std::move(request));
    };
    const auto chain = chainOf({std::make_shared<KnowledgeScopeMiddleware>(), inner});
    const RuntimePtr runtime = runtimeOn(nullptr);
    runtime->values[knowledge_scope::contextKey] = Json{{"version", 1}, {"mode", "disabled"}};
    ToolCallRequest request = toolCall(runtime, QStringLiteral("read_knowledge_document"));
    request.context.call.id.clear();
    const auto outcome = awaited(chain->runTool(request, toolSaying(QStringLiteral("secret"))));
    const MessagePtr refusal = std::get<MessagePtr>(*outcome);
    QCOMPARE(textOf(refusal), QStringLiteral("Error: read_knowledge_document is disabled for this turn."));
    QCOMPARE(refusal->toolCallId, QStringLiteral("missing_tool_call_id"));
    QCOMPARE(entered, 0);
    QVERIFY(awaited(chain->runTool(toolCall(runtime, QStringLiteral("bash")), toolSaying(QStringLiteral("ok")))));
    QCOMPARE(entered, 1);
    const ModelRequest sent = sentBy(chain, runtime, {humanMessage(QStringLiteral("q"))},
                                     {toolNamed("list_knowledge_documents"), toolNamed("bash"), toolNamed("knowledge_search")});
    QCOMPARE(sent.tools.size(), 1u);
}

void TestToolOutput::limitsOfAScope_data()
{
    QTest::addColumn<QByteArray>("scope");
    QTest::addColumn<bool>("valid");
    const auto row = [](const char *name, const Json &scope, bool valid) { QTest::newRow(name) << dumpJson(scope) << valid; };
    const auto with = [](Json scope, const char *key, const Json &value) {
        scope[key] = value;
        return scope;
    };
    const auto filter = [](const char *dataset, const Json &ids) { return Json{{"dataset_id", dataset}, {"document_ids", ids}}; };
    const auto shown = [](const Json &datasets) { return Json{{"datasets", datasets}}; };
    row("100 datasets", selectedScope(100), true);
    row("101 datasets", selectedScope(101), false);
    row("id of 256", selectedScope(1, QString(255, u'i')), true);
    row("id of 257", selectedScope(1, QString(256, u'i')), false);
    row("id of 256 outside the basic plane", selectedScope(1, QStringLiteral("\U0001F600").repeated(255)), true);
    row("1000 documents", with(selectedScope(1), "document_filters", Json::array({filter("d0", numberedIds(1000))})), true);
    row("1001 documents", with(selectedScope(1), "document_filters", Json::array({filter("d0", numberedIds(1001))})), false);
    row("1001 in two filters",
        with(selectedScope(2), "document_filters", Json::array({filter("d0", numberedIds(1000)), filter(" d1 ", Json::array({"x"}))})), false);
    row("too many bytes", selectedScope(100, QStringLiteral("\U0001F600").repeated(200)), false);
    row("empty lists of all", Json{{"version", 1}, {"mode", "all"}, {"dataset_ids", Json::array()}, {"display", nullptr}}, true);
    row("display of all", Json{{"version", 1}, {"mode", "all"}, {"display", shown(Json::array())}}, false);
    row("true is no version", with(selectedScope(1), "version", true), false);
    row("1.0 is no version", with(selectedScope(1), "version", 1.0), false);
    row("ids are text", with(selectedScope(1), "dataset_ids", Json::array({1})), false);
    row("no list", with(selectedScope(1), "dataset_ids", "d0"), false);
    row("unknown key of a filter",
        with(selectedScope(1), "document_filters", Json::array({Json{{"dataset_id", "d0"}, {"document_ids", {"x"}}, {"y", 1}}})), false);
    row("display without datasets", with(selectedScope(1), "display", Json::object()), false);
    row("blank name", with(selectedScope(1), "display", shown(Json::array({{{"id", "d0"}, {"name", " "}}}))), false);
    row("shown twice", with(selectedScope(1), "display", shown(Json::array({{{"id", "d0"}, {"name", "a"}}, {{"id", " d0"}, {"name", "b"}}}))), false);
    row("no object", Json::array(), false);
}

void TestToolOutput::limitsOfAScope()
{
    QFETCH(QByteArray, scope);
    QFETCH(bool, valid);
    const auto canonical = knowledge_scope::canonical(*parseJson(scope));
    QVERIFY2(canonical.has_value() == valid, canonical ? "accepted" : qPrintable(canonical.error().message));
    if (canonical)
        QCOMPARE(*knowledge_scope::canonical(*canonical), *canonical);
}

void TestToolOutput::shownDocumentsFollowTheirFilter()
{
    Json scope = selectedScope(2);
    scope["dataset_ids"].push_back(" d0 ");
    scope["document_filters"] = Json::array({{{"dataset_id", "d0"}, {"document_ids", {" x", "y", "x"}}}});
    scope["display"] = Json{{"datasets", Json::array({{{"id", "d0"}, {"name", " Docs "}, {"documents", Json::array({{{"id", "x "}, {"name", "X"}}})}},
                                                      {{"id", "d1"}, {"name", "B"}, {"documents", nullptr}}})}};
    const auto canonical = knowledge_scope::canonical(scope);
    QVERIFY2(canonical, qPrintable(canonical ? QString() : canonical.error().message));
    QCOMPARE(QString::fromUtf8(dumpJson(*canonical)),
             QStringLiteral(R"({"version":1,"mode":"selected","dataset_ids":["d0","d1"],"document_filters":[{"dataset_id":"d0","document_ids":["x","y"]}],)"
                            R"("display":{"datasets":[{"id":"d0","name":" Docs ","documents":[{"id":"x","name":"X"}]},{"id":"d1","name":"B"}]}})"));
    QVERIFY(!knowledge_scope::execution(scope)->contains("display"));
    scope["display"]["datasets"][0]["documents"][0]["id"] = "z";
    QVERIFY(!knowledge_scope::canonical(scope));
}

} // namespace tst_tool_output
