// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/chain_build.h"

namespace paddock {

/// What a person is told of one place in a chain.
struct ChainEntry {
    QString name;      ///< short: "ToolErrorHandling"
    Hooks hooks;
    QString purpose;   ///< half a line
    QString key;       ///< section of the configuration that rules it; empty: none does
    bool built = true; ///< false: this version leaves the place empty
    bool on = true;    ///< as the options say; what depends on a run (its model, its tools) is `perRun`
    QString perRun;    ///< what of a run decides whether it stands there; empty: nothing
    Json settings;     ///< its values under the names that the configuration gives them; secrets are left out
};

/// The rows of a chain, outermost first, with what `options` make of them. Any thread.
std::vector<ChainEntry> describeChain(const std::vector<ChainSlot> &rows, const ChainOptions &options);

} // namespace paddock
