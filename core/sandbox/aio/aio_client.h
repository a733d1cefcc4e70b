// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/ids.h"
#include "core/sandbox/aio/http_client.h"
#include "core/wire/bash_api.h"
#include "core/wire/file_api.h"
#include "core/wire/file_query_api.h"
#include "core/wire/sandbox_api.h"
#include "core/wire/shell_api.h"

namespace paddock::aio {

/// Limits of single calls (sandbox.md §5.4, §5.7; aio-api.md §8).
namespace limits {
inline constexpr std::chrono::seconds createTimeout{5};
inline constexpr std::chrono::seconds cleanTimeout{5};
inline constexpr std::chrono::seconds pollTimeout{2};  ///< of a wait or view
inline constexpr int pollSeconds = 1;                  ///< max_wait_seconds of a wait
inline constexpr std::chrono::seconds abortTimeout{20};
inline constexpr std::chrono::seconds readyTimeout{5}; ///< one try of GET /v1/sandbox
inline constexpr std::chrono::seconds probeTimeout{2}; ///< the same, of a server that is suspected to be gone
inline constexpr int probeTries = 5;                   ///< so many refusals in a row are no hiccup
inline constexpr std::chrono::milliseconds probePause{50}; ///< before the second try; doubled before each further one
inline constexpr std::chrono::seconds listTimeout{65};
inline constexpr std::chrono::seconds fileTimeout{120};
inline constexpr qint64 jsonBytes = 64LL * 1024 * 1024;
inline constexpr qint64 downloadBytes = 104857600;
} // namespace limits

struct AioOptions {
    wire::Headers headers; ///< sent with every request
    QString apiKey;        ///< a secret; sent as X-AIO-API-Key
};

/// The AIO API as typed calls, decoded in the order of aio-api.md §1.3. A cheap handle: copies share the connections.
/// Callable from any thread with an event loop. Every call has a time limit; stop closes its socket. Nothing is sent twice.
class AioClient
{
public:
    AioClient(LoopRef loop, Endpoint endpoint, AioOptions options = {});

    /// The reply as it is; the failure is of kind Transport. `body` null: no body.
    Task<HttpOutcome> call(QByteArray method, QByteArray target, Json body, std::chrono::milliseconds timeout,
                           std::stop_token stop, qint64 maxBody = limits::jsonBytes) const;
    /// The reply's `data` as T.
    template<typename T>
    Task<wire::Decoded<T>> get(QByteArray target, std::chrono::milliseconds timeout, std::stop_token stop) const
    {
        return decodeAs<T>(call("GET", std::move(target), nullptr, timeout, std::move(stop)));
    }
    template<typename T>
    Task<wire::Decoded<T>> post(QByteArray target, Json body, std::chrono::milliseconds timeout, std::stop_token stop) const
    {
        return decodeAs<T>(call("POST", std::move(target), std::move(body), timeout, std::move(stop)));
    }
    Task<wire::Decoded<wire::Envelope>> postForEnvelope(QByteArray target, Json body, std::chrono::milliseconds timeout,
                                                        std::stop_token stop) const;

    Task<wire::Decoded<wire::SandboxContext>> context(std::chrono::milliseconds timeout, std::stop_token stop) const;
    Task<wire::Decoded<wire::Envelope>> deleteShellSession(SessionId session, std::stop_token stop) const;
    Task<wire::Decoded<wire::Envelope>> closeBashSession(QString session, std::stop_token stop) const;
    /// `changePolicy`: empty, "ignore" or "abort". A body above `maxBytes` is a TooLarge failure and closes the connection.
    Task<wire::Decoded<QByteArray>> download(QString path, qint64 maxBytes, std::stop_token stop, QString changePolicy = {}) const;
    Task<wire::Decoded<wire::FileUploadResult>> upload(QString name, QByteArray bytes, QString path, std::stop_token stop) const;
    /// Follows a bash command to its end from what exec returned (aio-api.md §3.3).
    Task<wire::Decoded<wire::BashExecResult>> followBash(wire::BashExecResult first, std::stop_token stop) const;

    /// Ready: the server answered 200 to GET /v1/sandbox. Tries until `total` has passed, each at most `perTry`.
    struct Readiness {
        bool ready = false;
        int tries = 0;
        QString last; ///< why the last try failed
    };
    Task<Readiness> waitReady(std::chrono::milliseconds total, std::chrono::milliseconds interval,
                              std::chrono::milliseconds perTry, std::stop_token stop) const;

    /// False when nobody takes a connection any more, tried several times. Whoever is slow to answer is there.
    Task<bool> isThere(std::stop_token stop) const;
    bool isSuspect() const { return m_http->isSuspect(); }

    /// Raw pty bytes of a session, on the client's loop (Paddock's own route).
    std::unique_ptr<HttpStream> shellStream(const SessionId &session, HttpStreamHandler handler) const;
    Task<> close() const { return m_http->close(); }
    const Endpoint &endpoint() const { return m_http->endpoint(); }
    const LoopRef &loop() const { return m_http->loop(); }

private:
    template<typename T>
    static Task<wire::Decoded<T>> decodeAs(Task<HttpOutcome> pending)
    {
        HttpOutcome reply = co_await pending;
        if (!reply)
            co_return std::unexpected(std::move(reply.error()));
        co_return wire::decodeData<T>(*reply);
    }

    std::shared_ptr<const HttpClient> m_http;
};

/// What a sandbox can do by what it says about itself.
enum class BashSupport { Yes, ProbeBy404 };
BashSupport bashSupport(const QString &version);

QByteArray encodedSegment(const QString &text);

} // namespace paddock::aio
