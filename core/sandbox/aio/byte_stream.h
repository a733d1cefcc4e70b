// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QByteArray>
#include <QObject>
#include <QString>
#include <QUrl>

#include <memory>

namespace paddock::aio {

/// Where a sandbox server listens.
struct Endpoint {
    QUrl base;          ///< scheme, host, port and path prefix; "unix+http://sandbox/" for a socket file
    QString socketPath; ///< not empty: a Unix socket

    static Endpoint unixSocket(const QString &path);
    static Endpoint url(const QUrl &base);
    /// "http://127.0.0.1:8080" or "unix:<path>", for logs.
    QString display() const;
};

/// Proxy settings of the environment count only for hosts that are neither local nor private (aio-api.md §1.7).
bool usesEnvironmentProxy(const QUrl &url);

/// One connection as bytes. Lives on one thread with an event loop. Never blocks. It tells a close (FIN) from a reset,
/// which QTcpSocket does not, because only that says whether a reply was cut by the peer or by the way to it.
class ByteStream : public QObject
{
    Q_OBJECT
public:
    enum class End { Closed, Reset, ConnectFailed };

    using QObject::QObject;
    virtual void open() = 0;
    virtual void write(const QByteArray &bytes) = 0;
    /// False when the peer has closed or sent something unasked: do not send the next request on it.
    virtual bool idleAndOpen() const = 0;

    /// Plain sockets are driven directly; TLS and proxied connections through Qt.
    static std::unique_ptr<ByteStream> make(const Endpoint &endpoint);

Q_SIGNALS:
    void opened();
    void received(const QByteArray &bytes);
    /// Once, the last signal.
    void ended(paddock::aio::ByteStream::End how, const QString &text);
};

} // namespace paddock::aio
