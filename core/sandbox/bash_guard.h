// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/error.h"

#include <QString>
#include <QStringList>

namespace paddock {

struct BashGuardOptions {
    bool hasThreadData = true;
    QString skillsRoot = QStringLiteral("/mnt/skills");
    QStringList mounts;   ///< container paths
    QStringList mcpRoots; ///< host folders that MCP file servers were given
};

/// The path guard for commands on the host (sandbox.md §3.6): void, or PermissionDenied with the text for the model. Best
/// effort, never a boundary: it keeps honest commands in the thread's folders. Pure.
Result<void> guardHostCommand(const QString &command, const BashGuardOptions &options);

} // namespace paddock
