// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/event/event.h"

namespace paddock {

QString eventType(const EventBody &body)
{
    if (const auto *unknown = std::get_if<UnknownEvent>(&body))
        return unknown->type;
    static const char *const names[] = {
        "run.started", "run.finished", "agent.queued", "agent.started", "agent.finished",
        "lease.acquired", "lease.draining", "lease.released", "sandbox.acquired", "sandbox.released", "sandbox.failed",
        "shell.session_created", "shell.session_lost", "shell.session_closed", "shell.command_started",
        "shell.command_finished", "shell.takeover_started", "shell.takeover_ended", "tool.started", "tool.finished",
        "model.request", "model.delta", "model.response", "model.error", "middleware.span", "file.changed",
        "audit.recorded", "approval.requested", "approval.decided", "trust.changed", "config.loaded", "log",
        "middleware.acted"};
    static_assert(std::size(names) + 1 == std::variant_size_v<EventBody>);
    return QString::fromLatin1(names[body.index()]);
}

} // namespace paddock
