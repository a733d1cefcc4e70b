// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandboxd/http_server.h"

#include "core/sandboxd/microhttpd.h"

#include <sys/epoll.h>

#include <cstring>

namespace paddock::sandboxd {

namespace {

constexpr unsigned idleTimeoutSeconds = 75;  // §4.12
constexpr unsigned bodyTimeoutSeconds = 30;  // §1.5: a body that never comes
constexpr unsigned maxConnections = 320;     // 256 requests and room for streams
constexpr size_t connectionMemory = 96 * 1024; // headers up to 64 KiB (§4.12) and the buffers
constexpr size_t sourceBlock = 64 * 1024;
constexpr qint64 maxDrainedBytes = 1024 * 1024;

} // namespace

struct HttpServer::Private {
    MhdDaemonPtr daemon;
    int epollFd = -1;
    Reactor::Clock::time_point deadline = Reactor::Clock::time_point::max();
    bool listening = false;
};

/// The C callbacks of libmicrohttpd. All run on the reactor's thread, inside MHD_run.
struct HttpCallbacks {
    static void *uriSeen(void *cls, const char *uri, MHD_Connection *connection)
    {
        auto exchange = std::make_shared<HttpExchange>();
        exchange->m_connection = connection;
        exchange->m_server = static_cast<HttpServer *>(cls);
        exchange->rawTarget = uri;
        return new ExchangePtr(std::move(exchange));
    }

    static size_t keepEscapes(void *, MHD_Connection *, char *text) { return std::strlen(text); }

    static MHD_Result addHeader(void *cls, MHD_ValueKind, const char *key, const char *value)
    {
        auto *exchange = static_cast<HttpExchange *>(cls);
        exchange->headers.insert(QByteArray(key).toLower(), QByteArray(value ? value : ""));
        return MHD_YES;
    }

    static void begin(HttpServer *server, const ExchangePtr &exchange, const char *method)
    {
        exchange->m_started = true;
        exchange->method = method;
        const qsizetype mark = exchange->rawTarget.indexOf('?');
        exchange->rawPath = mark < 0 ? exchange->rawTarget : exchange->rawTarget.left(mark);
        if (mark >= 0)
            exchange->query = parseQuery(QByteArrayView(exchange->rawTarget).sliced(mark + 1));
        MHD_get_connection_values(exchange->m_connection, MHD_HEADER_KIND, &addHeader, exchange.get());
        bool ok = false;
        const qint64 length = exchange->header("content-length").toLongLong(&ok);
        exchange->contentLength = ok ? length : (exchange->headers.contains("transfer-encoding") ? -1 : 0);
        if (exchange->contentLength != 0)
            MHD_set_connection_option(exchange->m_connection, MHD_CONNECTION_OPTION_TIMEOUT, bodyTimeoutSeconds);
        server->m_handlers.begin(exchange);
    }

    static MHD_Result takeBody(const ExchangePtr &exchange, const char *data, size_t *size)
    {
        const size_t count = *size;
        *size = 0;
        if (exchange->m_replied || exchange->discardBody) {
            exchange->m_dropped += qint64(count);
            return exchange->m_dropped > maxDrainedBytes + HttpServer::maxBodyBytes ? MHD_NO : MHD_YES;
        }
        if (exchange->bodySink) {
            if (!exchange->bodySink(data, count))
                exchange->discardBody = true;
            return MHD_YES;
        }
        if (exchange->body.size() + qint64(count) > HttpServer::maxBodyBytes) {
            exchange->body.clear();
            exchange->discardBody = true;
            exchange->replyJson(413, Json{{"success", false}, {"message", "Request body is larger than 160 MiB"},
                                          {"data", nullptr}, {"hint", nullptr}});
            return MHD_YES;
        }
        if (exchange->body.isEmpty() && exchange->contentLength > 0)
            exchange->body.reserve(std::min<qint64>(exchange->contentLength, 4 * 1024 * 1024));
        exchange->body.append(data, qsizetype(count));
        return MHD_YES;
    }

    static MHD_Result access(void *cls, MHD_Connection *, const char *, const char *method, const char *,
                             const char *data, size_t *size, void **context)
    {
        auto *server = static_cast<HttpServer *>(cls);
        const ExchangePtr exchange = *static_cast<ExchangePtr *>(*context);
        if (!exchange->m_started) {
            begin(server, exchange, method);
            const bool drain = exchange->discardBody && exchange->contentLength >= 0
                && exchange->contentLength <= maxDrainedBytes;
            if (exchange->m_replied && !drain)
                return queue(exchange);
            return MHD_YES;
        }
        if (*size > 0)
            return takeBody(exchange, data, size);
        if (!exchange->m_complete) {
            exchange->m_complete = true;
            if (exchange->contentLength != 0)
                MHD_set_connection_option(exchange->m_connection, MHD_CONNECTION_OPTION_TIMEOUT, idleTimeoutSeconds);
            if (!exchange->m_replied)
                server->m_handlers.complete(exchange);
        }
        if (exchange->m_replied)
            return exchange->m_queued ? MHD_YES : queue(exchange);
        exchange->m_suspended = true;
        MHD_suspend_connection(exchange->m_connection);
        return MHD_YES;
    }

    static ssize_t readSource(void *cls, std::uint64_t, char *buffer, size_t size)
    {
        const ExchangePtr exchange = *static_cast<ExchangePtr *>(cls);
        if (exchange->m_gone)
            return MHD_CONTENT_READER_END_WITH_ERROR;
        const qint64 count = exchange->m_reply.source(buffer, qint64(size));
        if (count == HttpReply::endOfBody)
            return MHD_CONTENT_READER_END_OF_STREAM;
        if (count == HttpReply::cutConnection)
            return MHD_CONTENT_READER_END_WITH_ERROR;
        if (count == 0 && !exchange->m_suspended) {
            exchange->m_suspended = true;
            MHD_suspend_connection(exchange->m_connection);
            watchForHangup(exchange);
        }
        return count;
    }
    static void freeSource(void *cls) { delete static_cast<ExchangePtr *>(cls); }
    static void freeBytes(void *cls) { delete static_cast<QByteArray *>(cls); }

    /// A suspended connection is not polled by the library; a stream that waits must still notice that nobody reads it.
    static void watchForHangup(const ExchangePtr &exchange)
    {
        if (exchange->m_watchedFd >= 0)
            return;
        const MHD_ConnectionInfo *info = MHD_get_connection_info(exchange->m_connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        if (!info)
            return;
        exchange->m_watchedFd = info->connect_fd;
        std::weak_ptr<HttpExchange> weak = exchange;
        exchange->m_server->m_reactor.watch(info->connect_fd, EPOLLRDHUP, [weak](std::uint32_t) {
            if (const auto strong = weak.lock()) {
                strong->m_gone = true;
                strong->m_server->m_reactor.unwatch(std::exchange(strong->m_watchedFd, -1));
                strong->wake();
            }
        });
    }

    static void upgraded(void *cls, MHD_Connection *, void *context, const char *extra, size_t extraSize, MHD_socket socket,
                         MHD_UpgradeResponseHandle *handle)
    {
        Q_UNUSED(context)
        const std::unique_ptr<ExchangePtr> holder(static_cast<ExchangePtr *>(cls));
        const ExchangePtr exchange = *holder;
        HttpServer *server = exchange->m_server;
        const auto close = [handle, server] {
            MHD_upgrade_action(handle, MHD_UPGRADE_ACTION_CLOSE);
            server->scheduleRun();
        };
        const auto upgrade = std::move(exchange->m_reply.upgrade);
        upgrade(socket, QByteArray(extra, qsizetype(extraSize)), close);
    }

    static MHD_Result queue(const ExchangePtr &exchange)
    {
        HttpReply &reply = exchange->m_reply;
        MhdResponsePtr response;
        if (reply.upgrade) {
            // The holder is freed by `upgraded`; it is lost only when the connection breaks before the 101 is out.
            response.reset(MHD_create_response_for_upgrade(&upgraded, new ExchangePtr(exchange)));
        } else if (reply.source) {
            const auto size = reply.sourceSize < 0 ? MHD_SIZE_UNKNOWN : std::uint64_t(reply.sourceSize);
            response.reset(MHD_create_response_from_callback(size, sourceBlock, &readSource, new ExchangePtr(exchange), &freeSource));
        } else {
            auto *bytes = new QByteArray(std::move(reply.body));
            response.reset(MHD_create_response_from_buffer_with_free_callback_cls(size_t(bytes->size()), bytes->data(),
                                                                                 &freeBytes, bytes));
        }
        if (!response)
            return MHD_NO;
        if (!reply.contentType.isEmpty() && !reply.upgrade)
            MHD_add_response_header(response.get(), "Content-Type", reply.contentType.constData());
        for (const auto &[name, value] : reply.headers)
            MHD_add_response_header(response.get(), name.constData(), value.constData());
        exchange->m_queued = true;
        return MHD_queue_response(exchange->m_connection, unsigned(reply.status), response.get());
    }

    static void completed(void *, MHD_Connection *, void **context, MHD_RequestTerminationCode)
    {
        auto *holder = static_cast<ExchangePtr *>(std::exchange(*context, nullptr));
        if (!holder)
            return;
        const ExchangePtr exchange = std::move(*holder);
        delete holder;
        if (exchange->m_watchedFd >= 0)
            exchange->m_server->m_reactor.unwatch(std::exchange(exchange->m_watchedFd, -1));
        exchange->m_connection = nullptr;
        exchange->m_gone = true;
        exchange->bodySink = nullptr;
        exchange->onComplete = nullptr;
        if (auto finished = std::exchange(exchange->onFinished, nullptr))
            finished();
        exchange->m_reply.source = nullptr;
    }
};

// ---- HttpExchange --------------------------------------------------------------------------------------------------

QByteArray HttpExchange::pathAfter(QByteArrayView prefix) const
{
    return percentDecoded(QByteArrayView(rawPath).sliced(std::min(prefix.size(), rawPath.size())), false);
}

void HttpExchange::reply(HttpReply reply)
{
    if (m_replied)
        return;
    m_replied = true;
    m_reply = std::move(reply);
    if (m_suspended && !m_gone && m_connection)
        wake();
}

void HttpExchange::replyJson(int status, const Json &json)
{
    HttpReply out;
    out.status = status;
    out.body = dumpJson(json);
    reply(std::move(out));
}

void HttpExchange::wake()
{
    if (!m_suspended || !m_connection)
        return;
    m_suspended = false;
    MHD_resume_connection(m_connection);
    m_server->scheduleRun();
}

// ---- HttpServer ----------------------------------------------------------------------------------------------------

HttpServer::HttpServer(Reactor &reactor, Handlers handlers)
    : m_reactor(reactor), m_handlers(std::move(handlers)), d(std::make_unique<Private>())
{
}

HttpServer::~HttpServer()
{
    m_reactor.setPrepare({});
    if (d->epollFd >= 0)
        m_reactor.unwatch(d->epollFd);
}

Result<void> HttpServer::start(UniqueFd listenSocket)
{
    d->daemon.reset(MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_ALLOW_UPGRADE, 0, nullptr, nullptr, &HttpCallbacks::access, this,
        MHD_OPTION_LISTEN_SOCKET, listenSocket.get(), MHD_OPTION_CONNECTION_LIMIT, maxConnections,
        MHD_OPTION_CONNECTION_TIMEOUT, idleTimeoutSeconds, MHD_OPTION_CONNECTION_MEMORY_LIMIT, connectionMemory,
        MHD_OPTION_URI_LOG_CALLBACK, &HttpCallbacks::uriSeen, this, MHD_OPTION_UNESCAPE_CALLBACK,
        &HttpCallbacks::keepEscapes, this, MHD_OPTION_NOTIFY_COMPLETED, &HttpCallbacks::completed, this, MHD_OPTION_END));
    if (!d->daemon)
        return fail(ErrorCode::Io, QStringLiteral("The HTTP service could not be started on the listening socket"));
    listenSocket.release(); // the daemon closes it
    d->listening = true;
    d->epollFd = MHD_get_daemon_info(d->daemon.get(), MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
    m_reactor.watch(d->epollFd, EPOLLIN, [this](std::uint32_t) { scheduleRun(); });
    m_reactor.setPrepare([this] { return prepare(); });
    return {};
}

void HttpServer::stopListening()
{
    if (d->daemon && std::exchange(d->listening, false)) {
        const int fd = MHD_quiesce_daemon(d->daemon.get());
        if (fd >= 0)
            ::close(fd);
    }
}

int HttpServer::prepare()
{
    constexpr int roundsAtOnce = 3; // work that the library has left over is done before anything else is asked for
    for (int round = 0; round < roundsAtOnce; ++round) {
        if (!m_runPending && Reactor::Clock::now() < d->deadline)
            break;
        m_runPending = false;
        d->deadline = Reactor::Clock::time_point::max();
        MHD_run(d->daemon.get());
        MHD_UNSIGNED_LONG_LONG ms = 0;
        m_runPending = m_runPending || (MHD_get_timeout(d->daemon.get(), &ms) == MHD_YES && ms == 0);
    }
    if (m_runPending)
        return 0;
    MHD_UNSIGNED_LONG_LONG ms = 0;
    if (MHD_get_timeout(d->daemon.get(), &ms) != MHD_YES) {
        d->deadline = Reactor::Clock::time_point::max();
        return -1;
    }
    m_runPending = ms == 0;
    const int limit = int(std::min<unsigned long long>(ms, 3'600'000));
    d->deadline = Reactor::Clock::now() + std::chrono::milliseconds(limit);
    return limit;
}

// ---- helpers -------------------------------------------------------------------------------------------------------

QByteArray percentDecoded(QByteArrayView text, bool plusIsSpace)
{
    const auto digit = [](char c) {
        if (c >= '0' && c <= '9')
            return c - '0';
        if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
            return (c | 0x20) - 'a' + 10;
        return -1;
    };
    QByteArray out;
    out.reserve(text.size());
    for (qsizetype i = 0; i < text.size(); ++i) {
        if (text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 && digit(text[i + 2]) >= 0) {
            out.append(char(digit(text[i + 1]) * 16 + digit(text[i + 2])));
            i += 2;
        } else {
            out.append(plusIsSpace && text[i] == '+' ? ' ' : text[i]);
        }
    }
    return out;
}

QHash<QByteArray, QByteArray> parseQuery(QByteArrayView query)
{
    QHash<QByteArray, QByteArray> out;
    for (qsizetype from = 0; from <= query.size();) {
        const qsizetype end = query.indexOf('&', from);
        const QByteArrayView part = query.sliced(from, (end < 0 ? query.size() : end) - from);
        const qsizetype equals = part.indexOf('=');
        if (!part.isEmpty()) {
            const QByteArrayView name = equals < 0 ? part : part.first(equals);
            const QByteArrayView value = equals < 0 ? QByteArrayView() : part.sliced(equals + 1);
            out.insert(percentDecoded(name, true), percentDecoded(value, true));
        }
        if (end < 0)
            break;
        from = end + 1;
    }
    return out;
}

} // namespace paddock::sandboxd
