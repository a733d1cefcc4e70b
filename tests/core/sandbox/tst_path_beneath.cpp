// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// Opening beneath a descriptor: escapes, races, odd names, refused and failing writes.
#include "core/sandbox/beneath.h"
#include "core/sandbox/sandbox.h"
#include "tests/support/test_main.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QScopeGuard>
#include <QTemporaryDir>
#include <QTest>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <thread>

namespace tst_path_beneath {

using namespace paddock;

namespace {

QByteArray contentOf(const QByteArray &path)
{
    QFile file(QFile::decodeName(path));
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray("<missing>");
}

void put(const QByteArray &path, const QByteArray &content)
{
    const int fd = ::open(path.constData(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    QVERIFY(fd >= 0);
    QCOMPARE(::write(fd, content.constData(), size_t(content.size())), content.size());
    ::close(fd);
}

/// Drops root's powers for a block; as another user it changes nothing.
class AsNobody
{
public:
    AsNobody()
    {
        if (::geteuid() != 0)
            return;
        m_was = ::setegid(65534) == 0 && ::seteuid(65534) == 0;
    }
    ~AsNobody()
    {
        if (m_was && (::seteuid(0) != 0 || ::setegid(0) != 0))
            qFatal("cannot get back");
    }

private:
    bool m_was = false;
};

} // namespace

class tst_path_beneath : public QObject
{
    Q_OBJECT

private:
    QTemporaryDir m_dir;
    QByteArray m_base;    ///< resolved
    QByteArray m_root;
    QByteArray m_outside;

    UniqueFd rootFd() const { return std::move(*openRoot(m_root)); }

private Q_SLOTS:
    void init()
    {
        setOpenat2Allowed(true);
        m_base = QFile::encodeName(QFileInfo(m_dir.path()).canonicalFilePath()) + "/" + QTest::currentTestFunction()
            + QByteArray::number(qHash(QByteArray(QTest::currentDataTag())));
        m_root = m_base + "/root";
        m_outside = m_base + "/outside";
        QVERIFY(QDir().mkpath(QFile::decodeName(m_root) + QStringLiteral("/sub")));
        QVERIFY(QDir().mkpath(QFile::decodeName(m_outside)));
        put(m_outside + "/secret", "secret");
        put(m_root + "/sub/file", "inside");
        QCOMPARE(::symlink(m_outside.constData(), (m_root + "/out").constData()), 0);
        QCOMPARE(::symlink("../outside/secret", (m_root + "/leaf").constData()), 0);
        QCOMPARE(::symlink("sub", (m_root + "/in").constData()), 0);
    }
    void cleanup() { setOpenat2Allowed(true); }

    void refusesEveryLink_data()
    {
        QTest::addColumn<bool>("modern");
        QTest::addColumn<QByteArray>("relative");
        for (const bool modern : {true, false}) {
            for (const char *relative : {"out/secret", "leaf", "in/file", "../outside/secret", "sub/../../outside/secret", "/etc/passwd", "sub/./file/.."})
                QTest::addRow("%s %s", modern ? "openat2" : "walk", relative) << modern << QByteArray(relative);
        }
    }
    void refusesEveryLink()
    {
        QFETCH(bool, modern);
        QFETCH(QByteArray, relative);
        setOpenat2Allowed(modern);
        const UniqueFd root = rootFd();
        QVERIFY(!openBeneath(root.get(), relative, O_RDONLY));
        QVERIFY(openBeneath(root.get(), "sub/file", O_RDONLY));
        QVERIFY(openBeneath(root.get(), "", O_RDONLY | O_DIRECTORY));
    }

    void resolves_data()
    {
        QTest::addColumn<QByteArray>("path");
        QTest::addColumn<QByteArray>("resolved");
        QTest::newRow("link to a folder") << QByteArray("R/in/file") << QByteArray("R/sub/file");
        QTest::newRow("missing tail") << QByteArray("R/in/a/b/../c") << QByteArray("R/sub/a/c");
        QTest::newRow("leaves") << QByteArray("R/out/x") << QByteArray("O/x");
        QTest::newRow("relative leaf") << QByteArray("R/leaf") << QByteArray("O/secret");
        QTest::newRow("slashes") << QByteArray("R//sub///file/") << QByteArray("R/sub/file");
        QTest::newRow("above the top") << QByteArray("/../../etc") << QByteArray("/etc");
    }
    void resolves()
    {
        QFETCH(QByteArray, path);
        QFETCH(QByteArray, resolved);
        // Once, at the front: the name of a temporary folder may have these letters in it.
        const auto placed = [this](const QByteArray &text) {
            return text.startsWith('R') ? m_root + text.sliced(1) : text.startsWith('O') ? m_outside + text.sliced(1) : text;
        };
        QCOMPARE(resolveLinks(placed(path)), placed(resolved));
    }

    void survivesLinkLoops()
    {
        QCOMPARE(::symlink("b", (m_root + "/a").constData()), 0);
        QCOMPARE(::symlink("a", (m_root + "/b").constData()), 0);
        QVERIFY(isBelow(resolveLinks(m_root + "/a/x"), m_root));
        const auto located = locate(m_root + "/a/x", {{m_root, false}});
        QVERIFY(located);
        const UniqueFd root = rootFd();
        QVERIFY(!openBeneath(root.get(), located->relative, O_RDONLY));
    }

    /// A dangling link to a place outside must not create anything there.
    void danglingLinkCreatesNothing()
    {
        QCOMPARE(::symlink((m_outside + "/new").constData(), (m_root + "/dangling").constData()), 0);
        QVERIFY(!locate(m_root + "/dangling", {{m_root, false}}));
        const UniqueFd root = rootFd();
        QVERIFY(!writeAtomicBeneath(root.get(), "dangling", "x"));
        QVERIFY(!appendBeneath(root.get(), "dangling", "x"));
        QVERIFY(!QFile::exists(QFile::decodeName(m_outside + "/new")));
    }

    /// Somebody swaps a folder for a link to the outside, again and again, while we read and write below it.
    void racesNeverLeave_data()
    {
        QTest::addColumn<bool>("modern");
        QTest::newRow("openat2") << true;
        QTest::newRow("walk") << false;
    }
    void racesNeverLeave()
    {
        QFETCH(bool, modern);
        setOpenat2Allowed(modern);
        QVERIFY(QDir().mkpath(QFile::decodeName(m_root + "/swap")));
        put(m_root + "/swap/secret", "inside");
        QCOMPARE(::symlink(m_outside.constData(), (m_root + "/evil").constData()), 0);
        std::atomic<bool> done{false};
        std::thread attacker([&] {
            const QByteArray swap = m_root + "/swap", evil = m_root + "/evil";
            while (!done)
                ::renameat2(AT_FDCWD, swap.constData(), AT_FDCWD, evil.constData(), RENAME_EXCHANGE);
        });
        int opened = 0, refused = 0;
        for (int i = 0; i < 3000; ++i) {
            const auto located = locate(m_root + "/swap/secret", {{m_root, false}});
            if (!located) {
                ++refused;
                continue;
            }
            const UniqueFd root = rootFd();
            if (const auto fd = openBeneath(root.get(), located->relative, O_RDONLY)) {
                const auto content = readAll(fd->get(), 1000);
                if (!content || *content != "inside")
                    qFatal("read something outside");
                ++opened;
            } else {
                ++refused;
            }
            (void)writeAtomicBeneath(root.get(), "swap/written", "x");
            (void)appendBeneath(root.get(), "swap/appended", "x");
            (void)makeDirsBeneath(root.get(), "swap/made/deep");
        }
        done = true;
        attacker.join();
        QVERIFY2(opened > 0 && refused > 0, qPrintable(QStringLiteral("opened %1, refused %2").arg(opened).arg(refused)));
        QCOMPARE(QDir(QFile::decodeName(m_outside)).entryList(QDir::AllEntries | QDir::NoDotAndDotDot | QDir::Hidden),
                 QStringList{QStringLiteral("secret")});
        QCOMPARE(contentOf(m_outside + "/secret"), QByteArray("secret"));
    }

    void writesAtomically()
    {
        const UniqueFd root = rootFd();
        put(m_root + "/script", "old");
        QCOMPARE(::chmod((m_root + "/script").constData(), 0750), 0);
        const int held = ::open((m_root + "/script").constData(), O_RDONLY);
        QVERIFY(writeAtomicBeneath(root.get(), "script", "new"));
        QCOMPARE(contentOf(m_root + "/script"), QByteArray("new"));
        char old[4] = {};
        QCOMPARE(::read(held, old, 3), 3); // who had it open still sees the old file whole
        QCOMPARE(QByteArray(old), QByteArray("old"));
        ::close(held);
        struct stat info {};
        QCOMPARE(::stat((m_root + "/script").constData(), &info), 0);
        QCOMPARE(int(info.st_mode & 07777), 0750);
        QVERIFY(writeAtomicBeneath(root.get(), "deep/er/file", "x"));
        QVERIFY(appendBeneath(root.get(), "deep/er/file", "y"));
        QVERIFY(appendBeneath(root.get(), "deep/other/file", "z"));
        QCOMPARE(contentOf(m_root + "/deep/er/file"), QByteArray("xy"));
        QCOMPARE(contentOf(m_root + "/deep/other/file"), QByteArray("z"));
    }

    void refusesWhatIsNoFile()
    {
        const UniqueFd root = rootFd();
        const auto directory = writeAtomicBeneath(root.get(), "sub", "x");
        QVERIFY(!directory);
        QCOMPARE(stringOf(directory.error().details, fileErrorReasonKey), QLatin1String(reasonIsDirectory));
        QCOMPARE(::mkfifo((m_root + "/fifo").constData(), 0666), 0);
        QVERIFY(!writeAtomicBeneath(root.get(), "fifo", "x"));
        QVERIFY(!appendBeneath(root.get(), "fifo", "x"));
        const auto fifo = openBeneath(root.get(), "fifo", O_RDONLY | O_NONBLOCK);
        QVERIFY(fifo && !readAll(fifo->get(), 100));
        const auto sub = openBeneath(root.get(), "sub", O_RDONLY);
        QVERIFY(sub && !readAll(sub->get(), 100));
        QVERIFY(!writeAtomicBeneath(root.get(), "sub/file/below", "x"));
    }

    void namesOfAnyBytes_data()
    {
        QTest::addColumn<QByteArray>("name");
        QTest::newRow("blank") << QByteArray("a b");
        QTest::newRow("quotes") << QByteArray("it's \"quoted\"");
        QTest::newRow("newline") << QByteArray("two\nlines");
        QTest::newRow("not UTF-8") << QByteArray("\xff\xfe\x80");
        QTest::newRow("dash") << QByteArray("-rf");
        QTest::newRow("long") << QByteArray(255, 'n');
    }
    void namesOfAnyBytes()
    {
        QFETCH(QByteArray, name);
        const UniqueFd root = rootFd();
        QVERIFY(writeAtomicBeneath(root.get(), "d/" + name, "content"));
        const auto fd = openBeneath(root.get(), "d/" + name, O_RDONLY);
        QVERIFY(fd);
        QCOMPARE(*readAll(fd->get(), 100), QByteArray("content"));
    }

    void limitsReading()
    {
        const UniqueFd root = rootFd();
        const auto fd = openBeneath(root.get(), "sub/file", O_RDONLY);
        const auto content = readAll(fd->get(), 3);
        QVERIFY(!content);
        QCOMPARE(content.error().code, ErrorCode::ResourceExhausted);
    }

    void refusedFolders()
    {
        put(m_root + "/mine", "old");
        QCOMPARE(::chmod((m_root + "/mine").constData(), 0444), 0);
        put(m_root + "/shared", "old");
        QCOMPARE(::chmod((m_root + "/shared").constData(), 0666), 0);
        QCOMPARE(::chmod(m_root.constData(), 0555), 0);
        const UniqueFd root = rootFd();
        {
            const AsNobody nobody;
            const auto readOnly = writeAtomicBeneath(root.get(), "mine", "new");
            QVERIFY(!readOnly);
            QCOMPARE(readOnly.error().code, ErrorCode::PermissionDenied);
            QVERIFY(!writeAtomicBeneath(root.get(), "fresh", "new"));
            QVERIFY(writeAtomicBeneath(root.get(), "shared", "new")); // in place: the folder takes no new names
        }
        QCOMPARE(contentOf(m_root + "/mine"), QByteArray("old"));
        QCOMPARE(contentOf(m_root + "/shared"), QByteArray("new"));
        ::chmod(m_root.constData(), 0755);
    }

    /// A write that fails half-way leaves the old file and no temporary one.
    void failingWriteKeepsTheOldFile()
    {
        put(m_root + "/kept", "old");
        struct rlimit before {};
        ::getrlimit(RLIMIT_FSIZE, &before);
        const auto oldHandler = ::signal(SIGXFSZ, SIG_IGN);
        struct rlimit small {1000, before.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &small);
        const UniqueFd root = rootFd();
        const auto written = writeAtomicBeneath(root.get(), "kept", QByteArray(5000, 'x'));
        ::setrlimit(RLIMIT_FSIZE, &before);
        ::signal(SIGXFSZ, oldHandler);
        QVERIFY(!written);
        QCOMPARE(contentOf(m_root + "/kept"), QByteArray("old"));
        QCOMPARE(QDir(QFile::decodeName(m_root)).entryList({QStringLiteral(".paddock*")}, QDir::Files | QDir::Hidden), QStringList());
    }

    void fullDisk()
    {
        const QByteArray mount = m_base + "/small";
        QVERIFY(QDir().mkpath(QFile::decodeName(mount)));
        if (::mount("tmpfs", mount.constData(), "tmpfs", 0, "size=64k") != 0)
            QSKIP("a small tmpfs cannot be mounted here");
        const auto unmount = qScopeGuard([&] { ::umount2(mount.constData(), MNT_DETACH); });
        {
            const auto root = openRoot(mount);
            QVERIFY(writeAtomicBeneath(root->get(), "kept", "old"));
            const auto written = writeAtomicBeneath(root->get(), "kept", QByteArray(200000, 'x'));
            QVERIFY(!written);
            QCOMPARE(written.error().code, ErrorCode::ResourceExhausted);
            QVERIFY(!written.error().message.contains(QString::fromUtf8(mount)));
        }
        QCOMPARE(contentOf(mount + "/kept"), QByteArray("old"));
        QCOMPARE(QDir(QFile::decodeName(mount)).entryList(QDir::Files | QDir::Hidden), QStringList{QStringLiteral("kept")});
    }
};

} // namespace tst_path_beneath

PADDOCK_TEST(tst_path_beneath, tst_path_beneath)
#include "tst_path_beneath.moc"
