// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/llm/scenario.h"

namespace paddock {

/// The error that a real adapter would return for this failure: details {cls, status?, code?, body?, headers?} as
/// middleware-base §10.1 wants them.
Error providerError(const ScenarioFault &fault);

} // namespace paddock
