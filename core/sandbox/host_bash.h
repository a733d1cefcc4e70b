// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/error.h"
#include "core/base/json.h"

#include <QString>

namespace paddock {

// When commands may run on the host itself (sandbox.md §3.7, the seed's table). Pure; read it per call, because the person
// may turn it off while something runs.

/// The provider named by `sandbox.use` runs commands on the host: our short name "local" or the known class paths.
bool usesLocalProvider(const QString &use);
/// From the `sandbox` section of the configuration; null (missing) is false.
bool isHostBashAllowed(const Json &sandboxSection);

/// What a bash call gets that arrives although it is not allowed (without "Error: ").
QString hostBashDisabledText();

/// §2.4: what a shell gets for a command of the bash tool. `prefix` is the channel identity's, maybe empty.
QString composeLocalCommand(const QString &prefix, const QString &workspaceHost, const QString &command);
QString composeAioCommand(const QString &prefix, const QString &command);

/// §2.4: text of one finished local command. A time-out notice stands instead of the exit code.
struct LocalOutput {
    QString out;
    QString err;
    int exitCode = 0;
    bool timedOut = false;
    bool cancelled = false;
    double timeoutSeconds = 0;
};
QString composeLocalOutput(const LocalOutput &output);
QString localTimeoutNotice(double seconds);

} // namespace paddock
