// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/sandboxd/http_server.h"

#include <map>

namespace paddock::sandboxd {

/// Who may call (aio-api.md §1.6): an API key in three forms, and single-use tickets for WebSocket upgrades.
/// Without a key everything is open. Owner: SandboxServer; reactor's thread.
class Gate
{
public:
    struct Options {
        QByteArray apiKey; ///< empty: open
        bool openHealth = false;
    };
    static constexpr int ticketSeconds = 30;

    explicit Gate(Options options) : m_options(std::move(options)) {}

    bool allows(const HttpExchange &exchange);
    /// The socket that requests come from: on the loopback address a page in a browser reaches it as well. Not kept.
    void setListener(int socket);
    /// Whether a page of another site may be behind this request: a foreign origin, or a name that was bent to this machine.
    /// Only where there is no key, which no such page has.
    bool looksForeign(const HttpExchange &exchange) const;
    QByteArray newTicket();

private:
    bool takeTicket(const QByteArray &ticket);
    void dropOldTickets();

    Options m_options;
    bool m_loopback = false;
    std::map<QByteArray, Reactor::Clock::time_point> m_tickets; ///< until when each is good
};

} // namespace paddock::sandboxd
