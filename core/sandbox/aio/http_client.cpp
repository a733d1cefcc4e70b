// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/aio/http_client.h"

#include "core/base/completion.h"
#include "core/base/run_on.h"
#include "core/sandbox/aio/http_parser.h"

#include <QElapsedTimer>
#include <QLoggingCategory>
#include <QTimer>

#include <atomic>
#include <deque>
#include <optional>
#include <set>

Q_LOGGING_CATEGORY(lcHttp, "paddock.sandbox.http")

namespace paddock::aio {

namespace {

using wire::TransportKind;

/// Deletes a QObject from inside its own signals.
struct DeleteLater {
    void operator()(QObject *object) const
    {
        object->disconnect();
        object->deleteLater();
    }
};
using StreamPtr = std::unique_ptr<ByteStream, DeleteLater>;

struct IdleConnection {
    StreamPtr stream;
    QElapsedTimer since;
};

QByteArray requestBytes(const Endpoint &endpoint, const HttpRequest &request, const wire::Headers &extra)
{
    QByteArray prefix = endpoint.base.path(QUrl::FullyEncoded).toLatin1();
    while (prefix.endsWith('/'))
        prefix.chop(1);
    QByteArray host = endpoint.socketPath.isEmpty() ? endpoint.base.host(QUrl::FullyEncoded).toLatin1() : QByteArray("localhost");
    if (host.contains(':'))
        host = '[' + host + ']';
    if (endpoint.socketPath.isEmpty() && endpoint.base.port() > 0)
        host += ':' + QByteArray::number(endpoint.base.port());
    QByteArray out = request.method + ' ' + prefix + request.target + " HTTP/1.1\r\nHost: " + host + "\r\nAccept: */*\r\n";
    for (const wire::Headers *list : {&extra, &request.headers}) {
        for (const auto &[name, value] : *list)
            out += name + ": " + value + "\r\n";
    }
    if (request.method != "GET" && request.method != "HEAD")
        out += "Content-Length: " + QByteArray::number(request.body.size()) + "\r\n";
    return out + "\r\n" + request.body;
}

} // namespace

/// The part that lives on the loop.
class HttpClient::Core : public std::enable_shared_from_this<HttpClient::Core>
{
public:
    /// One request on its way, possibly over several connections. Lives on the loop.
    struct Exchange : std::enable_shared_from_this<Exchange> {
        HttpRequest request;
        std::shared_ptr<Core> core;
        std::function<void(HttpOutcome)> done; ///< empty once told
        std::optional<HttpStreamHandler> stream;
        StreamPtr connection;
        std::unique_ptr<HttpParser> parser;
        std::unique_ptr<QTimer> timer;
        bool reused = false;
        bool connected = false;
        bool retried = false;
        int redirects = 0;

        void begin(bool allowReuse)
        {
            parser = std::make_unique<HttpParser>(HttpParser::Limits{.bodyBytes = stream ? std::numeric_limits<qint64>::max() : request.maxBody},
                                                  request.method == "HEAD");
            connection = allowReuse ? core->takeIdle() : nullptr;
            reused = connected = connection != nullptr;
            if (!connection)
                connection.reset(ByteStream::make(core->endpoint).release());
            const std::weak_ptr<Exchange> weak = weak_from_this();
            QObject::connect(connection.get(), &ByteStream::opened, connection.get(), [weak] {
                if (const auto self = weak.lock())
                    self->connected = true;
            });
            QObject::connect(connection.get(), &ByteStream::received, connection.get(), [weak](const QByteArray &bytes) {
                if (const auto self = weak.lock())
                    self->received(bytes);
            });
            QObject::connect(connection.get(), &ByteStream::ended, connection.get(), [weak](ByteStream::End how, const QString &text) {
                if (const auto self = weak.lock())
                    self->ended(how, text);
            });
            if (!reused)
                connection->open();
            if (connection)
                connection->write(requestBytes(core->endpoint, request, core->extraHeaders));
        }

        void received(const QByteArray &bytes)
        {
            const bool hadHead = parser->headDone();
            parser->feed(bytes);
            if (stream && parser->headDone() && stream->onHead && !hadHead)
                stream->onHead(parser->status());
            if (stream && parser->headDone()) {
                if (const QByteArray body = parser->takeBody(); !body.isEmpty() && stream && stream->onBytes)
                    stream->onBytes(body);
            }
            judge();
        }

        void ended(ByteStream::End how, const QString &text)
        {
            if (how == ByteStream::End::ConnectFailed) {
                // The address stays out of the message: models read it, and host paths are not for them.
                qCInfo(lcHttp, "Could not connect to the sandbox at %ls: %ls", qUtf16Printable(core->endpoint.display()), qUtf16Printable(text));
                finish(std::unexpected(wire::transportFailure(
                    TransportKind::Connect, QStringLiteral("Could not connect to the sandbox server: %1").arg(text))));
                return;
            }
            if (!parser->anyByte()) {
                if (reused && !retried && (request.method == "GET" || request.method == "HEAD")) {
                    retried = true; // the kept connection was closed just then; asking again is harmless
                    begin(false);
                    return;
                }
                finish(std::unexpected(wire::transportFailure(
                    TransportKind::Reset, QStringLiteral("The sandbox closed the connection without a reply: %1").arg(text))));
                return;
            }
            if (how == ByteStream::End::Reset) {
                finish(std::unexpected(wire::transportFailure(
                    TransportKind::Reset, QStringLiteral("The connection to the sandbox broke in the middle of a reply: %1").arg(text))));
                return;
            }
            parser->end();
            judge();
        }

        void judge()
        {
            if (parser->state() == HttpParser::State::Failed) {
                finish(std::unexpected(wire::transportFailure(parser->tooLarge() ? TransportKind::TooLarge : TransportKind::Protocol,
                                                              QStringLiteral("The sandbox's reply is unusable: %1").arg(parser->error()))));
            } else if (parser->state() == HttpParser::State::Done) {
                if (parser->keepAlive() && connection)
                    core->keepIdle(std::move(connection));
                if (!followRedirect())
                    finish(parser->takeReply());
            }
        }

        /// A GET that the same server points elsewhere; everything else is the caller's to judge.
        bool followRedirect()
        {
            const int status = parser->status();
            const bool redirect = status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
            if (!redirect || request.method != "GET" || stream || ++redirects > maxRedirects)
                return false;
            const QUrl location(QString::fromUtf8(parser->header("location")));
            if (location.isEmpty() || !location.isValid())
                return false;
            const QUrl &base = core->endpoint.base;
            const QUrl here = base.resolved(QUrl(QString::fromLatin1(request.target)));
            const QUrl next = here.resolved(location);
            if (next.host() != base.host() || next.port() != base.port() || next.scheme() != base.scheme())
                return false;
            QByteArray target = next.toEncoded(QUrl::RemoveScheme | QUrl::RemoveAuthority | QUrl::RemoveFragment);
            request.target = target.startsWith('/') ? target : '/' + target;
            connection.reset();
            begin(true);
            return true;
        }

        void finish(HttpOutcome outcome)
        {
            const auto self = shared_from_this(); // core lets go of it here
            core->judgePeer(outcome);
            core->active.erase(self);
            timer.reset();
            connection.reset();
            if (stream) {
                if (const auto handler = std::exchange(stream, std::nullopt); handler->onEnd)
                    handler->onEnd(outcome ? QString() : outcome.error().message);
            }
            if (const auto tell = std::exchange(done, nullptr))
                tell(std::move(outcome));
        }
    };

    Core(Endpoint e, wire::Headers headers) : endpoint(std::move(e)), extraHeaders(std::move(headers)) {}

    void judgePeer(const HttpOutcome &outcome)
    {
        if (outcome)
            suspect = false;
        else if (outcome.error().transport == TransportKind::Connect || outcome.error().transport == TransportKind::Reset)
            suspect = true;
    }

    void start(const std::shared_ptr<Exchange> &exchange)
    {
        exchange->core = shared_from_this();
        active.insert(exchange);
        if (closed) {
            exchange->finish(std::unexpected(wire::transportFailure(TransportKind::Cancelled, QStringLiteral("sandbox client is closed"))));
            return;
        }
        if (!exchange->stream) {
            exchange->timer = std::make_unique<QTimer>();
            exchange->timer->setSingleShot(true);
            const std::weak_ptr<Exchange> weak = exchange;
            QObject::connect(exchange->timer.get(), &QTimer::timeout, exchange->timer.get(), [weak] {
                const auto self = weak.lock();
                if (!self)
                    return;
                self->timer.release()->deleteLater(); // inside its own signal
                // Not connected in time is still a connection that failed: nothing was delivered.
                const auto kind = self->connected ? TransportKind::Timeout : TransportKind::Connect;
                self->finish(std::unexpected(wire::transportFailure(
                    kind, QStringLiteral("The sandbox did not answer within %1 ms").arg(self->request.timeout.count()))));
            });
            exchange->timer->start(exchange->request.timeout);
        }
        exchange->begin(true);
    }

    void abort(const std::shared_ptr<Exchange> &exchange)
    {
        if (active.contains(exchange))
            exchange->finish(std::unexpected(wire::transportFailure(TransportKind::Cancelled, QStringLiteral("Cancelled"))));
    }

    void close()
    {
        closed = true;
        const auto running = active;
        for (const auto &exchange : running)
            abort(exchange);
        idle.clear();
    }

    StreamPtr takeIdle()
    {
        while (!idle.empty()) {
            IdleConnection candidate = std::move(idle.back());
            idle.pop_back();
            if (!candidate.since.hasExpired(std::chrono::milliseconds(idleLimit).count()) && candidate.stream->idleAndOpen()) {
                candidate.stream->disconnect();
                return std::move(candidate.stream);
            }
        }
        return nullptr;
    }

    void keepIdle(StreamPtr stream)
    {
        if (closed)
            return;
        stream->disconnect();
        ByteStream *raw = stream.get();
        QObject::connect(raw, &ByteStream::ended, raw, [weak = weak_from_this(), raw] {
            if (const auto self = weak.lock())
                std::erase_if(self->idle, [raw](const IdleConnection &c) { return c.stream.get() == raw; });
        });
        IdleConnection entry{std::move(stream), {}};
        entry.since.start();
        idle.push_back(std::move(entry));
        if (idle.size() > size_t(maxIdleConnections))
            idle.pop_front();
    }

    const Endpoint endpoint;
    const wire::Headers extraHeaders;
    std::set<std::shared_ptr<Exchange>> active;
    std::deque<IdleConnection> idle;
    bool closed = false;
    std::atomic<bool> suspect = false; ///< read from any thread
};

namespace {

/// Answers when the call that should have was dropped unrun because the loop has ended.
struct AnswerIfDropped {
    Completion<HttpOutcome> done;
    ~AnswerIfDropped()
    {
        done.complete(std::unexpected(wire::transportFailure(TransportKind::Cancelled, QStringLiteral("sandbox client is closed"))));
    }
};

} // namespace

HttpClient::HttpClient(LoopRef loop, Endpoint endpoint, wire::Headers extraHeaders)
    : m_loop(std::move(loop)), m_endpoint(endpoint), m_core(std::make_shared<Core>(std::move(endpoint), std::move(extraHeaders)))
{
}

HttpClient::~HttpClient()
{
    m_loop.post([core = std::move(m_core)] { core->close(); });
}

Task<HttpOutcome> HttpClient::send(HttpRequest request, std::stop_token stop) const
{
    const LoopRef loop = m_loop;
    const std::shared_ptr<Core> core = m_core;
    Completion<HttpOutcome> done;
    auto exchange = std::make_shared<Core::Exchange>();
    exchange->request = std::move(request);
    auto guard = std::make_shared<AnswerIfDropped>(done);
    exchange->done = [guard](HttpOutcome outcome) { guard->done.complete(std::move(outcome)); };
    guard.reset();
    loop.post([core, exchange] { core->start(exchange); });
    const std::weak_ptr<Core::Exchange> weak = exchange;
    exchange.reset(); // from here on the loop owns it
    const std::stop_callback onStop(stop, [loop, core, weak] {
        loop.post([core, weak] {
            if (const auto running = weak.lock())
                core->abort(running);
        });
    });
    co_return co_await done;
}

bool HttpClient::isSuspect() const
{
    return m_core->suspect;
}

std::unique_ptr<HttpStream> HttpClient::stream(QByteArray target, HttpStreamHandler handler) const
{
    auto exchange = std::make_shared<Core::Exchange>();
    exchange->request.method = "GET";
    exchange->request.target = std::move(target);
    exchange->stream = std::move(handler);
    m_loop.post([core = m_core, exchange] { core->start(exchange); });
    return std::make_unique<HttpStream>([loop = m_loop, core = m_core, weak = std::weak_ptr(exchange)] {
        loop.post([core, weak] {
            if (const auto running = weak.lock())
                core->abort(running);
        });
    });
}

Task<> HttpClient::close() const
{
    const std::shared_ptr<Core> core = m_core;
    Completion<void> done;
    if (m_loop.post([core, done] {
            core->close();
            done.complete();
        }))
        co_await done;
}

} // namespace paddock::aio
