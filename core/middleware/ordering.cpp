// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/ordering.h"

#include <algorithm>

namespace paddock {

namespace {

QString shown(const QList<int> &indices)
{
    QStringList texts;
    for (const int index : indices)
        texts.append(QString::number(index));
    return QLatin1Char('[') + texts.join(QStringLiteral(", ")) + QLatin1Char(']');
}

QList<int> indicesOf(const QStringList &chain, const QString &name, const QString &except)
{
    QList<int> found;
    for (int i = 0; i < chain.size(); ++i) {
        const bool hit = name == u"*" ? chain.at(i) != except : chain.at(i) == name;
        if (hit)
            found.append(i);
    }
    return found;
}

bool isDirectlyBehind(const QStringList &chain, int outer, int inner, const QStringList &mayBetween)
{
    for (int i = outer + 1; i < inner; ++i) {
        if (!mayBetween.contains(chain.at(i)))
            return false;
    }
    return outer < inner;
}

OrderConstraint rule(const char *outer, const char *inner, const char *reason)
{
    return {QString::fromLatin1(outer), QString::fromLatin1(inner), QString::fromLatin1(reason)};
}

} // namespace

QString OrderViolation::message() const
{
    return QStringLiteral("Middleware ordering constraint violated: %1 must be outer (lower index) of every %2, but "
                          "found outer indices %3 vs inner indices %4. Reason: %5. Contributed by: %6.")
        .arg(rule.outer, rule.inner, shown(outerIndices), shown(innerIndices), rule.reason, rule.contributedBy);
}

QString shortName(const QString &memberName)
{
    static const QString suffix = QStringLiteral("Middleware");
    return memberName.endsWith(suffix) && memberName.size() > suffix.size() ? memberName.chopped(suffix.size())
                                                                            : memberName;
}

QString traceName(const QString &memberName)
{
    const QString name = shortName(memberName);
    QString out;
    for (qsizetype i = 0; i < name.size(); ++i) {
        const QChar c = name.at(i);
        const bool startsWord = c.isUpper() && i > 0
            && (!name.at(i - 1).isUpper() || (i + 1 < name.size() && name.at(i + 1).isLower()));
        if (startsWord && !out.endsWith(QLatin1Char('_')))
            out += QLatin1Char('_');
        out += c.toLower();
    }
    return out;
}

const std::vector<OrderConstraint> &baseConstraints()
{
    static const std::vector<OrderConstraint> rules = [] {
        std::vector<OrderConstraint> list{
            rule("InputSanitization", "*", "every other member must see user text that cannot forge framework blocks"),
            rule("ToolOutputBudget", "ToolResultSanitization", "what is stored in files must already be neutralized"),
            rule("ToolResultSanitization", "PiiRedaction", "redaction works on the text the tool really returned"),
            rule("ToolReceipt", "ToolErrorHandling", "a failed call needs a receipt too"),
            rule("ToolReceipt", "ReadBeforeWrite", "a blocked write needs a receipt too"),
            rule("ToolReceipt", "SandboxAudit", "a blocked command needs a receipt too"),
            rule("ToolReceipt", "Guardrail", "a denied call needs a receipt too"),
            rule("ToolReceipt", "ToolProgress", "a call stopped for lack of progress needs a receipt too"),
            rule("ToolProgress", "ToolErrorHandling", "progress is judged by the result's meta"),
            rule("McpRouting", "DeferredToolFilter", "routing promotes tools that the filter would hide"),
            rule("DeferredToolPromotionAudit", "SkillToolPolicy", "the audit records what the policy then decides"),
        };
        OrderConstraint policy = rule("SkillActivation", "SkillToolPolicy",
                                      "the policy must see the skills activated for this very call");
        policy.adjacent = true;
        policy.mayBetween = {QStringLiteral("DeferredToolPromotionAudit")};
        list.push_back(policy);
        return list;
    }();
    return rules;
}

const std::vector<OrderConstraint> &subagentConstraints()
{
    static const std::vector<OrderConstraint> rules{
        rule("*", "SystemMessageCoalescing", "nothing may add a system message behind the coalescer"),
    };
    return rules;
}

std::vector<OrderViolation> checkOrder(const QStringList &chain, const std::vector<OrderConstraint> &rules)
{
    QStringList names;
    for (const QString &name : chain)
        names.append(shortName(name));
    std::vector<OrderViolation> violations;
    for (const OrderConstraint &rule : rules) {
        const QList<int> outer = indicesOf(names, rule.outer, rule.inner);
        const QList<int> inner = indicesOf(names, rule.inner, rule.outer);
        if (outer.isEmpty() || inner.isEmpty())
            continue;
        const int lastOuter = *std::max_element(outer.begin(), outer.end());
        const int firstInner = *std::min_element(inner.begin(), inner.end());
        const bool holds = rule.adjacent ? isDirectlyBehind(names, lastOuter, firstInner, rule.mayBetween)
                                         : lastOuter < firstInner;
        if (!holds)
            violations.push_back({rule, outer, inner});
    }
    return violations;
}

} // namespace paddock
