// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// The watch on real folders: what is told, to whom it is attributed, and what it survives.
#include "core/base/text.h"
#include "core/sandbox/workspace_watch.h"
#include "tests/support/test_main.h"

#include <QCoroTask>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QScopeGuard>
#include <QTemporaryDir>
#include <QTest>

#include <fcntl.h>
#include <mutex>
#include <sys/stat.h>
#include <unistd.h>

namespace tst_watch_workspace {

using namespace paddock;

namespace {

const QString workspace = QStringLiteral("/mnt/user-data/workspace/");

void put(const QString &path, const QByteArray &content)
{
    QDir().mkpath(QFileInfo(path).path());
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(content);
}

} // namespace

class tst_watch_workspace : public QObject
{
    Q_OBJECT

private:
    std::unique_ptr<QTemporaryDir> m_dir;
    ThreadPaths m_paths;
    std::shared_ptr<EventBus> m_bus;
    std::shared_ptr<EventQueue> m_queue;
    std::unique_ptr<WorkspaceWatch> m_watch;
    std::mutex m_mutex; // guards m_kept
    QMap<QString, QByteArray> m_kept;

    WorkspaceWatchOptions options()
    {
        WorkspaceWatchOptions options;
        options.paths = m_paths;
        options.events = EventSink(m_bus, RunId(QStringLiteral("r1")), leadAgent());
        options.keepVersion = [this](const QString &hash, const QByteArray &content) {
            const std::lock_guard lock(m_mutex);
            m_kept.insert(hash, content);
        };
        return options;
    }
    void start() { start(options()); }
    void start(WorkspaceWatchOptions options)
    {
        m_watch = std::make_unique<WorkspaceWatch>(std::move(options));
        QVERIFY(QCoro::waitFor(m_watch->start()));
    }
    /// Everything told up to now, by path; the last one wins.
    QMap<QString, FileChanged> told()
    {
        QCoro::waitFor(m_watch->flush());
        QMap<QString, FileChanged> changes;
        m_order.clear();
        for (const auto &event : m_queue->drain()) {
            if (const auto *change = std::get_if<FileChanged>(&event->body)) {
                changes.insert(change->path, *change);
                m_order << change->op + u' ' + change->path;
            }
        }
        return changes;
    }
    QStringList m_order;

    QString host(const QString &name) const { return m_paths.workspace + u'/' + name; }
    void command(const QString &id, const AgentId &agent, const QString &text = QStringLiteral("make"))
    {
        m_watch->noteCommandStarted(agent, ScopeId(agent.value()), id, text, m_bus->clock().mono());
    }
    void commandEnd(const QString &id) { m_watch->noteCommandFinished(id, m_bus->clock().mono()); }

private Q_SLOTS:
    void init()
    {
        // In memory where there is room: some tests make many files.
        const QString memory = QStringLiteral("/dev/shm");
        m_dir = QFileInfo(memory).isWritable() ? std::make_unique<QTemporaryDir>(memory + QStringLiteral("/tst_watch-XXXXXX"))
                                               : std::make_unique<QTemporaryDir>();
        QVERIFY(m_dir->isValid());
        m_paths = *ThreadPaths::make(m_dir->path(), {UserId(QStringLiteral("u")), ThreadId(QStringLiteral("t"))});
        QVERIFY(m_paths.create());
        m_bus = std::make_shared<EventBus>();
        m_queue = m_bus->subscribe();
        m_kept.clear();
    }
    void cleanup() { m_watch.reset(); }

    void tellsWhatChanged()
    {
        put(host(QStringLiteral("old.txt")), "one\ntwo\n");
        put(host(QStringLiteral("same.txt")), "same");
        put(host(QStringLiteral("gone.txt")), "a\nb\n");
        put(host(QStringLiteral("moved.txt")), "moved");
        put(m_paths.outputs + QStringLiteral("/report.md"), "r");
        start();
        put(host(QStringLiteral("old.txt")), "one\n2\nthree\n");
        put(host(QStringLiteral("same.txt")), "same");
        put(host(QStringLiteral("new/deep/er.txt")), "x\n");
        QVERIFY(QFile::remove(host(QStringLiteral("gone.txt"))));
        QVERIFY(QFile::rename(host(QStringLiteral("moved.txt")), host(QStringLiteral("renamed.txt"))));
        put(m_paths.outputs + QStringLiteral("/report.md"), "r2");
        put(m_paths.uploads + QStringLiteral("/up.bin"), QByteArray("\0\1", 2));
        const auto changes = told();
        QCOMPARE(changes.size(), 6);
        const FileChanged old = changes.value(workspace + QStringLiteral("old.txt"));
        QCOMPARE(old.op, QStringLiteral("modified"));
        QCOMPARE(old.addedLines, 2);
        QCOMPARE(old.removedLines, 1);
        QCOMPARE(old.sha256, sha256Hex(QByteArray("one\n2\nthree\n")));
        QCOMPARE(old.beforeSha256, sha256Hex(QByteArray("one\ntwo\n")));
        QCOMPARE(old.size, 12);
        QCOMPARE(old.owner, QStringLiteral("unknown"));
        QCOMPARE(old.certainty, QStringLiteral("unknown"));
        QCOMPARE(changes.value(workspace + QStringLiteral("new/deep/er.txt")).op, QStringLiteral("created"));
        QCOMPARE(changes.value(workspace + QStringLiteral("gone.txt")).op, QStringLiteral("deleted"));
        QCOMPARE(changes.value(workspace + QStringLiteral("gone.txt")).removedLines, 2);
        const FileChanged renamed = changes.value(workspace + QStringLiteral("renamed.txt"));
        QCOMPARE(renamed.op, QStringLiteral("renamed"));
        QCOMPARE(renamed.renamedFrom, workspace + QStringLiteral("moved.txt"));
        QCOMPARE(changes.value(QStringLiteral("/mnt/user-data/outputs/report.md")).op, QStringLiteral("modified"));
        QCOMPARE(changes.value(QStringLiteral("/mnt/user-data/uploads/up.bin")).size, 2);
        const std::lock_guard lock(m_mutex);
        QCOMPARE(m_kept.value(old.beforeSha256), QByteArray("one\ntwo\n"));
        QCOMPARE(m_kept.value(old.sha256), QByteArray("one\n2\nthree\n"));
        QVERIFY(!m_kept.contains(changes.value(QStringLiteral("/mnt/user-data/uploads/up.bin")).sha256));
    }

    void tellsWithoutBeingAsked()
    {
        start();
        put(host(QStringLiteral("a.txt")), "x");
        QTRY_VERIFY_WITH_TIMEOUT(m_queue->pending() > 0, 10000);
        const int fd = ::open(QFile::encodeName(host(QStringLiteral("log.txt"))).constData(), O_WRONLY | O_CREAT, 0644);
        QCOMPARE(::write(fd, "x", 1), 1);
        QTRY_VERIFY_WITH_TIMEOUT(m_queue->pending() > 1, 10000); // though it stays open
        ::close(fd);
    }

    void toolWritesAreTheTools()
    {
        put(host(QStringLiteral("f.txt")), "before");
        start();
        Event event;
        event.agent = leadAgent();
        event.body = ToolStarted{QStringLiteral("c1"), QStringLiteral("write_file"), Json{{"path", "/mnt/user-data/workspace/./f.txt"}}, 1};
        m_watch->note(event);
        put(host(QStringLiteral("f.txt")), "by the tool");
        FileChanged change;
        change.path = workspace + QStringLiteral("f.txt");
        change.owner = QStringLiteral("lead");
        change.certainty = QStringLiteral("tool");
        change.sha256 = sha256Hex(QByteArray("by the tool"));
        change.size = 11;
        event.body = change;
        m_watch->note(event);
        event.body = ToolFinished{QStringLiteral("c1"), QStringLiteral("write_file")};
        m_watch->note(event);
        QVERIFY(told().isEmpty());
        // What a shell does to it afterwards is the shell's, against the tool's version.
        command(QStringLiteral("1"), AgentId(QStringLiteral("subagent:x")));
        put(host(QStringLiteral("f.txt")), "by the shell");
        commandEnd(QStringLiteral("1"));
        const FileChanged after = told().value(change.path);
        QCOMPARE(after.beforeSha256, change.sha256);
        QCOMPARE(after.owner, QStringLiteral("subagent:x"));
        QCOMPARE(after.certainty, QStringLiteral("probably"));
    }

    /// Which file a link leads to the tool tells; until then nothing is told as somebody else's.
    void toolWritesThroughLinksAreTheTools()
    {
        put(host(QStringLiteral("f.txt")), "before");
        QVERIFY(QFile::link(QStringLiteral("f.txt"), host(QStringLiteral("alias"))));
        start();
        Event event;
        event.agent = leadAgent();
        event.body = ToolStarted{QStringLiteral("c1"), QStringLiteral("write_file"), Json{{"path", "/mnt/user-data/workspace/alias"}}, 1};
        m_watch->note(event);
        put(host(QStringLiteral("f.txt")), "by the tool");
        QTest::qWait(400); // longer than a burst is waited for
        QVERIFY(m_queue->pending() == 0);
        FileChanged change;
        change.path = workspace + QStringLiteral("f.txt");
        change.via = QString(workspace + QStringLiteral("alias"));
        change.owner = QStringLiteral("lead");
        change.certainty = QStringLiteral("tool");
        change.sha256 = sha256Hex(QByteArray("by the tool"));
        change.size = 11;
        event.body = change;
        m_watch->note(event);
        event.body = ToolFinished{QStringLiteral("c1"), QStringLiteral("write_file")};
        m_watch->note(event);
        QVERIFY(told().isEmpty());
        put(host(QStringLiteral("g.txt")), "x"); // and the watch goes on
        QVERIFY(told().contains(workspace + QStringLiteral("g.txt")));
    }

    void attributesCommands()
    {
        start();
        const AgentId a(QStringLiteral("lead")), b(QStringLiteral("subagent:b"));
        command(QStringLiteral("1"), a);
        put(host(QStringLiteral("first.txt")), "x");
        commandEnd(QStringLiteral("1"));
        QCOMPARE(told().value(workspace + QStringLiteral("first.txt")).owner, a.value());
        command(QStringLiteral("2"), a, QStringLiteral("echo x > named.txt"));
        command(QStringLiteral("3"), b, QStringLiteral("sleep 5"));
        put(host(QStringLiteral("named.txt")), "x");
        put(host(QStringLiteral("either.txt")), "x");
        const auto changes = told();
        QCOMPARE(changes.value(workspace + QStringLiteral("named.txt")).owner, a.value());
        QCOMPARE(changes.value(workspace + QStringLiteral("either.txt")).owner, QStringLiteral("unknown"));
    }

    void leavesOutWhatIsNobodysBusiness()
    {
        put(host(QStringLiteral(".env")), "KEY=1");
        start();
        put(host(QStringLiteral(".git/objects/ab")), "x");
        put(host(QStringLiteral("node_modules/m/i.js")), "x");
        put(host(QStringLiteral(".paddock-tmp-1")), "x");
        put(host(QStringLiteral(".env")), "KEY=22");
        put(host(QStringLiteral("my_token.txt")), "secret");
        QFile::link(QStringLiteral("/etc"), host(QStringLiteral("etc")));
        const auto changes = told();
        QCOMPARE(changes.size(), 3);
        QCOMPARE(changes.value(workspace + QStringLiteral(".env")).sha256, QString());
        QCOMPARE(changes.value(workspace + QStringLiteral(".env")).op, QStringLiteral("modified"));
        QCOMPARE(changes.value(workspace + QStringLiteral("my_token.txt")).sha256, QString());
        QCOMPARE(changes.value(workspace + QStringLiteral("etc")).sha256, QString()); // the link itself, not what it leads to
        const std::lock_guard lock(m_mutex);
        QVERIFY(m_kept.isEmpty());
    }

    void foldersComeAndGo()
    {
        put(host(QStringLiteral("dir/a.txt")), "a");
        put(host(QStringLiteral("dir/sub/b.txt")), "b");
        start();
        QVERIFY(QDir(m_paths.workspace).rename(QStringLiteral("dir"), QStringLiteral("moved")));
        auto changes = told();
        QCOMPARE(changes.value(workspace + QStringLiteral("moved/sub/b.txt")).op, QStringLiteral("renamed"));
        QCOMPARE(changes.value(workspace + QStringLiteral("moved/a.txt")).renamedFrom, workspace + QStringLiteral("dir/a.txt"));
        QCOMPARE(changes.size(), 2);
        put(host(QStringLiteral("moved/sub/c.txt")), "c"); // still watched under its new name
        QCOMPARE(told().value(workspace + QStringLiteral("moved/sub/c.txt")).op, QStringLiteral("created"));
        QVERIFY(QDir(host(QStringLiteral("moved"))).removeRecursively());
        changes = told();
        QCOMPARE(changes.size(), 3);
        QCOMPARE(changes.value(workspace + QStringLiteral("moved/a.txt")).op, QStringLiteral("deleted"));
        QVERIFY(QFile::rename(m_dir->filePath(QStringLiteral("users")), m_dir->filePath(QStringLiteral("users2")))); // not ours to follow
        QVERIFY(told().isEmpty());
    }

    void oddNamesAndVanishingFiles()
    {
        start();
        const QByteArray base = QFile::encodeName(m_paths.workspace) + '/';
        for (const QByteArray &name : {QByteArray("a b"), QByteArray("it's"), QByteArray("two\nlines"), QByteArray("\xff\xfe"), QByteArray(255, 'x')}) {
            const int fd = ::open((base + name).constData(), O_WRONLY | O_CREAT, 0644);
            QVERIFY(fd >= 0);
            ::close(fd);
        }
        const auto remove = qScopeGuard([base] { ::unlink((base + "\xff\xfe").constData()); }); // Qt cannot
        for (int i = 0; i < 300; ++i) {
            const QByteArray path = base + "vanish" + QByteArray::number(i);
            ::close(::open(path.constData(), O_WRONLY | O_CREAT, 0644));
            ::unlink(path.constData());
        }
        QCOMPARE(::mkfifo((base + "fifo").constData(), 0644), 0);
        const auto changes = told();
        QCOMPARE(changes.size(), 5);
        QVERIFY(changes.contains(workspace + QStringLiteral("\\xff\\xfe")));
        QVERIFY(changes.contains(workspace + QStringLiteral("two\nlines")));
    }

    void unreadableFoldersArePassedOver()
    {
        put(host(QStringLiteral("closed/f")), "x");
        ::chmod(QFile::encodeName(host(QStringLiteral("closed"))).constData(), 0);
        start();
        put(host(QStringLiteral("open.txt")), "x");
        QVERIFY(told().contains(workspace + QStringLiteral("open.txt")));
        ::chmod(QFile::encodeName(host(QStringLiteral("closed"))).constData(), 0755);
    }

    void fewWatchesAreEnoughAtTheEnd()
    {
        for (int i = 0; i < 20; ++i)
            put(host(QStringLiteral("d%1/f").arg(i)), "x");
        auto limited = options();
        limited.maxWatches = 5;
        m_watch = std::make_unique<WorkspaceWatch>(limited);
        const auto started = QCoro::waitFor(m_watch->start());
        QVERIFY(!started); // it says so
        QCOMPARE(QCoro::waitFor(m_watch->counts()).watches, 5);
        for (int i = 0; i < 20; ++i)
            put(host(QStringLiteral("d%1/g").arg(i)), "y");
        QCOMPARE(told().size(), 20);
    }

    void missingFoldersAreSaid()
    {
        QVERIFY(QDir(m_paths.uploads).removeRecursively());
        m_watch = std::make_unique<WorkspaceWatch>(options());
        const auto started = QCoro::waitFor(m_watch->start());
        QVERIFY(!started && started.error().message.contains(QStringLiteral("uploads")));
        put(host(QStringLiteral("a")), "x");
        QCOMPARE(told().size(), 1);
    }

    /// More changes at once than the kernel's queue holds: compared instead of lost.
    void floods()
    {
        start();
        const QByteArray base = QFile::encodeName(m_paths.workspace) + "/f";
        QDir(m_paths.workspace).mkpath(QStringLiteral("f"));
        constexpr int files = 20000;
        for (int i = 0; i < files; ++i) {
            const int fd = ::open((base + '/' + QByteArray::number(i)).constData(), O_WRONLY | O_CREAT, 0644);
            QVERIFY(fd >= 0);
            ::close(fd);
        }
        QCOMPARE(told().size(), files);
        QCOMPARE(QCoro::waitFor(m_watch->counts()).files, files);
        QVERIFY(told().isEmpty());
    }

    void hundredThousandFiles()
    {
        const QByteArray base = QFile::encodeName(m_paths.workspace) + '/';
        for (int d = 0; d < 100; ++d) {
            const QByteArray dir = base + QByteArray::number(d);
            QCOMPARE(::mkdir(dir.constData(), 0755), 0);
            for (int i = 0; i < 1000; ++i)
                ::close(::open((dir + '/' + QByteArray::number(i)).constData(), O_WRONLY | O_CREAT, 0644));
        }
        start();
        QCOMPARE(QCoro::waitFor(m_watch->counts()).files, 100000);
        put(host(QStringLiteral("99/999")), "x");
        QCOMPARE(told().value(workspace + QStringLiteral("99/999")).op, QStringLiteral("modified"));
    }
};

} // namespace tst_watch_workspace

PADDOCK_TEST(tst_watch_workspace, tst_watch_workspace)
#include "tst_watch_workspace.moc"
