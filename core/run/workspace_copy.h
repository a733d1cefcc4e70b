// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/error.h"

#include <QString>

#include <stop_token>

namespace paddock {

/// Copies a folder for `--workspace-copy`: plain files and folders with their modes, links as links, nothing else. Blocking:
/// for a pool thread. The error names the first file that could not be copied.
Result<void> copyWorkspace(const QString &from, const QString &to, std::stop_token stop);

} // namespace paddock
