// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/sandboxd/file_transfer.h"
#include "core/sandboxd/sandbox_server.h"
#include "core/wire/envelope.h"

// The two ways a JSON route is made; included by the route files only.
namespace paddock::sandboxd {

/// Decodes the body on the reactor's thread: small requests.
template<typename Request>
void SandboxServer::route(const char *method, const char *pattern, std::function<void(const ExchangePtr &, const Request &)> handler)
{
    m_router.add(method, pattern, [handler = std::move(handler)](const ExchangePtr &exchange, const QString &) {
        const auto body = wire::parseRequestBody(std::exchange(exchange->body, {}));
        if (!body) {
            exchange->replyJson(422, wire::validationBody(body.error()));
            return;
        }
        const auto request = wire::decodeRequest<Request>(*body);
        if (request)
            handler(exchange, *request);
        else
            exchange->replyJson(422, wire::validationBody(request.error()));
    });
}

/// Decoding, work and encoding on a worker thread: bodies may be large and disks slow.
template<typename Request, typename Value>
void SandboxServer::fileRoute(const char *pattern, const char *message, std::expected<Value, FileFailure> (*work)(const Request &))
{
    m_router.add("POST", pattern, [this, message, work](const ExchangePtr &exchange, const QString &) {
        m_pool->run([this, message, work, exchange, raw = std::exchange(exchange->body, {})]() mutable {
            const auto compute = [&]() -> HttpReply {
                const auto body = wire::parseRequestBody(raw);
                if (!body)
                    return fileReply(422, wire::validationBody(body.error()));
                raw.clear();
                const auto request = wire::decodeRequest<Request>(*body);
                if (!request)
                    return fileReply(422, wire::validationBody(request.error()));
                const auto value = work(*request);
                if (!value)
                    return fileFailureReply(value.error());
                return fileReply(200, wire::succeeded(value->write(), QString::fromLatin1(message)).write());
            };
            auto reply = std::make_shared<HttpReply>(compute());
            m_reactor.post([exchange = std::move(exchange), reply] { exchange->reply(std::move(*reply)); });
        });
    });
}

} // namespace paddock::sandboxd
