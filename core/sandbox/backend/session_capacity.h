// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/error.h"

#include <QMap>
#include <QString>

#include <optional>

// MAX_SHELL_SESSIONS against subagent_runtime.max_running (sandbox.md §6). Pure.
namespace paddock {

inline constexpr int imageDefaultShellSessions = 10; ///< of the images, and ours
inline constexpr int maxShellSessionsLimit = 100000;

struct SessionCapacity {
    int required = 0;              ///< max_running + 1, the extra one for the lead's shell
    std::optional<int> configured; ///< what is given to the sandbox; nothing: the image's default is enough

    /// What is in force.
    int limit() const { return configured.value_or(imageDefaultShellSessions); }
};

/// `configured`: the value of sandbox.environment.MAX_SHELL_SESSIONS after "$NAME" resolution, nothing when the key is absent.
/// An error is a failed start of the gateway; its text is the specification's.
Result<SessionCapacity> resolveSessionCapacity(int maxRunning, const std::optional<QString> &configured);
/// "$NAME" as a whole becomes the variable's value, unset the empty string; only a leading "$" counts.
QString resolveEnvironmentReference(const QString &value, const QMap<QString, QString> &environment);

/// May a running container be handed out again? `capacity`: what it was started with; absent means the image's default.
struct ReuseRequest {
    QString sandbox;
    int required = 0;
    enum class Capacity { Known, Absent, Unknown } capacityKind = Capacity::Known;
    int capacity = 0;
    bool leasedHere = false;
    bool ownedByPeer = false;
    bool pastGrace = true; ///< an orphan is old enough to be claimed
};
struct ReuseDecision {
    enum class Action { Reuse, Replace, Defer } action = Action::Reuse;
    QString message; ///< Defer: why acquire fails
    bool requiresReplacement() const { return action != Action::Reuse; }
};
ReuseDecision decideReuse(const ReuseRequest &request);

/// What a provisioner's reply to a create means for the capacity.
enum class ProvisionedCapacity { Ok, RequiresReplacement };
Result<ProvisionedCapacity> judgeProvisionedCapacity(std::optional<int> sent, int required, int httpStatus, const Json &reply);

} // namespace paddock
