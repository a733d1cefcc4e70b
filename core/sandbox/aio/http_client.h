// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/loop.h"
#include "core/base/task.h"
#include "core/sandbox/aio/byte_stream.h"
#include "core/wire/envelope.h"

#include <chrono>
#include <expected>
#include <functional>
#include <memory>

namespace paddock::aio {

struct HttpRequest {
    QByteArray method;
    QByteArray target; ///< encoded path and query, without the base's prefix
    wire::Headers headers;
    QByteArray body;
    std::chrono::milliseconds timeout{0}; ///< from the call to the last byte; must be set
    qint64 maxBody = 64LL * 1024 * 1024;
};

using HttpOutcome = std::expected<wire::RawReply, wire::Failure>; // a failure here is of kind Transport

/// What a streamed reply tells, on the client's loop.
struct HttpStreamHandler {
    std::function<void(int status)> onHead;
    std::function<void(const QByteArray &bytes)> onBytes;
    std::function<void(const QString &reason)> onEnd; ///< once, the last call
};

/// Ends a streamed reply when dropped. Any thread.
class HttpStream
{
public:
    explicit HttpStream(std::function<void()> stop) : m_stop(std::move(stop)) {}
    HttpStream(const HttpStream &) = delete;
    HttpStream &operator=(const HttpStream &) = delete;
    ~HttpStream() { m_stop(); }

private:
    std::function<void()> m_stop;
};

/// HTTP/1.1 client of one sandbox server. Its sockets live on `loop`; send() may be called from any thread with an event
/// loop and resumes there. Each request in flight has a connection of its own, so control requests never wait behind long
/// commands; idle connections are kept for reuse.
///
/// Not QNetworkAccessManager, because that sends a POST again by itself when the server closes before replying (measured
/// with Qt 6.8: one post(), two deliveries), and a command must never run twice (aio-api.md §1.5). Only a GET is sent again,
/// once, and only when a reused connection turned out to be closed.
class HttpClient
{
public:
    static constexpr int maxIdleConnections = 8;
    static constexpr std::chrono::seconds idleLimit{30}; // below the server's 75 s
    static constexpr int maxRedirects = 5;               // of a GET, same host only

    HttpClient(LoopRef loop, Endpoint endpoint, wire::Headers extraHeaders = {});
    /// Closes without waiting.
    ~HttpClient();
    HttpClient(const HttpClient &) = delete;
    HttpClient &operator=(const HttpClient &) = delete;

    /// Stop closes the socket and gives Cancelled. Never throws.
    Task<HttpOutcome> send(HttpRequest request, std::stop_token stop) const;
    /// A GET whose body is handed on as it comes, without a limit in time or size.
    std::unique_ptr<HttpStream> stream(QByteArray target, HttpStreamHandler handler) const;
    /// Aborts what is in flight (Cancelled) and refuses what comes later; the sockets are closed when it returns.
    Task<> close() const;
    /// The last thing that was heard of it: nobody is there, or whoever was broke off. A guess, until somebody asks. Memory only.
    bool isSuspect() const;

    const Endpoint &endpoint() const { return m_endpoint; }
    const LoopRef &loop() const { return m_loop; }

private:
    class Core;
    LoopRef m_loop;
    Endpoint m_endpoint;
    std::shared_ptr<Core> m_core;
};

} // namespace paddock::aio
