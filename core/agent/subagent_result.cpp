// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/agent/subagent_result.h"

namespace paddock {

namespace {
constexpr std::pair<SubagentStatus, const char16_t *> statusNames[] = {
    {SubagentStatus::Pending, u"pending"},     {SubagentStatus::Running, u"running"},
    {SubagentStatus::Completed, u"completed"}, {SubagentStatus::Failed, u"failed"},
    {SubagentStatus::Cancelled, u"cancelled"}, {SubagentStatus::TimedOut, u"timed_out"},
};
} // namespace

QString subagentStatusName(SubagentStatus status)
{
    for (const auto &[value, name] : statusNames) {
        if (value == status)
            return QString::fromUtf16(name);
    }
    return {};
}

std::optional<SubagentStatus> subagentStatusFromName(const QString &text)
{
    for (const auto &[value, name] : statusNames) {
        if (text == QStringView(name))
            return value;
    }
    return std::nullopt;
}

bool isTerminal(SubagentStatus status)
{
    return status != SubagentStatus::Pending && status != SubagentStatus::Running;
}

SubagentResult::SubagentResult(QString taskId, QString callId, std::shared_ptr<const Clock> clock)
    : m_taskId(std::move(taskId)), m_callId(std::move(callId)), m_clock(std::move(clock))
{
}

SubagentResult::Snapshot SubagentResult::snapshot() const
{
    const std::lock_guard lock(m_mutex);
    return m_now;
}

bool SubagentResult::markRunning()
{
    const std::lock_guard lock(m_mutex);
    if (m_now.status != SubagentStatus::Pending)
        return false;
    m_now.status = SubagentStatus::Running;
    m_now.startedAt = m_clock->wall();
    return true;
}

Result<bool> SubagentResult::trySetTerminal(SubagentStatus status, TerminalPayload payload)
{
    if (!isTerminal(status))
        return fail(ErrorCode::InvalidArgument, QStringLiteral("'%1' is not a terminal status").arg(subagentStatusName(status)));
    const std::lock_guard lock(m_mutex);
    if (isTerminal(m_now.status))
        return false;
    m_now.status = status;
    if (payload.result)
        m_now.result = std::move(payload.result);
    if (payload.error)
        m_now.error = std::move(payload.error);
    if (payload.stopReason)
        m_now.stopReason = std::move(payload.stopReason);
    if (payload.messages)
        m_now.messages = std::move(*payload.messages);
    if (payload.usageRecords)
        m_now.usageRecords = std::move(*payload.usageRecords);
    m_now.admissionFailure = m_now.admissionFailure || payload.admissionFailure;
    m_now.completedAt = m_clock->wall();
    return true;
}

void SubagentResult::updateUsage(Json records)
{
    const std::lock_guard lock(m_mutex);
    if (!isTerminal(m_now.status))
        m_now.usageRecords = std::move(records);
}

void SubagentResult::updateMessages(std::vector<MessagePtr> messages)
{
    const std::lock_guard lock(m_mutex);
    if (!isTerminal(m_now.status))
        m_now.messages = std::move(messages);
}

bool SubagentResult::claimUsageReport()
{
    const std::lock_guard lock(m_mutex);
    return !std::exchange(m_usageReported, true);
}

void SubagentResult::requestStop(StopCause cause)
{
    {
        const std::lock_guard lock(m_mutex);
        if (m_cause == StopCause::None)
            m_cause = cause;
    }
    m_stop.request_stop();
}

StopCause SubagentResult::stopCause() const
{
    const std::lock_guard lock(m_mutex);
    return m_cause;
}

void SubagentResult::markDone()
{
    const std::lock_guard lock(m_mutex);
    m_now.done = true;
}

bool SubagentResult::isDone() const
{
    const std::lock_guard lock(m_mutex);
    return m_now.done;
}

} // namespace paddock
