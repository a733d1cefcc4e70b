// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// The file side of the local sandbox on real folders: gate, containment, listings, searches, rewriting of paths.
#include "core/sandbox/local/local_files.h"
#include "core/sandbox/search.h"
#include "core/sandbox/virtual_paths.h"
#include "tests/support/test_main.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QScopeGuard>
#include <QTemporaryDir>
#include <QTest>

#include <atomic>
#include <fcntl.h>
#include <thread>

namespace tst_local_files {

using namespace paddock;

namespace {

QString ws(const QString &rest = {})
{
    return virtualWorkspace.toString() + rest;
}

QByteArray contentOf(const QString &path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray("<missing>");
}

void put(const QString &path, const QByteArray &content)
{
    QDir().mkpath(QFileInfo(path).path());
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(content);
}

} // namespace

class tst_local_files : public QObject
{
    Q_OBJECT

private:
    std::unique_ptr<QTemporaryDir> m_dir;
    std::unique_ptr<LocalFiles> m_files;
    QString m_host;    ///< of the workspace
    QString m_mount;

    const ThreadPaths &paths() const { return m_files->paths(); }

private Q_SLOTS:
    void init()
    {
        m_dir = std::make_unique<QTemporaryDir>();
        const QString base = QDir(m_dir->path()).canonicalPath() + QStringLiteral("/data dir's");
        const auto made = ThreadPaths::make(base, {UserId(QStringLiteral("u1")), ThreadId(QStringLiteral("t1"))});
        QVERIFY(made);
        QVERIFY(made->create());
        m_mount = base + QStringLiteral("/mounted");
        put(m_mount + QStringLiteral("/ref.txt"), "reference");
        put(base + QStringLiteral("/skills_view/public/demo/SKILL.md"), "demo skill");
        m_files = std::make_unique<LocalFiles>(*made, SkillDirs::of(base, QStringLiteral("u1")), QStringLiteral("/mnt/skills"),
                                               std::vector<MountSpec>{{m_mount, QStringLiteral("/mnt/ref"), true}});
        QCOMPARE(m_files->warnings(), QStringList());
        m_host = paths().workspace;
    }

    void createsOpenFolders()
    {
        for (const QString &folder : {paths().workspace, paths().uploads, paths().outputs, paths().acp()}) {
            struct stat info {};
            QCOMPARE(::stat(QFile::encodeName(folder).constData(), &info), 0);
            QCOMPARE(int(info.st_mode & 0777), 0777);
        }
    }

    void foreignWorkspaceMustExist()
    {
        const ThreadKey key{UserId(QStringLiteral("u1")), ThreadId(QStringLiteral("t2"))};
        const auto missing = ThreadPaths::make(m_dir->path(), key, m_dir->path() + QStringLiteral("/nowhere"));
        QVERIFY(missing && !missing->create());
        const QString own = m_dir->path() + QStringLiteral("/project");
        QDir().mkpath(own);
        QFile::setPermissions(own, QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
        const auto foreign = ThreadPaths::make(m_dir->path(), key, own);
        QVERIFY(foreign && foreign->create());
        QVERIFY(!(QFileInfo(own).permissions() & QFile::ReadOther)); // the person's folder keeps its mode
        LocalFiles files(*foreign, {}, QStringLiteral("/mnt/skills"), {});
        QVERIFY(files.writeFile(ws(QStringLiteral("/a")), QStringLiteral("x"), false));
        QVERIFY(QFile::exists(own + QStringLiteral("/a")));
    }

    void readsAndWrites()
    {
        QVERIFY(m_files->writeFile(ws(QStringLiteral("/a b/it's.txt")), QStringLiteral("one\n"), false));
        QVERIFY(m_files->writeFile(ws(QStringLiteral("/a b/it's.txt")), QStringLiteral("two\n"), true));
        QCOMPARE(*m_files->readFile(ws(QStringLiteral("/a b/it's.txt"))), QStringLiteral("one\ntwo\n"));
        QCOMPARE(contentOf(m_host + QStringLiteral("/a b/it's.txt")), QByteArray("one\ntwo\n"));
        QCOMPARE(*m_files->readFile(QStringLiteral("/mnt/ref/ref.txt")), QStringLiteral("reference"));
        QCOMPARE(*m_files->readFile(QStringLiteral("/mnt/skills/public/demo/SKILL.md")), QStringLiteral("demo skill"));
        put(m_host + QStringLiteral("/bom"), "\xef\xbb\xbfx");
        QCOMPARE(*m_files->readFile(ws(QStringLiteral("/bom"))), QString(QChar(0xfeff)) + u'x');
    }

    void refuses_data()
    {
        QTest::addColumn<QString>("path");
        QTest::addColumn<bool>("write");
        QTest::newRow("parent") << ws(QStringLiteral("/../../../../etc/passwd")) << false;
        QTest::newRow("sibling") << QStringLiteral("/mnt/user-data/secret") << false;
        QTest::newRow("root") << QStringLiteral("/mnt/user-data/") << false;
        QTest::newRow("elsewhere") << QStringLiteral("/etc/passwd") << false;
        QTest::newRow("host path") << QStringLiteral("HOST/file") << false;
        QTest::newRow("link out") << ws(QStringLiteral("/out/passwd")) << false;
        QTest::newRow("link out, write") << ws(QStringLiteral("/out/new")) << true;
        QTest::newRow("link to a file out") << ws(QStringLiteral("/passwd")) << false;
        QTest::newRow("skills, write") << QStringLiteral("/mnt/skills/public/demo/SKILL.md") << true;
        QTest::newRow("acp, write") << QStringLiteral("/mnt/acp-workspace/x") << true;
        QTest::newRow("read-only mount, write") << QStringLiteral("/mnt/ref/ref.txt") << true;
        QTest::newRow("mount escape") << QStringLiteral("/mnt/ref/out/passwd") << false;
        QTest::newRow("null") << ws(QStringLiteral("/a")) + QChar(0) + u'b' << true;
    }
    void refuses()
    {
        QFETCH(QString, path);
        QFETCH(bool, write);
        path.replace(QStringLiteral("HOST"), m_host);
        put(m_host + QStringLiteral("/file"), "x");
        put(paths().thread + QStringLiteral("/user-data/secret"), "x");
        QFile::link(QStringLiteral("/etc"), m_host + QStringLiteral("/out"));
        QFile::link(QStringLiteral("/etc/passwd"), m_host + QStringLiteral("/passwd"));
        QFile::link(QStringLiteral("/etc"), m_mount + QStringLiteral("/out"));
        const auto result = write ? m_files->writeFile(path, QStringLiteral("x"), false).transform([](const FileWritten &) {})
                                  : m_files->readFile(path).transform([](const QString &) {});
        QVERIFY(!result);
        QVERIFY2(!result.error().message.contains(m_dir->path()), qPrintable(result.error().message));
        QVERIFY(!QFile::exists(QStringLiteral("/etc/new")));
    }

    void followsLinksThatStay()
    {
        QFile::link(paths().outputs, m_host + QStringLiteral("/to_outputs"));
        QVERIFY(m_files->writeFile(ws(QStringLiteral("/to_outputs/r.md")), QStringLiteral("x"), false));
        QVERIFY(QFile::exists(paths().outputs + QStringLiteral("/r.md")));
        QCOMPARE(m_files->lockPath(ws(QStringLiteral("/to_outputs/r.md"))), m_files->lockPath(QStringLiteral("/mnt/user-data/outputs/./r.md")));
    }

    void saysWhatIsWrong()
    {
        QDir(m_host).mkdir(QStringLiteral("sub"));
        put(m_host + QStringLiteral("/bin"), QByteArray("\xff\x00\x01", 3));
        QCOMPARE(stringOf(m_files->readFile(ws(QStringLiteral("/sub"))).error().details, fileErrorReasonKey), QLatin1String(reasonIsDirectory));
        QCOMPARE(stringOf(m_files->writeFile(ws(QStringLiteral("/sub")), {}, false).error().details, fileErrorReasonKey), QLatin1String(reasonIsDirectory));
        QCOMPARE(stringOf(m_files->readFile(ws(QStringLiteral("/bin"))).error().details, fileErrorReasonKey), QLatin1String(reasonBinary));
        QCOMPARE(m_files->readFile(ws(QStringLiteral("/none"))).error().code, ErrorCode::NotFound);
        QCOMPARE(m_files->listDir(ws(QStringLiteral("/none")), 2, {}).error().code, ErrorCode::NotFound);
        QCOMPARE(stringOf(m_files->listDir(ws(QStringLiteral("/bin")), 2, {}).error().details, fileErrorReasonKey), QLatin1String(reasonNotDirectory));
        QCOMPARE(m_files->readBytes(ws(QStringLiteral("/bin")), 2).error().code, ErrorCode::ResourceExhausted);
    }

    void translatesContent()
    {
        const QString path = ws(QStringLiteral("/run.py"));
        QVERIFY(m_files->writeFile(path, QStringLiteral("open('/mnt/user-data/workspace/x')"), false));
        QCOMPARE(QString::fromUtf8(contentOf(m_host + QStringLiteral("/run.py"))), QStringLiteral("open('%1/x')").arg(m_host));
        QCOMPARE(*m_files->readFile(path), QStringLiteral("open('/mnt/user-data/workspace/x')"));
        QVERIFY(m_files->writeBytes(path, "raw /mnt/user-data/workspace"));
        QCOMPARE(contentOf(m_host + QStringLiteral("/run.py")), QByteArray("raw /mnt/user-data/workspace"));
        put(m_host + QStringLiteral("/log"), (QStringLiteral("at ") + m_host + QStringLiteral("/x:1")).toUtf8());
        QCOMPARE(*m_files->readFile(ws(QStringLiteral("/log"))), QStringLiteral("at /mnt/user-data/workspace/x:1"));
    }

    void lists()
    {
        put(m_host + QStringLiteral("/b.txt"), "x");
        put(m_host + QStringLiteral("/a/deep/er/x"), "x");
        put(m_host + QStringLiteral("/node_modules/x"), "x");
        QFile::link(QStringLiteral("/etc"), m_host + QStringLiteral("/out"));
        QFile::link(QStringLiteral("a/deep"), m_host + QStringLiteral("/shortcut"));
        QFile::link(QStringLiteral("missing"), m_host + QStringLiteral("/dangling"));
        QFile::link(QStringLiteral("."), m_host + QStringLiteral("/self"));
        QCOMPARE(*m_files->listDir(ws(QStringLiteral("/")), 2, {}),
                 (QStringList{ws(QStringLiteral("/a/")), ws(QStringLiteral("/a/deep/")), ws(QStringLiteral("/b.txt"))}));
        QCOMPARE(*m_files->listDir(QStringLiteral("/mnt/skills"), 2, {}),
                 (QStringList{QStringLiteral("/mnt/skills/public/"), QStringLiteral("/mnt/skills/public/demo/")}));
        QCOMPARE(*m_files->listDir(QStringLiteral("/mnt/user-data/outputs"), 2, {}), QStringList());
    }

    void searches()
    {
        put(m_host + QStringLiteral("/z.txt"), "needle at " + m_host.toUtf8() + "/x\n");
        put(m_host + QStringLiteral("/src/a.py"), "x\nNeedle\n");
        put(m_host + QStringLiteral("/src/big.py"), QByteArray(1000001, 'n') + "\nneedle\n");
        put(m_host + QStringLiteral("/build/b.py"), "needle");
        QFile::link(m_host + QStringLiteral("/z.txt"), m_host + QStringLiteral("/linked.txt"));
        GrepQuery query;
        query.path = ws();
        query.pattern = QStringLiteral("needle");
        const auto found = m_files->grep(query, {});
        QVERIFY(found);
        QCOMPARE(found->matches.size(), 2u);
        QCOMPARE(found->matches.at(0).path, ws(QStringLiteral("/z.txt"))); // files of a folder before its sub-folders
        QCOMPARE(found->matches.at(0).text, QStringLiteral("needle at /mnt/user-data/workspace/x"));
        QCOMPARE(found->matches.at(1).line, 2);
        query.path = ws(QStringLiteral("/z.txt"));
        QCOMPARE(m_files->grep(query, {})->matches.size(), 1u);
        query.glob = QStringLiteral("*.py");
        QCOMPARE(m_files->grep(query, {})->matches.size(), 0u);
        QCOMPARE(m_files->glob(ws(), QStringLiteral("*.py"), false, 10, {})->paths,
                 (QStringList{ws(QStringLiteral("/src/a.py")), ws(QStringLiteral("/src/big.py"))}));
        const auto one = m_files->glob(ws(), QStringLiteral("*.py"), false, 1, {});
        QVERIFY(one->truncated && one->paths.size() == 1);
        QCOMPARE(m_files->glob(QStringLiteral("/mnt/skills"), QStringLiteral("public/**/*.md"), false, 10, {})->paths,
                 QStringList{QStringLiteral("/mnt/skills/public/demo/SKILL.md")});
        std::stop_source stop;
        stop.request_stop();
        query.path = ws();
        QVERIFY(m_files->grep(query, stop.get_token()).error().isCancelled());
    }

    void namesOfAnyBytes()
    {
        const int fd = ::open((QFile::encodeName(m_host) + "/\xff\nname").constData(), O_WRONLY | O_CREAT, 0644);
        QVERIFY(fd >= 0);
        QCOMPARE(::write(fd, "needle\n", 7), 7);
        ::close(fd);
        const auto remove = qScopeGuard([this] { ::unlink((QFile::encodeName(m_host) + "/\xff\nname").constData()); }); // Qt cannot
        QCOMPARE(m_files->listDir(ws(), 2, {})->size(), 1);
        GrepQuery query;
        query.path = ws();
        query.pattern = QStringLiteral("needle");
        QCOMPARE(m_files->grep(query, {})->matches.size(), 1u);
    }

    /// A folder of the workspace is swapped for a link to the outside while files below it are read and written.
    void racesStayInside()
    {
        const QByteArray host = QFile::encodeName(m_host);
        const QString outside = m_dir->path() + QStringLiteral("/outside");
        put(outside + QStringLiteral("/f"), "secret");
        put(m_host + QStringLiteral("/swap/f"), "inside");
        QFile::link(outside, m_host + QStringLiteral("/evil"));
        std::atomic<bool> done{false};
        std::thread attacker([&] {
            while (!done)
                ::renameat2(AT_FDCWD, (host + "/swap").constData(), AT_FDCWD, (host + "/evil").constData(), RENAME_EXCHANGE);
        });
        int read = 0;
        for (int i = 0; i < 1500; ++i) {
            if (const auto content = m_files->readFile(ws(QStringLiteral("/swap/f")))) {
                if (*content != u"inside")
                    qFatal("read something outside");
                ++read;
            }
            (void)m_files->writeFile(ws(QStringLiteral("/swap/new")), QStringLiteral("x"), false);
            if (const auto list = m_files->listDir(ws(QStringLiteral("/swap")), 2, {}); list && list->contains(ws(QStringLiteral("/swap/secret"))))
                qFatal("listed something outside");
        }
        done = true;
        attacker.join();
        QVERIFY(read > 0);
        QCOMPARE(QDir(outside).entryList(QDir::Files | QDir::Hidden), QStringList{QStringLiteral("f")});
    }
};

} // namespace tst_local_files

PADDOCK_TEST(tst_local_files, tst_local_files)
#include "tst_local_files.moc"
