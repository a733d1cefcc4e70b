// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/error.h"
#include "core/lease/lease_registry.h"

#include <QString>

namespace paddock {

/// The host folders of one thread (sandbox.md §1.1). A value.
struct ThreadPaths {
    QString base;      ///< {base}
    QString thread;    ///< {base}/users/{user}/threads/{thread}
    QString workspace; ///< a folder the person named, or {thread}/user-data/workspace
    QString uploads;
    QString outputs;
    bool workspaceIsForeign = false; ///< the person's own folder, bound in place

    /// Validates the ids (sandbox.md §1.2). `workspaceOverride` empty: the thread's own folder.
    static Result<ThreadPaths> make(const QString &base, const ThreadKey &key, const QString &workspaceOverride = {});
    /// {thread}/acp-workspace
    QString acp() const;
    /// Creates the folders, mode 0777 by explicit chmod except a foreign workspace, which must exist and be usable.
    Result<void> create() const;
};

} // namespace paddock
