// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/error.h"
#include "core/sandboxd/reactor.h"
#include "core/sandboxd/unique_fd.h"

#include <QByteArray>
#include <QHash>
#include <QList>

#include <functional>
#include <memory>

struct MHD_Connection;

namespace paddock::sandboxd {

using HeaderList = QList<std::pair<QByteArray, QByteArray>>;

/// A reply. The body is bytes, or a source that is asked whenever the connection can take more.
struct HttpReply {
    int status = 200;
    QByteArray contentType = "application/json";
    QByteArray body;
    HeaderList headers;

    /// Writes at most `size` bytes into `buffer` and returns how many; 0 = nothing now, call HttpExchange::wake() later;
    /// endOfBody; cutConnection drops the connection without a proper end.
    using Source = std::function<qint64(char *buffer, qint64 size)>;
    static constexpr qint64 endOfBody = -1;
    static constexpr qint64 cutConnection = -2;
    Source source;
    qint64 sourceSize = -1; ///< -1: unknown, sent in chunks

    /// Status 101 only: gets the raw socket, what was read beyond the request, and the call that ends the connection,
    /// which must be made exactly once; the socket stays valid until then.
    std::function<void(int socket, QByteArray alreadyRead, std::function<void()> close)> upgrade;
};

/// One request and its reply; lives on the reactor's thread. The handler keeps the shared pointer until it replies; a
/// client that went away makes `reply` a no-op. libmicrohttpd's connection is suspended while a handler waits.
class HttpExchange : public std::enable_shared_from_this<HttpExchange>
{
public:
    QByteArray method;
    QByteArray rawTarget; ///< as received, with the query: may hold secrets, never log it
    QByteArray rawPath;
    QHash<QByteArray, QByteArray> query;   ///< decoded; "+" is a space
    QHash<QByteArray, QByteArray> headers; ///< lower-case names
    QByteArray body;
    /// When set, body chunks go here instead of into `body`; returning false refuses the rest.
    std::function<bool(const char *data, size_t size)> bodySink;
    /// With an early reply: read and drop a small body first, so that the connection can be reused.
    bool discardBody = false;
    /// What `complete` will do; set by whoever routed the request.
    std::function<void(const std::shared_ptr<HttpExchange> &)> onComplete;
    qint64 contentLength = -1;

    QByteArray header(const char *name) const { return headers.value(name); }
    /// Percent-decoded rest of the path behind `prefix`.
    QByteArray pathAfter(QByteArrayView prefix) const;

    void reply(HttpReply reply);
    void replyJson(int status, const Json &body);
    bool replied() const { return m_replied; }
    /// A source that returned 0 has data again.
    void wake();
    /// Called once when the exchange is over, sent or not.
    std::function<void()> onFinished;

private:
    friend class HttpServer;
    friend struct HttpCallbacks;
    MHD_Connection *m_connection = nullptr;
    class HttpServer *m_server = nullptr;
    HttpReply m_reply;
    bool m_started = false;  ///< the handler has seen the headers
    bool m_complete = false; ///< the handler has seen the whole request
    bool m_replied = false;
    bool m_queued = false;
    bool m_suspended = false;
    bool m_gone = false;
    int m_watchedFd = -1;
    qint64 m_dropped = 0;
};
using ExchangePtr = std::shared_ptr<HttpExchange>;

/// libmicrohttpd behind our reactor: external epoll, limits, deferred and streamed replies (toolchain.md, HTTP).
/// Owner: SandboxServer, same thread.
class HttpServer
{
public:
    struct Handlers {
        /// Headers are in, the body is not: authenticate, route, choose what happens with the body. May already reply.
        std::function<void(const ExchangePtr &)> begin;
        /// The whole request is in.
        std::function<void(const ExchangePtr &)> complete;
    };
    static constexpr qint64 maxBodyBytes = qint64(160) * 1024 * 1024; ///< JSON bodies (§4.12)

    HttpServer(Reactor &reactor, Handlers handlers);
    ~HttpServer();

    /// Serves an already listening, non-blocking socket, which it takes over.
    Result<void> start(UniqueFd listenSocket);
    /// Closes the listening socket; open exchanges may still end.
    void stopListening();

private:
    friend class HttpExchange;
    friend struct HttpCallbacks;
    void scheduleRun() { m_runPending = true; }
    int prepare();

    Reactor &m_reactor;
    Handlers m_handlers;
    struct Private;
    std::unique_ptr<Private> d;
    bool m_runPending = false;
};

/// Decodes %XX; with `plusIsSpace` also "+". Malformed escapes stay as they are.
QByteArray percentDecoded(QByteArrayView text, bool plusIsSpace);
/// The parameters behind "?".
QHash<QByteArray, QByteArray> parseQuery(QByteArrayView query);

} // namespace paddock::sandboxd
