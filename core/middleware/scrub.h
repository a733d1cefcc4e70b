// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/tool/tool.h"

#include <QString>

namespace paddock {

/// What must not leave in a text for events, logs or models: API keys, Authorization values, and the secrets of the
/// run's context (sandbox.md §10). Any thread.
QString scrubSecrets(const QString &text, const RuntimeContext *runtime = nullptr);

/// The host folders of channel thread_data replaced by their virtual names.
QString scrubHostPaths(const QString &text, const AgentState &state);

} // namespace paddock
