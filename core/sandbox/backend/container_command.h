// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/error.h"

#include <QMap>
#include <QString>
#include <QStringList>

#include <optional>
#include <vector>

// Command lines of container engines (sandbox.md §7.5). Pure; any thread.
namespace paddock {

enum class ContainerEngineKind {
    Docker,
    Podman, ///< takes the docker command line
    Apple,  ///< the program "container" of macOS
};
/// "docker", "podman", "container"; an unknown name is nothing.
std::optional<ContainerEngineKind> containerEngineKind(const QString &program);
QString containerEngineProgram(ContainerEngineKind kind);

struct ContainerMount {
    QString hostPath;
    QString containerPath;
    bool readOnly = false;
};

/// What the DEER_FLOW_SANDBOX_* switches of the environment say: empty is the default, "0" and "none" are off.
struct ContainerHardening {
    QString memory = QStringLiteral("2g");
    QString cpus = QStringLiteral("2");
    QString pidsLimit = QStringLiteral("512");
    QString seccomp = QStringLiteral("unconfined"); ///< or "builtin", or the file of a profile
    QString user;
    QString network;

    /// Refuses a network that would bypass the published port: the API behind it has no authentication.
    static Result<ContainerHardening> fromEnvironment(const QMap<QString, QString> &environment);
};

/// Everything that decides the command line of one start. A value.
struct ContainerRun {
    ContainerEngineKind engine = ContainerEngineKind::Docker;
    QString name;
    QString bindAddress = QStringLiteral("127.0.0.1"); ///< not for Apple's
    int port = 0;                                      ///< on the host
    std::vector<std::pair<QString, QString>> environment;
    std::vector<std::pair<QString, QString>> labels;
    std::vector<ContainerMount> mounts;
    QString image;
    ContainerHardening hardening;
};

inline constexpr int containerApiPort = 8080; ///< of the server inside

QStringList containerMountArguments(ContainerEngineKind engine, const ContainerMount &mount);
/// Program and arguments. The values of the environment stand in it: see withoutEnvironmentValues() and redactedCommand().
QStringList containerRunCommand(const ContainerRun &run);
/// Of two mounts at one container path the first wins; `dropped` tells the paths that lost.
std::vector<ContainerMount> withoutDuplicateMounts(std::vector<ContainerMount> mounts, QStringList *dropped = nullptr);
/// A mount that the engine's syntax cannot say, or that is none.
Result<void> checkContainerMount(ContainerEngineKind engine, const ContainerMount &mount);

/// For logs: every value after -e, --env and --env= is replaced.
QStringList redactedCommand(const QStringList &command);

/// The same command with the values handed over in the engine program's own environment ("-e NAME"), so that the process
/// list shows none. Names that the engine program reads for itself stay as they are, or a sandbox's setting would become
/// the engine's. Not for Apple's program, which knows "-e NAME=VALUE" only.
struct EnvironmentByName {
    QStringList command;
    QMap<QString, QString> environment; ///< in addition to what the program inherits
};
EnvironmentByName withoutEnvironmentValues(ContainerEngineKind engine, const QStringList &command);

} // namespace paddock
