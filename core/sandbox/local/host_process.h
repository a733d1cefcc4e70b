// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/error.h"
#include "core/base/loop.h"
#include "core/base/task.h"

#include <QByteArray>
#include <QMap>
#include <QString>
#include <QStringList>

#include <chrono>
#include <memory>
#include <stop_token>

namespace paddock {

struct HostCommand {
    QStringList argv;
    QMap<QString, QString> env; ///< the whole environment
    std::chrono::milliseconds timeout{600000};
};

struct HostCommandResult {
    QByteArray out; ///< at most HostProcesses::keptBytes; what follows is counted only
    QByteArray err;
    qint64 outTotal = 0;
    qint64 errTotal = 0;
    int exitCode = 0; ///< negative: minus the signal that ended it
    bool timedOut = false;
    bool cancelled = false;
};

/// Runs commands on the host (sandbox.md §3.3, §3.4). One thread with one loop, "local-exec", drains the pipes of all of
/// them. A command is over when its foreground shell ends, though background children hold its pipes; those are drained on
/// and dropped. At a time-out or cancellation the whole process group is killed. Processes that made their own session
/// (setsid) are out of reach. Made and destroyed on one thread; run() may be called from any thread with a loop.
class HostProcesses
{
public:
    static constexpr qint64 keptBytes = 10485760;
    /// After the shell ended its pipes may stay open so long: in all while other members of its group live, else since the
    /// last bytes came, and then never longer than the second limit.
    static constexpr std::chrono::milliseconds drainWithGroup{200};
    static constexpr std::chrono::milliseconds drainWithoutGroup{10000};
    static constexpr std::chrono::milliseconds reapLimit{10000};

    HostProcesses();
    /// Ends everything that still runs and waits for it.
    ~HostProcesses();
    HostProcesses(const HostProcesses &) = delete;
    HostProcesses &operator=(const HostProcesses &) = delete;

    Task<Result<HostCommandResult>> run(HostCommand command, std::stop_token stop);
    /// Kills all running commands and the background groups that earlier commands left.
    void endAll();
    /// Process groups that still have members, running or left behind; for tests and the trust panel.
    Task<int> livingGroups();

private:
    struct State;
    std::unique_ptr<EventLoop> m_loop;
    std::shared_ptr<State> m_state;
};

/// First of /bin/zsh, /bin/bash, /bin/sh and `sh` on PATH that is executable (§3.2).
Result<QString> findHostShell();
/// Bytes as text, with the notice of §3.3 when more came than was kept.
QString hostOutputText(const QByteArray &kept, qint64 total);

} // namespace paddock
