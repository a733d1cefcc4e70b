// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/sandbox/aio/aio_client.h"
#include "core/sandbox/fault_plan.h"
#include "core/sandbox/sandbox.h"

#include <map>
#include <memory>

namespace paddock::aio {

/// Lines that the next result of a scope starts with.
using ScopeNotes = std::map<ScopeId, QString>;

struct ShellOptions {
    double defaultTimeout = 600;    ///< seconds; sandbox.bash_command_timeout
    bool asyncExec = false;         ///< exec returns at once and is polled (for servers behind a proxy with time limits)
    bool recreationNotice = true;   ///< a first line in the result when a shell's state was lost; off in conformance tests
    bool closedStdin = true;        ///< the "exec < /dev/null" line of commands with environment
    double waitScale = 1;           ///< tests only: how long the limits of this struct's users really take, as a factor

    std::chrono::milliseconds scaled(std::chrono::milliseconds limit) const;
};

/// The faults of a scenario, replaceable while commands run. Thread-safe; shared.
class FaultSlot
{
public:
    void set(std::shared_ptr<FaultPlan> plan);
    std::optional<FaultPlan::Rule> next(FaultPlan::Point point, const QString &scope) const;

private:
    mutable std::mutex m_mutex; // guards m_plan
    std::shared_ptr<FaultPlan> m_plan;
};

/// The persistent shells of one AIO sandbox: at most one session per scope, made at its first command; commands of a scope
/// strictly one after the other, scopes in parallel; lost and corrupt sessions recovered at most once per command
/// (sandbox.md §5.3 to §5.5, §5.8). Thread-safe: called from several loops.
class ScopedShells
{
public:
    ScopedShells(AioClient client, ShellOptions options, std::shared_ptr<FaultSlot> faults);
    ~ScopedShells();

    /// `request.env` must be empty. An empty scope is the default shell.
    Task<Result<CommandResult>> execute(CommandRequest request, std::stop_token stop);
    /// Takes the scope out, waits for its command, cleans its session. Unknown scope: nothing. Never fails.
    Task<> releaseScope(ScopeId scope);
    /// Refuses new calls, does the same for all scopes and the default shell. Idempotent, never fails.
    Task<> close();

    SessionId sessionOf(const ScopeId &scope) const;
    void noteForNextResult(const ScopeId &scope, const QString &line);
    /// The result of a command of this scope that ran elsewhere, after the scope's note.
    Task<Result<CommandResult>> withNote(ScopeId scope, Task<Result<CommandResult>> command);
    /// What the scopes must hear when another sandbox takes the place of this one; asked before it is closed.
    ScopeNotes notesForSuccessor() const;
    void inherit(ScopeNotes notes);
    /// A create had an unknown outcome: the sandbox must be destroyed, not parked.
    bool quarantined() const;
    bool isClosed() const;

private:
    struct State;
    std::shared_ptr<State> m_state;
};

} // namespace paddock::aio
