// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QByteArray>
#include <QString>
#include <QStringList>
#include <QTemporaryDir>

#include <sys/types.h>

namespace paddock::test {

/// The real paddock-sandboxd with its socket handed over as a descriptor, in a private /tmp where bubblewrap can make one.
/// One per test; ends with it.
class SandboxdProcess
{
public:
    /// `program` is the path of the binary.
    explicit SandboxdProcess(QString program) : m_program(std::move(program)) {}
    ~SandboxdProcess() { stop(); }

    /// False with a reason in `error`.
    bool start(const QStringList &options = {}, bool privateTmp = true);
    /// SIGTERM; the exit status of the server, -1 when it had to be killed.
    int stop();

    QString address() const { return QStringLiteral("unix:") + m_socketPath; }
    QByteArray log() const;
    bool alive() const;
    bool hasPrivateTmp() const { return m_privateTmp; }
    /// The server itself (below bubblewrap where there is one).
    pid_t serverPid() const;
    /// Command lines, joined by spaces, of all living processes below the server.
    QStringList commandLines() const;
    QString error;

private:
    static bool canUsePrivateTmp();

    QString m_program;
    QTemporaryDir m_directory;
    QString m_socketPath;
    pid_t m_pid = -1;
    bool m_privateTmp = false;
};

} // namespace paddock::test
