// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/sandbox/thread_paths.h"

#include <QMap>
#include <QString>
#include <QStringList>

#include <vector>

namespace paddock {

struct SandboxMount {
    QString hostPath;
    QString containerPath;
    bool readOnly = false;
};

/// What one sandbox shows of the host.
struct SandboxFolders {
    QString workspace;
    QString uploads;
    QString outputs;
    QString acp;    ///< read-only inside; empty: not mounted
    QString skills; ///< a folder with public/, custom/, …; read-only inside; empty: not mounted
    std::vector<SandboxMount> extra;

    static SandboxFolders of(const ThreadPaths &paths);
};

/// Limits that bubblewrap and the kernel enforce without privileges. A quota on the workspace is not among them: it is the
/// host's own file system.
struct SandboxLimits {
    qint64 tmpBytes = 2LL * 1024 * 1024 * 1024;  ///< /tmp and /var/tmp each; memory-backed
    qint64 homeBytes = 1LL * 1024 * 1024 * 1024; ///< /home/gem; memory-backed
    qint64 runBytes = 16LL * 1024 * 1024;        ///< /run
    qint64 shmBytes = 512LL * 1024 * 1024;       ///< /dev/shm; memory-backed
    qint64 fileBytes = 16LL * 1024 * 1024 * 1024; ///< RLIMIT_FSIZE: the largest single file
    int processes = 4096; ///< RLIMIT_NPROC inside the user namespace; the kernel exempts a sandbox that real root started
    int openFiles = 16384;
};

/// Everything that decides the command line. A value.
struct BwrapPlan {
    QString serverProgram; ///< paddock-sandboxd on the host
    QString etcDir;        ///< generated passwd, group, hosts, nsswitch.conf
    SandboxFolders folders;
    SandboxLimits limits;
    bool hostNetwork = false;
    int infoFd = -1; ///< of bubblewrap: where it tells the pid of the namespace's first process
    QStringList serverArguments;
};

namespace sandbox_inside {
inline constexpr auto home = QLatin1StringView("/home/gem");
inline constexpr auto workspace = QLatin1StringView("/mnt/user-data/workspace");
inline constexpr auto server = QLatin1StringView("/run/paddock/paddock-sandboxd");
inline constexpr int uid = 1000;
} // namespace sandbox_inside

/// Bubblewrap's options. They go through a descriptor (--args), not the command line: inside the sandbox /proc/1/cmdline
/// would show the host's paths.
QStringList bwrapOptions(const BwrapPlan &plan);
/// What runs inside, from "--" on. No secrets and no host paths.
QStringList bwrapCommand(const BwrapPlan &plan);
/// The whole environment inside. Values may be secrets: they are passed as environment, never as arguments.
QMap<QString, QString> sandboxEnvironment(const QMap<QString, QString> &host, const QMap<QString, QString> &configured, int sessionLimit);
/// Writes the generated files of /etc into `dir`.
Result<void> writeEtcFiles(const QString &dir, bool hostNetwork);
/// What bubblewrap's error text means and what to do about it; one or two sentences. `facts`: sysctl name to value.
QString explainBwrapFailure(const QString &stderrText, const QMap<QString, QString> &facts);
/// The sysctls that explainBwrapFailure looks at, read from /proc/sys.
QMap<QString, QString> isolationFacts();

} // namespace paddock
