// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandboxd/terminal_socket.h"

#include "core/base/json.h"
#include "core/sandboxd/sandbox_server.h"
#include "core/sandboxd/shell_stream.h"
#include "core/sandboxd/websocket.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <list>

namespace paddock::sandboxd {

using namespace std::chrono_literals;

namespace {

constexpr qint64 maxFrameBytes = 1024 * 1024;    // §6
constexpr qint64 maxMessageBytes = 64 * 1024;
constexpr qsizetype highWater = 256 * 1024;      // queued here; the rest stays in the ring
constexpr auto coalesce = 8ms;
constexpr auto pingEvery = 30s;
constexpr auto silenceLimit = 90s;
constexpr auto orphanLife = 60s;                 // of a session made for a socket alone
constexpr int maxBadMessages = 10;

int sequenceLength(unsigned char lead)
{
    return lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
}

/// Bytes at the end that are the start of an unfinished character.
qsizetype unfinished(const QByteArray &bytes)
{
    for (qsizetype back = 1; back <= 3 && back <= bytes.size(); ++back) {
        const auto c = static_cast<unsigned char>(bytes.at(bytes.size() - back));
        if ((c & 0xc0) != 0x80)
            return sequenceLength(c) > back ? back : 0;
    }
    return 0;
}

/// One attached terminal. Keeps itself alive until the socket is closed. Reactor's thread.
class TerminalSocket : public std::enable_shared_from_this<TerminalSocket>
{
public:
    TerminalSocket(Reactor &reactor, ShellTable &shells, int fd, std::function<void()> close)
        : m_reactor(reactor), m_shells(shells), m_fd(fd), m_close(std::move(close)), m_reader(maxFrameBytes), m_flush(reactor),
          m_ping(reactor), m_lastHeard(reactor.now())
    {
    }

    void open(const QByteArray &wanted, QByteArrayView alreadyRead)
    {
        // One more for reading, so that what the library does with its own descriptor does not matter to the reactor.
        m_watched.reset(::fcntl(m_fd, F_DUPFD_CLOEXEC, 3));
        ::fcntl(m_watched.get(), F_SETFL, ::fcntl(m_watched.get(), F_GETFL) | O_NONBLOCK);
        m_reactor.watch(m_watched.get(), EPOLLIN, [self = shared_from_this()](std::uint32_t events) { self->onSocket(events); });
        schedulePing();
        if (!alreadyRead.isEmpty())
            m_reader.feed(alreadyRead);
        if (wanted.isEmpty()) {
            m_shells.create({}, [self = shared_from_this()](const Outcome<ShellTable::SessionPtr> &session) {
                if (!session) {
                    self->sendError(session.error().message);
                    self->end(1013);
                    return;
                }
                self->m_ownSession = true;
                (*session)->resize(80, 24);
                self->attach(*session);
            });
            return;
        }
        const auto session = m_shells.find(QString::fromUtf8(wanted));
        if (!session) {
            sendError(QStringLiteral("Session not found"));
            end(1008);
            return;
        }
        attach(session);
    }

private:
    void attach(const ShellTable::SessionPtr &session)
    {
        if (m_ended)
            return;
        m_session = session;
        send({{"type", "session_id"}, {"data", toJson(session->id())}});
        m_ring = std::make_unique<RingReader>(session->ring(), m_ownSession ? 0 : replayBytes);
        if (!m_ownSession)
            pump();
        send({{"type", "ready"}, {"data", "Terminal ready"}});
        const auto self = shared_from_this();
        m_observer = session->observe({[weak = weak_from_this()] {
                                           if (const auto alive = weak.lock())
                                               alive->scheduleOutput();
                                       },
                                       [weak = weak_from_this()](bool exited) {
                                           if (const auto alive = weak.lock())
                                               alive->sessionOver(exited);
                                       }});
        handleMessages();
    }

    void sessionOver(bool exited)
    {
        pump();
        if (exited)
            send({{"type", "output"}, {"data", "\r\n[session ended]\r\n"}});
        end(exited ? 1000 : 1001);
    }

    void scheduleOutput()
    {
        if (!m_flush.active())
            m_flush.start(coalesce, [self = shared_from_this()] { self->pump(); });
    }

    /// From the ring to the socket's queue, as long as the socket keeps up; a socket that does not skips ahead in the ring.
    void pump()
    {
        while (m_ring && m_session && !m_ended && m_out.size() < highWater) {
            QByteArray bytes(maxMessageBytes, Qt::Uninitialized);
            bytes.resize(m_ring->read(m_session->ring(), bytes.data(), bytes.size()));
            if (bytes.isEmpty())
                return;
            bytes.prepend(m_partial);
            m_partial = bytes.last(unfinished(bytes));
            bytes.chop(m_partial.size());
            if (!bytes.isEmpty())
                send({{"type", "output"}, {"data", toJson(QString::fromUtf8(bytes))}});
        }
    }

    void send(const Json &message)
    {
        if (!m_ended) {
            m_out += websocket::frame(websocket::Opcode::Text, dumpJson(message));
            flush();
        }
    }
    void sendError(const QString &text) { send({{"type", "error"}, {"data", toJson(text)}}); }

    void flush()
    {
        while (!m_out.isEmpty()) {
            const ssize_t count = ::send(m_watched.get(), m_out.constData(), size_t(m_out.size()), MSG_NOSIGNAL);
            if (count < 0 && errno == EINTR)
                continue;
            if (count < 0 && errno != EAGAIN) {
                drop();
                return;
            }
            if (count < 0)
                break;
            m_out.remove(0, count);
        }
        m_reactor.modify(m_watched.get(), EPOLLIN | (m_out.isEmpty() ? 0U : unsigned(EPOLLOUT)));
        if (m_ended && m_out.isEmpty())
            drop();
    }

    void onSocket(std::uint32_t events)
    {
        const auto self = shared_from_this();
        if (events & EPOLLOUT) {
            flush();
            if (!m_ended)
                pump();
        }
        if (!m_watched || !(events & (EPOLLIN | EPOLLHUP | EPOLLERR)))
            return;
        char buffer[16384];
        const ssize_t count = ::recv(m_watched.get(), buffer, sizeof buffer, 0);
        if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) {
            drop();
            return;
        }
        if (count > 0) {
            m_lastHeard = m_reactor.now();
            m_reader.feed(QByteArrayView(buffer, count));
            if (m_session)
                handleMessages();
        }
    }

    void handleMessages()
    {
        while (!m_ended) {
            const auto message = m_reader.next();
            if (!message)
                break;
            switch (message->opcode) {
            case websocket::Opcode::Close: end(1000); return;
            case websocket::Opcode::Ping:
                m_out += websocket::frame(websocket::Opcode::Pong, message->payload);
                flush();
                break;
            case websocket::Opcode::Text: handleText(message->payload); break;
            case websocket::Opcode::Binary: bad(QStringLiteral("binary frames are not understood")); break;
            default: break;
            }
        }
        if (m_reader.closeCode() && !m_ended)
            end(m_reader.closeCode());
    }

    void bad(const QString &why)
    {
        sendError(why);
        if (++m_badInRow >= maxBadMessages)
            end(1007);
    }

    void handleText(const QByteArray &text)
    {
        const auto parsed = parseJson(text);
        const QString type = parsed ? stringOf(*parsed, "type") : QString();
        if (type.isEmpty()) {
            bad(QStringLiteral("expected a JSON object with a type"));
            return;
        }
        m_badInRow = 0;
        const Json &data = memberOf(*parsed, "data");
        if (type == u"input" && data.is_string()) {
            (void)m_session->write(QByteArray::fromStdString(data.get_ref<const std::string &>()));
        } else if (type == u"resize") {
            const qint64 columns = intOf(data, "cols"), rows = intOf(data, "rows");
            if (columns < 1 || columns > 1000 || rows < 1 || rows > 500)
                sendError(QStringLiteral("size out of range: 1..1000 columns, 1..500 rows"));
            else
                m_session->setViewerSize(m_observer, int(columns), int(rows));
        } else if (type == u"ping") {
            const Json &stamp = memberOf(*parsed, "timestamp").is_null() ? memberOf(data, "timestamp") : memberOf(*parsed, "timestamp");
            send({{"type", "pong"}, {"data", {{"timestamp", stamp}}}});
        }
    }

    void schedulePing()
    {
        m_ping.start(pingEvery, [self = shared_from_this()] {
            if (self->m_reactor.now() - self->m_lastHeard > silenceLimit) {
                self->end(1001);
                return;
            }
            const auto now = std::chrono::system_clock::now().time_since_epoch();
            self->send({{"type", "ping"}, {"timestamp", std::chrono::duration_cast<std::chrono::milliseconds>(now).count()}});
            self->schedulePing();
        });
    }

    void end(int code)
    {
        if (std::exchange(m_ended, true))
            return;
        m_out += websocket::closeFrame(code);
        // The peer gets some time to take the rest.
        m_ping.start(2s, [self = shared_from_this()] { self->drop(); });
        flush();
    }

    void drop()
    {
        const auto self = shared_from_this();
        m_ended = true;
        m_ping.stop();
        m_flush.stop();
        if (!m_watched)
            return;
        m_reactor.unwatch(m_watched.get());
        m_watched.reset();
        if (m_session) {
            m_session->stopObserving(m_observer);
            if (m_ownSession)
                removeLater();
        }
        m_close();
    }

    void removeLater()
    {
        m_reactor.after(orphanLife, [&shells = m_shells, weak = std::weak_ptr(m_session)] {
            const auto session = weak.lock();
            if (session && !session->over() && !session->watched() && !session->usedByRest() && !session->busy())
                shells.remove(session->id(), [] {});
        });
    }

    Reactor &m_reactor;
    ShellTable &m_shells;
    int m_fd;
    UniqueFd m_watched;
    std::function<void()> m_close;
    websocket::Reader m_reader;
    QByteArray m_out;
    QByteArray m_partial;
    ShellTable::SessionPtr m_session;
    ShellSession::ObserverId m_observer = 0;
    std::unique_ptr<RingReader> m_ring;
    Timer m_flush;
    Timer m_ping;
    Reactor::Clock::time_point m_lastHeard;
    int m_badInRow = 0;
    bool m_ownSession = false;
    bool m_ended = false;
};

} // namespace

void openTerminalSocket(Reactor &reactor, ShellTable &shells, const ExchangePtr &exchange)
{
    const QByteArray key = exchange->header("sec-websocket-key");
    if (exchange->header("upgrade").toLower() != "websocket" || !exchange->header("connection").toLower().contains("upgrade") || key.isEmpty()) {
        HttpReply reply;
        reply.status = 426;
        reply.headers.append(std::pair<QByteArray, QByteArray>("Upgrade", "websocket"));
        reply.body = dumpJson(Json{{"detail", "Upgrade Required"}});
        exchange->reply(std::move(reply));
        return;
    }
    HttpReply reply;
    reply.status = 101;
    reply.headers.append(std::pair<QByteArray, QByteArray>("Upgrade", "websocket"));
    reply.headers.append(std::pair<QByteArray, QByteArray>("Sec-WebSocket-Accept", websocket::acceptKey(key)));
    reply.upgrade = [&reactor, &shells, wanted = exchange->query.value("session_id")](int fd, const QByteArray &alreadyRead, std::function<void()> close) {
        std::make_shared<TerminalSocket>(reactor, shells, fd, std::move(close))->open(wanted, alreadyRead);
    };
    exchange->reply(std::move(reply));
}

} // namespace paddock::sandboxd
