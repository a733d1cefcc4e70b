// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QHashFunctions>
#include <QString>

#include <compare>

namespace paddock {

/// A string identifier whose kind is part of its type, so that a run id cannot be passed where a scope id is meant.
template<typename Tag>
class StrongId
{
public:
    StrongId() = default;
    explicit StrongId(QString value) : m_value(std::move(value)) {}

    const QString &value() const { return m_value; }
    bool isEmpty() const { return m_value.isEmpty(); }

    friend bool operator==(const StrongId &a, const StrongId &b) { return a.m_value == b.m_value; }
    friend auto operator<=>(const StrongId &a, const StrongId &b) { return a.m_value.compare(b.m_value) <=> 0; }
    friend size_t qHash(const StrongId &id, size_t seed = 0) { return ::qHash(id.m_value, seed); }

private:
    QString m_value;
};

using RunId = StrongId<struct RunIdTag>;
using ThreadId = StrongId<struct ThreadIdTag>;
using UserId = StrongId<struct UserIdTag>;
using AgentId = StrongId<struct AgentIdTag>;       ///< "lead" or "subagent:<task_id>"
using LeaseOwner = StrongId<struct LeaseOwnerTag>; ///< "run:<run_id>" or "subagent:<task_id>"
using ScopeId = StrongId<struct ScopeIdTag>;       ///< equal to the lease owner (sandbox.md §4.1)
using SandboxId = StrongId<struct SandboxIdTag>;
using SessionId = StrongId<struct SessionIdTag>;   ///< lower-case UUIDv4 of a shell session
using CallId = StrongId<struct CallIdTag>;         ///< tool call id as the model gave it

/// Lower-case hyphenated UUIDv4.
QString newUuid();
/// 12 lower-case hex digits, unique enough for run and task ids a person types.
QString newShortId();

inline AgentId leadAgent() { return AgentId(QStringLiteral("lead")); }
inline AgentId subagentAgent(const QString &taskId) { return AgentId(QStringLiteral("subagent:") + taskId); }
inline LeaseOwner runOwner(const RunId &run) { return LeaseOwner(QStringLiteral("run:") + run.value()); }
inline LeaseOwner subagentOwner(const QString &taskId) { return LeaseOwner(QStringLiteral("subagent:") + taskId); }

} // namespace paddock

template<typename Tag>
struct std::hash<paddock::StrongId<Tag>> {
    size_t operator()(const paddock::StrongId<Tag> &id) const noexcept { return qHash(id.value()); }
};
