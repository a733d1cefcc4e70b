// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/task.h"
#include "core/sandbox/backend/container_command.h"
#include "core/sandbox/backend/container_rules.h"

namespace paddock {

/// Limits of single calls of the engine (sandbox.md §7.5).
struct EngineTimes {
    std::chrono::milliseconds start{std::chrono::minutes(10)}; ///< the engine may have to fetch the image first
    std::chrono::milliseconds alive{5000};
    std::chrono::milliseconds port{5000};
    std::chrono::milliseconds list{10000};
    std::chrono::milliseconds inspect{15000};
    std::chrono::milliseconds stop{120000};
};

/// A container engine as typed calls of its program (sandbox.md §7.5). A value; callable from any thread with an event
/// loop, on which the program then runs. What cannot be learned is an error, never "no".
class ContainerEngine
{
public:
    /// `program` empty: by the kind's name in PATH.
    ContainerEngine(ContainerEngineKind kind, QString program, EngineTimes times = {});
    /// "auto", "docker", "podman" or "container"; auto takes docker, else podman, and on a Mac Apple's own when it works.
    static Task<Result<ContainerEngine>> find(QString runtime, std::stop_token stop);

    ContainerEngineKind kind() const { return m_kind; }
    const QString &program() const { return m_program; }

    /// The container's id. A refusal of the engine is an error with its words in details["stderr"].
    Task<Result<QString>> run(ContainerRun run, std::stop_token stop) const;
    Task<Result<bool>> isRunning(QString name, std::stop_token stop) const;
    Task<Result<std::optional<int>>> port(QString name, std::stop_token stop) const;
    /// In one call; those that do not exist are left out.
    Task<Result<std::vector<ContainerFacts>>> inspect(QStringList names, std::stop_token stop) const;
    /// Names of running containers that begin with `prefix`.
    Task<Result<QStringList>> list(QString prefix, std::stop_token stop) const;
    /// The time limit is an error, and the container counts as running; a refusal is only logged.
    Task<Result<void>> stop(QString name) const;
    /// Removes one that has ended; never a running one.
    Task<Result<void>> removeEnded(QString name) const;
    /// Of the default network; nothing when the engine does not say.
    Task<std::optional<QString>> bridgeGateway(std::stop_token stop) const;

private:
    ContainerEngineKind m_kind;
    QString m_program;
    EngineTimes m_times;
};

/// Member of Error::details of a refused start.
inline constexpr const char *engineStderrKey = "stderr";

} // namespace paddock
