// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/error.h"
#include "core/sandboxd/bash_table.h"
#include "core/sandboxd/file_editor.h"
#include "core/sandboxd/file_ops.h"
#include "core/sandboxd/gate.h"
#include "core/sandboxd/http_server.h"
#include "core/sandboxd/router.h"
#include "core/sandboxd/shell_table.h"
#include "core/sandboxd/spawn.h"
#include "core/sandboxd/worker_pool.h"

#include <functional>
#include <memory>

namespace paddock::sandboxd {

struct ServerOptions {
    QByteArray workspace;    ///< where sessions start
    QByteArray home;
    QByteArray apiKey;       ///< a secret; empty: open
    bool openHealth = false; ///< GET /v1/sandbox without the key
    QString baseUrl;      ///< how clients reach it, for URLs in replies; empty: unknown
    int maxShellSessions = 64;
    int maxBashSessions = 128;
};

/// A line for the log on standard error; never commands, contents or keys.
void logLine(const QString &text);
void replyOk(const ExchangePtr &exchange, Json data, const QString &message = QStringLiteral("Operation successful"));
void replyRefused(const ExchangePtr &exchange, int status, const QString &message);
void replyLostSession(const ExchangePtr &exchange);

/// The AIO server of one sandbox: assembles the tables behind the routes of aio-api.md. Everything happens on the reactor's
/// thread but blocking file work. Takes SIGCHLD for itself. Owner: main.
class SandboxServer
{
public:
    SandboxServer(Reactor &reactor, ServerOptions options);
    ~SandboxServer();

    /// Serves an already listening, non-blocking socket.
    Result<void> start(UniqueFd listenSocket);
    /// Ends all sessions and commands; `done` when they are gone or a limit passed.
    void stop(std::function<void()> done);

private:
    void begin(const ExchangePtr &exchange);
    void complete(const ExchangePtr &exchange);
    void addShellRoutes();
    void addSessionRoutes();
    void addTerminalRoutes();
    void addBashRoutes();
    void addFileRoutes();
    void addOtherRoutes();
    void addPages();
    void startUpload(const ExchangePtr &exchange);
    void packages(const ExchangePtr &exchange, const QString &command, bool python);
    template<typename Request>
    void route(const char *method, const char *pattern, std::function<void(const ExchangePtr &, const Request &)> handler);
    template<typename Request, typename Value>
    void fileRoute(const char *pattern, const char *message, std::expected<Value, FileFailure> (*work)(const Request &));

    Reactor &m_reactor;
    ServerOptions m_options;
    UniqueFd m_signals;
    ChildReaper m_reaper;
    Gate m_gate;
    Router m_router;
    ShellTable m_shells;
    BashTable m_bash;
    FileEditor m_editor;
    QByteArray m_contextBody; ///< answered from memory at any load
    bool m_stopping = false;
    HttpServer m_http;
    std::unique_ptr<WorkerPool> m_pool;
};

} // namespace paddock::sandboxd
