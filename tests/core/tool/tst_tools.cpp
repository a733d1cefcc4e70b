// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// The tools on a real local sandbox: texts, limits, events, and what they never let through.
#include "core/base/text.h"
#include "core/sandbox/local/local_provider.h"
#include "core/tool/sandbox_tools.h"
#include "core/tool/task_tool.h"
#include "tests/support/test_main.h"

#include <QCoroTask>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cstring>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace tst_tools {

using namespace paddock;

namespace {

const QString ws = QStringLiteral("/mnt/user-data/workspace");

class Dispatcher : public SubagentDispatcher
{
public:
    SubagentRequest got;
    QStringList available() const override { return {QStringLiteral("general-purpose"), QStringLiteral("bash")}; }
    Task<Result<ToolOutcome>> dispatch(SubagentRequest request) override
    {
        got = request;
        co_return ToolOutcome(toolMessage(request.parent.call.id, QStringLiteral("task"), QStringLiteral("done")));
    }
};

/// Two sandboxes, one after the other; the first takes no command.
class DyingProvider : public SandboxProvider
{
public:
    class Box : public Sandbox
    {
    public:
        explicit Box(DyingProvider &owner, int number) : m_owner(owner), m_number(number) {}
        SandboxId id() const override { return SandboxId(QStringLiteral("box")); }
        bool isLocal() const override { return false; }
        bool isSuspect() const override { return m_suspect; }
        Task<bool> isThere(std::stop_token) override
        {
            m_owner.m_box = nullptr;
            co_return false;
        }
        Task<Result<CommandResult>> execute(CommandRequest, std::stop_token) override
        {
            m_owner.commands << m_number;
            if (m_number > 1)
                co_return CommandResult{QStringLiteral("done"), 0, QStringLiteral("completed"), false};
            m_suspect = true;
            co_return fail(ErrorCode::Unavailable, QStringLiteral("refused"), Json{{notDeliveredKey, m_owner.isCertain}});
        }
        Task<Result<QString>> readFile(QString, std::stop_token) override { co_return QString(); }
        Task<Result<QByteArray>> readBytes(QString, qint64, std::stop_token) override { co_return QByteArray(); }
        Task<Result<FileWritten>> writeFile(QString, QString, bool, std::stop_token) override { co_return FileWritten(); }
        Task<Result<FileWritten>> writeBytes(QString, QByteArray, std::stop_token) override { co_return FileWritten(); }
        Task<Result<QStringList>> listDir(QString, int, std::stop_token) override { co_return QStringList(); }
        Task<Result<GlobResult>> glob(QString, QString, bool, int, std::stop_token) override { co_return GlobResult(); }
        Task<Result<GrepResult>> grep(GrepQuery, std::stop_token) override { co_return GrepResult(); }
        Task<> releaseCommandScope(ScopeId) override { co_return; }

    private:
        DyingProvider &m_owner;
        const int m_number;
        bool m_suspect = false;
    };

    Task<Result<SandboxId>> acquire(ThreadKey, EventSink, std::stop_token) override
    {
        m_box = std::make_shared<Box>(*this, ++m_made);
        co_return m_box->id();
    }
    SandboxPtr get(const SandboxId &) override { return m_box; }
    Task<Result<void>> release(SandboxId) override { co_return Result<void>(); }
    Task<> shutdown() override { co_return; }
    QString providerName() const override { return QStringLiteral("aio"); }
    QString backendName() const override { return QStringLiteral("fake"); }
    int sessionLimit() const override { return 1; }

    QList<int> commands; ///< by the sandbox that got them
    bool isCertain = true;

private:
    std::shared_ptr<Box> m_box;
    int m_made = 0;
};

} // namespace

class tst_tools : public QObject
{
    Q_OBJECT

private:
    std::unique_ptr<QTemporaryDir> m_dir;
    std::shared_ptr<LocalSandboxProvider> m_provider;
    std::shared_ptr<SandboxLeases> m_leases;
    std::shared_ptr<EventBus> m_bus;
    std::shared_ptr<EventQueue> m_queue;
    RuntimePtr m_runtime;
    std::vector<ToolPtr> m_tools;
    SandboxToolOptions m_options;
    ThreadPaths m_paths;
    QMap<QString, QByteArray> m_kept;

    MessagePtr call(const QString &name, Json args, std::stop_token stop = {})
    {
        const auto tool = std::find_if(m_tools.begin(), m_tools.end(), [&](const ToolPtr &t) { return t->spec().name == name; });
        if (tool == m_tools.end())
            qFatal("no tool %s", qPrintable(name));
        args["description"] = "test";
        const auto checked = checkArguments((*tool)->spec(), args);
        if (!checked)
            return toolMessage({}, name, checked.error().message, ToolStatus::Error);
        ToolCallContext context{m_runtime, {}, {name, *checked, QStringLiteral("c1")}, stop};
        context.state.channels["thread_data"] = Json{{"outputs_path", toUtf8(m_paths.outputs)}};
        const auto outcome = QCoro::waitFor((*tool)->call(context));
        if (!outcome)
            return nullptr;
        if (const auto *command = std::get_if<Command>(&*outcome)) {
            m_update = command->update;
            return command->update.messages.front();
        }
        return std::get<MessagePtr>(*outcome);
    }
    QString say(const QString &name, const Json &args) { return textOf(call(name, args)); }
    StateUpdate m_update;

    std::vector<FileChanged> changes()
    {
        std::vector<FileChanged> found;
        for (const auto &event : m_queue->drain()) {
            if (const auto *change = std::get_if<FileChanged>(&event->body))
                found.push_back(*change);
        }
        return found;
    }
    QString host(const QString &name) const { return m_paths.workspace + u'/' + name; }
    static void put(const QString &path, const QByteArray &content)
    {
        QDir().mkpath(QFileInfo(path).path());
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(content);
    }

private Q_SLOTS:
    void init()
    {
        m_dir = std::make_unique<QTemporaryDir>();
        LocalSandboxProvider::Options options;
        options.dataDir = m_dir->path();
        options.sandbox.hostBashAllowed = [] { return true; };
        m_provider = std::make_shared<LocalSandboxProvider>(options);
        m_leases = std::make_shared<SandboxLeases>(m_provider);
        m_bus = std::make_shared<EventBus>();
        m_queue = m_bus->subscribe();
        const ThreadKey key{UserId(QStringLiteral("u1")), ThreadId(QStringLiteral("t1"))};
        m_paths = *ThreadPaths::make(m_dir->path(), key);
        QVERIFY(m_paths.create());
        m_runtime = std::make_shared<RuntimeContext>();
        m_runtime->events = EventSink(m_bus, RunId(QStringLiteral("r1")), AgentId(QStringLiteral("subagent:x")));
        m_runtime->sandbox = std::make_shared<SandboxAccess>(m_leases, subagentOwner(QStringLiteral("x")), key, m_runtime->events);
        m_options = {};
        m_options.keepVersion = [this](const QString &hash, const QByteArray &content) { m_kept.insert(hash, content); };
        m_tools = sandboxTools(m_options);
    }
    void cleanup()
    {
        QCoro::waitFor(m_runtime->sandbox->release());
        QCoro::waitFor(m_provider->shutdown());
    }

    void specs()
    {
        QStringList names;
        for (const ToolPtr &tool : m_tools) {
            const ToolSpec spec = tool->spec();
            names << spec.name;
            QVERIFY(spec.parameters.is_object() && spec.parameters.at("properties").is_object());
            QVERIFY(spec.parameters.at("required").is_array());
            for (const auto &[key, property] : spec.parameters.at("properties").items())
                QVERIFY2(property.is_object() && property.contains("type"), key.c_str());
            if (spec.name != u"present_files")
                QCOMPARE(QString::fromStdString(spec.parameters.at("properties").begin().key()), QStringLiteral("description"));
        }
        QCOMPARE(names, (QStringList{QStringLiteral("bash"), QStringLiteral("ls"), QStringLiteral("read_file"), QStringLiteral("write_file"),
                                     QStringLiteral("str_replace"), QStringLiteral("glob"), QStringLiteral("grep"), QStringLiteral("present_files")}));
        SandboxToolOptions noBash;
        noBash.offerBash = false;
        QVERIFY(sandboxTools(noBash).front()->spec().name != u"bash");
    }

    void checksArguments_data()
    {
        QTest::addColumn<QByteArray>("args");
        QTest::addColumn<QByteArray>("checked");
        QTest::addColumn<QString>("problem");
        QTest::newRow("missing") << QByteArray("{}") << QByteArray() << QStringLiteral("Field required");
        QTest::newRow("wrong type") << QByteArray("{\"p\":[]}") << QByteArray() << QStringLiteral("p\n  Input should be a valid string, got array");
        QTest::newRow("default and coercion") << QByteArray(R"({"p":"x","n":"5","b":"True"})") << QByteArray(R"({"p":"x","n":5,"b":true,"d":7})") << QString();
        QTest::newRow("whole float") << QByteArray(R"({"p":"x","n":5.0})") << QByteArray(R"({"p":"x","n":5,"d":7})") << QString();
        QTest::newRow("fraction") << QByteArray(R"({"p":"x","n":5.5})") << QByteArray() << QStringLiteral("got number");
        QTest::newRow("null optional") << QByteArray(R"({"p":"x","n":null})") << QByteArray(R"({"p":"x","d":7})") << QString();
        QTest::newRow("null required") << QByteArray(R"({"p":null})") << QByteArray() << QStringLiteral("got null");
        QTest::newRow("range") << QByteArray(R"({"p":"x","n":101})") << QByteArray() << QStringLiteral("less than or equal to 100");
        QTest::newRow("enum") << QByteArray(R"({"p":"x","e":"c"})") << QByteArray() << QStringLiteral("one of \"a\", \"b\"");
        QTest::newRow("items") << QByteArray(R"({"p":"x","l":["a",1]})") << QByteArray() << QStringLiteral("l.1");
        QTest::newRow("unknown") << QByteArray(R"({"p":"x","zz":1})") << QByteArray() << QStringLiteral("Unexpected argument");
        QTest::newRow("not an object") << QByteArray("[]") << QByteArray() << QStringLiteral("valid object");
    }
    void checksArguments()
    {
        QFETCH(QByteArray, args);
        QFETCH(QByteArray, checked);
        QFETCH(QString, problem);
        const ToolSpec spec{QStringLiteral("demo"), {}, *parseJson(R"({"type":"object","additionalProperties":false,"required":["p"],"properties":{
            "p":{"type":"string"},"n":{"type":"integer","minimum":1,"maximum":100},"b":{"type":"boolean"},
            "d":{"type":"integer","default":7},"e":{"enum":["a","b"]},"l":{"type":"array","items":{"type":"string"}}}})")};
        const auto result = checkArguments(spec, *parseJson(args));
        QCOMPARE(result.has_value(), problem.isEmpty());
        if (result)
            QCOMPARE(dumpJson(*result), checked);
        else
            QVERIFY2(result.error().message.contains(problem) && result.error().message.contains(QStringLiteral("for demo")), qPrintable(result.error().message));
    }

    void bash()
    {
        m_runtime->values["channel_user_id"] = "ou_1";
        m_runtime->values["__active_skill_secrets"] = Json{{"DEMO_TOKEN", "super-secret-1"}};
        QCOMPARE(say(QStringLiteral("bash"), {{"command", "echo $DEERFLOW_CHANNEL_USER_ID $DEMO_TOKEN; pwd"}}),
                 QStringLiteral("ou_1 [redacted]\n/mnt/user-data/workspace\n"));
        for (const auto &event : m_queue->drain()) {
            if (const auto *started = std::get_if<ShellCommandStarted>(&event->body))
                QVERIFY(!started->command.contains(QStringLiteral("super-secret")));
        }
        const auto failed = call(QStringLiteral("bash"), {{"command", "exit 3"}});
        QCOMPARE(textOf(failed), QStringLiteral("\nExit Code: 3"));
        QCOMPARE(failed->status, ToolStatus::Success); // the tool worked; the command says what it says
        const auto refused = call(QStringLiteral("bash"), {{"command", "cat /etc/shadow"}});
        QCOMPARE(refused->status, ToolStatus::Error);
        QVERIFY(textOf(refused).startsWith(QStringLiteral("Error: Unsafe absolute paths")));
        const QString cut = say(QStringLiteral("bash"), {{"command", "seq 1 100000; exit 4"}});
        QVERIFY(codePointCount(cut) <= 20000 && cut.endsWith(QStringLiteral("Exit Code: 4")));
        std::stop_source stop;
        stop.request_stop();
        QVERIFY(!call(QStringLiteral("bash"), {{"command", "true"}}, stop.get_token()));
    }

    void writesAndTells()
    {
        QCOMPARE(say(QStringLiteral("write_file"), {{"path", "/mnt/user-data/workspace/./a.txt"}, {"content", "one\ntwo\n"}}), QStringLiteral("OK"));
        QCOMPARE(say(QStringLiteral("write_file"), {{"path", "/mnt/user-data/workspace/a.txt"}, {"content", "three\n"}, {"append", true}}), QStringLiteral("OK"));
        QCOMPARE(say(QStringLiteral("str_replace"), {{"path", "/mnt/user-data/workspace/a.txt"}, {"old_str", "two"}, {"new_str", "2"}}), QStringLiteral("OK"));
        QCOMPARE(say(QStringLiteral("str_replace"), {{"path", "/mnt/user-data/workspace/a.txt"}, {"old_str", ""}, {"new_str", "2"}}), QStringLiteral("OK"));
        const auto told = changes();
        QCOMPARE(told.size(), 3u);
        QCOMPARE(told[0].op, QStringLiteral("created"));
        QCOMPARE(told[0].path, ws + QStringLiteral("/a.txt"));
        QCOMPARE(told[0].owner, QStringLiteral("subagent:x"));
        QCOMPARE(told[0].certainty, QStringLiteral("tool"));
        QCOMPARE(told[0].call, QStringLiteral("c1"));
        QCOMPARE(told[0].addedLines, 2);
        QCOMPARE(told[1].op, QStringLiteral("modified"));
        QCOMPARE(told[1].beforeSha256, told[0].sha256);
        QCOMPARE(told[1].addedLines, 1);
        QCOMPARE(told[2].addedLines, 1);
        QCOMPARE(told[2].removedLines, 1);
        QCOMPARE(m_kept.value(told[2].sha256), QByteArray("one\n2\nthree\n"));
    }

    void writeTexts()
    {
        QDir(m_paths.workspace).mkdir(QStringLiteral("dir"));
        const auto write = [this](const char *path) { return say(QStringLiteral("write_file"), {{"path", path}, {"content", "x"}}); };
        QCOMPARE(write("/mnt/user-data/workspace/dir"), QStringLiteral("Error: Path is a directory, not a file: /mnt/user-data/workspace/dir"));
        QCOMPARE(write("/mnt/skills/public/x"), QStringLiteral("Error: Permission denied writing to file: /mnt/skills/public/x"));
        QCOMPARE(write("/etc/x"), QStringLiteral("Error: Permission denied writing to file: /etc/x"));
        put(host(QStringLiteral("file")), "x");
        QVERIFY(write("/mnt/user-data/workspace/file/below").startsWith(QStringLiteral("Error: Failed to write file '/mnt/user-data/workspace/file/below': ")));
        QVERIFY(say(QStringLiteral("write_file"), {{"path", "/mnt/user-data/workspace/big"}, {"content", std::string(81921, 'x')}}).startsWith(QStringLiteral("Error: write_file content (81921 bytes)")));
        QCOMPARE(say(QStringLiteral("write_file"), {{"path", "/mnt/user-data/workspace/big"}, {"content", std::string(81921, 'x')}, {"append", true}}), QStringLiteral("OK"));
        QCOMPARE(say(QStringLiteral("str_replace"), {{"path", "/mnt/user-data/workspace/none"}, {"old_str", "a"}, {"new_str", "b"}}), QStringLiteral("Error: File not found: /mnt/user-data/workspace/none"));
        put(host(QStringLiteral("raw")), "\xff a \xff");
        QCOMPARE(say(QStringLiteral("str_replace"), {{"path", "/mnt/user-data/workspace/raw"}, {"old_str", "a"}, {"new_str", "b"}}), QStringLiteral("OK"));
        QFile raw(host(QStringLiteral("raw")));
        QVERIFY(raw.open(QIODevice::ReadOnly));
        QCOMPARE(raw.readAll(), QByteArray("\xff b \xff"));
    }

    void readTexts()
    {
        put(host(QStringLiteral("a.txt")), "1\r\n2\r\n3");
        put(host(QStringLiteral("bin")), QByteArray("\xff\0", 2));
        put(host(QStringLiteral("empty")), "");
        const auto read = [this](const char *path, Json more = Json::object()) {
            more["path"] = path;
            return say(QStringLiteral("read_file"), more);
        };
        QCOMPARE(read("/mnt/user-data/workspace/a.txt"), QStringLiteral("1\n2\n3"));
        QCOMPARE(read("/mnt/user-data/workspace/a.txt", {{"start_line", 2}, {"end_line", 2}}), QStringLiteral("2"));
        QCOMPARE(read("/mnt/user-data/workspace/empty"), QStringLiteral("(empty)"));
        QCOMPARE(read("/mnt/user-data/workspace/none"), QStringLiteral("Error: File not found: /mnt/user-data/workspace/none"));
        QCOMPARE(read("/mnt/user-data/workspace"), QStringLiteral("Error: Path is a directory, not a file: /mnt/user-data/workspace"));
        QCOMPARE(read("/etc/passwd"), QStringLiteral("Error: Permission denied reading file: /etc/passwd"));
        QVERIFY(read("/mnt/user-data/workspace/bin").startsWith(QStringLiteral("Error: cannot read '/mnt/user-data/workspace/bin' as text")));
    }

    void specialFilesAreCalledWhatTheyAre()
    {
        QCOMPARE(::mkfifo(QFile::encodeName(host(QStringLiteral("pipe"))).constData(), 0644), 0);
        const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        struct sockaddr_un address {};
        address.sun_family = AF_UNIX;
        const QByteArray path = QFile::encodeName(host(QStringLiteral("sock")));
        if (path.size() >= qsizetype(sizeof address.sun_path))
            QSKIP("the temporary folder has too long a name for a socket");
        std::memcpy(address.sun_path, path.constData(), size_t(path.size()));
        QCOMPARE(::bind(listener, reinterpret_cast<struct sockaddr *>(&address), sizeof address), 0);
        for (const auto &[name, kind] : {std::pair("pipe", "a named pipe (FIFO)"), std::pair("sock", "a socket")}) {
            const QString at = ws + u'/' + QLatin1String(name);
            const QString says = QStringLiteral("Error: Path is %1, not a regular file: %2").arg(QLatin1String(kind), at);
            QCOMPARE(say(QStringLiteral("read_file"), {{"path", toUtf8(at)}}), says);
            QCOMPARE(say(QStringLiteral("write_file"), {{"path", toUtf8(at)}, {"content", "x"}}), says);
            QCOMPARE(say(QStringLiteral("write_file"), {{"path", toUtf8(at)}, {"content", "x"}, {"append", true}}), says);
            QCOMPARE(say(QStringLiteral("str_replace"), {{"path", toUtf8(at)}, {"old_str", "a"}, {"new_str", "b"}}), says);
            QCOMPARE(say(QStringLiteral("ls"), {{"path", toUtf8(at)}}), QStringLiteral("Error: Path is not a directory: ") + at);
            QCOMPARE(say(QStringLiteral("glob"), {{"path", toUtf8(at)}, {"pattern", "*"}}), QStringLiteral("Error: Path is not a directory: ") + at);
        }
        QCOMPARE(say(QStringLiteral("grep"), {{"path", toUtf8(ws + QStringLiteral("/pipe"))}, {"pattern", "x"}}),
                 QStringLiteral("Error: Path is a named pipe (FIFO), not a regular file: ") + ws + QStringLiteral("/pipe"));
        put(host(QStringLiteral("plain")), "x");
        QVERIFY(say(QStringLiteral("grep"), {{"path", toUtf8(ws)}, {"pattern", "x"}}).contains(QStringLiteral("/plain:1: x")));
        QVERIFY(say(QStringLiteral("ls"), {{"path", toUtf8(ws)}}).contains(QStringLiteral("/plain")));
        QVERIFY(changes().empty());
        ::close(listener);
    }

    void listsAndSearches()
    {
        put(host(QStringLiteral("src/a.py")), "needle\n");
        QCOMPARE(say(QStringLiteral("ls"), {{"path", "/mnt/user-data/workspace"}}), ws + QStringLiteral("/src/\n") + ws + QStringLiteral("/src/a.py"));
        QCOMPARE(say(QStringLiteral("ls"), {{"path", "/mnt/user-data/outputs"}}), QStringLiteral("(empty)"));
        QCOMPARE(say(QStringLiteral("ls"), {{"path", "/mnt/user-data/workspace/none"}}), QStringLiteral("Error: Directory not found: /mnt/user-data/workspace/none"));
        QCOMPARE(say(QStringLiteral("ls"), {{"path", "/etc"}}), QStringLiteral("Error: Permission denied: /etc"));
        QCOMPARE(say(QStringLiteral("glob"), {{"path", "/mnt/user-data/workspace"}, {"pattern", "*.py"}}),
                 QStringLiteral("Found 1 paths under /mnt/user-data/workspace\n1. /mnt/user-data/workspace/src/a.py"));
        QCOMPARE(say(QStringLiteral("glob"), {{"path", "/mnt/user-data/workspace/src/a.py"}, {"pattern", "*.py"}}),
                 QStringLiteral("Error: Path is not a directory: /mnt/user-data/workspace/src/a.py"));
        QCOMPARE(say(QStringLiteral("grep"), {{"path", "/mnt/user-data/workspace"}, {"pattern", "NEEDLE"}}),
                 QStringLiteral("Found 1 matches under /mnt/user-data/workspace\n/mnt/user-data/workspace/src/a.py:1: needle"));
        QVERIFY(say(QStringLiteral("grep"), {{"path", "/mnt/user-data/workspace"}, {"pattern", "("}}).startsWith(QStringLiteral("Error: Invalid regex pattern: ")));
        QCOMPARE(say(QStringLiteral("grep"), {{"path", "/mnt/user-data/workspace/none"}, {"pattern", "x"}}), QStringLiteral("Error: Directory not found: /mnt/user-data/workspace/none"));
    }

    void disabledSkills()
    {
        put(m_dir->path() + QStringLiteral("/skills_view/public/open/SKILL.md"), "needle");
        put(m_dir->path() + QStringLiteral("/skills_view/public/closed/SKILL.md"), "needle");
        int asked = 0;
        m_options.isSkillDisabled = [&asked](const QString &skill) {
            ++asked;
            return skill == u"closed";
        };
        m_tools = sandboxTools(m_options);
        const QString refusal = QStringLiteral("Error: Skill 'closed' is disabled. Access to its files is blocked. Enable the skill in settings before using it.");
        QCOMPARE(say(QStringLiteral("read_file"), {{"path", "/mnt/skills/public/closed/SKILL.md"}}), refusal);
        QCOMPARE(say(QStringLiteral("ls"), {{"path", "/mnt/skills/public/closed"}}), refusal);
        asked = 0;
        QCOMPARE(say(QStringLiteral("ls"), {{"path", "/mnt/skills/public"}}), QStringLiteral("/mnt/skills/public/open/\n/mnt/skills/public/open/SKILL.md"));
        QCOMPARE(asked, 2); // once per skill
        QVERIFY(!say(QStringLiteral("grep"), {{"path", "/mnt/skills"}, {"pattern", "needle"}}).contains(QStringLiteral("closed")));
        QVERIFY(!say(QStringLiteral("glob"), {{"path", "/mnt/skills"}, {"pattern", "*.md"}}).contains(QStringLiteral("closed")));
    }

    void parallelEditsDoNotLoseEachOther()
    {
        QString content;
        for (int i = 0; i < 20; ++i)
            content += QStringLiteral("<%1>\n").arg(i);
        put(host(QStringLiteral("f")), content.toUtf8());
        std::vector<Task<Result<ToolOutcome>>> calls;
        const auto tool = std::find_if(m_tools.begin(), m_tools.end(), [](const ToolPtr &t) { return t->spec().name == u"str_replace"; });
        for (int i = 0; i < 20; ++i) {
            const std::string path = i % 2 ? "/mnt/user-data/workspace/f" : "/mnt/user-data/workspace/./f";
            const Json args{{"path", path}, {"old_str", "<" + std::to_string(i) + ">"}, {"new_str", "[" + std::to_string(i) + "]"}};
            calls.push_back((*tool)->call({m_runtime, {}, {QStringLiteral("str_replace"), args, QStringLiteral("c")}, {}}));
        }
        for (auto &one : calls)
            QCOMPARE(textOf(std::get<MessagePtr>(*QCoro::waitFor(std::move(one)))), QStringLiteral("OK"));
        QFile file(host(QStringLiteral("f")));
        QVERIFY(file.open(QIODevice::ReadOnly));
        QCOMPARE(QString::fromUtf8(file.readAll()), content.replace(u'<', u'[').replace(u'>', u']'));
    }

    void presents()
    {
        QCOMPARE(say(QStringLiteral("present_files"), {{"filepaths", {"/mnt/user-data/outputs/a.md", toUtf8(m_paths.outputs + QStringLiteral("/b.md"))}}}),
                 QStringLiteral("Successfully presented files"));
        QCOMPARE(m_update.channels.at("artifacts"), Json::array({"/mnt/user-data/outputs/a.md", "/mnt/user-data/outputs/b.md"}));
        for (const char *bad : {"/mnt/user-data/workspace/a", "/mnt/user-data/outputs", "/mnt/user-data/outputs/../workspace/a", "a.md", "/mnt/user-data/outputs2/a"})
            QCOMPARE(say(QStringLiteral("present_files"), {{"filepaths", Json::array({bad})}}),
                     QStringLiteral("Error: Only files in /mnt/user-data/outputs can be presented: ") + QString::fromLatin1(bad));
    }

    void delegates()
    {
        const auto dispatcher = std::make_shared<Dispatcher>();
        const ToolPtr tool = makeTaskTool(dispatcher);
        QVERIFY(tool->spec().description.contains(QStringLiteral("general-purpose, bash")));
        QVERIFY(!checkArguments(tool->spec(), Json{{"prompt", "p"}}));
        const Json args{{"prompt", "do it"}, {"subagent_type", " bash "}, {"acceptance_criteria", {"  one ", "", "two"}}};
        const auto checked = checkArguments(tool->spec(), args);
        QVERIFY(checked);
        const auto outcome = QCoro::waitFor(tool->call({m_runtime, {}, {QStringLiteral("task"), *checked, QStringLiteral("c9")}, {}}));
        QVERIFY(outcome);
        QCOMPARE(dispatcher->got.subagentType, QStringLiteral("bash"));
        QCOMPARE(dispatcher->got.description, QStringLiteral("do it"));
        QCOMPARE(dispatcher->got.acceptanceCriteria, (QStringList{QStringLiteral("one"), QStringLiteral("two")}));
        QCOMPARE(dispatcher->got.parent.call.id, QStringLiteral("c9"));
    }

    /// A command that reached nobody goes to a fresh sandbox, once; where there is a doubt, nowhere.
    void commandsThatReachedNobody()
    {
        const auto own = m_runtime->sandbox;
        for (const bool certain : {true, false}) {
            const auto provider = std::make_shared<DyingProvider>();
            provider->isCertain = certain;
            m_runtime->sandbox = std::make_shared<SandboxAccess>(std::make_shared<SandboxLeases>(provider), subagentOwner(QStringLiteral("y")),
                                                                 own->key(), m_runtime->events);
            QCOMPARE(say(QStringLiteral("bash"), {{"command", "true"}}), certain ? QStringLiteral("done") : QStringLiteral("Error: refused"));
            QCOMPARE(provider->commands, certain ? (QList<int>{1, 2}) : QList<int>{1});
            QCoro::waitFor(m_runtime->sandbox->release());
        }
        m_runtime->sandbox = own;
    }

    void withoutASandbox()
    {
        const auto access = m_runtime->sandbox;
        m_runtime->sandbox = nullptr;
        QCOMPARE(say(QStringLiteral("ls"), {{"path", "/mnt/user-data/workspace"}}), QStringLiteral("Error: Tool runtime not available"));
        m_runtime->sandbox = access;
        QCoro::waitFor(access->release());
        QVERIFY(say(QStringLiteral("ls"), {{"path", "/mnt/user-data/workspace"}}).startsWith(QStringLiteral("Error: Unexpected error initializing sandbox: ")));
    }
};

} // namespace tst_tools

PADDOCK_TEST(tst_tools, tst_tools)
#include "tst_tools.moc"
