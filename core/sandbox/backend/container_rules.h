// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/error.h"
#include "core/sandbox/backend/session_capacity.h"

#include <QString>

#include <optional>

// What a container engine says, and where its ports are bound (sandbox.md §7.5). Pure; any thread.
namespace paddock {

/// The engine says that the container does not exist. Everything else is unknown, never "gone".
bool containerIsGone(const QString &stderrText, const QString &name);

/// Where the port of a sandbox is published.
struct BindQuestion {
    QString sandboxHost;                  ///< DEER_FLOW_SANDBOX_HOST
    std::optional<QString> bindHost;      ///< DEER_FLOW_SANDBOX_BIND_HOST
    std::optional<QString> resolvesTo;    ///< what the host's name means; nothing: unknown
    std::optional<QString> bridgeGateway; ///< of the engine's default network
};
/// IPv6 addresses come in brackets, as "-p" wants them. Never all interfaces unless the override says so.
QString containerBindAddress(const BindQuestion &question);
/// The address is known without asking a resolver or the engine.
bool bindAddressIsLiteral(const QString &sandboxHost, const std::optional<QString> &bindHost);

/// "2026-04-08T01:22:50.123456789Z" as seconds since 1970, cut to microseconds; 0 when it is no time.
double containerTimestamp(const QString &text);

/// "0.0.0.0:32768" or ":::32768": the number after the last colon of the first line.
std::optional<int> publishedPort(const QString &text);

enum class StartRefusal { PortTaken, NameTaken, Other };
StartRefusal startRefusalOf(const QString &stderrText);

/// Which port a start tries next (at most ten starts), and how a refused one ends. A value; the caller does the work.
class ContainerStartAttempts
{
public:
    static constexpr int maxStarts = 10;
    static constexpr int portsToTry = 100;

    explicit ContainerStartAttempts(int basePort) : m_base(basePort), m_from(basePort) {}

    /// The next free port by `isFree`, or why there is none.
    template<typename IsFree>
    Result<int> nextPort(IsFree isFree)
    {
        if (m_starts >= maxStarts)
            return allPortsTaken();
        for (int port = m_from; port < m_from + portsToTry && port <= 65535; ++port) {
            if (isFree(port)) {
                ++m_starts;
                m_port = port;
                return port;
            }
        }
        return noFreePort();
    }

    enum class Next { TryNextPort, Discover, Fail };
    /// After a start that the engine refused.
    Next refused(const QString &stderrText);
    /// The error of Next::Fail, and of Next::Discover that found nothing.
    static Error failure(const QString &stderrText);

private:
    static std::unexpected<Error> allPortsTaken();
    std::unexpected<Error> noFreePort() const;

    int m_base;
    int m_from;
    int m_port = 0;
    int m_starts = 0;
};

inline constexpr const char *sandboxIdLabel = "deerflow.sandbox_id";
inline constexpr const char *ownerMarkLabel = "paddock.owner";

/// What `inspect` tells of one container.
struct ContainerFacts {
    QString name;
    QString sandboxLabel; ///< deerflow.sandbox_id
    QString ownerMark;    ///< paddock.owner: the process that started it (process_mark.h)
    bool running = false;
    bool ended = false; ///< created, exited or dead: removing it loses nothing that runs
    double createdAt = 0;
    ReuseRequest::Capacity capacityKind = ReuseRequest::Capacity::Unknown;
    int capacity = 0;
};
/// The JSON array of `inspect NAME...`; entries that are none are left out.
std::vector<ContainerFacts> containerFacts(const Json &inspected);
/// MAX_SHELL_SESSIONS of a list of "NAME=VALUE" (sandbox.md §6).
void readCapacity(const Json &environment, ContainerFacts &facts);

} // namespace paddock
