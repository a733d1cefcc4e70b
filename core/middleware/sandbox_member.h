// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/middleware.h"

namespace paddock {

/// Binds the thread sandbox to the run, persists a lazily acquired id and releases the run's lease
/// (middleware-base §8). Never builds the skill projection: the lead's run owns that.
class SandboxMiddleware : public Middleware
{
public:
    struct Options {
        bool lazyInit = true;
    };
    SandboxMiddleware() = default;
    explicit SandboxMiddleware(Options options) : m_options(options) {}

    QString name() const override { return QStringLiteral("SandboxMiddleware"); }
    Hooks hooks() const override;
    Task<Result<StateUpdate>> beforeAgent(AgentState state, RuntimePtr runtime) override;
    Task<Result<ToolOutcome>> wrapToolCall(ToolCallRequest request, ToolNext next) override;
    Task<Result<StateUpdate>> afterAgent(AgentState state, RuntimePtr runtime) override;

    /// A first touch: the message becomes a command that carries the id; a command with an update gets the id merged.
    static ToolOutcome attach(ToolOutcome outcome, const QString &idBefore, const QString &idAfter);

private:
    const Options m_options;
};

/// state.sandbox.sandbox_id, empty when there is none.
QString sandboxIdOf(const AgentState &state);

} // namespace paddock
