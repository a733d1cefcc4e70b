// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/subagent_date_context.h"

#include <QDateTime>
#include <QLocale>
#include <QTimeZone>

namespace paddock {

MessagePtr SubagentDateContextMiddleware::reminder(Clock::Wall now, const QString &timezone)
{
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count();
    const QTimeZone zone(timezone.toUtf8());
    const QDateTime local = !timezone.isEmpty() && zone.isValid() ? QDateTime::fromMSecsSinceEpoch(ms, zone)
                                                                  : QDateTime::fromMSecsSinceEpoch(ms);
    const QString date = QLocale::c().toString(local.date(), QStringLiteral("yyyy-MM-dd, dddd"));
    Message message;
    message.role = Role::System;
    message.content = toJson(
        QStringLiteral("<system-reminder>\n<current_date>%1</current_date>\n</system-reminder>").arg(date));
    message.kwargs = Json{{"hide_from_ui", true}, {"dynamic_context_reminder", true}, {"reminder_date", toUtf8(date)}};
    return makeMessage(std::move(message));
}

Task<Result<StateUpdate>> SubagentDateContextMiddleware::beforeAgent(AgentState, RuntimePtr runtime)
{
    Result<StateUpdate> update;
    update->messages.push_back(reminder(runtime->clock->wall(), m_timezone));
    co_return update;
}

} // namespace paddock
