// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandboxd/sandbox_server.h"

#include "core/sandboxd/process_tree.h"
#include "core/sandboxd/sandbox_facts.h"

#include <sys/epoll.h>
#include <sys/signalfd.h>

#include <csignal>
#include <cstdio>

namespace paddock::sandboxd {

using namespace std::chrono_literals;

namespace {

constexpr int fileThreads = 4;
constexpr auto stopLimit = 1800ms;

Json unauthorized()
{
    return wire::refused(QStringLiteral("Unauthorized")).write();
}

} // namespace

void logLine(const QString &text)
{
    std::fprintf(stderr, "paddock-sandboxd: %s\n", text.toUtf8().constData());
}

void replyOk(const ExchangePtr &exchange, Json data, const QString &message)
{
    exchange->replyJson(200, wire::succeeded(std::move(data), message).write());
}

void replyRefused(const ExchangePtr &exchange, int status, const QString &message)
{
    exchange->replyJson(status, wire::refused(message).write());
}

void replyLostSession(const ExchangePtr &exchange)
{
    replyRefused(exchange, 404, wire::sessionNotFoundText());
}

SandboxServer::SandboxServer(Reactor &reactor, ServerOptions options)
    : m_reactor(reactor), m_options(std::move(options)), m_reaper(reactor),
      m_gate({m_options.apiKey, m_options.openHealth}),
      m_shells(reactor, m_reaper,
               [this] {
                   ShellTable::Options table;
                   table.maxSessions = m_options.maxShellSessions;
                   table.directory = m_options.workspace;
                   table.environment = sessionEnvironment(m_options.home);
                   table.log = logLine;
                   return table;
               }()),
      m_bash(reactor, m_reaper,
             {m_options.maxBashSessions, m_options.workspace, sessionEnvironment(m_options.home), logLine}),
      m_http(reactor, {[this](const ExchangePtr &exchange) { begin(exchange); },
                       [this](const ExchangePtr &exchange) { complete(exchange); }}),
      m_pool(std::make_unique<WorkerPool>(fileThreads))
{
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGCHLD);
    ::pthread_sigmask(SIG_BLOCK, &mask, nullptr);
    m_signals.reset(::signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK));
    m_reactor.watch(m_signals.get(), EPOLLIN, [this](std::uint32_t) {
        signalfd_siginfo info;
        while (::read(m_signals.get(), &info, sizeof info) > 0) { }
        m_reaper.reap();
    });
    addShellRoutes();
    addBashRoutes();
    addFileRoutes();
    addOtherRoutes();
    addPages();
}

SandboxServer::~SandboxServer()
{
    m_pool.reset();
    m_reactor.unwatch(m_signals.get());
}

Result<void> SandboxServer::start(UniqueFd listenSocket)
{
    m_gate.setListener(listenSocket.get());
    m_contextBody = dumpJson(sandboxContext(m_options.home, m_options.workspace).write());
    return m_http.start(std::move(listenSocket));
}

/// Authentication, then routing, then the body (§1.6).
void SandboxServer::begin(const ExchangePtr &exchange)
{
    if (m_gate.looksForeign(*exchange)) {
        replyRefused(exchange, 403, QStringLiteral("This sandbox has no API key, so it answers only to programs of this machine: no foreign Host or Origin"));
        return;
    }
    if (!m_gate.allows(*exchange)) {
        HttpReply reply;
        reply.status = 401;
        reply.body = dumpJson(unauthorized());
        reply.headers.append(std::pair<QByteArray, QByteArray>("WWW-Authenticate", "Bearer"));
        exchange->reply(std::move(reply));
        return;
    }
    const Router::Match match = m_router.match(exchange->method, exchange->rawPath);
    exchange->discardBody = match.kind != Router::Match::Kind::Found;
    switch (match.kind) {
    case Router::Match::Kind::Unknown: exchange->replyJson(404, Json{{"detail", "Not Found"}}); return;
    case Router::Match::Kind::WrongMethod: exchange->replyJson(405, Json{{"detail", "Method Not Allowed"}}); return;
    case Router::Match::Kind::NotImplemented: {
        const QString message = QStringLiteral("Not implemented by this sandbox: %1 %2 (%3)")
                                    .arg(QString::fromLatin1(exchange->method), QString::fromUtf8(exchange->rawPath), match.capability);
        exchange->replyJson(501, wire::refused(message, {{"error_type", "not_implemented"}, {"capability", toJson(match.capability)}}).write());
        return;
    }
    case Router::Match::Kind::Found: break;
    }
    const bool upload = exchange->rawPath == "/v1/file/upload";
    if (!upload && exchange->contentLength > HttpServer::maxBodyBytes) {
        replyRefused(exchange, 413, QStringLiteral("Request body is larger than 160 MiB"));
        return;
    }
    exchange->onComplete = [handler = match.handler, id = match.id](const ExchangePtr &ready) { (*handler)(ready, id); };
    if (upload)
        startUpload(exchange);
}

void SandboxServer::complete(const ExchangePtr &exchange)
{
    if (m_stopping) {
        replyRefused(exchange, 503, QStringLiteral("The sandbox is shutting down"));
        return;
    }
    const auto call = std::move(exchange->onComplete);
    exchange->onComplete = nullptr;
    call(exchange);
}

void SandboxServer::stop(std::function<void()> done)
{
    if (m_stopping)
        return;
    m_stopping = true;
    m_http.stopListening();
    struct Ending {
        int left = 2;
        bool over = false;
        std::function<void()> done;
    };
    auto ending = std::make_shared<Ending>();
    ending->done = std::move(done);
    const auto finish = [ending] {
        if (ending->over)
            return;
        ending->over = true;
        // What left its session or group: adopted by us or still below us.
        for (int round = 0; round < 20; ++round) {
            const auto left = descendantsOf(::getpid());
            if (left.empty())
                break;
            for (const pid_t pid : left)
                ::kill(pid, SIGKILL);
        }
        ending->done();
    };
    const auto part = [ending, finish] {
        if (--ending->left == 0)
            finish();
    };
    m_shells.removeAll([part](int) { part(); });
    m_bash.closeAll(part);
    m_reactor.after(stopLimit, finish);
}

} // namespace paddock::sandboxd
