// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/aio/aio_client.h"

#include "core/base/async.h"

#include <QElapsedTimer>
#include <QUrl>
#include <QVersionNumber>

#include <algorithm>

namespace paddock::aio {

namespace {

wire::Headers headersOf(const AioOptions &options)
{
    wire::Headers headers{{"User-Agent", "paddock"}};
    headers += options.headers;
    if (!options.apiKey.isEmpty())
        headers.emplace_back("X-AIO-API-Key", options.apiKey.toUtf8());
    return headers;
}

Task<wire::Decoded<wire::Envelope>> decodedEnvelope(Task<HttpOutcome> pending)
{
    HttpOutcome reply = co_await pending;
    if (!reply)
        co_return std::unexpected(std::move(reply.error()));
    co_return wire::decodeEnvelope(*reply);
}

Task<wire::Decoded<wire::SandboxContext>> decodedContext(Task<HttpOutcome> pending)
{
    HttpOutcome reply = co_await pending;
    if (!reply)
        co_return std::unexpected(std::move(reply.error()));
    co_return wire::decodeSandboxContext(*reply);
}

Task<wire::Decoded<QByteArray>> downloaded(Task<HttpOutcome> pending)
{
    HttpOutcome reply = co_await pending;
    if (!reply)
        co_return std::unexpected(std::move(reply.error()));
    if (reply->status == 200)
        co_return std::move(reply->body);
    // Errors of this route are HTTP errors; the envelope's decoder makes the failure.
    auto failure = wire::decodeBody(*reply);
    co_return std::unexpected(failure ? wire::transportFailure(wire::TransportKind::Protocol, QStringLiteral("The sandbox answered HTTP %1").arg(reply->status))
                                      : std::move(failure.error()));
}

/// A text part must not be able to end its own part.
QByteArray quotedParameter(const QString &text)
{
    QByteArray out = text.toUtf8();
    out.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A");
    return out;
}

Task<AioClient::Readiness> pollReady(AioClient client, std::chrono::milliseconds total, std::chrono::milliseconds interval,
                                     std::chrono::milliseconds perTry, std::stop_token stop)
{
    AioClient::Readiness result;
    QElapsedTimer timer;
    timer.start();
    for (;;) {
        const auto left = total - std::chrono::milliseconds(timer.elapsed());
        if (left.count() <= 0 || stop.stop_requested())
            co_return result;
        ++result.tries;
        const HttpOutcome reply = co_await client.call("GET", "/v1/sandbox", nullptr, std::min(perTry, left), stop);
        if (reply && reply->status == 200) {
            result.ready = true;
            co_return result;
        }
        result.last = reply ? QStringLiteral("HTTP %1").arg(reply->status) : reply.error().message;
        const auto rest = total - std::chrono::milliseconds(timer.elapsed());
        if (rest.count() <= 0 || !co_await sleepFor(std::min(interval, rest), stop))
            co_return result;
    }
}

Task<bool> probe(AioClient client, std::stop_token stop)
{
    std::chrono::milliseconds pause = limits::probePause;
    for (int attempt = 1;; ++attempt) {
        QElapsedTimer timer;
        timer.start();
        const HttpOutcome reply = co_await client.call("GET", "/v1/sandbox", nullptr, limits::probeTimeout, stop);
        const bool nobody = !reply && (reply.error().transport == wire::TransportKind::Connect || reply.error().transport == wire::TransportKind::Reset);
        if (!nobody || timer.hasExpired(std::chrono::milliseconds(limits::probeTimeout).count()))
            co_return true;
        if (attempt == limits::probeTries)
            co_return false;
        if (!co_await sleepFor(pause, stop))
            co_return true;
        pause *= 2;
    }
}

Task<wire::Decoded<wire::BashExecResult>> follow(AioClient client, wire::BashExecResult result, std::stop_token stop)
{
    bool running = result.status == wire::bash_status::running;
    bool last = !running;
    while (running || !last) {
        last = !running; // once more after the end, for what came between
        wire::BashOutputRequest request;
        request.sessionId = result.sessionId;
        request.commandId = result.commandId;
        request.offset = result.offset;
        request.stderrOffset = result.stderrOffset;
        request.wait = running;
        const auto timeout = std::chrono::milliseconds(qint64(request.waitTimeout * 1000)) + limits::pollTimeout;
        auto more = co_await client.post<wire::BashOutputResult>("/v1/bash/output", request.write(), timeout, stop);
        if (!more)
            co_return std::unexpected(std::move(more.error()));
        result.standardOutput += more->standardOutput;
        result.standardError += more->standardError;
        result.offset = more->offset;
        result.stderrOffset = more->stderrOffset;
        if (more->command) {
            result.status = more->command->status;
            result.exitCode = more->command->exitCode;
        }
        running = !last && more->command && more->command->running();
    }
    co_return result;
}

} // namespace

QByteArray encodedSegment(const QString &text)
{
    return QUrl::toPercentEncoding(text);
}

BashSupport bashSupport(const QString &version)
{
    // The group exists from 1.9 on; anything older or odd is found out by its 404 (aio-api.md §1.1).
    const QVersionNumber number = QVersionNumber::fromString(version);
    return number >= QVersionNumber(1, 9) ? BashSupport::Yes : BashSupport::ProbeBy404;
}

AioClient::AioClient(LoopRef loop, Endpoint endpoint, AioOptions options)
    : m_http(std::make_shared<HttpClient>(std::move(loop), std::move(endpoint), headersOf(options)))
{
}

Task<HttpOutcome> AioClient::call(QByteArray method, QByteArray target, Json body, std::chrono::milliseconds timeout,
                                  std::stop_token stop, qint64 maxBody) const
{
    HttpRequest request;
    request.method = std::move(method);
    request.target = std::move(target);
    request.timeout = timeout;
    request.maxBody = maxBody;
    if (!body.is_null()) {
        request.headers.emplace_back("Content-Type", "application/json");
        request.body = dumpJson(body);
    }
    return m_http->send(std::move(request), std::move(stop));
}

Task<wire::Decoded<wire::Envelope>> AioClient::postForEnvelope(QByteArray target, Json body, std::chrono::milliseconds timeout,
                                                               std::stop_token stop) const
{
    return decodedEnvelope(call("POST", std::move(target), std::move(body), timeout, std::move(stop)));
}

Task<wire::Decoded<wire::SandboxContext>> AioClient::context(std::chrono::milliseconds timeout, std::stop_token stop) const
{
    return decodedContext(call("GET", "/v1/sandbox", nullptr, timeout, std::move(stop)));
}

Task<wire::Decoded<wire::Envelope>> AioClient::deleteShellSession(SessionId session, std::stop_token stop) const
{
    return decodedEnvelope(call("DELETE", "/v1/shell/sessions/" + encodedSegment(session.value()), nullptr, limits::cleanTimeout,
                                std::move(stop)));
}

Task<wire::Decoded<wire::Envelope>> AioClient::closeBashSession(QString session, std::stop_token stop) const
{
    return decodedEnvelope(call("POST", "/v1/bash/sessions/" + encodedSegment(session) + "/close", nullptr, limits::cleanTimeout,
                                std::move(stop)));
}

Task<wire::Decoded<QByteArray>> AioClient::download(QString path, qint64 maxBytes, std::stop_token stop, QString changePolicy) const
{
    QByteArray target = "/v1/file/download?path=" + QUrl::toPercentEncoding(path);
    if (!changePolicy.isEmpty())
        target += "&change_policy=" + QUrl::toPercentEncoding(changePolicy);
    return downloaded(call("GET", std::move(target), nullptr, limits::fileTimeout, std::move(stop), maxBytes));
}

Task<wire::Decoded<wire::FileUploadResult>> AioClient::upload(QString name, QByteArray bytes, QString path, std::stop_token stop) const
{
    const QByteArray boundary = "paddock-" + newUuid().toLatin1();
    HttpRequest request;
    request.method = "POST";
    request.target = "/v1/file/upload";
    request.timeout = limits::fileTimeout;
    request.headers.emplace_back("Content-Type", "multipart/form-data; boundary=" + boundary);
    request.body = "--" + boundary + "\r\nContent-Disposition: form-data; name=\"path\"\r\n\r\n" + path.toUtf8() + "\r\n--" + boundary
        + "\r\nContent-Disposition: form-data; name=\"file\"; filename=\"" + quotedParameter(name)
        + "\"\r\nContent-Type: application/octet-stream\r\n\r\n" + bytes + "\r\n--" + boundary + "--\r\n";
    return decodeAs<wire::FileUploadResult>(m_http->send(std::move(request), std::move(stop)));
}

Task<wire::Decoded<wire::BashExecResult>> AioClient::followBash(wire::BashExecResult first, std::stop_token stop) const
{
    return follow(*this, std::move(first), std::move(stop));
}

Task<AioClient::Readiness> AioClient::waitReady(std::chrono::milliseconds total, std::chrono::milliseconds interval,
                                                std::chrono::milliseconds perTry, std::stop_token stop) const
{
    return pollReady(*this, total, interval, perTry, std::move(stop));
}

Task<bool> AioClient::isThere(std::stop_token stop) const
{
    return probe(*this, std::move(stop));
}

std::unique_ptr<HttpStream> AioClient::shellStream(const SessionId &session, HttpStreamHandler handler) const
{
    return m_http->stream("/v1/paddock/shell/stream?id=" + QUrl::toPercentEncoding(session.value()), std::move(handler));
}

} // namespace paddock::aio
