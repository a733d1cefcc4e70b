// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// /v1/shell (aio-api.md §2) and Paddock's own routes beside it.
#include "core/sandboxd/route_helpers.h"
#include "core/sandboxd/shell_stream.h"
#include "core/sandboxd/terminal_socket.h"

namespace paddock::sandboxd {

namespace {

constexpr double defaultWaitSeconds = 60; // §2.4
constexpr double maxWaitSeconds = 600;

void answerExec(const ExchangePtr &exchange, const ExecOutcome &outcome)
{
    switch (outcome.kind) {
    case ExecOutcome::Kind::Answered: replyOk(exchange, outcome.result.write()); return;
    case ExecOutcome::Kind::Busy: replyRefused(exchange, 409, QStringLiteral("Session is busy: a command is still running")); return;
    case ExecOutcome::Kind::Lost: replyLostSession(exchange); return;
    case ExecOutcome::Kind::Refused: replyRefused(exchange, 400, outcome.message); return;
    }
}

/// Calls `use` with a live session or answers 404.
template<typename Use>
void withSession(ShellTable &shells, const ExchangePtr &exchange, const QString &id, Use use)
{
    if (const auto session = shells.find(id))
        use(session);
    else
        replyLostSession(exchange);
}

Json statusData(const QString &status)
{
    return wire::ShellStatusResult{status}.write();
}

} // namespace

void SandboxServer::addShellRoutes()
{
    addSessionRoutes();
    addTerminalRoutes();
    route<wire::ShellExecRequest>("POST", "/v1/shell/exec", [this](const ExchangePtr &exchange, const wire::ShellExecRequest &request) {
        m_shells.exec(request, [exchange](const ExecOutcome &outcome) { answerExec(exchange, outcome); });
    });
    route<wire::ShellIdRequest>("POST", "/v1/shell/view", [this](const ExchangePtr &exchange, const wire::ShellIdRequest &request) {
        withSession(m_shells, exchange, request.id, [&](const auto &session) { replyOk(exchange, session->view().write()); });
    });
    route<wire::ShellWaitRequest>("POST", "/v1/shell/wait", [this](const ExchangePtr &exchange, const wire::ShellWaitRequest &request) {
        withSession(m_shells, exchange, request.id, [&](const auto &session) {
            const auto asked = request.maxWaitSeconds ? request.maxWaitSeconds : request.seconds;
            const double limit = std::clamp(asked ? double(*asked) : defaultWaitSeconds, 0.0, maxWaitSeconds);
            session->wait(limit, [exchange](const QString &status) { replyOk(exchange, statusData(status)); });
        });
    });
    route<wire::ShellWriteRequest>("POST", "/v1/shell/write", [this](const ExchangePtr &exchange, const wire::ShellWriteRequest &request) {
        withSession(m_shells, exchange, request.id, [&](const auto &session) {
            const auto status = session->write(request.input.toUtf8() + (request.pressEnter ? "\r" : ""));
            if (status)
                replyOk(exchange, statusData(*status));
            else
                replyRefused(exchange, 400, status.error().message);
        });
    });
    route<wire::ShellIdRequest>("POST", "/v1/shell/kill", [this](const ExchangePtr &exchange, const wire::ShellIdRequest &request) {
        withSession(m_shells, exchange, request.id, [&](const auto &session) {
            session->kill([exchange](const wire::ShellKillResult &result) { replyOk(exchange, result.write()); });
        });
    });
}

/// The sessions themselves (§2.7 to §2.10).
void SandboxServer::addSessionRoutes()
{
    route<wire::ShellCreateRequest>("POST", "/v1/shell/sessions/create", [this](const ExchangePtr &exchange, const wire::ShellCreateRequest &request) {
        m_shells.create(request, [exchange](const Outcome<ShellTable::SessionPtr> &session) {
            if (session)
                replyOk(exchange, wire::ShellCreateResult{(*session)->id(), (*session)->workingDirectory()}.write());
            else
                replyRefused(exchange, session.error().status, session.error().message);
        });
    });
    route<wire::ShellUpdateRequest>("POST", "/v1/shell/sessions/update", [this](const ExchangePtr &exchange, const wire::ShellUpdateRequest &request) {
        withSession(m_shells, exchange, request.id, [&](const auto &session) {
            if (request.noChangeTimeout)
                session->setIdleLimit(*request.noChangeTimeout);
            replyOk(exchange, nullptr);
        });
    });
    m_router.add("GET", "/v1/shell/sessions", [this](const ExchangePtr &exchange, const QString &) {
        replyOk(exchange, m_shells.sessions().write());
    });
    m_router.add("GET", "/v1/shell/sessions/stats", [this](const ExchangePtr &exchange, const QString &) {
        replyOk(exchange, m_shells.stats().write());
    });
    m_router.add("DELETE", "/v1/shell/sessions/{id}", [this](const ExchangePtr &exchange, const QString &id) {
        const QString message = QStringLiteral("Session %1 cleaned up").arg(id);
        if (!m_shells.remove(id, [exchange, message] { replyOk(exchange, nullptr, message); }))
            replyLostSession(exchange);
    });
    m_router.add("DELETE", "/v1/shell/sessions", [this](const ExchangePtr &exchange, const QString &) {
        m_shells.removeAll([exchange](int cleaned) { replyOk(exchange, Json{{"cleaned", cleaned}}); });
    });
}

/// What people and panels watch a session with (§2.11, README.md).
void SandboxServer::addTerminalRoutes()
{
    m_router.add("GET", "/v1/shell/terminal-url", [this](const ExchangePtr &exchange, const QString &) {
        const QByteArray host = exchange->header("host");
        const QString base = host.isEmpty() ? m_options.baseUrl : QString(QStringLiteral("http://") + QString::fromUtf8(host));
        m_shells.create({}, [exchange, base](const Outcome<ShellTable::SessionPtr> &session) {
            if (session)
                replyOk(exchange, toJson(base + QStringLiteral("/terminal?session_id=") + (*session)->id()));
            else
                replyRefused(exchange, session.error().status, session.error().message);
        });
    });
    m_router.add("GET", "/v1/shell/ws", [this](const ExchangePtr &exchange, const QString &) {
        openTerminalSocket(m_reactor, m_shells, exchange);
    });

    // Paddock's own.
    m_router.add("GET", "/v1/paddock/shell/stream", [this](const ExchangePtr &exchange, const QString &) {
        withSession(m_shells, exchange, QString::fromUtf8(exchange->query.value("id")),
                    [&](const auto &session) { streamSession(exchange, session); });
    });
    route<wire::ShellResizeRequest>("POST", "/v1/paddock/shell/resize", [this](const ExchangePtr &exchange, const wire::ShellResizeRequest &request) {
        withSession(m_shells, exchange, request.id, [&](const auto &session) {
            session->resize(int(request.cols), int(request.rows));
            replyOk(exchange, nullptr);
        });
    });
}

} // namespace paddock::sandboxd
