// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QList>
#include <QString>
#include <QStringList>

#include <vector>

namespace paddock {

/// One rule about the order of a chain (middleware-base §1.12): every index of `outer` is lower than every index of
/// `inner`. No-op when a side is absent. Names are the short ones ("ToolProgress"); "*" stands for every other member.
struct OrderConstraint {
    QString outer;
    QString inner;
    QString reason;
    QString contributedBy = QStringLiteral("paddock");
    bool adjacent = false; ///< inner must follow outer directly; members named in `mayBetween` may stand between
    QStringList mayBetween;
};

struct OrderViolation {
    OrderConstraint rule;
    QList<int> outerIndices;
    QList<int> innerIndices;
    /// The exact message of §1.12.
    QString message() const;
};

/// "ToolProgressMiddleware" -> "ToolProgress".
QString shortName(const QString &memberName);
/// "ToolProgressMiddleware" -> "tool_progress"; what a trace event shows.
QString traceName(const QString &memberName);

/// The rules that hold for every chain, and those of one kind of chain.
const std::vector<OrderConstraint> &baseConstraints();
const std::vector<OrderConstraint> &subagentConstraints();

/// `chain` holds the members' names, outermost first. Pure; any thread.
std::vector<OrderViolation> checkOrder(const QStringList &chain, const std::vector<OrderConstraint> &rules);

} // namespace paddock
