// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// The bash and file groups, the sandbox itself, tickets and pages.
#include "core/sandboxd/route_helpers.h"
#include "core/sandboxd/sandbox_facts.h"

namespace paddock::sandboxd {

namespace {

constexpr double packageListSeconds = 20;

template<typename Value>
void answer(const ExchangePtr &exchange, const Outcome<Value> &outcome)
{
    if (!outcome)
        replyRefused(exchange, outcome.error().status, outcome.error().message);
    else if constexpr (std::is_void_v<Value>)
        replyOk(exchange, nullptr);
    else
        replyOk(exchange, outcome->write());
}

HttpReply page(const char *type, QByteArray body)
{
    HttpReply reply;
    reply.contentType = type;
    reply.body = std::move(body);
    return reply;
}

} // namespace

void SandboxServer::addBashRoutes()
{
    route<wire::BashExecRequest>("POST", "/v1/bash/exec", [this](const ExchangePtr &exchange, const wire::BashExecRequest &request) {
        m_bash.exec(request, [exchange](const Outcome<wire::BashExecResult> &result) { answer(exchange, result); });
    });
    route<wire::BashOutputRequest>("POST", "/v1/bash/output", [this](const ExchangePtr &exchange, const wire::BashOutputRequest &request) {
        m_bash.output(request, [exchange](const Outcome<wire::BashOutputResult> &result) { answer(exchange, result); });
    });
    route<wire::BashWriteRequest>("POST", "/v1/bash/write", [this](const ExchangePtr &exchange, const wire::BashWriteRequest &request) {
        answer(exchange, m_bash.write(request));
    });
    route<wire::BashKillRequest>("POST", "/v1/bash/kill", [this](const ExchangePtr &exchange, const wire::BashKillRequest &request) {
        const auto message = m_bash.kill(request);
        if (message)
            replyOk(exchange, nullptr, *message);
        else
            replyRefused(exchange, message.error().status, message.error().message);
    });
    m_router.add("GET", "/v1/bash/sessions", [this](const ExchangePtr &exchange, const QString &) {
        Json list = Json::array();
        for (const wire::BashSession &session : m_bash.sessions())
            list.push_back(session.write());
        replyOk(exchange, std::move(list));
    });
    route<wire::BashCreateRequest>("POST", "/v1/bash/sessions/create", [this](const ExchangePtr &exchange, const wire::BashCreateRequest &request) {
        answer(exchange, m_bash.create(request));
    });
    m_router.add("POST", "/v1/bash/sessions/{id}/close", [this](const ExchangePtr &exchange, const QString &id) {
        answer(exchange, m_bash.close(id));
    });
}

void SandboxServer::addFileRoutes()
{
    fileRoute<wire::FileReadRequest>("/v1/file/read", "File read successfully", &readFile);
    fileRoute<wire::FileWriteRequest>("/v1/file/write", "File written successfully", &writeFile);
    fileRoute<wire::FileReplaceRequest>("/v1/file/replace", "Operation successful", &replaceInFile);
    fileRoute<wire::FileSearchRequest>("/v1/file/search", "Operation successful", &searchInFile);
    fileRoute<wire::FileFindRequest>("/v1/file/find", "Operation successful", &findFiles);
    fileRoute<wire::FileGrepRequest>("/v1/file/grep", "Operation successful", &grepFiles);
    fileRoute<wire::FileGlobRequest>("/v1/file/glob", "Operation successful", &globFiles);
    fileRoute<wire::FileListRequest>("/v1/file/list", "Operation successful", &listFiles);
    route<wire::EditorRequest>("POST", "/v1/file/str_replace_editor", [this](const ExchangePtr &exchange, const wire::EditorRequest &request) {
        m_pool->run([this, exchange, request]() mutable {
            const wire::EditorResult result = m_editor.run(request);
            wire::Envelope envelope = wire::succeeded(result.write());
            if (result.error) {
                envelope.success = false;
                envelope.message = *result.error;
            }
            m_reactor.post([exchange = std::move(exchange), envelope = std::move(envelope)] { exchange->replyJson(200, envelope.write()); });
        });
    });
    // The body was taken in by startUpload.
    m_router.add("POST", "/v1/file/upload", [](const ExchangePtr &exchange, const QString &) {
        exchange->replyJson(422, wire::validationBody({{Json::array({"body", "file"}), QStringLiteral("multipart/form-data expected"),
                                                        QStringLiteral("value_error")}}));
    });
    m_router.add("GET", "/v1/file/download", [](const ExchangePtr &exchange, const QString &) {
        exchange->reply(downloadReply(exchange->query));
    });
}

void SandboxServer::startUpload(const ExchangePtr &exchange)
{
    const auto boundary = multipartBoundary(exchange->header("content-type"));
    if (!boundary)
        return; // the route's own answer
    const auto sink = std::make_shared<UploadSink>(*boundary, m_options.workspace);
    exchange->bodySink = [sink](const char *bytes, size_t size) { return sink->feed(QByteArrayView(bytes, qsizetype(size))); };
    exchange->onComplete = [sink](const ExchangePtr &ready) {
        ready->bodySink = nullptr;
        ready->reply(sink->finish());
    };
}

void SandboxServer::packages(const ExchangePtr &exchange, const QString &command, bool python)
{
    m_bash.runDetached(command, packageListSeconds, [exchange, python](const wire::BashExecResult &result) {
        Json list = Json::array();
        const auto parsed = parseJson(result.standardOutput.toUtf8());
        if (parsed && python && parsed->is_array()) {
            for (const Json &entry : *parsed)
                list.push_back({{"name", toJson(stringOf(entry, "name"))}, {"version", toJson(stringOf(entry, "version"))}});
        } else if (parsed && !python) {
            const Json &table = memberOf(*parsed, "dependencies");
            for (auto it = table.begin(); table.is_object() && it != table.end(); ++it)
                list.push_back({{"name", it.key()}, {"version", toJson(stringOf(*it, "version"))}});
        }
        replyOk(exchange, std::move(list));
    });
}

void SandboxServer::addOtherRoutes()
{
    m_router.add("GET", "/v1/sandbox", [this](const ExchangePtr &exchange, const QString &) {
        exchange->reply(page("application/json", m_contextBody));
    });
    m_router.add("GET", "/v1/sandbox/packages/python", [this](const ExchangePtr &exchange, const QString &) {
        packages(exchange, QStringLiteral("python3 -m pip list --format=json --disable-pip-version-check 2>/dev/null </dev/null"), true);
    });
    m_router.add("GET", "/v1/sandbox/packages/nodejs", [this](const ExchangePtr &exchange, const QString &) {
        packages(exchange, QStringLiteral("npm ls -g --json --depth=0 2>/dev/null </dev/null"), false);
    });
    m_router.add("GET", "/v1/mcp/servers", [](const ExchangePtr &exchange, const QString &) { replyOk(exchange, Json::array()); });
    m_router.add("POST", "/tickets", [this](const ExchangePtr &exchange, const QString &) {
        exchange->replyJson(200, Json{{"ticket", m_gate.newTicket().toStdString()}, {"expires_in", Gate::ticketSeconds}});
    });
}

void SandboxServer::addPages()
{
    m_router.add("GET", "/v1/docs", [this](const ExchangePtr &exchange, const QString &) {
        QByteArray html = "<!doctype html><meta charset=\"utf-8\"><title>Paddock sandbox</title><h1>Paddock sandbox</h1>"
                          "<p>An AIO-compatible sandbox. Machine-readable: <a href=\"/v1/openapi.json\">/v1/openapi.json</a>.</p><ul>";
        for (const auto &[method, pattern] : m_router.implemented())
            html += "<li><code>" + method + ' ' + pattern + "</code></li>";
        exchange->reply(page("text/html; charset=utf-8", html + "</ul>"));
    });
    m_router.add("GET", "/v1/openapi.json", [this](const ExchangePtr &exchange, const QString &) {
        exchange->replyJson(200, openApiDocument(m_router.implemented()));
    });
    m_router.add("GET", "/terminal", [](const ExchangePtr &exchange, const QString &) {
        exchange->reply(page("text/html; charset=utf-8",
                             "<!doctype html><meta charset=\"utf-8\"><title>Terminal</title>"
                             "<p>The terminal is the WebSocket <code>/v1/shell/ws?session_id=&hellip;</code>; connect a terminal client to it.</p>"));
    });
}

} // namespace paddock::sandboxd
