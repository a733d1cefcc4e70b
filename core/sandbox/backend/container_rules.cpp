// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/backend/container_rules.h"

#include <QDateTime>
#include <QHostAddress>
#include <QRegularExpression>
#include <QTimeZone>

namespace paddock {

namespace {

constexpr qsizetype maxStderrInMessage = 2000;
constexpr int fractionDigits = 6; // microseconds

const QString bridgeDefault = QStringLiteral("172.17.0.1");
const QString loopbackV4 = QStringLiteral("127.0.0.1");
const QString loopbackV6 = QStringLiteral("[::1]");

QString withoutBrackets(const QString &host)
{
    return host.startsWith(u'[') && host.endsWith(u']') ? host.sliced(1, host.size() - 2) : host;
}

/// As "-p" wants it.
QString bracketed(const QString &address)
{
    return address.contains(u':') && !address.startsWith(u'[') ? u'[' + address + u']' : address;
}

QString bindOverride(const std::optional<QString> &bindHost)
{
    return bindHost ? bindHost->trimmed() : QString();
}

enum class HostKind { LoopbackV4, LoopbackV6, Address, Name };

HostKind hostKind(const QString &sandboxHost)
{
    const QString host = withoutBrackets(sandboxHost.trimmed().toLower());
    if (host.isEmpty() || host == u"localhost" || host == loopbackV4)
        return HostKind::LoopbackV4;
    QHostAddress address;
    if (!address.setAddress(host))
        return HostKind::Name;
    if (address == QHostAddress(QHostAddress::LocalHostIPv6))
        return HostKind::LoopbackV6;
    // A wildcard is reached by the loopback address; binding it would offer the API to everybody.
    if (address == QHostAddress(QHostAddress::AnyIPv4))
        return HostKind::LoopbackV4;
    return address == QHostAddress(QHostAddress::AnyIPv6) ? HostKind::LoopbackV6 : HostKind::Address;
}

} // namespace

bool containerIsGone(const QString &stderrText, const QString &name)
{
    const QString text = stderrText.toLower();
    if (text.contains(u"no such object") || text.contains(u"no such container"))
        return true;
    // A shell that misses the program says "not found" as well, and then nothing is known about the container.
    if (text.contains(u"command not found") || text.contains(u"executable file not found"))
        return false;
    return text.contains(u"not found")
        && ((!name.isEmpty() && text.contains(name.toLower())) || text.contains(u"container") || text.contains(u"object"));
}

bool bindAddressIsLiteral(const QString &sandboxHost, const std::optional<QString> &bindHost)
{
    return !bindOverride(bindHost).isEmpty() || hostKind(sandboxHost) != HostKind::Name;
}

QString containerBindAddress(const BindQuestion &question)
{
    if (const QString wanted = bindOverride(question.bindHost); !wanted.isEmpty())
        return bracketed(wanted);
    switch (hostKind(question.sandboxHost)) {
    case HostKind::LoopbackV4: return loopbackV4;
    case HostKind::LoopbackV6: return loopbackV6;
    case HostKind::Address: return bracketed(withoutBrackets(question.sandboxHost.trimmed()));
    case HostKind::Name: break;
    }
    for (const auto &candidate : {question.resolvesTo, question.bridgeGateway}) {
        if (candidate && !candidate->trimmed().isEmpty())
            return bracketed(candidate->trimmed());
    }
    return bridgeDefault;
}

double containerTimestamp(const QString &text)
{
    static const QRegularExpression pattern(
        QStringLiteral("\\A([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]([0-9]{2}:[0-9]{2}:[0-9]{2})(?:\\.([0-9]+))?(Z|z|([+-])([0-9]{2}):?([0-9]{2}))?\\z"));
    const auto match = pattern.match(text.trimmed());
    if (!match.hasMatch())
        return 0;
    const QDate date = QDate::fromString(match.captured(1), Qt::ISODate);
    const QTime time = QTime::fromString(match.captured(2), QStringLiteral("HH:mm:ss"));
    if (!date.isValid() || !time.isValid())
        return 0;
    qint64 seconds = QDateTime(date, time, QTimeZone::UTC).toSecsSinceEpoch();
    if (!match.captured(5).isEmpty()) {
        const int offset = match.captured(6).toInt() * 3600 + match.captured(7).toInt() * 60;
        seconds += match.captured(5) == u"-" ? offset : -offset;
    }
    const qint64 micros = match.captured(3).left(fractionDigits).leftJustified(fractionDigits, u'0').toLongLong();
    return (double(seconds) * 1e6 + double(micros)) / 1e6;
}

std::optional<int> publishedPort(const QString &text)
{
    const QString line = text.trimmed().section(u'\n', 0, 0).trimmed();
    bool ok = false;
    const int port = line.sliced(line.lastIndexOf(u':') + 1).toInt(&ok);
    return ok && port > 0 && port <= 65535 ? std::optional(port) : std::nullopt;
}

StartRefusal startRefusalOf(const QString &stderrText)
{
    const QString text = stderrText.toLower();
    if (text.contains(u"port is already allocated") || text.contains(u"address already in use"))
        return StartRefusal::PortTaken;
    // The last is podman's.
    if (text.contains(u"is already in use by container") || text.contains(u"conflict. the container name") || text.contains(u"that name is already in use"))
        return StartRefusal::NameTaken;
    return StartRefusal::Other;
}

ContainerStartAttempts::Next ContainerStartAttempts::refused(const QString &stderrText)
{
    switch (startRefusalOf(stderrText)) {
    case StartRefusal::PortTaken:
        m_from = m_port + 1;
        return Next::TryNextPort;
    case StartRefusal::NameTaken: return Next::Discover;
    case StartRefusal::Other: break;
    }
    return Next::Fail;
}

Error ContainerStartAttempts::failure(const QString &stderrText)
{
    return Error{ErrorCode::Unavailable, QStringLiteral("Failed to start sandbox container: ") + stderrText.trimmed().left(maxStderrInMessage), Json::object(), nullptr};
}

std::unexpected<Error> ContainerStartAttempts::allPortsTaken()
{
    return fail(ErrorCode::ResourceExhausted, QStringLiteral("Could not start sandbox container: all candidate ports are already allocated by Docker"));
}

std::unexpected<Error> ContainerStartAttempts::noFreePort() const
{
    return fail(ErrorCode::ResourceExhausted,
                QStringLiteral("Could not start sandbox container: no port from %1 to %2 is free. Choose another sandbox.port.").arg(m_from).arg(m_from + portsToTry - 1),
                Json{{"base_port", m_base}});
}

void readCapacity(const Json &environment, ContainerFacts &facts)
{
    if (!environment.is_array())
        return;
    facts.capacityKind = ReuseRequest::Capacity::Absent;
    const QString key = QStringLiteral("MAX_SHELL_SESSIONS=");
    for (const Json &entry : environment) {
        const QString pair = textOf(entry);
        if (!pair.startsWith(key))
            continue;
        bool ok = false;
        facts.capacity = pair.sliced(key.size()).trimmed().toInt(&ok);
        facts.capacityKind = ok ? ReuseRequest::Capacity::Known : ReuseRequest::Capacity::Unknown;
    }
}

std::vector<ContainerFacts> containerFacts(const Json &inspected)
{
    std::vector<ContainerFacts> all;
    if (!inspected.is_array())
        return all;
    for (const Json &entry : inspected) {
        ContainerFacts facts;
        facts.name = stringOf(entry, "Name");
        if (facts.name.startsWith(u'/')) // docker's form
            facts.name.remove(0, 1);
        if (facts.name.isEmpty())
            continue;
        const Json &state = memberOf(entry, "State");
        const QString status = stringOf(state, "Status").toLower();
        facts.running = boolOf(state, "Running");
        facts.ended = !facts.running && (status == u"created" || status == u"exited" || status == u"dead" || status == u"configured");
        facts.createdAt = containerTimestamp(stringOf(entry, "Created"));
        const Json &config = memberOf(entry, "Config");
        facts.sandboxLabel = stringOf(memberOf(config, "Labels"), sandboxIdLabel);
        facts.ownerMark = stringOf(memberOf(config, "Labels"), ownerMarkLabel);
        readCapacity(memberOf(config, "Env"), facts);
        all.push_back(std::move(facts));
    }
    return all;
}

} // namespace paddock
