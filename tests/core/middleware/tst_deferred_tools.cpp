// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// Deferred tools from catalogue to filter, routing, and the images that a model sees.
#include "core/middleware/deferred_tool_filter.h"
#include "core/middleware/deferred_tool_promotion_audit.h"
#include "core/middleware/mcp_routing.h"
#include "core/middleware/view_image_member.h"
#include "core/tool/view_image.h"
#include "tests/core/middleware/chain_fixture.h"
#include "tests/support/test_main.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

namespace tst_deferred_tools {

using namespace paddock;
using namespace paddock::test;

namespace {

QString utf8(const char *text)
{
    return QString::fromUtf8(text);
}

class RemoteTool : public Tool
{
public:
    RemoteTool(QString name, Json routing, bool remote = true) : m_name(std::move(name)), m_routing(std::move(routing)), m_remote(remote) {}
    ToolSpec spec() const override { return {m_name, utf8("About ") + m_name}; }
    std::optional<McpOrigin> mcp() const override { return m_remote ? std::optional(McpOrigin{utf8("server"), m_routing}) : std::nullopt; }
    Task<Result<ToolOutcome>> call(ToolCallContext context) override { co_return ToolOutcome(toolMessage(context.call.id, m_name, utf8("ran"))); }

private:
    const QString m_name;
    const Json m_routing;
    const bool m_remote;
};

ToolPtr remote(const char *name, Json routing = Json::object())
{
    return std::make_shared<RemoteTool>(utf8(name), std::move(routing));
}

Json prefer(int priority, const Json &keywords)
{
    return Json{{"mode", "prefer"}, {"priority", priority}, {"keywords", keywords}};
}

const QByteArray &png()
{
    static const QByteArray bytes("\x89PNG\r\n\x1a\n and more");
    return bytes;
}

} // namespace

class TestDeferredTools : public QObject
{
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_dir;

    void write(const char *name, const QByteArray &bytes) const
    {
        QFile file(m_dir->filePath(utf8(name)));
        if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size())
            qFatal("cannot write");
    }
    AgentState seeing() const
    {
        return {{}, Json{{"thread_data", {{"workspace_path", toUtf8(m_dir->filePath(utf8("work")))},
                                          {"uploads_path", toUtf8(m_dir->filePath(utf8("up")))},
                                          {"outputs_path", toUtf8(m_dir->filePath(utf8("out")))}}}}};
    }
    Result<ToolOutcome> view(const QString &path) const
    {
        ToolCallContext context;
        context.runtime = runtimeOn(nullptr);
        context.state = seeing();
        context.call = {utf8("view_image"), Json{{"image_path", toUtf8(path)}}, utf8("c1")};
        return awaited(makeViewImageTool()->call(context));
    }
    static MessageList viewedHistory(const char *answered = "c1")
    {
        return {humanMessage(utf8("look")), aiMessage({}, {{utf8("view_image"), Json::object(), utf8("c1")}}),
                toolMessage(utf8(answered), utf8("view_image"), utf8("ok"))};
    }
    /// The blocks that joined the request; null when nothing did.
    static Json shown(AgentState state, const MessageList &messages)
    {
        const auto blocks = std::make_shared<Json>();
        ModelCall call = modelCall(runtimeOn(nullptr), messages);
        call.state = std::move(state);
        const auto chain = compiled({std::make_shared<ViewImageMiddleware>()});
        const auto response = awaited(chain->runModel(std::move(call), [blocks](ModelCall inner) {
            const MessagePtr &last = inner.request.messages.last();
            if (last->id.startsWith(utf8("view-image-context:")))
                *blocks = last->content;
            return responding(aiMessage(utf8("seen")));
        }));
        return response ? *blocks : Json("failed");
    }

private Q_SLOTS:
    void init()
    {
        m_dir = std::make_unique<QTemporaryDir>();
        for (const char *name : {"work", "up", "out"})
            QDir(m_dir->path()).mkdir(utf8(name));
    }

    void defersToolsOfServersOnly()
    {
        const auto plain = std::make_shared<RemoteTool>(utf8("bash"), Json(), false);
        const auto off = deferTools({plain, remote("b")}, false);
        QVERIFY(off && off->tools.size() == 2 && off->deferred.names.isEmpty());
        const auto none = deferTools({plain}, true);
        QVERIFY(none && none->tools.size() == 1 && none->deferred.catalogHash.isEmpty());
        const auto some = deferTools({plain, remote("b", prefer(1, {"bee"})), remote("a", prefer(5, {"  ", 3})), remote("c", Json{{"mode", "off"}, {"keywords", {"sea"}}})}, true);
        QVERIFY(some);
        QCOMPARE(some->tools.size(), std::size_t(5));
        QCOMPARE(some->tools.back()->spec().name, utf8("tool_search"));
        QCOMPARE(some->deferred.names, (QSet<QString>{utf8("a"), utf8("b"), utf8("c")}));
        QCOMPARE(some->deferred.preferred, QStringList{utf8("b")});
        QCOMPARE(some->deferred.catalogHash.size(), 16);
        QVERIFY(!deferTools({remote("")}, true));
    }

    void theHashIsOfTheCatalogue()
    {
        const auto hash = [](std::vector<ToolPtr> tools) { return deferTools(std::move(tools), true)->deferred.catalogHash; };
        QCOMPARE(hash({remote("a"), remote("b")}), hash({remote("b"), remote("a")}));
        QVERIFY(hash({remote("a")}) != hash({remote("b")}));
    }

    void promotionOpensATool()
    {
        const auto set = deferTools({remote("a"), remote("b")}, true);
        const auto chain = compiled({std::make_shared<DeferredToolFilterMiddleware>(set->deferred)});
        const RuntimePtr runtime = runtimeOn(nullptr);
        ToolCallContext context;
        context.runtime = runtime;
        context.call = {utf8("tool_search"), Json{{"query", "select:b"}}, utf8("c1")};
        const auto found = awaited(set->tools.back()->call(context));
        const StateUpdate &update = std::get<Command>(*found).update;
        QVERIFY(textOf(update.messages.front()).contains(utf8("\"parameters\"")));
        const auto after = applyUpdate({}, update);
        QVERIFY(after);
        const auto text = [&](const char *tool, const AgentState &state) {
            const auto outcome = awaited(chain->runTool(toolCall(runtime, utf8(tool), Json::object(), state), toolSaying(utf8("ran"))));
            return textOf(std::get<MessagePtr>(*outcome));
        };
        QVERIFY(text("b", {}).startsWith(utf8("Error: Tool 'b' is deferred")));
        QCOMPARE(text("b", *after), utf8("ran"));
        QVERIFY(text("a", *after).startsWith(utf8("Error:")));
        AgentState stale = *after;
        stale.channels["promoted"]["catalog_hash"] = "0123456789abcdef";
        QVERIFY(text("b", stale).startsWith(utf8("Error:")));
        for (const Json &broken : {Json("x"), Json{{"names", {"b"}}}, Json{{"catalog_hash", toUtf8(set->deferred.catalogHash)}, {"names", "b"}}})
            QVERIFY(text("b", {{}, Json{{"promoted", broken}}}).startsWith(utf8("Error:")));
    }

    void theAuditOnlyLooks()
    {
        const auto set = deferTools({remote("a")}, true);
        DeferredOptions options{set->deferred, 3, nullptr};
        const auto chain = compiled({std::make_shared<DeferredToolPromotionAuditMiddleware>(options)});
        const auto bus = std::make_shared<EventBus>();
        const auto queue = bus->subscribe();
        const RuntimePtr runtime = runtimeOn(bus);
        for (const Json &promoted : {Json("x"), Json{{"catalog_hash", "other"}, {"names", {"a"}}},
                                     Json{{"catalog_hash", toUtf8(set->deferred.catalogHash)}, {"names", {"a", 7}}},
                                     Json{{"catalog_hash", toUtf8(set->deferred.catalogHash)}, {"names", {"a"}}}}) {
            Command command;
            command.update.channels["promoted"] = promoted;
            const auto outcome = awaited(chain->runTool(toolCall(runtime, utf8("tool_search")), [&](ToolCallRequest) { return outcomeOf(ToolOutcome(command)); }));
            QCOMPARE(std::get<Command>(*outcome).update.channels["promoted"], promoted);
        }
        int told = 0;
        for (const auto &event : queue->drain()) {
            const auto *log = std::get_if<LogRecorded>(&event->body);
            told += log ? 1 : 0;
            if (log)
                QVERIFY(!log->text.contains(set->deferred.catalogHash));
        }
        QCOMPARE(told, 1);
    }

    void routesByThePersonsWords()
    {
        const auto set = deferTools({remote("orders", prefer(5, {"Straße"})), remote("mail", prefer(9, {"post"}))}, true);
        DeferredOptions options{set->deferred, 3, std::make_shared<PromotionClaims>()};
        McpRoutingMiddleware member(options);
        const auto routed = [&](const MessageList &messages, const Json &promoted = {}) {
            const auto update = awaited(member.beforeModel({messages, promoted.is_null() ? Json::object() : Json{{"promoted", promoted}}}, runtimeOn(nullptr)));
            return update->channels;
        };
        const Json both = Json::array({"mail", "orders"});
        QCOMPARE(routed({humanMessage(utf8("Post in der STRASSE"))})["promoted"]["names"], both);
        const MessagePtr hidden = edited(humanMessage(utf8("post")), [](Message &m) { m.kwargs["hide_from_ui"] = true; });
        QVERIFY(routed({humanMessage(utf8("hello")), hidden, aiMessage(utf8("post"))}).empty());
        QVERIFY(routed({humanMessage({})}).empty());
        QVERIFY(routed({}).empty());
        // What is open already is not opened again.
        QCOMPARE(routed({humanMessage(utf8("post strasse"))}, Json{{"catalog_hash", toUtf8(set->deferred.catalogHash)}, {"names", {"mail"}}})["promoted"]["names"],
                 Json::array({"orders"}));
    }

    void viewsImages()
    {
        write("work/a.png", png());
        const auto outcome = view(utf8("/mnt/user-data/workspace/a.png"));
        const auto state = applyUpdate(seeing(), std::get<Command>(*outcome).update);
        QVERIFY(state);
        const Json &kept = state->channels["viewed_images"]["/mnt/user-data/workspace/a.png"];
        QCOMPARE(kept.size(), std::size_t(3));
        const Json blocks = shown(*state, viewedHistory());
        QVERIFY(blocks.is_array());
        QCOMPARE(blocks.size(), std::size_t(3));
        QCOMPARE(stringOf(blocks[1], "text"), utf8("- **/mnt/user-data/workspace/a.png** (image/png)"));
        QVERIFY(stringOf(blocks[2]["image_url"], "url").startsWith(utf8("data:image/png;base64,iVBOR")));
        // Not yet answered, not the last ai message, or no image: nothing joins.
        QVERIFY(shown(*state, viewedHistory("c2")).is_null());
        MessageList later = viewedHistory();
        later.append(aiMessage(utf8("I saw it")));
        QVERIFY(shown(*state, later).is_null());
        QVERIFY(shown(seeing(), viewedHistory()).is_null());

        write("work/a.png", png() + "changed");
        QVERIFY(stringOf(shown(*state, viewedHistory())[2], "text").contains(utf8("unavailable or changed")));
        QVERIFY(QFile::remove(m_dir->filePath(utf8("work/a.png"))));
        write("out/a.png", png());
        QVERIFY(QFile::link(m_dir->filePath(utf8("out/a.png")), m_dir->filePath(utf8("work/a.png")))); // same bytes, another file
        QVERIFY(stringOf(shown(*state, viewedHistory())[2], "text").contains(utf8("unavailable or changed")));
    }

    void oldContextLeavesTheRequest()
    {
        const MessagePtr stale = edited(humanMessage(utf8("old")), [](Message &m) {
            m.id = utf8("view-image-context:1");
            m.kwargs["deerflow_view_image_context"] = true;
        });
        MessageList messages{humanMessage(utf8("x")), stale};
        QVERIFY(shown({}, messages).is_null());
        const MessagePtr forged = edited(stale, [](Message &m) { m.kwargs["deerflow_view_image_context"] = "true"; });
        messages.append(forged); // not ours: stays
        QCOMPARE(shown({}, messages), Json("old"));
    }

    void refusesOtherFiles_data()
    {
        QTest::addColumn<QString>("path");
        QTest::newRow("outside") << utf8("/etc/a.png");
        QTest::newRow("climbing") << utf8("/mnt/user-data/workspace/../../../etc/a.png");
        QTest::newRow("a link out") << utf8("/mnt/user-data/workspace/link.png");
        QTest::newRow("no image by name") << utf8("/mnt/user-data/workspace/a.txt");
        QTest::newRow("no image by content") << utf8("/mnt/user-data/workspace/fake.png");
        QTest::newRow("another image by content") << utf8("/mnt/user-data/workspace/png.gif");
        QTest::newRow("not there") << utf8("/mnt/user-data/outputs/none.jpg");
        QTest::newRow("a folder") << utf8("/mnt/user-data/workspace/folder.png");
        QTest::newRow("too large") << utf8("/mnt/user-data/workspace/huge.png");
        QTest::newRow("empty") << utf8("/mnt/user-data/workspace/empty.webp");
        QTest::newRow("a null character") << QStringLiteral("/mnt/user-data/workspace/a\0.png");
        QTest::newRow("no path") << QString();
    }
    void refusesOtherFiles()
    {
        QFETCH(QString, path);
        write("work/a.txt", png());
        write("work/fake.png", "text");
        write("work/png.gif", png());
        write("work/empty.webp", {});
        write("secret.png", png());
        QDir(m_dir->path()).mkdir(utf8("work/folder.png"));
        QVERIFY(QFile::link(m_dir->filePath(utf8("secret.png")), m_dir->filePath(utf8("work/link.png"))));
        QFile huge(m_dir->filePath(utf8("work/huge.png")));
        QVERIFY(huge.open(QIODevice::WriteOnly) && huge.write(png()) > 0 && huge.resize(maxImageBytes + 1));
        const auto outcome = view(path);
        const auto *message = outcome ? std::get_if<MessagePtr>(&*outcome) : nullptr;
        QVERIFY(message && (*message)->status == ToolStatus::Error);
        QVERIFY(textOf(*message).startsWith(utf8("Error: ")));
        QVERIFY(!textOf(*message).contains(m_dir->path()));
    }
};

} // namespace tst_deferred_tools

PADDOCK_TEST(tst_deferred_tools, TestDeferredTools)
#include "tst_deferred_tools.moc"
