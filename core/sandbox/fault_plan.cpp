// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/fault_plan.h"

#include <QRegularExpression>

namespace paddock {

namespace {

bool wildcardMatches(const QString &pattern, const QString &text)
{
    return QRegularExpression::fromWildcard(pattern, Qt::CaseSensitive, QRegularExpression::NonPathWildcardConversion).match(text).hasMatch();
}

bool scopeMatches(const QString &pattern, const QString &scope)
{
    if (pattern.isEmpty() || wildcardMatches(pattern, scope))
        return true;
    // The lead's lease owner is "run:<run_id>"; a scenario calls it "lead".
    return scope.startsWith(QLatin1String("run:")) && wildcardMatches(pattern, QStringLiteral("lead"));
}

} // namespace

FaultPlan::FaultPlan(std::vector<Rule> rules)
{
    m_rules.reserve(rules.size());
    for (Rule &rule : rules)
        m_rules.push_back({std::move(rule), 0});
}

std::optional<FaultPlan::Rule> FaultPlan::next(Point point, const QString &scope)
{
    const std::lock_guard lock(m_mutex);
    std::optional<Rule> fired;
    for (Armed &armed : m_rules) {
        if (armed.rule.point != point || !scopeMatches(armed.rule.scope, scope))
            continue;
        // Every matching rule counts the occasion; of several that fire at once the first in the file wins.
        if (++armed.seen == armed.rule.nth && !fired)
            fired = armed.rule;
    }
    return fired;
}

} // namespace paddock
