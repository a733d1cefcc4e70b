// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// paddock-sandboxd: the AIO-compatible server that runs inside a sandbox. Options, the listening socket, signals. And, from
// outside, the guard of a sandbox: one program to find, and both are small.

#include "core/sandboxd/guard.h"
#include "core/sandboxd/sandbox_server.h"
#include "core/sandboxd/socket_scope.h"
#include "core/sandboxd/syscall_filter.h"

#include <QByteArray>
#include <QList>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

using namespace paddock;
using namespace paddock::sandboxd;

namespace {

constexpr int usageError = 2;
constexpr qint64 maxKeyBytes = 4096;

constexpr const char *usage =
    "Usage: paddock-sandboxd --listen unix:PATH|127.0.0.1:PORT|fd:N [options]\n"
    "       paddock-sandboxd guard --parent-fd N [--confine] -- COMMAND...   (see core/sandboxd/guard.h)\n"
    "       paddock-sandboxd filter-check   whether the kernel takes the filter of system calls\n"
    "  --workspace DIR          where sessions start (default: the current directory)\n"
    "  --home DIR               HOME of sessions (default: $HOME)\n"
    "  --max-shell-sessions N   default $MAX_SHELL_SESSIONS or 64\n"
    "  --max-bash-sessions N    default 128\n"
    "  --api-key-file FILE      require this key (or $PADDOCK_SANDBOX_API_KEY)\n"
    "  --api-key KEY            the same, visible to other users of the machine\n"
    "  --open-health            GET /v1/sandbox needs no key\n"
    "  --ready-fd N             write \"ready ADDRESS\" there when listening\n"
    "  --scoped                 no abstract Unix socket of a process outside can be reached, where the kernel knows how\n"
    "  --exit-with-parent       end when the parent process dies\n"
    "  --parent-fd N            end when this pipe is closed at its other end\n";

struct Arguments {
    ServerOptions server;
    QByteArray listen;
    int readyFd = -1;
    int parentFd = -1;
    bool exitWithParent = false;
    bool scoped = false;
};

[[noreturn]] void die(int code, const char *message, const char *detail = "")
{
    std::fprintf(stderr, "paddock-sandboxd: %s%s\n", message, detail);
    std::exit(code);
}

int numberOf(const char *option, const QByteArray &text, int least)
{
    bool ok = false;
    const int value = text.toInt(&ok);
    if (!ok || value < least)
        die(usageError, "not a usable number: ", (QByteArray(option) + ' ' + text).constData());
    return value;
}

QByteArray keyFromFile(const QByteArray &path)
{
    UniqueFd fd(::open(path.constData(), O_RDONLY | O_CLOEXEC));
    if (!fd)
        die(usageError, "cannot read the key file ", path.constData());
    QByteArray key(maxKeyBytes, Qt::Uninitialized);
    key.resize(std::max<ssize_t>(0, ::read(fd.get(), key.data(), size_t(key.size()))));
    key = key.trimmed();
    if (key.isEmpty())
        die(usageError, "the key file is empty: ", path.constData());
    return key;
}

QByteArray currentDirectory()
{
    char buffer[4096];
    return ::getcwd(buffer, sizeof buffer) ? QByteArray(buffer) : QByteArray("/");
}

Arguments parse(int argc, char **argv)
{
    Arguments out;
    out.server.workspace = currentDirectory();
    out.server.home = qEnvironmentVariableIsSet("HOME") ? qgetenv("HOME") : QByteArray("/");
    out.server.apiKey = qgetenv("PADDOCK_SANDBOX_API_KEY");
    if (qEnvironmentVariableIsSet("MAX_SHELL_SESSIONS"))
        out.server.maxShellSessions = numberOf("MAX_SHELL_SESSIONS", qgetenv("MAX_SHELL_SESSIONS"), 1);
    for (int i = 1; i < argc; ++i) {
        const QByteArray option = argv[i];
        if (option == "--help") {
            std::fputs(usage, stdout);
            std::exit(0);
        }
        if (option == "--open-health") {
            out.server.openHealth = true;
            continue;
        }
        if (option == "--scoped") {
            out.scoped = true;
            continue;
        }
        if (option == "--exit-with-parent") {
            out.exitWithParent = true;
            continue;
        }
        if (i + 1 >= argc)
            die(usageError, "unknown option, or one without its value: ", argv[i]);
        const QByteArray value = argv[++i];
        if (option == "--listen")
            out.listen = value;
        else if (option == "--workspace")
            out.server.workspace = value;
        else if (option == "--home")
            out.server.home = value;
        else if (option == "--max-shell-sessions")
            out.server.maxShellSessions = numberOf("--max-shell-sessions", value, 1);
        else if (option == "--max-bash-sessions")
            out.server.maxBashSessions = numberOf("--max-bash-sessions", value, 1);
        else if (option == "--api-key")
            out.server.apiKey = value;
        else if (option == "--api-key-file")
            out.server.apiKey = keyFromFile(value);
        else if (option == "--ready-fd")
            out.readyFd = numberOf("--ready-fd", value, 0);
        else if (option == "--parent-fd")
            out.parentFd = numberOf("--parent-fd", value, 0);
        else
            die(usageError, "unknown option ", option.constData());
    }
    if (out.listen.isEmpty())
        die(usageError, "--listen is missing\n", usage);
    while (out.server.workspace.size() > 1 && out.server.workspace.endsWith('/'))
        out.server.workspace.chop(1);
    return out;
}

// ---- listening -----------------------------------------------------------------------------------------------------

UniqueFd listenUnix(const QByteArray &path)
{
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.isEmpty() || size_t(path.size()) >= sizeof address.sun_path)
        die(usageError, "the socket path is empty or too long: ", path.constData());
    std::memcpy(address.sun_path, path.constData(), size_t(path.size()));
    UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    struct stat facts;
    if (::lstat(path.constData(), &facts) == 0 && S_ISSOCK(facts.st_mode))
        ::unlink(path.constData()); // left by one that died
    const mode_t mask = ::umask(0177); // the file's mode is the access control: owner only
    const int bound = ::bind(fd.get(), reinterpret_cast<sockaddr *>(&address), sizeof address);
    const int error = errno;
    ::umask(mask);
    if (bound != 0)
        die(1, "cannot listen there: ", std::strerror(error));
    return fd;
}

UniqueFd listenTcp(const QByteArray &text, QByteArray *name)
{
    const qsizetype colon = text.lastIndexOf(':');
    const QByteArray host = colon > 0 ? text.left(colon) : QByteArray();
    bool ok = false;
    const int port = text.mid(colon + 1).toInt(&ok);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    if (!ok || port < 0 || port > 65535 || ::inet_pton(AF_INET, host.constData(), &address.sin_addr) != 1)
        die(usageError, "not an address: ", text.constData());
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const int on = 1;
    ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (::bind(fd.get(), reinterpret_cast<sockaddr *>(&address), sizeof address) != 0)
        die(1, "cannot listen there: ", std::strerror(errno));
    socklen_t length = sizeof address;
    ::getsockname(fd.get(), reinterpret_cast<sockaddr *>(&address), &length);
    *name = host + ':' + QByteArray::number(ntohs(address.sin_port));
    return fd;
}

UniqueFd openListener(const QByteArray &spec, QByteArray *name)
{
    constexpr int backlog = 128;
    UniqueFd fd;
    *name = spec;
    if (spec.startsWith("unix:")) {
        fd = listenUnix(spec.mid(5));
    } else if (spec.startsWith("fd:")) {
        const int given = numberOf("fd", spec.mid(3), 3);
        int accepting = 0;
        socklen_t length = sizeof accepting;
        if (::getsockopt(given, SOL_SOCKET, SO_ACCEPTCONN, &accepting, &length) != 0)
            die(usageError, "not a socket: ", spec.constData());
        fd.reset(given);
        ::fcntl(given, F_SETFD, FD_CLOEXEC);
        ::fcntl(given, F_SETFL, ::fcntl(given, F_GETFL) | O_NONBLOCK);
        if (accepting)
            return fd;
    } else {
        fd = listenTcp(spec, name);
    }
    if (::listen(fd.get(), backlog) != 0)
        die(1, "cannot listen there: ", std::strerror(errno));
    return fd;
}

void occupyStandardDescriptors()
{
    // Nothing of ours may ever get the numbers 0 to 2: children inherit those.
    int fd = 0;
    do {
        fd = ::open("/dev/null", O_RDWR);
    } while (fd >= 0 && fd <= 2);
    if (fd > 2)
        ::close(fd);
}

void watchSignals(Reactor &reactor, UniqueFd &signals, const std::function<void()> &stop)
{
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGTERM);
    sigaddset(&mask, SIGINT);
    sigaddset(&mask, SIGHUP);
    ::pthread_sigmask(SIG_BLOCK, &mask, nullptr);
    signals.reset(::signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK));
    reactor.watch(signals.get(), EPOLLIN, [&signals, stop](std::uint32_t) {
        signalfd_siginfo info;
        while (::read(signals.get(), &info, sizeof info) > 0) { }
        stop();
    });
}

int checkFilter()
{
    const auto works = tryFilter();
    std::fprintf(stdout, "%s\n", works ? "the kernel takes the filter and obeys it" : works.error().c_str());
    std::fflush(stdout);
    return works ? 0 : 1;
}

} // namespace

int main(int argc, char **argv)
{
    occupyStandardDescriptors();
    if (argc > 1 && std::strcmp(argv[1], "guard") == 0)
        std::_Exit(runGuard(argv + 2)); // nothing of the server was set up
    if (argc == 2 && std::strcmp(argv[1], "filter-check") == 0)
        std::_Exit(checkFilter());
    Arguments arguments = parse(argc, argv);
    ::unsetenv("PADDOCK_SANDBOX_API_KEY");
    ::signal(SIGPIPE, SIG_IGN);
    ::umask(022);
    // Commands run under the same user: they must not read our memory, environment or descriptors.
    ::prctl(PR_SET_DUMPABLE, 0);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (arguments.scoped && !scopeAbstractSockets())
        logLine(QStringLiteral("this kernel cannot keep abstract sockets apart; a network namespace of its own does"));
    if (arguments.exitWithParent)
        ::prctl(PR_SET_PDEATHSIG, SIGTERM);

    QByteArray name;
    UniqueFd listener = openListener(arguments.listen, &name);
    if (name != arguments.listen || !name.contains("unix:"))
        arguments.server.baseUrl = QStringLiteral("http://") + QString::fromLatin1(name);

    Reactor reactor;
    SandboxServer server(reactor, std::move(arguments.server));
    const auto stop = [&] { server.stop([&] { reactor.stop(); }); };
    UniqueFd signals;
    watchSignals(reactor, signals, stop);
    if (arguments.parentFd >= 0) {
        ::fcntl(arguments.parentFd, F_SETFD, FD_CLOEXEC);
        reactor.watch(arguments.parentFd, EPOLLIN, [&](std::uint32_t) {
            char byte;
            if (::read(arguments.parentFd, &byte, 1) > 0)
                return;
            reactor.unwatch(arguments.parentFd);
            stop();
        });
    }
    if (const auto started = server.start(std::move(listener)); !started)
        die(1, "", started.error().message.toUtf8().constData());
    if (arguments.readyFd >= 0) {
        const QByteArray line = "ready " + name + '\n';
        if (::write(arguments.readyFd, line.constData(), size_t(line.size())) < 0)
            logLine(QStringLiteral("nobody reads the ready line"));
        if (arguments.readyFd > 2)
            ::close(arguments.readyFd);
    }
    reactor.run();
    if (arguments.listen.startsWith("unix:"))
        ::unlink(arguments.listen.mid(5).constData());
    // Worker threads may still be in a slow disk call: nothing of theirs is needed any more.
    std::_Exit(0);
}
