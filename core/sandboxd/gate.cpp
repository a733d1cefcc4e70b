// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandboxd/gate.h"

#include <QRandomGenerator>

#include <arpa/inet.h>
#include <sys/socket.h>

namespace paddock::sandboxd {

namespace {

constexpr size_t maxTickets = 10'000;

/// In a time that depends on the length of the given text only.
bool sameSecret(const QByteArray &given, const QByteArray &secret)
{
    unsigned difference = unsigned(given.size() ^ secret.size());
    for (qsizetype i = 0; i < given.size(); ++i)
        difference |= unsigned(static_cast<unsigned char>(given[i]) ^ static_cast<unsigned char>(secret[i % secret.size()]));
    return difference == 0;
}

bool isLoopback(in_addr address)
{
    return (ntohl(address.s_addr) >> 24) == IN_LOOPBACKNET;
}

} // namespace

void Gate::setListener(int socket)
{
    sockaddr_in address{};
    socklen_t length = sizeof address;
    const bool known = ::getsockname(socket, reinterpret_cast<sockaddr *>(&address), &length) == 0;
    m_loopback = known && address.sin_family == AF_INET && isLoopback(address.sin_addr);
}

bool Gate::allows(const HttpExchange &exchange)
{
    if (m_options.apiKey.isEmpty())
        return true;
    if (m_options.openHealth && exchange.rawPath == "/v1/sandbox" && exchange.method == "GET")
        return true;
    bool allowed = sameSecret(exchange.header("x-aio-api-key"), m_options.apiKey);
    const QByteArray authorization = exchange.header("authorization");
    if (authorization.left(7).toLower() == "bearer ")
        allowed = sameSecret(authorization.mid(7).trimmed(), m_options.apiKey) || allowed;
    allowed = sameSecret(exchange.query.value("api_key"), m_options.apiKey) || allowed;
    if (!allowed && exchange.rawPath == "/v1/shell/ws" && exchange.query.contains("ticket"))
        allowed = takeTicket(exchange.query.value("ticket"));
    return allowed;
}

bool Gate::looksForeign(const HttpExchange &exchange) const
{
    if (!m_loopback || !m_options.apiKey.isEmpty())
        return false;
    const QByteArray host = exchange.header("host").toLower();
    QByteArray name = host;
    if (const qsizetype colon = name.lastIndexOf(':'); colon > name.lastIndexOf(']'))
        name.truncate(colon);
    in_addr address{};
    const bool loopback = ::inet_pton(AF_INET, name.constData(), &address) == 1 && isLoopback(address);
    if (!name.isEmpty() && !loopback && name != "localhost" && !name.endsWith(".localhost") && name != "[::1]")
        return true;
    const QByteArray origin = exchange.header("origin").toLower();
    if (!origin.isEmpty() && origin != "http://" + host)
        return true;
    return exchange.header("sec-fetch-site").toLower() == "cross-site";
}

QByteArray Gate::newTicket()
{
    dropOldTickets();
    quint32 words[8];
    QRandomGenerator::system()->fillRange(words);
    const QByteArray ticket = QByteArray(reinterpret_cast<const char *>(words), sizeof words).toHex();
    if (m_tickets.size() < maxTickets)
        m_tickets[ticket] = Reactor::Clock::now() + std::chrono::seconds(ticketSeconds);
    return ticket;
}

bool Gate::takeTicket(const QByteArray &ticket)
{
    dropOldTickets();
    return m_tickets.erase(ticket) > 0;
}

void Gate::dropOldTickets()
{
    const auto now = Reactor::Clock::now();
    std::erase_if(m_tickets, [now](const auto &entry) { return entry.second < now; });
}

} // namespace paddock::sandboxd
