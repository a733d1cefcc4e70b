// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// Ways out of the embedded sandbox, tried by real commands through the real program, as root and as an ordinary user; and
// whether anything outside noticed. Skipped, with a word why, where namespaces are refused.
#include "tests/core/sandbox/isolation_rows.h"
#include "tests/support/paddock_program.h"
#include "tests/support/test_main.h"

#include <QDir>
#include <QFile>
#include <QRegularExpression>
#include <QTest>

#include <linux/landlock.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <memory>

namespace tst_isolation {

using namespace paddock;
using namespace paddock::test;

namespace {

constexpr int attemptSeconds = 40;
constexpr int landlockWithScopes = 6;

QString text(const char *utf8)
{
    return QString::fromUtf8(utf8);
}

/// A socket that listens on the host, and that nobody may come to.
class Listener
{
public:
    explicit Listener(int family) : m_fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}
    ~Listener() { ::close(m_fd); }
    Listener(const Listener &) = delete;
    Listener &operator=(const Listener &) = delete;

    quint16 onLoopback()
    {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t length = sizeof address;
        bindTo(&address, length);
        ::getsockname(m_fd, reinterpret_cast<sockaddr *>(&address), &length);
        return ntohs(address.sin_port);
    }
    void onUnix(const QByteArray &name, bool abstract)
    {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::memcpy(address.sun_path + (abstract ? 1 : 0), name.constData(), size_t(name.size()));
        bindTo(&address, socklen_t(offsetof(sockaddr_un, sun_path) + size_t(name.size()) + 1));
    }
    bool somebodyCame() const
    {
        pollfd fd{m_fd, POLLIN, 0};
        return ::poll(&fd, 1, 0) != 0;
    }

private:
    void bindTo(const void *address, socklen_t length)
    {
        if (::bind(m_fd, static_cast<const sockaddr *>(address), length) != 0 || ::listen(m_fd, 8) != 0)
            qFatal("cannot listen on the host");
    }
    int m_fd;
};

/// One run of the program by one user, and what stands around it on the host.
class World
{
public:
    /// `user`: a command that runs the rest as that user.
    explicit World(bool ordinary) : user(ordinary ? program.asOrdinaryUser() : QStringList()), usable(!ordinary || !user.isEmpty())
    {
        if (!usable)
            return;
        workspace = QFileInfo(program.dataDir()).path() + text("/project");
        other = program.dataDir() + text("/users/default/threads/other/user-data/workspace");
        asUser({text("sh"), text("-c"), text("umask 022; mkdir -p \"$1\"/attempts \"$1\"/seen \"$2\" && echo tell-tale > \"$2/secret.txt\" "
                                             "&& echo tell-tale > \"$3/secret.txt\" && cp \"$4\" \"$1/probe\""),
                text("sh"), workspace, other, home(), text(PADDOCK_BIN_DIR "/isolation_probe")});
        port = loopback.onLoopback();
        static int count = 0;
        abstractName = QByteArray("paddock-isolation-") + QByteArray::number(::getpid()) + '-' + QByteArray::number(++count);
        abstract.onUnix(abstractName, true);
        agent.onUnix(QFile::encodeName(home() + text("/agent.socket")), false);
        bus.onUnix(QFile::encodeName(program.runtimeDir() + text("/bus")), false);
        for (const QString &socket : {home() + text("/agent.socket"), program.runtimeDir() + text("/bus")})
            QFile::setPermissions(socket, QFile::Permissions(0x6666)); // no file mode is what keeps the inside away
        for (const char *name : {"SECRET_OF_THE_HOST", "XAUTHORITY", "WAYLAND_DISPLAY", "AWS_SECRET_ACCESS_KEY"})
            program.setEnvironment(text(name), text("tell-tale"));
        program.setEnvironment(text("SSH_AUTH_SOCK"), home() + text("/agent.socket"));
        program.setEnvironment(text("DBUS_SESSION_BUS_ADDRESS"), text("unix:path=") + program.runtimeDir() + text("/bus"));
        program.setEnvironment(text("DISPLAY"), text(":0"));
        const QStringList command = user + QStringList{text("sleep"), mark()};
        victim.start(command.constFirst(), command.mid(1));
        victim.waitForStarted();
    }
    ~World()
    {
        victim.kill();
        victim.waitForFinished();
        QFile::remove(program.runtimeDir() + text("/bus"));
    }

    bool run()
    {
        for (size_t i = 0; i < std::size(attempts); ++i)
            program.file(text("project/attempts/%1.sh").arg(i), values() + attempts[i].command + '\n');
        const QString script = text("for f in attempts/*.sh; do n=${f##*/}; timeout --foreground -k 2 %1 bash $f > seen/${n%.sh} 2>&1 < /dev/null; done; echo tried")
                                   .arg(attemptSeconds);
        outcome = program.run(arguments({bashCall(text("all"), script)}), user);
        return outcome.resultOf(text("all")).endsWith(u"tried");
    }
    QStringList arguments(const std::vector<Json> &calls, const QStringList &more = {})
    {
        return program.runArguments(program.scenario(commandScenario(calls)), QStringList{text("--workspace"), workspace} + more);
    }
    QString seen(size_t attempt) const
    {
        QFile file(workspace + text("/seen/%1").arg(attempt));
        return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()).trimmed() : text("(was not tried)");
    }
    /// What the attempts know of the host, as assignments.
    QByteArray values() const
    {
        const QList<std::pair<QByteArray, QString>> known{
            {"HOST_HOME", home()}, {"HOST_RUN", program.runtimeDir()}, {"DATA", program.dataDir()}, {"OTHER_THREAD", other}, {"WORKSPACE", workspace},
            {"ABSTRACT", QString::fromLatin1(abstractName)}, {"PORT", QString::number(port)}, {"VICTIM", QString::number(victim.processId())},
            {"VICTIM_MARK", mark()}};
        QByteArray line;
        for (const auto &[name, value] : known)
            line += name + "='" + value.toUtf8() + "'; ";
        return line;
    }
    QString home() const { return program.folder(text("home")); }
    QString mark() const { return text("98765.%1").arg(::getpid()); }
    void asUser(const QStringList &command) const
    {
        QProcess process;
        const QStringList whole = user + command;
        process.start(whole.constFirst(), whole.mid(1));
        if (!process.waitForFinished() || process.exitCode() != 0)
            qFatal("cannot prepare: %s", process.readAllStandardError().constData());
    }

    PaddockProgram program;
    QStringList user;
    bool usable = false;
    QString workspace, other;
    Listener loopback{AF_INET}, abstract{AF_UNIX}, agent{AF_UNIX}, bus{AF_UNIX};
    quint16 port = 0;
    QByteArray abstractName;
    QProcess victim;
    Outcome outcome;
};

bool matches(const QString &seen, const char *pattern)
{
    const QRegularExpression expression(QRegularExpression::anchoredPattern(text(pattern)), QRegularExpression::DotMatchesEverythingOption);
    return expression.match(seen).hasMatch();
}

} // namespace

class TestIsolation : public QObject
{
    Q_OBJECT

private:
    std::unique_ptr<World> m_self, m_ordinary; ///< this test's user; another one, when this is root
    World &worldOf(bool ordinary) { return ordinary ? *m_ordinary : *m_self; }

private Q_SLOTS:
    void initTestCase()
    {
        if (const QString problem = PaddockProgram::isolationProblem(); !problem.isEmpty())
            QSKIP(qPrintable(problem));
        const bool root = ::geteuid() == 0;
        m_self = std::make_unique<World>(false);
        QVERIFY2(m_self->run(), m_self->outcome.err.constData());
        if (!root)
            return;
        m_ordinary = std::make_unique<World>(true);
        if (m_ordinary->usable)
            QVERIFY2(m_ordinary->run(), m_ordinary->outcome.err.constData());
    }
    void cleanupTestCase()
    {
        m_self.reset();
        m_ordinary.reset();
    }

    void refused_data()
    {
        QTest::addColumn<bool>("ordinary");
        QTest::addColumn<int>("attempt");
        for (size_t i = 0; i < std::size(attempts); ++i) {
            const bool root = ::geteuid() == 0;
            if (!root || attempts[i].asRoot)
                QTest::addRow("%s", attempts[i].name) << false << int(i);
            if (root)
                QTest::addRow("%s, ordinary user", attempts[i].name) << true << int(i);
        }
    }
    /// And what a developer's tools need goes on working: the rows that begin with "works".
    void refused()
    {
        QFETCH(bool, ordinary);
        QFETCH(int, attempt);
        const World &world = worldOf(ordinary);
        if (!world.usable)
            QSKIP("this test cannot become an ordinary user who reaches the program");
        const QString seen = world.seen(size_t(attempt));
        QVERIFY2(matches(seen, attempts[attempt].seen), qPrintable(seen.left(3000)));
    }

    void nobodyOutsideNoticed_data()
    {
        QTest::addColumn<bool>("ordinary");
        QTest::newRow("self") << false;
        if (::geteuid() == 0)
            QTest::newRow("ordinary user") << true;
    }
    void nobodyOutsideNoticed()
    {
        QFETCH(bool, ordinary);
        World &world = worldOf(ordinary);
        if (!world.usable)
            QSKIP("this test cannot become an ordinary user who reaches the program");
        QCOMPARE(world.victim.state(), QProcess::Running);
        QVERIFY(!world.loopback.somebodyCame());
        QVERIFY(!world.abstract.somebodyCame());
        QVERIFY(!world.agent.somebodyCame());
        QVERIFY(!world.bus.somebodyCame());
        QVERIFY(!world.outcome.out.contains("tell-tale"));
    }

    /// With the network of the host its loopback is open, as the name says; its abstract sockets are not.
    void abstractSocketsWithTheHostsNetwork()
    {
        if (::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION) < landlockWithScopes)
            QSKIP("this kernel has no Landlock with scopes: the abstract sockets of the host can be reached with its network");
        World world(false);
        const QString config = world.program.file(text("config.yaml"), "sandbox:\n  network: host\n");
        const QString probe = text("/mnt/user-data/workspace/probe");
        const QString command = text("%1 abstract %2; %1 tcp %3; python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.bind(\"\\0mine\"); s.listen(); "
                                     "socket.socket(socket.AF_UNIX).connect(\"\\0mine\"); print(\"mine\")'")
                                    .arg(probe, QString::fromLatin1(world.abstractName), QString::number(world.port));
        const Outcome o = world.program.run(world.arguments({bashCall(text("all"), command)}, {text("--config"), config}));
        QVERIFY2(o.exitCode == 0, o.err.constData());
        QCOMPARE(o.resultOf(text("all")), text("EPERM\nopen\nmine"));
        QVERIFY(!world.abstract.somebodyCame());
    }

    void doctorSaysWhetherTheFilterWorks()
    {
        const PaddockProgram program;
        const Outcome o = program.run({text("doctor"), text("--data-dir"), program.dataDir()});
        QVERIFY2(o.out.contains("good  syscall filter: the kernel takes the filter and obeys it"), o.out.constData());
    }

    void pageNamesEveryAttempt()
    {
        QFile page(text(PADDOCK_SOURCE_DIR "/docs/isolation.md"));
        QVERIFY(page.open(QIODevice::ReadOnly));
        const QByteArray all = page.readAll();
        for (const Attempt &attempt : attempts)
            QVERIFY2(all.contains(QByteArray("`") + attempt.name + "`"), attempt.name);
    }
};

} // namespace tst_isolation

PADDOCK_TEST(tst_isolation, TestIsolation)

#include "tst_isolation.moc"
