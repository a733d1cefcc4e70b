// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QString>
#include <QStringList>

namespace paddock {

/// lease.acquired; `owners` is the set after the change
struct LeaseAcquired {
    QString sandbox;
    QString owner;
    QStringList owners;
};

/// lease.draining: the owner asked to leave; its running command and session are being ended
struct LeaseDraining {
    QString sandbox;
    QString owner;
    QStringList owners;
};

/// lease.released
struct LeaseReleased {
    QString sandbox;
    QString owner;
    QStringList owners;
    bool last = false;
};

/// sandbox.acquired
struct SandboxAcquired {
    QString sandbox;
    QString provider; ///< aio, local
    QString backend;  ///< embedded, container, provisioner, host
    QString source;   ///< created, discovered, warm, cached
    int sessionLimit = 0; ///< MAX_SHELL_SESSIONS in force; 0 when it has no sessions
    qint64 durationMs = 0;
};

/// sandbox.released
struct SandboxReleased {
    QString sandbox;
    QString provider;
    QString backend;
};

/// sandbox.failed
struct SandboxFailed {
    QString sandbox;
    QString reason;
    QString during; ///< acquire, release, command
};

} // namespace paddock
