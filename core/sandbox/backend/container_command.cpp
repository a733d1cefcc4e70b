// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/backend/container_command.h"

#include <QSet>

#include <algorithm>

namespace paddock {

namespace {

const QString envShort = QStringLiteral("-e");
const QString envLong = QStringLiteral("--env");
const QString envJoined = QStringLiteral("--env=");
const QString redactedMark = QStringLiteral("<redacted>");
constexpr QLatin1StringView switchPrefix("DEER_FLOW_SANDBOX_");

QString containerSwitch(const QMap<QString, QString> &environment, const char *name)
{
    return environment.value(switchPrefix + QLatin1String(name)).trimmed();
}

bool switchedOff(const QString &value)
{
    return value == u"0" || value.compare(u"none", Qt::CaseInsensitive) == 0;
}

/// A limit: empty means the default, off means none.
QString limitOf(const QMap<QString, QString> &environment, const char *name, const QString &standard)
{
    const QString value = containerSwitch(environment, name);
    if (value.isEmpty())
        return standard;
    return switchedOff(value) ? QString() : value;
}

/// "name=host,alias=x" means the network "host" just as the bare word does.
QString networkTarget(const QString &value)
{
    for (const QString &field : value.split(u',')) {
        const QString trimmed = field.trimmed();
        if (trimmed.startsWith(u"name=", Qt::CaseInsensitive))
            return trimmed.sliced(5).trimmed();
    }
    return value;
}

bool voidsPublishedPort(const QString &network)
{
    const QString target = networkTarget(network).toLower();
    return target == u"host" || target == u"none" || target.startsWith(u"container:");
}

/// A field of the engine's comma-separated mount syntax, which follows the quoting of CSV. Without it a path with a comma
/// would be read as options.
QString mountField(const QString &text)
{
    if (!text.contains(u',') && !text.contains(u'"') && !text.contains(u'\n') && !text.contains(u'\r'))
        return text;
    QString quoted = text;
    return u'"' + quoted.replace(u'"', QStringLiteral("\"\"")) + u'"';
}

QString redactedPair(const QString &pair)
{
    const qsizetype equals = pair.indexOf(u'=');
    if (equals < 0)
        return pair; // a name whose value the engine takes from its own environment
    return equals == 0 ? redactedMark : pair.left(equals + 1) + redactedMark;
}

/// What the engine programs, their runtime or the loader read from their environment.
bool engineReads(const QString &name)
{
    static const QSet<QString> names{QStringLiteral("PATH"), QStringLiteral("HOME"), QStringLiteral("USER"), QStringLiteral("TMPDIR"),
                                     QStringLiteral("SHELL"), QStringLiteral("TERM"), QStringLiteral("LANG"), QStringLiteral("NO_PROXY"),
                                     QStringLiteral("SSL_CERT_FILE"), QStringLiteral("SSL_CERT_DIR"), QStringLiteral("NOTIFY_SOCKET"),
                                     QStringLiteral("TZ"), QStringLiteral("PWD"), QStringLiteral("GODEBUG")};
    static const QStringList starts{QStringLiteral("DOCKER_"), QStringLiteral("BUILDKIT_"), QStringLiteral("COMPOSE_"), QStringLiteral("CONTAINER"),
                                    QStringLiteral("PODMAN_"), QStringLiteral("BUILDAH_"), QStringLiteral("STORAGE_"), QStringLiteral("REGISTRY_"),
                                    QStringLiteral("XDG_"), QStringLiteral("LD_"), QStringLiteral("LC_"), QStringLiteral("OTEL_"), QStringLiteral("GO"),
                                    QStringLiteral("DBUS_"), QStringLiteral("SSH_"), QStringLiteral("_"), QStringLiteral("MALLOC_"), QStringLiteral("GLIBC_")};
    const QString upper = name.toUpper();
    return names.contains(upper) || upper.endsWith(u"_PROXY")
        || std::any_of(starts.cbegin(), starts.cend(), [&upper](const QString &start) { return upper.startsWith(start); });
}

void addHardening(QStringList &args, const ContainerHardening &hardening)
{
    const QString option = QStringLiteral("--security-opt");
    args << QStringLiteral("--cap-drop=ALL") << option << QStringLiteral("no-new-privileges") << option << QStringLiteral("seccomp=") + hardening.seccomp;
    const auto add = [&args](const char *name, const QString &value) {
        if (!value.isEmpty())
            args << QLatin1String(name) << value;
    };
    add("--memory", hardening.memory);
    add("--cpus", hardening.cpus);
    add("--pids-limit", hardening.pidsLimit);
    add("--user", hardening.user);
    add("--network", hardening.network);
}

} // namespace

std::optional<ContainerEngineKind> containerEngineKind(const QString &program)
{
    for (const auto kind : {ContainerEngineKind::Docker, ContainerEngineKind::Podman, ContainerEngineKind::Apple}) {
        if (containerEngineProgram(kind) == program)
            return kind;
    }
    return std::nullopt;
}

QString containerEngineProgram(ContainerEngineKind kind)
{
    switch (kind) {
    case ContainerEngineKind::Podman: return QStringLiteral("podman");
    case ContainerEngineKind::Apple: return QStringLiteral("container");
    case ContainerEngineKind::Docker: break;
    }
    return QStringLiteral("docker");
}

Result<ContainerHardening> ContainerHardening::fromEnvironment(const QMap<QString, QString> &environment)
{
    ContainerHardening hardening;
    hardening.memory = limitOf(environment, "MEMORY", hardening.memory);
    hardening.cpus = limitOf(environment, "CPUS", hardening.cpus);
    hardening.pidsLimit = limitOf(environment, "PIDS_LIMIT", hardening.pidsLimit);
    if (const QString profile = containerSwitch(environment, "SECCOMP_PROFILE"); !profile.isEmpty() && !switchedOff(profile))
        hardening.seccomp = profile;
    else if (switchedOff(containerSwitch(environment, "SECCOMP_UNCONFINED")))
        hardening.seccomp = QStringLiteral("builtin");
    hardening.user = containerSwitch(environment, "CONTAINER_USER"); // "0" is a user
    hardening.network = containerSwitch(environment, "NETWORK");
    if (voidsPublishedPort(hardening.network))
        return fail(ErrorCode::FailedPrecondition,
                    QStringLiteral("DEER_FLOW_SANDBOX_NETWORK='%1' would void the sandbox port bind: the sandbox API has no authentication and "
                                   "may be reached by its published port only. Name a bridge network.")
                        .arg(hardening.network));
    return hardening;
}

QStringList containerMountArguments(ContainerEngineKind engine, const ContainerMount &mount)
{
    if (engine == ContainerEngineKind::Apple)
        return {QStringLiteral("-v"), mount.hostPath + u':' + mount.containerPath + (mount.readOnly ? QStringLiteral(":ro") : QString())};
    QString spec = QStringLiteral("type=bind,") + mountField(QStringLiteral("src=") + mount.hostPath) + u',' + mountField(QStringLiteral("dst=") + mount.containerPath);
    if (mount.readOnly)
        spec += QStringLiteral(",readonly");
    return {QStringLiteral("--mount"), spec};
}

QStringList containerRunCommand(const ContainerRun &run)
{
    const bool apple = run.engine == ContainerEngineKind::Apple;
    QStringList args{containerEngineProgram(run.engine), QStringLiteral("run")};
    if (!apple)
        addHardening(args, run.hardening);
    const QString ports = QStringLiteral("%1:%2").arg(run.port).arg(containerApiPort);
    args << QStringLiteral("--rm") << QStringLiteral("-d") << QStringLiteral("-p") << (apple ? ports : run.bindAddress + u':' + ports)
         << QStringLiteral("--name") << run.name;
    for (const auto &[name, value] : run.labels)
        args << QStringLiteral("--label") << name + u'=' + value;
    for (const auto &[name, value] : run.environment)
        args << envShort << name + u'=' + value;
    for (const ContainerMount &mount : run.mounts)
        args << containerMountArguments(run.engine, mount);
    return args << run.image;
}

std::vector<ContainerMount> withoutDuplicateMounts(std::vector<ContainerMount> mounts, QStringList *dropped)
{
    QSet<QString> taken;
    std::vector<ContainerMount> kept;
    for (ContainerMount &mount : mounts) {
        QString place = mount.containerPath;
        while (place.size() > 1 && place.endsWith(u'/'))
            place.chop(1);
        if (taken.contains(place)) {
            if (dropped)
                *dropped << mount.containerPath;
            continue;
        }
        taken.insert(place);
        kept.push_back(std::move(mount));
    }
    return kept;
}

Result<void> checkContainerMount(ContainerEngineKind engine, const ContainerMount &mount)
{
    const bool windows = mount.hostPath.size() > 2 && mount.hostPath.at(0).isLetter() && mount.hostPath.at(1) == u':';
    if (!mount.containerPath.startsWith(u'/') || !(mount.hostPath.startsWith(u'/') || windows))
        return fail(ErrorCode::InvalidArgument, QStringLiteral("A sandbox mount needs two absolute paths, got '%1' for '%2'.").arg(mount.hostPath, mount.containerPath));
    if (mount.hostPath.contains(QChar(u'\0')) || mount.containerPath.contains(QChar(u'\0')))
        return fail(ErrorCode::InvalidArgument, QStringLiteral("A sandbox mount's path holds a NUL character."));
    if (engine == ContainerEngineKind::Apple && (mount.hostPath.contains(u':') || mount.containerPath.contains(u':')))
        return fail(ErrorCode::InvalidArgument, QStringLiteral("Apple's container program cannot mount a path with a colon: '%1'.").arg(mount.hostPath));
    return {};
}

QStringList redactedCommand(const QStringList &command)
{
    QStringList out;
    bool pairFollows = false;
    for (const QString &argument : command) {
        if (pairFollows)
            out << redactedPair(argument);
        else if (argument.startsWith(envJoined))
            out << envJoined + redactedPair(argument.sliced(envJoined.size()));
        else
            out << argument;
        pairFollows = !pairFollows && (argument == envShort || argument == envLong);
    }
    return out;
}

EnvironmentByName withoutEnvironmentValues(ContainerEngineKind engine, const QStringList &command)
{
    EnvironmentByName result;
    if (engine == ContainerEngineKind::Apple)
        return {command, {}};
    bool pairFollows = false;
    for (const QString &argument : command) {
        const qsizetype equals = argument.indexOf(u'=');
        const QString name = argument.left(equals);
        if (pairFollows && equals > 0 && !engineReads(name)) {
            result.environment.insert(name, argument.sliced(equals + 1));
            result.command << name;
        } else {
            result.command << argument;
        }
        pairFollows = !pairFollows && argument == envShort;
    }
    return result;
}

} // namespace paddock
