// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/chain_catalogue.h"

namespace paddock {

/// A chain as a run with this configuration would have it, for `paddock chain` (design.md §8).
struct ChainListing {
    QString agent;      ///< "lead", or the type of a subagent
    QString configFile; ///< empty: the built-in defaults
    std::vector<ChainEntry> entries; ///< outermost first
    /// For each hook the members that run it, in the order they do. Members that depend on a run are left out.
    std::vector<std::pair<QString, QStringList>> order;
};

/// Reads the configuration (`configPath` empty: where it is looked for otherwise) and compiles the chain, so that a provider
/// or an order that is wrong is said here. `agent`: "lead", "subagent" (general-purpose) or a type of the catalogue.
/// Blocking; any thread.
Result<ChainListing> listChain(const QString &configPath, const QString &agent);

} // namespace paddock
