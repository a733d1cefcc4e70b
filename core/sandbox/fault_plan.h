// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QString>

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace paddock {

/// Faults of the environment that a scenario injects (scenario.md "faults"), so that recovery is real behaviour on a
/// real server. Thread-safe. An empty plan costs one branch.
class FaultPlan
{
public:
    enum class Point { ShellExec, ShellCreate, BashExec, FileOp, ProviderAcquire, ProviderRelease };
    enum class Action { SessionNotFound, ErrorObservation, Fail, Latency };
    struct Rule {
        Point point;
        QString scope; ///< wildcard pattern over "lead" or "subagent:*" names and owner ids; empty: any
        int nth = 1;   ///< the n-th matching occasion, counted from 1
        Action action;
        QString message;                    ///< Fail
        std::chrono::milliseconds delay{0}; ///< Latency
    };

    explicit FaultPlan(std::vector<Rule> rules);
    /// Counts one occasion and returns the rule that fires, if any.
    std::optional<Rule> next(Point point, const QString &scope);

private:
    struct Armed {
        Rule rule;
        int seen = 0;
    };
    std::mutex m_mutex; // guards m_rules
    std::vector<Armed> m_rules;
};

} // namespace paddock
