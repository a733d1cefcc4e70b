// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/chain.h"

#include <QString>

namespace paddock {

/// The settings of the members, with the spec's defaults. Filled by `run` from the configuration.
struct ChainOptions {
    QString dataDir;              ///< {base} of thread data
    QString workspaceOverride;    ///< a folder the person named
    bool readBeforeWrite = true;
    bool loopDetection = true;
    int loopWarnThreshold = 3;
    int loopHardLimit = 5;
    int loopWindow = 20;
    int loopMaxScopes = 100;
    int toolFreqWarn = 30;
    int toolFreqHardLimit = 50;
    QMap<QString, std::pair<int, int>> toolFreqOverrides;
    QString dateTimezone;         ///< IANA name; empty or invalid: local
};

/// build_subagent_runtime_middlewares: the list of the seed, outermost first. Two builds never share state.
std::vector<MiddlewarePtr> buildSubagentMiddlewares(const ChainOptions &options);
std::vector<MiddlewarePtr> buildLeadMiddlewares(const ChainOptions &options);

} // namespace paddock
