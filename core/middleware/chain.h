// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/middleware.h"
#include "core/middleware/ordering.h"
#include "core/middleware/tracer.h"

namespace paddock {

/// A chain compiled once per build: per hook the list of members that declare it, in the order of middleware-base §1.2.
/// Every hook is traced from outside; no member knows of it. Lives on one loop.
///
/// An exception out of a member's hook becomes an Error that names member and hook (details.member, details.hook).
/// Cancellation passes every member: one that swallows it is overruled. Nothing is run once stop was requested.
class Chain
{
public:
    struct Options {
        TraceOptions trace;
        std::vector<OrderConstraint> rules = {}; ///< besides baseConstraints()
    };

    /// Fails on duplicate names and on violated order rules (middleware-base §1.12), naming both sides.
    static Result<std::shared_ptr<Chain>> compile(std::vector<MiddlewarePtr> members) { return compile(std::move(members), {}); }
    static Result<std::shared_ptr<Chain>> compile(std::vector<MiddlewarePtr> members, Options options);

    const std::vector<MiddlewarePtr> &members() const { return m_members; }
    /// The members' names that declare `hook`, in the order they run.
    QStringList order(Hook hook) const;
    /// False: nobody declares it, the step is left out.
    bool has(Hook hook) const;

    struct NodeResult {
        AgentState state;
        JumpTo jumpTo = JumpTo::None;
    };
    /// Runs one node hook over all its members, applying each update through the reducers. Stops at the first jump.
    Task<Result<NodeResult>> runNode(Hook hook, AgentState state, RuntimePtr runtime);
    /// `core` is the model (the tool); what it throws becomes an Error with details.exception_class and .exception.
    Task<Result<ModelResponse>> runModel(ModelCall call, ModelNext core);
    Task<Result<ToolOutcome>> runTool(ToolCallRequest request, ToolNext core);

    /// Asked in chain order; the first reason wins, all are popped.
    std::optional<QString> consumeStopReason(const QString &runId);

    /// Shared by a chain and its running hooks; opaque to others.
    struct Compiled;

private:
    Chain() = default;
    std::vector<MiddlewarePtr> m_members;
    std::shared_ptr<const Compiled> m_compiled;
};

} // namespace paddock
