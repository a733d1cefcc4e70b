// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/run/translate.h"

namespace paddock {

/// `sandbox.use: container`: the configuration as options of the container backend (sandbox.md §7.5). An error is told
/// before a run starts: a capacity that is too small, a network that would bypass the published port, no engine.
Result<std::shared_ptr<SandboxProvider>> makeContainerProvider(const Config &config, const QString &dataDir, WorkspaceLookup workspaces);

/// A path below `dataDir` as the engine's machine knows it, when Paddock itself runs in a container
/// (DEER_FLOW_HOST_BASE_DIR, sandbox.md §1.1). Any other path, and every one without a host base, stays as it is.
QString hostMountSource(const QString &path, const QString &dataDir, const QString &hostBase);

} // namespace paddock
