// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/audit_record.h"

namespace paddock {

void recordMiddleware(const RuntimeContext &runtime, const QString &tag, const QString &action, const Json &changes)
{
    LogRecorded log;
    log.level = QStringLiteral("info");
    log.text = tag + QStringLiteral(": ") + action + u' ' + QString::fromUtf8(dumpJson(changes));
    runtime.events.emitEvent(std::move(log));
}

QStringList PromotionClaims::claim(const QStringList &names)
{
    QStringList fresh;
    for (const QString &name : names) {
        if (m_claimed.contains(name))
            continue;
        m_claimed.insert(name);
        fresh.append(name);
    }
    fresh.sort();
    return fresh;
}

void recordPromotion(const RuntimeContext &runtime, PromotionClaims &claims, const QString &source, const QStringList &names)
{
    const QStringList fresh = claims.claim(names);
    if (fresh.isEmpty())
        return;
    const Json &agent = memberOf(runtime.values, "agent_id");
    recordMiddleware(runtime, QStringLiteral("tool_promotion"), QStringLiteral("promote"),
                     Json{{"source", toUtf8(source)},
                          {"tool_names", namesToJson(fresh)},
                          {"count", fresh.size()},
                          {"is_subagent", boolOf(runtime.values, "is_subagent")},
                          {"agent_id", agent.is_string() ? agent : Json()}});
}

} // namespace paddock
