// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/run/sandbox_serve.h"

#include "core/run/server_binary.h"
#include "core/sandbox/backend/bwrap_args.h"
#include "core/sandbox/backend/embedded_backend.h"
#include "core/sandbox/backend/runtime_dir.h"
#include "core/sandbox/backend/supervised_process.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QHostAddress>
#include <QPointer>
#include <QProcessEnvironment>
#include <QTimer>

#include <arpa/inet.h>
#include <cstring>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace paddock {

namespace {

constexpr int endGraceMs = 4000;
constexpr qint64 maxKeyBytes = 4096;
constexpr int backlog = 128;

std::unexpected<Error> systemError(const QString &what)
{
    return fail(ErrorCode::Unavailable, what + QStringLiteral(": ") + QString::fromLocal8Bit(std::strerror(errno)));
}

Result<int> listenUnix(const QString &path)
{
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    const QByteArray encoded = QFile::encodeName(path);
    if (encoded.isEmpty() || encoded.size() >= qsizetype(sizeof address.sun_path))
        return fail(ErrorCode::InvalidArgument, QStringLiteral("The socket path must have 1 to %1 bytes").arg(sizeof address.sun_path - 1));
    if (QFileInfo::exists(path))
        return fail(ErrorCode::AlreadyExists, QStringLiteral("%1 exists already; remove it or choose another path").arg(path));
    std::memcpy(address.sun_path, encoded.constData(), size_t(encoded.size()));
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return systemError(QStringLiteral("Cannot make a socket"));
    const mode_t old = ::umask(0177);
    const int bound = ::bind(fd, reinterpret_cast<const sockaddr *>(&address), sizeof address);
    ::umask(old);
    if (bound != 0 || ::listen(fd, backlog) != 0) {
        const auto error = systemError(QStringLiteral("Cannot listen on %1").arg(path));
        ::close(fd);
        return error;
    }
    return fd;
}

Result<int> listenTcp(const QHostAddress &host, quint16 port)
{
    const bool v6 = host.protocol() == QAbstractSocket::IPv6Protocol;
    const int fd = ::socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return systemError(QStringLiteral("Cannot make a socket"));
    const int on = 1;
    ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_storage storage = {};
    socklen_t length = 0;
    if (v6) {
        auto *a = reinterpret_cast<sockaddr_in6 *>(&storage);
        a->sin6_family = AF_INET6;
        a->sin6_port = htons(port);
        const Q_IPV6ADDR bytes = host.toIPv6Address();
        std::memcpy(&a->sin6_addr, &bytes, sizeof bytes);
        length = sizeof *a;
    } else {
        auto *a = reinterpret_cast<sockaddr_in *>(&storage);
        a->sin_family = AF_INET;
        a->sin_port = htons(port);
        a->sin_addr.s_addr = htonl(host.toIPv4Address());
        length = sizeof *a;
    }
    if (::bind(fd, reinterpret_cast<const sockaddr *>(&storage), length) != 0 || ::listen(fd, backlog) != 0) {
        const auto error = systemError(QStringLiteral("Cannot listen on %1 port %2").arg(host.toString()).arg(port));
        ::close(fd);
        return error;
    }
    return fd;
}

quint16 boundPort(int fd)
{
    sockaddr_storage storage = {};
    socklen_t length = sizeof storage;
    if (::getsockname(fd, reinterpret_cast<sockaddr *>(&storage), &length) != 0)
        return 0;
    return ntohs(storage.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6 *>(&storage)->sin6_port
                                               : reinterpret_cast<sockaddr_in *>(&storage)->sin_port);
}

QMap<QString, QString> hostEnvironment()
{
    QMap<QString, QString> map;
    const QProcessEnvironment env = QProcessEnvironment::systemEnvironment();
    const QStringList keys = env.keys();
    for (const QString &key : keys)
        map.insert(key, env.value(key));
    return map;
}

} // namespace

ServedSandbox::ServedSandbox(Options options) : m_options(std::move(options)) {}

ServedSandbox::~ServedSandbox()
{
    if (!m_unixPath.isEmpty())
        QFile::remove(m_unixPath);
}

Result<int> ServedSandbox::openSocket()
{
    const QString &listen = m_options.listen;
    if (listen.startsWith(QLatin1String("unix:"))) {
        const QString path = QFileInfo(listen.mid(5)).absoluteFilePath();
        auto fd = listenUnix(path);
        if (fd) {
            m_unixPath = path;
            m_address = QStringLiteral("unix:") + path;
        }
        return fd;
    }
    const qsizetype colon = listen.lastIndexOf(QLatin1Char(':'));
    bool ok = false;
    const uint port = listen.mid(colon + 1).toUInt(&ok);
    QString host = listen.left(colon);
    if (host.startsWith(QLatin1Char('[')) && host.endsWith(QLatin1Char(']')))
        host = host.mid(1, host.size() - 2);
    const QHostAddress address(host == u"localhost" ? QStringLiteral("127.0.0.1") : host);
    if (colon <= 0 || !ok || port > 65535 || address.isNull())
        return fail(ErrorCode::InvalidArgument, QStringLiteral("--listen takes ADDRESS:PORT or unix:PATH, not '%1'").arg(listen));
    if (!address.isLoopback() && m_options.tokenFile.isEmpty())
        return fail(ErrorCode::PermissionDenied,
                    QStringLiteral("%1 can be reached from other machines: give --token-file, or listen on 127.0.0.1").arg(host));
    auto fd = listenTcp(address, quint16(port));
    if (fd)
        m_address = QStringLiteral("http://%1:%2").arg(host.contains(QLatin1Char(':')) ? QStringLiteral("[%1]").arg(host) : host).arg(boundPort(*fd));
    return fd;
}

Result<QString> ServedSandbox::readKey() const
{
    if (m_options.tokenFile.isEmpty())
        return QString();
    QFile file(m_options.tokenFile);
    if (!file.open(QIODevice::ReadOnly))
        return fail(ErrorCode::NotFound, QStringLiteral("Cannot read the token file %1: %2").arg(m_options.tokenFile, file.errorString()));
    const QString key = QString::fromUtf8(file.readLine(maxKeyBytes)).trimmed();
    if (key.isEmpty())
        return fail(ErrorCode::InvalidArgument, QStringLiteral("The first line of %1 must be the token").arg(m_options.tokenFile));
    return key;
}

/// What stands in the sandbox and what its server is told; `listenFd` is the socket that it inherits.
BwrapPlan ServedSandbox::makePlan(const QString &server, int listenFd) const
{
    BwrapPlan plan;
    plan.serverProgram = server;
    plan.etcDir = m_runtime->path();
    plan.hostNetwork = m_options.hostNetwork;
    plan.folders.workspace = QFileInfo(m_options.workspace).canonicalFilePath();
    for (const char *name : {"uploads", "outputs"})
        QDir().mkpath(m_runtime->path() + QLatin1Char('/') + QLatin1String(name));
    plan.folders.uploads = m_runtime->path() + QStringLiteral("/uploads");
    plan.folders.outputs = m_runtime->path() + QStringLiteral("/outputs");
    plan.infoFd = m_process->infoFd();
    plan.serverArguments = {QStringLiteral("--listen"), QStringLiteral("fd:%1").arg(listenFd), QStringLiteral("--ready-fd"), QString::number(m_process->readyFd()),
                            QStringLiteral("--parent-fd"), QString::number(m_process->parentFd()), QStringLiteral("--max-shell-sessions"),
                            QString::number(m_options.maxShellSessions), QStringLiteral("--workspace"), QString(sandbox_inside::workspace)};
    return plan;
}

Result<void> ServedSandbox::start()
{
    const QFileInfo folder(m_options.workspace);
    if (!folder.isDir() || !folder.isReadable())
        return fail(ErrorCode::NotFound, QStringLiteral("The workspace %1 is not a folder that you can read").arg(m_options.workspace));
    const auto key = readKey();
    if (!key)
        return fail(key.error());
    const auto bubblewrap = findBubblewrap({});
    if (!bubblewrap)
        return fail(bubblewrap.error());
    const auto server = findServerProgram(serverBinary());
    if (!server)
        return fail(server.error());
    auto runtime = RuntimeDir::make({});
    if (!runtime)
        return fail(runtime.error());
    m_runtime = *runtime;
    if (auto etc = writeEtcFiles(m_runtime->path(), m_options.hostNetwork); !etc)
        return etc;
    auto fd = openSocket();
    if (!fd)
        return fail(fd.error());

    m_process = std::make_unique<SupervisedProcess>();
    const BwrapPlan plan = makePlan(*server, *fd);
    SupervisedProcess::Launch launch;
    launch.guard = *server;
    launch.program = *bubblewrap;
    launch.options = bwrapOptions(plan);
    launch.command = bwrapCommand(plan);
    launch.environment = sandboxEnvironment(hostEnvironment(), {}, m_options.maxShellSessions);
    // Not in bubblewrap's own environment: that is process 1 inside, and anybody in there reads /proc/1/environ. The server
    // cannot be read, and drops it before any shell starts.
    if (!key->isEmpty())
        launch.options << QStringLiteral("--setenv") << QStringLiteral("PADDOCK_SANDBOX_API_KEY") << *key;
    launch.listenFd = UniqueFd(*fd);
    launch.fileBytes = plan.limits.fileBytes;
    launch.openFiles = plan.limits.openFiles;
    m_process->launch(std::move(launch));
    QPointer<ServedSandbox> self(this);
    m_process->ready().observe([self] {
        if (self && self->m_process->running())
            Q_EMIT self->ready();
    });
    m_process->gone().observe([self] {
        if (self)
            Q_EMIT self->ended(self->m_stopping ? QString() : explainBwrapFailure(self->m_process->stderrText(), isolationFacts()));
    });
    return {};
}

void ServedSandbox::stop()
{
    m_stopping = true;
    if (!m_process || !m_process->running()) {
        Q_EMIT ended({});
        return;
    }
    m_process->askToEnd();
    QTimer::singleShot(endGraceMs, this, [this] { m_process->kill(); });
}

} // namespace paddock
