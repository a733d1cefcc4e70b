// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/aio/byte_stream.h"

#include <QHostAddress>
#include <QHostInfo>
#include <QNetworkProxyFactory>
#include <QSocketNotifier>
#include <QSslSocket>
#include <QTimer>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace paddock::aio {

Endpoint Endpoint::unixSocket(const QString &path)
{
    return {QUrl(QStringLiteral("unix+http://sandbox/")), path};
}

Endpoint Endpoint::url(const QUrl &base)
{
    return {base, {}};
}

QString Endpoint::display() const
{
    return socketPath.isEmpty() ? base.toString(QUrl::RemoveUserInfo | QUrl::StripTrailingSlash)
                                : QStringLiteral("unix:") + socketPath;
}

bool usesEnvironmentProxy(const QUrl &url)
{
    QString host = url.host().toLower();
    if (host.endsWith(QLatin1Char('.')))
        host.chop(1);
    if (host.isEmpty())
        return true;
    const QHostAddress address(host);
    if (!address.isNull())
        return !(address.isLoopback() || address.isPrivateUse() || address.isLinkLocal() || address.isUniqueLocalUnicast());
    for (const QLatin1StringView suffix : {QLatin1StringView(".localhost"), QLatin1StringView(".docker.internal"),
                                           QLatin1StringView(".containers.internal")}) {
        if (host.endsWith(suffix))
            return false;
    }
    return host.contains(QLatin1Char('.'));
}

namespace {

constexpr qsizetype readChunk = 64 * 1024;
constexpr int readsPerWakeup = 16; // then other sockets get their turn
constexpr int busyRetryMs = 2;     // a full backlog of a Unix socket

QString errnoText(int error)
{
    return QString::fromLocal8Bit(std::strerror(error));
}

/// A plain Unix or TCP socket.
class FdStream : public ByteStream
{
public:
    explicit FdStream(Endpoint endpoint) : m_endpoint(std::move(endpoint)) {}
    ~FdStream() override { closeFd(); }

    void open() override
    {
        if (!m_endpoint.socketPath.isEmpty()) {
            connectUnix();
            return;
        }
        const QHostAddress literal(m_endpoint.base.host());
        if (!literal.isNull()) {
            m_addresses = {literal};
            connectNextAddress();
            return;
        }
        QHostInfo::lookupHost(m_endpoint.base.host(), this, [this](const QHostInfo &info) {
            m_addresses = info.addresses();
            m_lastError = info.errorString();
            connectNextAddress();
        });
    }

    void write(const QByteArray &bytes) override
    {
        m_out.append(bytes);
        if (m_connected)
            flush();
    }

    bool idleAndOpen() const override
    {
        if (m_fd < 0 || !m_connected)
            return false;
        char byte = 0;
        const ssize_t n = ::recv(m_fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
        return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    }

private:
    void connectUnix()
    {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        const QByteArray path = m_endpoint.socketPath.toLocal8Bit();
        if (size_t(path.size()) >= sizeof(address.sun_path)) {
            finish(End::ConnectFailed, QStringLiteral("the socket path is longer than %1 bytes").arg(sizeof(address.sun_path) - 1));
            return;
        }
        std::memcpy(address.sun_path, path.constData(), size_t(path.size()));
        if (m_fd < 0)
            m_fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (m_fd < 0) {
            finish(End::ConnectFailed, errnoText(errno));
            return;
        }
        if (::connect(m_fd, reinterpret_cast<const sockaddr *>(&address), sizeof address) == 0) {
            becomeConnected();
        } else if (errno == EAGAIN) {
            QTimer::singleShot(busyRetryMs, this, [this] { connectUnix(); });
        } else {
            finish(End::ConnectFailed, errnoText(errno));
        }
    }

    void connectNextAddress()
    {
        if (m_addresses.isEmpty()) {
            finish(End::ConnectFailed, m_lastError.isEmpty() ? QStringLiteral("the host has no address") : m_lastError);
            return;
        }
        const QHostAddress address = m_addresses.takeFirst();
        sockaddr_storage storage{};
        socklen_t size = 0;
        const auto port = quint16(m_endpoint.base.port(80));
        if (address.protocol() == QAbstractSocket::IPv4Protocol) {
            auto *in = reinterpret_cast<sockaddr_in *>(&storage);
            in->sin_family = AF_INET;
            in->sin_port = htons(port);
            in->sin_addr.s_addr = htonl(address.toIPv4Address());
            size = sizeof(sockaddr_in);
        } else {
            auto *in = reinterpret_cast<sockaddr_in6 *>(&storage);
            in->sin6_family = AF_INET6;
            in->sin6_port = htons(port);
            const Q_IPV6ADDR raw = address.toIPv6Address();
            std::memcpy(&in->sin6_addr, &raw, sizeof raw);
            size = sizeof(sockaddr_in6);
        }
        m_fd = ::socket(storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (m_fd < 0) {
            m_lastError = errnoText(errno);
            connectNextAddress();
            return;
        }
        const int on = 1;
        ::setsockopt(m_fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        if (::connect(m_fd, reinterpret_cast<const sockaddr *>(&storage), size) == 0) {
            becomeConnected();
        } else if (errno == EINPROGRESS) {
            m_writeNotifier = std::make_unique<QSocketNotifier>(m_fd, QSocketNotifier::Write);
            connect(m_writeNotifier.get(), &QSocketNotifier::activated, this, [this] { connectDone(); });
        } else {
            connectFailed(errno);
        }
    }

    void connectDone()
    {
        int error = 0;
        socklen_t size = sizeof error;
        ::getsockopt(m_fd, SOL_SOCKET, SO_ERROR, &error, &size);
        m_writeNotifier->setEnabled(false);
        m_writeNotifier->disconnect(this);
        m_writeNotifier.release()->deleteLater(); // inside its own signal
        if (error == 0)
            becomeConnected();
        else
            connectFailed(error);
    }

    void connectFailed(int error)
    {
        m_lastError = errnoText(error);
        closeFd();
        connectNextAddress();
    }

    void becomeConnected()
    {
        m_connected = true;
        m_readNotifier = std::make_unique<QSocketNotifier>(m_fd, QSocketNotifier::Read);
        connect(m_readNotifier.get(), &QSocketNotifier::activated, this, [this] { readSome(); });
        Q_EMIT opened();
        if (m_fd >= 0)
            flush();
    }

    void flush()
    {
        while (!m_out.isEmpty() && m_fd >= 0) {
            const ssize_t n = ::send(m_fd, m_out.constData(), size_t(m_out.size()), MSG_NOSIGNAL);
            if (n >= 0) {
                m_out.remove(0, n);
                continue;
            }
            if (errno == EINTR)
                continue;
            if (errno == EAGAIN || errno == EWOULDBLOCK) {
                watchWrite(true);
                return;
            }
            m_out.clear(); // the peer does not listen any more; what it had to say is still read
        }
        watchWrite(false);
    }

    void watchWrite(bool on)
    {
        if (on && !m_writeNotifier) {
            m_writeNotifier = std::make_unique<QSocketNotifier>(m_fd, QSocketNotifier::Write);
            connect(m_writeNotifier.get(), &QSocketNotifier::activated, this, [this] { flush(); });
        }
        if (m_writeNotifier)
            m_writeNotifier->setEnabled(on);
    }

    void readSome()
    {
        std::array<char, size_t(readChunk)> buffer;
        for (int i = 0; i < readsPerWakeup && m_fd >= 0; ++i) {
            const ssize_t n = ::recv(m_fd, buffer.data(), buffer.size(), 0);
            if (n > 0) {
                Q_EMIT received(QByteArray::fromRawData(buffer.data(), n));
                if (n < readChunk)
                    return;
            } else if (n == 0) {
                finish(End::Closed, QStringLiteral("the connection was closed"));
            } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
                return;
            } else if (errno != EINTR) {
                finish(End::Reset, errnoText(errno));
            }
        }
    }

    void finish(End how, const QString &text)
    {
        if (std::exchange(m_ended, true))
            return;
        closeFd();
        // Queued: a failure inside open() must not arrive before the caller has finished its set-up.
        QMetaObject::invokeMethod(this, [this, how, text] { Q_EMIT ended(how, text); }, Qt::QueuedConnection);
    }

    void closeFd()
    {
        for (auto *slot : {&m_readNotifier, &m_writeNotifier}) {
            if (*slot) {
                (*slot)->setEnabled(false);
                (*slot).release()->deleteLater();
            }
        }
        if (m_fd >= 0)
            ::close(std::exchange(m_fd, -1));
        m_connected = false;
    }

    const Endpoint m_endpoint;
    int m_fd = -1;
    bool m_connected = false;
    bool m_ended = false;
    QByteArray m_out;
    QList<QHostAddress> m_addresses;
    QString m_lastError;
    std::unique_ptr<QSocketNotifier> m_readNotifier;
    std::unique_ptr<QSocketNotifier> m_writeNotifier;
};

/// TLS, or a proxy of the environment.
class QtStream : public ByteStream
{
public:
    explicit QtStream(Endpoint endpoint) : m_endpoint(std::move(endpoint))
    {
        connect(&m_socket, &QIODevice::readyRead, this, [this] { Q_EMIT received(m_socket.readAll()); });
        connect(&m_socket, &QAbstractSocket::disconnected, this, [this] { finish(); });
        connect(&m_socket, &QAbstractSocket::errorOccurred, this, [this] { finish(); });
    }

    void open() override
    {
        const QUrl &url = m_endpoint.base;
        if (usesEnvironmentProxy(url)) {
            const auto proxies = QNetworkProxyFactory::systemProxyForQuery(QNetworkProxyQuery(url));
            if (!proxies.isEmpty())
                m_socket.setProxy(proxies.first());
        } else {
            m_socket.setProxy(QNetworkProxy::NoProxy);
        }
        if (url.scheme() == QLatin1String("https")) {
            connect(&m_socket, &QSslSocket::encrypted, this, [this] { becomeOpen(); });
            m_socket.connectToHostEncrypted(url.host(), quint16(url.port(443)));
        } else {
            connect(&m_socket, &QAbstractSocket::connected, this, [this] { becomeOpen(); });
            m_socket.connectToHost(url.host(), quint16(url.port(80)));
        }
    }
    void write(const QByteArray &bytes) override
    {
        if (m_open)
            m_socket.write(bytes);
        else
            m_out.append(bytes);
    }
    bool idleAndOpen() const override
    {
        return m_open && m_socket.state() == QAbstractSocket::ConnectedState && m_socket.bytesAvailable() == 0;
    }

private:
    void becomeOpen()
    {
        m_open = true;
        Q_EMIT opened();
        m_socket.write(std::exchange(m_out, QByteArray()));
    }
    void finish()
    {
        if (std::exchange(m_ended, true))
            return;
        const End how = !m_open                                                             ? End::ConnectFailed
            : m_socket.error() == QAbstractSocket::RemoteHostClosedError ? End::Closed : End::Reset;
        const QString text = m_socket.errorString();
        QMetaObject::invokeMethod(this, [this, how, text] { Q_EMIT ended(how, text); }, Qt::QueuedConnection);
    }

    const Endpoint m_endpoint;
    QSslSocket m_socket;
    QByteArray m_out;
    bool m_open = false;
    bool m_ended = false;
};

} // namespace

std::unique_ptr<ByteStream> ByteStream::make(const Endpoint &endpoint)
{
    const bool direct = !endpoint.socketPath.isEmpty()
        || (endpoint.base.scheme() == QLatin1String("http")
            && (!usesEnvironmentProxy(endpoint.base)
                || QNetworkProxyFactory::systemProxyForQuery(QNetworkProxyQuery(endpoint.base)).value(0).type() == QNetworkProxy::NoProxy));
    if (direct)
        return std::make_unique<FdStream>(endpoint);
    return std::make_unique<QtStream>(endpoint);
}

} // namespace paddock::aio
