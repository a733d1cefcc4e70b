// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/clock.h"
#include "core/base/ids.h"
#include "core/event/agent_events.h"
#include "core/event/audit_events.h"
#include "core/event/file_events.h"
#include "core/event/member_events.h"
#include "core/event/model_events.h"
#include "core/event/run_events.h"
#include "core/event/sandbox_events.h"
#include "core/event/shell_events.h"
#include "core/event/span_events.h"
#include "core/event/system_events.h"
#include "core/event/tool_events.h"

#include <QString>

#include <memory>
#include <variant>

namespace paddock {

/// Strictly increasing in one process and in one journal; 0 means "not yet given".
using Seq = quint64;
/// Identifies a span within a run; 0 means none.
using SpanId = quint64;

/// An event whose type this version does not know; kept as raw text and exported unchanged (style.md D).
struct UnknownEvent {
    QString type;
    Json fields;
};

using EventBody = std::variant<
    RunStarted, RunFinished, AgentQueued, AgentStarted, AgentFinished,
    LeaseAcquired, LeaseDraining, LeaseReleased, SandboxAcquired, SandboxReleased, SandboxFailed,
    ShellSessionCreated, ShellSessionLost, ShellSessionClosed, ShellCommandStarted, ShellCommandFinished,
    ShellTakeoverStarted, ShellTakeoverEnded, ToolStarted, ToolFinished,
    ModelRequested, ModelDelta, ModelResponded, ModelFailed, MiddlewareSpan, FileChanged,
    AuditRecorded, ApprovalRequested, ApprovalDecided, TrustChanged, ConfigLoaded, LogRecorded,
    MiddlewareActed, UnknownEvent>;

/// One thing a person could want to see (design.md §4). A value; the heavy parts are shared.
struct Event {
    Seq seq = 0;
    Clock::Wall time{};
    std::chrono::microseconds mono{};
    RunId run;
    AgentId agent;
    SpanId span = 0;   ///< of this event when it opens or is a span
    SpanId parent = 0; ///< the enclosing span
    EventBody body = UnknownEvent{};
};

/// "run.started", "lease.acquired", …
QString eventType(const EventBody &body);

} // namespace paddock
